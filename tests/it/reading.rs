//! `read_skill_file`: text as it is, notices behind it, and an answer where there is no text.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;

const CAP: usize = 256 * 1024;
/// What is returned where no `limit` asks for more.
const UNASKED: usize = 16 * 1024;

pub fn with_skill(host: Host) -> Host {
    host.skill("x", "", "body")
}

#[track_caller]
pub fn read(host: &Host, path: &str) -> String {
    host.tool("read_skill_file", &json!({"skill": "x", "path": path}))
}

#[track_caller]
fn read_lines(host: &Host, path: &str, offset: Value, limit: Value) -> String {
    let mut arguments = json!({"skill": "x", "path": path});
    arguments["offset"] = offset;
    arguments["limit"] = limit;
    host.tool("read_skill_file", &arguments)
}

#[test]
fn text_comes_byte_for_byte() {
    let mut host = with_skill(Host::stdin());
    for text in [
        "plain\n",
        "no newline at the end",
        "crlf\r\nkept\r\n",
        "\u{feff}byte order mark",
        "  spaces \t around  \n\n\n",
        "control \u{1b}[31m and \u{7f}",
        "技能 👍 \u{200b}",
        "Error: not an error\n",
        "</skill_content>",
        "\r",
    ] {
        host = host.file("x/a.txt", text);
        assert_eq!(read(&host, "a.txt"), text);
    }
}

#[test]
fn notices_follow_the_text_on_lines_of_their_own() {
    let host = Host::stdin();
    let host = with_skill(host)
        .file("x/empty.txt", "")
        .file("x/five.txt", "1\n2\n3\n4\n5\n");
    assert_eq!(read(&host, "empty.txt"), "[the file is empty]");
    assert_eq!(
        read_lines(&host, "five.txt", json!(2), json!(2)),
        "2\n3\n[lines 2-3 of 5; continue with offset 4]"
    );
    // Models write numbers as text, too.
    assert_eq!(
        read_lines(&host, "five.txt", json!("5"), json!("9")),
        "5\n[lines 5-5 of 5]"
    );
    assert_eq!(
        read_lines(&host, "five.txt", json!(6), Value::Null),
        "[the file ends at line 5]"
    );
    for odd in [
        json!(-1),
        json!(1.5),
        json!("many"),
        json!([1]),
        json!(true),
    ] {
        read_lines(&host, "five.txt", odd.clone(), Value::Null)
            .begins("Error: ")
            .has("whole number");
    }
    for huge in [json!(u64::MAX), json!("18446744073709551615")] {
        let text = read_lines(&host, "five.txt", huge.clone(), huge);
        assert_eq!(text, "[the file ends at line 5]");
    }
}

#[test]
fn a_large_file_comes_in_parts_that_make_up_the_whole() {
    let host = Host::stdin();
    let line = |n: u32| format!("line {n} é{}", ["\n", "\r\n"][n as usize % 2]);
    let whole = (0..40_000).map(line).collect::<Vec<_>>().concat();
    assert!(whole.len() > 2 * CAP);
    let host = with_skill(host).file("x/big.txt", &whole);
    let mut offset = Value::Null;
    let mut together = String::new();
    for _ in 0..40 {
        let text = read_lines(&host, "big.txt", offset, Value::Null);
        assert!(text.len() < UNASKED + 200);
        let (part, notice) = text.rsplit_once("[lines ").unwrap();
        together.push_str(part);
        match notice.rsplit_once("offset ") {
            Some((_, next)) => offset = json!(next.trim_end_matches(']')),
            None => break,
        }
    }
    assert!(together == whole, "{} of {}", together.len(), whole.len());
}

#[test]
fn a_file_of_one_endless_line_is_shown_in_part() {
    let host = with_skill(Host::stdin()).file("x/min.txt", "é".repeat(CAP));
    let text = read(&host, "min.txt");
    assert!(text.len() < UNASKED + 200 && text.starts_with("éé"));
    text.has("was cut; a `limit` shows more of it]");
}

#[test]
fn what_is_no_utf8_text_is_base64() {
    let host = with_skill(Host::stdin())
        .file("x/a.png", b"\x89PNG\r\n\x1a\n\0\0")
        .file("x/odd", b"a\0b")
        .file("x/latin1.txt", b"caf\xe9")
        .file("x/utf16.txt", b"\xff\xfeh\0i\0")
        .file("x/huge.bin", vec![0; CAP + 1]);
    for (path, begin) in [
        ("a.png", "iVBORw0KGgoAAA==\n["),
        ("odd", "YQBi\n["),
        ("latin1.txt", "Y2Fm6Q==\n["),
        ("utf16.txt", "//5oAGkA\n["),
    ] {
        read(&host, path).begins(begin);
    }
    let text = read(&host, "huge.bin");
    let path = host.skills_dir().join("x/huge.bin").display().to_string();
    text.begins("Error: ").has(&path);
}

#[test]
fn a_file_too_large_to_open_is_an_error() {
    let host = with_skill(Host::stdin());
    let file = fs::File::create(host.skills_dir().join("x/sparse")).unwrap();
    file.set_len(65 * 1024 * 1024).unwrap();
    read(&host, "sparse").begins("Error: ").has("larger than");
}

#[test]
fn a_missing_file_is_answered_with_what_is_there() {
    let host = with_skill(Host::stdin());
    read(&host, "none.md").has("no files besides SKILL.md");
    let host = host
        .file("x/references/forms.md", "")
        .file("x/scripts/fill.py", "")
        .file("x/.git/config", "");
    for path in ["none.md", "references", "references/forms.md/x"] {
        read(&host, path)
            .begins("Error: ")
            .finishes("the skill has references/forms.md, scripts/fill.py");
    }
}

#[test]
fn a_skills_own_tests_are_not_listed() {
    let host = Host::stdin().skill("x", "", "Do it.");
    let files = ["template/a.sh", "tests/b.sh", "tools/c.sh"];
    let host = files
        .iter()
        .fold(host, |host, path| host.file(&format!("x/{path}"), ""));
    let text = host.tool("skill_x", &json!({}));
    text.has("scripts with run_skill_script").lacks("tests/");
}

#[test]
fn an_unknown_skill_is_answered_with_the_nearest() {
    let host = Host::stdin()
        .skill("pdf-forms", "", "")
        .file("broken/SKILL.md", "x");
    let text = host.tool(
        "read_skill_file",
        &json!({"skill": "pdf_from", "path": "a"}),
    );
    assert_eq!(
        text,
        "Error: there is no skill `pdf_from`\ndid you mean `pdf-forms`?"
    );
    host.tool("read_skill_file", &json!({"skill": "broken", "path": "a"}))
        .begins("Error: ")
        .has("no description");
}

#[test]
fn a_reference_is_searched_by_a_pattern() {
    let host = with_skill(Host::stdin()).file("x/a.md", "# Fill\ntext\n## Fill again\n");
    let found = |pattern: &str| {
        let call = json!({"skill": "x", "path": "a.md", "pattern": pattern});
        host.tool("read_skill_file", &call)
    };
    assert_eq!(found("^#+ fill"), "1: # Fill\n3: ## Fill again\n");
    assert_eq!(found("none"), "[no line matches]");
    found("(").begins("Error: ").has("regular expression");
}
