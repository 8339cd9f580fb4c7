//! Which entries for the shell could grant one simple command, the narrowest first. Whether they do,
//! the engine decides.

use super::programs::{Shape, has_further, runs_a_command, shape, takes_code};
use super::words::{Word, is_assignment, is_option, split};

/// Wrappers within each other that are looked into.
const DEPTH: usize = 4;
/// The longest command that is named as a whole, in characters.
const EXACT: usize = 160;
/// Options of `npx` and the like that take no value.
const FLAGS: [&str; 6] = ["-y", "--yes", "-q", "--quiet", "--no-install", "--bun"];

/// The first words of a command, and whether more may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Start {
    words: Vec<String>,
    is_open: bool,
}

impl Start {
    fn open(words: &[String]) -> Self {
        let words = words.to_vec();
        Self {
            words,
            is_open: true,
        }
    }

    fn behind(mut self, before: &[String]) -> Self {
        self.words.splice(0..0, before.iter().cloned());
        self
    }

    fn entry(&self) -> String {
        let end = if self.is_open { ":*" } else { "" };
        format!("Bash({}{end})", self.words.join(" "))
    }
}

/// Sets of entries, each of which might grant the command; the narrowest first.
pub fn entries(command: &str) -> Vec<Vec<String>> {
    let words = split(command);
    let is_lead = |word: &&Word| word.as_deref().is_some_and(is_assignment);
    let (lead, words) = words.split_at(words.iter().take_while(is_lead).count());
    let lead: Vec<String> = lead.iter().flatten().cloned().collect();
    let sets = starts(words, 0);
    // A harmless assignment needs no mention.
    let plain = sets.iter().cloned();
    let with_lead = sets.iter().filter(|_| !lead.is_empty()).map(|set| {
        let behind = set.iter().map(|start| start.clone().behind(&lead));
        behind.collect::<Vec<_>>()
    });
    let all = plain.chain(with_lead);
    let entry = |set: Vec<Start>| set.iter().map(Start::entry).collect();
    all.map(entry).collect()
}

fn starts(words: &[Word], depth: usize) -> Vec<Vec<Start>> {
    let (plain, is_whole) = plain_words(words);
    let Some(program) = plain.first().filter(|_| depth <= DEPTH) else {
        return Vec::new();
    };
    let begins = |c: char| c.is_ascii_alphanumeric() || "./~_".contains(c);
    if !program.starts_with(begins) || !program.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Vec::new();
    }
    let exact = || {
        let start = Start {
            words: plain.clone(),
            is_open: false,
        };
        let fits = is_whole && start.entry().len() <= EXACT;
        fits.then_some(start)
    };
    let one = |start: Option<Start>| start.map(|start| vec![start]).into_iter().collect();
    match shape(program) {
        Shape::Never => Vec::new(),
        Shape::Exact => one(exact()),
        Shape::Plain if program == "find" => found(words, &plain, depth),
        Shape::Plain => one(Some(Start::open(&plain[..1]))),
        Shape::Shell => one(plain
            .get(1)
            .filter(|script| !is_option(script))
            .map(|_| Start::open(&plain[..2]))),
        Shape::Package => one(Some(Start::open(&plain[..package(&plain)]))),
        Shape::Interpreter => match interpreted(&plain) {
            Some(length) => one(Some(Start::open(&plain[..length]))),
            // It reads its code from standard input.
            None => one(exact()),
        },
        Shape::Verbs(count) => verbs(words, &plain, count, depth).unwrap_or_else(|| one(exact())),
        Shape::Wrapper => wrapped(words, depth),
        Shape::Elevating => {
            let inner = plain.get(1).filter(|word| !is_option(word));
            let sets = inner.map(|_| starts(&words[1..], depth + 1));
            sets.map_or_else(|| one(exact()), |sets| behind(sets, &plain[..1]))
        }
    }
}

/// The words up to the first that is not plain, and whether these are all.
fn plain_words(words: &[Word]) -> (Vec<String>, bool) {
    let plain: Vec<String> = words.iter().map_while(Clone::clone).collect();
    let is_whole = plain.len() == words.len();
    (plain, is_whole)
}

fn behind(sets: Vec<Vec<Start>>, before: &[String]) -> Vec<Vec<Start>> {
    let set = |set: Vec<Start>| {
        let starts = set.into_iter().map(|start| start.behind(before));
        starts.collect()
    };
    sets.into_iter().map(set).collect()
}

/// `find` itself, and with it what `-exec` runs.
fn found(words: &[Word], plain: &[String], depth: usize) -> Vec<Vec<Start>> {
    let find = Start::open(&plain[..1]);
    let runs = |word: &Word| {
        let word = word.as_deref();
        word.is_some_and(|word| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word))
    };
    let mut sets = vec![vec![find.clone()]];
    if let Some(at) = words.iter().position(runs) {
        let inner = starts(&words[at + 1..], depth + 1).into_iter();
        sets.extend(inner.map(|set| [vec![find.clone()], set].concat()));
    }
    sets
}

/// The number of words up to the package that `npx` runs; only itself if the package is not plain.
fn package(plain: &[String]) -> usize {
    let flags = plain[1..].iter();
    let flags = flags
        .take_while(|word| FLAGS.contains(&word.as_str()))
        .count();
    match plain.get(1 + flags) {
        Some(package) if !is_option(package) => flags + 2,
        _ => 1,
    }
}

/// The number of words up to the script, the module with what it is to do, or the option before the
/// code.
fn interpreted(plain: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = plain.get(at) {
        if takes_code(word) || word == "-" {
            return Some(at + 1);
        }
        if word == "-m" {
            let module = plain.get(at + 1)?;
            let verb = plain.get(at + 2).filter(|verb| is_verb(verb));
            let has_verb = matches!(shape(module), Shape::Verbs(_)) && verb.is_some();
            return Some(at + 2 + usize::from(has_verb));
        }
        if !is_option(word) {
            return Some(at + 1);
        }
        at += 1;
    }
    None
}

/// The words that say what a program is to do; `None` if there are none.
fn verbs(words: &[Word], plain: &[String], count: usize, depth: usize) -> Option<Vec<Vec<Start>>> {
    let mut at = 1;
    // Where `git` works, and how it shows what it says.
    let is_git = plain[0] == "git";
    loop {
        match plain.get(at).map(String::as_str) {
            Some("-C") if is_git => at += 2,
            Some("--no-pager" | "-P") if is_git => at += 1,
            _ => break,
        }
    }
    let begin = at;
    while at - begin < count && plain.get(at).is_some_and(|word| is_verb(word)) {
        at += 1;
    }
    if at == begin {
        return None;
    }
    let said = plain[begin - 1..at].join(" ");
    let said = if begin == 1 { said.as_str() } else { "" };
    let next = plain.get(at).filter(|word| !is_option(word));
    if runs_a_command(said) {
        let inner = next.map(|_| starts(&words[at..], depth + 1));
        return Some(inner.map_or_else(Vec::new, |sets| behind(sets, &plain[..at])));
    }
    if has_further(said) && next.is_some() {
        at += 1;
    }
    Some(vec![vec![Start::open(&plain[..at])]])
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:-".contains(c))
}

/// What stands behind a wrapper and its options; which word that is, the engine finds out.
fn wrapped(words: &[Word], depth: usize) -> Vec<Vec<Start>> {
    let may_be_program = |at: &usize| {
        let word = words[*at].as_deref();
        word.is_some_and(|word| {
            !is_option(word)
                && !is_assignment(word)
                && !word.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let places = (1..words.len()).filter(may_be_program).take(3);
    places
        .flat_map(|at| starts(&words[at..], depth + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_entry_comes_first() {
        for (command, expected) in [
            ("git log --oneline -5", "Bash(git log:*)"),
            ("git -C x push origin", "Bash(git -C x push:*)"),
            ("git --version", "Bash(git --version)"),
            ("gh pr view 12", "Bash(gh pr view:*)"),
            ("gh api /x", "Bash(gh api:*)"),
            ("npm run test:unit -- -w", "Bash(npm run test:unit:*)"),
            ("npm ci", "Bash(npm ci:*)"),
            ("docker compose up -d", "Bash(docker compose up:*)"),
            ("npx -y @a/b@latest c", "Bash(npx -y @a/b@latest:*)"),
            ("npx -p x y", "Bash(npx:*)"),
            ("npx \"$x\"", "Bash(npx:*)"),
            ("python3 scripts/x.py a", "Bash(python3 scripts/x.py:*)"),
            (
                "python3 -u \"scripts/x.py\" a",
                "Bash(python3 -u scripts/x.py:*)",
            ),
            ("python -m pip install x", "Bash(python -m pip install:*)"),
            ("python -m http.server 1", "Bash(python -m http.server:*)"),
            ("python3 -c 'print(1)'", "Bash(python3 -c:*)"),
            ("python3", "Bash(python3)"),
            ("bash scripts/x.sh a", "Bash(bash scripts/x.sh:*)"),
            ("bash", ""),
            ("bash -x x.sh", ""),
            ("sudo apt-get install x", "Bash(sudo apt-get install:*)"),
            ("sudo -u x y", "Bash(sudo -u x y)"),
            ("sudo bash", ""),
            ("timeout 5 curl x", "Bash(curl:*)|Bash(x:*)"),
            ("xargs -0 rm", "Bash(rm)"),
            ("rm -rf build", "Bash(rm -rf build)"),
            ("rm -rf \"$x\"", ""),
            ("uv run pytest -q", "Bash(uv run pytest:*)"),
            ("uv run python -c x", "Bash(uv run python -c:*)"),
            ("make", "Bash(make)"),
            ("make test", "Bash(make test:*)"),
            ("./gradlew build", "Bash(./gradlew build:*)"),
            ("jq .x f", "Bash(jq:*)"),
            ("A=1 B=$x make test", ""),
            ("A=1 make test", "Bash(make test:*)|Bash(A=1 make test:*)"),
            ("find . -name x", "Bash(find:*)"),
            (
                "find . -exec wc {} +",
                "Bash(find:*)|Bash(find:*)&Bash(wc:*)",
            ),
            ("cd ..", ""),
            ("$x y", ""),
            ("[ -f x", ""),
            ("eval x", ""),
        ] {
            let sets = entries(command);
            let shown: Vec<String> = sets.iter().map(|set| set.join("&")).collect();
            assert_eq!(shown.join("|"), expected, "{command}");
        }
    }

    #[test]
    fn no_entry_grants_every_command() {
        for command in [
            "bash -c \"$x\"",
            "sh -s",
            "env",
            "xargs",
            "sudo",
            "sudo sh",
            "eval \"$x\"",
        ] {
            for entry in entries(command).concat() {
                assert!(entry == "Bash(sudo)", "{command}: {entry}");
            }
        }
    }
}
