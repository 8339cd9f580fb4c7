//! Which entry for the shell names one simple command. Whether it grants it, the engine decides.

use shlex::Shlex;

use crate::shell::{COMMON, EntryShape, Wraps, by_name, by_path, has_word, is_name};

/// Commands within each other that are looked into.
const DEPTH: usize = 4;
/// The longest command that is named as a whole, in characters.
const EXACT: usize = 160;

/// How the words after a program's name are read.
pub fn shape(program: &str) -> EntryShape {
    let row = by_path(program);
    match (row.shape, row.wraps) {
        (EntryShape::Plain, Wraps::CommandString) => EntryShape::Shell,
        (EntryShape::Plain, Wraps::Command { .. }) => EntryShape::Wrapper,
        (shape, _) => shape,
    }
}

/// Whether it is the name of a program that skills often use, and hardly a word of a sentence.
pub fn is_known_program(program: &str) -> bool {
    by_name(program).has(COMMON)
}

/// Whether code stands behind this option of an interpreter.
pub fn takes_code(option: &str) -> bool {
    ["-c", "-e", "-p", "-r", "--eval", "--print"].contains(&option)
}

/// The entry for a command, and for `find` that for what `-exec` runs, too; empty if none should be
/// proposed.
pub fn entries(command: &str) -> Vec<String> {
    let words = split_words(command);
    let is_lead = |word: &&Word| word.as_deref().is_some_and(is_assignment);
    // A harmless assignment needs no mention.
    let words = &words[words.iter().take_while(is_lead).count()..];
    let runs = ["-exec", "-execdir", "-ok", "-okdir"];
    let is_run = |word: &Word| word.as_deref().is_some_and(|word| runs.contains(&word));
    let is_find = words.first().and_then(Option::as_deref) == Some("find");
    let run = words.iter().position(is_run).filter(|_| is_find);
    let run = run.and_then(|at| pattern_for(&words[at + 1..], 0));
    let bodies = pattern_for(words, 0).into_iter().chain(run);
    bodies.map(|body| format!("Bash({body})")).collect()
}

/// What names the command between the parentheses of an entry.
fn pattern_for(words: &[Word], depth: usize) -> Option<String> {
    let plain: Vec<&str> = words.iter().map_while(Option::as_deref).collect();
    let program = plain.first().filter(|_| depth <= DEPTH)?;
    let begins = |c: char| c.is_ascii_alphanumeric() || "./~_".contains(c);
    if !program.starts_with(begins) || !program.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let whole = plain.join(" ");
    let exact = (plain.len() == words.len() && whole.len() <= EXACT).then_some(whole);
    let open = |length: usize| Some(format!("{}:*", plain[..length].join(" ")));
    let behind = |at: usize| {
        let inner = pattern_for(words.get(at..)?, depth + 1)?;
        Some(format!("{} {inner}", plain[..at].join(" ")))
    };
    match shape(program) {
        EntryShape::Exact => exact,
        EntryShape::Plain => open(1),
        EntryShape::Shell if plain.get(1).is_some_and(|word| !is_option(word)) => open(2),
        EntryShape::Shell | EntryShape::Never => None,
        EntryShape::Package => {
            let flags = plain[1..].iter().take_while(|word| is_option(word)).count();
            plain.get(1 + flags).map_or(exact, |_| open(2 + flags))
        }
        // Without a script it reads its code from standard input.
        EntryShape::Interpreter => words_before_code(&plain).map_or(exact, open),
        EntryShape::Wrapper => pattern_for(&words[wrapped_command_start(words)?..], depth + 1),
        EntryShape::Elevating => behind(1),
        EntryShape::Subcommands(count, further) => {
            let verbs = plain[1..].iter().take(count);
            let end = 1 + verbs.take_while(|word| is_verb(word)).count();
            let has_next = plain.get(end).is_some_and(|word| !is_option(word));
            let said = plain[1..end].last().copied().unwrap_or_default();
            match by_name(program).wraps {
                _ if end == 1 => exact,
                Wraps::Command { verbs, .. } if has_word(verbs, said) => behind(end),
                _ if has_next && has_word(further, said) => open(end + 1),
                _ => open(end),
            }
        }
    }
}

/// Where the command behind a wrapper and its options seems to begin.
fn wrapped_command_start(words: &[Word]) -> Option<usize> {
    let may_be_program = |word: &Word| {
        let word = word.as_deref().unwrap_or("-");
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        !is_option(word) && !is_assignment(word) && !is_number
    };
    let at = words.iter().skip(1).position(may_be_program);
    at.map(|at| at + 1)
}

/// The number of words up to the script, the module, or the option before the code.
fn words_before_code(plain: &[&str]) -> Option<usize> {
    let at = 1 + plain[1..]
        .iter()
        .position(|word| takes_code(word) || ["-", "-m"].contains(word) || !is_option(word))?;
    let is_module = plain[at] == "-m";
    (!is_module || at + 1 < plain.len()).then_some(at + 1 + usize::from(is_module))
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_:-".contains(c))
}

/// A word, or `None` where only the shell knows what it becomes.
type Word = Option<String>;

/// Splits a simple command at blanks outside quotes.
fn split_words(command: &str) -> Vec<Word> {
    let mut words = Shlex::new(command);
    let is_plain = |word: &String| !word.is_empty() && word.chars().all(is_plain_character);
    let mut found: Vec<Word> = words
        .by_ref()
        .map(|word| Some(word).filter(is_plain))
        .collect();
    // Within a substitution, a quote may look as if it were open.
    if words.had_error {
        found.push(None);
    }
    found
}

/// Characters that mean themselves to the shell, to an entry and to a list of entries, and that a
/// person cannot take for others.
fn is_plain_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./@:+=%~^".contains(c)
}

/// Whether this is `NAME=value`.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether this is an option, or a lone `-`.
fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_what_the_command_does() {
        for (command, expected) in [
            ("git log --oneline -5", "Bash(git log:*)"),
            ("git -C x push", "Bash(git -C x push)"),
            ("git --version", "Bash(git --version)"),
            ("gh pr view 12", "Bash(gh pr view:*)"),
            ("gh api /x", "Bash(gh api:*)"),
            ("npm run test:unit -- -w", "Bash(npm run test:unit:*)"),
            ("npm ci", "Bash(npm ci:*)"),
            ("docker compose up -d", "Bash(docker compose up:*)"),
            ("npx -y @a/b@latest c", "Bash(npx -y @a/b@latest:*)"),
            ("npx -p x y", "Bash(npx -p x:*)"),
            ("npx \"$x\"", ""),
            ("python3 scripts/x.py a", "Bash(python3 scripts/x.py:*)"),
            (
                "python3 -u \"scripts/x.py\" a",
                "Bash(python3 -u scripts/x.py:*)",
            ),
            ("python -m pip install x", "Bash(python -m pip:*)"),
            ("python -m http.server 1", "Bash(python -m http.server:*)"),
            ("python3 -c 'print(1)'", "Bash(python3 -c:*)"),
            ("python3", "Bash(python3)"),
            ("bash scripts/x.sh a", "Bash(bash scripts/x.sh:*)"),
            ("bash", ""),
            ("bash -c \"$x\"", ""),
            ("sh -s", ""),
            ("env", ""),
            ("sudo", ""),
            ("bash -x x.sh", ""),
            ("sudo apt-get install x", "Bash(sudo apt-get install:*)"),
            ("sudo -u x y", ""),
            ("sudo bash", ""),
            ("timeout 5 curl x", "Bash(curl:*)"),
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
            ("A=1 make test", "Bash(make test:*)"),
            ("find . -name x", "Bash(find:*)"),
            ("find . -exec wc {} +", "Bash(find:*)|Bash(wc:*)"),
            ("cd ..", ""),
            ("$x y", ""),
            ("[ -f x", ""),
            ("eval x", ""),
        ] {
            assert_eq!(entries(command).join("|"), expected, "{command}");
        }
    }

    #[test]
    fn words_that_the_shell_expands_are_left_out() {
        let read = |text: &str| {
            let words = split_words(text).into_iter();
            let shown = words.map(|word| word.unwrap_or_else(|| "?".to_owned()));
            shown.collect::<Vec<_>>().join("|")
        };
        for (text, words) in [
            ("git log  -1", "git|log|-1"),
            ("a 'b/c' \"d\"", "a|b/c|d"),
            ("a 'b c' \"$d\" e*", "a|?|?|?"),
            ("a b\\ c d", "a|?|d"),
            ("a '' (b)", "a|?|?"),
            ("a=1 b", "a=1|b"),
            ("", ""),
        ] {
            assert_eq!(read(text), words, "{text}");
        }
        assert!(is_assignment("A_1=x") && !is_assignment("1=x") && !is_assignment("--a=b"));
    }
}
