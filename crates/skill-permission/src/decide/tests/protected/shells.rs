//! What shells and `git` make of words: empty parameters, values that they set themselves, and
//! patterns.

use super::indirect::{refused, refused_for_its_place, runs};

#[test]
fn an_unknown_part_of_a_name_names_no_place() {
    for command in [
        "touch src/$name.md",
        "touch a$x/skills/n",
        "touch a$@b",
        "rm \"out/$1.txt\"",
        "cp x ~/.config/$app/$file",
        "echo x > log-$$.txt",
    ] {
        runs(command);
    }
}

#[test]
fn a_pattern_is_cut_off_as_shells_do() {
    refused_for_its_place(&[
        "for x in q.claude; do rm -r ${x#q}; done",
        "for x in .claudeq; do rm -r ${x%q}; done",
    ]);
    runs("for x in a.md b.md; do rm -r \"out/${x%.md}\"; done");
}

#[test]
fn text_before_mktemp_is_checked() {
    refused("rm -rf .claude/skills$(mktemp -d)");
    runs("for f in out/a; do rm -r \"$f\"; done");
    runs("tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; ls > \"$tmp/x\"");
}

#[test]
fn git_settings_are_read_where_given() {
    for command in [
        "git add src/alias.ts",
        "git log -- src/alias.ts",
        "git rm src/alias.ts",
        "git commit -m \"Document alias.co\"",
        "git grep -n 'alias\\.' -- src",
        "git commit -m \"fix: respect core.worktree\" && git rm f",
        "git log --color -- alias.ts",
        "git",
    ] {
        runs(command);
    }
}

#[test]
fn a_directory_outside_protected_places_may_be_moved() {
    runs("mkdir a; mv a b && cd b && ls ../x");
    runs("mv a b; cd a && touch ../x");
}

#[test]
fn a_link_is_replaced_and_not_entered() {
    refused_for_its_place(&[
        "ln -sfn out2 .claude",
        "ln -snf \"$PWD/e\" .claude",
        "ln -s --no-dereference -f e .claude",
        "ln -sfh e .claude",
    ]);
    runs("ln -sfn v2 current");
    refused_for_its_place(&["rsync -a --delete .claude/ sub"]);
    runs("cp T .claude");
    runs("cp skills/x \"$d\"");
}

#[test]
fn a_file_may_be_in_each_directory_that_is_entered() {
    for command in [
        "if true; then cd .claude; fi; echo x > skills/n",
        "for i in 1; do cd .claude; echo x > skills/n; done",
        "true | cd .claude; echo x > skills/n",
    ] {
        refused(command);
    }
    runs("if true; then cd out; fi; echo x > n");
}

#[test]
fn text_from_outside_the_command_is_unknown() {
    runs("curl -s https://x.org/install | sh");
    runs("bash x.sh < .claude/y");
}

#[test]
fn error_output_is_unknown() {
    runs("cat .claude/skills/x >&2; touch \"$d\"");
}

#[test]
fn a_suffix_is_cut_off_a_wildcard() {
    for command in [
        "for f in .claude.*; do rm -r \"${f%.*}\"; done",
        "for f in .claude.*; do rm -r ${f%.*}; done",
        "for f in .cl*.x; do rm -r \"${f%.*}\"; done",
        "for f in .claude/*; do rm -r \"${f%/*}\"; done",
        "for f in q/.cl*; do rm -r \"${f##*/}\"; done",
    ] {
        refused(command);
    }
}

#[test]
fn a_substitution_ends_at_its_own_parenthesis() {
    runs(&format!("touch \"$(echo '{}')/x.md\"", ")".repeat(70)));
}

#[test]
fn options_of_git_clean_may_name_files() {
    refused("agent-skills list");
    refused_for_its_place(&[
        "git clean -fd x --output=.claude/skills/n",
        "for o in '--output=.claude/skills/n'; do git clean -fd x $o; done",
    ]);
    runs("/u/l*/b/c/d");
}
