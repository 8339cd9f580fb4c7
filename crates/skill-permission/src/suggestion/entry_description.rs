//! What an entry opens, in plain words, for the person who decides about it.

use super::commands::{is_assignment, shape, takes_code};
use crate::shell::EntryShape;

/// The first words of dangerous commands and what an entry for them opens; longer ones first.
#[rustfmt::skip]
const DANGERS: &[(&str, &str)] = &[
    ("git push", "any branch of any remote may be changed, also with `--force`"),
    ("git reset", "changes that are not committed may be lost"),
    ("git clean", "files that are not committed may be deleted"),
    ("git config", "git can be made to run other programs"),
    ("npm publish", "packages may be published in your name"),
    ("npm install", "any package may be installed, whose install scripts run"),
    ("npm i", "any package may be installed, whose install scripts run"),
    ("pip install", "any package may be installed, whose setup code runs"),
    ("pip3 install", "any package may be installed, whose setup code runs"),
    ("npx", "a missing package is downloaded and run"),
    ("uvx", "a missing package is downloaded and run"),
    ("docker", "containers may run, and may have any of your files"),
    ("kubectl", "your clusters may be read or changed by this"),
    ("terraform", "your infrastructure may be changed"),
    ("gh", "GitHub is used in your name"),
    ("aws", "your AWS account is used"),
    ("curl", "any address may be fetched, and any file of yours sent there"),
    ("wget", "any address may be fetched, and the answer written anywhere"),
    ("sudo", "it runs as root"),
    ("mv", "any file may be moved or overwritten"),
    ("cp", "any file may be copied or overwritten"),
    ("tee", "any file may be written"),
    ("sed", "any file may be read, with `-i` changed"),
    ("awk", "any file may be read and other programs run"),
    ("tar", "archives may be packed, and unpacked over any file"),
    ("make", "what the project's Makefile says runs"),
];

/// What an entry opens, as a clause.
pub fn describe_entry(entry: &str) -> String {
    let (name, body) = match entry.split_once('(') {
        Some((name, body)) => (name, body.strip_suffix(')').unwrap_or(body)),
        None => return format!("`{entry}` with any arguments"),
    };
    match name {
        "Bash" => command(body),
        "Skill" => format!("the skill `{body}` may be activated"),
        "WebFetch" => {
            let domain = body.trim_start_matches("domain:");
            format!("any address of {domain} may be fetched, and data be sent in it")
        }
        _ => file(name, body),
    }
}

fn file(name: &str, path: &str) -> String {
    let may = match name {
        "Write" => "be written, with any content",
        "Edit" => "be changed",
        "Grep" => "be searched",
        "Glob" | "LS" => "be listed",
        _ => "be read",
    };
    // `/x` is in the project, `//x` is absolute.
    let path = path.strip_prefix('/').unwrap_or(path);
    match path.strip_suffix("/**") {
        Some(dir) => format!("any file in `{dir}` may {may}"),
        None => format!("the file `{path}` may {may}"),
    }
}

fn command(body: &str) -> String {
    let (start, is_open) = match body.strip_suffix(":*") {
        Some(start) => (start, true),
        None => (body, false),
    };
    let words = start.split(' ').skip_while(|word| is_assignment(word));
    let words: Vec<&str> = words.collect();
    let start = words.join(" ");
    let last = words.last().copied().unwrap_or_default();
    if takes_code(last) || shape(last) == EntryShape::Interpreter {
        return "any code may run".to_owned();
    }
    if !is_open {
        return format!("exactly the command `{start}`");
    }
    let begins_with = |begin: &str| {
        let rest = start.strip_prefix(begin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    match DANGERS.iter().find(|(begin, _)| begins_with(begin)) {
        Some((begin, opens)) if *begin == start => (*opens).to_owned(),
        Some((_, opens)) => format!("`{start}` with any arguments: {opens}"),
        None => format!("`{start}` with any arguments"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_in_plain_words_what_it_opens() {
        for (entry, expected) in [
            (
                "Bash(npx -y prettier:*)",
                "`npx -y prettier` with any arguments: a missing package is downloaded and run",
            ),
            ("Bash(python3 -c:*)", "any code may run"),
            ("Bash(python3)", "any code may run"),
            ("Bash(uv run python -c:*)", "any code may run"),
            (
                "Bash(python3 scripts/a.py:*)",
                "`python3 scripts/a.py` with any arguments",
            ),
            (
                "Bash(git push:*)",
                "any branch of any remote may be changed, also with `--force`",
            ),
            ("Bash(git log:*)", "`git log` with any arguments"),
            (
                "Bash(A=1 kubectl get:*)",
                "`kubectl get` with any arguments: your clusters may be read or changed by this",
            ),
            ("Bash(rm -rf build)", "exactly the command `rm -rf build`"),
            (
                "Write(out/**)",
                "any file in `out` may be written, with any content",
            ),
            ("Read(//etc/ssl/**)", "any file in `/etc/ssl` may be read"),
            ("Edit(/a.md)", "the file `a.md` may be changed"),
            (
                "WebFetch(domain:a.org)",
                "any address of a.org may be fetched, and data be sent in it",
            ),
            ("my_tool", "`my_tool` with any arguments"),
        ] {
            assert_eq!(describe_entry(entry), expected, "{entry}");
        }
    }
}
