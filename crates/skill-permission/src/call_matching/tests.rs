//! Calls of every kind of argument, and which rules cover them.

use serde_json::{Value, json};

use crate::scene::scene;

fn check(list: &str, table: &[(&str, Value, bool)]) {
    let scene = scene().active(list);
    for (tool, arguments, expected) in table {
        assert_eq!(
            scene.allows(tool, arguments),
            *expected,
            "{list}: {tool} {arguments}"
        );
    }
}

#[test]
fn every_path_that_a_call_names_must_fit() {
    let table = [
        ("file_head", json!({"path": "src/a"}), true),
        ("file_head", json!({"path": "/p/src/a"}), true),
        ("file_head", json!({"path": "src/../x"}), false),
        ("file_head", json!({"path": 3}), false),
        ("file_head", json!({"path": "vfs:///src/a"}), false),
        ("file_head", json!({}), false),
        ("read_file", json!({"file": "src/a"}), false),
        ("glob_files", json!({"pattern": "src/**/*.rs"}), true),
        (
            "glob_files",
            json!({"pattern": "*.rs", "path": "src"}),
            true,
        ),
        ("glob_files", json!({"pattern": "*.rs"}), false),
        (
            "glob_files",
            json!({"pattern": "../*.rs", "path": "src"}),
            false,
        ),
        (
            "glob_files",
            json!({"pattern": "*/../../x", "path": "src"}),
            false,
        ),
        (
            "glob_files",
            json!({"pattern": "/etc/*", "path": "src"}),
            true,
        ),
        ("glob_files", json!({"pattern": "/*", "path": "src"}), true),
        ("glob_files", json!({"pattern": "/*"}), false),
        ("glob_files", json!({"pattern": "/p/src/*"}), false),
        ("glob_files", json!({"pattern": "/src/*"}), true),
        ("glob_files", json!({"pattern": "src"}), false),
        ("glob_files", json!({"pattern": "src/#x/../*"}), false),
        ("glob_files", json!({"pattern": "#src/x"}), false),
        ("glob_files", json!({"pattern": "src\\/x"}), false),
        (
            "glob_files",
            json!({"pattern": "src/*", "path": "vfs:///p"}),
            false,
        ),
        ("dir_list", json!({"path": "src/a"}), true),
        ("dir_list", json!({}), false),
        (
            "grep_files",
            json!({"pattern": "/etc/../x", "path": "src"}),
            true,
        ),
        (
            "grep_files",
            json!({"pattern": "x", "path": "src", "file_pattern": "../*"}),
            false,
        ),
        ("write_file", json!({"path": "src/a"}), false),
        ("glob_files", json!({"pattern": "lib/../src/*"}), false),
        ("glob_files", json!({"pattern": "src/../lib/*"}), false),
    ];
    check("Read(src/**) Glob(src/**) Grep(src/**)", &table);
    let edit = [
        ("file_edit", json!({"path": "a.md"}), true),
        ("write_file", json!({"path": "a.md"}), true),
        ("write_file", json!({"path": "a.rs"}), false),
        ("vfs_mkdir", json!({"path": "a.md"}), false),
    ];
    check("Edit(*.md)", &edit);
    let notebook = [
        ("file_edit", json!({"path": "x/a.ipynb"}), true),
        ("file_edit", json!({"path": "x/a.py"}), false),
    ];
    check("NotebookEdit", &notebook);
    check("NotebookEdit(x/*.ipynb)", &notebook);
    let other = [("file_edit", json!({"path": "x/a.py"}), false)];
    check("NotebookEdit(x/*.py)", &other);
}

#[test]
fn virtual_files_need_a_bare_name_or_their_own_pattern() {
    let uri = json!({"path": "vfs:///shared/a"});
    for (list, expected) in [
        ("Read", true),
        ("Read(**)", false),
        ("Read(vfs:///shared/**)", true),
        ("Read(vfs:///sys/**)", false),
    ] {
        check(list, &[("file_head", uri.clone(), expected)]);
    }
}

#[test]
fn urls_fit_by_their_domain_and_sources_by_what_they_are() {
    let fetch = [
        ("fetch_url", json!({"url": "https://x.org/a"}), true),
        ("fetch_url", json!({"url": "https://x.org.evil/a"}), false),
        ("fetch_url", json!({"url": "file:///etc/passwd"}), false),
        (
            "summarize_content",
            json!({"source": "https://x.org/a"}),
            true,
        ),
        ("summarize_content", json!({"source": "a.md"}), false),
        ("fetch_url", json!({"url": "https:x.org/a"}), false),
    ];
    check("WebFetch(domain:x.org)", &fetch);
    check("fetch_url(domain:x.org)", &fetch[..3]);
    let read = [
        ("summarize_content", json!({"source": "a.md"}), true),
        ("summarize_content", json!({"source": "vfs:///a"}), false),
        (
            "summarize_content",
            json!({"source": "HTTPS://x.org"}),
            false,
        ),
        (
            "summarize_content",
            json!({"source": "https://x.org/a"}),
            false,
        ),
        ("summarize_content", json!({"source": "file:///a"}), false),
        ("summarize_content", json!({}), false),
    ];
    check("Read", &read);
}

#[test]
fn what_only_looks_like_an_address_is_neither_fetched_nor_read() {
    for list in [
        "WebFetch(domain:x.org)",
        "WebFetch",
        "Read",
        "WebFetch Read",
    ] {
        let denied = ["Read(secret/**)", "WebFetch(domain:x.org)"];
        let denying = scene().skill("a", None, &denied);
        for source in [
            "https:x.org/../secret/a",
            "HTTPS://x.org/../../secret/a",
            " https://x.org/../../secret/a",
            "https:/x.org/../../secret/a",
            "http:\\\\x.org/../secret/a",
            "vfs:///../secret/a",
            "vfs://../secret/a",
        ] {
            let source = json!({ "source": source });
            check(list, &[("summarize_content", source.clone(), false)]);
            assert!(!denying.allows("summarize_content", &source), "{source}");
        }
    }
}

#[test]
fn two_slashes_make_no_virtual_file() {
    let evil = json!({"path": "vfs://../.claude/skills/evil/SKILL.md", "content": ""});
    check("Write", &[("write_file", evil.clone(), false)]);
    let table = [
        ("file_head", json!({"path": "vfs://../src/a"}), true),
        ("file_head", json!({"path": "vfs://../../h/a"}), false),
        ("file_head", json!({"path": "vfs://src/a"}), false),
    ];
    check("Read(src/**)", &table);
    let scene = scene().skill("a", None, &["Read(secret/**)"]);
    for path in [
        "vfs://../secret/a",
        "vfs:/../secret/a",
        "VFS:///../secret/a",
    ] {
        assert!(
            !scene.allows("file_head", &json!({ "path": path })),
            "{path}"
        );
    }
    assert!(scene.allows("file_head", &json!({"path": "vfs:///secret/a"})));
}

#[test]
fn a_denial_covers_where_a_glob_begins_and_where_it_leads() {
    let denied = scene().skill("a", None, &["Glob(secret/**)", "Glob(.env)"]);
    for (pattern, path) in [
        ("*", "secret"),
        ("/*", "secret"),
        ("/a", "secret"),
        ("../src/*", "secret"),
        ("secret/*", ""),
        ("/secret/*", ""),
        ("src/../secret/*", ""),
        (".env", "src"),
        (".env ", "src"),
    ] {
        let arguments = json!({"pattern": pattern, "path": path});
        assert!(!denied.allows("glob_files", &arguments), "{arguments}");
    }
    for (pattern, path) in [("*", "src"), ("/secret/*", "src"), ("*.rs", "")] {
        let arguments = json!({"pattern": pattern, "path": path});
        assert!(denied.allows("glob_files", &arguments), "{arguments}");
    }
}

#[test]
fn a_missing_path_is_the_project_where_the_key_is_known() {
    let table = [
        ("dir_list", json!({}), true),
        ("file_head", json!({}), true),
        ("read_file", json!({}), false),
    ];
    check("Read(**) Glob(**)", &table);
}

#[test]
fn other_arguments_are_compared_as_text() {
    let pairs = [
        ("my_tool", json!({"repo": "me/x", "mode": "read"}), true),
        ("my_tool", json!({"repo": "you/x", "mode": "read"}), false),
        ("my_tool", json!({"repo": "me/x"}), false),
        ("my_tool", json!({"repo": ["me/x"], "mode": "read"}), false),
    ];
    check("my_tool(repo:me/*, mode:read)", &pairs);
    let hyphen = [("my_tool", json!({"a-b": "x"}), true)];
    check("my_tool(a-b:x)", &hyphen);
    let blank = [("my_tool", json!({"a b": "x"}), false)];
    check("my_tool(a b:x)", &blank);
    let address = [
        ("fetch_url", json!({"url": "https://x.org/a"}), true),
        ("fetch_url", json!({"url": "https://y.org/a"}), false),
    ];
    check("fetch_url(url:https://x.org/*)", &address);
    let command = [
        ("shell_exec", json!({"command": "git log"}), true),
        ("shell_exec", json!({"command": "git log; rm x"}), false),
    ];
    check("shell_exec(command:git *)", &command);
    check("shell_exec(git:*)", &command);
    let agent = [
        ("spawn_agent", json!({"preset": "explore"}), true),
        ("spawn_agent", json!({"preset": "other"}), false),
        ("spawn_agent", json!({}), false),
    ];
    check("Agent(explore, plan)", &agent);
}

#[test]
fn one_argument_is_enough_to_deny_and_doubt_denies() {
    let denied = [
        "Read(secret/**)",
        "WebFetch(domain:x.org)",
        "my_tool(a:b*)",
        "Agent(x)",
    ];
    let scene = scene().skill("a", None, &denied);
    for (tool, arguments) in [
        ("file_head", json!({"path": "secret/a"})),
        ("file_head", json!({"path": "a/../secret"})),
        ("file_head", json!({"path": 3})),
        ("fetch_url", json!({"url": "https://X.org"})),
        ("fetch_url", json!({"url": "no url"})),
        ("my_tool", json!({"a": "bc"})),
        ("my_tool", json!({"a": 1})),
        ("spawn_agent", json!({"preset": "x"})),
    ] {
        assert!(!scene.allows(tool, &arguments), "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("file_head", json!({"path": "public/a"})),
        ("fetch_url", json!({"url": "https://y.org"})),
        ("my_tool", json!({"a": "c"})),
        ("my_tool", json!({})),
        ("spawn_agent", json!({})),
    ] {
        assert!(scene.allows(tool, &arguments), "{tool} {arguments}");
    }
}
