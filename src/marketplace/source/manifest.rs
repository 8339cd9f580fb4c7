//! Marketplace manifests (docs/spec/references.md#manifests): they name and group the skills of a
//! repository and point to other repositories. Their paths are only compared with the tree, and
//! their names never become paths or options. Pure.

use serde_json::Value;

use crate::error::Result;
use crate::marketplace::fetch::tree;
use crate::marketplace::reference::{At, Place, Reading, RepoUrl, SubPath, Want, WebUrl, forms};

/// Where a manifest is in a repository, best first.
pub const PLACES: [&str; 2] = [
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
];
/// The manifest below a plugin's directory.
pub const PLUGIN: &str = ".claude-plugin/plugin.json";

/// A marketplace.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    /// Its name, which is only compared and shown.
    pub name: Option<String>,
    root: Option<String>,
    plugins: Vec<Plugin>,
}

/// A plugin, here or in another repository.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// Its author's description.
    pub description: String,
    /// Search terms.
    pub tags: Vec<String>,
    source: Value,
    skills: Option<Vec<String>>,
    strict: bool,
}

impl Manifest {
    /// Parses a manifest, without its invalid parts.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let plugins = json.get("plugins").and_then(Value::as_array);
        let root = json
            .pointer("/metadata/pluginRoot")
            .or(json.get("pluginRoot"));
        Some(Self {
            name: text(&json, "name"),
            root: root.and_then(Value::as_str).and_then(tree::normal),
            plugins: plugins.into_iter().flatten().filter_map(plugin).collect(),
        })
    }

    /// The plugins in this repository, each with the directories of its skills, which are among
    /// `found`. `listed` returns the skills that the `plugin.json` of a directory names.
    pub fn groups(
        &self,
        found: &[&str],
        listed: &dyn Fn(&str) -> Option<Vec<String>>,
    ) -> Vec<(&Plugin, Vec<String>)> {
        let plugins = self.plugins.iter();
        let groups = plugins.filter_map(|p| Some((p, self.paths(p, found, listed)?)));
        groups.filter(|(_, paths)| !paths.is_empty()).collect()
    }

    fn paths(
        &self,
        plugin: &Plugin,
        found: &[&str],
        listed: &dyn Fn(&str) -> Option<Vec<String>>,
    ) -> Option<Vec<String>> {
        let source = tree::skill_dir(local(&plugin.source)?);
        let root = self.root.as_deref().unwrap_or_default();
        // The path as written comes first: most of them already include the root.
        let dir = [tree::normal(source), join(root, source)]
            .into_iter()
            .flatten()
            .find(|dir| found.iter().any(|path| tree::is_within(path, dir)))?;
        let below = |container: &str| -> Vec<String> {
            let inside = |path: &&&str| !path.is_empty() && tree::parent(path) == container;
            let paths = found.iter().filter(inside);
            paths.map(ToString::to_string).collect()
        };
        let own = plugin.strict.then(|| listed(&dir)).flatten();
        if let Some(skills) = plugin.skills.clone().or(own) {
            let places = skills.iter();
            let places = places.filter_map(|path| join(&dir, tree::skill_dir(path)));
            let skills = places.flat_map(|place| {
                if found.contains(&place.as_str()) {
                    vec![place]
                } else {
                    below(&place)
                }
            });
            return Some(skills.collect());
        }
        let usual = below(join(&dir, "skills").as_deref().unwrap_or_default());
        Some(if !usual.is_empty() {
            usual
        } else if found.contains(&dir.as_str()) {
            vec![dir]
        } else {
            below(&dir)
        })
    }

    /// The plugins in other repositories with their places, as far as these are supported. Plugins
    /// that would run a program are left out.
    pub fn remotes(&self) -> impl Iterator<Item = (&Plugin, Reading)> {
        let plugins = self.plugins.iter();
        plugins.filter_map(|plugin| Some((plugin, elsewhere(&plugin.source).ok().flatten()?)))
    }
}

/// The `skills` of a `plugin.json`.
pub fn plugin_skills(bytes: &[u8]) -> Option<Vec<String>> {
    let json: Value = serde_json::from_slice(bytes).ok()?;
    list(json.get("skills")?)
}

fn plugin(json: &Value) -> Option<Plugin> {
    let tags = ["tags", "keywords", "category"];
    let tags = tags.iter().filter_map(|key| list(json.get(key)?)).flatten();
    Some(Plugin {
        name: text(json, "name")?,
        description: text(json, "description").unwrap_or_default(),
        tags: tags.collect(),
        source: json.get("source")?.clone(),
        skills: json.get("skills").and_then(list),
        strict: json.get("strict").and_then(Value::as_bool).unwrap_or(true),
    })
}

fn local(source: &Value) -> Option<&str> {
    match source {
        Value::String(path) if !path.contains("://") => Some(path),
        Value::Object(map) if map.get("source")? == "local" => map.get("path")?.as_str(),
        _ => None,
    }
}

fn elsewhere(source: &Value) -> Result<Option<Reading>> {
    let field = |name: &str| source.get(name).and_then(Value::as_str);
    if let Some(url) = source.as_str().filter(|url| url.contains("://")) {
        return archive(url, None).map(Some);
    }
    let url = match (field("source"), field("repo"), field("url")) {
        (Some("github"), Some(repo), _) => repo,
        (Some("url" | "git-subdir"), _, Some(url)) => url,
        (Some("archive"), _, Some(url)) => return archive(url, field("sha256")).map(Some),
        _ => return Ok(None),
    };
    let at = At::parse(field("sha").or(field("ref")))?;
    let want = match field("path").map(|path| path.trim_start_matches("./")) {
        Some(path) if !path.is_empty() => Want::Path(SubPath::parse(path)?),
        _ => Want::Any,
    };
    Ok(Some(Reading::repository(
        RepoUrl::parse_short(url)?,
        at,
        want,
    )))
}

fn archive(url: &str, sha256: Option<&str>) -> Result<Reading> {
    let digest = sha256.map(|digest| forms::digest(&format!("sha256={digest}")));
    let (url, sha256) = (WebUrl::parse(url)?, digest.transpose()?);
    let (place, want) = (Place::Archive { url, sha256 }, Want::Any);
    Ok(Reading { place, want })
}

fn text(json: &Value, key: &str) -> Option<String> {
    json.get(key)?.as_str().map(str::to_owned)
}

/// A list of strings, or a single string.
fn list(json: &Value) -> Option<Vec<String>> {
    match json {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            Some(texts.map(str::to_owned).collect())
        }
        _ => None,
    }
}

fn join(dir: &str, path: &str) -> Option<String> {
    let path = tree::normal(path)?;
    Some(if path.is_empty() {
        dir.to_owned()
    } else {
        tree::join(dir, &path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(json: &str) -> Manifest {
        Manifest::parse(json.as_bytes()).unwrap()
    }

    fn grouped(json: &str, found: &[&str]) -> Vec<(String, Vec<String>)> {
        let listed = |dir: &str| (dir == "p").then(|| vec!["./my/".to_owned()]);
        let manifest = manifest(json);
        let groups = manifest.groups(found, &listed);
        groups
            .into_iter()
            .map(|(plugin, paths)| (plugin.name.clone(), paths))
            .collect()
    }

    #[test]
    fn every_way_of_saying_which_skills_a_plugin_has() {
        for (plugin, found, expected) in [
            (
                r#""source":"./","skills":["./skills/a"]"#,
                &["skills/a", "skills/b"][..],
                &["skills/a"][..],
            ),
            (
                r#""source":"./","skills":["./skills/"]"#,
                &["skills/a", "skills/b"],
                &["skills/a", "skills/b"],
            ),
            (
                r#""source":"./skills/a","skills":"./""#,
                &["skills/a"],
                &["skills/a"],
            ),
            (
                r#""source":"./","skills":["./skills/a/SKILL.md"]"#,
                &["skills/a", "skills/b"],
                &["skills/a"],
            ),
            (
                r#""source":"./skills/a/SKILL.md""#,
                &["skills/a", "skills/b"],
                &["skills/a"],
            ),
            (
                r#""source":"./plugins/x""#,
                &["plugins/x/skills/a", "b"],
                &["plugins/x/skills/a"],
            ),
            (
                r#""source":"x""#,
                &["plugins/x/skills/a"],
                &["plugins/x/skills/a"],
            ),
            (
                r#""source":"./skills""#,
                &["skills/a", "skills/b"],
                &["skills/a", "skills/b"],
            ),
            (r#""source":"./d""#, &["d", "d/x/y"], &["d"]),
            (r#""source":"./p""#, &["p/my/a", "p/skills/b"], &["p/my/a"]),
            (
                r#""source":"./p","strict":false"#,
                &["p/my/a", "p/skills/b"],
                &["p/skills/b"],
            ),
            (
                r#""source":{"source":"local","path":"./x"}"#,
                &["x/skills/a"],
                &["x/skills/a"],
            ),
        ] {
            let json = format!(
                r#"{{"metadata":{{"pluginRoot":"./plugins"}},"plugins":[{{"name":"n",{plugin}}}]}}"#
            );
            let paths = expected
                .iter()
                .map(|path| (*path).to_owned())
                .collect::<Vec<_>>();
            assert_eq!(grouped(&json, found), [("n".to_owned(), paths)], "{plugin}");
        }
    }

    #[test]
    fn paths_that_lead_out_and_programs_are_left_out() {
        for plugin in [
            r#""source":"../x""#,
            r#""source":"/etc""#,
            r#""source":"./gone""#,
            r#""source":"./","skills":["../a","/a","./none"]"#,
            r#""source":{"source":"command","command":"sh"}"#,
            r#""source":{"source":"url","url":"ext::sh -c x"}"#,
            r#""source":{"source":"github","repo":"--upload-pack=x/y"}"#,
            r#""source":{"source":"git-subdir","url":"o/r","path":"../../x"}"#,
        ] {
            let json = format!(r#"{{"name":"../../../.ssh","plugins":[{{"name":"n",{plugin}}}]}}"#);
            assert!(grouped(&json, &["a"]).is_empty(), "{plugin}");
            assert!(manifest(&json).remotes().next().is_none(), "{plugin}");
        }
    }

    #[test]
    fn plugins_kept_elsewhere_are_places_to_go_to() {
        for (source, expected) in [
            (
                r#"{"source":"github","repo":"o/r","ref":"v1"}"#,
                "repository o/r at v1",
            ),
            (
                r#"{"source":"url","url":"https://h.org/r.git"}"#,
                "repository https://h.org/r.git",
            ),
            (
                r#"{"source":"git-subdir","url":"o/r","path":"./a/b","ref":"main"}"#,
                "directory `a/b` of repository o/r at main",
            ),
            (
                r#"{"source":"archive","url":"https://h.org/x.zip"}"#,
                "archive https://h.org/x.zip",
            ),
        ] {
            let json = format!(r#"{{"plugins":[{{"name":"n","source":{source}}}]}}"#);
            let manifest = manifest(&json);
            let (_, reading) = manifest.remotes().next().unwrap();
            assert_eq!(reading.to_string(), expected);
        }
    }
}
