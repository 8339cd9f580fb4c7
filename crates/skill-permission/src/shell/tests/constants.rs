//! What is read as if its value stood there, and what only looks as if it could be.

use super::{all_run, none_runs};
use crate::scene::{Scene, scene};

fn writer() -> Scene {
    scene().active("Bash(git:*) Bash(./run:*) Bash(/h/bin/x:*) Bash(~/bin/y:*) Bash(python3 scripts/*) Write(out/**) Write(~/notes/**)")
}

#[test]
fn a_constant_is_replaced_by_its_value() {
    all_run(
        &writer(),
        &[
            "OUT=out; git a > $OUT/x", "OUT=out\ngit a > \"$OUT/x\"", "OUT=\"out\"; git a > \"${OUT}/x\"", "OUT='out'; git a >> \"$OUT\"/x",
            "D=out; F=$D/x; git a > $F", "D=out; F=\"$D/x\"; (git a > $F)", "D=out; for f in a b; do git $f > $D/x; done",
            "D=out; if git a; then git b > $D/x; fi", "D=out; git a > $D/x & git b", "git a; D=out; git a > $D/x", "git a & D=out; git a > $D/x",
            "P=./run; $P a", "P=git; \"$P\" a", "P=/h/bin/x; $P | head", "S=scripts; python3 \"$S/x.py\"", "S=scripts/x.py; python3 $S",
            "D=out; (cd out && git a) && git a > $D/x", "D=out; bash -c \"git a > $D/x\"", "git a > ~/notes/x", "git a > $HOME/notes/x", "git a > \"${HOME}/notes/x\"",
            "N=3; git a $((N+1))", "N=3; M=4; git a $((N * M - 1))", "N=3; git a \"$((N))\"", "D=out; echo \"$D\" | tr a b > $D/x",
            "D=out; while git a; do git b > $D/x; done", "D=out; case $x in a) git a > $D/x;; esac", "D=out; git \"$(git a > $D/x)\"",
            "A=1; B=2; D=out; git a > $D/$A.$B", "D=out; read -r l; git a > $D/x", "D=out; printf '%s' \"$x\" > $D/x", "~/bin/y a", "$HOME/bin/y a", "/h/bin/y", "\"$HOME\"/bin/y",
        ],
    );
}

#[test]
fn a_variable_of_several_values_is_no_constant() {
    let bindings = [
        "OUT=out && git a > $OUT/x", "git a && OUT=out; git a > $OUT/x", "git a || OUT=out; git a > $OUT/x", "! OUT=out; git a > $OUT/x",
        "OUT=out | git a; git a > $OUT/x", "OUT=out & git a > $OUT/x", "(OUT=out); git a > $OUT/x", "{ OUT=out; }; git a > $OUT/x",
        "if git a; then OUT=out; fi; git a > $OUT/x", "OUT=out git a > $OUT/x", "git a > $OUT/x; OUT=out", "OUT=out; OUT=/etc; git a > $OUT/x",
        "OUT=out; OUT+=/../..; git a > $OUT/x", "OUT=out; git a; for OUT in /etc; do git a > $OUT/x; done", "OUT=out; read OUT; git a > $OUT/x",
        "OUT=out; read -r O\"U\"T; git a > $OUT/x", "OUT=out; read OU\\T; git a > $OUT/x", "OUT=out; unset OUT; git a > $OUT/x", "OUT=out; readonly OUT=a; git a > $OUT/x",
        "OUT=out; export OUT; git a > $OUT/x", "OUT=out; git ${OUT:=/etc}; git a > $OUT/x", "OUT=out; eval 'OU''T=/etc'; git a > $OUT/x", "OUT=out; eval git a; git a > $OUT/x",
        "OUT=out; . ./x; git a > $OUT/x", "OUT=out; trap x EXIT; git a > $OUT/x", "OUT=out; printf -v OUT x; git a > $OUT/x", "OUT=out; git a {OUT}>x; git a > $OUT/x",
        "OUT=out; X=eval; $X \"$y\"; git a > $OUT/x", "OUT=out; command eval \"$y\"; git a > $OUT/x", "OUT=out; wait -p OUT; git a > $OUT/x", "OUT=out; ((OUT=1)); git a > $OUT/x",
        "OUT=out; (OUT=/etc; git a > $OUT/x)", "OUT=out; bash -c 'git a > $OUT/x'", "OUT=out; git a > '$OUT/x'", "OUT=out; git a > \\$OUT/x", "OUT=$(git a); git a > $OUT/x",
        "OUT='out x'; git a > $OUT/x", "OUT=*; git a > $OUT/x", "OUT=~/x; git a > $OUT/x", "OUT=; git a > out$OUT/../../x", "OUT=out; git a > ${OUT%t}/x", "OUT=out; git a > {$OUT,a}/x",
        "OUT=/etc; git a > $OUT/x", "OUT=out/../..; git a > $OUT/x", "OUT=..; git a > out/$OUT/$OUT/x", "OUT=/x; git a > ~$OUT", "OUT=out; git a > $OUT/$x", "OUT=out > a; git a > $OUT/x",
        "OUT=out A=1; git a > $OUT/x", "LANG=out; git a > $LANG/x", "PAGER=out; git a > $PAGER/x", "_=out; git a > $_/x", "PATH=out; git a > $PATH/x", "RANDOM=out; git a > $RANDOM/x",
        "OUT=out; set -a; git a > $OUT/x", "while git a; do OUT=out; git a > $OUT/x; done", "OUT=out; coproc OUT { git a; }; git a > $OUT/x", "OUT=out; f() { OUT=/etc; }; git a > $OUT/x",
        "OUT=out; [[ -v OUT ]]; git a > $OUT/x", "OUT=out; getopts a OUT; git a > $OUT/x", "OUT=out; mapfile OUT; git a > $OUT/x", "OUT=out; declare -n OUT=x; git a > $OUT/x",
    ];
    none_runs(&writer(), &bindings);
    none_runs(
        &writer(),
        &[
            "P=rm; $P x", "S=../x; python3 scripts/$S/y.py", "P=./x; $P", "P=git; P=rm; $P x", "P=eval; $P rm", "P=PATH; export $P=x", "P=PATH; $P=x; git a", "P=CI; $P=1 git a", "P=if; $P git a; then git b; fi",
            "N=3; git $((x+N))", "N=a; git $((N+1))", "N=3; git $((N=4))", "N=3; git $((N++))", "N=3; git $((N--1))", "N=3; git $((N + -1))", "N=3; git $((N**2))",
            "N=3; git $((N[1]))", "N=3; git $((-N))", "N=3; git $((N,1))", "N=3; git $((N?1:2))", "N=3; git $((N+$x))", "N=3; git $(((N)+1))", "git $((N+1))", "N=3; read N; git $((N+1))",
            "N='a[$(rm x)]'; git $((N+1))", "N=3x; git $((N+1))", "M=N; N=3; git $((M+1))", "N=3; bash -c 'git $((N+1))'", "N=3; [[ $((M)) ]]; git a", "HOME=/x; ~/bin/y", "HOME=/x ~/bin/y", "export HOME=/x; $HOME/bin/y",
            "env HOME=/x ~/bin/y", "read HOME; ~/bin/y", "for HOME in /x; do ~/bin/y; done", "\"~/bin/y\"", "\\~/bin/y", "'$HOME/bin/y'", "~x/bin/y", "~+/bin/y", "~/bin/../x", "$HOME/../x", "~/bin/yy", "x~/bin/y", "~/x/bin/y",
            "bash -c '~/bin/z'", "git a > '~/notes/x'", "git a > '$HOME/notes/x'", "git a > $HOME/x", "$HOMEx/bin/y", "${HOME%h}/bin/y", "~/bin/y${x}", "D=out; cd /tmp; git a > $D/x",
        ],
    );
    // A denial is never looked at as if a value were known: `x` may be what is denied.
    none_runs(&scene().skill("a", None, &["Bash(rm:*)"]), &["X=rm; $X y", "X=ls; $X y"]);
    none_runs(&scene().skill("a", None, &["Bash(~/bin/y:*)"]), &["~/bin/y", "/h/bin/y", "$HOME/bin/y", "sudo /h/bin/y"]);
    all_run(&scene().skill("a", None, &["Bash(~/bin/y:*)"]), &["/h/bin/x", "y"]);
}

#[test]
fn many_assignments_are_decided_in_time() {
    let chain: Vec<String> = (1..24).map(|n| format!("A{n}=$A{}\n", n - 1)).collect();
    let chain = chain.concat();
    let uses = "echo $A0 $A23;".repeat(900);
    let long = "a".repeat(40_000);
    for command in [
        format!("A0=x\n{chain}{uses}true"), "A=1;".repeat(900), format!("A=1; git {}", "$A".repeat(20_000)), format!("A=1; git {}", "$A ".repeat(4000)),
        format!("A=1; B=2; git <<'E'\n{long}\nE\n"), "A=".repeat(30_000), format!("A=1; git '{}'", "A".repeat(60_000)), format!("A=1; git '{}'", "A ".repeat(30_000)),
        format!("A=1; git $((A{}))", "+A".repeat(20_000)), format!("A=1; git $((A{}", " A".repeat(20_000)), format!("A=1; git '{}'", "$((A ".repeat(10_000)), format!("A=1; git '$((A{}))'", "+A".repeat(25_000)), format!("A=1; {}", "git $((A+A)) $((A*A));".repeat(900)),
    ] {
        // No stack overflows and no copy outgrows the memory; how long it takes is the bench's.
        let _ = writer().runs(&command);
    }
}

#[test]
fn the_top_of_the_working_tree_is_where_the_shell_is() {
    let root = "cd \"$(git rev-parse --show-toplevel)\"";
    let git = scene().active("Bash(git:*) Bash(./run) Write(out/**)");
    all_run(&git, &[root, &format!("{root} && ./run"), &format!("{root}; git a > out/x"), &format!("{root} || exit 1\ngit a"), &format!("({root} && git a)")]);
    none_runs(&scene().active("Bash(ls)"), &[root]);
    none_runs(
        &git,
        &[
            &format!("cd sub && {root}"), &format!("git a; {root}"), &format!("cd sub; {root}"), &format!("for i in a b; do {root}; done"), &format!("bash -c '{root}'"), &format!("command {root}"),
            "cd $(git rev-parse --show-toplevel)", "cd \"$(git rev-parse --show-toplevel)/..\"", "cd \"$(git rev-parse --show-superproject-working-tree)\"", "cd \"$(git -C .. rev-parse --show-toplevel)\"",
            "cd \"$(git rev-parse --git-dir)\"", "cd -P \"$(git rev-parse --show-toplevel)\"", "cd \"$(git rev-parse --show-toplevel)\" ..",
        ],
    );
}
