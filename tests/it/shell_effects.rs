//! What the programs of a world would have changed by the words that they were called with.

use std::path::{Component, Path, PathBuf};

use skill_permission::PathResolver;

use crate::shell_world::{Disk, Logged};

/// What a call changes: the operands of the programs whose effect is known, in the directory that
/// the program was started in or changes to by its options.
pub fn touched(call: &Logged) -> Vec<PathBuf> {
    let mut directory = call.directory.clone();
    let mut operands: Vec<&str> = Vec::new();
    let mut words = call.arguments.iter().map(String::as_str);
    // `sudo`, `direnv` and `choom` only say what they would run.
    let known = [
        "rm", "rmdir", "mv", "cp", "ln", "tee", "touch", "mkdir", "chmod", "git", "tar", "make",
    ];
    if !known.contains(&call.program.as_str()) {
        return Vec::new();
    }
    let moves = ["git", "tar", "make"].contains(&call.program.as_str());
    while let Some(word) = words.next() {
        match word {
            "-C" | "xCf" if moves => directory.push(words.next().unwrap_or_default()),
            _ if moves && word.starts_with("-C") => directory.push(&word[2..]),
            _ if moves && word.starts_with("--directory=") => {
                directory.push(&word["--directory=".len()..]);
            }
            _ if word.starts_with('-') => {}
            _ => operands.push(word),
        }
    }
    if call.program == "git" {
        let verb = operands.first().copied().unwrap_or_default();
        if !["rm", "mv", "clone", "init", "worktree"].contains(&verb) {
            operands.clear();
        }
    }
    // Without a name nothing is changed.
    if operands.last().is_some_and(|last| last.is_empty()) {
        operands.clear();
    }
    let reads_sources = ["cp", "ln"].contains(&call.program.as_str());
    let mut paths = Vec::new();
    if let ("cp" | "mv" | "ln", Some((last, sources))) =
        (call.program.as_str(), operands.split_last())
    {
        let into = directory.join(last);
        let names = sources
            .iter()
            .filter_map(|source| Path::new(source).file_name());
        paths.extend(names.map(|name| into.join(name)).filter(|_| into.is_dir()));
    }
    paths.extend(named_by_options(call).map(|path| directory.join(path)));
    let changed = if reads_sources {
        operands.len().saturating_sub(1)
    } else {
        0
    };
    paths.extend(
        operands[changed..]
            .iter()
            .map(|operand| directory.join(operand)),
    );
    resolved(&paths)
}

/// What options name that a call writes: `--output=FILE` of `git`, `--target-directory=DIR` and
/// `-t DIR` of others, with each operand in it.
fn named_by_options(call: &Logged) -> impl Iterator<Item = PathBuf> {
    let names = |option: &str| {
        let words = call.arguments.iter().zip(call.arguments.iter().skip(1));
        let apart = words
            .filter(move |(word, _)| *word == option)
            .map(|(_, next)| next.as_str());
        let option = format!("{option}=");
        let joined = call
            .arguments
            .iter()
            .filter_map(move |word| word.strip_prefix(&option));
        apart.chain(joined).map(PathBuf::from).collect::<Vec<_>>()
    };
    let found = match call.program.as_str() {
        "git" => names("--output"),
        "cp" | "mv" | "ln" => [names("--target-directory"), names("-t")].concat(),
        _ => Vec::new(),
    };
    let below = found.clone().into_iter().map(|path| path.join("new"));
    found.into_iter().chain(below.collect::<Vec<_>>())
}

/// The trees that a call removes: what lies in them goes, too.
pub fn removed(call: &Logged) -> Vec<PathBuf> {
    let mut words = call.arguments.iter().map(String::as_str).peekable();
    let mut directory = call.directory.clone();
    if call.program == "git" {
        while words.peek() == Some(&"-C") {
            words.next();
            directory.push(words.next().unwrap_or_default());
        }
        if words.next() != Some("clean") {
            return Vec::new();
        }
    }
    let words: Vec<&str> = words.collect();
    let end = words.iter().position(|word| *word == "--");
    let (options, behind) = words.split_at(end.unwrap_or(words.len()));
    let short = |letters: &str| {
        let mut clusters = options.iter().filter(|word| !word.starts_with("--"));
        clusters.any(|word| word.starts_with('-') && word.contains(|c| letters.contains(c)))
    };
    let mut paths: Vec<&str> = behind.iter().skip(1).copied().collect();
    let mut values = options.iter().peekable();
    while let Some(word) = values.next() {
        match *word {
            "-e" | "--exclude" if call.program == "git" => drop(values.next()),
            word if word.starts_with('-') => {}
            word => paths.push(word),
        }
    }
    let here = || {
        if paths.is_empty() {
            vec!["."]
        } else {
            paths.clone()
        }
    };
    let roots = match call.program.as_str() {
        "rm" if short("rR") => paths.clone(),
        "git" if short("f") && !short("n") && !options.contains(&"--dry-run") => here(),
        "find" if words.contains(&"-delete") => {
            let roots = words
                .iter()
                .take_while(|word| !word.starts_with(['-', '(', '!']));
            let roots: Vec<&str> = roots.copied().collect();
            if roots.is_empty() { vec!["."] } else { roots }
        }
        _ => Vec::new(),
    };
    let roots = roots.into_iter().filter(|root| !root.is_empty());
    resolved(&roots.map(|root| directory.join(root)).collect::<Vec<_>>())
}

fn resolved(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths
        .iter()
        .map(|path| Disk.canonical(&lexical(path)).unwrap())
        .collect()
}

/// Without `.` and `..`; the world has no link before a `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
