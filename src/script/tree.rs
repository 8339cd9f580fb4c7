//! Ends the process tree below a supervisor, which adopts orphans. Killing alone misses children
//! forked meanwhile and makes room for more, so the tree is stopped first, in rounds: a stopped
//! process cannot fork. When two rounds find the same processes, all of them are stopped.

use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgid, getpid, kill_process,
    kill_process_group, wait, waitid, waitpid,
};

use crate::sys::{files, limits, poll};

/// How often a tree being killed is examined again if no child's end wakes us.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// Adopts every descendant whose parent dies (Linux). If the kernel cannot, the script's process
/// group can still be killed.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Whether the script has ended. It stays a zombie, so that neither its id nor its group's is
/// reused.
pub fn has_ended(script: Pid) -> bool {
    let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(script), flags), Ok(None))
}

/// Reaps orphans that have ended; `children` is what [`signals::on_child_end`] returned.
///
/// [`signals::on_child_end`]: crate::sys::signals::on_child_end
pub fn reap_orphans(script: Pid, mut children: &PipeReader) {
    // It never blocks, and its content does not matter.
    let _ = children.read(&mut [0; 64]);
    for child in children_of(getpid()) {
        if child != script {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// Kills `script`, its group and every descendant of ours, until none is left or [`limits::REAP`]
/// has passed. Returns the script's wait status, and whether any descendant survived.
pub fn end(script: Pid, mut children: &PipeReader) -> (i32, bool) {
    let began = Instant::now();
    // The status to report if the script has changed to another user and survives the wait.
    let mut status = Signal::KILL.as_raw();
    let _ = kill_process_group(script, Signal::KILL);
    loop {
        let mut stopped = None;
        // Bounded, in case something keeps resuming what was stopped.
        while began.elapsed() < limits::REAP / 2 {
            if reap(script, &mut status) {
                return (status, false);
            }
            let now = stop_all();
            if stopped.replace(now) == Some(now) {
                break;
            }
        }
        each_descendant(|pid| {
            let _ = kill_process(pid, Signal::KILL);
        });
        let _ = poll([Some((children.as_fd(), PollFlags::IN))], KILL_AGAIN);
        let _ = children.read(&mut [0; 64]);
        if reap(script, &mut status) {
            return (status, false);
        }
        if began.elapsed() >= limits::REAP {
            return (status, true);
        }
    }
}

/// Kills the descendants of a killed supervisor, which we have adopted: every descendant of ours
/// except `others`, the earlier children, and theirs. Waits at most [`limits::REAP`] for their end.
pub fn end_orphans(others: &[Pid]) {
    let began = Instant::now();
    while began.elapsed() < limits::REAP {
        let mut orphans = children_of(getpid());
        orphans.retain(|child| !others.contains(child));
        if orphans.is_empty() {
            return;
        }
        each_below(orphans.clone(), |pid| {
            let _ = kill_process(pid, Signal::KILL);
        });
        for orphan in orphans {
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reaps all that have ended; `true` when no child is left.
fn reap(script: Pid, status: &mut i32) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, its))) if pid == script => *status = its.as_raw(),
            Ok(Some(_)) | Err(io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// One round: stops all it finds. Returns the number of processes and a sum over their ids.
fn stop_all() -> (usize, u64) {
    let own = getpid();
    let mut found = (0, 0);
    let mut stopped = own;
    each_descendant(|pid| {
        // The process first: the newest are last in the list and may exit at once.
        let _ = kill_process(pid, Signal::STOP);
        // A group stops atomically. A script may join the group that we lead; every other group of
        // our descendants contains only descendants, since a group never leaves its session.
        if let Ok(group) = getpgid(Some(pid))
            && group != own
            && group != stopped
            && !group.is_init()
        {
            let _ = kill_process_group(group, Signal::STOP);
            stopped = group;
        }
        let id = u64::from(pid.as_raw_nonzero().get().unsigned_abs());
        found = (found.0 + 1, found.1 + id * id);
    });
    found
}

/// Visits every descendant as soon as it is found.
fn each_descendant(visit: impl FnMut(Pid)) {
    each_below(children_of(getpid()), visit);
}

/// Visits these processes and all below them.
fn each_below(mut found: Vec<Pid>, mut visit: impl FnMut(Pid)) {
    let mut next = 0;
    found.iter().copied().for_each(&mut visit);
    while let Some(parent) = found.get(next) {
        let children = children_of(*parent);
        children.iter().copied().for_each(&mut visit);
        found.extend(children);
        next += 1;
    }
}

/// The children of a process, whichever of its threads started them (Linux; elsewhere none).
pub fn children_of(parent: Pid) -> Vec<Pid> {
    let mut all = Vec::new();
    let tasks = PathBuf::from(format!("/proc/{}/task", parent.as_raw_nonzero()));
    for (thread, _) in files::entries(&tasks).into_iter().flatten() {
        let listed = files::kernel_text(tasks.join(thread.as_os_str()).join("children"));
        let numbers = listed.split_ascii_whitespace();
        all.extend(numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?)));
    }
    all
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_every_thread_are_found() {
        let start = || {
            let mut sleep = Command::new("sleep");
            sleep.arg("60").stdin(Stdio::null()).spawn().unwrap()
        };
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(start()).unwrap();
            // If this thread ended, its children would move to another one.
            let _ = wait.recv();
        });
        let mut children = [start(), told.recv().unwrap()];
        let found = children_of(getpid());
        for child in &mut children {
            assert!(found.contains(&Pid::from_child(child)), "{found:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        drop(done);
        thread.join().unwrap();
    }
}
