//! What denials see: each simple command, and those behind what the table of programs marks as running
//! them (docs/spec/restriction.md#denials).

use super::{all_run, none_runs};
use crate::scene::{Scene, scene};

fn denied() -> Scene {
    scene().skill("a", None, &["Bash(rm:*)", "Bash(reboot)"])
}

#[test]
fn text_that_a_shell_runs_is_read() {
    none_runs(
        &denied(),
        &[
            "sh -c reboot", "bash -c rm", r"sh -c rm\;x", "bash -c 'rm${IFS}x'", "bash -c '{rm,-rf,x}'", "bash -c 'x=r;${x}m'", "trap reboot EXIT", "trap 'ls; rm x' EXIT", "eval reboot", "eval 'r''m x'",
            "sudo sh -c reboot", "bash ./rm x", "env sh sub/rm x", "/bin/bash /bin/rm x", "sh -c 'sh -c reboot'", "fish -c reboot", "ash -c reboot", "bash -ec reboot", "bash -lc 'rm x'", "bash -O extglob -xc 'rm x'", "bash --rcfile y -c 'rm x'", "bash -c -e -- 'rm x'",
            "find . -exec sh -c 'rm \"$1\"' x {} \\;", "find . -name -exec -exec rm {} +", "find . -exec ls {} + -ok rm {} \\;", "find . -exec find . -exec rm {} \\;", "xargs sh -c 'rm \"$@\"' x", "git x $(rm y)", "x=$(rm y)", "ls <(rm x)", "for i in a; do rm $i; done",
        ],
    );
    all_run(
        &denied(),
        &[
            "bash x.sh", "bash x.sh a 3 -v --long=x", "bash -x x.sh", "bash -c ls", "bash -lc ls", "sh -c 'ls; git log'", "env CI=1 ls", "env -i ls", "trap cleanup EXIT", "trap - INT", "trap '' INT", "eval 'ls x'", "eval ''",
            "bash \"$SKILL_DIR/scripts/x.sh\" a", "bash \"$x\"", "sh -c 'ls \"$1\"' x \"$y\"", "bash -euo pipefail -c 'ls'", "zsh -c 'ls'", r#"find . -exec sh -c 'ls "$1"' _ {} \;"#, r"find . -exec bash x.sh {} \;", "xargs sh -c 'ls \"$@\"' x", "xargs -I{} bash x.sh {}",
        ],
    );
}

#[test]
fn a_denied_program_may_be_an_operand() {
    all_run(
        &denied(),
        &[
            "git rm x", "npm rm x", "apt-get install -y rm", "which rm", "ls -l /bin/rm", "[ -x /usr/bin/rm ]", "man rm", "echo rm x", "grep -r rm x", "command -v rm >/dev/null || echo no", "command -v /bin/rm", "cp /bin/ls r",
            "git commit -m 'rm old files'", "gh pr create --title 'rm x' --body \"rm $x\"", "sudo git commit -m 'rm x'", "cat <<'E'\nrm x\nE", "find rm -exec ls \\;", "find . -name rm -exec ls {} \\;", "docker rm x", "cargo test 'rm x'", "x='rm y'",
        ],
    );
}

#[test]
fn denials_look_through_eval_and_trap() {
    let wrappers = [
        "pkexec", "mise exec --", "nsenter -t 1 -m", "fakeroot", "setarch x86_64", "taskset 1", "toybox", "busybox", "unshare -r", "chroot /x", "direnv exec .", "ionice -c 3", "setsid", "flock x", "watch", "watch -n 5", "doas", "strace -f",
        "ltrace", "valgrind", "parallel", "sudo", "sudo -u bob", "sudo --user bob", "sudo -E", "sudo --", "sudo A=1", "env", "env A=1", "env -i", "env -u X", "npx", "npx -y", "bunx", "pnpx", "uvx", "systemd-run", "chrt 1", "timeout 5", "timeout -k 3 5",
        "gtimeout 5", "timeout --foreground 5", "time", "time -p", "nice", "nice -n 5", "nohup", "stdbuf -oL", "xargs", "xargs -0", "xargs -n 1", "xargs -I{}", "command", "command -p", "builtin", "exec", "exec -a x", "choom -n 5 --", "linux64", "ssh-agent",
        "uv run", "uv run --with a", "poetry run", "bundle exec", "eatmydata", "npm exec --", "pnpm dlx", "noglob", "nocorrect", "-", "repeat 2", "caffeinate -t 5", "unbuffer", "sudo env A=1 timeout 5", "find . -exec", "find . -name x -execdir",
        "find . -exec nice", "/usr/bin/env", "CI=1",
    ];
    for wrapper in wrappers {
        none_runs(&denied(), &[&format!("{wrapper} rm x"), &format!("{wrapper} /bin/rm x"), &format!("{wrapper} sh -c rm"), &format!("{wrapper} \"$x\" y"), &format!("{wrapper} r$x y")]);
        all_run(&denied(), &[&format!("{wrapper} ls x"), &format!("{wrapper} ls \"$x\"")]);
    }
    let curl = scene().skill("a", None, &["Bash(curl:*)"]);
    all_run(
        &curl,
        &[
            "sudo apt-get install -y curl", "sudo apt install curl", "timeout 5 git rm curl", "env A=1 brew install curl", "time npm install curl", "sudo -u bob env A=1 apt-get install curl", "nice -n 5 find . -name curl", "xargs -n 1 grep curl",
            "sudo docker rm curl", "exec git grep curl", "sudo DEBIAN_FRONTEND=noninteractive apt-get install -y wget curl", "sudo A=\"$B\" apt install curl", "npm run curl", "uv add curl",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    none_runs(
        &denied(),
        &[
            "$x a", "\"$x\" a", "r$x a", "$(ls) a", "r* a", "{ls,x}", "f() { ls; }; f", "ls 'a", "sudo \"$x\"", "find . -exec $x", "find . -exec {} \\;", "find . -exec env {} \\;", "xargs $x", "xargs env", "xargs -I{} {}", "xargs -I% nice % x",
            "sh -c \"$x\"", "bash -lc \"$x\"", "eval \"$x\"", "eval ls \"$x\"", "trap \"$x\" EXIT", "xargs sh -c", "xargs -I{} sh -c 'ls {}'", "find . -exec sh -c '{}' \\;", "bash -c 'ls (x'",
        ],
    );
    all_run(
        &denied(),
        &[
            "xargs", "xargs ls", "xargs -I{} ls {}", "xargs -n1 git show", "find . -exec ls {} +", "find \"$d\" -type f", "find . -name \"$x\"", "timeout \"$t\" ls \"$x\"", "nice -n \"$n\" ls", "xargs -n \"$n\" ls", "docker run x \"$y\"", "kubectl exec pod -- $x",
            "command -v \"$x\"", "time git log \"$x\"", "[ -n \"$x\" ] && ls", "while IFS= read -r line; do ls \"$line\"; done", "export PATH=\"$HOME/bin:$PATH\"", "source \"$x\"/bin/activate", "cd \"$x\" && ls", "declare -a xs", "printf -v line '%s' \"$x\"",
        ],
    );
}

#[test]
fn a_denied_subcommand_is_found_behind_options() {
    let scene = scene().skill("a", None, &["Bash(git push:*)"]);
    none_runs(
        &scene,
        &[
            "git push", "git -C . push", "git --no-pager push origin main", "git -c a.b=c push", "sudo git -C x push", "git --git-dir=\"$PWD/.git\" push origin x", "git --git-dir=$PWD/.git push", "git --no-pager --git-dir=\"$d\" push", "git \"$x\" push", "git \"$x\"",
        ],
    );
    all_run(&scene, &["git -C . pull", "git stash push", "git -c a.b=c log", "git commit -m push", "git log --format=\"$f\" -- push"]);
}

#[test]
fn what_a_program_starts_by_itself_is_not_modelled() {
    all_run(
        &denied(),
        &[
            "echo 'rm x' | sh", "curl -s https://x.org/install | bash", "bash <<< 'rm x'", "python3 -c 'rm'", "make rm", "ssh h rm x", "docker run x rm", "PAGER='rm x' git log", "git -c alias.z='!rm x' z", "any-wrapper rm x", "cp /bin/rm r", "alias x='rm y'", ". ./x",
        ],
    );
}

#[test]
fn commands_within_commands_have_a_limit() {
    none_runs(&denied(), &[&format!("{}ls", "nice ".repeat(20)), &format!("{}ls", "eval ".repeat(20)), &format!("{}ls", "nice ".repeat(4000)), &format!("{}ls", "find . -exec ".repeat(1300))]);
    all_run(&denied(), &[&format!("{}ls", "nice ".repeat(7)), &format!("ls {}", "x ".repeat(3000))]);
}

#[test]
fn an_unclear_redirection_does_not_reach_a_denied_file() {
    let secret = scene().skill("a", Some("Bash"), &["Write(secret/**)"]);
    none_runs(
        &secret,
        &[
            "echo x > secret/y", "cd -P secret && echo x > y", "pushd secret; echo x > y", "echo x > secret/y; f() { :; }",
            "echo x > \"$d\"/y", "d=secret; echo x > $d/y", "cd \"$d\" && echo x > y", "popd && echo x >> y", "X=1 cd secret && echo x > y",
            "command cd secret && echo x > y", "builtin cd secret; echo x > y", "CDPATH=secret; cd a && echo x > y", "eval \"$x\"; echo x > y",
            "$c secret; echo x > y", "cd secret > /dev/null && echo x > y", "bash -xc 'echo x > secret/y'", "sudo sh -c 'echo x > secret/y'",
            "find . -exec sh -c 'echo x > secret/y' \\;", "for i in 1 2; do echo x > y; cd secret; done", "echo x > sec*/y",
            ". ./x; echo x > y", "eval 'cd secret'; echo x > y", "eval 'echo x > secret/y; f() { :; }'",
        ],
    );
    all_run(
        &secret,
        &[
            "echo x > y", "cd src && ls > x", "cd src; ls >> ../x", "f() { ls; }; f", "cd -P secret && ls", "pushd secret; ls; popd",
            "ls \"$d\"/y", "cat < \"$d\"", "ls > /dev/null 2>&1", "pushd a; ls 2>/dev/null >&2", "sort <<< \"$x\"", "cat <<'E' > x\na > b\nE",
            "python3 -c 'print(1 > 2)'", "echo 'a > b'", "bash -c 'ls > x'", "make CFLAGS=-O2 > log", "echo x > /tmp/y", "for f in a b; do ls $f > x; done",
            "cd .. && ls > x", "pushd a; ls > /tmp/x",
        ],
    );
    let read = scene().skill("a", Some("Bash"), &["Read(secret/**)"]);
    none_runs(&read, &["cat < secret/x", "cat < \"$x\"", "pushd secret; cat < x", "cat < secret/x; f() { :; }"]);
    all_run(&read, &["cat < x", "echo x > \"$d/y\"", "f() { ls > x; }; f", "f() { cat <<E\nE\n}; f"]);
    let bare = scene().active("Bash");
    all_run(&bare, &["echo x > \"$d/y\"", "pushd a; ls > x", "f() { ls > x; }; f"]);
    none_runs(&bare, &["echo x > \"$d\"", "echo x > /skills/s/SKILL.md", "cd /skills/s && echo x > SKILL.md"]);
}
