//! What calls of `run_skill_script` mean, and which are refused.

use super::*;
use serde_json::json;

fn started(arguments: Value) -> StartScript {
    match RunSkillScript::parse(arguments) {
        Ok(RunSkillScript::Start(start)) => start,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nulls_and_nothing_are_defaults() {
    for rest in [
        json!({"skill": "x", "script": "y"}),
        json!({"skill": "x", "script": "y", "args": null, "env": null, "workdir": null,
            "timeout_secs": null, "background": null, "format": null, "job": null,
            "stop": null, "stdin": null}),
        json!({"skill": "x", "script": "y", "job": "", "stop": false}),
    ] {
        let start = started(rest);
        assert_eq!((start.args.len(), start.timeout_secs), (0, None));
        assert_eq!(
            (start.workdir, start.format),
            (WorkDir::Skill, Format::Text)
        );
        assert!(!start.background);
    }
}

#[test]
fn working_directories_are_words_or_paths() {
    for (written, expected) in [
        ("skill", WorkDir::Skill),
        (".", WorkDir::Skill),
        ("project", WorkDir::Project),
        ("temp", WorkDir::Temp),
        ("data/in", WorkDir::Inside("data/in".to_owned())),
        ("./project", WorkDir::Inside("./project".to_owned())),
    ] {
        let start = started(json!({"skill": "x", "script": "y", "workdir": written}));
        assert_eq!(start.workdir, expected);
    }
}

#[test]
fn a_script_is_called_by_path_with_a_plain_line_of_arguments() {
    let path = started(json!({"skill": "x", "path": "y"}));
    assert_eq!(path.script, "y");
    let both = started(json!({"skill": "x", "path": "y", "script": "y"}));
    assert_eq!(both.script, "y");
    for (line, words) in [
        ("", &[][..]),
        ("  ", &[]),
        ("a.pdf", &["a.pdf"]),
        (" --in  a.pdf\t-o b=c,d ", &["--in", "a.pdf", "-o", "b=c,d"]),
        ("'a b' \"c 'd'\" e''f ''", &["a b", "c 'd'", "ef", ""]),
        ("'$HOME *' x", &["$HOME *", "x"]),
        ("[\"a b\", \"*\", 3]", &["a b", "*", "3"]),
        ("https://x.y/z%20", &["https://x.y/z%20"]),
    ] {
        let start = started(json!({"script": "y", "args": line}));
        assert_eq!(start.args, words, "{line}");
    }
    for unclear in [
        "$HOME/x",
        "\"$X\"",
        "*.pdf",
        "a; b",
        "a | b",
        "it's",
        "a\\ b",
        "~/x",
        "[1, {}]",
        "{\"a\": 1}",
    ] {
        let arguments = json!({"script": "y", "args": unclear});
        let error = RunSkillScript::parse(arguments).unwrap_err();
        assert!(error.next_step().is_some(), "{unclear}");
    }
    assert_eq!(
        started(json!({"script": "y", "args": ["a", 3]})).args,
        ["a", "3"]
    );
}

#[test]
fn a_job_stands_alone() {
    let job = |stop, format| {
        let job = "abc".to_owned();
        RunSkillScript::Job { job, stop, format }
    };
    for (arguments, expected) in [
        (json!({"job": "abc"}), job(false, Format::Text)),
        (
            json!({"job": "abc", "skill": "x", "stop": true}),
            job(true, Format::Text),
        ),
        (
            json!({"job": "abc", "format": "json"}),
            job(false, Format::Json),
        ),
    ] {
        assert_eq!(RunSkillScript::parse(arguments).unwrap(), expected);
    }
}

#[test]
fn what_does_not_say_what_to_do_is_explained() {
    for (arguments, part) in [
        (json!(null), "missing field `script`"),
        (json!([1]), "run_skill_script"),
        (json!({"skill": "x"}), "missing field `script`"),
        (
            json!({"skill": "x", "script": "y", "args": [["a"]]}),
            "expected a string",
        ),
        (
            json!({"skill": "x", "script": "y", "args": {"a": 1}}),
            "expected a list of strings",
        ),
        (
            json!({"skill": "x", "script": "y", "path": "z"}),
            "two different scripts",
        ),
        (json!({"job": "a", "path": "y"}), "cannot be given together"),
        (
            json!({"skill": "x", "script": "y", "env": {"A": 1}}),
            "expected a string",
        ),
        (
            json!({"skill": "x", "script": "y", "timeout_secs": "9"}),
            "expected f64",
        ),
        (
            json!({"skill": "x", "script": "y", "format": "xml"}),
            "`text` or `json`",
        ),
        (json!({"stop": true}), "`stop` needs `job`"),
        (
            json!({"job": "a", "script": "y"}),
            "cannot be given together",
        ),
        (
            json!({"job": "a", "background": true}),
            "cannot be given together",
        ),
        (json!({"job": 5}), "expected a string"),
    ] {
        let error = RunSkillScript::parse(arguments.clone()).unwrap_err();
        assert!(error.to_string().contains(part), "{arguments}: {error}");
        assert!(error.next_step().is_some(), "{arguments}");
    }
}
