//! Ends the processes below a supervisor, which adopts orphans: what a killed process has started
//! becomes the supervisor's own, to be killed in the next round.

use std::io::{PipeReader, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, wait,
    waitid, waitpid,
};

use crate::sys::{files, limits, poll};

/// How often a tree being killed is examined again if no child's end wakes us.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// Adopts every descendant whose parent dies (Linux). If the kernel cannot, the script's process
/// group can still be killed.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
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
    for child in our_children() {
        if child != script {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// Kills `script`, its group and every child of ours, until none is left or [`limits::REAP`] has
/// passed. Returns the script's wait status, and whether any of them survived.
pub fn end(script: Pid, mut children: &PipeReader) -> (i32, bool) {
    let began = Instant::now();
    // The status to report if the script has changed to another user and survives the wait.
    let mut status = Signal::KILL.as_raw();
    let _ = kill_process_group(script, Signal::KILL);
    loop {
        for child in our_children() {
            let _ = kill_process(child, Signal::KILL);
        }
        if reap(script, &mut status) {
            return (status, false);
        }
        if began.elapsed() >= limits::REAP {
            return (status, true);
        }
        let _ = poll([Some((children.as_fd(), PollFlags::IN))], KILL_AGAIN);
        let _ = children.read(&mut [0; 64]);
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

/// The children of this process, which has one thread (Linux; elsewhere none).
fn our_children() -> Vec<Pid> {
    let listed = files::kernel_text("/proc/thread-self/children");
    let numbers = listed.split_ascii_whitespace();
    let pid = |number: &str| Pid::from_raw(number.parse().ok()?);
    numbers.filter_map(pid).collect()
}
