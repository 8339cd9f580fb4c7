//! Which entry for the shell names one simple command. Whether it grants it, the engine decides.

use super::programs::{Shape, has_further, runs_a_command, shape, takes_code};
use super::words::{Word, is_assignment, is_option, split};

/// Wrappers within each other that are looked into.
const DEPTH: usize = 4;
/// The longest command that is named as a whole, in characters.
const EXACT: usize = 160;
/// Options of `npx` and the like that take no value.
const FLAGS: [&str; 6] = ["-y", "--yes", "-q", "--quiet", "--no-install", "--bun"];

/// The entry for a command, and for `find` that for what `-exec` runs, too; empty if none should be
/// proposed.
pub fn entries(command: &str) -> Vec<String> {
    let words = split(command);
    let is_lead = |word: &&Word| word.as_deref().is_some_and(is_assignment);
    // A harmless assignment needs no mention.
    let words = &words[words.iter().take_while(is_lead).count()..];
    let runs = ["-exec", "-execdir", "-ok", "-okdir"];
    let is_run = |word: &Word| word.as_deref().is_some_and(|word| runs.contains(&word));
    let is_find = words.first().and_then(Option::as_deref) == Some("find");
    let run = words.iter().position(is_run).filter(|_| is_find);
    let run = run.and_then(|at| named(&words[at + 1..], 0));
    named(words, 0)
        .into_iter()
        .chain(run)
        .map(|body| format!("Bash({body})"))
        .collect()
}

/// What names the command between the parentheses of an entry.
fn named(words: &[Word], depth: usize) -> Option<String> {
    let plain: Vec<&str> = words.iter().map_while(Option::as_deref).collect();
    let program = plain.first().filter(|_| depth <= DEPTH)?;
    let begins = |c: char| c.is_ascii_alphanumeric() || "./~_".contains(c);
    if !program.starts_with(begins) || !program.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let exact = || {
        let whole = plain.join(" ");
        (plain.len() == words.len() && whole.len() <= EXACT).then_some(whole)
    };
    let open = |length: usize| Some(format!("{}:*", plain[..length].join(" ")));
    let behind = |at: usize| {
        let inner = named(words.get(at..)?, depth + 1)?;
        Some(format!("{} {inner}", plain[..at].join(" ")))
    };
    match shape(program) {
        Shape::Never => None,
        Shape::Exact => exact(),
        Shape::Plain => open(1),
        Shape::Shell => {
            let has_script = plain.get(1).is_some_and(|script| !is_option(script));
            has_script.then(|| open(2)).flatten()
        }
        Shape::Package => open(package(&plain)),
        // Without a script it reads its code from standard input.
        Shape::Interpreter => interpreted(&plain).map_or_else(exact, open),
        Shape::Wrapper => named(&words[wrapped(words)?..], depth + 1),
        Shape::Elevating if plain.get(1).is_none_or(|word| is_option(word)) => exact(),
        Shape::Elevating => behind(1),
        Shape::Verbs(count) => {
            let (begin, end) = verbs(&plain, count);
            let said = if begin == 1 {
                plain[..end].join(" ")
            } else {
                String::new()
            };
            let next = plain.get(end).filter(|word| !is_option(word));
            match next {
                _ if begin == end => exact(),
                next if runs_a_command(&said) => next.and_then(|_| behind(end)),
                Some(_) if has_further(&said) => open(end + 1),
                _ => open(end),
            }
        }
    }
}

/// Where the words begin and end that say what a program is to do.
fn verbs(plain: &[&str], count: usize) -> (usize, usize) {
    let mut at = 1;
    // Where `git` works, and how it shows what it says.
    let is_git = plain[0] == "git";
    loop {
        match plain.get(at) {
            Some(&"-C") if is_git => at += 2,
            Some(&("--no-pager" | "-P")) if is_git => at += 1,
            _ => break,
        }
    }
    let words = plain.iter().skip(at).take(count);
    let begin = at.min(plain.len());
    (
        begin,
        begin + words.take_while(|word| is_verb(word)).count(),
    )
}

/// Where the command behind a wrapper and its options seems to begin.
fn wrapped(words: &[Word]) -> Option<usize> {
    let may_be_program = |word: &Word| {
        let word = word.as_deref().unwrap_or("-");
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        !is_option(word) && !is_assignment(word) && !is_number
    };
    let at = words.iter().skip(1).position(may_be_program);
    at.map(|at| at + 1)
}

/// The number of words up to the package that `npx` runs; only itself if the package is not plain.
fn package(plain: &[&str]) -> usize {
    let flags = plain[1..].iter();
    let flags = flags.take_while(|word| FLAGS.contains(word)).count();
    match plain.get(1 + flags) {
        Some(package) if !is_option(package) => flags + 2,
        _ => 1,
    }
}

/// The number of words up to the script, the module, or the option before the code.
fn interpreted(plain: &[&str]) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_what_the_command_does() {
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
            ("python -m pip install x", "Bash(python -m pip:*)"),
            ("python -m http.server 1", "Bash(python -m http.server:*)"),
            ("python3 -c 'print(1)'", "Bash(python3 -c:*)"),
            ("python3", "Bash(python3)"),
            ("bash scripts/x.sh a", "Bash(bash scripts/x.sh:*)"),
            ("bash", ""),
            ("bash -x x.sh", ""),
            ("sudo apt-get install x", "Bash(sudo apt-get install:*)"),
            ("sudo -u x y", "Bash(sudo -u x y)"),
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
            for entry in entries(command) {
                assert!(entry == "Bash(sudo)", "{command}: {entry}");
            }
        }
    }
}
