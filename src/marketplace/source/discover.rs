//! Finds the skills in a tree (docs/spec/references.md#finding-skills). It always searches the
//! whole tree and does not choose among them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::marketplace::fetch::{Contents, FileToRead, Node, Tree, each_small, tree};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::parse;

/// Directories that hold copies of other repositories.
const SKIPPED: [&str; 6] = [
    "node_modules",
    "target",
    "venv",
    ".venv",
    "site-packages",
    "__pycache__",
];
/// Directories whose skills are considered only if their path is given.
const HIDDEN: [&str; 8] = [
    "test",
    "tests",
    "fixtures",
    "evals",
    "backups",
    "archive",
    "archived",
    "deprecated",
];
/// Directories of derived copies or examples, which rank last.
const LAST: [&str; 6] = ["dist", "build", "docs", "examples", "templates", "template"];

/// A skill in a tree.
#[derive(Debug, Clone)]
pub struct SkillInTree {
    /// Its directory; `""` is the root.
    pub path: String,
    /// The skill, as its `SKILL.md` describes it.
    pub skill: Rc<Skill>,
    /// The same for all copies of one skill.
    pub fingerprint: String,
    /// Whether it lies in another skill and is copied with it. A skill at the root contains no
    /// other.
    pub nested: bool,
    /// Whether it is considered only if its path is given.
    pub hidden: bool,
    /// The copy with the lowest rank is the main one.
    pub rank: u8,
    /// The plugin to which the manifest assigns it.
    pub plugin: Option<String>,
    /// Search terms.
    pub tags: Vec<String>,
}

impl SkillInTree {
    /// Whether it is listed without its path being given.
    pub fn is_shown(&self) -> bool {
        !self.nested && !self.hidden
    }

    /// The directory's own name; empty at the root.
    pub fn dir_name(&self) -> &str {
        tree::base(&self.path)
    }
}

/// Finds every skill, sorted by rank and path, and the manifest, which is empty when there is none.
/// `root_name`, the repository's name, is used for a root `SKILL.md` without a name.
///
/// # Errors
/// When there are too many, or their content cannot be read.
pub fn discover(
    tree: &Tree,
    content: &dyn Contents,
    root_name: &str,
) -> Result<(Vec<SkillInTree>, MarketplaceManifest)> {
    let places = candidates(tree);
    let is_manifest = |path: &str| {
        let dir = path.strip_suffix(PLUGIN);
        PLACES.contains(&path) || dir.is_some_and(|dir| dir.is_empty() || dir.ends_with('/'))
    };
    let manifests = tree.iter().filter(|(path, _)| is_manifest(path));
    let manifests = manifests.filter_map(|(path, node)| FileToRead::new(path, node));
    let manifests: Vec<FileToRead> = manifests.collect();
    if places.len() + manifests.len() > limits::TREE_SKILLS {
        let text = format!("there are more than {} skills", limits::TREE_SKILLS);
        return Err(Error::new(text).hint("give the address of the directory that you want"));
    }
    let mut manifest_texts = Vec::new();
    // The texts of thousands would fill the memory, so only the skills are kept.
    let mut loaded = Vec::with_capacity(places.len());
    let files = places.iter().map(|(_, file)| file);
    let files: Vec<FileToRead> = files.chain(&manifests).cloned().collect();
    each_small(content, &files, limits::SKILL_FILE, &mut |at, text| {
        let Some((dir, file)) = places.get(at) else {
            manifest_texts.push(text);
            return;
        };
        let named = if dir.is_empty() { root_name } else { dir };
        let parse = |text: &[u8]| Skill::parse(Path::new(named), PathBuf::from(&file.path), text);
        loaded.push(text.and_then(|text| parse(&text).ok()));
    })?;
    let dirs: HashSet<&str> = places.iter().map(|(dir, _)| dir.as_str()).collect();
    let skill = |((dir, _), skill): (&(String, FileToRead), Option<Skill>)| {
        let skill = skill?;
        let mut above = dir.match_indices('/').map(|(at, _)| &dir[..at]);
        Some(SkillInTree {
            fingerprint: fingerprint(tree, dir, &skill),
            nested: above.any(|other| dirs.contains(other)),
            hidden: parent_parts(dir).any(|part| HIDDEN.contains(&part)),
            rank: rank(dir),
            path: dir.clone(),
            plugin: None,
            tags: skill.fields.tags(),
            skill: Rc::new(skill),
        })
    };
    let mut skills: Vec<SkillInTree> = places.iter().zip(loaded).filter_map(skill).collect();
    let manifest = group(&mut skills, &manifests, &manifest_texts);
    skills.sort_by(|a, b| (a.rank, &a.path).cmp(&(b.rank, &b.path)));
    Ok((skills, manifest))
}

/// Assigns skills to their plugins. A skill that the manifest lists is the main copy.
fn group(
    found: &mut [SkillInTree],
    files: &[FileToRead],
    texts: &[Option<Vec<u8>>],
) -> MarketplaceManifest {
    let read = |path: &str| {
        let at = files.iter().position(|file| file.path == path)?;
        texts.get(at)?.as_deref()
    };
    let mut places = PLACES.iter();
    let Some(manifest) = places.find_map(|place| MarketplaceManifest::parse(read(place)?)) else {
        return MarketplaceManifest::default();
    };
    let listed = |dir: &str| plugin_skills(read(&tree::join(dir, PLUGIN))?);
    let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    for (plugin, paths) in manifest.groups(&paths, &listed) {
        for skill in found.iter_mut().filter(|found| paths.contains(&found.path)) {
            skill.rank = 0;
            skill.tags.extend(plugin.tags.iter().cloned());
            // A skill in several plugins belongs to the first.
            skill.plugin.get_or_insert_with(|| plugin.name.clone());
        }
    }
    manifest
}

/// The directories with a `SKILL.md` in any case, and that file, with links followed. If there are
/// several, the exact spelling wins, as in `skill/load.rs`.
fn candidates(tree: &Tree) -> Vec<(String, FileToRead)> {
    let mut found: Vec<(String, FileToRead)> = Vec::new();
    let mut places = HashMap::new();
    for (path, _) in tree.iter() {
        let (dir, name) = (tree::parent(path), tree::base(path));
        if !name.eq_ignore_ascii_case("SKILL.md")
            || path.matches('/').count() > limits::WALK_DEPTH
            || dir.split('/').any(|part| SKIPPED.contains(&part))
        {
            continue;
        }
        let real = tree.resolve(path).ok();
        let Some(file) = real.and_then(|real| FileToRead::new(&real, tree.get(&real)?)) else {
            continue;
        };
        let at = *places.entry(dir).or_insert(found.len());
        if at == found.len() {
            found.push((dir.to_owned(), file));
        } else if name == "SKILL.md" {
            found[at].1 = file;
        }
    }
    found
}

/// A digest of the skill's text and of the path and id of every other file.
fn fingerprint(tree: &Tree, dir: &str, skill: &Skill) -> String {
    let mut hash = Sha256::new();
    hash.update(&skill.digest);
    for (path, node) in tree.below(dir) {
        if dir.is_empty() || path.eq_ignore_ascii_case("SKILL.md") {
            continue;
        }
        let id = match node {
            Node::File { id, .. } => id,
            Node::Link { to } => to,
            _ => continue,
        };
        hash.update(format!("\0{path}\0{id}"));
    }
    format!("{:x}", hash.finalize())
}

fn parent_parts(dir: &str) -> impl Iterator<Item = &str> {
    tree::parent(dir).split('/')
}

/// The rank, best first: what the manifest lists (0), `skills/`, `*/skills`, other directories,
/// directories of single clients, derived copies.
fn rank(dir: &str) -> u8 {
    let parts: Vec<&str> = parent_parts(dir).collect();
    match parts[0] {
        _ if parts.iter().any(|part| LAST.contains(part)) => 7,
        "skills" => 1,
        ".agents" => 4,
        ".claude" => 5,
        _ if parts.iter().any(|part| part.starts_with('.')) => 6,
        _ if parts.contains(&"skills") => 2,
        _ => 3,
    }
}

/// Where a manifest is in a repository, best first.
pub const PLACES: [&str; 2] = [
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
];
/// The manifest below a plugin's directory.
pub const PLUGIN: &str = ".claude-plugin/plugin.json";

/// A marketplace.
#[derive(Debug, Clone, Default)]
pub struct MarketplaceManifest {
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

impl MarketplaceManifest {
    /// Parses a manifest, without its invalid parts.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let plugins = json.get("plugins").and_then(Value::as_array);
        let root = json
            .pointer("/metadata/pluginRoot")
            .or(json.get("pluginRoot"));
        Some(Self {
            name: text(&json, "name"),
            root: root
                .and_then(Value::as_str)
                .and_then(tree::normalize_relative),
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
        let dir = [tree::normalize_relative(source), join(root, source)]
            .into_iter()
            .flatten()
            .find(|dir| found.iter().any(|path| tree::is_within(path, dir)))?;
        let below = |container: &str| -> Vec<String> {
            let inside = |path: &&&str| !path.is_empty() && tree::parent(path) == container;
            let paths = found.iter().filter(inside);
            paths.map(ToString::to_string).collect()
        };
        let own = plugin.strict.then(|| listed(&dir)).flatten();
        let at = |place: String| {
            if found.contains(&place.as_str()) {
                return vec![place];
            }
            below(&place)
        };
        if let Some(skills) = plugin.skills.clone().or(own) {
            let places = skills.iter();
            let places = places.filter_map(|path| join(&dir, tree::skill_dir(path)));
            return Some(places.flat_map(at).collect());
        }
        let usual = join(&dir, "skills").map(|place| below(&place));
        let usual = usual.filter(|usual| !usual.is_empty());
        Some(usual.unwrap_or_else(|| at(dir)))
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
    let at = Revision::parse(field("sha").or(field("ref")))?;
    let want = match field("path").map(|path| path.trim_start_matches("./")) {
        Some(path) if !path.is_empty() => RepositoryPart::Path(SubPath::parse(path)?),
        _ => RepositoryPart::Any,
    };
    Ok(Some(Reading::repository(
        RepoUrl::parse_short(url)?,
        at,
        want,
    )))
}

fn archive(url: &str, sha256: Option<&str>) -> Result<Reading> {
    let digest = sha256.map(|digest| parse::digest(&format!("sha256={digest}")));
    let (url, sha256) = (WebUrl::parse(url)?, digest.transpose()?);
    let (place, want) = (SourceLocation::Archive { url, sha256 }, RepositoryPart::Any);
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
    let path = tree::normalize_relative(path)?;
    Some(if path.is_empty() {
        dir.to_owned()
    } else {
        tree::join(dir, &path)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::marketplace::fetch::Visit;
    use crate::marketplace::fetch::tree::tests::tree;

    /// A test double: each file's content is its id.
    pub struct Ids;

    impl Contents for Ids {
        fn each(&self, files: &[FileToRead], _: u64, visit: &mut Visit) -> Result<()> {
            for (index, file) in files.iter().enumerate() {
                visit(index, file.id.len() as u64, &mut file.id.as_bytes())?;
            }
            Ok(())
        }
    }

    pub fn found(entries: &[(&str, &str)]) -> Vec<SkillInTree> {
        discover(&tree(entries), &Ids, "repo").unwrap().0
    }

    #[test]
    fn skills_are_found_anywhere_and_main_copies_come_first() {
        let found = found(&[
            (".claude/skills/a/SKILL.md", "---\nname: a\n---\n"),
            ("SKILL.md", "no frontmatter"),
            ("build/SKILL.md", "---\nname: build\n---\n"),
            ("dist/a/SKILL.md", "---\nname: a\n---\n"),
            ("node_modules/x/SKILL.md", "---\nname: x\n---\n"),
            ("plugins/p/skills/b/skill.md", "---\nname: b\n---\n"),
            ("skills/a/SKILL.md", "---\nname: a\n---\n"),
            ("skills/a/templates/t/SKILL.md", "---\nname: t\n---\n"),
            ("tests/c/SKILL.md", "---\nname: c\n---\n"),
            ("1/2/3/4/5/6/7/8/SKILL.md", "---\nname: deep\n---\n"),
            ("1/2/3/4/5/6/7/8/9/SKILL.md", "---\nname: deeper\n---\n"),
        ]);
        let shown: Vec<String> = found
            .iter()
            .map(|f| {
                let marks = [(f.nested, " nested"), (f.hidden, " hidden")];
                let marks = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark);
                format!("{} {}{}", f.skill.name, f.path, marks.collect::<String>())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "a skills/a",
                "b plugins/p/skills/b",
                "repo ",
                "deep 1/2/3/4/5/6/7/8",
                "build build",
                "c tests/c hidden",
                "a .claude/skills/a",
                "a dist/a",
                "t skills/a/templates/t nested",
            ]
        );
    }

    #[test]
    fn a_manifest_names_groups_and_ranks() {
        let json = r#"{"plugins":[{"name":"docs","source":"./","skills":["./.claude/skills/a"],
            "keywords":["office"]}]}"#;
        let found = found(&[
            (".claude-plugin/marketplace.json", json),
            (".claude/skills/a/SKILL.md", "---\nname: a\n---\n"),
            ("skills/a/SKILL.md", "---\nname: a\ntags: [x]\n---\nother"),
        ]);
        let main = &found[0];
        assert_eq!(
            (main.path.as_str(), main.plugin.as_deref()),
            (".claude/skills/a", Some("docs"))
        );
        assert_eq!(
            (&main.tags[..], &found[1].tags[..]),
            (&["office".to_owned()][..], &["x".to_owned()][..])
        );
    }

    #[test]
    fn a_linked_skill_file_is_read_where_it_leads_inside_only() {
        let found = found(&[
            ("real.md", "---\nname: real\n---\n"),
            ("a/SKILL.md@", "../real.md"),
            ("b/SKILL.md@", "../../real.md"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].skill.name.as_str(), "real");
    }

    fn manifest(json: &str) -> MarketplaceManifest {
        MarketplaceManifest::parse(json.as_bytes()).unwrap()
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
