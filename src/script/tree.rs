//! Ends every process below a supervisor, which adopts orphans. It runs after a fork: raw calls
//! only. Killing alone misses children forked meanwhile, and makes room for more. So the tree is
//! stopped first, in rounds: a stopped process cannot fork and stays in place. When two rounds stop
//! the same processes, all are stopped.

use std::time::{Duration, Instant};

use super::process::{self, Pid, Reaped};
use super::process_table;
use crate::sys::limits;

/// How often a tree being killed is examined again if no child's end wakes us.
const KILL_AGAIN: Duration = Duration::from_millis(10);
/// Descendants whose children one round examines; the next round finds the rest.
const MOST: usize = 4096;

/// Kills `script`, its group and every descendant of ours, until none is left or [`limits::REAP`]
/// has passed. Returns the script's wait status, and whether any descendant survived.
pub fn end(script: Pid) -> (i32, bool) {
    let began = Instant::now();
    // The status to report if it has changed to another user and survives the wait.
    let mut status = libc::SIGKILL;
    process::kill_group(script);
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
        each_descendant(process::kill);
        process::wait_event(&mut [], KILL_AGAIN);
        if reap(script, &mut status) {
            return (status, false);
        }
        if began.elapsed() >= limits::REAP {
            return (status, true);
        }
    }
}

/// Reaps all that has ended; `true` when there is no child any more.
fn reap(script: Pid, status: &mut i32) -> bool {
    loop {
        match process::reap() {
            Reaped::Child(pid, its) if pid == script => *status = its,
            Reaped::Child(..) => {}
            Reaped::Running => return false,
            Reaped::Nothing => return true,
        }
    }
}

/// One round: stops all it finds. Returns the number of processes and a sum over their ids.
fn stop_all() -> (usize, u64) {
    let own = process::own_pid();
    let mut found = (0, 0);
    let mut stopped = own;
    each_descendant(|pid| {
        // The process first: the newest are last in the list and may exit at once.
        process::stop(pid);
        // A group stops atomically. A script may join the group that we lead; every other group of
        // our descendants contains only descendants, since a group never leaves its session.
        let group = process::group_of(pid);
        if group != own && group != stopped {
            process::stop_group(group);
            stopped = group;
        }
        let id = u64::from(pid.unsigned_abs());
        found = (found.0 + 1, found.1 + id * id);
    });
    found
}

/// Visits every descendant as soon as it is found.
fn each_descendant(mut visit: impl FnMut(Pid)) {
    let mut all = [0; MOST];
    let mut known = 0;
    let mut next = 0;
    let mut parent = process::own_pid();
    loop {
        process_table::each_child(parent, |child| {
            visit(child);
            if known < MOST {
                all[known] = child;
                known += 1;
            }
        });
        if next == known {
            return;
        }
        parent = all[next];
        next += 1;
    }
}
