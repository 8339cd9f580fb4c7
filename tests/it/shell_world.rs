//! A directory in which an accepted command may do its worst: programs that only write down how
//! they were called, files that must stay as they are, and files that must not be read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skill_permission::PathResolver;

pub use crate::shell_log::Logged;
use crate::shell_log::{logs, text};

/// The first byte of what [`World::files`] says of a path.
const DIRECTORY: u8 = b'd';
const LINK: u8 = b'l';
const FILE: u8 = b'f';

/// Programs that only say that they were called.
const STUBS: &[&str] = &[
    "git", "npm", "ls", "find", "rm", "curl", "evil", "sudo", "node", "make", "python3", "sh2",
    "tee", "touch", "mv", "cp", "chmod", "less", "gitk", "builtin", "coproc", "[[", "select",
    "function", "declare", "typeset", "let", "x", "a", "date", "basename", "dirname", "seq",
    "uname", "whoami", "id", "nproc", "which", "hostname", "sleep", "doas", "noglob", "repeat",
    "integer", "local", "ln", "mkdir", "rmdir", "tar", "direnv", "choom", "mktemp",
];
/// Programs that are what they are: filters, and wrappers that run what PATH has.
const REAL: &[&str] = &[
    "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "nl", "column", "cat", "rev", "tac",
    "timeout", "nice", "nohup", "stdbuf", "env", "xargs", "bash", "dash", "sh", "zsh", "egrep",
    "setsid", "ionice", "flock", "base64",
];
/// Filters that can run programs of their own: what a list grants of them must not.
const TOOLS: &[&str] = &["sed", "awk", "jq"];
/// Programs that show files; most of these are stubs elsewhere.
const READERS: &[&str] = &["ls", "find", "stat", "file", "tree", "rg", "less"];
/// Names that mean something else where a glob puts them in a command's place for words.
const HOSTILE_NAMES: &[&str] = &[
    "-delete",
    "-exec",
    "--output=canary",
    "rm",
    ";",
    "a b",
    "-v",
    "x[$(evil)]",
    "+",
    "{}",
    "=evil",
];
/// What only a file holds that must not be read: no command spells it.
pub const SECRET: &str = "CLASSIFIED";
const SECRETS: &[&str] = &[
    "project/canary",
    "project/sub/in/data",
    "home/.ssh/id_rsa",
    // Nor may its name.
    "home/.ssh/CLASSIFIED",
    "secret",
    "home/x",
    "x",
    "in/data",
];
/// Where skills and what restricts them are kept.
pub const PROTECTED: [&str; 2] = ["plugin", "project/.claude/skills"];
/// Where a stub writes its log if a command took the variable away that says where.
const STRAY: &str = "logs/stray";

/// The world's root, and what its files are when nothing has happened.
pub struct World {
    root: tempfile::TempDir,
    untouched: BTreeMap<PathBuf, Vec<u8>>,
}

/// What happened while one command ran.
pub struct Happened {
    pub calls: Vec<Logged>,
    /// Both streams.
    pub output: String,
}

/// The file system as it is.
pub struct Disk;

impl PathResolver for Disk {
    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors().find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        })
    }

    fn links_in(&self, directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_symlink()).collect()
    }
}

impl World {
    /// With or without files whose names are options and programs.
    pub fn new(has_hostile_names: bool) -> Self {
        let mut world = Self {
            root: tempfile::tempdir().unwrap(),
            untouched: BTreeMap::new(),
        };
        for dir in [
            "bin",
            "tools",
            "readers",
            "logs",
            "in",
            "project/in",
            "project/out",
            "project/sub/in",
            "project/sub/out",
            "project/scripts/sub",
            "project/sub/scripts",
            "home/.ssh",
            "plugin",
            "project/.claude/skills/s",
        ] {
            fs::create_dir_all(world.at(dir)).unwrap();
        }
        let stray = world.at(STRAY);
        // Each call has a file of its own: calls in one pipeline write at the same time.
        let stub = |name: &str, print: &str| {
            let log = format!("${{STUB_LOG:-{}}}/$$", stray.display());
            format!(
                "#!/bin/dash\n[ \"${{BASH_VERSION-}}\" ] && exec /bin/dash \"$0\" \"$@\"\nread -r i\n{{ printf 'P%s' \"{name}\"; for a; do printf '\\037%s' \"$a\"; done; printf '\\036%s\\036%s\\036' \"$(pwd -P)\" \"$i\"; export -p; }} > \"{log}\"\n{print}"
            )
        };
        for name in STUBS {
            // What a program prints may become words of another.
            let print = if *name == "git" {
                "echo '-delete -exec rm {} ; *'\n"
            } else {
                ""
            };
            world.program(&format!("bin/{name}"), &stub("${0##*/}", print));
        }
        // Where `time` is not part of the grammar, it is a program that runs its arguments.
        world.program(
            "bin/time",
            "#!/bin/dash\n[ \"$1\" = -p ] && shift\nexec \"$@\"\n",
        );
        for path in [
            "git",
            "evil",
            "sub/git",
            "sub/rm",
            "sub/evil",
            "sub/scripts/run.sh",
            "sub/scripts/x.py",
        ] {
            world.program(&format!("project/{path}"), &stub("!${0##*/}", ""));
        }
        world.program("home/evil", &stub("!evil", ""));
        for path in ["run.sh", "x.py", "sub/run.sh"] {
            world.program(
                &format!("project/scripts/{path}"),
                &stub("scripts/${0##*/}", ""),
            );
        }
        let in_bin = REAL.iter().map(|name| ("bin", name));
        let in_tools = TOOLS.iter().map(|name| ("tools", name));
        let in_readers = READERS.iter().map(|name| ("readers", name));
        for (dir, name) in in_bin.chain(in_tools).chain(in_readers) {
            let real = ["/usr/bin", "/bin"]
                .iter()
                .map(|dir| Path::new(dir).join(name));
            if let Some(real) = real.into_iter().find(|path| path.exists()) {
                symlink(real, world.at(dir).join(name)).unwrap();
            }
        }
        for path in SECRETS {
            fs::write(world.at(path), format!("SECRET {SECRET}\n")).unwrap();
        }
        fs::write(world.at("project/in/data"), "data\n").unwrap();
        for place in PROTECTED {
            fs::write(world.at(place).join("kept"), "").unwrap();
        }
        symlink(".claude", world.at("project/.link")).unwrap();
        symlink("../canary", world.at("project/in/leads-out")).unwrap();
        symlink("../../home", world.at("project/in/home")).unwrap();
        if has_hostile_names {
            for dir in ["project", "project/in"] {
                for name in HOSTILE_NAMES {
                    fs::write(world.at(dir).join(name), "").unwrap();
                }
            }
        }
        world.untouched = world.files();
        world.clear();
        world
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn program(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Where programs are found: in these directories. Without the tools, whoever may run anything
    /// cannot run them.
    pub fn path(&self, programs: &[&str]) -> String {
        let dirs = programs
            .iter()
            .map(|dir| self.at(dir).display().to_string());
        dirs.collect::<Vec<_>>().join(":")
    }

    /// Runs commands one after the other in one shell process each, and tells what happened.
    pub fn run(&self, shell: &str, programs: &[&str], commands: &[&str]) -> Vec<Happened> {
        // What loops for ever is stopped by its own use of the processor, what waits by the clock.
        let mut driver = "ulimit -t 2\nulimit -f 2000\n".to_owned();
        for (at, command) in commands.iter().enumerate() {
            fs::create_dir(self.at("logs").join(at.to_string())).unwrap();
            let quoted = command.replace('\'', "'\\''");
            let log = self.at("logs");
            let log = log.display();
            let _ = writeln!(
                driver,
                "(ulimit -p {PROCESSES}; STUB_LOG={log}/{at} exec /usr/bin/timeout --foreground -s KILL 10 {shell} -c '{quoted}' </dev/null >{log}/{at}.out 2>&1)"
            );
        }
        // The group is the driver's own: what a command left running ends with it.
        let done = self.at("logs/done");
        let _ = writeln!(driver, ": > {}\nkill -KILL 0", done.display());
        fs::write(self.at("driver"), driver).unwrap();
        self.give_away();
        let mut dash = Command::new("/bin/dash");
        dash.arg(self.at("driver"))
            .env_clear()
            .env("PATH", self.path(programs))
            .env("HOME", self.at("home"))
            .env("LC_ALL", "C")
            .current_dir(self.at("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if is_root() {
            dash.uid(NOBODY).gid(NOBODY);
        }
        dash.status().unwrap();
        assert!(done.exists(), "the driver ended too soon: {commands:#?}");
        let mut happened: Vec<Happened> = (0..commands.len())
            .map(|at| Happened {
                calls: logs(&self.at("logs").join(at.to_string())),
                output: text(&self.at("logs").join(format!("{at}.out"))),
            })
            .collect();
        if let Some(last) = happened.last_mut() {
            last.calls.extend(logs(&self.at(STRAY)));
        }
        happened
    }

    /// The first file below these directories, but outside `out/`, that is new, gone or different.
    pub fn changed(&self, within: &[PathBuf]) -> Option<PathBuf> {
        let now = self.files();
        let differs =
            |(path, content): &(&PathBuf, &Vec<u8>)| self.untouched.get(*path) != Some(*content);
        let gone = self
            .untouched
            .keys()
            .filter(|path| !now.contains_key(*path));
        let changed = now.iter().filter(differs).map(|(path, _)| path);
        changed
            .chain(gone)
            .find(|path| within.iter().any(|dir| path.starts_with(dir)))
            .cloned()
    }

    /// As it was before anything ran.
    pub fn clear(&self) {
        for dir in ["logs", "project/out", "project/sub/out"] {
            fs::remove_dir_all(self.at(dir)).unwrap();
            fs::create_dir(self.at(dir)).unwrap();
        }
        fs::create_dir(self.at(STRAY)).unwrap();
    }

    /// Undoes changes outside of what [`World::clear`] empties.
    pub fn restore(&self) {
        let now = self.files();
        let kind = |content: &Vec<u8>| content[0];
        // Deepest first, so that a directory is empty when its turn comes.
        for (path, content) in now.iter().rev() {
            if self.untouched.get(path).map(kind) != Some(kind(content)) {
                let removed = match kind(content) {
                    DIRECTORY => fs::remove_dir(path),
                    _ => fs::remove_file(path),
                };
                removed.unwrap();
            }
        }
        for (path, content) in &self.untouched {
            if now.get(path) == Some(content) {
                continue;
            }
            match kind(content) {
                DIRECTORY => fs::create_dir(path).unwrap(),
                LINK => {
                    // One with another target may still be there.
                    let _ = fs::remove_file(path);
                    symlink(OsStr::from_bytes(&content[1..]), path).unwrap();
                }
                _ => fs::write(path, &content[1..]).unwrap(),
            }
        }
        self.give_away();
    }

    /// Everything but what commands may write, with its kind and each file's content; a link's is its
    /// target.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.root.path().to_owned()];
        let free = ["logs", "project/out", "project/sub/out", "driver"].map(|path| self.at(path));
        while let Some(path) = open.pop() {
            if free.contains(&path) {
                continue;
            }
            let metadata = fs::symlink_metadata(&path).unwrap();
            let (kind, content) = if metadata.is_dir() {
                let entries = fs::read_dir(&path).unwrap();
                open.extend(entries.map(|entry| entry.unwrap().path()));
                (DIRECTORY, Vec::new())
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                (LINK, target.into_os_string().into_encoded_bytes())
            } else {
                (FILE, fs::read(&path).unwrap())
            };
            let content = [vec![kind], content].concat();
            found.insert(path, content);
        }
        found
    }

    /// Root's tests run commands as nobody, who can do nothing outside of this world.
    fn give_away(&self) {
        if !is_root() {
            return;
        }
        let mut open = vec![self.root.path().to_owned()];
        while let Some(path) = open.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_symlink() {
                continue;
            }
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            if metadata.is_dir() {
                open.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            }
        }
    }
}

const NOBODY: u32 = 65534;
/// The limit of a user's processes: dash starts a loop's `a &>f` in the background each time.
const PROCESSES: u32 = 1500;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}
