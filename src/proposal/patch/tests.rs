use super::*;
use crate::proposal::Applied;
use proptest::prelude::*;

const FILE: &str = "---\nname: pdf\n---\nOne.\nTwo.\nThree.\n\nOne.\nFour.\n";

fn parse(diff: &str) -> Result<Vec<FilePatch>> {
    parse_diff(diff, Path::new("/skills/pdf"))
}

fn apply(diff: &str, file: &str) -> Result<Applied> {
    parse(diff)?[0].apply(file, true)
}

fn applied(diff: &str) -> String {
    apply(diff, FILE).unwrap().text
}

fn refusal(diff: &str) -> String {
    apply(diff, FILE).unwrap_err().to_string()
}

const PLAIN: &str = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -4,3 +4,3 @@\n One.\n-Two.\n+2.\n Three.\n";

#[test]
fn the_ways_in_which_models_write_one_diff_mean_one_thing() {
    let new = FILE.replace("Two.", "2.");
    for diff in [
        PLAIN.to_owned(),
        PLAIN.replace("@@ -4,3 +4,3 @@", "@@"),
        PLAIN.replace("@@ -4,3 +4,3 @@", "@@ -90,1 +91,17 @@ section"),
        PLAIN.replace("@@ -4,3 +4,3 @@", "@@ ... @@"),
        PLAIN.replace("@@ -4,3 +4,3 @@\n", ""),
        PLAIN.replace("--- a/SKILL.md\n+++ b/SKILL.md\n", ""),
        PLAIN.replace("a/", "").replace("b/", ""),
        PLAIN.replace("a/", ""),
        PLAIN.replace("b/", "./x/../").replace("a/", "./x/../"),
        PLAIN.replace("SKILL.md\n", "SKILL.md\t2026-11-22 01:00:00\n"),
        PLAIN.replace("a/SKILL.md", "\"a/SKILL.md\""),
        PLAIN.replace('\n', "\r\n"),
        format!("```diff\n{PLAIN}```\n"),
        format!("Here is the diff:\n\n```\n{PLAIN}```\nIt is good.\n").replace("It is good.\n", ""),
        format!("diff --git a/SKILL.md b/SKILL.md\nindex 83db48f..bf269f4 100644\n{PLAIN}\n\n"),
        format!("\n{PLAIN}\\ No newline at end of file\n"),
    ] {
        assert_eq!(applied(&diff), new, "{diff}");
    }
}

#[test]
fn what_is_no_change_of_text_is_refused() {
    for (diff, why) in [
        (PLAIN.replace("a/SKILL.md", "/dev/null"), "new file"),
        (PLAIN.replace("b/SKILL.md", "/dev/null"), "removes the file"),
        (
            PLAIN.replace("b/SKILL.md", "b/OTHER.md"),
            "from `a/SKILL.md`",
        ),
        (
            format!("diff --git a/x b/x\nnew file mode 100644\n{PLAIN}"),
            "new file",
        ),
        (
            format!("deleted file mode 100644\n{PLAIN}"),
            "removes a file",
        ),
        (format!("old mode 100644\nnew mode 100755\n{PLAIN}"), "mode"),
        (format!("rename from a\nrename to b\n{PLAIN}"), "renames"),
        (
            "diff --git a/x b/x\nGIT binary patch\nliteral 3\nzcmXX\n".to_owned(),
            "binary",
        ),
        ("Binary files a/x and b/x differ\n".to_owned(), "binary"),
        (PLAIN.replace("2.", "\0"), "binary"),
        (
            PLAIN.replace("SKILL.md", ".git/hooks/post-checkout"),
            ".git",
        ),
        (PLAIN.replace("SKILL.md", "x/.GIT/config"), ".git"),
        (PLAIN.replace("SKILL.md", "../../x"), "outside"),
        (
            PLAIN
                .replace("a/SKILL.md", "/etc/passwd")
                .replace("b/SKILL.md", "/etc/passwd"),
            "outside",
        ),
        (PLAIN.replace("-Two.\n+2.\n", ""), "changes nothing"),
        (PLAIN.replace(" One.", "One."), "neither a space"),
        (
            "```diff\n--- SKILL.md\n+++ SKILL.md\n@@\n-a\n+b\n```\n@@\n-a\n+b\n".to_owned(),
            "before the name",
        ),
        (
            "--- a/SKILL.md\n+++ b/SKILL.md\n".to_owned(),
            "changes nothing",
        ),
        ("no diff".to_owned(), "names no file"),
        (String::new(), "names no file"),
    ] {
        let error = parse(&diff).unwrap_err();
        assert!(error.to_string().contains(why), "{why}: {error}\n{diff}");
        assert!(error.next_step().is_some(), "{why}");
    }
}

#[test]
fn a_place_is_never_guessed() {
    let twice = "--- SKILL.md\n+++ SKILL.md\n@@\n-One.\n+1.\n";
    assert!(refusal(twice).contains("2 times"));
    let numbered = twice.replace("@@\n", "@@ -8 +8 @@\n");
    assert_eq!(
        applied(&numbered),
        FILE.replace("\nOne.\nFour", "\n1.\nFour")
    );
    let stale = parse(&numbered).unwrap()[0].apply(FILE, false);
    assert!(stale.unwrap_err().to_string().contains("2 times"));
    assert!(refusal(&twice.replace("@@\n", "@@ -7 +7 @@\n")).contains("2 times"));
    assert!(refusal(&twice.replace("-One.", "-None.")).contains("no line `None.`"));
    assert!(refusal(&PLAIN.replace(" Three.", " Four.")).contains("in a row"));
    assert!(refusal("--- x\n+++ x\n@@ -1,0 +1 @@\n+new\n").contains("is unknown"));
    let both = "--- x\n+++ x\n@@\n Two.\n-Three.\n@@\n-Three.\n+3.\n";
    assert!(refusal(both).contains("overlaps"));
    let done = apply(PLAIN, &FILE.replace("Two.", "2.")).unwrap_err();
    assert!(done.to_string().contains("already"), "{done}");
}

#[test]
fn hunks_are_shown_in_the_files_order_with_true_numbers() {
    let diff = "--- x\n+++ x\n@@\n Four.\n+Five.\n--- x\n+++ x\n@@\n-Two.\n-Three.\n+2.\n";
    let result = apply(diff, FILE).unwrap();
    assert_eq!(
        result.shown,
        "--- a/x\n+++ b/x\n@@ -2,8 +2,8 @@\n name: pdf\n ---\n One.\n-Two.\n-Three.\n+2.\n \n One.\n \
         Four.\n+Five.\n"
    );
    let again = apply(&result.shown, FILE).unwrap();
    assert_eq!(again.text, result.text);
}

#[test]
fn rules_and_options_in_a_file_are_not_taken_for_headers() {
    let file = "a\n-- old\n-- older\nb\n";
    let diff = "--- x\n+++ x\n@@\n a\n--- old\n+++ new\n -- older\n";
    assert_eq!(apply(diff, file).unwrap().text, "a\n++ new\n-- older\nb\n");
    let fence = "--- x\n+++ x\n@@\n----\n+***\n name: pdf\n";
    assert!(applied(fence).starts_with("***\nname: pdf\n"));
}

#[test]
fn line_ends_stay_those_of_the_file() {
    let dos = FILE.replace('\n', "\r\n");
    assert_eq!(apply(PLAIN, &dos).unwrap().text, dos.replace("Two.", "2."));
    let add = "--- x\n+++ x\n@@\n end\n+more\n";
    assert_eq!(apply(add, "end").unwrap().text, "end\nmore\n");
    let bare = format!("{add}\\ No newline at end of file\n");
    assert_eq!(apply(&bare, "end").unwrap().text, "end\nmore");
    let keep = "--- x\n+++ x\n@@\n-start\n+begin\n end\n";
    assert_eq!(apply(keep, "start\nend").unwrap().text, "begin\nend");
    let close = "--- x\n+++ x\n@@\n-end\n\\ No newline at end of file\n+end\n";
    assert_eq!(apply(close, "end").unwrap().text, "end\n");
    assert_eq!(
        apply("--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n", "").unwrap().text,
        "a\n"
    );
}

#[test]
fn a_repetitive_file_costs_no_time() {
    let hunk = format!("--- x\n+++ x\n@@\n{}-x\n", " \n".repeat(30_000));
    let error = apply(&hunk, &"\n".repeat(2_000_000)).unwrap_err();
    assert!(error.to_string().contains("comparisons"), "{error}");
}

#[test]
fn what_is_missing_is_found_in_one_look_at_a_large_file() {
    let file = "a\n".repeat(1_000_000) + "b\n";
    let diff = format!("--- x\n+++ x\n@@\n{}-z\n+y\n", " b\n".repeat(20_000));
    let error = apply(&diff, &file).unwrap_err();
    assert!(error.to_string().contains("no line `z`"), "{error}");
}

#[test]
fn a_file_of_many_lines_is_not_called_repetitive() {
    let lines: Vec<String> = (0..120_000).map(|line| line.to_string()).collect();
    let file = lines.join("\n");
    let hunk = |line: usize| format!("@@\n-{line}\n+x{line}\n");
    let diff = (0..100).map(|number| hunk(number * 1_000));
    let diff = format!("--- x\n+++ x\n{}", diff.collect::<String>());
    let error = apply(&diff, &file).unwrap_err();
    assert!(
        error.to_string().contains("too many comparisons"),
        "{error}"
    );
    assert!(error.next_step().unwrap().contains("fewer hunks"));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(--- |\\+\\+\\+ |@@|a|/|\\.\\.|SKILL|[ +-]|\n|\r|\\\\|```|\u{0}){0,60}") {
        if let Ok(patch) = parse(&text) {
            for file in patch {
                let _ = file.apply(FILE, true);
            }
        }
    }

    #[test]
    fn what_applies_is_what_the_shown_diff_says(
        old in prop::collection::vec("[abc]{0,2}", 0..8),
        from in 0usize..8, length in 0usize..4,
        new in prop::collection::vec("[abc+-]{0,2}", 1..4),
    ) {
        let from = from.min(old.len());
        let to = (from + length).min(old.len());
        let lines = |mark: &str, lines: &[String]| -> String {
            lines.iter().flat_map(|line| [mark, line, "\n"]).collect()
        };
        let diff = [
            "--- x\n+++ x\n@@\n",
            &lines(" ", &old[..from]),
            &lines("-", &old[from..to]),
            &lines("+", &new),
            &lines(" ", &old[to..]),
        ];
        let diff = diff.concat();
        let text = |of: &[String]| lines("", of);
        let wanted = [&old[..from], &new, &old[to..]].concat();
        if let Ok(result) = apply(&diff, &text(&old)) {
            prop_assert_eq!(&result.text, &text(&wanted));
            if result.text == text(&old) {
                prop_assert_eq!(result.shown, "");
            } else {
                prop_assert_eq!(apply(&result.shown, &text(&old)).unwrap().text, result.text);
            }
        }
    }
}
