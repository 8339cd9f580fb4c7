//! What a failed script was missing, judging by its standard error: the package or program, and the
//! command that installs it. The user decides whether to install it.

use super::job::Origin;
use super::manifest::{self, REQUIREMENTS};
use super::outcome::Outcome;

/// Python packages whose name differs from their module's.
const PACKAGES: [(&str, &str); 14] = [
    ("PIL", "pillow"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python"),
    ("dateutil", "python-dateutil"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("fitz", "pymupdf"),
    ("google.genai", "google-genai"),
    ("magic", "python-magic"),
    ("pptx", "python-pptx"),
    ("serial", "pyserial"),
    ("sklearn", "scikit-learn"),
    ("skimage", "scikit-image"),
    ("yaml", "pyyaml"),
];

/// What Python says before the name of a program that it could not start.
const NO_FILE: &str = "FileNotFoundError: [Errno 2] No such file or directory: ";

/// Adds what was missing to the outcome of a failed script.
pub fn add_notes(outcome: &mut Outcome, origin: &Origin) {
    if outcome.exit_code().is_some_and(|code| code != 0) {
        outcome.notes.extend(notes(&outcome.stderr.text(), origin));
    }
}

/// What was missing, one sentence each; empty if the script failed for another reason.
fn notes(stderr: &str, origin: &Origin) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in stderr.lines().filter_map(|line| note(line.trim(), origin)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn note(line: &str, origin: &Origin) -> Option<String> {
    if let Some(rest) = after(line, "ModuleNotFoundError: No module named ") {
        return Some(python(quoted(rest)?, origin));
    }
    let node = after(line, "Cannot find module ").or_else(|| after(line, "Cannot find package "));
    if let Some(name) = node.and_then(quoted) {
        // A path is a missing file of the skill: nothing to install.
        let is_package = !name.starts_with(['.', '/']) && !name.contains(":/");
        return is_package.then(|| node_package(name, origin));
    }
    if let Some(name) = after(line, "cannot load such file -- ") {
        let name = word(name).filter(|name| !name.starts_with(['.', '/']))?;
        let command = format!("gem install {name}");
        return Some(installable("Ruby library", name, &command));
    }
    if let Some(rest) = after(line, "Can't locate ") {
        let module = word(rest)?.strip_suffix(".pm")?.replace('/', "::");
        let command = format!("cpan {module}");
        return Some(installable("Perl module", &module, &command));
    }
    if let Some(rest) = after(line, "there is no package called ") {
        let name = quoted(rest)?;
        let command = format!("Rscript -e 'install.packages(\"{name}\")'");
        return Some(installable("R package", name, &command));
    }
    program(line).map(|name| format!("the program `{name}` is missing: {}", system_install(name)))
}

/// The note on something that one command installs.
fn installable(what: &str, name: &str, command: &str) -> String {
    format!("the {what} `{name}` is missing: the user can install it with `{command}`")
}

fn python(module: &str, origin: &Origin) -> String {
    let uv = "with `uv` installed, the script gets its packages by itself";
    if let Some(file) = manifest::nearest(&origin.script, &origin.skill_dir, REQUIREMENTS) {
        return format!(
            "the Python module `{module}` is missing: the user can install what the skill needs \
             with `python3 -m pip install -r '{}'`; {uv}",
            file.display()
        );
    }
    let top = module.split('.').next().unwrap_or(module);
    let known = |name: &str| PACKAGES.iter().find(|(from, _)| *from == name);
    let package = known(module)
        .or_else(|| known(top))
        .map_or(top, |(_, package)| package);
    let command = format!("python3 -m pip install {package}");
    installable("Python module", module, &command)
}

fn node_package(name: &str, origin: &Origin) -> String {
    if let Some((dir, command)) = manifest::node_packages_missing(&origin.script, &origin.skill_dir)
    {
        return format!(
            "the Node package `{name}` is missing, because the packages of `{0}/package.json` are \
             not installed: the user can install them with `cd '{0}' && {command}`",
            dir.display()
        );
    }
    // `name/sub/path` is in the package `name`, `@scope/name/sub` in `@scope/name`.
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let (dir, package) = (origin.skill_dir.display(), package.join("/"));
    let command = format!("cd '{dir}' && npm install {package}");
    installable("Node package", name, &command)
}

/// The program that a shell, `env` or Python did not find.
fn program(line: &str) -> Option<&str> {
    let name = line
        .strip_suffix(": command not found")
        .or_else(|| line.strip_suffix(": not found"))
        .and_then(|rest| rest.rsplit(": ").next())
        .or_else(|| {
            let rest = after(line, "env: ")?.strip_suffix(": No such file or directory")?;
            Some(rest.trim_matches(['\'', '\u{2018}', '\u{2019}']))
        })
        .or_else(|| quoted(after(line, NO_FILE)?));
    name.filter(|name| is_name(name) && !name.contains('/') && !name.contains('.'))
}

fn after<'a>(line: &'a str, what: &str) -> Option<&'a str> {
    line.find(what).map(|start| &line[start + what.len()..])
}

/// How to install a program for which no command is declared.
pub fn system_install(program: &str) -> String {
    format!(
        "the user can install it with the system's package manager, for example \
         `sudo apt install {program}` or `brew install {program}`"
    )
}

/// The text between the quotation marks at the start of `rest`.
fn quoted(rest: &str) -> Option<&str> {
    let quotes = ['\'', '"', '\u{2018}', '\u{2019}'];
    let inner = rest.strip_prefix(quotes)?;
    let name = inner.split(quotes).next()?;
    is_name(name).then_some(name)
}

fn word(rest: &str) -> Option<&str> {
    rest.split_whitespace().next().filter(|name| is_name(name))
}

/// Whether it is safe as one word of a command: the text comes from the script.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "@/._-+:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn origin(skill_dir: &Path) -> Origin {
        Origin {
            skill: "x".to_owned(),
            script: skill_dir.join("a"),
            skill_dir: skill_dir.to_owned(),
        }
    }

    fn noted(stderr: &str) -> Vec<String> {
        notes(stderr, &origin("/no/such/skill".as_ref()))
    }

    #[test]
    fn what_is_missing_is_named_with_its_command() {
        for (stderr, name, command) in [
            (
                "ModuleNotFoundError: No module named 'requests'",
                "requests",
                "pip install requests",
            ),
            (
                "ModuleNotFoundError: No module named 'yaml'",
                "yaml",
                "pip install pyyaml",
            ),
            (
                "ModuleNotFoundError: No module named 'PIL.Image'",
                "PIL.Image",
                "pip install pillow",
            ),
            (
                "Error: Cannot find module 'express'",
                "express",
                "npm install express",
            ),
            (
                "Error: Cannot find module '@a/b/c'",
                "@a/b/c",
                "npm install @a/b`",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from /a",
                "x",
                "npm install x",
            ),
            (
                "a.rb:1:in `require': cannot load such file -- nokogiri (LoadError)",
                "nokogiri",
                "gem install nokogiri",
            ),
            (
                "Can't locate JSON/XS.pm in @INC (you may need to install",
                "JSON::XS",
                "cpan JSON::XS",
            ),
            (
                "Error in library(ggplot2) : there is no package called \u{2018}ggplot2\u{2019}",
                "ggplot2",
                "install.packages(\"ggplot2\")",
            ),
            (
                "/x/run.sh: line 3: ffmpeg: command not found",
                "ffmpeg",
                "apt install ffmpeg",
            ),
            ("/x/run.sh: 3: jq: not found", "jq", "apt install jq"),
            (
                "/usr/bin/env: \u{2018}deno\u{2019}: No such file or directory",
                "deno",
                "brew install deno",
            ),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'pandoc'",
                "pandoc",
                "apt install pandoc",
            ),
        ] {
            let notes = noted(&format!("Traceback\n  {stderr}\nmore"));
            let [note] = notes.as_slice() else {
                panic!("{stderr}: {notes:?}");
            };
            assert!(
                note.contains(&format!("`{name}`")) && note.contains(command),
                "{note}"
            );
        }
    }

    #[test]
    fn other_failures_are_the_scripts_own() {
        for stderr in [
            "",
            "Error: Cannot find module './lib/x'",
            "Cannot find module '/a/b.js'",
            "ModuleNotFoundError: No module named 'a; rm -rf ~'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/in.csv'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'in.csv'",
            "page: not found: the server says",
            "Can't locate the file",
            "bash: -rf: command not found",
        ] {
            assert_eq!(noted(stderr), Vec::<String>::new(), "{stderr}");
        }
    }

    #[test]
    fn the_skills_own_lists_come_first_and_each_thing_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("requirements.txt"), "requests").unwrap();
        std::fs::write(root.join("package.json"), "{}").unwrap();
        let origin = &origin(&root);
        let python = notes("ModuleNotFoundError: No module named 'requests'", origin);
        assert!(
            python[0].contains("pip install -r '") && python[0].contains("`uv`"),
            "{python:?}"
        );
        let twice = "Error: Cannot find module 'x'\nError: Cannot find module 'x'";
        let node = notes(twice, origin);
        assert_eq!(node.len(), 1);
        assert!(
            node[0].contains("npm install`") && node[0].contains("package.json"),
            "{node:?}"
        );
    }
}
