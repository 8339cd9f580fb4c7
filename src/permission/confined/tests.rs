use super::*;
use proptest::prelude::*;
use std::process::Command;

const TO: Confined = Confined {
    program: "/opt/my tools/agent-skills",
    skill_dir: "/s/it's",
    project_dir: "/p",
    shell: "bash",
};

#[test]
fn a_wrapped_command_is_readable() {
    let wrapped = TO.wrap("git log 'a b'").unwrap();
    let expected = r"'/opt/my tools/agent-skills' confine --skill '/s/it'\''s' --project '/p' -- bash -c 'git log '\''a b'\'''";
    assert_eq!(wrapped, expected);
    assert_eq!(TO.wrap("a\0b"), None);
}

/// What a shell makes of the words after the program.
fn read_by(shell: &str, wrapped: &str) -> Vec<String> {
    let program = quoted(TO.program);
    let words = wrapped.strip_prefix(&*program).unwrap();
    let mut run = Command::new(shell);
    let output = run.arg("-c").arg(format!("printf '%s\\0'{words}")).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn real_shells_read_the_command_back() {
    for command in [
        "",
        "-n",
        "'",
        "''",
        "a''b'",
        "\\",
        "a\\\nb\n",
        "$(touch x) `y` \"z\" !! ~ *",
        "cat <<'EOF'\n$x\nEOF\n",
        "é\u{1b}[2J\t\r",
    ] {
        let wrapped = TO.wrap(command).unwrap();
        for shell in ["sh", "bash"] {
            let words = read_by(shell, &wrapped);
            assert_eq!(words.last().map(String::as_str), Some(command));
            assert_eq!(words.len(), 9, "{wrapped}");
        }
    }
}

proptest! {
    #[test]
    fn what_was_wrapped_is_read_back(command in "[^\0]*", dir in "/[^\0]*") {
        let to = Confined { skill_dir: &dir, ..TO };
        let wrapped = to.wrap(&command).unwrap();
        let words = shlex::split(&wrapped).unwrap();
        let expected = [
            TO.program, VERB, "--skill", &dir, "--project", "/p", "--", "bash", "-c", &command,
        ];
        prop_assert_eq!(words, expected);
    }
}
