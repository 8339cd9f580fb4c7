//! Matches a call's arguments against one rule. An allow rule must match every argument, and doubt
//! means no; a deny rule needs one match, and doubt means yes. Shell commands are handled
//! elsewhere.

use std::path::Path;

use super::arg_matcher::ArgMatcher;
use super::call::{Call, OurTool};
use super::domain::web_address;
use super::list::Purpose;
use super::meant::{Meant, fits};
use super::path::Located;
use super::path_context::PathContext;
use super::path_pattern::PathPattern;
use super::rule::Rule;
use crate::host::alias::Capability;
use crate::host::tools::{self, Argument, Named};

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
            ArgMatcher::Path(test) => match (self.places_of(purpose, call), purpose) {
                (None, _) => doubt,
                (Some(places), Purpose::Allow) => places.iter().all(|at| covers_place(test, at)),
                (Some(places), Purpose::Deny) => places.iter().any(|at| covers_place(test, at)),
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
            ArgMatcher::Presets(presets) => {
                let preset = call.text("preset").filter(|_| call.ours.is_none());
                preset.is_some_and(|preset| presets.iter().any(|one| one == preset))
            }
            ArgMatcher::Skill(wanted) => match call.ours {
                Some(OurTool::Skill { name, .. }) => {
                    let is_named = name == wanted.trim_end_matches('*');
                    let is_meant = || {
                        Meant::skill("skill", vec![name.to_owned()]).is_covered(wanted, purpose)
                            || means(call, "skill", wanted, purpose)
                    };
                    is_named || doubt && is_meant()
                }
                _ => false,
            },
        }
    }

    /// Every place that a call names; `None` if one of them cannot be determined.
    fn places_of<'c>(&self, purpose: Purpose, call: &Call<'c>) -> Option<Vec<Place<'c>>> {
        let tool = call.host_tool()?;
        let mut places = Vec::new();
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
            let known = !tools::is_plugin_of_older_host(tool.name);
            let path = text_or(call, key, known.then_some(""))?;
            places.push(match argument.names(path) {
                Named::Virtual => Place::Virtual(path),
                Named::File | Named::Address => Place::OnDisk(self.locate_for(tool.name, path)),
            });
        }
        for key in tool.keys(&[Argument::Glob]) {
            let glob = text_or(call, key, Some(""))?;
            let base = text_or(call, "path", Some(""))?;
            if Argument::Path.names(base) == Named::Virtual {
                return None;
            }
            let path = Path::new(base).join(fixed_part(glob, purpose)?);
            places.push(Place::OnDisk(self.locate_for(tool.name, path.to_str()?)));
        }
        Some(places)
    }
}

/// Whether a glob covers an argument of our tool: for a grant, each of its values.
fn means(call: &Call, key: &str, glob: &str, purpose: Purpose) -> bool {
    let mut values = call
        .meant
        .iter()
        .filter(|value| value.key == key)
        .peekable();
    let is_covered = |value: &Meant| value.is_covered(glob, purpose);
    match purpose {
        Purpose::Allow => values.peek().is_some() && values.all(is_covered),
        Purpose::Deny => values.any(is_covered),
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
    // The host would take it for a file, but it may be meant as an address.
    if !is_address && source.contains(':') {
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

fn url_of<'c>(call: &Call<'c>) -> Option<&'c str> {
    let tool = call.host_tool()?;
    let mut keys = tool.keys(&[Argument::Url, Argument::Source]);
    keys.next().and_then(|key| call.text(key))
}

#[cfg(test)]
mod tests;
