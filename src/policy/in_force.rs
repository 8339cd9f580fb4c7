//! What the administrator's policies and the configuration set: each key with the file and line
//! where it is written. For people; decisions use the parsed files.

use std::path::Path;

use serde::Serialize;
use toml_edit::{Document, TableLike};

use super::file::line_of;
use crate::error::Result;
use crate::policy::{Config, Policies, joined, settings};
use crate::run_context::RunContext;
use crate::sys::{files, limits};

/// A key that is set, in the format that `--json` documents.
#[derive(Debug, Serialize)]
pub struct InForce {
    /// `key` or `table.key`.
    pub key: String,
    /// As TOML; of the configuration, the value that results.
    pub value: String,
    /// Who set it: `policy`, `user` or `project`.
    pub layer: &'static str,
    /// Where it is written; `null` for a value of the configuration that a policy decides.
    pub file: Option<String>,
    /// The number of the line.
    pub line: Option<usize>,
}

/// Every key of every policy, then those of the configuration that do not have their default.
///
/// # Errors
/// As [`settings`].
pub fn in_force(
    run: &RunContext,
    state: &Path,
    policies: &Policies,
    own: &Config,
) -> Result<Vec<InForce>> {
    let mut all = Vec::new();
    for (file, _) in policies.each_file() {
        let shown = file.display().to_string();
        all.extend(written(file).into_iter().map(|(key, value, line)| InForce {
            key,
            value,
            layer: "policy",
            file: Some(shown.clone()),
            line: Some(line),
        }));
    }
    let project = run.project_config_path();
    let (in_own, in_project) = (written(&run.config_path()), written(&project));
    for setting in settings(run, state, policies, own)? {
        let (layer, keys) = match &setting.origin {
            default if default == "default" => continue,
            policy if policy == "policy" => ("policy", None),
            path if Path::new(path) == project => ("project", Some(&in_project)),
            _ => ("user", Some(&in_own)),
        };
        let mut keys_there = keys.into_iter().flatten();
        let there = keys_there.find(|(key, ..)| *key == setting.key);
        all.push(InForce {
            value: setting.value.to_string(),
            layer,
            line: there.map(|(.., line)| *line),
            file: keys.map(|_| setting.origin),
            key: setting.key,
        });
    }
    Ok(all)
}

/// The keys of a file with their values and lines, in its order; none if it is not TOML.
fn written(path: &Path) -> Vec<(String, String, usize)> {
    let bytes = files::read_capped(path, limits::CONFIG_FILE).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut found = Vec::new();
    if let Ok(document) = Document::parse(&*text) {
        collect(&text, &mut Vec::new(), document.as_table(), &mut found);
    }
    found
}

fn collect(
    text: &str,
    path: &mut Vec<String>,
    table: &dyn TableLike,
    found: &mut Vec<(String, String, usize)>,
) {
    for (key, item) in table.iter() {
        path.push(key.to_owned());
        if let Some(inner) = item.as_table_like() {
            collect(text, path, inner, found);
        } else {
            let value = item.span().map(|span| &text[span]).unwrap_or_default();
            found.push((joined(path), value.to_owned(), line_of(text, item.span())));
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_lines_wherever_their_table_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.toml");
        let text = "a = 1\n\n[t]\n# why\nb = [\"x\"]\nc = {d = true}\n";
        std::fs::write(&path, text).unwrap();
        let found = written(&path);
        let found: Vec<(&str, &str, usize)> = found
            .iter()
            .map(|(key, value, line)| (key.as_str(), value.as_str(), *line))
            .collect();
        assert_eq!(
            found,
            [("a", "1", 1), ("t.b", "[\"x\"]", 5), ("t.c.d", "true", 6)]
        );
        assert!(written(&dir.path().join("none")).is_empty());
    }
}
