//! What denials see in texts, behind wrappers and in redirections.

use super::{all_run, none_runs};
use crate::permission::scene::{Scene, scene};

fn denied() -> Scene {
    scene().skill("a", None, &["Bash(rm:*)", "Bash(reboot)"])
}

#[test]
fn text_that_a_shell_runs_is_read_whatever_it_contains() {
    none_runs(
        &denied(),
        &[
            "sh -c reboot", "bash -c rm", r"sh -c rm\;x", "bash -c 'rm${IFS}x'", "bash -c '{rm,-rf,x}'", "bash -c 'x=r;${x}m'",
            "su -c rm", "trap reboot EXIT", "env -S\"rm x\"", "env -S rm", "env -iS 'rm x'", "env --split-string='rm x'",
            "env --split='rm x'", "env -S '-i rm x'", "env -S '-S rm'", r"env -S 'sudo\_rm'", "env -S \"$x\"", "env -S\"a$x\"",
            "su -crm", "su --command=reboot", "runuser -c reboot", "script -qc reboot", "script --command=rm", "ssh host reboot",
            "watch reboot", "eval reboot", "flock x -c reboot", "sudo sh -c reboot", "sh -c 'sh -c reboot'", "mise x -c reboot",
            "parallel reboot ::: a", "fish -c reboot", "ash -c reboot", "tmux new reboot", "bash -ec reboot",
        ],
    );
    all_run(
        &denied(),
        &[
            "bash x.sh", "bash x.sh a 3 -v --long=x", "bash -c ls", "sh -c 'ls; git log'", "env CI=1 ls", "env -i ls", "env -S 'node -x'",
            "env 'A=x (y' ls", "ssh host ls", "ssh -p 22 me@host.org 'ls -l'", "watch -n 5 ls", "trap cleanup EXIT", "trap - INT",
            "parallel echo {} ::: a b", "flock /tmp/l ls", "nix build .#x", "script -q log", "bash -euo pipefail -c 'ls'",
            "bash --norc x.sh", "su bob -c ls",
            "bash x.sh '*.md' 'a(b'", r#"find . -exec sh -c 'ls "$1"' _ {} \;"#, r"find . -exec bash x.sh {} \;", "find . -exec sh -c 'ls \"$@\"' _ {} +",
        ],
    );
}

#[test]
fn denials_see_through_every_wrapper() {
    let wrappers = [
        "pkexec", "mise exec --", "gdb --args", "nsenter -t 1 -m", "fakeroot", "setarch x86_64", "taskset 1", "toybox", "busybox",
        "runuser -u x", "unshare -r", "chroot /x", "script -q", "direnv exec .", "ionice -c 3", "setsid", "flock x", "watch", "doas",
        "su x", "strace -f", "ltrace", "valgrind", "parallel", "sudo", "ssh h", "docker run x", "podman run x", "kubectl exec x --",
        "npx", "bunx", "pnpx", "uvx", "nix shell x -c", "systemd-run", "chrt 1", "timeout 5", "nice", "nohup", "xargs", "command", "exec",
    ];
    for wrapper in wrappers {
        none_runs(&denied(), &[&format!("{wrapper} rm x"), &format!("{wrapper} /bin/rm x"), &format!("{wrapper} sh -c rm")]);
        all_run(&denied(), &[&format!("{wrapper} ls x")]);
    }
}

#[test]
fn a_shell_that_reads_its_commands_is_blocked_by_denials() {
    none_runs(
        &denied(),
        &[
            "bash <<'EOF'\nrm x\nEOF", "echo 'rm x' | sh", "echo 'rm x' | sudo sh", "bash <<< 'rm x'", "bash < x", "cat x | bash -s a",
            "echo x | bash -o pipefail", "echo x | bash -", "echo x | bash -e --", "echo x | sh /dev/stdin", "echo x | . /dev/stdin",
            "echo x | { bash; }", "{ sudo bash; } <<< x", "echo x | sh -c 'sh'", "echo x | su", "echo x | su - bob", "echo x | sudo -s",
            "echo x | parallel", "echo x | /bin/sh", "echo x | env A=1 sh", "echo x | xargs sh -c", "echo x | (cd y; zsh)",
            "echo x | busybox sh", "echo x | bash --rcfile y", "echo x |& sh",
        ],
    );
    all_run(
        &denied(),
        &[
            "bash x.sh < y", "echo x | bash x.sh", "echo x | bash -c 'cat'", "command -v bash | head", "find . -name sh | wc -l",
            "command -v zsh || sudo apt install zsh", "cat x | grep sh", "cat <<'E'\nrm x\nE", "python3 - <<'E'\nx\nE", "git log | sort",
            "git archive x | ssh host 'tar x'", "echo x | sudo tee y", "echo x | bash -euo pipefail x.sh",
        ],
    );
}
