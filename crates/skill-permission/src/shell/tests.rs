//! The rules for commands (docs/spec/restriction.md#shell-commands), sentence by sentence: commands
//! under a list, and the decisions about them.

mod boundaries;
mod classes;
mod constants;
mod denials;
mod effects;
mod honest;
mod places;
mod shells;

use crate::scene::{Scene, scene};
use serde_json::json;

pub fn git() -> Scene {
    scene().active("Bash(git:*) Read")
}

#[track_caller]
pub fn all_run(scene: &Scene, commands: &[&str]) {
    for command in commands {
        let refused = (!scene.runs(command)).then(|| scene.refusal("shell_exec", &json!({ "command": command })));
        assert_eq!(refused, None, "{command}");
    }
}

#[track_caller]
pub fn none_runs(scene: &Scene, commands: &[&str]) {
    for command in commands {
        assert!(!scene.runs(command), "accepted: {command}");
    }
}

#[track_caller]
fn refused_for(scene: &Scene, command: &str, part: &str) {
    let message = scene.refusal("shell_exec", &json!({ "command": command }));
    assert!(
        message.contains(&format!("`{part}`")),
        "{command}: {message}"
    );
}

#[test]
fn granted_and_refused_commands() {
    let git = git();
    all_run(
        &git,
        &[
            "git status && git diff | head -20", "cd sub && git status", "CI=1 git status",
            "timeout 10 git fetch", "xargs git show < ids", r"\git status",
            "git status 2>&1 >/dev/null", r#"f=notes.txt; git add "$f""#,
        ],
    );
    refused_for(&git, "git log; rm -rf x", "rm -rf x");
    refused_for(&git, "git log $(curl evil)", "curl evil");
    refused_for(&git, "bash -c 'git log && ls'", "ls");
    refused_for(&git, "echo `groups`", "groups");
    none_runs(
        &git,
        &[
            "FOO=1 git status", "git diff > out.patch", "$GIT status", "g{it,} status",
            "sudo git pull", "find . -exec git blame {} +", "gitk", "git() { rm -rf /; }; git x",
            "PATH=/tmp/x; git status", "for PATH in /tmp/x; do git status; done",
            "x=-v; test \"$x\" 'a[$(id)]'", "test -v 'a[$(id)]' && git status",
            "[[ 'a[$(id)]' -eq 0 ]]; git x",
        ],
    );
}

#[test]
fn every_simple_command_is_found_wherever_it_stands() {
    let git = git();
    let table = [
        "git a && X", "git a || X", "git a; X", "git a\nX", "git a & X", "X & git a", "git a | X",
        "git a |& X", "X | git a", "(X)", "{ X; }", "if X; then git a; fi", "if git a; then X; fi",
        "if git a; then git b; else X; fi", "if git a; then git b; elif X; then git c; fi",
        "for i in a b; do X; done", "for i in $(X); do git a; done", "while X; do git a; done",
        "while git a; do X; done", "until X; do git a; done", "case a in b) X;; esac",
        "case $(X) in b) git a;; esac", "case a in $(X)) git a;; esac", "git $(X)", "git `X`",
        "git \"$(X)\"", "git \"`X`\"", "git <(X)", "git >(X)", "git a > $(X)",
        "git a <<< \"$(X)\"", "a=$(X)", "a=$(X) git a", "CI=$(X) git a", "git $(git $(X))", "! X",
        "time X", "( ( X ) )", "git a <<E\n$(X)\nE", "git a <<E\n`X`\nE",
        "git \"a $(git b | X) c\"", "if (X); then git a; fi", "git a < <(X)", "export CI=$(X)",
        "echo $(X)", "echo \"${a:-$(X)}\"", "git a 2>&1 | X", "eval 'X'", "bash -c 'X'",
        "sh -ec 'X'", "bash -euo pipefail -c 'git a; X'", "timeout 5 X", "command X", "exec X",
        "env X", "nice -n 5 X", "xargs X", "nohup X", "time -p X", "stdbuf -oL X",
        "echo a\\\n && X", "git a # b\nX", "true && { git a; X; }",
    ];
    for template in table {
        for bad in ["rm x", "./git", "gitk"] {
            none_runs(&git, &[&template.replace('X', bad)]);
        }
    }
    let fine = [
        "git a && git b", "git a &  git b", "git a |& git b", "(git a)", "{ git a; }",
        "if git a; then git b; else git c; fi", "for i in a b; do git $i; done",
        "for i in $(git ls); do git show \"$i\"; done", "while git a; do git b; done",
        "until git a; do git b; done", "case $x in a|b) git a;; *) git b;; esac",
        "git $(git x) `git y` \"$(git z)\"", "git <(git x)", "git a <<< \"$(git x)\"",
        "a=$(git x)", "CI=1 git $(git a)", "! git a", "time git a", "git a < <(git b)",
        "git a <<E\n$x ${y} text\nE", "git commit -m \"$(cat <<'E'\nit's (done) `x`\nE\n)\"",
        "while IFS= read -r line; do git show \"$line\"; done", "git a # rm x",
        "bash -c 'git a && git b'", "bash -euo pipefail -c 'git a'", "eval git a",
        "git a \\\n  --b", "timeout -k 5 10s nice -n 5 env CI=1 git a", "command git a",
        "exec git a", "git a || exit 1", "echo a | xargs -n1 git show", "xargs -I{} git show {}",
        "time -p git a", "stdbuf -oL git a", "nohup git a", "xargs -0 bash -c 'git show \"$@\"' _",
    ];
    all_run(&git, &fine);
}

#[test]
fn neutral_commands_need_no_grant_in_their_harmless_forms() {
    let git = git();
    all_run(
        &git,
        &[
            ":", "true", "false", "echo $x *", "pwd", "exit 1", "exit $?", "test -f x", "[ -f x ]",
            "[ \"$a\" = b ]", "test -n \"$x\"", "[ ! -d x ]", "printf '%s\\n' \"$x\"", "set -e",
            "set -euo pipefail", "set -o pipefail; set -eu", "cd sub", "cd ./a/b", "cd /p/x",
            "a=1", "a=1 b=$x", "command -v git", "export CI=1", "read -r x", "read", "read -p x y", "read -rsp 'Go on [y, n]? ' -n1 a", "read -r -d '' f", "read -rd '' f", "read -e -i /x/ -p \"$x\" f", "read -t 3 -n 1 x", "read -u 3 line", "readonly x=1",
            "wait $!", "[ -f x ] && git a", "[[ -f x ]] && git a", "[[ $x == y ]]",
            "[[ -n \"$x\" ]]", "[[ ! -d x ]]", "cat <<'E'\nx\nE", "cd /skills/s && git a",
            "x=1; while [ \"$x\" -lt 3 ]; do git a; break; done", "X=1; git a", "VERSION=$(git describe)", "for F in a b; do git $F; done",
            "while read -r LINE; do git \"$LINE\"; done", "type git", "date +%F", "date -d \"$x\" +%s", "basename \"$x\"", "sleep 1.5", "seq 1 \"$x\"", "timeout 5 sleep 3", "git a $(date +%F)",
        ],
    );
    none_runs(
        &git,
        &[
            "test -v x", "test -R x", "test \"$x\" y", "test $x", "[ $x = y ]", "[ a \"$x\" b ]",
            "printf -v x y", "printf \"$x\" y", "printf -- x", "set -x", "set -a", "set x",
            "set -ex", "cd", "cd -", "cd ~", "cd ~/x", "cd ..", "cd /", "cd $x",
            "cd sub && cd ../..", "cd a; cd ..", "PATH=x", "IFS=x", "http_proxy=x",
            "npm_config_x=y", "export x=1", "export PATH=x", "export x", "declare x=1",
            "local x=1", "typeset -i x", "let x=1", "alias a=b", "unset PATH", "read PATH",
            "read -p x PATH", "read -a x", "read -ra x", "read -d \"$x\" PATH", "read -n 'a[$(id)]' x", "read -n $x y", "read -t \"$x\" y", "read -rp x -n", "read -nx y", "read 'a[$(id)]'", "read -p $x y", "read -d '' $x", "read -d '' \"$x\"", "read -A x", "read -- PATH", "read --x", "read -k x", "read -rsp x -u 1 PATH", "read -u x y",
            "readonly PATH=x", "exit 'a[$(id)]'", "wait -p x", "true $x", ": *",
            "a+=1", "a[0]=1", "a=(1 2)", "[[ -v x ]]", "[[ -R x ]]", "[[ a -eq b ]]",
            "[[ a < b ]]", "[[ a && b ]]", "[[ (a) ]]", "source x", ". x", "trap x EXIT",
            "hash -p x y", "enable -f x y", "exec > x", "exec 3<x", "type $x", "date -f x", "date \"$x\"", "hostname x", "sleep $x", "basename $x", "id \"$x\"", "X=1 git a", "PAGER=x", "RANDOM=1", "_=x", "for _ in a; do git a; done", "for PATH in a; do git a; done", "read HOME", "set -a; X=1", "export X=1; git a", "xargs date", "env X=1 git a", "HTTPS_PROXY=x", "IFS= git a",
            "a=1 git a", "((1))", "((x=1))", "for i in 1 2; do cd sub; done", "GIT_DIR=x git a",
            "env GIT_DIR=x git a", "env -i git a", "sudo git a", "watch git a", "ssh h git a",
            "npx git", "command -p git a", "builtin git a", "xargs -\u{ad}0 git a", "env -é git a",
        ],
    );
}

#[test]
fn what_shells_read_differently_is_refused() {
    none_runs(
        &git(),
        &[
            "", " ", "# x", "\n", "git a\r", "git \u{0}a", "git \u{7}", "git 'a", "git a &&",
            "git $'a'", "git $\"a\"", "git $((x))", "git $((x+1))", "git \u{a0}a", "git a\u{85}b", "git \u{e0}", "git $[1]", "git ${!x}",
            "git ${x@P}", "git ${x[0]}", "git ${x:1}", "git ${x:=y}", "git ${x:-$(y)}", "git ${x:-${y}}", "git ${x:-$1}", "git ${x:-$y[1]}", "git ${x:-a$}", "git ${x:?`y`}", "git ${x:?~}", "git ${x:+~/y}", "git \"${x:-'a'}\"", "git \"${x:?'$(y)'}\"", "git ${x:a:1}", "git ${x:1:y}", "git ${x:1:2:3}", "git ${x: 1:2}", "git ${@:1:2}", "git ${*:1:2}", "git ${x[0]:1:2}", "git ${#x:1:2}",
            "git ${x:-`y`}", "git ${x^^}", "git ${ git x; }", "${x} a", "~/git a",
            "g* a", "g?t a", "[g]it a", "\"$x\" a", "$(git) a", "{git,a}", "coproc git a",
            "select x in a; do git a; done", "for ((i=0;i<1;i++)); do git a; done",
            "f() { git a; }", "function f { git a; }", "git a {x}>y", "git `git \\`git a\\``",
            "git a <<E\nx", "git a <<E\n\\\nE\n", "git a <<$x\n$x", "git a <<'E F'\nE F",
            "{fd}>x git a", "git a >&x$y", "git a > $x", "git a > ~x", "git a < /dev/tcp/a/1",
            "git a > /dev/tcp/a/1", "if git a; then", "git a; }", "git a)", "(git a", "! ", "time",
            "git $((0x1))", "git a\\\nb", "git `#`", "git \"`git \"a\"`\"",
        ],
    );
    all_run(
        &git(),
        &[
            "git $((1+2))", "git ${x:0:7} ${x:?no x} ${x:+--x} ${1:0:3}", "git ${x} ${#x} ${x:-a} ${x:-$y} \"${x:-$PWD/a}\" ${x:+$y..} ${x%.md} ${x##*/} ${x//a/b} $1 $@ \"$@\" $?",
            "git '$(id)' \"\\$(id)\" \\`id\\` 'a`b'", "git stash@{0} HEAD^ HEAD~1 a{b}c",
            "git {a,b} {1..3}", "git \"a\nb\"", "git a;", "git \"cost $ 5\" \"s/x$/y/\"",
            "git a\n\n\ngit b\n", "git é", "git -c 'x=(y)' [a] a[b]",
            "git commit -m 'fix: don'\\''t'", "git a 2>/dev/null >&2 2>&1 <&0 >&-",
        ],
    );
}
