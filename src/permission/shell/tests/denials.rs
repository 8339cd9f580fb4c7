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
            "su -c rm", "trap reboot EXIT", "env -S\"rm x\"", "env -S rm", "env -u X -S 'rm x'", "env A=1 -S 'rm x'", "env -iS 'rm x'", "env --split-string='rm x'",
            "env --split='rm x'", "env -S '-i rm x'", "env -S '-S rm'", r"env -S 'sudo\_rm'", "env -S \"$x\"", "env -S\"a$x\"",
            "su -crm", "su --command=reboot", "runuser -c reboot", "script -qc reboot", "script --command=rm", "ssh host reboot",
            "watch reboot", "eval reboot", "flock x -c reboot", "sudo sh -c reboot", "sh -c 'sh -c reboot'", "mise x -c reboot",
            "parallel reboot ::: a", "fish -c reboot", "ash -c reboot", "tmux new reboot", "bash -ec reboot",
            "su -c'rm x'", "su --command='rm x'", "script -qc'rm x' /dev/null", "ssh -o ProxyCommand='rm x' h", "ssh -oProxyCommand='rm x' h",
            "yash -c reboot", "pwsh -c reboot", "batch <<< reboot", "echo reboot | batch", "crontab - <<< '* * * * * reboot'", "choom -n 5 -- bash -c reboot",
        ],
    );
    all_run(
        &denied(),
        &[
            "bash x.sh", "bash x.sh a 3 -v --long=x", "bash -c ls", "sh -c 'ls; git log'", "env CI=1 ls", "env -i ls", "env CI=1 ls -lS", "env ls -S", "env -S 'node -x'",
            "env 'A=x (y' ls", "ssh host ls", "ssh -p 22 me@host.org 'ls -l'", "watch -n 5 ls", "trap cleanup EXIT", "trap - INT",
            "parallel echo {} ::: a b", "flock /tmp/l ls", "nix build .#x", "script -q log", "bash -euo pipefail -c 'ls'",
            "su bob -c ls", "command -v rm", "command -v rm >/dev/null || echo no", "ssh -o 'ProxyCommand=ssh -W %h:%p b' h ls", "git rm x", "npm rm x", "apt-get install -y rm", "which rm", "ls -l /bin/rm", "[ -x /usr/bin/rm ]", "man rm", "echo rm x", "grep -r rm x", "gh pr view rm",
            "python3 tool.py rm", "make rm", "npm run build -- rm.js", "cargo test rm", "npm install a b c rm", "docker rm x", "gh run watch \"$x\"",
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
        "choom -n 5 --", "linux64", "ssh-agent", "uv run", "uv tool run", "poetry run", "bundle exec", "start-stop-daemon --start --exec",
        "proot -r /x", "eatmydata", "npm exec --", "pnpm dlx", "git bisect run", "git submodule foreach", "docker -H a --config b compose -f c exec web", "no-such-wrapper -x 5 --", "./wrap.sh",
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
            "echo x | bash -o pipefail", "echo x | bash -", "echo x | bash -e --", "echo x | sh /dev/stdin", "echo x | bash /dev/./stdin", "echo x | bash //dev/stdin", "echo x | . /dev/./stdin", "find . -exec sh \\; <<< x", "echo x | . /dev/stdin",
            "echo x | { bash; }", "{ sudo bash; } <<< x", "echo x | sh -c 'sh'", "echo x | su", "echo x | su - bob", "echo x | sudo -s",
            "echo x | parallel", "echo x | /bin/sh", "echo x | env A=1 sh", "echo x | xargs sh -c", "echo x | (cd y; zsh)",
            "echo x | busybox sh", "echo x | bash --rcfile y", "echo x |& sh",
        ],
    );
    all_run(
        &denied(),
        &[
            "bash x.sh < y", "bash \"$SKILL_DIR/scripts/x.sh\" a", "sh ~/x/y.sh", "readlink -f /usr/bin/rm", "git \"`ls`\"", "find rm -exec ls \\;", "find . -name rm -exec ls {} \\;", "ls 1~2p", "echo x | bash x.sh", "echo x | bash -c 'cat'", "command -v bash | head", "find . -name sh | wc -l",
            "command -v zsh || sudo apt install zsh", "cat x | grep sh", "cat <<'E'\nrm x\nE", "python3 - <<'E'\nx\nE", "git log | sort",
            "git archive x | ssh host 'tar x'", "echo x | sudo tee y", "echo x | bash -euo pipefail x.sh",
        ],
    );
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

#[test]
fn what_is_run_from_a_file_or_standard_input_is_told_apart() {
    none_runs(
        &denied(),
        &[
            "at now <<< 'rm x'", "echo rm x | at now + 1 minute", "at -m now <<E\nrm x\nE", "echo rm x | batch", "echo rm x | at -f /dev/stdin now", "echo rm x | at -f \"$x\" now", "sudo at noon < x", "at -q b noon < x",
            "source \"$x\"", "source $x/y", "source \"$@\"/y", ". <(ls)", "echo x | source /dev/stdin", ". \"$x/stdin\"", ". \"$x/0\"", ". \"$x/dev/tty\"", ". \"$x/proc/y\"", ". \"$x/\"", ". ~", ". \"$x.sh\"", ". x/\"$y\"",
        ],
    );
    all_run(
        &denied(),
        &[
            "at now -f x.sh", "at -l", "echo x | at -c 3", "at -d 3 < x",
            "source \"$HOME/.cargo/env\"", ". ~/.nvm/nvm.sh", "[ -s \"$NVM_DIR/nvm.sh\" ] && . \"$NVM_DIR/nvm.sh\"", "source \"$x\"/bin/activate", ". \"$(dirname \"$0\")/lib.sh\"",
        ],
    );
}

#[test]
fn what_may_be_a_command_line_is_read_as_one() {
    none_runs(
        &denied(),
        &[
            "npx -c 'rm x'", "npm exec -c 'rm x'", "npx -c'rm x'", "npx --call='rm x'", "git submodule foreach 'rm x'", "hyperfine 'rm x'", "hyperfine ls 'cd y; rm x'", "watchexec 'rm x'", "watchexec -e js -- 'rm x'", "nodemon --exec 'rm x'",
            "nodemon --exec='rm x'", "concurrently \"ls\" \"rm x\"", "ls | entr 'rm x'", "ls | entr rm /_", "sudo hyperfine 'rm x'", "hyperfine 'hyperfine \"rm x\"'", "hyperfine 'sh -c \"rm x\"'", "hyperfine 'sudo rm'", "hyperfine 'ls;reboot'", "hyperfine '{rm,x}' 'reboot '",
            "hyperfine \"rm $x\"", "hyperfine '$x; rm y'", "hyperfine 'PS4=a ls; rm y'", "hyperfine 'eval \"$x\"; rm y'", "hyperfine 'ls $(rm x)'", "some-tool -m 'use `rm x` now'", "git bisect run 'rm x'", "hyperfine --prepare='rm x' ls", "docker run x 'rm y'",
            "docker run --entrypoint=rm x", "docker run --entrypoint rm x", "some-tool --pager=/bin/rm", "some-tool --pager='rm x'", "sudo PAGER=rm git log", "env PAGER=rm git log", "env PAGER='rm x' git log", "env 'PAGER=rm x' git log", "sudo env PAGER=\"rm $x\" git log",
            "GIT_EXTERNAL_DIFF=rm git diff", "GIT_SSH_COMMAND='rm x' git fetch", "PAGER='rm x' git log", "PAGER=\"rm $x\" git log", "PAGER='sh -c \"rm x\"' git log", "EDITOR=rm git commit", "LESSOPEN='rm x' less y", "LESSOPEN='|rm %s' less y", "GIT_CONFIG_VALUE_0='!rm x' git z",
            "export PAGER='rm x'", "export A=1 PAGER=rm", "export PAGER=\"rm $x\"", "declare -x PAGER='rm x'",
            "cp /bin/rm r; ./r x", "ln -s /usr/bin/rm r", "install /bin/rm r", "cat /bin/rm > r", "cat < /bin/rm > r", "dd if=/bin/rm of=r", "cp -t y /sbin/reboot", "cp /bin/./rm r", "git diff /usr/local/bin/rm", "python3 x.py /bin/rm", "sudo cp /bin/rm r", "find /bin/rm -exec cp {} r \\;",
        ],
    );
    all_run(
        &denied(),
        &[
            "npx -c 'ls x'", "hyperfine 'ls x' 'git rm y'", "concurrently 'npm run a' 'npm run b'", "nodemon --exec 'ts-node x.ts'", "git submodule foreach 'git pull'", "some-tool -m \"it's (done\"", "some-tool -m 'see $x and \"${y\"'", "some-tool -m 'if it is ready'",
            "git commit -m 'rm old files'", "git commit -m \"rm $x\"", "gh pr create --title 'rm x' --body \"rm $x\"", "echo 'rm x'", "cargo test 'rm x'", "sudo git commit -m 'rm x'",
            "GIT_EXTERNAL_DIFF=difft git diff", "GIT_SSH_COMMAND='ssh -i k' git fetch", "PAGER=cat git log", "A='it (is' ls", "A=\"$(ls)\" ls", "X=$y git log", "export PAGER=less", "export A='it (is'", "x='rm y'", "msg='rm old'; git commit -m \"$msg\"", "docker run --entrypoint=sh x y.sh", "env PAGER=cat git log",
            "cp /bin/ls r", "ls /bin", "cp x/rm y", "cat docs/rm", "ls /usr/share/doc/rm", "command -v /bin/rm", "cat /home/bin/rm/x",
        ],
    );
    // Nesting that ends the limits is refused, prose or not.
    let (mut nested, mut many) = ("rm x".to_owned(), "x ".repeat(300));
    for _ in 0..5 {
        nested = format!("hyperfine {}", nested.replace('\\', "\\\\").replace(' ', "\\ "));
        none_runs(&denied(), &[&nested]);
    }
    all_run(&denied(), &[&format!("some-tool -m '{many}'")]);
    many.push_str("rm x");
    none_runs(&denied(), &[&format!("some-tool -m '{many}'"), &format!("some-tool -m '{}'", many.repeat(10))]);
}

#[test]
fn what_is_certainly_no_program_may_be_unknown() {
    none_runs(
        &denied(),
        &[
            "docker run x \"$y\"", "docker run --rm x \"$y\"", "docker run -it x \"$y\"", "docker run -v \"$PWD:/w\" x \"$y\"", "docker exec web $c", "docker exec -it web \"$c\"", "docker exec -e A=\"$B\" web \"$c\"", "docker run -v $x y ls", "docker run --some \"$x\" y ls",
            "docker run --some x \"$y\"", "podman exec -l \"$x\"", "podman exec -l ls \"$x\"", "kubectl exec pod -c \"$C\" -- \"$x\"", "kubectl exec pod -- $x", "uv run \"$x\"", "uv run --with a \"$x\"", "uv run -m \"$x\"", "uv run --some \"$x\"", "timeout --foreground 5 \"$x\"", "chroot A=b \"$x\"",
            "docker run -e A=1 img rm x", "kubectl exec pod -c \"$C\" -- rm x", "uv run --with \"$x\" rm y", "docker run --name \"$n\" img sudo \"$x\"",
        ],
    );
    all_run(
        &denied(),
        &[
            "docker run -v \"$PWD:/w\" -e X=\"$X\" --rm img ls", "docker run -it --name \"$n\" img ls", "docker run --rm -it -w /w -u \"$U\" img ls \"$x\"", "docker exec -e A=\"$B\" web ls", "docker exec -it \"$c\" ls", "docker run --env A=\"$B\" img ls", "docker run --some A=\"$B\" img ls", "docker run -d --network \"$n\" img",
            "podman run --rm -v \"$(pwd)\":/w img ls", "docker compose exec -T web ls", "docker compose -f c run --rm web ls \"$x\"", "kubectl exec -n \"$NS\" pod -c \"$C\" -- ls", "kubectl exec -it \"$POD\" --namespace \"$NS\" -- ls \"$x\"",
            "uv run --with \"$x\" python y.py", "uv run -p \"$v\" pytest \"$x\"", "uv run --project \"$p\" -m pytest", "timeout --foreground 5 ls",
        ],
    );
}

#[test]
fn behind_a_known_wrapper_the_inner_program_decides() {
    let curl = scene().skill("a", None, &["Bash(curl:*)"]);
    none_runs(
        &curl,
        &[
            "sudo curl x", "sudo -u bob curl x", "sudo env A=1 curl x", "timeout 5 sudo nice curl x", "sudo some-unknown curl", "sudo --user git curl x", "sudo -c git curl x", "env -P git curl x", "env -a git curl x", "env -f git curl x", "env -S 'sudo -u' git curl x", "env -iS'sudo -u' git curl x", "xargs -J git curl x",
            "timeout --some git 5 curl x", "sudo sh -c 'curl x'", "sudo find . -exec curl {} \\;", "sudo git bisect run curl x", "sudo npm exec curl", "watch git curl", "nsenter -t 1 git curl", "sudo \"$x\" git curl", "sudo -$x git curl", "sudo /usr/bin/env curl", "sudo command curl x", "timeout 5 watch curl",
            "nice -n 5 docker run x curl", "sudo -s curl x", "env A=curl git log", "exec -a git curl x",
        ],
    );
    all_run(
        &curl,
        &[
            "sudo apt-get install -y curl", "sudo apt install curl", "timeout 5 git rm curl", "env A=1 brew install curl", "time npm install curl", "sudo -E apt-get install curl", "sudo -u bob env A=1 apt-get install curl", "sudo -H pip install curl", "nice -n 5 find . -name curl", "xargs -n 1 grep curl",
            "sudo docker rm curl", "exec git grep curl", "command git log curl", "sudo DEBIAN_FRONTEND=noninteractive apt-get install -y wget curl", "sudo A=\"$B\" apt install curl", "nohup python3 x.py curl",
        ],
    );
}

#[test]
fn a_shell_is_fed_by_every_way_to_its_input() {
    none_runs(
        &denied(),
        &[
            "echo 'rm x' > >(bash)", "exec 3> >(sh); echo 'rm x' >&3", "echo 'rm x' >> >(sh)", "printf 'rm x' > >(sudo -s)", "echo rm | bash /tmp/../dev/stdin",
            "echo rm | bash ../../../../dev/stdin", "echo rm | . /tmp/../dev/stdin", "echo rm | . -- /dev/stdin", "source -- /dev/stdin <<< rm", "echo rm | linux64",
            "echo rm | setarch x86_64", "echo rm | i386 -v", "echo rm | chroot /x", "echo rm | sudo -su root", "echo rm | sudo -Es", "echo rm | sudo --log", "echo rm | doas -s",
            "echo rm | zsh5", "echo rm | bash-static",
        ],
    );
    all_run(&denied(), &["bash", "echo x | su -c ls bob", "echo x | runuser bob -c ls", "echo x | bash dev/run.sh", "echo x > >(cat)", "echo x | sudo tee f", "echo x | . venv/bin/activate", "echo x | chroot /x ls"]);
}

#[test]
fn a_test_of_plain_words_is_no_evaluation() {
    all_run(&denied(), &["[ a === b ]", "test a -foo b", "test a b -c"]);
    none_runs(&denied(), &["test a -v", "[ -t x ]", "test a -R", "test 'a[x]' -foo b"]);
}

#[test]
fn options_of_a_builtin_hide_no_other() {
    none_runs(
        &denied(),
        &[
            "builtin -- printf -v PS4 %s '$(rm x)'", "command -p test -v 'a[$(rm x)]'", "command -- test -v 'a[$(rm x)]'", "command -p declare -i x='a[$(rm x)]'",
            "command -p read 'a[$(rm x)]' <<< 1", "time -- let 'a[$(rm x)]'", "command -p typeset -n r=PS4", "command -p jobs -x rm x", "command -p hash -p /x/r ls",
            "command -p source <(echo rm x)", "env BASH_''FUNC_ls%%='() { rm x; }' bash -c ls", "env BASH''_ENV=/dev/stdin bash -c ls <<< 'rm x'",
            "sudo 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", "sudo BASH_ENV=x bash -c ls",
        ],
    );
    all_run(&denied(), &["command -p ls", "command -- git log", "time -p ls", "sudo A=1 ls"]);
}

#[test]
fn a_program_under_another_name_is_denied() {
    none_runs(
        &denied(),
        &[
            "exec -a rm busybox x", "(exec -a rm busybox x)", "exec -ca rm busybox x", "exec -cl -a rm x", "env -i -a rm busybox", "env -a rm busybox x", "env --argv0=rm busybox x", "env --arg rm busybox x",
            r"gfind . -exec rm {} \;", r"gfind . -exec sh -c 'rm x' \;", "cp /usr/bin/X11/rm r", "cp /bin/{rm,ls} d", "cp /bin/rm{,} .", "curl file:///bin/rm -o q", "npm explore foo -- rm x", "cmake -E env rm x", "cmake -E time rm x",
            "cmake -E chdir . rm x", "meson devenv -C b rm x", "podman unshare rm x", "composer exec rm x", "brew bundle exec rm x",
        ],
    );
    all_run(&denied(), &["exec ls", "env A=1 ls -a", "gfind . -name x", "cmake -E copy a b", "meson compile rm", "brew install rm", "composer require rm"]);
}

#[test]
fn a_denied_subcommand_is_found_behind_other_options() {
    let scene = scene().skill("a", None, &["Bash(git push:*)", "Bash(curl:*)"]);
    none_runs(
        &scene,
        &[
            "git push", "git -C . push", "git --no-pager push origin main", "git -c a.b=c push", "sudo git -C x push",
            "git --git-dir=\"$PWD/.git\" push origin x", "git --git-dir=$PWD/.git push", "git --no-pager --git-dir=\"$d\" push", "git -$x push",
            "git \"--no-pager\"$y push", "git -{P,p} push", "git \"$x\" push", "git \"$x\" . push", "just --command curl x",
        ],
    );
    all_run(&scene, &["git -C . pull", "git stash push", "git -c a.b=c log", "ls /usr/bin/cur*", "cp bin/*.sh x", "cp /usr/local/bin/node* out", "git commit -m push", "git log --format=\"$f\" -- push"]);
}

#[test]
fn no_option_makes_assignments_of_arguments() {
    none_runs(
        &denied(),
        &[
            "set -k; git diff GIT_EXTERNAL_DIFF='rm x'", "set -ek; ls", "set -o keyword; ls", "set \"$x\"; ls", "shopt -so keyword; ls",
        ],
    );
    all_run(&denied(), &["set -euo pipefail; ls", "set -- a \"$x\" -k; ls", "set +x; ls", "shopt -s nullglob; ls"]);
}
