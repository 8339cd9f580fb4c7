//! Words that become options, subcommands or several words only when the command runs, and options
//! whose value is a file.

use super::indirect::{refused, refused_for_its_place, runs};

#[test]
fn a_word_may_become_an_option() {
    refused_for_its_place(&[
        "for o in --output=.claude/skills/p/SKILL.md; do git log -1 --format=x \"$o\"; done",
        "git log -1 --out{put=.claude/skills/p/SKILL.md,put=x}",
        "git diff {--output=.claude/skills/p/SKILL.md,--stat}",
        "for o in --target-directory=.claude/skills/p; do cp \"$o\" a/SKILL.md b/SKILL.md; done",
        "for o in --target-directory=.claude/skills; do mv \"$o\" a b; done",
        "cp {--target-directory=.claude/skills/p,a/SKILL.md} b/SKILL.md",
        "for o in -l; do cp $o .claude/skills/p/SKILL.md out/y; done",
        "cp {-l,.claude/skills/p/SKILL.md} out/y",
        "for d in -delete; do find .claude/skills \"$d\"; done",
        "find .claude/skills {-name,SKILL.md,-delete}",
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
        "find -files0-from - -delete",
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
    ] {
        refused(command);
    }
}

#[test]
fn each_value_that_the_text_gives_counts() {
    for command in [
        "for x in a; do sh -c 'x=.claude; rm -rf \"$x\"'; done",
        "for x in a; do sh -c 'for x in .claude; do rm -rf \"$x\"; done'; done",
        "for x in a; do export \"x=.claude\"; rm -rf \"$x\"; done",
        "x=$(mktemp -d); sh -c 'x=.claude; rm -rf \"$x\"'",
        "PWD=/p/.claude; rm -rf \"$PWD/skills\"",
        "export HO''ME=/p/.claude; rm -rf ~/skills",
    ] {
        refused(command);
    }
}

#[test]
fn git_reads_its_own_options_and_patterns() {
    for command in [
        "git --attr-source HEAD rm -rf .claude",
        "git clean -fdx .clau*",
        "git clean -fdx -e -n .claude",
        "git clean -fdx --exclude -n .claude",
        "git clean -fdxe -n .claude",
        "git clean -n --no-dry-run -fdx .claude",
        "git clean -fd --exclude= .claude",
        "git clean -fd -e -e .claude",
        "git clean -fd -- -e .claude",
        "git clean -fd -e $x .claude",
        "git {clean,--} -e .claude",
        "git -C .claude clean -fd -e x",
        "git -C .claude clean -fd -ex --exclude y",
        "for o in -e; do git clean -fd \"$o\" .claude; done",
        "for o in -e; do git clean -fd \"$o\" ../.claude/skills; done",
        "for o in -e; do git -C .claude clean -fd \"$o\" x; done",
        "git mv -n --no-dry-run .claude x",
        "git mv --cached .claude x",
        "git rm -rf --cached --no-cached .claude",
        "git rm -rf -n --no-dry-run .claude",
        "for o in -n -rf; do git rm $o .claude; done",
        "for v in status checkout; do git $v .claude/skills/x; done",
        "for v in log restore; do git $v -- ~/.chibi/x; done",
        "git rm -rf :.claude/skills/x",
        "git -C ~ clean -fdx",
        "git -C .claude clean -fdx",
        "git clean -fdx -- .claude -n",
    ] {
        refused(command);
    }
}

#[test]
fn a_directory_that_install_makes_is_written() {
    refused_for_its_place(&[
        "install -d .claude/skills/new out",
        "install --directory .claude/skills/new out",
    ]);
}

#[test]
fn find_without_a_path_searches_the_current_directory() {
    for command in [
        "for o in -delete; do find \"$o\"; done",
        "find {-depth,-delete}",
    ] {
        refused(command);
    }
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
        "git clean -nd .",
        "git clean -fdx -e .claude -e node_modules",
        "git clean -fde .claude/skills --exclude=.claude --excl .claude -e.claude",
        "git clean -fd -e x -n .claude",
        "git clean -fd build -e \"$x\" -e .claude",
        "git clean -fdxn .",
        "git rm -r --cached --quiet --ignore-unmatch .",
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
fn the_length_of_a_variable_names_no_file() {
    refused("x=1 y; rm -rf .claude ${#x} é");
}

#[test]
fn find_may_delete_by_names_that_no_place_has() {
    for command in [
        "find . -name '*.tmp' -exec rm {} +",
        "find . -type f -iname '*.bak' -exec mv {} old/ \\;",
        "for n in '*.tmp' '*.bak'; do find . -name \"$n\" -exec rm {} +; done",
    ] {
        runs(command);
    }
    for command in [
        "find . -name .claude -exec rm -rf {} +",
        "find . -name '*' -exec rm -rf {} +",
        "find . ! -name x -exec rm -rf {} +",
        "find . -name x -o -exec rm -rf {} +",
        "find . -maxdepth 1 -iname '.c*' -exec rm -rf {} +",
        "find . -name SKILL.md -exec rm {} +",
        "find . -exec rm -rf -- {} -name \\;",
        "find . -exec rm -rf {} + -name x",
        "for n in x SKILL.md; do find . -name \"$n\" -exec rm {} +; done",
        "for f in /dev/null x; do find . -fprintf $f -iname -name SKILL.md -exec rm {} +; done",
        "for p in -print -name; do find . $p x -exec rm -rf {} +; done",
        "find . -name '.\\claude' -exec rm -rf {} +",
        "find . -name 'SKILL\\.md' -exec rm {} +",
        "find . -name '[!]a]KILL.md' -exec rm {} +",
        "find . -name '[a[:alpha:]]KILL.md' -exec rm {} +",
        "find . -fprintf /dev/null -iname -name SKILL.md -exec rm {} +",
        "find . -name q \"$H\", -exec rm -rf {} +",
        "find . \"$H!\" -name q -exec rm -rf {} +",
        "find . -name sub -exec rm -rf {}/../.claude \\;",
        "find . -name settings -exec tee {}.json \\;",
        "find . -name . -exec chmod -R 000 {} +",
        "find . -fprint .claude/skills/x",
        "find . -fprintf .claude/skills/x %p",
        "find . -fls .claude/skills/x",
    ] {
        refused(command);
    }
}

#[test]
fn a_destination_is_replaced_by_options_in_any_form() {
    for command in [
        "cp -rT a .claude",
        "mv -fT a .claude",
        "ln -sfT a .claude",
        "cp -r --no-t a .claude",
        "cp --parents skills/evil/SKILL.md .claude",
        "rsync -aR skills/evil .claude/",
        "rsync --files-from=l src .claude",
        "git clean -fd out -e -delete .claude",
        "git clean -fd -enode .claude",
        "env -C .claude sh -c 'tee skills/x'",
        "env -C .claude sh -c 'true > skills/x'",
    ] {
        refused(command);
    }
}

#[test]
fn every_expansion_of_a_word_is_followed() {
    for command in [
        "for p in rm; do $p -rf .claude; done",
        "{rm,-rf} .claude",
        "for v in clean; do git $v -fdx .claude; done",
        "git {clean,-fdx} .claude",
        "x=sub; x=.claude; git -C \"$x\" clone u skills/s",
        "tar -C .claude -xf a skills/s -C out",
        "sed -n 'w .claude/skills/a' b",
        "sed -i 's/a/b/;W .claude/skills/a' c",
        "cd .claude/skills && ln -s \"$x/s\" -e",
        "find .claude -maxdepth 0 -exec touch *",
    ] {
        refused(command);
    }
    runs("for p in rm touch; do $p -f build/x; done");
    runs("git clean -fd \"$x\"");
    runs("find . -maxdepth 1 -name *.log");
    runs("find . -path ./node_modules -prune -o -name *.ts -print");
}
