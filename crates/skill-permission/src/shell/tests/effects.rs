//! What granted commands may do to files, what denials see, and what is refused fast.

use super::{all_run, git, none_runs};
use crate::vocabulary::Language;
use crate::scene::scene;

#[test]
fn redirections_need_a_grant_for_their_file() {
    let none = scene().active("Bash(git:*)");
    none_runs(
        &none,
        &[
            "git a > x", "git a >> x", "git a 2> x", "git a &> x", "git a >| x", "git a < x",
            "> x", "echo a > x", "git a <> x", "git a >& x", "(git a) > x", "$(< x)",
        ],
    );
    all_run(
        &none,
        &[
            "git a > /dev/null", "git a > /dev/stderr", "git a 2>/dev/fd/2", "git a <<< x",
            "git a < /dev/null",
        ],
    );
    let some = scene().active("Bash(git:*) Write(out/**) Read(in/*)");
    all_run(
        &some,
        &[
            "git a > out/x", "git a >> ./out/x", "git a < in/x", "cd out && git a > x",
            "cd out && git a > x && cd .. && git a > out/y", "git a > /p/out/x",
        ],
    );
    none_runs(
        &some,
        &[
            "git a > x", "git a > out/../x", "git a < out/x", "git a > in/x",
            "cd sub && git a > out/x", "cd out; git a > x", "git a > out/$x", "git a > out/*",
            "git a > /out/x", "git a > ~/out/x", "git a > '~/out/x'", "cd out | git a > x",
        ],
    );
    let protected = scene().active("Bash(git:*) Write Read Edit");
    none_runs(
        &protected,
        &[
            "git a > /skills/s/SKILL.md", "git a > ~/.chibi/plugins/agent-skills/state.json",
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
fn a_format_of_printf_only_prints() {
    let git = git();
    all_run(
        &git,
        &[
            "printf '%s\\n' \"$x\"", "printf 'done\\n'", "printf '%-10s|%5.2f%%\\n' a 1", "printf '%05d' 3",
            "printf '%b' 'a\\n'", "printf '\\033[1m%s\\033[0m\\n' a", "printf \"%s %q\" a b", "printf '%x%X%o%u%i%c%e%E%g%G' 1",
            "printf '100%% of 5\\t'", "printf '%+.f' 1",
        ],
    );
    let bad = [
        "printf 'abc%n' PATH; git status", "printf '%5n' PATH", "printf '%-.3n' PATH", "printf '%ln' PATH", "printf '%%%n' PATH",
        "printf '%*d' 3 4", "printf '%.*f' 3 4", "printf '%(%Y)T'", "printf '%Q' a", "printf '%'", "printf 'a%s%'", "printf '%1$s' a",
        "printf \"abc%n\" PATH", "printf abc%n PATH", "command printf '%n' PATH", "printf '\\x25n' PATH", "printf '\\045n' PATH",
        "printf \"$x\" PATH", "printf %s\"$x\" PATH",
    ];
    none_runs(&git, &bad);
    let granted = scene().active("Bash(printf:*) Bash(git:*) Bash(command:*)");
    none_runs(&granted, &bad[..14]);
    none_runs(&granted, &["printf \"$x\" PATH"]);
    all_run(&granted, &["printf '%s ' *", "printf '%d' $x"]);
}

#[test]
fn a_redirection_is_made_where_the_shell_is_before_the_command() {
    let sub = scene().active("Bash(git:*) Write(sub/**)");
    none_runs(
        &sub,
        &[
            "cd sub > out.txt", "(cd sub) > out.txt", "{ cd sub; } > out.txt", "cd sub 2>> out.txt", "(cd sub && git a) > x",
            "{ cd sub && git a; } > x", "if cd sub; then git a; fi > x", "case a in a) cd sub;; esac > x",
            "while cd sub; do break; done > x", "cd sub > x && git a", "{ cd sub > x; }", "git a && cd sub > x",
        ],
    );
    all_run(
        &sub,
        &[
            "cd sub && git a > x", "cd sub > sub/x", "(cd sub) > sub/x", "{ cd sub; } > sub/x", "cd sub && cd /p > x",
            "cd sub && (git a) > x", "cd sub && { git a; git b; } > x", "for f in a b; do git $f; done > sub/x", "(cd sub && git a > x) > sub/y",
            "if git a; then git b; fi > sub/x", "while read -r x; do git a; done > sub/x",
        ],
    );
}

#[test]
fn filters_at_the_end_of_a_pipe_need_no_rule() {
    let git = git();
    all_run(
        &git,
        &[
            "git a | sort -rn | uniq -c | head -5", "git a | grep -i x | wc -l",
            "git a 2>&1 | tail -20", "git a | tr a-z A-Z", "git a | grep x 2>/dev/null",
            "git a | sed s/a/b/", "git a | sed -n '1,5p'", "git a | jq -r .a", "git a | jq --arg v \"$x\" '.[$v]'",
            "git a | awk '{print $2}'", "git a | awk -F: '$3 > 5 {print $1}' | sort",
        ],
    );
    none_runs(
        &git,
        &[
            "head x", "grep x y", "git a; head", "git a | head x", "git a | cat < x",
            "git a | sort -o x", "git a | sed s/a/b/e", "git a | sed 's/a/b/w x'", "git a | sed $x", "git a | sed \"s/$x/b/\"",
            "git a | sed -i s/a/b/", "git a | sed s/a/b/ x", "sed s/a/b/", "sed s/a/b/ < x", "git a | sed s/a/b/ > x", "git a | jq . x",
            "git a | jq \"$x\"", "git a | jq -f x", "git a | jq env", "jq . < x", "git a | jq --arg v $x .", "git a | jq --arg v \"$x\" --rawfile a x .",
            "git a | awk \"{print $x}\"", "git a | awk '{print > \"x\"}'", "git a | awk '{print}' x", "git a | awk '{system($1)}'", "awk '{print}'",
            "git a | xargs sed s/a/b/", "git a | timeout 5 sed 1p", "git a | ./sed 1p", "git a | xargs rm", "git a | tee x",
            "git a | (head)", "git a | sort --compress-prog=./evil -S100k", "git a | grep -f x y",
            "git a | head -n $x", "git a | ./head",
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
            "find . -name '*.md'", "find . -exec git blame {} +", "find . -exec git blame {} \\;",
            "find src -type f | head", "find ./*.md", "find ~/x -name \"$x\"",
        ],
    );
    none_runs(
        &find,
        &[
            "find . -exec rm {} +", "find . -exec rm {} \\;", "find . -delete", "find . -fprint x",
            "find . -exec ls {} \\;", "find . -exec {} \\;", "x=$(git a); find $x", "x=$(git a); find \"$x\"",
            "find . -execdir rm {} +", "find . -ok rm {} \\;", "find *", "x=$(git a); find . -name $x",
            "find . -exec git x", "find . -exec exec git {} +", "xargs exec git a",
            "find . -exec git a \\; -exec rm {} \\;",
        ],
    );
    all_run(
        &scene().active("Bash(find * -delete)"),
        &["find build -name x -delete"],
    );
}

#[test]
fn a_value_of_find_hides_no_action() {
    let find = scene().active("Bash(find:*) Bash(git:*)");
    none_runs(
        &find,
        &[
            "find . -printf -name -exec touch pwned ';'", "find . ! -lname -name -exec touch pwned ';'",
            "find -D -name -exec touch pwned ';'", "find . -printf -name -delete", "find . -name -exec git a ';'",
            "find . -name -delete", "find . -newermt -name -exec touch x ';'", "read x; find . -printf -name \"$x\"",
            "read z; find . -name \"$x\"\"$y\" \"$z\"", "find . -ilname -path -fprint x", "find . -name -name -execdir git a ';'",
            "find . -path -name -okdir touch x ';'", "read x; find . -depth -name \"$x\"",
            "read x; find . *me -name \"$x\"", "read x; find . -path $H -name \"$x\"", "read x; find . -path *me -name \"$x\"",
            "read x; find . -path $H $G -name \"$x\"",
        ],
    );
    all_run(
        &find,
        &[
            "find . -name \"$x\"", "find . -type f -name \"*.$x\" -print", "find . -not -path \"$x\" -o -iname \"$y\"",
            "find . -name '*.a' -exec git add {} +", "find . -type f -print0 -exec git add {} ';'", "find -name \"$x\"",
            "find . ! -name \"$x\" -newer \"$y\"", "find . -printf '%p\\n'", "find . -printf '%f' -exec git a {} ';'", "find ./a \\( -name \"$x\" -o -name y \\)",
            "find . -name -name", "read x; find . -mtime -7 -name \"$x\"", "read x; find . -path \"$H\" -name \"$x\"",
        ],
    );
    all_run(
        &scene().active("Bash(find * -delete)"),
        &["find a -type f -empty -delete", "find a -depth -delete", "find a b -name \"$x\" -delete"],
    );
}

#[test]
fn a_variable_that_nothing_sets_is_no_action_of_find() {
    let find = scene().active("Bash(find:*) Bash(git:*) Bash(printf:*) Bash(read:*) Bash(set:*)");
    all_run(
        &find,
        &[
            "find $DIR -mtime +7", "find \"$DIR\" -type f", "find ${DIR} -exec git add {} \\;", "find . -ctime $N -newer \"${M}\"",
            "find ${a}/${b}/c -type f", "find src/$a -type d", "find . -mtime +$N", "find . -mtime -$N -size -\"$M\"", "d=src; find \"$d\" -name $n", "find . -exec git add \"$DIR\" {} +",
        ],
    );
    none_runs(
        &find,
        &[
            "x=$(git a); find $x", "x=`git a` && find . \"$x\"", "find . $(git a)", "find . \"$(git a)\"", "git a | while read -r x; do find . \"$x\"; done",
            "for x in $(git a); do find $x; done", "for x in -delete; do find . $x; done", "for x in -delete; do find . \"$x\"; done", "a=pa; b=th; read $a$b; find $path",
            "read \"$(git a)\"; find $x", "eval \"$(git a)\"; find $x", ". ./a; find $x", "trap 'x=-delete' USR1; find $x", "printf -v x %s -delete; find $x",
            "set -- -delete; find $1", "set -- -delete; find . \"$@\"", "find $1", "find . $_", "find $REPLY", "find . -del${x}ete", "find $x-delete", "read x; find . -na${H}me -name \"$x\"", "find . -$x\"delete\"", "find $x\"-delete\"", "find -delete$x", "find \"$x\"'-delete'", "find $x*", "find ${x:--delete}",
            "find ${x:+-delete}", "find $x{-delete,a}", "find $x$(git a)", "find $x`git a`", "find $xy$(git a); x=1", "xy=$(git a); find $x $xy", "x=$(git a); bash -c 'find $x'", "export CI=1 x; find $x",
            "bash -c 'find $x'", "bash -c 'find . $1' _ -delete", "git a > $x; find $x; read x", "find $x; read -r x", "coproc x { git a; }; find $x",
        ],
    );
    let kept = scene().active("Bash(find:*)").shell(Language::Sh, true);
    none_runs(&kept, &["find $DIR", "find . \"$x\""]);
}

#[test]
fn a_word_with_text_of_no_action_is_none() {
    let find = scene().active("Bash(find:*) Bash(git:*)");
    all_run(
        &find,
        &[
            "find */a/* -name x", "read x; find \"$x/y\"", "read x; find . \"$x.y\"", "for d in a b; do find \"$d\" -type f; done", "find \"$(pwd)\" -type f",
            "find \"`pwd`\" -name x", "find \"$PWD/a\"", "find \"$PWD\" -type d", "cd 'a b' && find \"$(pwd)\"",
        ],
    );
    none_runs(
        &find,
        &[
            "find *ec* git \\;", "find . -name *conf*", "find \"$(pwd)-delete\"", "find *-*", "read x; find $x/y", "read x; find \"$x\"e", "read x; find \"$x\"-delete", "read x; find \"$x\"{/a,}", "for d in a -delete; do find \"$d\"; done",
            "for d in a b; do find -\"$d\"; done", "for d in a b; do find $d; done", "find $(pwd)", "cd 'a -delete' && find $(pwd)", "cd 'a b'; find `pwd`", "find $(pwd; git a)", "find $(pwd)$(git a)", "read x; find $(pwd)$x",
            "find \"$(pwd) $(git a)\"\"$@\"", "find '-delete'\"$(pwd)\"", "find $(pwd)' -delete'*", "cd a* && find $(pwd)",
        ],
    );
}

#[test]
fn what_find_runs_ends_where_it_is_plain() {
    let find = scene().active("Bash(find:*) Bash(git:*) Read");
    all_run(
        &find,
        &[
            "find . -exec git mv {} {}.bk \\;", "find . -exec git mv {} {}.tmp$$ \\;", "find . -exec git add {}/* \\;", "read x; find . -exec git mv {} \"$x\" \\;", "find . -exec git add RS* \\;",
            "read x; find . -exec git mv -t \"$x\" {} +", "read x; find . -exec git mv \"$x/a\" \"$x/b\" {} +", "find . -exec git add ~/a {} \\; -print",
        ],
    );
    none_runs(
        &find,
        &[
            "read x; find . -exec git mv {} $x \\;", "find . -exec git {} ${xy}+ -exec evil \\;", "find . -exec git a \"$xy;\" -exec evil \\;", "find . -exec git a ';'$xy -exec evil \\;", "find . -exec git {} +\"$xy\" -exec evil \\;", "find . -exec git {} $xy$xy+ -delete -exec git {} +", "read x; find . -exec git \"$x\" -delete -name \\;", "read x y; find . -exec git \"$x\" \"$y\" evil \\;", "read x; find . -exec git \"$x\" -exec evil \\;",
            "read x; find . -exec git \";$x\" -fprint \\;", "find . -exec git add ? -delete \\;", "find . -exec git *", "find . -exec git add {}", "read x; find . -exec git \"$x\"", "find . -exec {}.x \\;",
            "find . -exec git {a,\\;} -delete -name \\;", "find . -exec rm {}.bk \\;",
        ],
    );
}

#[test]
fn execdir_runs_in_an_unknown_directory() {
    let find = scene().active("Bash(find:*) Bash(./x:*) Bash(/p/x:*) Bash(git:*) Write(out/**)");
    none_runs(
        &find,
        &[
            "find . -execdir ./x {} +", "find . -okdir ./x {} ';'", "find . -execdir sh -c './x' ';'",
            "find . -execdir sh -c 'git a > out/x' ';'", "find . -execdir sh -c 'cd out && git a > x' ';'",
            "find . -execdir nice ./x ';'",
        ],
    );
    all_run(
        &find,
        &[
            "find . -exec ./x {} +", "find . -execdir git a {} +", "find . -execdir /p/x ';'",
            "find . -exec sh -c 'git a > out/x' ';'", "find . -execdir git a ';' > out/x", "find . -execdir git a ';' && ./x",
        ],
    );
}

#[test]
fn exact_rules_do_not_cover_unknown_arguments() {
    let exact = scene().active("Bash(git status) Bash(npm run test:*)");
    all_run(
        &exact,
        &[
            "git status", "npm run test:unit", "timeout 5 git status", "git status | head",
        ],
    );
    none_runs(
        &exact,
        &[
            "xargs git status", "git status x", "git $x", "git status $x", "npm run $x",
            "xargs npm run",
        ],
    );
    all_run(&exact, &["xargs npm run test"]);
    let spelled = scene().active("Bash(FOO=1 git:*)");
    all_run(&spelled, &["FOO=1 git a"]);
    none_runs(
        &spelled,
        &[
            "FOO=2 git a", "FOO=$x git a", "FOO=1 BAR=2 git a", "git a", "export FOO=1; git a",
        ],
    );
}

#[test]
fn a_granted_change_of_directory_is_not_followed() {
    let cd = scene().active("Bash(cd:*) Bash(git:*) Write(out/**)");
    all_run(&cd, &["cd / && git a", "cd ~ && git a > /p/out/x"]);
    none_runs(
        &cd,
        &[
            "cd / && git a > out/x", "for i in 1 2; do git a > out/x; cd /; done",
        ],
    );
}

#[test]
fn a_relative_program_is_granted_where_it_was_meant() {
    let script = scene().active("Bash(./scripts/x:*) Bash(/skills/s/y:*) Bash(git:*)");
    all_run(&script, &["./scripts/x a", "git a && ./scripts/x", "cd sub && /skills/s/y"]);
    none_runs(&script, &["cd sub && ./scripts/x", "cd sub; ./scripts/x", "scripts/x", "cd sub && git a && (./scripts/x)"]);
}

#[test]
fn denials_look_behind_wrappers() {
    let rm = scene().skill("a", None, &["Bash(rm:*)", "Bash(git push *)"]);
    all_run(
        &rm,
        &[
            "ls", "rmdir x", "git pull", "git log | sed s/a/b/ > x", "echo rm x", "grep 'rm x' y",
        ],
    );
    none_runs(
        &rm,
        &[
            "rm x", "/bin/rm x", "ls; rm x", "sudo rm x", "sudo -u x rm y", "env X=1 rm x",
            "X=1 rm x", "xargs rm", "find . -exec rm {} +", "bash -c 'rm x'", "eval 'rm x'",
            "eval $x", "$x", "r$m x", "(rm x)", "echo $(rm x)", "\\rm x", "'rm' x",
            "trap 'rm x' EXIT", "sudo bash -c 'rm x'", "nice -n 5 timeout 5 rm x",
            "git push", "git push -f", "git $x", "'unclosed", "bash -c \"$x\"", "busybox rm x",
            "command rm x", "x=rm; $x y",
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
        nested(400, "echo $(", ")"), nested(9000, "$(", ")"), nested(9000, "[[ ( (", ""),
        nested(9000, "(", ")"), nested(9000, "{ ", "; }"), nested(5000, "if ", "; then git a; fi"),
        nested(400, "echo \"$(", ")\""), nested(400, "echo $( ')' ", ")"),
        nested(400, "cat <(", ")"),
        "git $(git $(git $(git $(git $(git $(git $(git $(git $(git a))))))))) ".repeat(900),
        "git a;".repeat(10_000),
        "a".repeat(70_000),
        "! ".repeat(30_000),
        "git <<E\n".repeat(5000),
        "`".repeat(60_000),
        "${".repeat(30_000),
        "case x in a) ".repeat(4000),
        "\"$(".repeat(20_000), "nice ".repeat(13_000), "exec env ".repeat(7000), "git > x;".repeat(8000),
        "find . -exec ".repeat(5000), "{a,".repeat(20_000),         nested(5000, "coproc ", ""), nested(5000, "f() ", ""), nested(5000, "time -p ", ""), nested(5000, "function f ", ""),
        format!("[[ {}x ]]", "! ".repeat(20_000)), format!("git $(({}1))", "-".repeat(20_000)),
        format!("git $(({}1{}))", "(".repeat(20_000), ")".repeat(20_000)), format!("git $(({}1{}))", "1?".repeat(9000), ":1".repeat(9000)),
        "{".repeat(60_000),
        format!("git {}{}", "{a,".repeat(200), "\"\"".repeat(9000)), format!("git {{{}", "'a'".repeat(20_000)),
        format!("git {}\"{}\"", "{a,".repeat(200), "$x".repeat(9000)), format!("git {}{}", "{a,".repeat(200), "$(git a)".repeat(900)), "bash -c '".repeat(7000),
    ];
    for command in hostile {
        none_runs(&git, &[&command]);
    }
    let denies = scene().skill("a", None, &["Bash(rm:*)"]);
    for command in ["sudo a b c ".repeat(5000), "find . -exec a \\; ".repeat(4000), "$(".repeat(30_000)] {
        none_runs(&denies, &[&command]);
    }
}
