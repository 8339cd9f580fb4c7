//! While nothing is active, a hook opens no directory of skills and nothing in one. The kernel is asked,
//! not the clock.

use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde_json::json;

use crate::Host;
use crate::agents::{World, claude_code};

/// What is opened or read in these directories while `act` runs.
fn opened(directories: &[PathBuf], act: impl FnOnce()) -> usize {
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for directory in directories {
        assert!(directory.is_dir(), "{}", directory.display());
        inotify::add_watch(&watch, directory, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
    }
    act();
    // Events are there before the call that causes them returns.
    rustix::io::read(&watch, &mut [0; 4096]).unwrap_or(0)
}

fn with_skill(skills: &Path) -> [PathBuf; 2] {
    [skills.to_owned(), skills.join("pdf")]
}

#[test]
fn an_idle_hook_of_chibi_opens_no_skill_directory() {
    for host in Host::both() {
        let host = host.skill("pdf", "allowed-tools: Read", "Body.");
        host.starts();
        let places = with_skill(&host.skills_dir());
        let idle = || {
            host.allows("shell_exec", &json!({"command": "touch x"}));
            host.allows("write_file", &json!({"path": "x", "content": ""}));
        };
        assert_eq!(opened(&places, idle), 0);
        assert_ne!(
            opened(&places, || {
                host.activates("pdf");
            }),
            0
        );
    }
}

#[test]
fn an_idle_hook_of_an_agent_opens_no_skill_directory() {
    let world = World::of(&claude_code::FORM).skill("pdf", "allowed-tools: Read");
    let places = with_skill(&world.home().join(".claude/skills"));
    let idle = || {
        assert!(world.run("touch x").is_silent());
        assert!(world.write(Path::new("/tmp/x")).is_silent());
    };
    assert_eq!(opened(&places, idle), 0);
    assert_ne!(opened(&places, || drop(world.activate("pdf"))), 0);
}
