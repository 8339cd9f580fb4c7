//! The places that hold skills, restrictions and trusted files, and how a path relates to them: the
//! one test for tool paths, redirections and operands. Places are identified by path, so that
//! missing ones are protected too.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::path::{Located, Resolve, normalise};
use super::places::ProtectedPlaces;
use super::steps::Steps;

/// In a path: any text within one name, but no leading dot (`*` and `?`).
pub const ANY: char = '\u{1}';
/// In a path: any text within one name.
pub const ANYTHING: char = '\u{2}';

/// Why they are protected.
pub const WHY_PROTECTED: &str = "skills and what restricts them are kept there";

/// How a path relates to the protected places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It is unrelated to them.
    Apart,
    /// It is an ancestor of one of them, whether or not that place exists.
    Around,
    /// It is one of them or lies inside one.
    Within,
}

/// The protected places in the current file system, resolved once per decision.
pub struct Protection<'a> {
    protected: &'a ProtectedPlaces,
    resolve: &'a dyn Resolve,
    steps: &'a Steps,
    places: OnceCell<Vec<Folded>>,
    linked: OnceCell<Vec<Folded>>,
}

impl<'a> Protection<'a> {
    /// The places as `resolve` sees them.
    pub fn new(protected: &'a ProtectedPlaces, resolve: &'a dyn Resolve, steps: &'a Steps) -> Self {
        Self {
            protected,
            resolve,
            steps,
            places: OnceCell::new(),
            linked: OnceCell::new(),
        }
    }

    /// How a path relates to them, as written and with links resolved; one that cannot be resolved
    /// counts as protected. [`ANY`] and [`ANYTHING`] in it match as wildcards.
    pub fn relation(&self, path: &Located) -> Relation {
        let Some(forms) = path.forms() else {
            return Relation::Within;
        };
        let paths: Vec<Folded> = forms.map(Folded::new).collect();
        let names = paths.iter().flat_map(|path| &path.0);
        let length: usize = names.map(String::len).sum();
        let among = |places: &[Folded]| {
            self.steps
                .spend(places.len() * (1 + length / 32) + length / 2);
            let pairs = paths
                .iter()
                .flat_map(|path| places.iter().map(move |place| path.relation(place)));
            pairs.max().unwrap_or(Relation::Apart)
        };
        match among(self.known()) {
            Relation::Within => Relation::Within,
            // Checked last: in a directory with many skills this takes a while.
            other => other.max(among(self.linked())),
        }
    }

    /// Whether a relative path leads into one of them from one of its ancestors.
    pub fn may_lie_within(&self, relative: &Path) -> bool {
        let path = Folded::new(relative);
        let mut places = self.known().iter().chain(self.linked());
        !path.0.is_empty() && places.any(|place| place.is_entered_by(&path, 1))
    }

    /// Whether a path leads into one of them if an unknown directory stands before it. Only the last
    /// name of a directory of skills counts alone: a skill may be called `docs`.
    pub fn may_end_within(&self, tail: &Path) -> bool {
        let path = Folded::new(tail);
        let mut names = self
            .protected
            .roots
            .iter()
            .filter_map(|root| root.file_name());
        let name = |name: &OsStr| Folded(vec![fold(&name.to_string_lossy())]);
        names.any(|root| path.relation(&name(root)) == Relation::Within)
            || self
                .known()
                .iter()
                .any(|place| place.is_entered_by(&path, 2))
    }

    /// Whether a name, which may contain wildcards, may be part of the path of one of them.
    pub fn has_part(&self, name: &str) -> bool {
        let name = fold(name);
        let mut parts = self.known().iter().flat_map(|place| &place.0);
        parts.any(|part| may_be(&name, part))
    }

    fn known(&self) -> &[Folded] {
        self.places.get_or_init(|| {
            let protected = self.protected.places.iter().chain(&self.protected.roots);
            self.both_forms(protected)
        })
    }

    fn linked(&self) -> &[Folded] {
        self.linked.get_or_init(|| {
            let holders = self.protected.roots.iter().chain(&self.protected.deciding);
            let links: Vec<PathBuf> = holders.flat_map(|dir| self.resolve.links_in(dir)).collect();
            self.both_forms(links.iter())
        })
    }

    fn both_forms<'p>(&self, paths: impl Iterator<Item = &'p PathBuf>) -> Vec<Folded> {
        let mut forms = Vec::new();
        for path in paths {
            // Many are in the same few directories, which are remembered.
            let resolved = match path.parent().zip(path.file_name()) {
                Some((dir, name)) => {
                    let dir = self.resolve.canonical(dir);
                    dir.and_then(|dir| self.resolve.canonical_in(&dir, name))
                }
                None => self.resolve.canonical(path),
            };
            forms.push(Folded::new(path));
            forms.extend(resolved.as_deref().map(Folded::new));
        }
        // A repository may have thousands of links.
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}

/// The components of a path as compared by file systems that ignore case and Unicode composition.
/// Elsewhere this protects a few names too many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Folded(Vec<String>);

impl Folded {
    fn new(path: &Path) -> Self {
        let normal = |component| match component {
            Component::Normal(name) => Some(fold(&name.to_string_lossy())),
            _ => None,
        };
        Self(normalise(path).components().filter_map(normal).collect())
    }

    fn relation(&self, place: &Self) -> Relation {
        let same = self.0.iter().zip(&place.0);
        if !same.into_iter().all(|(name, place)| may_be(name, place)) {
            Relation::Apart
        } else if self.0.len() < place.0.len() {
            Relation::Around
        } else {
            Relation::Within
        }
    }

    /// Whether `path` leads into this place from an ancestor that is so many names above it at least.
    fn is_entered_by(&self, path: &Self, least: usize) -> bool {
        (0..(self.0.len() + 1).saturating_sub(least)).any(|from| {
            let rest = Self(self.0[from..].to_vec());
            path.relation(&rest) == Relation::Within
        })
    }
}

/// Whether a name, which may contain wildcards, may match this one.
pub fn may_be(name: &str, place: &str) -> bool {
    // Nearly every name has no wildcard, and bytes are found faster than characters.
    if !name
        .bytes()
        .any(|byte| [ANY, ANYTHING].contains(&char::from(byte)))
    {
        return name == place;
    }
    let (first, others) = name.split_once([ANY, ANYTHING]).unwrap_or((name, ""));
    let hidden = place.starts_with('.') && name.starts_with(ANY);
    let (middle, last) = others.rsplit_once([ANY, ANYTHING]).unwrap_or(("", others));
    let mut rest = place.strip_prefix(first);
    for part in middle.split([ANY, ANYTHING]) {
        rest = rest.and_then(|rest| Some(rest.split_once(part)?.1));
    }
    !hidden && rest.is_some_and(|rest| rest.ends_with(last))
}

fn fold(name: &str) -> String {
    // Nearly every name is ASCII, and a command is compared with many.
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.to_lowercase().nfd().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::path::fake::Links;
    use Relation::{Apart, Around, Within};

    fn relation(path: &str) -> Relation {
        let protected = ProtectedPlaces::new(
            vec!["/h/.chibi".into(), "/etc/x".into()],
            vec!["/p/.claude/skills".into(), "/dangling".into()],
        );
        let links = Links(vec![
            ("/p/link", "/h"),
            ("/h/.chibi", "/real/chibi"),
            ("/dangling", "/nowhere/yet"),
            ("/p/.claude/skills/mine", "/p/work/mine"),
            ("/p/docs/m", "/h/.chibi/plugins"),
            ("/p/docs/src", "/p/src"),
            ("/p/round", ""),
        ]);
        let path = Located::at(Path::new(path), &links);
        Protection::new(&protected, &links, &Steps::default()).relation(&path)
    }

    #[test]
    fn places_are_known_by_path_through_links_dots_and_case() {
        for (path, expected) in [
            ("/h/.chibi", Within),
            ("/h/.chibi/plugins/other/x", Within),
            ("/real/chibi/x", Within),
            ("/p/link/.chibi", Within),
            ("/p/a/../.claude/skills/new/SKILL.md", Within),
            ("/nowhere/yet/x", Within),
            ("/p/work/mine/SKILL.md", Within),
            ("/H/.Chibi/X", Within),
            ("/p/docs/new/../m/config.toml", Within),
            ("/p/docs/src/../m/config.toml", Within),
            ("/p/docs/m/../x", Within),
            ("/p/round/x", Within),
            ("/", Around),
            ("/h", Around),
            ("/p", Around),
            ("/p/.claude", Around),
            ("/p/work", Around),
            ("/p/link", Around),
            ("/nowhere", Around),
            ("/p/.claude/settings.json", Apart),
            ("/p/src", Apart),
            ("/h/.chibix", Apart),
        ] {
            assert_eq!(relation(path), expected, "{path}");
        }
    }

    #[test]
    fn names_are_compared_whatever_their_letters_are_composed_of() {
        let protected = ProtectedPlaces::new(vec!["/h/é".into()], Vec::new());
        let links = Links::default();
        let path = Located::at(Path::new("/h/E\u{301}/x"), &links);
        assert_eq!(
            Protection::new(&protected, &links, &Steps::default()).relation(&path),
            Within
        );
    }

    #[test]
    fn a_glob_stands_for_whatever_it_may_match() {
        let protected = ProtectedPlaces::new(vec!["/h/.chibi/x".into()], Vec::new());
        let (links, steps) = (Links::default(), Steps::default());
        let protection = Protection::new(&protected, &links, &steps);
        for (glob, expected) in [
            ("/h/*", Apart),
            ("/h/.*", Around),
            ("/h/.*i", Around),
            ("/h/.c*b*i", Around),
            ("/h/.c*bi*i", Apart),
            ("/h/^bi", Around),
            ("/h/^", Around),
            ("/*/.chib*/^", Within),
            ("/h/.chibi/y*", Apart),
            ("/h/.chibi/x/y*", Within),
            ("/*", Around),
            ("/h/*/../.chibi", Around),
        ] {
            let path = glob.replace('*', "\u{1}").replace('^', "\u{2}");
            let path = Located::at(Path::new(&path), &links);
            assert_eq!(protection.relation(&path), expected, "{glob}");
        }
    }

    #[test]
    fn a_relative_path_may_lead_in_from_above() {
        let protected = ProtectedPlaces::new(vec!["/h/.chibi/plugins".into()], Vec::new());
        let links = Links::default();
        let steps = Steps::default();
        let protection = Protection::new(&protected, &links, &steps);
        for (path, expected) in [
            (".chibi/plugins/x", true),
            ("plugins/x", true),
            ("h/.chibi/plugins", true),
            ("src/plugins", false),
            ("x", false),
        ] {
            assert_eq!(
                protection.may_lie_within(Path::new(path)),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn a_path_behind_an_unknown_directory_may_end_within() {
        let protected = ProtectedPlaces::new(
            vec!["/h/.chibi/plugins".into()],
            vec!["/p/.claude/skills".into()],
        );
        let (links, steps) = (Links::default(), Steps::default());
        let protection = Protection::new(&protected, &links, &steps);
        assert!(protection.has_part("Skills") && !protection.has_part("skill"));
        for (path, expected) in [
            (".chibi/plugins/x", true),
            ("plugins/x", false),
            ("skills/x", true),
            ("Skills", true),
            (".claude/skills/x", true),
            (".claude", false),
            ("x/skills", false),
        ] {
            assert_eq!(
                protection.may_end_within(Path::new(path)),
                expected,
                "{path}"
            );
        }
    }
}
