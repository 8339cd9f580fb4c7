//! Where words lead (docs/spec/restriction.md#paths-that-lead-upwards,
//! docs/spec/restriction.md#the-working-directory): upwards behind a `*`, and to another file in
//! another directory.

use super::{all_run, none_runs};
use crate::scene::scene;

#[test]
fn a_star_after_a_slash_does_not_match_dot_dot() {
    let scripts = scene().active("Bash(./scripts/*) Bash(python3 tools/*) Bash(/opt/x/*:*) Bash(node lib/*.js *) Bash(git:*)");
    none_runs(
        &scripts,
        &[
            "./scripts/../../bin/x", "./scripts/../x", "./scripts/..", "./scripts/a/../../x", "./scripts/a/..", "./scripts/./../x", "./scripts//../x", "./scripts/'..'/x", "./scripts/\\.\\./x",
            "./scripts/.\".\"/x", "./scripts/a/b/../../../x y", "python3 tools/../x.py", "python3 tools/$x", "python3 tools/\"$x\"", "python3 tools/a$x/y", "python3 tools/\"$x\".py", "python3 tools/$(git x)",
            "python3 tools/{..,a}/x.py", "python3 tools/{.,a}./x", "python3 tools/.*/x.py", "python3 tools/.?/x.py", "python3 tools/[.]./x", "python3 tools/.[.]/x", "python3 tools/a/.*", "python3 tools/${x}",
            "python3 tools/x/\"${x:-a}\"", "python3 tools/$1", "python3 tools/$@", "python3 tools/a\"$@\"", "python3 tools/`git x`", "python3 tools/.\"\"*/x.py", "/opt/x/../../bin/sh", "/opt/x/../y -c z", "node lib/../x.js a",
            "node lib/$x.js a", "node lib/..js/../x.js a", "xargs ./scripts/../x", "timeout 5 ./scripts/../x", "find . -exec ./scripts/../x {} +", "bash -c './scripts/../x'", "python3 tools/a,../x/../../y",
            "xargs -I{} python3 tools/{}", "python3 tools/..$((1))/../x", "f=../../x; python3 tools/$f",
        ],
    );
    all_run(
        &scripts,
        &[
            "./scripts/x", "./scripts/a/b.sh --c", "./scripts/x ../data.csv", "./scripts/x \"$f\" $g", "./scripts/..x", "./scripts/x.. y", "./scripts/a..b", "./scripts/...", "python3 tools/x.py ../a ../b", "python3 tools/*.py",
            "python3 tools/a?.py", "python3 tools/a/*/x.py", "/opt/x/y z ../a", "/opt/x/y -- \"$@\"", "node lib/a.js ../b", "git add ../x", "git log a..b -- ../y", "python3 tools/x.py --out=../y", "python3 tools/x$?.py",
            "python3 tools/x.py {a,b} .*", "git diff main..HEAD",
        ],
    );
    let spelled = scene().active("Bash(../tools/*) Bash(python3 */x.py) Bash(cat /etc/*/conf*)");
    all_run(&spelled, &["../tools/x", "../tools/a/b", "python3 a/x.py", "python3 ../x.py", "python3 $d/x.py", "cat /etc/a/conf.d", "cat /etc/a/b/conf"]);
    none_runs(&spelled, &["../tools/../x", "../tools/a/../../x", "cat /etc/../conf", "cat /etc/a/../../conf", "cat /etc/a/conf/../x", "cat /etc/$x/conf"]);
    let odd = scene().active("Bash(./s/.*) Bash(./t/.*./x) Bash(./u/..*) Bash(./v/*/../x) Bash(${CLAUDE_SKILL_DIR}/scripts/*)");
    none_runs(&odd, &["./s/../x", "./s/..", "./t/../x", "./t/../../x", "./u/../x", "./u/..", "./v/../../x", "./v/a/../../../x", "/skills/s/scripts/../../../bin/sh", "/skills/s/scripts/a/../../x"]);
    all_run(&odd, &["./s/.x", "./s/.a/b", "./t/.a./x", "./v/a/../x", "/skills/s/scripts/x ../a"]);
}

#[test]
fn a_loop_over_plain_names_does_not_match_dot_dot() {
    let tools = scene().active("Bash(python3 tools/*) Bash(git:*) Bash(node -r* x.js)");
    all_run(
        &tools,
        &[
            "for f in a.py b.py; do python3 tools/$f; done", "for f in a b; do python3 \"tools/${f}.py\" -v; done", "for f in a b; do for g in c d; do python3 tools/$f/$g; done; done", "for f in 'a' \"b\"; do git log; python3 tools/$f; done",
            "for f in a b; do node -r\"$f\" x.js; done", "for f in a b; do if git diff; then python3 tools/$f; fi; done",
        ],
    );
    none_runs(
        &tools,
        &[
            "for f in a ..; do python3 tools/$f/x; done", "for f in . a; do python3 tools/.$f/x; done", "for f in . a; do python3 tools/$f./x; done", "for f in a b; do python3 tools/.$f/x; done", "for f in a b; do python3 tools/..$f/x; done",
            "for f in ../x a; do python3 tools/$f; done", "for f in a/ b; do python3 tools/$f../x; done", "for f in a= b; do node -r$f../x x.js; done", "for f in *; do python3 tools/$f; done", "for f in $(git x); do python3 tools/$f; done",
            "for f in $x; do python3 tools/$f; done", "for f; do python3 tools/$f; done", "for f in a b; do :; done; python3 tools/$f", "python3 tools/$f; for f in a b; do :; done", "(for f in a; do :; done); python3 tools/$f",
            "for f in a b; do f=../x; python3 tools/$f; done", "for f in a b; do read f; python3 tools/$f; done", "for f in a b; do read -r x f; python3 tools/$f; done", "for f in a; do for f in $x; do python3 tools/$f; done; done",
            "for f in a b; do printf -v f ../x; python3 tools/$f; done", "for f in a b; do eval f=../x; python3 tools/$f; done", "for f in a b; do git log; unset f; python3 tools/$f; done", "for f in a b; do python3 tools/${f%a}../x; done",
            "for f in a b; do bash -c 'python3 tools/$f'; done", "for f in a b; do : ${f:=../x}; python3 tools/$f; done", "for f in a {..,b}; do python3 tools/$f; done", "for PATH in a b; do python3 tools/$PATH; done", "for _ in a b; do python3 tools/$_; done",
            "for f in a b; do python3 tools/$f/..; done", "for f in ~ a; do python3 tools/$f; done", "while git x; do python3 tools/$f; for f in a b; do :; done; done",
        ],
    );
}

#[test]
fn a_star_in_an_assignment_or_option_does_not_match_dot_dot() {
    let lead = scene().active("Bash(PYTHONPATH=* python3 *) Bash(node --require=* server.js) Bash(node -r* x.js) Bash(env FOO=* ls) Bash(git log --author=*)");
    none_runs(
        &lead,
        &[
            "PYTHONPATH=../x python3 a", "PYTHONPATH=a/../../x python3 a", "PYTHONPATH=a:../x python3 a", "PYTHONPATH=.. python3 a", "node --require=../x server.js", "node --require=a/../../x server.js",
            "node --require=$x server.js", "node --require=\"$x\" server.js", "node --require=.* server.js", "node --require={a,..}/x server.js", "node -r../x x.js", "node -r.. x.js", "node -r\"$x\" x.js",
            "env FOO=../x ls", "env FOO=\"$x\" ls", "env FOO=a:.. ls",
        ],
    );
    all_run(
        &lead,
        &["PYTHONPATH=src python3 a ../b", "PYTHONPATH=src:lib python3 \"$x\"", "node --require=./a/b server.js", "node -r./a x.js", "env FOO=a ls", "git log --author=\"$x\"", "git log --author=../x"],
    );
}

#[test]
fn a_relative_path_of_an_entry_means_the_file_its_author_meant() {
    let python = scene().active("Bash(python3 scripts/x.py:*) Bash(python3 y.py *) Bash(./run *) Bash(sh -x a/b) Bash(node --require=lib/a z) Bash(git:*) Bash(cd:*) Bash(find:*) Bash(/p/run *) Bash(npx @a/b *) Bash(curl https://x/*)");
    let tails = ["python3 scripts/x.py", "python3 y.py a", "./run a", "sh -x a/b", "node --require=lib/a z"];
    let leads = [
        "cd sub && X", "cd sub; X", "cd sub\nX", "cd ./sub && X", "cd /p/sub && X", "cd /skills/s/sub && X", "cd sub || X", "cd sub && cd other && X", "cd sub && cd .. && cd sub && X", "{ cd sub; }; X", "{ cd sub && X; }",
        "(cd sub && X)", "(cd sub; X)", "eval 'cd sub'; X", "eval cd sub && X", "eval 'cd sub && X'", "for i in 1; do cd /p; X; done", "while cd /p; do X; break; done", "if cd sub; then X; fi", "if git a; then cd sub; fi; X",
        "case a in a) cd sub;; esac; X", "case a in a) cd sub; X;; esac", "cd sub | git a; X", "git a | cd sub; X", "git a | { cd sub; X; }", "true && cd sub && X", "! cd sub && X", "! cd sub; X", "command cd sub; X", "command cd sub && X",
        "cd \"$x\" && X", "cd -; X", "cd; X", "cd ~; X", "cd ..; X", "cd sub & X", "bash -c 'cd sub && X'", "bash -c 'cd sub; X'", "cd sub && bash -c 'X'", "cd sub && eval 'X'", "cd sub && timeout 5 X", "find . -execdir X \\;",
        "until cd /p; do git a; done; X", "if git a; then git b; else cd sub; fi; X", "cd sub > /dev/null; X", "cd sub && git a; X", "cd sub && (X)", "cd sub && { X; }", "cd sub && git a | X", "cd sub && for i in 1; do X; done",
        "(cd sub && git a) && (cd sub; X)", "cd sub && xargs X", "time cd sub; X", "cd '~' && X", "eval 'eval \"cd sub\"'; X", "if eval 'cd sub'; then git a; fi; X", "cd link && X",
    ];
    for lead in leads {
        for tail in tails {
            none_runs(&python, &[&lead.replace('X', tail)]);
        }
    }
    let fine = [
        "X", "git a && X", "cd /p && X", "cd . && X", "cd ./ && X", "cd sub && cd .. && X", "cd /skills/s && X", "cd sub && cd /p && X", "(cd sub && git a) && X", "(cd sub; git a); X", "git \"$(cd sub && git a)\" && X", "x=$(cd sub; pwd); X",
        "bash -c 'cd sub && git a'; X", "git a | head; X", "for i in 1 2; do X; done", "if git a; then X; fi", "for i in a b; do (cd sub && git a); done; X", "(cd /skills/s && X)", "cd sub && git a; cd /p; X".trim_end_matches("; cd /p; X"),
    ];
    for lead in fine {
        for tail in tails {
            all_run(&python, &[&lead.replace('X', tail)]);
        }
    }
    for lead in leads.iter().filter(|lead| !lead.contains("cd \"$x\"")) {
        all_run(&python, &[&lead.replace('X', "git b"), &lead.replace('X', "/p/run a")]);
    }
    all_run(&python, &["cd sub && npx @a/b c", "cd sub && curl https://x/y/z", "cd sub && git add a/b"]);
}

#[test]
fn a_loop_changes_the_directory_only_for_itself() {
    let git = scene().active("Bash(git:*) Write(out/**)");
    all_run(
        &git,
        &[
            "for d in a b; do (cd sub && git a); done", "for d in a b; do (cd sub && git a); done; git a > out/x", "while git a; do (cd sub; git b); done", "(cd sub && git a); git b > out/x", "x=$(cd sub && git a); git b > out/x",
            "(cd out && git a > x) && git a > out/x", "bash -c 'cd sub && git a' && git b > out/x", "if [ -d sub ]; then cd sub; git a; fi", "cd sub && git log | head -3", "(cd sub && git log) | head -3",
        ],
    );
    none_runs(
        &git,
        &[
            "for d in a b; do cd sub; git a; done", "for d in a b; do (cd out); git a > x; done", "cd out | git a > x", "if cd out; then git a > x; fi; git a > x", "eval 'cd out'; git a > x", "(cd out); git a > x", "(cd ..)",
            "(cd sub && cd ../..)", "for d in a b; do (for e in c d; do cd sub; done); done", "git a | (cd out); git a > x", "git a | cd out; git b > out/x", "while git a; do { cd sub; }; done", "eval 'cd sub'; git a > out/x",
        ],
    );
}
