//! Matches a call's arguments against one rule. An allow rule must match every argument, and doubt
//! means no; a deny rule needs one match, and doubt means yes. Shell commands are handled
//! elsewhere.

use std::path::Path;

use super::arg_matcher::ArgMatcher;
use super::argument_value::{ArgumentValue, fits};
use super::call::{OurTool, ToolCall};
use super::domain::web_address;
use super::entry_grammar::Purpose;
use super::path_context::PathContext;
use super::path_pattern::PathPattern;
use super::rule::Rule;
use super::tool_matcher::CalledTool;
use crate::vocabulary::{self, Argument, ArgumentTarget, Capability};

impl PathContext<'_> {
    /// Whether `rule` covers this call of `tool`.
    pub fn covers(&self, rule: &Rule, tool: &CalledTool, call: &ToolCall) -> bool {
        let purpose = rule.purpose;
        let doubt = purpose == Purpose::Deny;
        let Some(test) = rule.matcher_for(tool) else {
            return false;
        };
        if !fits_source(rule, call).unwrap_or(doubt) {
            return false;
        }
        match test {
            ArgMatcher::Path(test) => match (self.places_covered(test, purpose, call), purpose) {
                (None, _) => doubt,
                (Some(covered), Purpose::Allow) => !covered.contains(&false),
                (Some(covered), Purpose::Deny) => covered.contains(&true),
            },
            ArgMatcher::Domain(test) => url_of(call)
                .and_then(web_address)
                .map_or(doubt, |url| test.covers(&url)),
            ArgMatcher::Arguments(pairs) => pairs.iter().all(|(key, glob)| {
                let value = call.arguments.get(key);
                let as_written =
                    || value.is_some_and(|value| value.as_str().map_or(doubt, |it| fits(glob, it)));
                match (call.ours, purpose) {
                    (None, _) => as_written(),
                    (Some(_), Purpose::Allow) => means(call, key, glob, purpose),
                    (Some(_), Purpose::Deny) => means(call, key, glob, purpose) || as_written(),
                }
            }),
            ArgMatcher::Any => true,
            ArgMatcher::Command(_) | ArgMatcher::Nothing => false,
            ArgMatcher::Presets(presets) => call.text("preset").is_some_and(|preset| {
                call.ours.is_none() && presets.iter().any(|one| one == preset)
            }),
            ArgMatcher::Skill(wanted) => match call.ours {
                Some(OurTool::Skill { name, .. }) => {
                    let is_named = name == wanted.trim_end_matches('*');
                    let is_meant = || {
                        ArgumentValue::skill("skill", vec![name.to_owned()])
                            .is_covered(wanted, purpose)
                            || means(call, "skill", wanted, purpose)
                    };
                    is_named || doubt && is_meant()
                }
                _ => false,
            },
        }
    }

    /// Whether a pattern covers each place that a call names; `None` if one of them cannot be
    /// determined.
    fn places_covered(
        &self,
        test: &PathPattern,
        purpose: Purpose,
        call: &ToolCall,
    ) -> Option<Vec<bool>> {
        let tool = call.host_tool()?;
        let on_disk = |path: &str| test.covers(&self.locate_for(tool.name, path), purpose, self);
        let mut covered = Vec::new();
        // A tool whose first argument is a glob finds only what is below the glob's fixed part.
        let only_glob = matches!(tool.arguments.first(), Some((_, Argument::Glob)));
        let meanings: &[Argument] = if only_glob && purpose == Purpose::Allow {
            &[]
        } else {
            &[Argument::Path, Argument::Source]
        };
        let paths = tool.arguments.iter();
        for (key, argument) in paths.filter(|(_, one)| meanings.contains(one)) {
            // A missing one means the project, for tools whose keys are known.
            let known = !vocabulary::is_plugin_of_older_host(tool.name);
            let path = text_or(call, key, known.then_some(""))?;
            covered.push(match argument.names(path) {
                ArgumentTarget::Virtual => test.covers_virtual(path),
                ArgumentTarget::File | ArgumentTarget::Address => on_disk(path),
            });
        }
        for key in tool.keys(&[Argument::Glob]) {
            let glob = text_or(call, key, Some(""))?;
            let base = text_or(call, "path", Some(""))?;
            if Argument::Path.names(base) == ArgumentTarget::Virtual {
                return None;
            }
            let path = Path::new(base).join(fixed_part(glob, purpose)?);
            covered.push(on_disk(path.to_str()?));
        }
        Some(covered)
    }
}

/// Whether a glob covers an argument of our tool: for a grant, each of its values.
fn means(call: &ToolCall, key: &str, glob: &str, purpose: Purpose) -> bool {
    let values = call.meant.iter().filter(|value| value.key == key);
    let covered: Vec<bool> = values
        .map(|value| value.is_covered(glob, purpose))
        .collect();
    covered.contains(&true) && (purpose == Purpose::Deny || !covered.contains(&false))
}

/// `summarize_content` takes a path or a URL, and a rule covers one of them. `None` if it is
/// unclear which is passed.
fn fits_source(rule: &Rule, call: &ToolCall) -> Option<bool> {
    let key = call
        .host_tool()
        .and_then(|tool| tool.keys(&[Argument::Source]).next());
    let (Some(key), Some(capability)) = (key, rule.capability()) else {
        return Some(true);
    };
    let source = call.text(key)?;
    let is_address = web_address(source).is_some();
    // The host would take it for a file, but it may be meant as an address.
    if !is_address && source.contains(':') {
        return None;
    }
    Some(is_address == (capability == Capability::Fetch))
}

/// A text argument, or `otherwise` if it is missing or null; `None` for any other type.
fn text_or<'c>(call: &ToolCall<'c>, key: &str, otherwise: Option<&'c str>) -> Option<&'c str> {
    match call.arguments.get(key) {
        None | Some(serde_json::Value::Null) => otherwise,
        Some(value) => value.as_str(),
    }
}

/// The components of a glob before its first wildcard, always below the tool's directory as the
/// host reads it: like a line of `.gitignore`. `None` if it holds `..`.
fn fixed_part(glob: &str, purpose: Purpose) -> Option<String> {
    let glob = glob.trim_end();
    // Without a slash before its end it is found at any depth.
    let floats = !glob.trim_end_matches('/').contains('/');
    if glob.contains("..") {
        return None;
    }
    if floats && purpose == Purpose::Allow {
        return Some(String::new());
    }
    let is_wild = |part: &&str| part.contains(['*', '?', '[', '{', '!', '\\', '#']);
    let names = glob.trim_start_matches('/').split('/');
    let fixed: Vec<&str> = names.take_while(|part| !is_wild(part)).collect();
    Some(fixed.join("/"))
}

fn url_of<'c>(call: &ToolCall<'c>) -> Option<&'c str> {
    let tool = call.host_tool()?;
    let mut keys = tool.keys(&[Argument::Url, Argument::Source]);
    keys.next().and_then(|key| call.text(key))
}

#[cfg(test)]
mod tests;
