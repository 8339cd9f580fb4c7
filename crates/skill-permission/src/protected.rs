//! The places that hold skills, restrictions and trusted files, and how a path relates to them: the
//! one test for tool paths, redirections and operands. Places are identified by path, so that
//! missing ones are protected too.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::path::{LocatedPath, PathResolver, normalise};
use super::places::ProtectedPlaces;
use super::steps::Steps;

/// In a path: any text within one name, but no leading dot (`*`).
pub const ANY_TEXT: char = '\u{1}';
/// In a path: any one character of a name, but no leading dot (`?` and `[…]`).
pub const ANY_CHAR: char = '\u{2}';

/// In a text: something known only at run time.
pub const UNKNOWN: char = '\u{3}';

/// Why they are protected.
pub const WHY_PROTECTED: &str = "skills and their restrictions are stored there";

/// How a path relates to the protected places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It is unrelated to them.
    Unrelated,
    /// It is an ancestor of one of them, whether or not that place exists.
    Ancestor,
    /// It is one of them or lies inside one.
    Inside,
}

/// The protected places in the current file system, resolved once per decision.
pub struct Protection<'a> {
    protected: &'a ProtectedPlaces,
    resolve: &'a dyn PathResolver,
    steps: &'a Steps,
    places: OnceCell<Vec<ProtectedPlace>>,
    linked: OnceCell<Vec<ProtectedPlace>>,
}

/// A place in the form in which paths are compared, and its path.
#[derive(Debug)]
struct ProtectedPlace {
    folded: String,
    path: PathBuf,
}

impl<'a> Protection<'a> {
    /// The places as `resolve` sees them.
    pub fn new(
        protected: &'a ProtectedPlaces,
        resolve: &'a dyn PathResolver,
        steps: &'a Steps,
    ) -> Self {
        Self {
            protected,
            resolve,
            steps,
            places: OnceCell::new(),
            linked: OnceCell::new(),
        }
    }

    /// How a path relates to them, as written and with links resolved; one that cannot be resolved
    /// counts as protected. [`ANY_TEXT`] and [`ANY_CHAR`] in it match as wildcards.
    pub fn relation(&self, path: &LocatedPath) -> Relation {
        let Some(forms) = path.forms() else {
            return Relation::Inside;
        };
        let mut paths: Vec<String> = forms.map(folded).collect();
        paths.dedup();
        let relation_to = |places: &[ProtectedPlace]| {
            let relations = paths.iter().map(|path| self.relation_to(path, places));
            relations.max().unwrap_or(Relation::Unrelated)
        };
        match relation_to(self.known()) {
            Relation::Inside => Relation::Inside,
            // Checked last: in a directory with many skills this takes a while.
            other => other.max(relation_to(self.linked())),
        }
    }

    /// Whether a name, in which [`ANY_TEXT`] and [`ANY_CHAR`] match as wildcards, may be one of a place's, or of
    /// what makes a directory in one a skill.
    pub fn may_name_place(&self, glob: &str) -> bool {
        let glob = fold(glob);
        let mut places = self.known().iter().chain(self.linked());
        self.steps.spend(places.size_hint().0);
        // `find . -name .` finds the project.
        let mut names = ["skill.md", ".", "..", "/"].into_iter();
        names.any(|name| may_match(&glob, name))
            || places.any(|place| place.folded.split('/').any(|name| may_match(&glob, name)))
    }

    /// How one path relates to places.
    fn relation_to(&self, path: &str, places: &[ProtectedPlace]) -> Relation {
        let is_glob = path.contains([ANY_TEXT, ANY_CHAR]);
        let each = if is_glob { 1 + path.len() / 16 } else { 1 };
        self.steps.spend(1 + places.len() * each);
        let relations = places.iter().map(|place| {
            if !is_glob {
                return literal_relation(path, &place.folded);
            }
            match glob_relation(path, &place.folded) {
                Relation::Inside if !self.glob_can_mean(path, place) => Relation::Unrelated,
                relation => relation,
            }
        });
        relations.max().unwrap_or(Relation::Unrelated)
    }

    /// Whether a path whose names match a place's can mean it: a glob matches only what is there, and
    /// nothing is below a file.
    fn glob_can_mean(&self, path: &str, place: &ProtectedPlace) -> bool {
        let depth = place.folded.split('/').count();
        let mut names = path.split('/').skip(depth - 1);
        let is_glob = names
            .next()
            .is_some_and(|name| name.contains([ANY_TEXT, ANY_CHAR]));
        let goes_on = names.next().is_some();
        !is_glob
            || self.resolve.exists(&place.path) && !(goes_on && self.resolve.is_file(&place.path))
    }

    fn known(&self) -> &[ProtectedPlace] {
        self.places.get_or_init(|| {
            let paths = self.protected.paths();
            let all = paths.places.iter().chain(&paths.roots);
            self.both_forms(all.chain(&paths.deciding))
        })
    }

    fn linked(&self) -> &[ProtectedPlace] {
        self.linked.get_or_init(|| {
            let paths = self.protected.paths();
            let holders = paths.roots.iter().chain(&paths.deciding);
            let links: Vec<PathBuf> = holders.flat_map(|dir| self.resolve.links_in(dir)).collect();
            self.both_forms(links.iter())
        })
    }

    fn both_forms<'p>(&self, paths: impl Iterator<Item = &'p PathBuf>) -> Vec<ProtectedPlace> {
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
            let resolved = resolved.filter(|resolved| resolved != path);
            let forms_of = [Some(path.clone()), resolved].into_iter().flatten();
            forms.extend(forms_of.map(|path| ProtectedPlace {
                folded: folded(&normalise(&path)),
                path,
            }));
        }
        forms
    }
}

/// A normal path as compared by file systems that ignore case and Unicode composition. Elsewhere this
/// protects a few names too many.
fn folded(path: &Path) -> String {
    fold(&path.to_string_lossy())
}

/// How a path without wildcards relates to a place.
fn literal_relation(path: &str, place: &str) -> Relation {
    let is_below = |path: &str, above: &str| {
        let rest = path.strip_prefix(above.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match () {
        () if is_below(path, place) => Relation::Inside,
        () if is_below(place, path) => Relation::Ancestor,
        () => Relation::Unrelated,
    }
}

/// How a path with wildcards relates to a place.
fn glob_relation(path: &str, place: &str) -> Relation {
    let mut names = place.split('/');
    for glob in path.split('/') {
        match names.next() {
            Some(name) if may_match(glob, name) => {}
            Some(_) => return Relation::Unrelated,
            None => return Relation::Inside,
        }
    }
    if names.next().is_none() {
        Relation::Inside
    } else {
        Relation::Ancestor
    }
}

/// Whether a name, which may contain wildcards, may match this one.
pub fn may_match(glob: &str, name: &str) -> bool {
    // Nearly every name has no wildcard.
    if !glob.contains([ANY_TEXT, ANY_CHAR]) {
        return glob == name;
    }
    if name.starts_with('.') && glob.starts_with([ANY_TEXT, ANY_CHAR]) {
        return false;
    }
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // Where to go on if what follows the last `*` does not match.
    let mut star = None;
    while in_name < name.len() {
        match glob.get(at) {
            Some(&ANY_TEXT) => {
                star = Some((at + 1, in_name));
                at += 1;
            }
            Some(&c) if c == ANY_CHAR || c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((behind, from)) => {
                    star = Some((behind, from + 1));
                    (at, in_name) = (behind, from + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|c| *c == ANY_TEXT)
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
    use crate::path::fake::Links;
    use crate::places::ProtectedPaths;
    use Relation::{Ancestor, Inside, Unrelated};

    fn protecting(places: Vec<PathBuf>, roots: Vec<PathBuf>) -> ProtectedPlaces {
        ProtectedPlaces::found_by(|| ProtectedPaths {
            places,
            roots,
            deciding: Vec::new(),
        })
    }

    fn glob_relation(path: &str) -> Relation {
        let protected = protecting(
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
        let path = LocatedPath::at(Path::new(path), &links);
        Protection::new(&protected, &links, &Steps::default()).relation(&path)
    }

    #[test]
    fn places_are_known_by_path_through_links_dots_and_case() {
        for (path, expected) in [
            ("/h/.chibi", Inside),
            ("/h/.chibi/plugins/other/x", Inside),
            ("/real/chibi/x", Inside),
            ("/p/link/.chibi", Inside),
            ("/p/a/../.claude/skills/new/SKILL.md", Inside),
            ("/nowhere/yet/x", Inside),
            ("/p/work/mine/SKILL.md", Inside),
            ("/H/.Chibi/X", Inside),
            ("/p/docs/new/../m/config.toml", Inside),
            ("/p/docs/src/../m/config.toml", Inside),
            ("/p/docs/m/../x", Inside),
            ("/p/round/x", Inside),
            ("/", Ancestor),
            ("/h", Ancestor),
            ("/p", Ancestor),
            ("/p/.claude", Ancestor),
            ("/p/work", Ancestor),
            ("/p/link", Ancestor),
            ("/nowhere", Ancestor),
            ("/p/.claude/settings.json", Unrelated),
            ("/p/src", Unrelated),
            ("/h/.chibix", Unrelated),
        ] {
            assert_eq!(glob_relation(path), expected, "{path}");
        }
    }

    #[test]
    fn names_are_compared_whatever_their_letters_are_composed_of() {
        let protected = protecting(vec!["/h/é".into()], Vec::new());
        let links = Links::default();
        let path = LocatedPath::at(Path::new("/h/E\u{301}/x"), &links);
        assert_eq!(
            Protection::new(&protected, &links, &Steps::default()).relation(&path),
            Inside
        );
    }

    #[test]
    fn a_glob_stands_for_whatever_it_may_match() {
        let protected = protecting(vec!["/h/.chibi/x".into()], Vec::new());
        let (links, steps) = (Links::default(), Steps::default());
        let protection = Protection::new(&protected, &links, &steps);
        for (glob, expected) in [
            ("/h/*", Unrelated),
            ("/h/.*", Ancestor),
            ("/h/.*i", Ancestor),
            ("/h/.c*b*i", Ancestor),
            ("/h/.c*bi*i", Unrelated),
            ("/h/?chibi", Unrelated),
            ("/h/.?hibi", Ancestor),
            ("/h/.?ibi", Unrelated),
            ("/h/.?????", Ancestor),
            ("/h/.??????", Unrelated),
            ("/*/.chib*/?", Inside),
            ("/*/.chib*/??", Unrelated),
            ("/h/.chibi/y*", Unrelated),
            ("/h/.chibi/x/y*", Inside),
            ("/*", Ancestor),
            ("/h/*/../.chibi", Ancestor),
        ] {
            let path = glob.replace('*', "\u{1}").replace('?', "\u{2}");
            let path = LocatedPath::at(Path::new(&path), &links);
            assert_eq!(protection.relation(&path), expected, "{glob}");
        }
    }
}
