//! Patterns for paths (docs/spec/restriction.md#path-patterns): gitignore's rules without `!`,
//! relative to the project unless written otherwise.

use std::path::{Component, Path, PathBuf};

use super::entry_grammar::{EntryError, Purpose};
use super::path::{LocatedPath, normalise};
use super::path_context::PathContext;
use super::placeholders::PatternPiece;

/// A pattern for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    base: PatternBase,
    /// A glob below the base, of non-empty components; `None` covers the base and everything below
    /// it.
    glob: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternBase {
    Project,
    Home,
    /// The root of the file system, or a directory substituted for a placeholder.
    Directory(PathBuf),
    /// The host's virtual file system; the whole URI is compared.
    Virtual,
}

const INVALID: EntryError = ("invalid-path-pattern", "it is not a valid path pattern");

impl PathPattern {
    /// Parses the text inside `Read(…)`.
    ///
    /// # Errors
    /// A code and a message for a pattern that cannot match.
    pub fn parse(pieces: &[PatternPiece]) -> Result<Self, EntryError> {
        let (directory, pieces) = match pieces.split_first() {
            Some((PatternPiece::Literal(directory), rest)) => (Some(directory), rest),
            _ => (None, pieces),
        };
        let written = |piece: &PatternPiece| match piece {
            PatternPiece::Written(text) => (*text).to_owned(),
            PatternPiece::Literal(text) => escape(text),
        };
        let glob: String = pieces.iter().map(written).collect();
        let glob = glob.trim();
        let below = |rest: &&str| rest.is_empty() || rest.starts_with('/');
        let (base, glob) = match (directory, glob.strip_prefix('~').filter(below)) {
            (Some(directory), _) if below(&glob) => {
                let glob = format!("/{}", glob.trim_start_matches('/'));
                (PatternBase::Directory(directory.into()), glob)
            }
            (Some(_), _) => return Err(INVALID),
            (None, Some(rest)) => (PatternBase::Home, format!("/{rest}")),
            _ if glob.starts_with("vfs:///") => (PatternBase::Virtual, glob.to_owned()),
            _ if glob.starts_with("//") => {
                (PatternBase::Directory("/".into()), glob[1..].to_owned())
            }
            _ => (PatternBase::Project, glob.to_owned()),
        };
        if glob.starts_with('!') || fast_glob::validate(&glob).is_err() {
            return Err(INVALID);
        }
        let glob = match base {
            PatternBase::Virtual => Some(glob),
            _ => anchored(&glob)?,
        };
        Ok(Self { base, glob })
    }

    /// Whether the pattern covers a path. To allow it, the path as written and with links resolved
    /// must be covered; to deny it, one is enough. One that cannot be resolved is only denied.
    pub fn covers(&self, path: &LocatedPath, purpose: Purpose, context: &PathContext) -> bool {
        let Some(base) = self.base_in(context) else {
            return false;
        };
        let doubt = purpose == Purpose::Deny;
        let Some((mut forms, resolved)) = path.forms().zip(context.resolve.canonical(base)) else {
            return doubt;
        };
        let bases = [normalise(base), resolved];
        let covered = |path: &Path| bases.iter().any(|base| self.covers_below(base, path));
        match purpose {
            Purpose::Allow => forms.all(covered),
            Purpose::Deny => forms.any(covered),
        }
    }

    /// Whether the pattern may cover something below a directory, to deny it.
    pub fn may_cover_below(&self, dir: &LocatedPath, context: &PathContext) -> bool {
        let Some(base) = self.base_in(context) else {
            return false;
        };
        let Some((mut forms, resolved)) = dir.forms().zip(context.resolve.canonical(base)) else {
            return true;
        };
        let is_wild = |name: &&str| name.contains(['*', '?', '[', '{', '\\']);
        let names = self.glob.iter().flat_map(|glob| glob.split('/'));
        let fixed: PathBuf = names.take_while(|name| !is_wild(name)).collect();
        let bases = [normalise(base), resolved].map(|base| base.join(&fixed));
        forms.any(|dir| {
            let meets = |base: &PathBuf| base.starts_with(dir) || dir.starts_with(base);
            bases.iter().any(meets)
        })
    }

    /// Whether the pattern covers a URI of the virtual file system.
    pub fn covers_virtual(&self, uri: &str) -> bool {
        let climbs = uri.split('/').any(|part| part == ".." || part == ".");
        self.base == PatternBase::Virtual
            && !climbs
            && self.glob.as_deref().is_some_and(|glob| covers(glob, uri))
    }

    fn base_in<'p>(&'p self, context: &PathContext<'p>) -> Option<&'p Path> {
        match &self.base {
            PatternBase::Project => Some(&context.places.project_root),
            PatternBase::Home => context.places.home.as_deref(),
            PatternBase::Directory(directory) => Some(directory),
            PatternBase::Virtual => None,
        }
    }

    fn covers_below(&self, base: &Path, path: &Path) -> bool {
        let rest = path.strip_prefix(base).ok();
        rest.is_some_and(|rest| match &self.glob {
            None => true,
            Some(glob) => rest.to_str().is_some_and(|rest| covers(glob, rest)),
        })
    }
}

/// Normalises a glob below the base: removes `.` and `..`, and prepends `**/` if it has no slash,
/// to match at any depth.
fn anchored(glob: &str) -> Result<Option<String>, EntryError> {
    let floats = !glob.trim_end_matches('/').contains('/');
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(glob).components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::Normal(part) => parts.push(part.to_str().ok_or(INVALID)?),
            // `..` may remove only a literal component, and never the base.
            Component::ParentDir => match parts.pop() {
                Some(part) if !part.contains(['*', '?', '[', '{']) => {}
                _ => return Err(INVALID),
            },
        }
    }
    while parts.last() == Some(&"**") {
        parts.pop();
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let front = if floats { "**/" } else { "" };
    Ok(Some(front.to_owned() + &parts.join("/")))
}

/// Whether a glob covers a path or one of its ancestors. No path exceeds the system's limit, and
/// comparing every ancestor of a longer one would take too long.
fn covers(glob: &str, path: &str) -> bool {
    const LONGEST: usize = 4096;
    let slashes = path.rmatch_indices('/').map(|(at, _)| at);
    let mut ends = std::iter::once(path.len()).chain(slashes);
    path.len() <= LONGEST && ends.any(|end| fast_glob::glob_match(glob, &path[..end]))
}

fn escape(text: &str) -> String {
    let is_special = |c: char| "*?[]{}!\\".contains(c);
    let escaped = |c| is_special(c).then_some('\\').into_iter().chain([c]);
    text.chars().flat_map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::fake::Links;
    use crate::places::RuleDirectories;

    fn places() -> RuleDirectories {
        RuleDirectories {
            project_root: "/link/p".into(),
            home: Some("/h".into()),
            ..RuleDirectories::default()
        }
    }

    fn covered(pattern: &str, path: &str) -> bool {
        let links = Links(vec![
            ("/link", "/real"),
            ("/real/p/out", "/etc"),
            ("/real/p/in", "/real/p/src"),
            ("/real/p/docs/l", "/h/.ssh"),
            ("/real/p/docs/src", "/real/p/src"),
            ("/real/p/docs/round", ""),
        ]);
        let places = places();
        let pattern = PathPattern::parse(&[PatternPiece::Written(pattern)]).unwrap();
        let path = match path.strip_prefix('~') {
            Some(rest) => PathBuf::from(format!("/h{rest}")),
            None => places.project_root.join(path),
        };
        PathContext::with(&places, &links, |context| {
            pattern.covers(&context.locate(&path), Purpose::Allow, &context)
        })
    }

    #[test]
    fn patterns_are_anchored_as_gitignore_does() {
        let table: &[(&str, &[&str], &[&str])] = &[
            (
                "src/**",
                &[
                    "src/a",
                    "src/a/b",
                    "src",
                    "./src/a",
                    "/link/p/src/a",
                    "/real/p/src/a",
                ],
                &["lib/a", "srcx/a", "/src/a", "src/../lib/a", "a/src/b"],
            ),
            ("./src", &["src", "src/a/b"], &["srcx", "a/src"]),
            (
                "/src/*.md",
                &["src/a.md"],
                &["src/a/b.md", "src/a.rs", "x/src/a.md"],
            ),
            ("*.md", &["a.md", "x/y/a.md"], &["a.mdx", "/etc/a.md"]),
            ("src/**/*.ts", &["src/a.ts", "src/x/y/a.ts"], &["src/a.js"]),
            ("docs/", &["docs/a"], &["x/y"]),
            ("**", &["a", "x/y", "."], &["/etc/passwd", "../x"]),
            ("*", &["a", "x/y"], &["/etc/passwd"]),
            ("//etc/**", &["/etc/passwd"], &["etc/passwd", "/etcx"]),
            (
                "~/notes/**",
                &["~/notes/a", "/h/notes/a"],
                &["notes/a", "~/x"],
            ),
            ("*.{md,txt}", &["a.md", "b.txt"], &["c.rs"]),
            ("a/../src/*", &["src/x"], &["a/x"]),
            ("README.md", &["README.md", "x/README.md"], &["readme.md"]),
        ];
        for (pattern, yes, no) in table {
            for path in *yes {
                assert!(covered(pattern, path), "{pattern} {path}");
            }
            for path in *no {
                assert!(!covered(pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn links_must_lead_where_the_pattern_allows() {
        assert!(!covered("**", "out/passwd"));
        assert!(!covered("src/**", "in/a") && !covered("in/**", "in/a"));
        assert!(covered("**", "in/a"));
    }

    #[test]
    fn every_form_of_a_path_must_be_covered_and_known() {
        assert!(covered("docs/**", "docs/new/../a"));
        for path in [
            "docs/l/key",
            "docs/new/../l/key",
            "docs/src/../l/key",
            "docs/src/../a",
            "docs/round",
            "docs/round/../a",
        ] {
            assert!(!covered("docs/**", path), "{path}");
        }
    }

    #[test]
    fn a_placeholder_is_a_base_of_its_own() {
        let directory = PatternPiece::Literal("/s k/*".into());
        let places = places();
        let links = Links::default();
        let pattern =
            PathPattern::parse(&[directory.clone(), PatternPiece::Written("/x/**")]).unwrap();
        let covers = |path: &str| {
            PathContext::with(&places, &links, |context| {
                pattern.covers(&context.locate(Path::new(path)), Purpose::Allow, &context)
            })
        };
        assert!(covers("/s k/*/x/a") && !covers("/s k/z/x/a") && !covers("/s k/*/y"));
        assert!(PathPattern::parse(&[directory, PatternPiece::Written("x")]).is_err());
    }

    #[test]
    fn uris_of_the_virtual_file_system_are_compared_whole() {
        let pattern = PathPattern::parse(&[PatternPiece::Written("vfs:///shared/**")]).unwrap();
        assert!(pattern.covers_virtual("vfs:///shared/a/b"));
        assert!(!pattern.covers_virtual("vfs:///shared/../sys/x"));
        assert!(!pattern.covers_virtual("vfs:///sys/x"));
        let plain = PathPattern::parse(&[PatternPiece::Written("**")]).unwrap();
        assert!(!plain.covers_virtual("vfs:///shared/a"));
    }

    #[test]
    fn a_pattern_that_cannot_match_is_an_error() {
        for pattern in ["!src", "../x", "a/*/../b", "[a", "{a", "a\\"] {
            assert!(
                PathPattern::parse(&[PatternPiece::Written(pattern)]).is_err(),
                "{pattern}"
            );
        }
    }
}
