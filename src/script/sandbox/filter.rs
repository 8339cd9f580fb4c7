//! System calls that Landlock does not cover, refused by a seccomp filter (Linux). The tables below
//! are complete. A filter sees only numbers, so it cannot decide by path.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    sock_filter,
};

use super::Network;
use crate::sys::files;

/// Refused whatever the arguments.
const NEVER: [c_long; 29] = [
    // Memory, descriptors and control flow of other processes. Landlock refuses this for
    // processes outside, but does not cover all of these calls.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    // Operations submitted through io_uring bypass the filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The user's keyrings.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // System V memory, semaphores and messages, which all processes of a user share and which
    // have no path.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Opens a file by its handle, bypassing all directories.
    libc::SYS_open_by_handle_at,
];

/// Refused unless the first argument is 0, the process itself: limits, priorities and CPU
/// affinity of others.
const ON_ITSELF: [c_long; 7] = [
    libc::SYS_prlimit64,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// Refused unless the first argument is this value and the second is 0. Groups are refused too,
/// since a process may join the supervisor's.
const ON_ITS_PROCESS: [(c_long, u64); 2] = [
    (libc::SYS_setpriority, libc::PRIO_PROCESS as u64),
    // `IOPRIO_WHO_PROCESS`.
    (libc::SYS_ioprio_set, 1),
];

/// Inserting input into a terminal.
// The C libraries disagree on the type.
#[allow(clippy::unnecessary_cast)]
const TYPING: [u64; 2] = [libc::TIOCSTI as u64, libc::TIOCLINUX as u64];

/// The index of the flags argument of each sending call: `MSG_FASTOPEN` connects.
const SENDING: [(c_long, u8); 3] = [
    (libc::SYS_sendto, 3),
    (libc::SYS_sendmsg, 2),
    (libc::SYS_sendmmsg, 3),
];

/// What a restricted network permits: Unix sockets, and the kernel's answers about interfaces
/// and routes. As an allow list, it also refuses future protocols.
const UNIX: u64 = libc::AF_UNIX as u64;
const NETLINK: u64 = libc::AF_NETLINK as u64;

/// The x32 ABI has its own call numbers under x86-64's architecture value.
const X32: u32 = 0x4000_0000;

fn architecture() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// Compiles the filter; `None` if this architecture or this kernel has none.
pub fn compile(network: Network) -> Option<BpfProgram> {
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(
        rules(network)?,
        SeccompAction::Allow,
        refuse,
        architecture()?,
    );
    // It kills a process that uses another architecture's call numbers.
    let program: BpfProgram = filter.ok()?.try_into().ok()?;
    Some(without_x32().into_iter().chain(program).collect())
}

fn rules(network: Network) -> Option<BTreeMap<c_long, Vec<SeccompRule>>> {
    let mut all: BTreeMap<_, _> = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    for call in ON_ITSELF {
        all.insert(call, vec![rule(&[(0, Ne, 0)])?]);
    }
    for (call, process) in ON_ITS_PROCESS {
        all.insert(call, vec![rule(&[(0, Ne, process)])?, rule(&[(1, Ne, 0)])?]);
    }
    let typing: Option<_> = TYPING.iter().map(|code| rule(&[(1, Eq, *code)])).collect();
    all.insert(libc::SYS_ioctl, typing?);
    if network == Network::Restricted {
        let route = libc::NETLINK_ROUTE.unsigned_abs().into();
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            let family = rule(&[(0, Ne, UNIX), (0, Ne, NETLINK)])?;
            let protocol = rule(&[(0, Eq, NETLINK), (2, Ne, route)])?;
            all.insert(call, vec![family, protocol]);
        }
        // For a socket passed in from outside.
        let connects = libc::MSG_FASTOPEN.unsigned_abs().into();
        for (call, flags) in SENDING {
            all.insert(call, vec![rule(&[(flags, MaskedEq(connects), connects)])?]);
        }
    }
    Some(all)
}

/// A rule that requires all conditions. Each compares 32 bits: the kernel takes these arguments
/// as `int` and ignores the upper half of the register.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Option<SeccompRule> {
    let conditions = conditions.iter().cloned();
    let conditions = conditions
        .map(|(argument, is, value)| SeccompCondition::new(argument, Dword, is, value).ok());
    SeccompRule::new(conditions.collect::<Option<_>>()?).ok()
}

/// Kills a process that uses x32's call numbers, since the library only compares for equality.
fn without_x32() -> [sock_filter; 3] {
    let step = |code: u32, jt, k| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf: 1,
        k,
    };
    [
        // The call number is the first field of a filter's input.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, X32),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            libc::SECCOMP_RET_KILL_PROCESS,
        ),
    ]
}

/// Installs a filter on this process irrevocably; returns the error number on failure.
pub fn enter(program: &BpfProgram) -> Result<(), i32> {
    seccompiler::apply_filter(program).map_err(|error| match error {
        seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
            error.raw_os_error().unwrap_or(libc::EINVAL)
        }
        _ => libc::EINVAL,
    })
}

/// Whether this kernel supports filters.
pub fn available() -> bool {
    let actions = files::kernel_text("/proc/sys/kernel/seccomp/actions_avail");
    let knows = actions.split_whitespace().any(|action| action == "errno");
    knows && architecture().is_some()
}
