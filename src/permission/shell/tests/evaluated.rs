//! Denials under a wide grant (docs/spec/restriction.md#unknown-programs): what is not known never
//! stands where a program does, and nothing evaluates text that is not plain.

use super::{all_run, none_runs};
use crate::host::shell::Language::BashOrZsh;
use crate::permission::scene::{Scene, scene};

fn denied() -> Scene {
    scene().skill("a", Some("Bash"), &["Bash(rm:*)"])
}

#[test]
fn a_program_behind_a_wrapper_is_known() {
    let wrappers = [
        "sudo", "sudo -u bob", "sudo -E", "sudo --", "doas", "env", "env A=1", "env -i", "env -u X", "timeout 5", "timeout -k 3 5", "time", "time -p", "nice", "nice -n 5", "nohup", "stdbuf -oL", "command", "exec", "exec -a x",
        "builtin", "xargs", "xargs -0", "xargs -n 1", "xargs -I{}", "watch", "setsid", "ionice -c 3", "chrt 1", "taskset 1", "setarch x86_64", "chroot /x", "unshare -r", "nsenter -t 1 -m", "busybox", "toybox", "npx", "npx -y",
        "sudo env A=1 timeout 5", "noglob", "nocorrect", "-", "repeat 2", "strace -f", "systemd-run", "pkexec", "direnv exec .", "docker run alpine", "docker run --rm -v x alpine", "docker exec c", "kubectl exec pod --", "find . -exec",
        "find . -name x -execdir", "find . -exec nice", "bash -c 'ls' | xargs", "caffeinate -t 5", "unbuffer", "numactl -N 1", "prlimit --nproc=1",
    ];
    for wrapper in wrappers {
        for word in ["$x", "\"$x\"", "$(ls)", "\"$(ls)\"", "`ls`", "$1", "\"$@\"", "$@", "${x}", "r$x", "\"${x:-ls}\"", "r?", "{rm,x}", "/bin/r*", "~/x$y"] {
            none_runs(&denied(), &[&format!("{wrapper} {word}"), &format!("{wrapper} {word} y z")]);
        }
        none_runs(&denied(), &[&format!("{wrapper} rm x")]);
        all_run(&denied(), &[&format!("{wrapper} ls x")]);
    }
    none_runs(
        &denied(),
        &[
            "a=-exec; b=rm; find . \"$a\" nice \"$b\" x \\;", "find . \"$a\" rm x \\;", "find . \"$a\" \"$b\" x", "find $x -name y", "find . -exec {} \\;", "find . -exec env {} \\;", "find . -exec nice {} +",
            "echo rm x | xargs env", "echo rm x | xargs nice", "echo rm x | xargs timeout 5", "xargs command", "xargs -L1 env", "xargs sudo -u bob", "xargs find .", "xargs -I{} {}", "xargs -I{} env {}", "xargs -I% nice % x",
            "xargs sh", "xargs -n1 bash", "xargs -0 sh -e", "xargs su -c", "xargs -I{} su -c '{}'", "xargs ssh host", "xargs parallel", "xargs xargs", "xargs env A=1", "xargs busybox", "xargs -I X sudo X",
        ],
    );
    all_run(
        &denied(),
        &[
            "xargs", "xargs ls", "xargs -I{} ls {}", "xargs -n1 git show", "find . -exec ls {} +", "find \"$d\" -type f", "xargs nice ls", "xargs -I{} env A=1 ls {}", "xargs -I{} sudo ls {}",
            "sudo ls \"$x\"", "sudo -u \"$U\" ls $x", "env A=\"$x\" ls", "timeout \"$t\" ls \"$x\"", "timeout 5 git show \"$x\" $y", "nice -n \"$n\" ls", "xargs -n \"$n\" ls", "xargs -0 git show \"$x\"", "find . -name \"$x\"", "find \"$d\" -name \"$x\"",
            "find . -type f -name \"*.$x\" -exec ls {} \\;", "find . -exec git show \"$x\" {} +", "docker run -v \"$PWD:/w\" alpine ls \"$x\"".replace("-v \"$PWD:/w\" ", "").as_str(), "kubectl get pods -n \"$ns\"", "docker ps --filter \"$x\"", "sudo -u bob env A=1 ls \"$x\"",
            "command -v \"$x\"", "time git log \"$x\"", "chroot /x ls \"$y\"", "git log \"$x\"", "npx tsc \"$x\"", "find ./\"$x\" -name y", "find . -path \"$a\" -o -name \"$b\"", "bash x.sh \"$f\"",
        ],
    );
}

#[test]
fn nothing_evaluates_text_that_is_not_plain() {
    none_runs(
        &denied(),
        &[
            "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "x=-v; test \"$x\" 'a[$(rm x)]'", "[ \"$x\" 'a[$(rm x)]' ]", "test $x", "[[ -v 'a[$(rm x)]' ]]", "[[ 'a[$(rm x)]' -eq 0 ]]", "[ -t 'a[$(rm x)]' ]", "[[ -t 'a[$(rm x)]' ]]",
            "printf -v 'a[$(rm x)]' y", "x=-v; printf \"$x\" 'a[$(rm x)]' y", "printf -v \"$x\" y", "printf -v RANDOM y", "read 'a[$(rm x)]'", "read \"$x\"", "read $x", "read -r RANDOM <<< 'a[$(rm x)]'", "read -p \"$x\" y",
            "declare -i x='a[$(rm x)]'", "typeset -i x", "declare -n r=x", "declare 'a[$(rm x)]=1'", "declare \"$x\"", "local x='a[$(rm x)]'", "let 'x=a[$(rm x)]'", "y='a[$(rm x)]'; let x=y", "let i++",
            "export 'a[$(rm x)]=1'", "export \"$x\"", "export $x", "export A=$x", "readonly \"$x\"", "export PS4='$(rm x)'", "export BASH_ENV=x", "export ENV=x", "export OPTIND='a[$(rm x)]'", "declare -x PS4=x", "export PS4",
            "RANDOM='a[$(rm x)]'", "SECONDS=x", "OPTIND='a[$(rm x)]'", "HISTCMD=x", "for RANDOM in 'a[$(rm x)]'; do :; done", "for OPTIND in a; do :; done", "SRANDOM=\"$x\"", "COLUMNS='path[$(rm x)]' ls", "mapfile RANDOM",
            "PS4='$(rm x)'", "PS4='$(rm x)' bash -c ls", "PS4=x; set -x; ls", "BASH_ENV=x bash -c ls", "ENV=x sh -c ls", "env PS4='$(rm x)' bash x.sh", "env BASH_ENV=x ls", "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", "BASH_ENV=x", "sudo env ENV=x sh x.sh",
            "ZDOTDIR=x zsh -c ls", "PROMPT_COMMAND=x bash x.sh", "SHELLOPTS=xtrace bash x.sh", "for PS4 in x; do :; done", "read PS4 <<< '$(rm x)'", "printf -v PS4 x",
            "eval \"$x\"", "eval ls \"$x\"", "eval $(ls)", ". \"$x\"", "source $x", "trap \"$x\" EXIT", "trap 'rm x' EXIT", "alias ls=rm", "alias x='rm y'", "alias \"$x\"", "hash -p /bin/rm ls", "hash \"$x\"", "hash ls=/bin/rm", "enable -f ./x y", "enable \"$x\"",
            "shopt -s \"$x\"", "compgen -C 'rm x'", "compgen -C rm", "compgen -W '$(rm x)'", "compgen -W \"$x\"", "complete -C rm x", "mapfile -C rm -c 1 x", "mapfile \"$x\"", "readarray -t -C 'rm x' y", "readarray $x", "mapfile 'a[$(rm x)]'", "unset 'a[$(rm x)]'", "unset \"$x\"",
            "getopts a 'b[$(rm x)]'", "getopts \"$x\" y", "wait -p 'a[$(rm x)]'", "jobs -x rm y", "fc -s a=b", "bind -x '\"a\": rm x'", "command test -v 'a[$(rm x)]'", "builtin printf -v 'a[$(rm x)]' y", "builtin let x=y", "command builtin read \"$x\"",
            "emulate sh -c 'rm x'", "integer x=y", "float x=y", "print -v x y", "print -P '$(rm x)'", "zargs x -- rm", "autoload -X x", "repeat 'path[$(rm x)]' ls", "repeat \"$x\" ls",
            "bash -x x.sh", "bash --rcfile x y.sh", "bash --norc x.sh", "bash -lc ls", "bash -ic ls", "sh -c \"$x\"", "sh -c -- ls", "sh - -c ls", "sh -c \"rm x\"", "bash -O extglob -c ls", "zsh -c \"$x\"", "zsh -fc ls", "zsh -c 'rm x'", "zsh -c 'ls =rm'", "fish -c ls", "zsh -c '=rm x'",
            "xargs sh -c {}", "xargs -I{} sh -c {}", "xargs -I{} sh -c 'ls {}'", "xargs -I% sh -c 'ls %'", "xargs -I X bash -c 'X'", "xargs -i sh -c 'a {}'", "xargs --replace=Y sh -c 'Y'", "find . -exec sh -c '{}' \\;", "find . -exec bash -c 'ls {}' \\;", "xargs sh -c", "xargs bash -ec",
            "parallel sh -c {} ::: a", "xargs -J % sh -c '%'", "sudo xargs -I{} sh -c '{} x'",
            "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "/lib/ld-musl-x86_64.so.1 /bin/rm x", "ld.so /bin/ls", "sudo /lib64/ld-linux-x86-64.so.2 /bin/ls", "/lib64/ld-2.31.so /bin/sh -c ls", "env /lib/ld-linux.so.2 x", "/lib64/ld-linux-x86-64.so.2 $x",
        ],
    );
    all_run(
        &denied(),
        &[
            "test -f x", "[ -n \"$x\" ] && ls", "[ \"$a\" = b ]", "[ \"$x\" -gt 3 ]", "[ -t 1 ]", "[[ -t 0 ]]", "[[ -n \"$x\" ]]", "printf '%s\\n' \"$x\"", "printf 'a %d\\n' 3", "printf -v line '%s' \"$x\"", "read -r x y", "read -r -p 'Go on? ' x", "while IFS= read -r line; do ls \"$line\"; done",
            "declare -a xs", "declare x=1", "typeset -r y=2", "local z=3", "export A=\"$x\"", "export PATH=\"$HOME/bin:$PATH\"", "export CI=1 NODE_ENV=test", "export A='b c'", "readonly x=\"$y\"", "export A", "PATH=/x:$PATH ls", "IFS=, read -r a b <<< \"$x\"", "A=$x ls", "x='a[$(ls)]'",
            ". ./venv/bin/activate", "source x.sh \"$y\"", "alias", "hash -r", "shopt -s nullglob", "mapfile -t lines < x", "readarray -t xs < y", "unset x", "trap 'ls' EXIT", "trap - INT", "eval 'ls x'", "exit $?", "exit 1", "exit x", "wait $!", "SECONDS=0", "OPTIND=1",
            "bash x.sh", "bash -e x.sh", "bash -c 'ls'", "sh -c 'ls \"$1\"' x \"$y\"", "zsh -c 'ls'", "zsh x.sh", "xargs -I{} git show {}", "xargs sh -c 'ls \"$@\"' x", "find . -exec sh -c 'ls \"$1\"' x {} \\;", "xargs -I{} bash x.sh {}", "ldd x", "ld -o x y.o", "echo 'rm x'",
            "getopts ab opt", "umask 022", "ulimit -n 5", "type \"$x\"", "PS1=x ls", "set -euo pipefail", "shift 2", "cd \"$x\" && ls",
        ],
    );
}

#[test]
fn under_zsh_numbers_are_written_as_such() {
    let zsh = denied().shell(BashOrZsh, false);
    none_runs(
        &zsh,
        &["exit y", "return y", "shift y", "break y", "continue y", "[ -t y ]", "[[ -t y ]]", "printf %d y", "printf '%x' y", "printf -- %d y", "path=/x; ls", "ls $x[y]", "{ ls } always { rm x }", "ls &! rm x", "=rm x", "echo $~x", "SECONDS=y", "COLUMNS=y"],
    );
    all_run(&zsh, &["exit 1", "exit $?", "[ -t 1 ]", "printf %d 3", "printf '%s\n' y", "shift 2", "ls \"$x\"", "SECONDS=0"]);
    none_runs(
        &zsh,
        &[
            "set -A \"path[\\$(rm x)]\" x", "private \"x[\\$(rm x)]=1\"", "vared \"x[\\$(rm x)]\"", "getln \"x[\\$(rm x)]\"",
            "zparseopts -a \"x[\\$(rm x)]\" a", "zstyle -s a b \"x[\\$(rm x)]\"", "zregexparse a b x '/x/' '{rm x}'",
            "zformat -f a '%3(a.b.c)' \"a:path[\\$(rm x)]\"", "zmodload zsh/datetime; strftime -s \"x[\\$(rm x)]\" %F 1",
            "zmodload zsh/system", "sysopen -w -u \"x[\\$(rm x)]\" f", "zstat -A \"x[\\$(rm x)]\" f",
        ],
    );
    all_run(&zsh, &["set -eu", "set -- '[$(x)]'", "ls '[a-z]*'", "zsh -c 'set -e; ls'"]);
    let inside = ["zsh -c 'set -A \"path[\\$(rm x)]\" x'", "zsh -c 'private \"x[\\$(rm x)]=1\"'"];
    none_runs(&denied(), &inside);
}
