//! What grows with the number of skills, counted and not timed: files opened, reads of the lockfile
//! and processes of git, with ten times the skills.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::inotify;

use crate::Host;
use crate::market::skill;
use crate::repository::{Hub, commit};

const FEW: usize = 10;
const MANY: usize = 100;

/// Every verb that touches many skills, in an order in which each has something to do.
const VERBS: [&[&str]; 12] = [
    &["install", "acme/skills", "--all", "--yes"],
    &["list"],
    &["list", "--json"],
    &["search_installed", "does"],
    &["info", "s1"],
    &["doctor"],
    &["validate", "SKILLS"],
    &["scan", "SKILLS"],
    &["verify"],
    &["update", "--check"],
    &["update", "--yes"],
    &["audit", "--summary"],
];

/// How often something happened while a verb ran.
#[derive(Debug, Default)]
struct Counts {
    git: usize,
    lockfile: usize,
    files: usize,
}

/// Counts what is opened in some directories.
struct Opened {
    events: rustix::fd::OwnedFd,
}

impl Opened {
    fn new() -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let events = inotify::init(flags).unwrap();
        Self { events }
    }

    /// Closing counts too, so that the kernel does not take two openings for one.
    fn watch(&self, dir: &Path) {
        use inotify::WatchFlags as Flags;
        let flags = Flags::OPEN | Flags::CLOSE_WRITE | Flags::CLOSE_NOWRITE;
        inotify::add_watch(&self.events, dir, flags).unwrap();
    }

    /// The names that were opened since the last call.
    fn names(&self) -> Vec<Vec<u8>> {
        let mut buffer = vec![MaybeUninit::uninit(); 64 * 1024];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        let mut names = Vec::new();
        while let Ok(event) = reader.next() {
            let what = event.events();
            assert!(!what.contains(inotify::ReadFlags::QUEUE_OVERFLOW));
            if what.contains(inotify::ReadFlags::OPEN) {
                names.extend(event.file_name().map(|name| name.to_bytes().to_owned()));
            }
        }
        names
    }
}

/// What each verb does with this many skills.
fn counted(skills: usize) -> BTreeMap<String, Counts> {
    let hub = Hub::new();
    let names: Vec<_> = (0..skills).map(|at| format!("s{at}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let repository = hub.skills(&names);

    let tools = tempfile::tempdir().unwrap();
    let (calls, wrapper) = (tools.path().join("calls"), tools.path().join("git"));
    let git = which::which("git").unwrap();
    let text = format!(
        "#!/bin/sh\necho x >>{}\nexec {} \"$@\"\n",
        calls.display(),
        git.display()
    );
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let host = Host::stdin()
        .var("AGENT_SKILLS_GITHUB_BASE", &hub.base())
        .var("PATH", &format!("{}:{path}", tools.path().display()));

    let mut counts = BTreeMap::new();
    let opened = Opened::new();
    opened.watch(&host.plugin_dir());
    for verb in VERBS {
        if verb == ["update", "--yes"] {
            for name in names.iter().step_by(10) {
                let file = repository.join("skills").join(name).join("SKILL.md");
                fs::write(file, format!("{}more", skill(name))).unwrap();
            }
            commit(&repository);
        }
        let _ = fs::remove_file(&calls);
        opened.names();
        let place = host.skills_dir().display().to_string();
        let words: Vec<&str> = verb
            .iter()
            .map(|word| if *word == "SKILLS" { &*place } else { *word })
            .collect();
        let ran = host.person(&words);
        assert!(ran.status < 2, "{verb:?}: {ran:?}");
        let opened_now = opened.names();
        let is_lockfile = |name: &&Vec<u8>| name.as_slice() == b"skills.lock.json";
        let lockfile = opened_now.iter().filter(is_lockfile).count();
        let calls = fs::read_to_string(&calls).unwrap_or_default();
        let found = Counts {
            git: calls.lines().count(),
            lockfile,
            files: opened_now.len() - lockfile,
        };
        counts.insert(verb.join(" "), found);
        if verb[0] == "install" {
            for name in &names {
                opened.watch(&host.skills_dir().join(name));
            }
        }
    }
    counts
}

#[test]
fn ten_times_the_skills_are_at_most_ten_times_the_work() {
    let (few, many) = (counted(FEW), counted(MANY));
    for (verb, few) in few {
        let many = &many[&verb];
        println!("{verb}: {few:?} {many:?}");
        assert_eq!(few.git, many.git, "{verb}");
        assert_eq!(few.lockfile, many.lockfile, "{verb}");
        assert!(
            many.files <= 10 * few.files + 10,
            "{verb}: {few:?} {many:?}"
        );
    }
}
