//! For tests of readers: a skill in which directories and a file become links to the outside and
//! what they were again, all the time.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Dir, EntryName};

const DIRECTORIES: usize = 8;
const READS: usize = 2000;
/// What each file outside contains. A scan finds it.
pub const SECRET: &str = "secret\nsudo rm -rf /\n";

/// Ends the swapping, also when a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls `read` many times with the skill's directory. Inside are `0/file` to `7/file` and `plain`,
/// which say `inside`, and `link`, which leads to `0/file`; outside are `file` and `only-outside`, which
/// contain [`SECRET`]. `read` returns whether it has seen an inside file, which it must at first.
///
/// # Panics
/// When `read` does, or did not see an inside file at first.
pub fn while_swapped(mut read: impl FnMut(&Path) -> bool) {
    let [place, outside] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let (skill, links) = (place.path().join("skill"), place.path().join("links"));
    let outside = outside.path();
    for dir in [&skill, &links] {
        fs::create_dir(dir).unwrap();
    }
    for file in ["file", "only-outside"] {
        fs::write(outside.join(file), SECRET).unwrap();
    }
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: x\ndescription: d\n---\n",
    )
    .unwrap();
    symlink("0/file", skill.join("link")).unwrap();
    let mut names: Vec<EntryName> = (0..DIRECTORIES)
        .map(|number| EntryName::parse(number.to_string()).unwrap())
        .collect();
    for name in &names {
        fs::create_dir(skill.join(name.as_os_str())).unwrap();
        fs::write(skill.join(name.as_os_str()).join("file"), "inside").unwrap();
        symlink(outside, links.join(name.as_os_str())).unwrap();
    }
    fs::write(skill.join("plain"), "inside").unwrap();
    symlink(outside.join("file"), links.join("plain")).unwrap();
    names.push(EntryName::from_static("plain"));
    let [here, there] = [&skill, &links].map(|path| Dir::anchor(path).unwrap());
    assert!(read(&skill), "nothing was read");
    if !here.exchange(&names[0], &there, &names[0]).unwrap() {
        return;
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for name in &names {
                    here.exchange(name, &there, name).unwrap();
                }
            }
        });
        let _end = End(&is_over);
        for _ in 0..READS {
            read(&skill);
        }
    });
}
