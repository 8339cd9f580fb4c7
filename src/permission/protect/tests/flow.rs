//! Where a value, a link or a printed name comes from decides what a later word may be.

use super::indirect::{refused, refused_for_its_place, runs};

#[test]
fn what_stands_behind_each_unknown_part_counts() {
    refused_for_its_place(&[
        "touch \"$(git rev-parse --show-toplevel)/.claude/sk\"ills/'a)'",
        "touch \"$(pwd -P)/.claude/sk\"ills/'$'",
        "touch \"$(pwd -P)\"/.claude/{sk,q}ills/x$y",
        "sed -i s/a/b/ \"$(git rev-parse --show-toplevel)\"/.claude/sk*/$y/SKILL.md",
        "cp f \"$(git rev-parse --show-toplevel)\"/.claude/sk*/$y",
        "tee `pwd`/.claude/skills/p$y",
        "rm -f \"$(pwd -P)/.claude/skills/p/SKILL.md$y\"",
        "touch ~root/$x/../../p/.claude/skills/x",
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
fn a_value_counts_only_where_it_is_certainly_set() {
    for command in [
        "rm -rf \"$d\".claude/skills; for d in a; do :; done",
        "for d in a; do :; done | true; rm -rf \"$d\".claude",
        "false && for d in a; do :; done; rm -rf \"$d\".claude",
        "false && d=$(mktemp -d); rm -rf \"$d\".claude/skills",
        "rm -rf \"$(mktemp -d -p /nonexistent).claude/skills\"",
        "rm -rf \"$(mktemp -d -p /x)$(pwd -P)/.claude\"",
        "rm -rf \"$(mktemp -d)\"/.'.'/.'.'\"$(pwd -P)\"/.claude",
        "d=$(mktemp -d); rm -rf \"$d\"/.'.'/.'.'/p/.claude",
        "cp f \"$(mktemp -d -p /x)$(pwd -P)/.claude/skills/p/SKILL.md\"",
    ] {
        refused(command);
    }
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
fn a_link_that_the_command_makes_leads_anywhere() {
    for command in [
        "mkdir -p a sub; ln -s ../sub a/b; rm -rf a/b/../.claude/skills",
        "mkdir -p a sub && ln -s ../sub a/b && cd a/b && touch ../.claude/skills/x",
        "mkdir -p a/b && cd a/b && mv ../b ../../b2 && rm -rf ../.claude",
        "mkdir -p a/b && cd a/b && mv ../b ../../b2 && echo hi > ../.claude/skills/x",
        "ln -s ../sub a/b && cd a/b && echo hi > ../.claude/skills/x",
        "ln -s \"$(pwd -P)\" x; touch x/.claude/skills/y",
        "ln -s \"$(pwd -P)\" .; touch p/.claude/skills/y",
        "cp -s \"$(pwd -P)\" x; touch x/.claude/skills/y",
        "l\\n -s \"$(pwd -P)\" y; rm -rf y/.claude",
        "bash -c 'ln -s \"$(pwd -P)\" y'; rm -rf y/.claude",
        "find . -maxdepth 0 -exec sh -c 'ln -s . y' \\;; touch y/.claude/skills/x",
        "ln -s -tsrc \"$(pwd -P)\" y; touch src/project/.claude/skills/x",
        "mkdir -p a/b && cd a/b && env -C .. mv b ../b2 && touch ../.claude/skills/x",
        "mkdir -p a/b && cd a/b && sh -c 'cd .. && mv b ../b2' && touch ../.claude/skills/x",
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
fn any_program_may_print_a_name_that_is_used() {
    for command in [
        "touch \"$(date +.claude/skills)/x\"",
        "rm \"$(date +.claude/skills/pdf/SKILL.md)\"",
        "cp f --target-directory=\"$(date +.claude/skills)\"",
        "sed -n \"w $(date +.claude/skills/x)\" f",
        "grep -rn orig .claude/skills | cut -d: -f1 | xargs sed -i s/orig/new/",
        "sha256sum .claude/skills/pdf/SKILL.md | cut -c67- | xargs touch",
        "git status --porcelain -uall .claude/skills | cut -c4- | xargs sed -i s/orig/new/",
        "ls -d .claude/*/ | while read -r d; do touch \"$d/x\"; done",
        "find .claude -name skills -exec touch {}/x \\;",
        "echo .claude/{skills,x}/y | xargs touch",
        "date +.claude/skills > l; read d < l; touch \"$d/x\"",
        "read d <<< .claude/skills; touch ./$d/x",
        "read d <<< .chibi/x; touch ~/$d",
        "y=.claude/skills:b; touch ./${y%:*}/x",
        "y=.claude/skXX; touch ${y%%X*}ills/x",
        "ls .claude/skills/pdf/SKILL.md; rm -f \"$_\"",
        "d=$(echo x@.claude/skills@y | cut -d@ -f2); touch \"./$d/x\"",
        "d=$(printf %s '~.claude/skills~' | tr -d '~'); rm -f \"$d/pdf/SKILL.md\"",
        "ls -d .{claude,x}/* | while read d; do touch \"$d/y\"; done",
        "d=$(cat .claude/skills 2>&1 | cut -d: -f2); touch $d/x",
        "while IFS=: read -r a b; do cp f ./$b/x; done <<< a:.claude/skills",
    ] {
        refused(command);
    }
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
        "git -c Alias.z='clean -fdx' z",
        "git config Core.WorkTree ../.claude; git clean -fdx skills",
        "git config core.worktree ../.claude",
        "git -c help.autocorrect=immediate cleam -fdx",
        "git config foo.z clean; git config --rename-section foo alias; git z -fdx",
        "git -c include.path=out/x clean -fdx skills",
    ] {
        refused(command);
    }
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
fn our_program_is_known_in_each_directory_and_by_its_name() {
    for command in [
        "exec env -C /x \"$(printf CHI)BI_HOOK=on_start\" ./agent-skills",
        "env PATH=/x:/usr/bin \"$(printf CHI)BI_HOOK=on_start\" agent-skills",
        "PATH=/x:$PATH; ionice agent-skills list",
        "PATH=/x:$PATH; find . -maxdepth 0 -exec agent-skills \\;",
        "PATH=/x:$PATH; command -- agent-skills list",
        "for f in /h/.chibi/plugins/*/a*s; do \"$f\" list; done",
        "cp ~/.chibi/plugins/agent-skills/agent-skill? q",
        "PATH=/x agent-skills list",
        "PATH=/x:$PATH; agent-skills list",
        "sudo -D /x ./agent-skills",
        "exec agent-skills list",
        "bash -c '\"$0\" list' bin/skills",
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
