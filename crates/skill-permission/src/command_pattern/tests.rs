//! Patterns and the commands they cover.

use super::*;

impl<S: AsRef<str>> FromIterator<S> for CanonicalCommand {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut this = Self::default();
        for word in words {
            this.word();
            this.literal(word.as_ref());
        }
        this
    }
}

fn pattern(text: &str) -> CommandPattern {
    CommandPattern::parse(&[PatternPiece::Written(text)]).unwrap()
}

fn matches(text: &str, words: &[&str]) -> bool {
    pattern(text).matches(&words.iter().collect())
}

#[test]
fn an_open_end_matches_whole_words() {
    for open in ["git:*", "git *", " git  * ", "git :*"] {
        assert!(matches(open, &["git"]), "{open}");
        assert!(matches(open, &["git", "status", "x y"]), "{open}");
        assert!(!matches(open, &["gitk"]), "{open}");
        assert!(!matches(open, &["git:x"]), "{open}");
        assert!(!matches(open, &["git status"]), "{open}");
        assert!(!matches(open, &["sudo", "git"]), "{open}");
    }
}

#[test]
fn a_tilde_is_the_home_directory_only_where_a_word_begins() {
    assert!(matches("cat a~/x", &["cat", "a~/x"]));
    assert!(!matches("cat ~/x", &["cat", "~/x"]));
}

#[test]
fn the_last_of_several_words_may_go_on_with_a_colon() {
    let test = "npm run test:*";
    assert!(matches(test, &["npm", "run", "test"]));
    assert!(matches(test, &["npm", "run", "test", "--", "-u"]));
    assert!(matches(test, &["npm", "run", "test:unit", "-u"]));
    assert!(!matches(test, &["npm", "run", "testing"]));
    assert!(!matches(test, &["npm", "run"]));
}

#[test]
fn without_a_star_nothing_may_follow() {
    assert!(matches("git status", &["git", "status"]));
    assert!(matches("git  'status'", &["git", "status"]));
    assert!(!matches("git status", &["git", "status", "-s"]));
    assert!(!matches("git status", &["git status"]));
    assert!(matches(
        "git commit -m \"a b\"",
        &["git", "commit", "-m", "a b"]
    ));
    assert!(!matches(
        "git commit -m \"a b\"",
        &["git", "commit", "-m", "a", "b"]
    ));
}

#[test]
fn a_star_inside_covers_any_text_of_this_command() {
    assert!(matches(
        "git * --dry-run",
        &["git", "push", "x", "--dry-run"]
    ));
    assert!(!matches("git * --dry-run", &["git", "push"]));
    assert!(!matches(
        "git * --dry-run",
        &["git", "push", "x --dry-run y"]
    ));
    assert!(!matches("git * --dry-run", &["git", "push", "x --dry-run"]));
    assert!(matches(
        "git diff --stat*",
        &["git", "diff", "--stat=9", "a"]
    ));
    assert!(matches("npx *eas-cli@*", &["npx", "-y", "eas-cli@latest"]));
    assert!(matches("a*b*c:*", &["axbxbc", "d"]));
    assert!(!matches("a*b*c:*", &["axbxb", "d"]));
    assert!(matches("echo '*'", &["echo", "*"]));
    assert!(!matches("echo '*'", &["echo", "x"]));
    assert!(matches(r"echo \*", &["echo", "*"]));
}

#[test]
fn colons_before_the_end_are_text_except_in_the_program() {
    assert!(matches("npm run a:b", &["npm", "run", "a:b"]));
    assert!(matches("npm run a:*:b", &["npm", "run", "a:x:b"]));
    assert!(matches("aws:s3:*", &["aws", "s3", "ls"]));
    assert!(!matches("aws:s3:*", &["aws", "ec2"]));
    assert!(!matches("npm run a:b:*", &["npm", "run", "a", "b"]));
}

#[test]
fn dynamic_text_is_covered_by_a_star_only() {
    let command = |words: &[&str]| {
        let mut command: CanonicalCommand = words.iter().collect();
        command.word();
        command.dynamic();
        command
    };
    assert!(pattern("git add:*").matches(&command(&["git", "add"])));
    assert!(!pattern("git add:*").matches(&command(&["git"])));
    assert!(!pattern("git *x").matches(&command(&["git"])));
    assert!(!pattern("git \u{2}").matches(&command(&["git"])));
}

#[test]
fn a_denial_matches_what_dynamic_text_may_become() {
    let mut command: CanonicalCommand = ["git"].iter().collect();
    command.word();
    command.dynamic();
    for text in [
        "git push:*",
        "git:*",
        "git push",
        "git push *--force*",
        "*push*",
    ] {
        assert!(pattern(text).may_match(&command), "{text}");
    }
    assert!(!pattern("rm:*").may_match(&command));
    let plain = |words: &[&str]| words.iter().collect::<CanonicalCommand>();
    assert!(pattern("rm:*").may_match(&plain(&["rm"])));
    assert!(pattern("rm:*").may_match(&plain(&["rm", "-rf", "x"])));
    assert!(!pattern("rm:*").may_match(&plain(&["rmdir", "x"])));
    assert!(!pattern("rm").may_match(&plain(&["rm", "x"])));
}

#[test]
fn assignments_that_steer_programs_are_spelled() {
    let with = |name: &str, words: &[&str]| {
        let mut command = CanonicalCommand::default();
        command.assignment(name);
        for word in words {
            command.word();
            command.literal(word);
        }
        command
    };
    let spelled = pattern("FOO=1 git:*");
    assert!(spelled.matches(&with("FOO=1", &["git", "log"])));
    assert!(!spelled.matches(&with("FOO=2", &["git", "log"])));
    assert!(!spelled.matches(&with("FOO=1", &["git:x"])));
    assert!(!spelled.matches(&["git", "log"].iter().collect()));
    assert!(!spelled.matches(&["FOO=1", "git", "log"].iter().collect()));
    assert!(!pattern("* --version").matches(&with("PATH=x", &["git", "--version"])));
    assert!(pattern("CI=1 git:*").matches(&["git", "log"].iter().collect()));
}

#[test]
fn a_placeholder_value_is_literal() {
    let pieces = [
        PatternPiece::Written("python3 "),
        PatternPiece::Literal("/a *b".into()),
        PatternPiece::Written("/x.py:*"),
    ];
    let pattern = CommandPattern::parse(&pieces).unwrap();
    assert!(pattern.matches(&["python3", "/a *b/x.py", "1"].iter().collect()));
    assert!(!pattern.matches(&["python3", "/a zb/x.py"].iter().collect()));
    assert!(!pattern.matches(&["python3", "/a", "*b/x.py"].iter().collect()));
}

#[test]
fn a_pattern_without_a_command_is_an_error() {
    for text in [":*", "''", "a 'b"] {
        assert!(
            CommandPattern::parse(&[PatternPiece::Written(text)]).is_err(),
            "{text}"
        );
    }
    let placeholder = CommandPattern::program("cmd");
    assert!(pattern("cmd:*") == placeholder && pattern("cmd *") == placeholder);
    assert_ne!(pattern("cmd x:*"), placeholder);
}

#[test]
fn a_star_below_a_directory_never_matches_dot_dot() {
    let below = "./s/*";
    assert!(matches(below, &["./s/a/b"]) && matches(below, &["./s/a", "../x"]));
    for climbs in ["./s/..", "./s/a/..", "./s/ab/../../x", "./s/a/b/../c"] {
        assert!(!matches(below, &[climbs]), "{climbs}");
    }
}
