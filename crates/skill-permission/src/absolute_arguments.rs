//! Makes the paths of an allowed call absolute, without `..`. Only the called tool knows what a
//! relative path or `~` means, so it receives the paths that were authorized
//! (docs/spec/restriction.md#what-a-path-means).

use std::path::Path;

use serde_json::Value;

use super::active_restrictions::ActiveRestrictions;
use super::active_restrictions::RestrictionInputs;
use super::call::ToolCall;
use super::path::normalise;
use crate::vocabulary::{Argument, ArgumentTarget};

/// The arguments with every path absolute and without `..`; `None` if nothing is in force or nothing
/// changes.
pub fn absolute_arguments(scope: &RestrictionInputs, call: &ToolCall) -> Option<Value> {
    let tool = call.host_tool()?;
    if !tool.paths.takes_absolute || !ActiveRestrictions::new(scope).has_any() {
        return None;
    }
    let mut arguments = call.arguments.as_object()?.clone();
    let mut changed = false;
    let paths = [Argument::Path, Argument::Source];
    for (key, argument) in tool.arguments.iter().filter(|(_, one)| paths.contains(one)) {
        let is_file =
            |written: &&str| !written.is_empty() && argument.names(written) == ArgumentTarget::File;
        let Some(written) = call.text(key).filter(is_file) else {
            continue;
        };
        let absolute = normalise(&scope.places.for_tool(tool.name, written));
        if absolute != Path::new(written) {
            arguments.insert((*key).to_owned(), absolute.to_str()?.into());
            changed = true;
        }
    }
    changed.then_some(Value::Object(arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scene::scene;

    #[test]
    fn a_path_is_returned_as_the_tool_resolves_it() {
        let scene = scene().active("Read Write").in_directory("/p/sub");
        let handed = |tool: &str, arguments: Value| {
            let call = ToolCall {
                tool,
                arguments: &arguments,
                ours: None,
                meant: &[],
            };
            scene.scoped(|scope| absolute_arguments(scope, &call))
        };
        for (tool, path, absolute) in [
            ("write_file", "x", "/p/sub/x"),
            ("write_file", "~/x", "/p/sub/~/x"),
            ("file_edit", "x", "/p/x"),
            ("file_head", "~/x", "/p/~/x"),
            ("file_head", "../x", "/x"),
            ("file_edit", "/p/docs/new/../x", "/p/docs/x"),
            ("write_file", "vfs://../x", "/p/sub/x"),
            ("write_file", "vfs://shared/x", "/p/sub/vfs:/shared/x"),
            ("write_file", "https://x.org/a", "/p/sub/https:/x.org/a"),
        ] {
            let handed = handed(tool, json!({"path": path, "content": "y"}));
            let expected = json!({"path": absolute, "content": "y"});
            assert_eq!(handed, Some(expected), "{tool} {path}");
        }
        let free = crate::scene::scene();
        let arguments = json!({"path": "x"});
        let call = ToolCall {
            tool: "write_file",
            arguments: &arguments,
            ours: None,
            meant: &[],
        };
        let unrestricted = free.scoped(|scope| absolute_arguments(scope, &call));
        assert_eq!(unrestricted, None, "nothing was judged");
        for (source, absolute) in [
            ("x.md", "/p/sub/x.md"),
            ("HTTPS://x.org/../../a", "/p/sub/a"),
            ("https:x.org/../a", "/p/sub/a"),
            ("vfs:///../a", "/p/sub/a"),
        ] {
            let handed = handed("summarize_content", json!({ "source": source }));
            assert_eq!(handed, Some(json!({ "source": absolute })), "{source}");
        }
        for (tool, arguments) in [
            ("write_file", json!({"path": "/x"})),
            ("dir_list", json!({"path": ""})),
            ("write_file", json!({"path": "vfs:///x"})),
            ("write_file", json!({"path": 3})),
            ("dir_list", json!({})),
            ("summarize_content", json!({"source": "https://x.org/a"})),
            ("vfs_list", json!({"path": "x"})),
            ("index_query", json!({"file": "src/x.rs"})),
            ("shell_exec", json!({"command": "ls"})),
            ("my_tool", json!({"path": "x"})),
        ] {
            assert_eq!(handed(tool, arguments), None, "{tool}");
        }
    }

    #[test]
    fn what_is_judged_is_what_the_tool_would_write() {
        let scene = scene()
            .active("Write(/sub/**) Read(/sub/**)")
            .in_directory("/p/sub");
        for (tool, path, allowed) in [
            ("write_file", "x", true),
            ("write_file", "../x", false),
            ("write_file", "~/x", true),
            ("file_edit", "x", false),
            ("file_edit", "sub/x", true),
            ("file_head", "sub/x", true),
            ("file_head", "x", false),
        ] {
            assert_eq!(
                scene.allows(tool, &json!({ "path": path })),
                allowed,
                "{tool} {path}"
            );
        }
    }
}
