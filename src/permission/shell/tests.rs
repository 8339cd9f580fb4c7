//! RESTRICTION.md §4 sentence by sentence: commands under a list, and what becomes of them.

use crate::permission::scene::{Scene, scene};
use serde_json::json;

fn git() -> Scene {
    scene().active("Bash(git:*) Read")
}

#[track_caller]
fn all_run(scene: &Scene, commands: &[&str]) {
    for command in commands {
        if !scene.runs(command) {
            panic!(
                "{}",
                scene.refusal("shell_exec", &json!({ "command": command }))
            );
        }
    }
}

#[track_caller]
fn none_runs(scene: &Scene, commands: &[&str]) {
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
fn the_worked_cases() {
    let git = git();
    all_run(
        &git,
        &[
            "git status && git diff | head -20",
            "cd sub && git status",
            "CI=1 git status",
            "timeout 10 git fetch",
            "xargs git show < ids",
            r"\git status",
            "git status 2>&1 >/dev/null",
            r#"f=notes.txt; git add "$f""#,
        ],
    );
    refused_for(&git, "git log; rm -rf x", "rm -rf x");
    refused_for(&git, "git log $(curl evil)", "curl evil");
    refused_for(&git, "bash -c 'git log && ls'", "ls");
    refused_for(&git, "echo `id`", "id");
    none_runs(
        &git,
        &[
            "FOO=1 git status",
            "git diff > out.patch",
            "$GIT status",
            "g{it,} status",
            "sudo git pull",
            "find . -exec git blame {} +",
            "gitk",
            "git() { rm -rf /; }; git x",
            "PATH=/tmp/x; git status",
            "for PATH in /tmp/x; do git status; done",
            "x=-v; test \"$x\" 'a[$(id)]'",
            "test -v 'a[$(id)]' && git status",
            "[[ 'a[$(id)]' -eq 0 ]]; git x",
        ],
    );
}

#[test]
fn every_simple_command_is_found_wherever_it_stands() {
    let git = git();
    let table = [
        "git a && X",
        "git a || X",
        "git a; X",
        "git a\nX",
        "git a & X",
        "X & git a",
        "git a | X",
        "git a |& X",
        "X | git a",
        "(X)",
        "{ X; }",
        "if X; then git a; fi",
        "if git a; then X; fi",
        "if git a; then git b; else X; fi",
        "if git a; then git b; elif X; then git c; fi",
        "for i in a b; do X; done",
        "for i in $(X); do git a; done",
        "while X; do git a; done",
        "while git a; do X; done",
        "until X; do git a; done",
        "case a in b) X;; esac",
        "case $(X) in b) git a;; esac",
        "case a in $(X)) git a;; esac",
        "git $(X)",
        "git `X`",
        "git \"$(X)\"",
        "git \"`X`\"",
        "git <(X)",
        "git >(X)",
        "git a > $(X)",
        "git a <<< \"$(X)\"",
        "a=$(X)",
        "a=$(X) git a",
        "CI=$(X) git a",
        "git $(git $(X))",
        "! X",
        "time X",
        "( ( X ) )",
        "git a <<E\n$(X)\nE",
        "git a <<E\n`X`\nE",
        "git \"a $(git b | X) c\"",
        "if (X); then git a; fi",
        "git a < <(X)",
        "export CI=$(X)",
        "echo $(X)",
        "echo \"${a:-$(X)}\"",
        "git a 2>&1 | X",
        "eval 'X'",
        "bash -c 'X'",
        "sh -ec 'X'",
        "bash -euo pipefail -c 'git a; X'",
        "timeout 5 X",
        "command X",
        "exec X",
        "env X",
        "nice -n 5 X",
        "xargs X",
        "nohup X",
        "time -p X",
        "stdbuf -oL X",
        "echo a\\\n && X",
        "git a # b\nX",
        "true && { git a; X; }",
    ];
    for template in table {
        for bad in ["rm x", "./git", "gitk"] {
            none_runs(&git, &[&template.replace('X', bad)]);
        }
    }
    let fine = [
        "git a && git b",
        "git a &  git b",
        "git a |& git b",
        "(git a)",
        "{ git a; }",
        "if git a; then git b; else git c; fi",
        "for i in a b; do git $i; done",
        "for i in $(git ls); do git show \"$i\"; done",
        "while git a; do git b; done",
        "until git a; do git b; done",
        "case $x in a|b) git a;; *) git b;; esac",
        "git $(git x) `git y` \"$(git z)\"",
        "git <(git x)",
        "git a <<< \"$(git x)\"",
        "a=$(git x)",
        "CI=$(git x) git a",
        "! git a",
        "time git a",
        "git a < <(git b)",
        "git a <<E\n$x ${y} text\nE",
        "git commit -m \"$(cat <<'E'\nit's (done) `x`\nE\n)\"",
        "while IFS= read -r line; do git show \"$line\"; done",
        "git a # rm x",
        "bash -c 'git a && git b'",
        "bash -euo pipefail -c 'git a'",
        "eval git a",
        "git a \\\n  --b",
        "timeout -k 5 10s nice -n 5 env CI=1 git a",
        "command git a",
        "exec git a",
        "git a || exit 1",
        "echo a | xargs -n1 git show",
        "xargs -I{} git show {}",
        "time -p git a",
        "stdbuf -oL git a",
        "nohup git a",
        "xargs -0 bash -c 'git show \"$@\"' _",
    ];
    all_run(&git, &fine);
}

#[test]
fn neutral_commands_need_no_grant_in_their_harmless_forms() {
    let git = git();
    all_run(
        &git,
        &[
            ":",
            "true",
            "false",
            "echo $x *",
            "pwd",
            "exit 1",
            "exit $?",
            "test -f x",
            "[ -f x ]",
            "[ \"$a\" = b ]",
            "test -n \"$x\"",
            "[ ! -d x ]",
            "printf '%s\\n' \"$x\"",
            "set -e",
            "set -euo pipefail",
            "set -o pipefail; set -eu",
            "cd sub",
            "cd ./a/b",
            "cd /p/x",
            "a=1",
            "a=1 b=$x",
            "command -v git",
            "export CI=1",
            "read -r x",
            "readonly x=1",
            "wait $!",
            "[ -f x ] && git a",
            "[[ -f x ]] && git a",
            "[[ $x == y ]]",
            "[[ -n \"$x\" ]]",
            "[[ ! -d x ]]",
            "cat <<'E'\nx\nE",
            "cd /skills/s && git a",
            "x=1; while [ \"$x\" -lt 3 ]; do git a; break; done",
        ],
    );
    none_runs(
        &git,
        &[
            "test -v x",
            "test -R x",
            "test \"$x\" y",
            "test $x",
            "[ $x = y ]",
            "[ a \"$x\" b ]",
            "printf -v x y",
            "printf \"$x\" y",
            "printf -- x",
            "set -x",
            "set -a",
            "set x",
            "set -ex",
            "cd",
            "cd -",
            "cd ~",
            "cd ~/x",
            "cd ..",
            "cd /",
            "cd $x",
            "cd sub && cd ../..",
            "cd a; cd ..",
            "PATH=x",
            "IFS=x",
            "http_proxy=x",
            "npm_config_x=y",
            "export x=1",
            "export PATH=x",
            "export x",
            "declare x=1",
            "local x=1",
            "typeset -i x",
            "let x=1",
            "alias a=b",
            "unset PATH",
            "read",
            "read PATH",
            "read -p x y",
            "readonly PATH=x",
            "exit 'a[$(id)]'",
            "wait -p x",
            "true $x",
            ": *",
            "a+=1",
            "a[0]=1",
            "a=(1 2)",
            "[[ -v x ]]",
            "[[ -R x ]]",
            "[[ a -eq b ]]",
            "[[ a < b ]]",
            "[[ a && b ]]",
            "[[ (a) ]]",
            "source x",
            ". x",
            "trap x EXIT",
            "hash -p x y",
            "enable -f x y",
            "exec > x",
            "exec 3<x",
            "type git",
            "IFS= git a",
            "a=1 git a",
            "((1))",
            "((x=1))",
            "for i in 1 2; do cd sub; done",
            "GIT_DIR=x git a",
            "env GIT_DIR=x git a",
            "env -i git a",
            "sudo git a",
            "watch git a",
            "ssh h git a",
            "npx git",
            "command -p git a",
            "builtin git a",
        ],
    );
}

#[test]
fn what_shells_read_differently_is_refused() {
    none_runs(
        &git(),
        &[
            "",
            " ",
            "# x",
            "\n",
            "git a\r",
            "git \u{0}a",
            "git \u{7}",
            "git 'a",
            "git a &&",
            "git $'a'",
            "git $\"a\"",
            "git $((x))",
            "git $((x+1))",
            "git $[1]",
            "git ${!x}",
            "git ${x@P}",
            "git ${x[0]}",
            "git ${x:1}",
            "git ${x:=y}",
            "git ${x:-$y}",
            "git ${x:-`y`}",
            "git ${x^^}",
            "git ${x:?y}",
            "git ${ git x; }",
            "${x} a",
            "~/git a",
            "g* a",
            "g?t a",
            "[g]it a",
            "\"$x\" a",
            "$(git) a",
            "{git,a}",
            "coproc git a",
            "select x in a; do git a; done",
            "for ((i=0;i<1;i++)); do git a; done",
            "f() { git a; }",
            "function f { git a; }",
            "git a {x}>y",
            "git `git \\`git a\\``",
            "git a <<E\nx",
            "git a <<E\n\\\nE\n",
            "git a <<$x\n$x",
            "git a <<'E F'\nE F",
            "{fd}>x git a",
            "git a >&x$y",
            "git a > $x",
            "git a > ~x",
            "git a < /dev/tcp/a/1",
            "git a > /dev/tcp/a/1",
            "if git a; then",
            "git a; }",
            "git a)",
            "(git a",
            "! ",
            "time",
            "git $((0x1))",
            "git a\\\nb",
            "git `#`",
            "git \"`git \"a\"`\"",
        ],
    );
    all_run(
        &git(),
        &[
            "git $((1+2))",
            "git ${x} ${#x} ${x:-a} ${x%.md} ${x##*/} ${x//a/b} $1 $@ \"$@\" $?",
            "git '$(id)' \"\\$(id)\" \\`id\\` 'a`b'",
            "git stash@{0} HEAD^ HEAD~1 a{b}c",
            "git {a,b} {1..3}",
            "git \"a\nb\"",
            "git a;",
            "git \"cost $ 5\" \"s/x$/y/\"",
            "git a\n\n\ngit b\n",
            "git é",
            "git -c 'x=(y)' [a] a[b]",
            "git commit -m 'fix: don'\\''t'",
            "git a 2>/dev/null >&2 2>&1 <&0 >&-",
        ],
    );
}

#[test]
fn redirections_need_a_grant_for_their_file() {
    let none = scene().active("Bash(git:*)");
    none_runs(
        &none,
        &[
            "git a > x",
            "git a >> x",
            "git a 2> x",
            "git a &> x",
            "git a >| x",
            "git a < x",
            "> x",
            "echo a > x",
            "git a <> x",
            "git a >& x",
            "(git a) > x",
            "$(< x)",
        ],
    );
    all_run(
        &none,
        &[
            "git a > /dev/null",
            "git a > /dev/stderr",
            "git a 2>/dev/fd/2",
            "git a <<< x",
            "git a < /dev/null",
        ],
    );
    let some = scene().active("Bash(git:*) Write(out/**) Read(in/*)");
    all_run(
        &some,
        &[
            "git a > out/x",
            "git a >> ./out/x",
            "git a < in/x",
            "cd out && git a > x",
            "cd out && git a > x && cd .. && git a > out/y",
            "git a > /p/out/x",
        ],
    );
    none_runs(
        &some,
        &[
            "git a > x",
            "git a > out/../x",
            "git a < out/x",
            "git a > in/x",
            "cd sub && git a > out/x",
            "cd out; git a > x",
            "git a > out/$x",
            "git a > out/*",
            "git a > /out/x",
            "git a > ~/out/x",
            "git a > '~/out/x'",
            "cd out | git a > x",
        ],
    );
    let protected = scene().active("Bash(git:*) Write Read Edit");
    none_runs(
        &protected,
        &[
            "git a > /skills/s/SKILL.md",
            "git a > ~/.chibi/plugins/agent-skills/state.json",
            "cd /skills/s && git a > x",
        ],
    );
    none_runs(
        &scene().active("Bash Write"),
        &["echo x > /skills/s/SKILL.md"],
    );
    let home = scene().active("Bash(git:*) Write(~/x)");
    all_run(&home, &["git a > ~/x", "git a > /h/x"]);
    none_runs(&home, &["git a > '~/x'", "git a > x"]);
}

#[test]
fn filters_only_filter() {
    let git = git();
    all_run(
        &git,
        &[
            "git a | sort -rn | uniq -c | head -5",
            "git a | grep -i x | wc -l",
            "git a 2>&1 | tail -20",
            "git a | tr a-z A-Z",
            "git a | grep x 2>/dev/null",
        ],
    );
    none_runs(
        &git,
        &[
            "head x",
            "grep x y",
            "git a; head",
            "git a | head x",
            "git a | cat < x",
            "git a | sort -o x",
            "git a | sed s/a/b/",
            "git a | xargs rm",
            "git a | tee x",
            "git a | (head)",
            "git a | sort --compress-prog=./evil -S100k",
            "git a | grep -f x y",
            "git a | head -n $x",
            "git a | ./head",
        ],
    );
    let off = scene()
        .active("Bash(git:*)")
        .with(|settings| settings.pipe_filters = false);
    none_runs(&off, &["git a | head"]);
}

#[test]
fn find_runs_and_deletes_only_what_is_granted() {
    let find = scene().active("Bash(find:*) Bash(git:*) Bash(ls)");
    all_run(
        &find,
        &[
            "find . -name '*.md'",
            "find . -exec git blame {} +",
            "find . -exec git blame {} \\;",
            "find src -type f | head",
            "find ./*.md",
            "find ~/x -name \"$x\"",
        ],
    );
    none_runs(
        &find,
        &[
            "find . -exec rm {} +",
            "find . -exec rm {} \\;",
            "find . -delete",
            "find . -fprint x",
            "find . -exec ls {} \\;",
            "find . -exec {} \\;",
            "find $x",
            "find \"$x\"",
            "find . -execdir rm {} +",
            "find . -ok rm {} \\;",
            "find *",
            "find . -name $x",
            "find . -exec git x",
            "find . -exec exec git {} +",
            "xargs exec git a",
            "find . -exec git a \\; -exec rm {} \\;",
        ],
    );
    all_run(
        &scene().active("Bash(find * -delete)"),
        &["find . -name x -delete"],
    );
}

#[test]
fn exact_rules_do_not_cover_unknown_arguments() {
    let exact = scene().active("Bash(git status) Bash(npm run test:*)");
    all_run(
        &exact,
        &[
            "git status",
            "npm run test:unit",
            "timeout 5 git status",
            "git status | head",
        ],
    );
    none_runs(
        &exact,
        &[
            "xargs git status",
            "git status x",
            "git $x",
            "git status $x",
            "npm run $x",
            "xargs npm run",
        ],
    );
    all_run(&exact, &["xargs npm run test"]);
    let spelled = scene().active("Bash(FOO=1 git:*)");
    all_run(&spelled, &["FOO=1 git a"]);
    none_runs(
        &spelled,
        &[
            "FOO=2 git a",
            "FOO=$x git a",
            "FOO=1 BAR=2 git a",
            "git a",
            "export FOO=1; git a",
        ],
    );
}

#[test]
fn a_change_of_directory_may_be_granted_and_is_then_not_followed() {
    let cd = scene().active("Bash(cd:*) Bash(git:*) Write(out/**)");
    all_run(&cd, &["cd / && git a", "cd ~ && git a > /p/out/x"]);
    none_runs(
        &cd,
        &[
            "cd / && git a > out/x",
            "for i in 1 2; do git a > out/x; cd /; done",
        ],
    );
}

#[test]
fn denials_look_harder() {
    let rm = scene().skill("a", None, &["Bash(rm:*)", "Bash(git push *)"]);
    all_run(
        &rm,
        &[
            "ls",
            "rmdir x",
            "git pull",
            "git log | sed s/a/b/ > x",
            "echo rm x",
            "grep 'rm x' y",
        ],
    );
    none_runs(
        &rm,
        &[
            "rm x",
            "/bin/rm x",
            "ls; rm x",
            "sudo rm x",
            "sudo -u x rm y",
            "env X=1 rm x",
            "X=1 rm x",
            "xargs rm",
            "find . -exec rm {} +",
            "bash -c 'rm x'",
            "eval 'rm x'",
            "eval $x",
            "$x",
            "r$m x",
            "(rm x)",
            "echo $(rm x)",
            "\\rm x",
            "'rm' x",
            "trap 'rm x' EXIT",
            "sudo bash -c 'rm x'",
            "nice -n 5 timeout 5 rm x",
            "watch 'rm x'",
            "git push",
            "git push -f",
            "git $x",
            "'unclosed",
            "bash -c \"$x\"",
            "busybox rm x",
            "command rm x",
            "x=rm; $x y",
        ],
    );
    let bare = scene().skill("a", Some("Bash"), &["Write(secret/**)"]);
    all_run(&bare, &["ls > x", "f() { ls; }; f"]);
    none_runs(&bare, &["ls > secret/x", "cd secret && ls > x"]);
}

#[test]
fn what_would_take_the_parser_long_or_kill_it_is_refused_fast() {
    let git = git();
    let nested =
        |n: usize, open: &str, close: &str| format!("{}git a{}", open.repeat(n), close.repeat(n));
    let hostile = [
        nested(400, "echo $(", ")"),
        nested(9000, "$(", ")"),
        nested(9000, "[[ ( (", ""),
        nested(9000, "(", ")"),
        nested(9000, "{ ", "; }"),
        nested(5000, "if ", "; then git a; fi"),
        nested(400, "echo \"$(", ")\""),
        nested(400, "echo $( ')' ", ")"),
        nested(400, "cat <(", ")"),
        "git $(git $(git $(git $(git $(git $(git $(git $(git $(git a))))))))) ".repeat(900),
        "git a;".repeat(10_000),
        "a".repeat(70_000),
        "! ".repeat(30_000),
        "git <<E\n".repeat(5000),
        "`".repeat(60_000),
        "${".repeat(30_000),
        "case x in a) ".repeat(4000),
        "\"$(".repeat(20_000),
    ];
    for command in hostile {
        let begun = std::time::Instant::now();
        none_runs(&git, &[&command]);
        let millis = begun.elapsed().as_millis();
        assert!(millis < 1000, "{millis} ms for {}…", &command[..40]);
    }
}
