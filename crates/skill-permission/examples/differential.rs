//! Tries the engine on commands of others: `cargo run -p skill-permission --example differential -- FILE…`
//!
//! Each line of a file is a command. The engine is asked with an entry for every program of the
//! command, and again with each program left out. What it accepts with one left out is run in every
//! shell that there is, among stubs that only write down how they were called: if the program that
//! no entry grants is called, it escaped. Nothing is fetched, and no command runs that names an
//! absolute path, a home or a parent directory. Run it as a user who owns nothing.

// It is a tool, whose output is what it is for.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use skill_permission::explain::{Grant, Outline};
use skill_permission::vocabulary::Vocabulary;
use skill_permission::{Decision, Outcome, PathResolver, RestrictionInputs};

const SHELLS: [&str; 4] = ["/bin/bash", "/bin/dash", "/bin/busybox", "/bin/zsh"];
/// Wrappers that run what `PATH` has, which has only stubs and these.
const REAL: [&str; 9] = [
    "env", "nice", "nohup", "timeout", "xargs", "find", "sh", "bash", "dash",
];
/// What these run needs the entry. With one of their own, they may run anything.
const WRAPPERS: [&str; 18] = [
    "bash", "command", "dash", "doas", "env", "eval", "exec", "nice", "nohup", "setsid", "sh",
    "source", "stdbuf", "sudo", "time", "timeout", "xargs", "zsh",
];
/// What grants reading and writing files of the project, whatever program does it; and an entry for
/// some command, without which not even harmless ones are allowed.
const FILES: &str = "Read Write Edit Bash(another:*)";
/// What an entry for `find` has to spell.
const FIND_ACTIONS: [&str; 5] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
const PATIENCE: Duration = Duration::from_secs(5);

/// The file system as it is.
struct Disk;

impl PathResolver for Disk {
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        let there = path.ancestors().find(|above| above.exists())?;
        let rest = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

fn main() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (mut asked, mut accepted) = (0, 0);
    let mut escapes = Vec::new();
    let mut reasons = BTreeMap::<String, usize>::new();
    for file in std::env::args_os().skip(1) {
        let text = fs::read_to_string(&file).expect("a file of commands");
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let programs = programs(line);
            if programs.is_empty() {
                continue;
            }
            asked += 1;
            match ask(&root, line, &programs, None).outcome {
                Outcome::Blocked(refusal) => {
                    println!("refused  {line}\n         {}", refusal.for_people());
                    let why = refusal.for_people();
                    let why = why.rsplit(": ").next().unwrap_or_default().to_owned();
                    *reasons.entry(why).or_default() += 1;
                }
                _ => accepted += 1,
            }
            for missing in &programs {
                if passes_without(&root, line, &programs, missing)
                    && is_safe(line)
                    && calls(&root, line, &programs).contains(missing)
                {
                    println!("ESCAPE   {line}\n         {missing} ran without an entry");
                    escapes.push(line.to_owned());
                }
            }
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in reasons.iter().take(20) {
        println!("{count:6}  {why}");
    }
    let share = f64::from(accepted) * 100.0 / f64::from(asked.max(1));
    println!(
        "{asked} commands, {accepted} accepted with everything granted ({share:.1} %), {} escapes",
        escapes.len()
    );
    assert!(escapes.is_empty());
}

/// The programs that a command runs by their names, if it can be read.
fn programs(command: &str) -> BTreeSet<String> {
    let list = RestrictionInputs::of_list("", "", Path::new("/"));
    let outline = Outline::read(command, &list.places);
    let commands = outline.map(|outline| outline.commands).unwrap_or_default();
    let words = commands.into_iter().flatten().flatten();
    let names = words.filter(|word| is_program(word));
    names.collect()
}

/// Whether a word could be a program's name or path; others of a command may be, as in `xargs rm`.
fn is_program(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-+./".contains(c);
    let begins = |c: char| c.is_ascii_alphabetic() || c == '/' || c == '.';
    word.starts_with(begins) && word.chars().all(is_name) && !word.ends_with(['.', '/'])
}

fn ask(root: &Path, command: &str, programs: &BTreeSet<String>, without: Option<&str>) -> Decision {
    let is_granted = |name: &str| without.is_none_or(|it| it != name && !WRAPPERS.contains(&name));
    let mut entries = FILES.to_owned();
    for name in programs.iter().filter(|name| is_granted(name)) {
        let _ = write!(entries, " Bash({name}:*)");
        let words: Vec<&str> = command.split_whitespace().collect();
        for action in FIND_ACTIONS
            .iter()
            .filter(|it| name == "find" && words.contains(it))
        {
            let _ = write!(entries, " Bash(find * {action} *) Bash(find * {action})");
        }
    }
    let mut list = RestrictionInputs::of_list("all", &entries, &root.join("project"));
    list.places.environment = Some(["PATH", "HOME"].map(str::to_owned).into());
    let arguments = json!({"command": command});
    list.decide(&Vocabulary::CLAUDE_CODE, "Bash", &arguments, &Disk)
}

/// Whether the command passes without an entry for this program, and not because the program needs
/// none there, as a filter in a pipe does.
fn passes_without(root: &Path, command: &str, programs: &BTreeSet<String>, missing: &str) -> bool {
    let decision = ask(root, command, programs, Some(missing));
    let needs_none = decision.parts.iter().any(|part| {
        let is_its = part.text.split_whitespace().next() == Some(missing);
        is_its && matches!(part.outcome, Ok(Grant::NeedsNoRule(_)))
    });
    let alone = [format!("{missing} x"), format!("{missing} 1")];
    let passes_alone = |command: &String| ask(root, command, &BTreeSet::new(), None).allows();
    let is_neutral = || alone.iter().any(passes_alone);
    decision.allows() && !needs_none && !WRAPPERS.contains(&missing) && !is_neutral()
}

/// Whether a command stays in its directory, as far as its words say.
fn is_safe(command: &str) -> bool {
    let mut words = command.split(|c: char| c.is_whitespace() || "=<>|&;()'\"`".contains(c));
    !words.any(|word| word.starts_with(['/', '~', '$']) || word.contains("..") || word == "kill")
}

/// The stubs that are called while each shell runs the command.
fn calls(root: &Path, command: &str, programs: &BTreeSet<String>) -> BTreeSet<String> {
    let mut called = BTreeSet::new();
    for shell in SHELLS.iter().filter(|shell| Path::new(shell).exists()) {
        let (bin, project, log) = (root.join("bin"), root.join("project"), root.join("log"));
        let _ = fs::remove_dir_all(&bin);
        let _ = fs::remove_dir_all(&project);
        fs::create_dir(&bin).unwrap();
        fs::create_dir_all(project.join("sub")).unwrap();
        fs::write(project.join("file"), "text\n").unwrap();
        fs::write(&log, "").unwrap();
        for name in programs.iter().filter(|name| !name.contains('/')) {
            let stub = bin.join(name);
            let real = Path::new("/usr/bin").join(name);
            let text = if REAL.contains(&&**name) && real.exists() {
                format!(
                    "#!/bin/sh\necho {name} >>{0}\nexec {1} \"$@\"\n",
                    log.display(),
                    real.display()
                )
            } else {
                format!("#!/bin/sh\necho {name} >>{}\necho file\n", log.display())
            };
            fs::write(&stub, text).unwrap();
            fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut run = Command::new(shell);
        if shell.ends_with("busybox") {
            run.arg("ash");
        }
        run.args(["-c", command]).current_dir(&project).env_clear();
        run.env("PATH", &bin).env("HOME", &project);
        run.stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
        let written = fs::read_to_string(&log).unwrap();
        called.extend(written.lines().map(str::to_owned));
    }
    called
}
