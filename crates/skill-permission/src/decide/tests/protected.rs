//! Programs × options × spellings × places: no rule lets a command change a protected place or run
//! our program, and unrelated commands pass.

mod flow;
mod indirect;
mod options;
mod sentences;
mod shells;
mod unrelated;

use serde_json::json;

use crate::scene::{Scene, scene};

/// Every form of a restriction: a rule for each program, a bare shell, and denials only.
fn scenes() -> Vec<(&'static str, Scene)> {
    const EACH: &str = "Bash(rm:*) Bash(rmdir:*) Bash(unlink:*) Bash(shred:*) Bash(truncate:*) \
        Bash(tee:*) Bash(chmod:*) Bash(chown:*) Bash(mv:*) Bash(cp:*) Bash(install:*) \
        Bash(rsync:*) Bash(ln:*) Bash(dd:*) Bash(sed:*) Bash(find:*) Bash(find * -delete) \
        Bash(git:*) Bash(touch:*) Bash(mkdir:*) Bash(python3:*) Bash(cat:*) Bash(ls:*) Bash(grep:*) \
        Bash(sudo:*) Bash(busybox:*) Bash(cd:*) Bash(pytest:*) Bash(make:*) Bash(tar:*) \
        Bash(agent-skills:*) Bash(skills:*) Bash(./skills:*) Bash(mktemp:*) Write Read";
    let disk = [
        ("/p", "/p"),
        ("/h", "/h"),
        ("/h/work", "/h/work"),
        ("/tmp", "/tmp"),
        ("/p/.claude", "/p/.claude"),
        ("/p/sub", "/p/sub"),
        ("/p/link", "/h/.chibi"),
        ("/p/up", "/h"),
        ("/h/bin/skills", OURS),
        ("/p/skills", OURS),
    ];
    let deny = ["Bash(no-such-program:*)"];
    [
        ("entries", scene().active(EACH)),
        ("bare", scene().active("Bash Write Read")),
        ("denials", scene().skill("pdf", None, &deny)),
    ]
    .map(|(name, scene)| (name, scene.on(&disk)))
    .into()
}

const OURS: &str = "/h/.chibi/plugins/agent-skills/agent-skills";

/// Spellings of protected places, relative to the project root.
const INSIDE: [&str; 21] = [
    "/h/.chibi/plugins/agent-skills/state.json",
    "~/.chibi/plugins/agent-skills/state.json",
    "$HOME/.chibi/state.json",
    "\"${HOME}/.chibi/state.json\"",
    "~/.chibi",
    "../h/.chibi/x",
    "'/h/.chibi/x y'",
    "/h/./work/../.chibi/x",
    ".claude/skills/new/SKILL.md",
    "./.claude/skills",
    "$PWD/.claude/skills/x",
    "\"$(pwd)\"/.claude/skills/x",
    "/skills/s/SKILL.md",
    "link/state.json",
    "up/.chibi/x",
    "/h/.ch*/x",
    "/h/.[bc]hibi/x",
    "/h/{work,.chibi}/x",
    "/h/{work,{a,.chi{b,c}i}}/x",
    "/h/.Chibi/x",
    "~/.chibi/$x",
];

/// Places above protected ones.
const AROUND: [&str; 9] = [
    "~", "/h", "$HOME", ".claude", "..", "../p", "up", "/", "/{h,tmp}",
];

/// `@` is replaced by the operand.
const CHANGE: [&str; 32] = [
    "rm @",
    "rm -rf @",
    "rm -rf -- x @",
    "command rm -f @",
    "env A=b rm -f @",
    "timeout 5 rm -f @",
    "nice rm -f @",
    "sudo rm -f @",
    "busybox rm -f @",
    "bash -c 'rm -f @'",
    "if true; then rm -f @; fi",
    "rmdir @",
    "unlink @",
    "shred -u @",
    "truncate -s 0 @",
    "echo x | tee @",
    "echo x | tee -a out @",
    "chmod -R 000 @",
    "chown me @",
    "mv @ /tmp/x",
    "mv -t /tmp @",
    "cp -T x @",
    "cp x -t @ -T",
    "ln -s @ y",
    "ln @ y",
    "dd if=x of=@",
    "sed -i s/a/b/ @",
    "sed -Ei.bak s/a/b/ @",
    "find @ -delete",
    "find @ -name x -delete",
    "find @ -exec rm -f {} +",
    "git clean -fdx @",
];

/// Programs that may touch a directory above a protected place, but nothing inside the place.
const ENTER: [&str; 17] = [
    "cp x @",
    "mv x @",
    "ln -sfn x @",
    "install -m 755 x @",
    "rsync -a x @",
    "rsync x @ --exclude y",
    "touch @",
    "mkdir -p @",
    "python3 @",
    "python3 tool.py --out=@",
    "python3 tool.py -o@",
    "curl -so@ u",
    "tar -xzC@ -f a.tar",
    "tar -C @ -xf a.tar",
    "make DEST=@",
    "git add @",
    "git -C @ clean -fd",
];

fn refused(command: &str) {
    for (name, scene) in scenes() {
        assert!(!scene.runs(command), "{name}: {command}");
    }
}

fn runs(command: &str) {
    for (name, scene) in scenes() {
        let why = || scene.refusal("shell_exec", &json!({ "command": command }));
        assert!(scene.runs(command), "{name}: {command}: {}", why());
    }
}

#[test]
fn no_program_changes_a_protected_place() {
    for form in CHANGE.iter().chain(&ENTER) {
        for place in INSIDE {
            if form.contains('\'') && place.contains('\'')
                || (form.contains("o@") || form.contains("C@")) && place.starts_with('~')
            {
                continue;
            }
            // The active skill may use what its own directory contains.
            let uses = ENTER[6..].contains(form) && !form.starts_with("git -C");
            if !(uses && place.starts_with("/skills/s")) {
                refused(&form.replace('@', place));
            }
        }
    }
}

#[test]
fn no_program_removes_an_ancestor_of_a_place() {
    for form in CHANGE {
        for place in AROUND {
            refused(&form.replace('@', place));
        }
    }
}

#[test]
fn each_possible_value_of_a_variable_is_checked() {
    for command in [
        "find . -exec mv {} out ';'",
        "t=$(mktemp -d); t=/h; rm -rf \"$t\"",
        "for d in a ~; do rm -rf \"$d\"; done",
        "for d in a /h/.*; do rm -rf \"$d\"; done",
    ] {
        refused(command);
    }
}

#[test]
fn words_are_read_with_their_quotes() {
    for command in [
        "rm $HOME/\\.chibi/x",
        "rm \"$HOME/.chib\"\\i/x",
        "rm $HOME/'.chibi'/x",
        "rm $HOME/.ch*/x",
        "rm $HOME/{work,.chibi}/x",
        "rm $HOME/work/{../.chibi/x,b}",
        "rm -r -- -x/../../h",
        "rm $PWD/.clau\\de/skills/x",
        "rm \"$PWD\"/'.claude'/skills/x",
        "rm $PWD/.cl*/skills/x",
        "rm \"$PWD\"/.clau\"de\"/skills/x",
    ] {
        refused(command);
    }
    for command in [
        "rm \"$HOME/\\.chibi/x\"",
        "rm \"$HOME/.chi'bi'/x\"",
        "rm \"$HOME/.ch*/x\"",
        "rm \"$HOME/\\$x/y\"",
        "rm -f \"$PWD\"/{build}",
        "rm -r -- -x/../build",
        "rm \"$PWD/.clau\\de/skills/x\"",
        "rm \"$PWD/.cl'au'de/skills/x\"",
        "rm \"$PWD/.cl*/skills/x\"",
        "rm \"$PWD/.cl[a]ude/skills/x\"",
    ] {
        runs(command);
    }
}

#[test]
fn every_value_of_a_loop_is_followed() {
    let over = |last: &str| {
        let words: Vec<String> = (0..300).map(|n| format!("d{n}")).collect();
        let words = words.join(" ");
        format!("for d in {words} {last}; do rm -rf \"$d\"; done")
    };
    runs(&over("d"));
    refused(&over("~/.chibi"));
}

#[test]
fn relative_operands_are_checked_in_each_directory() {
    for command in [
        "cd ~/.chibi/plugins/agent-skills && rm -f state.json",
        "cd ~ && rm -rf .chibi",
        "cd /h && touch .chibi/x",
        "cd sub && rm -f ../.claude/skills/x",
        "cd sub; rm -f ../.claude/skills/x",
        "cd .claude && rm -rf skills",
        "cd .claude && mv ../x skills",
        "git -C ~/.chibi clean -fd",
        "find -delete",
        "ln -s ../h/.chibi x",
        "ln -s .. sub/x",
        "ln -s /x/.claude",
        "mv build/.claude .",
        "cp -r other/.claude .",
        "cp -r templates/. .",
        "rsync -a --delete x/ .",
        "rsync -a x/ .",
        "cp -r --target-directory=/h other/.chibi",
        "cp -r -t/h other/.chibi",
        "cp -rt/h other/.chibi",
        "cp -r -t /h other/.chibi",
        "mv --target-directory=/h other/.chibi",
        "mv --target=/h other/.chibi",
        "mv -t/h other/.chibi",
        "cd ~ && ln -s .chibi/plugins /p/x",
        "cp -r x .claude/",
    ] {
        if !command.starts_with("cp -r x .claude") {
            refused(command);
        }
    }
}

#[test]
fn our_executable_is_refused_under_every_name() {
    for program in [
        OURS,
        "skills",
        "./skills",
        "/h/bin/skills",
        "~/bin/skills",
        "\"$HOME\"/bin/skills",
    ] {
        for form in [
            "@ list",
            "CHIBI_HOOK=on_start CHIBI_HOOK_DATA={} exec @",
            "exec -a x @",
            "env -i A=b @ x",
            "sudo @",
            "timeout 5 @",
            "echo x | xargs @",
            "find . -name x -exec @ {} \\;",
            "bash -c '@ list'",
            "sudo bash -c '@ list'",
            "(cd sub; true) && @",
            "x=$(@)",
            "echo x | @",
        ] {
            if !(form.contains('\'') && program.contains('\'')) {
                refused(&form.replace('@', program));
            }
        }
    }
    let policy = scene().policy(&["WebFetch"]);
    assert!(!policy.runs(&format!("{OURS} deactivate")));
    assert!(policy.runs("rm -rf ~/.chibi"), "no skill restricts");
}
