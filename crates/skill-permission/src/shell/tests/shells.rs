//! Which shell reads the text (docs/spec/restriction.md#which-shell): zsh where it may be the
//! user's, one that lives on, and those that are not read at all.

use super::{all_run, none_runs};
use crate::vocabulary::Language::{BashOrZsh, Other, Sh};
use crate::scene::{Scene, scene};

const LIST: &str = "Bash(git:*) Bash(printf:*) Bash(./run *) Bash(python3 x/y.py *) Write(out/**) Read";

fn zsh() -> Scene {
    scene().active(LIST).shell(BashOrZsh, false)
}

#[test]
fn what_zsh_reads_otherwise_is_refused_if_it_may_run() {
    let table = [
        "path=/x; git a", "for path in /x; do git a; done", "read path <<< /x; git a", "cdpath=/x", "fpath=x", "manpath=x", "module_path=x", "argv=x", "status=1", "prompt=x", "mailpath=x", "psvar=x", "fignore=x", "watch=x", "options=x", "aliases=x",
        "functions=x", "commands=x", "reply=x", "match=x", "signals=x", "readonly path=/x", "path=/x git a", "read -r argv", "for status in 1; do git a; done", "x='*(e:cmd:)'; echo $~x", "git $=x", "git $^x", "git $+x", "git \"$=x\"", "git \"$~x\"",
        "y='path[$(cmd)]'; git $x[y]", "git \"$x[y]\"", "git $1[y]", "git $@[y]", "git $?[y]", "git $$[y]", "git $-[y]", "git $*[y]", "git \"$#[y]\"", "git $x[1]", "git a <<E\n$x[y]\nE", "[[ $x[y] == a ]]", "git a <<< $x[y]", "x=$y[z]",
        "git $x:h", "git $x:s/a/b/", "git \"$x:t\"", "git push origin $b:refs/heads/x", "git $x:$y", "git a >!out/x", "git a >>!out/x", "git a >&!out/x", "git a &>!out/x", "git a &! git b", "git a &| git b", "git =ls", "git a =x", "=git a", "[ a === b ]",
        "git a <1-9>/dev/null", "git a <->/dev/null", "{ git a } always { git b }", "git a }", "git { a", "{ git a } always { git b }\n}", "printf '%d' \"$x\"", "printf %d 'path[$(cmd)]'", "printf '%x' x", "printf '%5d' y", "printf '%c' \"$x\"", "printf '%s%d' a b",
        "cd +1", "git *(e:cmd:)", "git *(N)", "git a(b)",
        "case a in a) git *(+rm);; esac", "case a in (a) git *(+rm);; esac", "case a in a) git x;; b) git *(+rm);; esac",
        "case a in a) git x;& b) git a; git *(+rm); esac", "case a in a*(+rm)) git x;; esac", "case a in a) (git *(+rm));; esac", "git $x(e:cmd:)", "git ${(e)x}", "git ${x[y]}", "git ${=x}", "git ${~x}", "git ${+x}", "git ${^x}", "git ${x:h}", "case $x[y] in a) git a;; esac", "for i in $x[y]; do git a; done", "export CI=$x[y]",
    ];
    for command in table {
        // `printf` is granted there, and is the shell's own all the same.
        if !command.starts_with("printf") {
            none_runs(&zsh(), &[command]);
        }
        none_runs(&scene().active("Bash(git:*) Write(out/**)").shell(BashOrZsh, false), &[command]);
    }
    none_runs(&zsh(), &["exit 'path[$(cmd)]'", "exit y", "return y", "break y", "continue y", "shift y", "[ -t y ]", "[[ -t y ]]", "test -t \"$x\"", "read -t y x", "COLUMNS=y git a", "LINES=y git a"]);
    // Where only bash, dash and busybox may read, these are what they seem.
    all_run(
        &scene().active(LIST),
        &["path=/x; git a", "argv=x; git a", "git $x:h", "git push origin $b:refs/heads/x", "git =x", "git a }", "printf '%d' \"$x\"", "git \"$x[y]\"", "git \"cost $= x\""],
    );
    // Text of `sh -c` is not zsh's.
    all_run(&zsh(), &["bash -c 'git \"$x[y]\"'", "sh -c 'git =x'"]);
    none_runs(&zsh(), &["eval 'git \"$x[y]\"'", "bash -c 'git a' && git $x[y]", "git \"$(git $x[y])\""]);
    all_run(
        &zsh(),
        &[
            "git a", "git a > out/x", "git a >> out/x", "git a 2>&1", "git \"$x\" $y ${z}", "git $x:8080 ${x}:h", "git log HEAD^ HEAD~1 stash@{0} a[b] main..x", "git commit -m \"$(cat <<'EOF'\n$x[y] =z }\nEOF\n)\"", "f=a; git \"$f\"", "for i in a b; do git $i; done",
            "if [ \"$a\" = b ]; then git a; fi", "[[ \"$a\" == b ]] && git a", "{ git a; }", "git a # c", "git {a,b} {}", "git a & git b", "git a && ! git b", "exit $?", "exit 1", "printf '%s\\n' \"$x\"", "printf '%b%%' x", "printf '%d\\n' 3", "printf '%-10s|' \"$x\"", "[ -t 1 ]",
            "x=\"$(git a)\"; git \"$x\"", "git '$x[y]' '=z' \\=z", "while read -r x; do git $x; done", "git a | head -3", "(cd sub && git a)", "cd sub && git a", "./run a", "python3 x/y.py a", "status_x=1", "git \"$1\" $? $#",
        ],
    );
}

#[test]
fn a_persistent_shell_starts_in_an_unknown_directory() {
    for language in [Sh, BashOrZsh] {
        let lives = scene().active(LIST).shell(language, true);
        none_runs(
            &lives,
            &[
                "./run a", "python3 x/y.py a", "git a > out/x", "cd sub", "cd sub && git a", "git a && ./run b", "(./run a)", "bash -c './run a'", "X=1; git a", "VERSION=1", "for F in a; do git a; done", "read F", "cd /p && git a > ../x",
            ],
        );
        all_run(&lives, &["git a", "git a > /p/out/x", "x=1; git $x", "git a | head", "for i in a b; do git $i; done", "cd /p && git a", "cd /p/sub && git a"]);
    }
    all_run(&scene().active(LIST).shell(Sh, true), &["git a # x"]);
    none_runs(&scene().active(LIST).shell(BashOrZsh, true), &["git a # ; rm x"]);
    all_run(&scene().active(LIST), &["./run a", "VERSION=1", "git a > out/x"]);
}

#[test]
fn an_unknown_shell_runs_nothing_by_pattern() {
    let commands = ["git a", "echo a", "true", "bash -c 'git a'", "cd sub", "x=1", "git a > out/x", "printf a"];
    for persists in [false, true] {
        none_runs(&scene().active(LIST).shell(Other, persists), &commands);
        none_runs(&scene().skill("a", Some("Bash"), &["Bash(rm:*)"]).shell(Other, persists), &commands);
        all_run(&scene().active("Bash").shell(Other, persists), &commands);
    }
}

/// `a &>f b` is `a &` and `>f b` in dash.
#[test]
fn the_word_after_ampersand_redirection_may_be_a_command() {
    let scene = scene().active("Bash(git:*) Read Write(out/**)");
    none_runs(
        &scene,
        &[
            "git log &>out/x rm x", "git log &>>out/x rm x", "true &>out/x rm -rf x", "echo x &>out/x rm x", "git a && true &>out/x rm x",
            "eval 'git a &>out/x rm x'", "dash -c 'git a &>out/x rm x'", "git a \"$(git b &>out/x rm x)\"", "git a `git b &>out/x rm x`", "git log &>\\\nout/x rm x",
            "git a &>out/x x=1 rm x", "git a &>out/x 2>&1 rm x", "! git a &>out/x rm x", "if git a &>out/x rm x; then git b; fi", "{ git a; } &>out/x rm x",
            "cd out &>/dev/null && echo x > y", "cd sub &>out/x; git a > ../out/y", "f=out; { f=src; } &>out/x; git a > $f/x", "git a &>rm",
        ],
    );
    all_run(
        &scene,
        &[
            "git log &>out/x", "git log &>>out/x && git status", "if git a &>out/x; then git b; fi", "git a &>out/x || git b", "git a -v &>out/x | head -3", "git a &>out/x 2>&1",
            "git a \"$(git b &>out/x)\"", "cd sub && git a &>/dev/null",
        ],
    );
    let denied = scene.skill("b", None, &["Bash(rm:*)"]);
    none_runs(&denied, &["ls &>out/x rm x", "ls &>/dev/null bash -c 'rm x'", "git log &>/dev/null $x"]);
}
