//! Checks a skill's files: links, sizes, and scripts without a known interpreter.

use super::prelude::*;
use crate::error::reason;

/// Extensions of programs whose interpreters no skill runner knows.
const FOREIGN: [&str; 7] = ["swift", "go", "java", "rs", "bat", "cmd", "applescript"];
/// Files without an extension that are not scripts.
const NAMES: [&str; 5] = ["LICENSE", "README", "NOTICE", "Makefile", "Dockerfile"];

/// Findings on links and on sizes.
pub fn lint(dir: &Path) -> Vec<LintFinding> {
    let mut walk = SkillWalk {
        dir,
        root: dir.canonicalize().unwrap_or_else(|_| dir.to_owned()),
        found: Vec::new(),
        files: 0,
        bytes: 0,
    };
    walk.directory(dir, 0);
    let (files, bytes) = (limits::INSTALL_FILES, limits::INSTALL_BYTES);
    if walk.files > files {
        let message = format!("the skill has more than {files} files");
        walk.say("too-many-files", dir, &message);
    }
    if walk.bytes > bytes {
        let message = format!("the skill's files have more than {bytes} bytes");
        walk.say("too-large", dir, &message);
    }
    walk.found
}

struct SkillWalk<'a> {
    dir: &'a Path,
    root: PathBuf,
    found: Vec<LintFinding>,
    files: usize,
    bytes: u64,
}

impl SkillWalk<'_> {
    fn say(&mut self, code: &str, path: &Path, message: &str) {
        let file = path.display().to_string();
        self.found
            .push(LintFinding::new(code, file, (1, 1), message));
    }

    fn directory(&mut self, dir: &Path, depth: usize) {
        let entries = files::entries(dir);
        // An unreadable skill has been reported.
        if let Some(error) = entries.as_ref().err().filter(|_| depth > 0) {
            self.unreadable(dir, error);
        }
        let entries = entries.into_iter().flatten();
        let paths = entries.map(|(name, _)| dir.join(name.as_os_str()));
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort();
        for path in paths {
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            if metadata.is_symlink() {
                self.link(&path);
            } else if metadata.is_dir() && depth < limits::DIGEST_DEPTH && !path.ends_with(".git") {
                self.directory(&path, depth + 1);
            } else if metadata.is_file() {
                self.files += 1;
                self.bytes += metadata.len();
                let opened = files::open_regular(&path);
                if let Some(error) = opened.err().filter(|_| !path.ends_with("SKILL.md")) {
                    self.unreadable(&path, &error);
                }
            }
            if self.files > limits::INSTALL_FILES {
                return;
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        let shown = path.strip_prefix(self.dir).unwrap_or(path).display();
        let message = format!("could not read `{shown}`: {}", reason(error));
        self.say("unreadable", path, &message);
    }

    fn link(&mut self, path: &Path) {
        let (code, why) = match path.canonicalize() {
            Ok(real) if real.starts_with(&self.root) => return,
            Ok(_) => ("link-leaves-skill", "leaves the skill"),
            Err(_) => ("link-broken", "leads nowhere"),
        };
        let shown = path.strip_prefix(self.dir).unwrap_or(path).display();
        self.say(code, path, &format!("`{shown}` is a link that {why}"));
    }
}

/// Files that appear to be scripts. The room that runs scripts decides whether their interpreter is
/// known.
pub fn programs(dir: &Path) -> Vec<PathBuf> {
    let paths = Resource::all(dir).into_iter().map(|resource| resource.path);
    paths.filter(|path| is_program(dir, path)).collect()
}

fn is_program(dir: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bare = !name.contains('.') && !NAMES.contains(&name.as_ref());
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let foreign = FOREIGN.contains(&extension.to_lowercase().as_str());
    if !path.starts_with("scripts") || !(bare || foreign) {
        return false;
    }
    let mut head = [0; 512];
    let Ok(mut file) = files::open_regular(&dir.join(path)) else {
        return false;
    };
    let metadata = file.metadata();
    let executable = metadata.is_ok_and(|it| it.permissions().mode() & 0o111 != 0);
    let read = file.read(&mut head).unwrap_or(0);
    foreign || executable || read > 0 && !head[..read].contains(&0)
}
