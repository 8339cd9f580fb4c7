//! What a kernel can do to confine a script, and what it cannot, as a function of numbers, so that
//! it also works for kernels other than the running one.

use super::Network;

/// The capabilities of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Its Landlock ABI version, 0 for none.
    pub landlock: i32,
    /// Whether it filters system calls, and we support that on this architecture.
    pub seccomp: bool,
}

const NO_LANDLOCK: &str = "this system has no Landlock (Linux 5.13 with it enabled)";
const NO_TRUNCATE: &str = "this kernel cannot forbid to truncate files (Linux 6.2 can)";
const NO_SCOPE: &str =
    "this kernel cannot forbid signals and abstract sockets to the outside (Linux 6.12 can)";
const NO_FILTER: &str = "this kernel does not filter system calls (seccomp), so limits, priorities, keyrings and \
     shared memory of other programs are within reach";
const NO_NETWORK: &str = "this kernel cannot restrict the network without that";

impl Kernel {
    /// Whether it can confine a script at all.
    pub fn confines(self) -> bool {
        self.landlock > 0 || self.seccomp
    }

    /// What it cannot do of the confinement that `docs/scripts.md` describes, as fragments, the
    /// worst first.
    pub fn lacks(self, network: Network) -> Vec<&'static str> {
        let lacks = [
            (NO_LANDLOCK, self.landlock < 1),
            (NO_TRUNCATE, (1..3).contains(&self.landlock)),
            (NO_SCOPE, (1..6).contains(&self.landlock)),
            (NO_FILTER, !self.seccomp),
            (NO_NETWORK, !self.seccomp && network == Network::Restricted),
        ];
        let lacks = lacks.iter().filter(|(_, is_lacking)| *is_lacking);
        lacks.map(|(what, _)| *what).collect()
    }
}

/// What this system cannot do to confine scripts, as a fragment.
pub fn lacking(network: Network) -> Option<String> {
    let lacks = Kernel::at_hand().lacks(network);
    (!lacks.is_empty()).then(|| lacks.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_kernel_lacks_is_known() {
        // What each Landlock version lacks, whatever else there is.
        let files: [&[&str]; 8] = [
            &[NO_LANDLOCK],
            &[NO_TRUNCATE, NO_SCOPE],
            &[NO_TRUNCATE, NO_SCOPE],
            &[NO_SCOPE],
            &[NO_SCOPE],
            &[NO_SCOPE],
            &[],
            &[],
        ];
        for (landlock, files) in (0..).zip(files) {
            for (seccomp, network, more) in [
                (true, Network::Open, &[][..]),
                (true, Network::Restricted, &[]),
                (false, Network::Open, &[NO_FILTER]),
                (false, Network::Restricted, &[NO_FILTER, NO_NETWORK]),
            ] {
                let kernel = Kernel { landlock, seccomp };
                assert_eq!(
                    kernel.lacks(network),
                    [files, more].concat(),
                    "{kernel:?} {network:?}"
                );
                assert_eq!(kernel.confines(), landlock > 0 || seccomp);
            }
        }
    }
}
