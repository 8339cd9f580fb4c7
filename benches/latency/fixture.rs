//! Homes with many skills in one temporary directory.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Fixture {
    root: tempfile::TempDir,
}

impl Fixture {
    /// A home for each size, and two with the skills used to measure restrictions.
    pub fn new(sizes: &[usize]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let fixture = Self { root };
        fs::create_dir(fixture.user()).unwrap();
        for size in sizes {
            for n in 0..*size {
                skill(&fixture.home(*size), &format!("skill-{n:05}"), "");
            }
        }
        for home in [fixture.idle(), fixture.restricted()] {
            skill(
                &home,
                "reader",
                "allowed-tools: Read Bash(git status *) Bash(git log *)\n",
            );
        }
        fs::create_dir(fixture.user().join("project")).unwrap();
        let agents = fixture.user().join(".claude");
        let list = "allowed-tools: Read Bash(git status *) Bash(git log *)\n";
        skill(&agents, "reader", list);
        // The index is never used for files changed within the clock's last tick.
        std::thread::sleep(std::time::Duration::from_millis(100));
        fixture
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// The user's home, which is also the host's working directory.
    pub fn user(&self) -> PathBuf {
        self.path().join("user")
    }

    /// The plugin directory with this many skills.
    pub fn home(&self, skills: usize) -> PathBuf {
        self.path().join(skills.to_string())
    }

    pub fn idle(&self) -> PathBuf {
        self.path().join("idle")
    }

    pub fn restricted(&self) -> PathBuf {
        self.path().join("restricted")
    }

    pub fn index_bytes(&self, skills: usize) -> u64 {
        let entries = fs::read_dir(self.home(skills).join("index"));
        let sizes = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().metadata().unwrap().len());
        sizes.sum()
    }
}

fn skill(home: &Path, name: &str, more: &str) {
    let dir = home.join("skills").join(name);
    fs::create_dir_all(&dir).unwrap();
    let text = format!(
        "---\nname: {name}\ndescription: Fills in, merges and splits documents of the kind \
             {name}, and checks them against the rules of the house. Use it when somebody asks for \
             one, or hands one in.\nlicense: MIT\n{more}---\n\n# {name}\n\n{}",
        "Read the rules before you begin, and say what you changed.\n".repeat(60)
    );
    fs::write(dir.join("SKILL.md"), text).unwrap();
}
