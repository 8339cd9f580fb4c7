//! Matches a call's arguments against one rule. An allow rule must match every argument, and doubt
//! means no; a deny rule needs one match, and doubt means yes. Shell commands are handled
//! elsewhere.

use std::path::Path;

use super::arg_matcher::{ArgMatcher, as_text};
use super::call::{Call, OurTool};
use super::domain::web_address;
use super::list::Purpose;
use super::path::Located;
use super::path_context::PathContext;
use super::path_pattern::PathPattern;
use super::rule::Rule;
use crate::host::alias::Capability;
use crate::host::tools::{self, Argument};

/// Where a path argument leads.
enum Place<'a> {
    OnDisk(Located),
    Virtual(&'a str),
}

impl PathContext<'_> {
    /// Whether `rule`, applied to the call's tool through `test`, covers its arguments for this
    /// purpose.
    pub fn covers(&self, purpose: Purpose, rule: &Rule, test: &ArgMatcher, call: &Call) -> bool {
        let doubt = purpose == Purpose::Deny;
        let covers_place = |test: &PathPattern, place: &Place| match place {
            Place::OnDisk(path) => test.covers(path, purpose, self),
            Place::Virtual(uri) => test.covers_virtual(uri),
        };
        if !fits_source(rule, call).unwrap_or(doubt) {
            return false;
        }
        match test {
            ArgMatcher::Path(test) => match (self.places_of(call), purpose) {
                (None, _) => doubt,
                (Some(places), Purpose::Allow) => places.iter().all(|at| covers_place(test, at)),
                (Some(places), Purpose::Deny) => places.iter().any(|at| covers_place(test, at)),
            },
            ArgMatcher::Domain(test) => url_of(call)
                .and_then(web_address)
                .map_or(doubt, |url| test.covers(&url)),
            ArgMatcher::Arguments(pairs) => pairs.iter().all(|(key, glob)| {
                let fits = |text| glob.matches(&as_text(text));
                let value = call.arguments.get(key);
                value.is_some_and(|value| value.as_str().map_or(doubt, fits))
            }),
            ArgMatcher::Any => true,
            ArgMatcher::Command(_) | ArgMatcher::Nothing => false,
            ArgMatcher::Presets(presets) => {
                let preset = call.text("preset").filter(|_| call.ours.is_none());
                preset.is_some_and(|preset| presets.iter().any(|one| one == preset))
            }
            ArgMatcher::Skill(name) => call.ours == Some(OurTool::Skill(name)),
        }
    }

    /// Every place that a call names; `None` if one of them cannot be determined.
    fn places_of<'c>(&self, call: &Call<'c>) -> Option<Vec<Place<'c>>> {
        let tool = call.host_tool()?;
        let mut places = Vec::new();
        // A tool whose first argument is a glob searches only below the glob's fixed part.
        let only_glob = matches!(tool.arguments.first(), Some((_, Argument::Glob)));
        let meanings: &[Argument] = if only_glob {
            &[]
        } else {
            &[Argument::Path, Argument::Source]
        };
        for key in tool.keys(meanings) {
            // A missing one means the project, for tools whose keys are known.
            let known = !tools::is_plugin_of_older_host(tool.name);
            let path = text_or(call, key, known.then_some(""))?;
            places.push(if path.starts_with("vfs://") {
                Place::Virtual(path)
            } else {
                Place::OnDisk(self.locate_for(tool.name, path))
            });
        }
        for key in tool.keys(&[Argument::Glob]) {
            let glob = text_or(call, key, Some(""))?;
            let base = text_or(call, "path", Some(""))?;
            if base.starts_with("vfs://") || glob.starts_with("vfs://") {
                return None;
            }
            let path = Path::new(base).join(fixed_part(glob)?);
            places.push(Place::OnDisk(self.locate_for(tool.name, path.to_str()?)));
        }
        Some(places)
    }
}

/// `summarize_content` takes a path or a URL, and a rule covers one of them. `None` if it is
/// unclear which is passed.
fn fits_source(rule: &Rule, call: &Call) -> Option<bool> {
    let key = call
        .host_tool()
        .and_then(|tool| tool.keys(&[Argument::Source]).next());
    let (Some(key), Some(capability)) = (key, rule.capability()) else {
        return Some(true);
    };
    let source = call.text(key)?;
    let is_address = web_address(source).is_some();
    if !is_address && source.contains(':') && !source.starts_with("vfs:///") {
        return None;
    }
    Some(is_address == (capability == Capability::Fetch))
}

/// A text argument, or `otherwise` if it is missing or null; `None` for any other type.
fn text_or<'c>(call: &Call<'c>, key: &str, otherwise: Option<&'c str>) -> Option<&'c str> {
    match call.arguments.get(key) {
        None | Some(serde_json::Value::Null) => otherwise,
        Some(value) => value.as_str(),
    }
}

/// The components of a glob before its first wildcard; `None` if `..` follows a wildcard.
fn fixed_part(glob: &str) -> Option<String> {
    let is_wild = |part: &&str| part.contains(['*', '?', '[', '{', '!']);
    let wild = glob.split('/').skip_while(|part| !is_wild(part));
    if wild.into_iter().any(|part| part.contains("..")) {
        return None;
    }
    let fixed: Vec<&str> = glob.split('/').take_while(|part| !is_wild(part)).collect();
    let rooted = glob.starts_with('/') && fixed.len() == 1;
    Some(if rooted {
        "/".to_owned()
    } else {
        fixed.join("/")
    })
}

fn url_of<'c>(call: &Call<'c>) -> Option<&'c str> {
    let tool = call.host_tool()?;
    let mut keys = tool.keys(&[Argument::Url, Argument::Source]);
    keys.next().and_then(|key| call.text(key))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::permission::scene::scene;

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
                false,
            ),
            ("glob_files", json!({"pattern": "/*", "path": "src"}), false),
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
            ("glob_files", json!({"pattern": "lib/../src/*"}), true),
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
        ];
        check("WebFetch(domain:x.org)", &fetch);
        let read = [
            ("summarize_content", json!({"source": "a.md"}), true),
            ("summarize_content", json!({"source": "vfs:///a"}), true),
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
}
