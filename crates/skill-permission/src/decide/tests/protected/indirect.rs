//! Protected places that a command names indirectly: from another directory, behind a variable or a
//! wrapper, in a text that it runs. Each command is refused for the place alone: it runs once it names
//! another place.

use serde_json::json;

use crate::scene::{Scene, scene};

/// Under a bare shell only protected places are refused. None of the directories holds our program.
fn bare() -> Scene {
    let disk = [
        ("/p", "/p"),
        ("/h", "/h"),
        ("/p/.claude", "/p/.claude"),
        ("/p/out", "/p/out"),
        ("/p/sub", "/p/sub"),
        ("/p/link", "/p/.claude"),
        (
            "/p/bin/skills",
            "/h/.chibi/plugins/agent-skills/agent-skills",
        ),
    ];
    scene().active("Bash Write Read").on(&disk)
}

#[track_caller]
pub fn refused(command: &str) {
    assert!(!bare().runs(command), "accepted: {command}");
}

#[track_caller]
pub fn runs(command: &str) {
    let why = || bare().refusal("shell_exec", &json!({ "command": command }));
    assert!(bare().runs(command), "{command}: {}", why());
}

#[track_caller]
pub fn refused_for_its_place(commands: &[&str]) {
    for command in commands {
        refused(command);
        let other = command.replace(".claude", "out").replace(".cl*", "ou*");
        let other = other
            .replace("link/", "out/")
            .replace("~/.chibi", "~/work")
            .replace(".chibi", "work");
        assert_ne!(&other, command);
        runs(&other);
    }
}

#[test]
fn a_program_runs_in_a_directory_that_it_is_given() {
    refused_for_its_place(&[
        "git -C .claude clone u skills",
        "git -C.claude clone u skills",
        "git -C . -C .claude clone u skills",
        "git -C sub -C ../.claude clone u skills/new",
        "git -C ../p/.claude worktree add skills",
        "git -C .cl* init skills",
        "git -C .claude rm -r skills",
        "git -C .claude mv ../x skills",
        "git --work-tree=.claude clean skills",
        "git --work-tree .claude checkout skills",
        "git -C link/ clone u skills",
        "cd sub && git -C ../.claude clone u skills",
        "timeout 5 git -C .claude clone u skills",
        "sudo git -C .claude clone u skills",
        "tar -C .claude -xf a skills",
        "tar -xf a -C.claude skills/x",
        "tar --directory=.claude -xf a skills",
        "make -C ~ .chibi/x",
        "env -C .claude rm -rf skills",
        "env -C .claude mv skills /tmp/x",
        "env -C .claude tee skills/x",
        "env --chdir=.claude rm -rf ./skills/x",
        "env -C sub env -C ../.claude touch skills/new",
        "env -C sub -- touch ../.claude/skills/new",
        "env --chdir=sub env -C.. touch .claude/skills/new",
        "sudo -D .claude rm -rf skills",
        "sudo env -C .claude cp x skills/y",
        "curl --output-dir sub -o ../.claude/skills/x u",
        "unshare --wd=sub rm -rf ../.claude/skills",
    ]);
}

#[test]
fn command_strings_are_read_where_they_run() {
    refused_for_its_place(&[
        "cd .claude && sudo bash -c 'rm -rf skills'",
        "sudo bash -lc '>.claude/skills/x'",
        "bash -lc \"touch .claude/skills/n $x\"",
        "eval \"touch $HOME/.chibi/x\"",
        "sudo a 'b c' 'b c' 'b c' 'b c' 'b c' 'b c' 'b c' 'b c' 'b c'; sudo sh -c 'rm -rf ~/.chibi'",
    ]);
}

#[test]
fn every_assigned_value_of_a_variable_is_checked() {
    refused_for_its_place(&[
        "x=.claude; x=sub; git -C \"$x\" clone u skills/new",
        "git \"$(x=skills/new; git -C .claude clone u $x)\"",
        "read d; d=.claude/skills/new; touch $d",
        "d=sub; for d in sub skills/new; do git -C .claude clone u $d; done",
        "for d in sub \"$x\" .claude/skills/new; do touch $d; done",
        "d=~/.chibi; touch $d/x",
        "d=$PWD/.claude/skills; touch $d/x",
        "d=$(pwd)/.claude/skills; cp -r src \"$d/\"",
        "cd .claude; touch $PWD/skills/new",
        "cd .claude; touch \"$(pwd)/skills/new\"",
        "cd sub; cd ..; rm -rf \"$PWD\"/.claude",
    ]);
}

#[test]
fn parameter_expansions_of_known_values_are_followed() {
    refused_for_its_place(&[
        "touch \"${x:-.claude/skills/n}\"",
        "touch \"${x-.claude/skills}/n\"",
        "touch ${x:+.claude/skills/n}",
        "f=.claude/skills.md; touch \"${f%.md}/n\"",
        "f=.claude/skills/x; touch \"${f%/*}/n\"",
        "f=.claude/skills.md; touch \"${f%.*}\"",
        "cd .claude; f=x/skills; touch \"${f##*/}/n\"",
        "f=./.claude/skills; touch \"${f#./}/n\"",
    ]);
}

#[test]
fn an_assigned_home_is_followed() {
    refused_for_its_place(&[
        "set -- .claude/skills; touch \"$1\"/n",
        "sh -c 'touch $1/n' _ .claude/skills",
        "HOME=/p/.claude/skills; touch ~/x",
    ]);
    for command in [
        "HOME=$PWD/.claude; touch ~/skills/x",
        "git rm -rf --ignore-unmatch -- --cached .claude/skills",
        "x=-i; find . -exec sed $x s/a/b/ {} +",
        "cp a \"$(pwd -P)\"/.claude/sk*/",
    ] {
        refused(command);
    }
    for command in [
        "export PATH=\"$HOME/.local/bin:$PATH\"",
        "PATH=$HOME/.chibi-bin:$PATH make",
        "mkdir -p .claude-x/$x",
        "git commit -m \"Update .claude/skills docs\" && git push origin \"$BRANCH\"",
        "cat .claude/skills/foo/SKILL.md; python3 run.py \"$x\"",
        "grep -rn x .claude/skills; npx eslint \"$f\"",
        "[ -d .claude/skills ] && npx foo \"$arg\"",
        "\"$PYTHON\" -m pytest .",
        "find sub -name x -exec cp {} out/{} ';'",
    ] {
        assert!(bare().runs(command), "{command}");
    }
    assert!(bare().runs("node \"$PLUGIN/skills/s/scripts/x.js\" --status"));
}

#[test]
fn links_and_alternatives_of_an_operand_are_checked() {
    refused_for_its_place(&[
        "./cat .claude/skills/n",
        "bin/ls .claude/skills/n",
        "/usr/../p/cat .claude/skills/n",
    ]);
    refused(&format!("touch out/{}", "{a,b,c,d}".repeat(6)));
}

#[test]
fn a_long_script_in_an_argument_is_checked() {
    let code = |lines| "value = table[key][1:2]; other: int = 3\n".repeat(lines);
    assert!(bare().runs(&format!("python3 -c '{}'", code(400))));
    // It may also be a command line.
    assert!(bare().runs(&format!("uv run python -c \"{}\"", code(100))));
}

#[test]
fn each_expansion_of_a_redirection_target_is_checked() {
    refused_for_its_place(&[
        "echo > .cl*/skills/x",
        "bash -c 'echo > .cl*/skills/x'",
        "echo > {.claude,}/skills/x",
        "d=.claude; echo > $d/skills/x",
    ]);
    refused("echo > /skills/s/SKILL.m*");
    assert!(bare().runs("cat < .cl*/skills/x"));
}

#[test]
fn the_value_of_a_variable_for_a_program_is_an_operand() {
    refused_for_its_place(&[
        "GIT_TRACE=.claude/skills/x git status",
        "GIT_TRACE=$PWD/.claude/skills/x git status",
        "A=1 GIT_DIR=\"$HOME\"/.chibi git init",
    ]);
}

#[test]
fn pwd_is_known_in_each_form() {
    refused_for_its_place(&[
        "touch `pwd`/.claude/skills/new",
        "touch \"${PWD%/}/.claude/skills/n\"",
        "rm -f \"${HOME:?}/.chibi/state\"",
    ]);
}

#[test]
fn programs_are_found_behind_wrappers() {
    refused_for_its_place(&[
        "env X=1 find .claude -delete",
        "sudo find .claude -delete",
        "no-such-wrapper -x 5 -- rm -rf ~/.chibi",
        "./wrap.sh rm -rf ~/.chibi",
    ]);
    refused("setsid git clean -fdx .claude");
}

#[test]
fn variables_of_a_host_call_may_not_be_set() {
    for command in [
        "find ~ -name agent-skills -type f -exec env CHIBI_HOOK=on_start {} ';'",
        "env CHIBI_\"HOOK\"=on_start \"$(echo ~/.chibi/plugins/agent-skills/agent-skills)\"",
        "env CHIBI_TOOL_NAME=skill_session \"$x\"",
        "export CHIBI_HOOK; $x",
    ] {
        refused(command);
    }
    assert!(
        scene().runs("env CHIBI_HOOK=on_start x"),
        "nothing is in force"
    );
}

#[test]
fn cd_is_followed_as_a_plain_command() {
    for command in [
        "echo x &>/dev/null tee .claude/skills/n",
        "echo &>/dev/null cd .claude; echo x > skills/n",
        "ls &>/dev/null rm -rf .claude",
        "cd .claude &>/dev/null; cd sub &>/dev/null; echo x > skills/n",
    ] {
        refused_for_its_place(&[&command.replace(".cla?de", ".cl*")]);
    }
}

#[test]
fn a_missing_destination_becomes_the_source() {
    let without = scene().active("Bash Write Read").on(&[("/p", "/p")]);
    for command in ["mv t .claude", "cp -r t .claude", "ln -s t .claude"] {
        assert!(!without.runs(command), "accepted: {command}");
        assert!(bare().runs(command), "{command}");
    }
}

#[test]
fn a_last_word_that_may_vanish_is_no_destination() {
    refused_for_its_place(&[
        "cp -r a .claude/skills/new $x",
        "xargs cp -r a .claude/skills/new",
        "find . -name x -exec cp {} .claude/skills/ \\;",
    ]);
    refused("mv a .claude/skills/new $x");
}
