//! Patterns for one simple command (RESTRICTION.md §3) and the form of a command they are
//! compared with. How a command line falls apart into simple commands is not known here.

use super::template::Piece;

/// Stands between two words; the shell room refuses commands that contain it.
const BREAK: char = '\u{1}';
/// Stands for text that only the shell will know: `$x`, `$(…)`, a glob.
const DYNAMIC: char = '\u{2}';

/// The words of one simple command, in a form in which words cannot be confused: `a b` as two
/// words is never `'a b'` as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Canonical(String);

impl Canonical {
    /// Begins another word.
    pub fn word(&mut self) {
        if !self.0.is_empty() {
            self.0.push(BREAK);
        }
    }

    /// Adds text that the shell leaves as it is to the current word.
    pub fn literal(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds text that only the shell will know to the current word.
    pub fn dynamic(&mut self) {
        self.0.push(DYNAMIC);
    }
}

impl<S: AsRef<str>> FromIterator<S> for Canonical {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut this = Self::default();
        for word in words {
            this.word();
            this.literal(word.as_ref());
        }
        this
    }
}

/// What a rule says about one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    atoms: Vec<Atom>,
    tail: Tail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Atom {
    Is(char),
    /// `*`: any text, across words too.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Nothing may follow.
    Nothing,
    /// Further words may follow (`git:*`).
    Words,
    /// As [`Tail::Words`], and `:` may continue the last word (`npm run test:*` covers
    /// `npm run test:unit`).
    WordsOrColon,
}

impl CommandPattern {
    /// Reads the inside of `Bash(…)`.
    ///
    /// # Errors
    /// A code and a sentence for a pattern that can match nothing.
    pub fn parse(pieces: &[Piece]) -> Result<Self, (&'static str, &'static str)> {
        let mut pieces = pieces.to_vec();
        let open = strip_open_end(&mut pieces);
        let mut atoms = Vec::new();
        let mut words = Words::default();
        for piece in &pieces {
            match piece {
                Piece::Written(text) => words.written(text, &mut atoms),
                Piece::Literal(text) => words.literal(text, &mut atoms),
            }
        }
        if words.quote.is_some() {
            return Err(("unbalanced", "a quote is not closed"));
        }
        if atoms.is_empty() {
            return Err(("empty-pattern", "the pattern names no command"));
        }
        let tail = match (open, atoms.contains(&Atom::Is(BREAK)), atoms.last()) {
            (false, ..) => Tail::Nothing,
            (true, true, Some(Atom::Is(_))) => Tail::WordsOrColon,
            (true, ..) => {
                split_program_at_colons(&mut atoms);
                Tail::Words
            }
        };
        Ok(Self { atoms, tail })
    }

    /// A pattern for every command that begins with `program`.
    pub fn program(program: &str) -> Self {
        Self {
            atoms: program.chars().map(Atom::Is).collect(),
            tail: Tail::Words,
        }
    }

    /// Whether the pattern covers a command.
    pub fn matches(&self, command: &Canonical) -> bool {
        let endings: &[&[Atom]] = match self.tail {
            Tail::Nothing => &[&[]],
            Tail::Words => &[&[], &[Atom::Is(BREAK), Atom::Any]],
            Tail::WordsOrColon => &[
                &[],
                &[Atom::Is(BREAK), Atom::Any],
                &[Atom::Is(':'), Atom::Any],
            ],
        };
        endings
            .iter()
            .any(|ending| wildcard(&self.atoms, ending, &command.0))
    }

    /// Whether this is `cmd:*`, which one generator of skills writes as a placeholder
    /// (CORPUS.md §4.4).
    pub fn is_placeholder(&self) -> bool {
        *self == Self::program("cmd")
    }
}

/// Takes `:*` or ` *` off the end and says whether it was there.
fn strip_open_end(pieces: &mut [Piece]) -> bool {
    let Some(Piece::Written(last)) = pieces.last_mut() else {
        return false;
    };
    let trimmed = last.trim_end();
    let starred = trimmed.strip_suffix('*');
    let before = trimmed
        .strip_suffix(":*")
        .or(starred.filter(|before| before.ends_with(char::is_whitespace)));
    *last = before.unwrap_or(trimmed);
    before.is_some()
}

/// `Bash(aws:s3:*)` is how some skills write `aws s3`; no program has a colon in its name.
fn split_program_at_colons(atoms: &mut [Atom]) {
    if !atoms.contains(&Atom::Is('/')) && atoms.first() != Some(&Atom::Is(':')) {
        for atom in atoms.iter_mut().filter(|atom| **atom == Atom::Is(':')) {
            *atom = Atom::Is(BREAK);
        }
    }
}

/// Reads a pattern word by word as a shell would read plain text.
#[derive(Default)]
struct Words {
    quote: Option<char>,
    between: bool,
}

impl Words {
    fn written(&mut self, text: &str, atoms: &mut Vec<Atom>) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (self.quote, c) {
                (Some(open), _) if open == c => self.quote = None,
                (None, '\'' | '"') => {
                    self.quote = Some(c);
                    self.begin(atoms);
                }
                (None, _) if c.is_whitespace() => self.between = true,
                (None, '*') => {
                    self.begin(atoms);
                    atoms.push(Atom::Any);
                }
                (None, '\\') => {
                    self.begin(atoms);
                    atoms.extend(chars.next().map(Atom::Is));
                }
                _ => {
                    self.begin(atoms);
                    atoms.push(Atom::Is(c));
                }
            }
        }
    }

    fn literal(&mut self, text: &str, atoms: &mut Vec<Atom>) {
        self.begin(atoms);
        atoms.extend(text.chars().map(Atom::Is));
    }

    fn begin(&mut self, atoms: &mut Vec<Atom>) {
        if std::mem::take(&mut self.between) && !atoms.is_empty() {
            atoms.push(Atom::Is(BREAK));
        }
    }
}

/// Whether `pattern` followed by `ending` matches the whole of `text`. Backtracks to the last
/// `*` only, which is enough for wildcards and bounds the work by pattern × text.
fn wildcard(pattern: &[Atom], ending: &[Atom], text: &str) -> bool {
    let atom = |at: usize| pattern.iter().chain(ending).nth(at).copied();
    let (mut at, mut rest) = (0, text);
    let mut last_any: Option<(usize, &str)> = None;
    loop {
        match (atom(at), rest.chars().next()) {
            (None, None) => return true,
            (Some(Atom::Any), _) => {
                at += 1;
                last_any = Some((at, rest));
            }
            (Some(Atom::Is(wanted)), Some(c)) if wanted == c && c != DYNAMIC => {
                at += 1;
                rest = &rest[c.len_utf8()..];
            }
            _ => match last_any {
                Some((after, from)) if !from.is_empty() => {
                    let skipped = from.chars().next().map_or(0, char::len_utf8);
                    at = after;
                    rest = &from[skipped..];
                    last_any = Some((after, rest));
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> CommandPattern {
        CommandPattern::parse(&[Piece::Written(text)]).unwrap()
    }

    fn matches(text: &str, words: &[&str]) -> bool {
        pattern(text).matches(&words.iter().collect())
    }

    #[test]
    fn an_open_end_stops_at_a_word() {
        for open in ["git:*", "git *", " git  * ", "git :*"] {
            assert!(matches(open, &["git"]), "{open}");
            assert!(matches(open, &["git", "status", "x y"]), "{open}");
            assert!(!matches(open, &["gitk"]), "{open}");
            assert!(!matches(open, &["git:x"]), "{open}");
            assert!(!matches(open, &["git status"]), "{open}");
            assert!(!matches(open, &["sudo", "git"]), "{open}");
        }
    }

    #[test]
    fn the_last_of_several_words_may_go_on_with_a_colon() {
        let test = "npm run test:*";
        assert!(matches(test, &["npm", "run", "test"]));
        assert!(matches(test, &["npm", "run", "test", "--", "-u"]));
        assert!(matches(test, &["npm", "run", "test:unit", "-u"]));
        assert!(!matches(test, &["npm", "run", "testing"]));
        assert!(!matches(test, &["npm", "run"]));
    }

    #[test]
    fn without_a_star_nothing_may_follow() {
        assert!(matches("git status", &["git", "status"]));
        assert!(matches("git  'status'", &["git", "status"]));
        assert!(!matches("git status", &["git", "status", "-s"]));
        assert!(!matches("git status", &["git status"]));
        assert!(matches(
            "git commit -m \"a b\"",
            &["git", "commit", "-m", "a b"]
        ));
        assert!(!matches(
            "git commit -m \"a b\"",
            &["git", "commit", "-m", "a", "b"]
        ));
    }

    #[test]
    fn a_star_inside_covers_any_text_of_this_command() {
        assert!(matches(
            "git * --dry-run",
            &["git", "push", "x", "--dry-run"]
        ));
        assert!(!matches("git * --dry-run", &["git", "push"]));
        assert!(!matches(
            "git * --dry-run",
            &["git", "push", "x --dry-run y"]
        ));
        assert!(!matches("git * --dry-run", &["git", "push", "x --dry-run"]));
        assert!(matches(
            "git diff --stat*",
            &["git", "diff", "--stat=9", "a"]
        ));
        assert!(matches("npx *eas-cli@*", &["npx", "-y", "eas-cli@latest"]));
        assert!(matches("a*b*c:*", &["axbxbc", "d"]));
        assert!(!matches("a*b*c:*", &["axbxb", "d"]));
        assert!(matches("echo '*'", &["echo", "*"]));
        assert!(!matches("echo '*'", &["echo", "x"]));
        assert!(matches(r"echo \*", &["echo", "*"]));
    }

    #[test]
    fn colons_before_the_end_are_text_except_in_the_program() {
        assert!(matches("npm run a:b", &["npm", "run", "a:b"]));
        assert!(matches("npm run a:*:b", &["npm", "run", "a:x:b"]));
        assert!(matches("aws:s3:*", &["aws", "s3", "ls"]));
        assert!(!matches("aws:s3:*", &["aws", "ec2"]));
        assert!(!matches("npm run a:b:*", &["npm", "run", "a", "b"]));
    }

    #[test]
    fn dynamic_text_is_covered_by_a_star_only() {
        let command = |words: &[&str]| {
            let mut command: Canonical = words.iter().collect();
            command.word();
            command.dynamic();
            command
        };
        assert!(pattern("git add:*").matches(&command(&["git", "add"])));
        assert!(!pattern("git add:*").matches(&command(&["git"])));
        assert!(!pattern("git *x").matches(&command(&["git"])));
        assert!(!pattern("git \u{2}").matches(&command(&["git"])));
    }

    #[test]
    fn a_directory_put_in_is_literal() {
        let pieces = [
            Piece::Written("python3 "),
            Piece::Literal("/a *b".into()),
            Piece::Written("/x.py:*"),
        ];
        let pattern = CommandPattern::parse(&pieces).unwrap();
        assert!(pattern.matches(&["python3", "/a *b/x.py", "1"].iter().collect()));
        assert!(!pattern.matches(&["python3", "/a zb/x.py"].iter().collect()));
        assert!(!pattern.matches(&["python3", "/a", "*b/x.py"].iter().collect()));
    }

    #[test]
    fn what_names_nothing_is_an_error() {
        for text in [":*", "''", "a 'b"] {
            assert!(
                CommandPattern::parse(&[Piece::Written(text)]).is_err(),
                "{text}"
            );
        }
        assert!(pattern("cmd:*").is_placeholder() && pattern("cmd *").is_placeholder());
        assert!(!pattern("cmd x:*").is_placeholder());
    }
}
