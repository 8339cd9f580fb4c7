//! Where a value, a link or a printed name comes from decides what a later word may be.

use super::indirect::{refused, refused_for_its_place, runs};

#[test]
fn known_text_before_an_unknown_part_is_checked() {
    refused_for_its_place(&[
        "touch \"$(pwd -P)/.claude/sk\"ills/'$'",
        "touch \"$(pwd -P)\"/.claude/{sk,q}ills/x$y",
        "tee `pwd`/.claude/skills/p$y",
        "rm -f \"$(pwd -P)/.claude/skills/p/SKILL.md$y\"",
    ]);
    for command in [
        "touch \"$a/$b\"",
        "touch \"$(pwd -P)/src/$b.md\"",
        "cp \"$a\" \"$b/$c/x.md\"",
        "mkdir -p \"$out/$name/skills-list\"",
    ] {
        runs(command);
    }
}

#[test]
fn loops_and_mktemp_outside_protected_places_pass() {
    for command in [
        "for d in a b; do rm -rf \"$d\".old; done",
        "for d in a b; do (cd sub && rm -rf \"../$d/x\"); done",
        "d=$(mktemp -d) && cp a \"$d\"/x && rm -rf \"$d\"",
        "t=$(mktemp); sort a > \"$t\"; mv \"$t\" \"$t.bak\"",
    ] {
        runs(command);
    }
}

#[test]
fn a_link_to_an_ancestor_of_a_place_is_refused() {
    for command in [
        "ln -s \"$(pwd -P)\" x; touch x/.claude/skills/y",
        "ln -s \"$(pwd -P)\" .; touch p/.claude/skills/y",
        "cp -s \"$(pwd -P)\" x; touch x/.claude/skills/y",
        "l\\n -s \"$(pwd -P)\" y; rm -rf y/.claude",
        "bash -c 'ln -s \"$(pwd -P)\" y'; rm -rf y/.claude",
        "find . -maxdepth 0 -exec sh -c 'ln -s . y' \\;; touch y/.claude/skills/x",
        "ln -s -tsrc \"$(pwd -P)\" y; touch src/project/.claude/skills/x",
    ] {
        refused(command);
    }
    for command in [
        "ln -s \"$PWD/dist\" bin/app && cp a out/b",
        "cd build && make && cd .. && mv build out",
        "ln -sf dist/index.js bin/app && chmod +x bin/app && cp a out/b",
        "mkdir -p a && cd a && mv ../x . && cat ../y",
        "ln -s ../sub a/b; cat a/b/x; touch out/x",
    ] {
        runs(command);
    }
}

#[test]
fn a_command_substitution_has_no_known_value() {
    for command in [
        "cat .claude/skills/p/SKILL.md | head -5; touch \"$out\"",
        "ls .claude/skills; cp \"$a\" \"$b\"",
        "grep -rn x .claude/skills; mkdir -p \"$dir\"",
        "git status .claude/skills && git commit -m \"$message\"",
        "find .claude -name '*.md' -exec cat {} \\;",
        "find . -name '*.py' -exec touch {} \\;",
        "sed -i \"s/version = .*/version = \\\"$v\\\"/\" Cargo.toml",
        "v=$(grep -oP '(?<=v = \").*(?=\")' Cargo.toml); mkdir -p \"dist/$v\"",
        "git branch | grep 'feature/.*' | xargs git branch -D",
        "find . -name '*.md' -not -path '*/.*' | xargs sed -i s/a/b/",
        "cat .claude/skills/p/SKILL.md 2>/dev/null | head -5; touch \"$out\"",
    ] {
        runs(command);
    }
}

#[test]
fn an_escaped_dollar_begins_no_variable() {
    refused_for_its_place(&["rm -rf .claude/\\${/../sk,q}ills"]);
}

#[test]
fn git_is_read_as_git_reads_it() {
    for command in [
        "git lfs pull",
        "git stash list",
        "git config user.name x",
        "git --version",
    ] {
        runs(command);
    }
}

#[test]
fn our_executable_is_refused_by_path_and_by_name() {
    for command in [
        "env PATH=/x:/usr/bin \"$(printf CHI)BI_HOOK=on_start\" agent-skills",
        "PATH=/x:$PATH; ionice agent-skills list",
        "PATH=/x:$PATH; find . -maxdepth 0 -exec agent-skills \\;",
        "PATH=/x:$PATH; command -- agent-skills list",
        "PATH=/x agent-skills list",
        "PATH=/x:$PATH; agent-skills list",
        "exec agent-skills list",
    ] {
        refused(command);
    }
    for command in [
        "cat agent-skills; cargo build --bin agent-skills",
        "./target/debug/agent-skills --version",
        "for f in scripts/*; do bash \"$f\"; done; scripts/* --help",
        "sudo cp a* /usr/local/bin; cat list | xargs -I{} cp {} src/*",
    ] {
        runs(command);
    }
}
