//! Where each limit and condition of reading a command lies: one command on either side of it.

use super::{all_run, git, none_runs, refused_for};
use crate::vocabulary::Language;
use crate::scene::scene;

#[test]
fn a_star_is_confined_in_options_assignments_and_paths() {
    all_run(&scene().active("Bash(cat * -n)"), &["cat ../x -n"]);
}

#[test]
fn the_number_of_constants_is_limited() {
    let scene = scene().active("Bash(git:*) Write(out/**)");
    let assign = |count: usize| {
        let mut many: Vec<String> = (0..count).map(|n| format!("v{n}=out")).collect();
        many.push("git a > $v0/x".to_owned());
        many.join("; ")
    };
    all_run(&scene, &[&assign(24)]);
    none_runs(&scene, &[&assign(25)]);
}

#[test]
fn a_name_before_closing_parentheses_is_no_use() {
    let scene = scene().active("Bash(git:*) Write(out/**)");
    all_run(&scene, &["n=out; git $((1+2)); git a > $n/x", "n=3; git $((n+1)) > out/x"]);
    none_runs(&scene, &["n=out; ( (read n)); git a > $n/x"]);
}

#[test]
fn with_cdpath_a_name_may_be_another_directory() {
    let searching = scene().active("Bash(git:*)").with_cdpath();
    none_runs(&searching, &["cd sub && git a", "cd sub"]);
    all_run(&searching, &["cd ./sub && git a", "cd /p/sub && git a", "git a"]);
    all_run(&git(), &["cd sub && git a"]);
}

#[test]
fn the_command_of_exec_ends_at_its_terminator() {
    let find = scene().active("Bash(find:*) Bash(git:*)");
    all_run(&find, &["find . -exec git log -fls +", r"find . -exec git log -fls \;"]);
    none_runs(&find, &["find . -exec git log + -fls x"]);
}

#[test]
fn a_text_for_another_shell_is_read_as_that_shell_does() {
    let zsh = scene().active("Bash(git:*)").shell(Language::BashOrZsh, false);
    all_run(&zsh, &["bash -c 'path=x; git a'"]);
    none_runs(&zsh, &["path=x; git a"]);
}

#[test]
fn the_number_of_wrappers_is_limited() {
    let wrapped = |count: usize| "env ".repeat(count) + "git a";
    all_run(&git(), &[&wrapped(8)]);
    none_runs(&git(), &[&wrapped(9)]);
}

#[test]
fn a_comment_begins_where_a_word_does() {
    all_run(&git(), &["git log # it's \"fine", "git log a#b", "git log a#b; git status"]);
    none_runs(&git(), &["git log a#b; evil", "git log 'a'#b; evil", "git log # x\nevil"]);
}

#[test]
fn the_toplevel_is_the_project_only_where_its_repository_is() {
    let command = "cd \"$(git rev-parse --show-toplevel)\" && git status";
    all_run(&git(), &[command]);
    none_runs(&git().on(&[("/p/.git", "/nowhere")]), &[command]);
}

#[test]
fn the_length_of_a_command_is_limited() {
    let long = |bytes: usize| format!("git {}", "x".repeat(bytes - 4));
    all_run(&git(), &[&long(64 * 1024)]);
    none_runs(&git(), &[&long(64 * 1024 + 1)]);
}

#[test]
fn the_number_of_words_is_limited() {
    let words = |count: usize| format!("git{}", " a".repeat(count - 1));
    all_run(&git(), &[&words(4096)]);
    none_runs(&git(), &[&words(4097)]);
    let opened = |count: usize| format!("{}git a", "! git a; ".repeat(count));
    all_run(&git(), &[&opened(64)]);
    none_runs(&git(), &[&opened(65)]);
}

#[test]
fn options_of_wrappers_end_where_the_command_begins() {
    all_run(&git(), &["stdbuf -oL git a", "stdbuf -o0 -e4096 git a", "timeout 5 git a", "nice -n 5 git a"]);
    none_runs(&git(), &["stdbuf -o git a", "stdbuf -x git a"]);
    let odd = scene().active("Bash(-x:*)");
    none_runs(&odd, &["timeout 5 -x a", "nice -x a", "env -x a", "stdbuf -oL -x a", "nohup -x a"]);
}

#[test]
fn quotes_and_operators_decide_how_many_words_a_value_is() {
    let find = scene().active("Bash(find:*) Bash(git:*)");
    all_run(&find, &["for f in a b; do find . -name \"$f\"; done", "git log \"{a,b}\"", "find . -name \"$?\"", "find . -name *.py", "find . -iname *test*.rs -print", "find . -name *.py -exec git add {} +"]);
    none_runs(&find, &["for f in a b; do find . -name $f; done", "find . -name ${?:+x -delete}", "find . -name ${#:+x -delete}", "find . -name *", "find . -name *e", "find . -name *-delete", "find . *ec git \\;", "find . -name *$x", "x=$(git a); find . -name $x.py", "find . -name *.{py,x}", "find . -name *.py -delete"]);
}

#[test]
fn constants_are_replaced_behind_a_negation() {
    let scene = scene().active("Bash(git:*) Write(out/**)");
    all_run(&scene, &["D=out; ! git a > $D/x"]);
    none_runs(&scene, &["D=..; ! git a > $D/x"]);
}

#[test]
fn arithmetic_may_have_parentheses() {
    all_run(&git(), &["git log -n $(( (1+2)*3 ))", "git log -n $((1+(2*3)))"]);
    none_runs(&git(), &["git log -n $(( (x)*3 ))", "git log -n $((1+(a[0])))"]);
}

#[test]
fn a_here_document_ends_at_the_depth_of_its_operator() {
    none_runs(&git(), &["git a <<E $(git b\nx\nE\n)", "git a $(git b <<E)\nx\nE", "git a <<E $(\nx\nE\ngit b)"]);
    all_run(&git(), &["git a <<E\nx\nE", "git a $(git b <<E\nx\nE\n)"]);
}

#[test]
fn after_set_a_assignments_reach_programs() {
    let list = scene().active("Bash(git:*) Bash(set:*) Bash(command:*)");
    none_runs(&list, &["set -a; VERSION=1; git a", "set -o allexport; VERSION=1; git a", "command set -a; VERSION=1; git a"]);
    all_run(&list, &["set -e; VERSION=1; git a", "set -euo pipefail; VERSION=1; git a", "VERSION=1; git a"]);
}

#[test]
fn under_denials_a_wrappers_operand_may_be_unknown() {
    let denied = scene().skill("a", None, &["Bash(rm:*)"]);
    all_run(&denied, &["timeout \"$t\" ls", "timeout 5 ls"]);
    none_runs(&denied, &["timeout \"$t\" rm x", "timeout \"$t\" \"$x\"", "timeout 5 \"$x\""]);
}

#[test]
fn a_line_continuation_may_not_join_words() {
    all_run(&git(), &["git \\\na", "git a\\\n b", "git a \\\n  --b", "git\t\\\n\ta", "git a\\\n\tb", "git a \\\n\n"]);
    none_runs(&git(), &["git a\\\nb", "gi\\\nt a", "git a;evi\\\nl", "git a&\\\nevil"]);
}

#[test]
fn a_descriptor_that_is_moved_is_a_file_to_some_shells() {
    for redirection in [">&1-", "2>&1-", "*2>&1-", "<&0-", "2>&1-x", ">&1x", ">&-1", "1>&2-", "x>&2-"] {
        none_runs(&git(), &[&format!("git a {redirection}"), &format!("git a {redirection} | sort")]);
    }
    all_run(&git(), &["git a 2>&1", "git a >&2", "git a 2>&-", "git a <&-", "git a 2>&1 | sort"]);
}

#[test]
fn a_here_document_begins_on_a_line_without_open_quotes() {
    none_runs(&git(), &["git a <<E \"x\nE\ny\"\nE", "git a <<E 'x\nE\ny'\nE", "git a <<E \"x\ny\"\nz\nE"]);
    all_run(&git(), &["git a <<E \"x y\"\nE", "git a \"x\ny\" <<E\nz\nE", "git a \"x \\\ny\" b"]);
}

#[test]
fn a_test_is_negated_once() {
    all_run(&git(), &["[[ ! -d x ]] && git a"]);
    none_runs(&git(), &["[[ ! ! -d x ]] && git a"]);
}

#[test]
fn a_function_is_refused_by_its_first_word() {
    refused_for(&git(), "function f { git a; }", "function");
}

#[test]
fn a_test_has_an_operator_that_every_shell_knows() {
    all_run(&git(), &["[ -f x ] && git a", "test ! -d x"]);
    none_runs(&git(), &["[ -q x ] && git a", "[ -ff x ]", "test - x"]);
}

#[test]
fn the_number_of_redirections_is_limited() {
    let scene = scene().active("Bash(git:*) Write(out/**)");
    let files = |count: usize| format!("git a{}", " > out/x".repeat(count));
    all_run(&scene, &[&files(128)]);
    none_runs(&scene, &[&files(129)]);
    let commands = |count: usize| vec!["git a"; count].join(";");
    all_run(&scene, &[&commands(1001)]);
    none_runs(&scene, &[&commands(1002)]);
    let nested = |depth: usize| format!("{}git a{}", "if git a; then ".repeat(depth), "; fi".repeat(depth));
    all_run(&scene, &[&nested(31)]);
    none_runs(&scene, &[&nested(33)]);
}

#[test]
fn options_and_builtins_behind_wrappers_differ() {
    all_run(&git(), &["timeout --signal=KILL 5 git a", "timeout 1.5 git a", "nice time -p git a", "git a | grep -e 'a b'"]);
    none_runs(&git(), &["timeout -5 git a", "timeout 5m. x git a", "env cd sub", "nice cd sub", "timeout 5 cd .", "env set -e", "nice umask 022"]);
    none_runs(&git(), &["time A=1 git a", "time LC_ALL=C git a", "[ -n x", "sort", "git a | awk 'BEGIN{print \"a\nb\"}'"]);
    all_run(&git(), &["time git a | git b", "[[ x ]] && git a", "git a | sed 's/[[:space:]]*$//'"]);
    let out = scene().active("Bash(git:*) Write(out/**)");
    all_run(&out, &["git a > out/x~", "cat > out/x <<< y"]);
    none_runs(&out, &["cat > out/x", "D=out > out/y; git a > $D/x", "D=/x; git a > ~$D"]);
    let push = scene().skill("a", None, &["Bash(git push:*)"]);
    none_runs(&push, &["git --exec-path push"]);
    all_run(&push, &["git -C push pull"]);
    refused_for(&git(), "coproc git a", "coproc");
}
