//! Steps as Claude Code takes them in real work, under the lists that skills have for such work.

use super::{World, claude_code};
use crate::host::finish;

/// Each step passes (`+`) or is refused (`-`, with the reason above it), in a repository; `⏎` is a line end.
fn go_as_they_say(list: &str, steps: &str, at_least: usize) {
    let world = World::of(&claude_code::FORM).skill("work", &format!("allowed-tools: {list}"));
    let files = "package.json src/login.ts src/index.ts src/main.rs README.md CHANGELOG.md";
    for file in files.split(' ') {
        let path = world.project().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    std::fs::create_dir_all(world.project().join("frontend")).unwrap();
    for dir in ["objects", "refs"] {
        std::fs::create_dir_all(world.project().join(".git").join(dir)).unwrap();
    }
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", "")] {
        std::fs::write(world.project().join(".git").join(file), text).unwrap();
    }
    assert!(world.activate("work").is_silent());
    let mut passed = 0;
    for line in steps.lines().filter(|line| !line.starts_with('#')) {
        let (sign, command) = line.split_at(2);
        let text = command.replace('⏎', "\n");
        let answer = world.run(&text);
        assert_eq!(answer.is_denied(), sign == "- ", "{command}: {answer:?}");
        // A person who asks beforehand is told the same.
        let mut check = world.command();
        check.args("check work --agent claude-code --tool Bash --arg".split(' '));
        let checked = finish(check.arg(format!("command={text}")), b"");
        assert_eq!(checked.status == 1, sign == "- ", "{command}: {checked:?}");
        passed += usize::from(sign == "+ ");
    }
    assert!(passed >= at_least, "{passed}");
}

#[test]
fn steps_with_git_pass() {
    go_as_they_say("Read, Bash(git:*)", include_str!("git_steps.txt"), 28);
}

#[test]
fn mixed_steps_pass() {
    let list = "Read, Edit, Grep, Glob, Bash(git:*), Bash(npm test:*), Bash(npm run:*), \
                Bash(python3 -m pytest:*)";
    go_as_they_say(list, include_str!("mixed_steps.txt"), 24);
}
