use std::process::{Child, Command, Stdio};

use super::*;

const HERE: &str = "here";

/// A process that runs until it is ended.
struct Running(Child);

impl Running {
    fn start() -> Self {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn id(&self) -> ProcessId {
        ProcessId::from_pid(self.0.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that has ended, as a wrapper has after its call.
fn ended(pid: u32) -> ProcessId {
    let process = ProcessId {
        pid: 4_194_304 + pid,
        start: 1,
    };
    assert!(!process.is_alive());
    process
}

fn noted(calls: &[&[ProcessId]]) -> Hosts {
    let mut hosts = Hosts::default();
    for above in calls {
        hosts.note(HERE, above);
    }
    hosts
}

fn include(hosts: &Hosts, realm: &str, above: &[ProcessId]) -> bool {
    hosts.of_here(realm).any(|host| above.contains(&host))
}

#[test]
fn the_host_counts_and_the_shell_above_it_does_not() {
    let (host, shell) = (Running::start(), Running::start());
    let hosts = noted(&[&[host.id(), shell.id()], &[host.id(), shell.id()]]);
    assert!(include(&hosts, HERE, &[ended(1), host.id(), shell.id()]));
    assert!(!include(&hosts, HERE, &[shell.id()]));
}

#[test]
fn behind_wrappers_that_end_the_host_counts() {
    let (host, shell) = (Running::start(), Running::start());
    let of = |wrapper| [ended(wrapper), host.id(), shell.id()];
    let once = noted(&[&of(1)]);
    assert!(include(&once, HERE, &[host.id()]) && !once.knows(HERE, of(2).into_iter()));
    let twice = noted(&[&of(1), &of(2)]);
    assert!(include(&twice, HERE, &[host.id()]) && twice.knows(HERE, of(3).into_iter()));
    assert!(!include(&twice, HERE, &[shell.id()]));
}

#[test]
fn after_its_host_a_shell_is_free_again() {
    let (host, shell) = (Running::start(), Running::start());
    let above = [host.id(), shell.id()];
    let mut hosts = noted(&[&above, &above]);
    drop(host);
    assert!(!include(&hosts, HERE, &above));
    assert!(!hosts.forget_ended(HERE));
}

#[test]
fn calls_from_below_never_hide_the_host() {
    let (host, shell) = (Running::start(), Running::start());
    let above = [host.id(), shell.id()];
    let below = [ended(1), host.id(), shell.id()];
    for calls in [
        &[&above[..], &below][..],
        &[&above, &above, &below, &below],
        &[&above, &[shell.id()], &[shell.id()]],
    ] {
        assert!(include(&noted(calls), HERE, &above), "{calls:?}");
    }
}

#[test]
fn two_hosts_of_one_name_both_count() {
    let (a, b, shell) = (Running::start(), Running::start(), Running::start());
    let [of_a, of_b] = [&a, &b].map(|host| [host.id(), shell.id()]);
    let hosts = noted(&[&of_a, &of_b, &of_a, &of_b]);
    assert!(include(&hosts, HERE, &[a.id()]) && include(&hosts, HERE, &[b.id()]));
    assert!(!include(&hosts, HERE, &[shell.id()]));
}

#[test]
fn another_realms_hosts_are_kept_and_are_not_ours() {
    let host = Running::start();
    let mut hosts = noted(&[&[host.id()]]);
    hosts.note("elsewhere", &[ended(1)]);
    assert!(!include(&hosts, "elsewhere", &[host.id()]));
    assert!(include(&hosts, HERE, &[host.id()]));
}

#[test]
fn what_is_left_above_a_single_call_does_not_count_for_ever() {
    let (host, init) = (Running::start(), Running::start());
    let above = [host.id(), init.id()];
    let mut once = noted(&[&above]);
    let mut twice = noted(&[&above, &above]);
    for hosts in [&mut once, &mut twice] {
        hosts.0[0].noted = 1;
    }
    assert!(include(&twice, HERE, &above) && twice.of_here(HERE).next().is_some());
    assert!(
        !include(&once, HERE, &above)
            && once.of_here(HERE).next().is_none()
            && !once.forget_ended(HERE)
    );
}
