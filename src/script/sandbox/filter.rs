//! What Landlock does not look at, refused by system call: a seccomp filter, compiled before the
//! fork. The table below is all of it. It decides nothing by path: a filter sees numbers only.

/// A compiled filter.
#[derive(Debug)]
pub struct Filter(platform::Program);

pub use platform::{available, compile};

impl Filter {
    /// Puts it on this process for good; the error number when that fails. Allocates nothing.
    pub fn enter(&self) -> Result<(), i32> {
        platform::enter(&self.0)
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::collections::BTreeMap;

    use libc::c_long;
    use seccompiler::SeccompCmpArgLen::Dword;
    use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, sock_filter,
    };

    use super::Filter;
    use crate::script::sandbox::Network;

    pub type Program = BpfProgram;

    /// Refused whatever their arguments are.
    const NEVER: [c_long; 29] = [
        // The memory, descriptors and course of other processes. Landlock refuses those outside,
        // and does not know all of these ways.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        libc::SYS_process_madvise,
        libc::SYS_process_mrelease,
        libc::SYS_perf_event_open,
        libc::SYS_bpf,
        // What is asked for there passes no filter.
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        // The user's keyrings.
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        // Memory, semaphores and messages that all processes of a user share and that have no path.
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
        // A file by its number, past every directory.
        libc::SYS_open_by_handle_at,
    ];

    /// Refused unless the first argument is 0, the process itself: limits, priorities and
    /// processors of others.
    const ON_ITSELF: [c_long; 7] = [
        libc::SYS_prlimit64,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setaffinity,
        libc::SYS_migrate_pages,
        libc::SYS_move_pages,
    ];

    /// Refused unless the first argument is this and the second is 0. A group is refused too: a
    /// process may enter the supervisor's.
    const ON_ITS_PROCESS: [(c_long, u64); 2] = [
        (libc::SYS_setpriority, libc::PRIO_PROCESS as u64),
        // `IOPRIO_WHO_PROCESS`.
        (libc::SYS_ioprio_set, 1),
    ];

    /// Typing into a terminal.
    // The C libraries disagree on the type.
    #[allow(clippy::unnecessary_cast)]
    const TYPING: [u64; 2] = [libc::TIOCSTI as u64, libc::TIOCLINUX as u64];

    /// Which argument of a call that sends holds the flags: `MSG_FASTOPEN` connects.
    const SENDING: [(c_long, u8); 3] = [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ];

    /// What a restricted network leaves: Unix sockets, and the kernel's answers about interfaces and
    /// routes. A list of what stays, so that no protocol, present or future, is forgotten.
    const UNIX: u64 = libc::AF_UNIX as u64;
    const NETLINK: u64 = libc::AF_NETLINK as u64;

    /// The x32 interface has its own numbers under the architecture's own mark.
    const X32: u32 = 0x4000_0000;

    /// The filter; `None` where this architecture or this kernel has none.
    pub fn compile(network: Network) -> Option<Filter> {
        let architecture = std::env::consts::ARCH.try_into().ok()?;
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter =
            SeccompFilter::new(rules(network)?, SeccompAction::Allow, refuse, architecture);
        // It ends a process that calls by another architecture's numbers.
        let program: BpfProgram = filter.ok()?.try_into().ok()?;
        Some(Filter(without_x32().into_iter().chain(program).collect()))
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
            // For a socket that somebody outside has handed over.
            let connects = libc::MSG_FASTOPEN.unsigned_abs().into();
            for (call, flags) in SENDING {
                all.insert(call, vec![rule(&[(flags, MaskedEq(connects), connects)])?]);
            }
        }
        Some(all)
    }

    /// All of the conditions. Each compares 32 bits: these arguments are `int` to the kernel, which
    /// does not look at the rest of the register.
    fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Option<SeccompRule> {
        let conditions = conditions.iter().cloned();
        let conditions = conditions
            .map(|(argument, is, value)| SeccompCondition::new(argument, Dword, is, value).ok());
        SeccompRule::new(conditions.collect::<Option<_>>()?).ok()
    }

    /// Ends a process that calls by x32's numbers: the library compares whole numbers only.
    fn without_x32() -> [sock_filter; 3] {
        let step = |code: u32, jt, k| sock_filter {
            code: u16::try_from(code).unwrap_or_default(),
            jt,
            jf: 1,
            k,
        };
        [
            // The number is the first field of what a filter is shown.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, X32),
            step(
                libc::BPF_RET | libc::BPF_K,
                0,
                libc::SECCOMP_RET_KILL_PROCESS,
            ),
        ]
    }

    pub fn enter(program: &Program) -> Result<(), i32> {
        seccompiler::apply_filter(program).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                error.raw_os_error().unwrap_or(libc::EINVAL)
            }
            _ => libc::EINVAL,
        })
    }

    /// Whether this kernel takes filters.
    #[allow(unsafe_code)]
    pub fn available() -> bool {
        let action = libc::SECCOMP_RET_ERRNO;
        // SAFETY: the kernel reads one number and answers whether it knows it.
        let known = unsafe {
            let ask = libc::SECCOMP_GET_ACTION_AVAIL;
            libc::syscall(libc::SYS_seccomp, ask, 0, &raw const action)
        };
        known == 0 && compile(Network::Restricted).is_some()
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Filter;
    use crate::script::sandbox::Network;

    /// No other system has such filters.
    #[derive(Debug)]
    pub enum Program {}

    pub fn compile(_: Network) -> Option<Filter> {
        None
    }

    pub fn enter(program: &Program) -> Result<(), i32> {
        match *program {}
    }

    pub fn available() -> bool {
        false
    }
}
