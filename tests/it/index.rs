//! The catalog's index: no call answers differently because of it.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::Host;
use crate::host::write_at;
use crate::layers::{policy, put, with_layers};
use crate::many::TOOLS;

/// Longer than the tick of a file system's clock: what was written before is taken from the index.
pub const SETTLED: Duration = Duration::from_millis(40);

/// What the model and the user are told of all skills.
fn looks(host: &Host) -> Vec<String> {
    // A refusal is worded otherwise the second time.
    let _ = fs::remove_file(host.plugin_dir().join("refusals"));
    let mut answers = vec![host.raw("hook", "on_start", "{}")];
    // As the host does it: `--schema` first, then the prompt of each context.
    answers.push(json!(host.schema()).to_string());
    for context in ["default", "work"] {
        let prompt = json!({"context_name": context});
        let (answer, stderr) = host.hook_with_stderr("post_system_prompt", &prompt);
        answers.push(format!("{context}: {answer} {stderr}"));
    }
    answers
}

/// The same, and every call that the index has a part in.
fn answers(host: &Host) -> Vec<String> {
    let mut answers = looks(host);
    for (context, tool, arguments) in [
        ("default", "skill_a", json!({})),
        ("work", "skill", json!({"skill_name": "a"})),
    ] {
        host.hook("post_system_prompt", &json!({"context_name": context}));
        let tools = json!({"context_name": context, "tools": [
            {"name": "skill_a", "type": "plugin"}, {"name": "skill", "type": "plugin"},
        ]});
        answers.push(host.hook("pre_api_tools", &tools).to_string());
        answers.push(host.pre_tool(tool, &arguments).to_string());
        answers.push(host.tool(tool, &arguments));
    }
    for (tool, arguments) in [
        ("skill_new", json!({})),
        ("skill_marketplace", json!({"action": "list_installed"})),
        ("read_skill_file", json!({"skill": "a", "path": "SKILL.md"})),
    ] {
        answers.push(host.tool(tool, &arguments));
    }
    answers
}

/// The same without an index, and where none can be written.
fn without_index(host: &Host) -> Vec<String> {
    let index = host.plugin_dir().join("index");
    let aside = host.plugin_dir().join("aside");
    fs::rename(&index, &aside).unwrap();
    fs::write(&index, "in the way").unwrap();
    let answers = answers(host);
    fs::remove_file(&index).unwrap();
    fs::rename(&aside, &index).unwrap();
    answers
}

type Change = (&'static str, fn(&Host));

fn skill(host: &Host, dir: &str, text: &str) {
    let dir = host.skills_dir().join(dir);
    write_at(dir.join("SKILL.md"), text);
}

fn project_skills(host: &Host) -> std::path::PathBuf {
    host.project().join(".chibi/skills")
}

const CHANGES: [Change; 24] = [
    ("nothing", |_| ()),
    ("edited in place", |host| {
        let text = "---\nname: a\ndescription: Another one.\n---\nNew.\n";
        skill(host, "a", text);
    }),
    ("added", |host| {
        skill(host, "new", "---\nname: new\ndescription: N.\n---\nN\n");
    }),
    ("a name taken in place", |host| {
        skill(host, "new", "---\nname: a\ndescription: N.\n---\nN\n");
    }),
    ("given back", |host| {
        skill(host, "new", "---\nname: new\ndescription: N.\n---\nN\n");
    }),
    ("renamed", |host| {
        let skills = host.skills_dir();
        fs::rename(skills.join("new"), skills.join("renamed")).unwrap();
    }),
    ("removed", |host| {
        fs::remove_dir_all(host.skills_dir().join("renamed")).unwrap();
    }),
    ("replaced by a link", |host| {
        let outside = host.home().join("outside");
        put(&outside, "a", "", "a link");
        fs::remove_dir_all(host.skills_dir().join("a")).unwrap();
        std::os::unix::fs::symlink(outside.join("a"), host.skills_dir().join("a")).unwrap();
    }),
    ("edited behind the link", |host| {
        put(&host.home().join("outside"), "a", "", "behind");
    }),
    ("a context's own", |host| {
        let scoped = "---\nname: b\ndescription: B.\nscope:\n  agents: [work]\n---\nB\n";
        skill(host, "b", scoped);
    }),
    ("one tool", |host| {
        for number in 0..TOOLS {
            put(&host.skills_dir(), &format!("many-{number}"), "", "many");
        }
    }),
    ("a tool each", |host| {
        for number in 0..TOOLS {
            fs::remove_dir_all(host.skills_dir().join(format!("many-{number}"))).unwrap();
        }
    }),
    ("switched off", |host| {
        host.config("[visibility]\na = \"off\"\n");
    }),
    ("a broken configuration", |host| {
        host.config("visibility = 3\n");
    }),
    ("none", |host| host.config("")),
    ("a project that nobody trusts", |host| {
        put(&project_skills(host), "new", "", "a project");
    }),
    ("trusted", |host| {
        host.succeeds(&["trust", "--yes", host.project().to_str().unwrap()]);
    }),
    ("changed since, and nothing of its SKILL.md", |host| {
        fs::write(project_skills(host).join("new/run.sh"), "echo EVIL").unwrap();
    }),
    ("blocked", |host| {
        policy(host, "[skills]\nblock = [\"a\"]\n");
    }),
    ("approval required", |host| {
        policy(host, "[approval]\nrequire = [\"all\"]\n");
    }),
    ("by source", |host| {
        policy(host, "[sources]\nallow = [\"github.com/acme/*\"]\n");
    }),
    ("an unreadable policy", |host| policy(host, "source = 1\n")),
    ("no policy", |host| {
        fs::remove_file(host.home().join("enterprise/policy.toml")).unwrap();
    }),
    ("an enterprise skill", |host| {
        let enterprise = host.home().join("enterprise/skills");
        put(&enterprise, "a", "", "the enterprise");
    }),
];

#[test]
fn every_call_answers_the_same_with_and_without_the_index() {
    let host = with_layers(Host::stdin().skill("a", "", "A").skill("b", "", "B"));
    host.schema();
    for (what, change) in CHANGES {
        change(&host);
        // What reads every skill; a call reads the one that it is about.
        let at_once = looks(&host);
        sleep(SETTLED);
        // What has settled is written down by the first call that sees it.
        host.schema();
        let warm = answers(&host);
        let truth = without_index(&host);
        for (kind, found) in [("at once", at_once), ("warm", warm)] {
            for (found, expected) in found.iter().zip(&truth) {
                assert_eq!(found, expected, "{what}, {kind}");
            }
        }
    }
}

#[test]
fn only_the_user_can_read_the_index() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::stdin().skill("a", "", "A");
    host.schema();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let index = host.plugin_dir().join("index");
    assert_eq!(mode(&index), 0o700);
    let files: Vec<_> = fs::read_dir(&index)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(mode(&files[0]), 0o600);
}
