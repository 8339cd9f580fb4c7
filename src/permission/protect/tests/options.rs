//! Words that become options, subcommands or several words only when the command runs, and options
//! whose value is a file.

use super::indirect::{refused, refused_for_its_place, runs};

#[test]
fn a_word_may_become_an_option() {
    refused_for_its_place(&[
        "for o in --output=.claude/skills/p/SKILL.md; do git log -1 --format=x \"$o\"; done",
        "echo --output=.claude/skills/p/SKILL.md | xargs git log -1",
        "git log -1 \"$(echo --output=.claude/skills/p/SKILL.md)\"",
        "git log -1 --out{put=.claude/skills/p/SKILL.md,put=x}",
        "git diff {--output=.claude/skills/p/SKILL.md,--stat}",
        "for o in --target-directory=.claude/skills/p; do cp \"$o\" a/SKILL.md b/SKILL.md; done",
        "for o in --target-directory=.claude/skills; do mv \"$o\" a b; done",
        "cp \"$(echo --target-directory=.claude/skills/p)\" a/SKILL.md b/SKILL.md",
        "cp {--target-directory=.claude/skills/p,a/SKILL.md} b/SKILL.md",
        "for o in -l; do cp $o .claude/skills/p/SKILL.md out/y; done",
        "cp \"$(echo -l)\" .claude/skills/p/SKILL.md out/y",
        "cp {-l,.claude/skills/p/SKILL.md} out/y",
        "for d in -delete; do find .claude/skills \"$d\"; done",
        "echo -delete | xargs find .claude/skills",
        "find .claude/skills {-name,SKILL.md,-delete}",
        "find .claude/skills -name x $(echo -delete)",
        "find -O3 .claude/skills -delete",
        "find -D x .claude/skills -delete",
        "find -- .claude/skills -delete",
        "find -f .claude/skills -delete",
        "find sub -name x -exec ls {} + -o -delete .claude",
        "sed -n p .claude/skills/a -i",
        "sed -n p .claude/skills/a $x",
        "sed -n p .claude/skills/a --in-place",
    ]);
    for command in [
        "for d in -delete; do find . \"$d\"; done",
        "find . -name x $(echo -delete)",
        "find -files0-from - -delete",
        "for v in clean; do git \"$v\" -fdx; done",
        "echo clean -fdx | xargs git",
        "git $(echo clean) -fdx",
        "git {clean,-fdx}",
    ] {
        refused(command);
    }
}

#[test]
fn an_unquoted_value_is_several_words() {
    for command in [
        "for x in 'a .claude'; do rm -rf $x; done",
        "for x in '.clau*'; do rm -rf $x; done",
        "for x in '.clau*'; do cp a/SKILL.md $x/skills/p; done",
        "for x in 'f .claude/skills/p/SKILL.md'; do tee $x; done",
        "for x in a*; do rm -rf $x; done",
        "IFS=:; for x in f:.claude; do rm -rf $x; done",
    ] {
        refused(command);
    }
}

#[test]
fn a_value_is_known_only_if_nothing_else_binds_it() {
    for command in [
        "echo .claude | { for x in a; do read -r 'x'; rm -rf \"$x\"; done; }",
        "for x in a; do sh -c 'x=.claude; rm -rf \"$x\"'; done",
        "for x in a; do sh -c 'for x in .claude; do rm -rf \"$x\"; done'; done",
        "for x in a; do sh -c 'rm -rf \"$x\"'; done",
        "ls &>/dev/null; for x in a; do read -r x <<< .claude; rm -rf \"$x\"; done",
        "for x in a; do export \"x=.claude\"; rm -rf \"$x\"; done",
        "for x in a; do printf -vx %s .claude; rm -rf \"$x\"; done",
        "for x in a; do eval \"$y\"; rm -rf \"$x\"; done",
        "x=out; printf -vx %s .claude; rm -rf \"$x\"",
        "x=$(mktemp -d); echo .claude | while read -r 'x'; do rm -rf \"$x\"; done",
        "x=$(mktemp -d); sh -c 'x=.claude; rm -rf \"$x\"'",
        "x=$(mktemp -d); eval 'read -r x' <<< .claude; rm -rf \"$x\"",
        "PWD=/p/.claude; rm -rf \"$PWD/skills\"",
        "export HO''ME=/p/.claude; rm -rf ~/skills",
        "x=ME; export \"HO$x=/p/.claude\"; rm -rf ~/skills",
        "export I''FS=:; for x in f:.claude; do rm -rf $x; done",
    ] {
        refused(command);
    }
}

#[test]
fn git_reads_its_own_options_and_patterns() {
    for command in [
        "git --attr-source HEAD clean -fdx",
        "git --shallow-file x clean -fdx",
        "git --attr-source HEAD rm -rf .claude",
        "git clean -fdx -e -n",
        "git clean -fdx -n --no-dry-run",
        "git clean -fdx -- .claude -n",
        "git clean -fdx $x -n",
        "git rm -rf --cached --no-cached .claude",
        "git rm -rf --cached --no-ca .claude",
        "git clean -fdx '.clau*'",
        "git clean -fdx \".claude/*\"",
        "git rm -rf '.clau*'",
        "git rm -rf '*.md'",
        "git rm -rf *.md",
        "cd sub && GIT_DIR=../.git GIT_WORK_TREE=.. git clean -fdx",
        "export GIT_WORK''_TREE=..; cd sub && git clean -fdx",
    ] {
        refused(command);
    }
}

#[test]
fn the_value_of_an_option_may_be_a_file_that_is_written() {
    refused_for_its_place(&[
        "rsync --log-file .claude/skills/p/SKILL.md a b",
        "rsync --write-batch .claude/skills/p/x a b",
        "rsync -b --backup-dir .claude/skills/p a/SKILL.md b/",
        "rsync -a --link-dest /p/.claude/skills/p a/ out/",
        "install -d .claude/skills/new out",
        "install --directory .claude/skills/new out",
        "echo -o.claude/skills/p/SKILL.md | xargs sort f",
        "sed -n \"$(echo w.claude/skills/p/SKILL.md)\" f",
    ]);
}

#[test]
fn what_only_looks_like_a_path_is_none() {
    for command in [
        "git clean -fdx -e nothing",
        "git clean -fdx --exclude nothing",
        "git clean -fdxe nothing",
        "for e in -e; do git clean -fdx \"$e\" x; done",
        "for e in -fdx; do git clean \"$e\"; done",
        "git clean {-f,-d,-x}",
        "for o in -delete; do find \"$o\"; done",
        "find {-depth,-delete}",
        "find -name SKILL.md \"$(echo -delete)\" -delete",
        "rm -rf \"$(mktemp -d /nope/XXXX)/p/.claude/skills\"",
        "d=$(mktemp -d /nope/XXXX); rm -rf \"$d/p/.claude/skills\"",
        "TMPDIR=.claude/skills; export TMPDIR; cp a/SKILL.md \"$(mktemp -d)/SKILL.md\"",
        "git c{lean,} -fdx .",
        "git -c alias.z=clean z -fdx",
        "git config alias.z clean; git z -fdx",
        "cd sub && git -c core.work''tree=.. clean -fdx",
        "cd sub && GIT_CONFIG_COUNT=1 git clean -fdx",
    ] {
        refused(command);
    }
}

#[test]
fn an_option_that_is_not_whole_may_be_any() {
    refused_for_its_place(&[
        "cp -r\"$(echo t)\" .claude/skills a",
        "cp -\"$(echo t)\" .claude/skills/p a/SKILL.md",
        "install --\"$(echo target-directory)\" .claude/skills/p a/SKILL.md",
        "cp -\"$(echo l)\" .claude/skills/p/SKILL.md out/y",
        "cp --\"$(echo link)\" .claude/skills/p/SKILL.md out/y",
        "install -\"$(echo d)\" .claude/skills/new out/x",
        "rsync -b --\"$(echo backup-dir)\" /p/.claude/skills/p a/SKILL.md b/",
        "rsync -e 'rm -rf .claude/skills --' x:y z",
        "rsync -e \"sh -c 'rm -rf .claude/skills'\" x:y z",
        "dd if=$(echo a/SKILL.md of=.claude/skills/p/SKILL.md)",
        "read x <<< 'a of=.claude/skills/p/SKILL.md'; dd if=$x",
        "grep -rl hi .claude/skills | xargs sed -i s/hi/b/",
        "d=$(stat -c %n .claude/skills/p/SKILL.md); echo evil | tee \"$d\"",
        "v=out/a+.claude/skills/p/SKILL.md; rm -f \"${v#*+}\"",
    ]);
    refused("for foo in a; do read fo? <<< .claude/skills; rm -rf \"$foo\"; done");
    refused("for aa in x; do read -raaa <<< .claude/skills; rm -rf \"$aa\"; done");
    refused("sort -o\"$(echo .claude)\"/skills/p/SKILL.md f");
    refused("rm -\"$(echo rf)\" \"$(echo ../p)\"");
}

#[test]
fn honest_commands_with_variables_run() {
    for command in [
        "PKGS=\"git curl\"; apt-get install -y $PKGS",
        "OPTS=\"-x -q\"; pytest $OPTS",
        "FILES=\"a.py b.py\"; black $FILES && git add $FILES && git diff -- $FILES",
        "FILES=\"src/*.py\"; black $FILES",
        "x=\"a b\"; touch $x",
        "args=\"--oneline -5\"; git log $args",
        "for f in src/*.py; do black $f; done",
        "for f in *.py; do git mv \"$f\" src/; done",
        "git log \"$b\" -- .claude/skills",
        "git show $(git rev-parse HEAD) --stat -- .claude/skills",
        "git rm -q --cached \"$f\"",
        "git ls-files '*.pyc' | xargs git rm --cached",
        "git clean -n -e '*.log'",
        "cp --remove-destination .claude/skills/p/SKILL.md x",
        "rsync -a --exclude .claude/skills ./ /tmp/backup/",
        "rsync -a --no-perms .claude/skills/ /tmp/b/",
        "d=$(mktemp -d); cp a \"$d/b\"; rm -rf \"$d\"",
        "for d in build dist; do rm -rf \"$d\"; done",
        "for f in a b; do rm -f \"$f\"; done",
        "find . -name \"$p\" -print",
        "find \"$d\" -type f",
        "cp \"$a\" out/",
        "rm \"$f\"",
    ] {
        runs(command);
    }
}

#[test]
fn a_length_has_no_name_of_its_own() {
    refused("d=$(mktemp -d); rm -rf .claude/é ${#d}");
    refused("x=1 y; rm -rf .claude ${#x} é");
}
