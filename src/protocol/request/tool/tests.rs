use super::*;
use serde_json::json;

fn parse(name: &str, arguments: Value) -> Result<OwnToolCall> {
    OwnToolCall::parse(name, Ok(arguments))
}

fn command(words: &[&str]) -> OwnToolCall {
    OwnToolCall::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn marketplace_actions_are_command_lines() {
    for (arguments, expected) in [
        (json!({"action": "list_installed"}), &["list_installed"][..]),
        (
            json!({"action": "install", "skill_ref": "o/r"}),
            &["install", "--", "o/r"],
        ),
        (
            json!({"action": "install", "skill_ref": "--yes"}),
            &["install", "--", "--yes"],
        ),
        (
            json!({"action": "search", "query": "pdf forms"}),
            &["search", "--", "pdf", "forms"],
        ),
        (json!({"action": "list", "skill_ref": "x"}), &["search"]),
        (json!({"args": ["list"]}), &["search"]),
        (
            json!({"action": "search_installed", "query": "--json x"}),
            &["search_installed", "--", "--json", "x"],
        ),
        (json!({"action": "update"}), &["update"]),
        (json!({"action": "update", "skill_ref": ""}), &["update"]),
        (
            json!({"action": "info", "skill_ref": "", "query": "pdf", "args": null}),
            &["info", "--", "pdf"],
        ),
        (json!({"args": ["install", "o/r"]}), &["install", "o/r"]),
    ] {
        assert_eq!(
            parse("skill_marketplace", arguments).unwrap(),
            command(expected)
        );
    }
}

#[test]
fn a_search_for_nothing_lists_all() {
    for (action, verb) in [("search", "search"), ("search_installed", "list_installed")] {
        for query in [json!(null), json!(""), json!(" ")] {
            let arguments = json!({"action": action, "query": query});
            let call = parse("skill_marketplace", arguments).unwrap();
            assert_eq!(call, command(&[verb]));
        }
    }
}

#[test]
fn an_action_without_its_operand_says_what_it_needs() {
    for (action, needs) in [
        ("install", "the skill's reference"),
        ("info", "a skill's name"),
        ("remove", "a skill's name"),
    ] {
        let error = parse("skill_marketplace", json!({"action": action})).unwrap_err();
        assert_eq!(error.to_string(), format!("`{action}` needs {needs}"));
        assert!(error.next_step().unwrap().contains(action));
    }
}

#[test]
fn a_list_sent_as_text_is_a_list() {
    for (written, entries) in [
        (json!("[\"Read\", \"Grep\"]"), &["Read", "Grep"][..]),
        (json!("Read Grep"), &["Read Grep"]),
        (json!(["Read"]), &["Read"]),
    ] {
        let arguments =
            json!({"name": "x", "description": "x", "body": "x", "allowed_tools": written});
        let Ok(OwnToolCall::CreateSkill(call)) = parse("create_skill", arguments) else {
            panic!("{written}")
        };
        assert_eq!(call.allowed_tools.unwrap(), entries);
    }
}

#[test]
fn using_a_skill_is_an_activation() {
    let call = parse(
        "skill_marketplace",
        json!({"action": "use", "skill_ref": "pdf", "query": "a b"}),
    );
    let expected = Activate {
        tool: "skill_marketplace".to_owned(),
        skill: Some("pdf".to_owned()),
        arguments: Some("a b".to_owned()),
    };
    assert_eq!(call.unwrap(), OwnToolCall::Activate(expected));
}

#[test]
fn a_direct_call_is_a_command_line() {
    assert_eq!(
        parse("agent-skills", json!({"args": ["list"]})).unwrap(),
        command(&["list"])
    );
    assert_eq!(parse("agent-skills", json!(null)).unwrap(), command(&[]));
}

#[test]
fn one_argument_is_a_command_split_as_by_a_shell() {
    for (line, words) in [
        ("install o/s", &["install", "o/s"][..]),
        ("update", &["update"]),
        ("", &[]),
        ("  info\tpdf \n", &["info", "pdf"]),
        (
            "info 'My Skill' \"a\\\"b\" c\\ d",
            &["info", "My Skill", "a\"b", "c d"],
        ),
        (
            "install acme/pdf#v1 # the first",
            &["install", "acme/pdf#v1"],
        ),
        // Nothing is run, expanded or redirected.
        (
            "list; $(touch a) `b` | c > ~/$HOME * 'x'\"y\"",
            &[
                "list;", "$(touch", "a)", "`b`", "|", "c", ">", "~/$HOME", "*", "xy",
            ],
        ),
        // What was quoted stays one word: it is not split again.
        ("'install o/s'", &["install o/s"]),
    ] {
        for args in [json!(line), json!([line])] {
            for tool in ["agent-skills", "skill_marketplace"] {
                let call = parse(tool, json!({"args": args}));
                assert_eq!(call.unwrap(), command(words), "{line}");
            }
        }
    }
    let two = ["info", "My Skill"];
    assert_eq!(
        parse("agent-skills", json!({"args": two})).unwrap(),
        command(&two)
    );
    for open in ["info 'x", "info \"x", "info x\\"] {
        let error = parse("agent-skills", json!({"args": [open]})).unwrap_err();
        assert!(error.to_string().contains("is not closed"), "{error}");
    }
}

#[test]
fn mistyped_arguments_are_answered_with_the_right_form() {
    for (tool, arguments, part) in [
        ("read_skill_file", json!(null), "missing field `path`"),
        ("read_skill_file", json!([1]), "read_skill_file"),
        (
            "read_skill_file",
            json!({"skill": 1, "path": "x"}),
            "expected a string",
        ),
        (
            "read_skill_file",
            json!({"skill": "x", "path": "x", "offset": -1}),
            "`-1`",
        ),
        ("skill_marketplace", json!({"action": "explode"}), "explode"),
        ("skill_marketplace", json!({}), "missing field `action`"),
        (
            "skill_marketplace",
            json!({"action": "use"}),
            "skill's name",
        ),
        ("skill_pdf", json!([1, 2]), "one JSON object"),
        (
            "propose_skill_update",
            json!({"skill": "x"}),
            "missing field `diff`",
        ),
        (
            "create_skill",
            json!({"name": "x", "description": "x", "body": "x", "allowed_tools": 3}),
            "create_skill",
        ),
    ] {
        let error = parse(tool, arguments.clone()).unwrap_err();
        assert!(error.to_string().contains(part), "{arguments}: {error}");
        assert!(error.next_step().is_some());
    }
    let error = OwnToolCall::parse("read_skill_file", Err("not JSON".to_owned())).unwrap_err();
    assert!(error.to_string().contains("not JSON"));
}

#[test]
fn counts_may_be_text() {
    let call = parse(
        "read_skill_file",
        json!({"skill": "x", "path": "y", "offset": "3"}),
    );
    let OwnToolCall::ReadSkillFile(read) = call.unwrap() else {
        panic!("another call")
    };
    assert_eq!(read.offset, Some(3));
}

#[test]
fn a_key_that_a_tool_does_not_take_is_an_error() {
    for (tool, arguments, key) in [
        (
            "run_skill_script",
            json!({"skill_name": "a", "script": "x.sh"}),
            "skill_name",
        ),
        (
            "read_skill_file",
            json!({"location": "a", "path": "x"}),
            "location",
        ),
        (
            "skill_session",
            json!({"action": "load", "name": "a"}),
            "name",
        ),
        (
            "skill_marketplace",
            json!({"action": "info", "name": "a"}),
            "name",
        ),
        (
            "create_skill",
            json!({"name": "a", "description": "d", "body": "b", "tools": []}),
            "tools",
        ),
    ] {
        let error = parse(tool, arguments).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`{tool}` takes no `{key}`, but ")),
            "{error}"
        );
    }
    // Some models fill in every key they know.
    let call = json!({"path": "x", "skill_name": null});
    assert!(parse("read_skill_file", call).is_ok());
}

mod activating {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_json_can_be_a_skills_arguments() {
        for (arguments, text) in [
            (json!({}), None),
            (json!(null), None),
            (json!({"arguments": null, "args": "a"}), Some("a")),
            (json!({"arguments": "a b"}), Some("a b")),
            (
                json!({"args": ["a", "b c", "d\" e"]}),
                Some("a \"b c\" 'd\" e'"),
            ),
            (json!({"arguments": {"x": 1}}), Some("{\"x\":1}")),
            (json!({"arguments": [1]}), Some("[1]")),
        ] {
            let call = Activate::parse("skill_pdf", arguments.clone()).unwrap();
            assert_eq!(call.arguments.as_deref(), text, "{arguments}");
            assert_eq!(call.skill, None);
        }
    }

    #[test]
    fn the_name_is_understood_under_the_keys_of_other_clients() {
        for arguments in [
            json!({"skill_name": "pdf"}),
            json!({"skill": " pdf "}),
            json!({"name": "pdf"}),
            json!({"command": "pdf", "skill_name": null}),
            json!({"skill": "pdf", "skill_name": "pdf"}),
        ] {
            let call = Activate::parse("skill", arguments.clone()).unwrap();
            assert_eq!(call.skill.as_deref(), Some("pdf"), "{arguments}");
        }
    }

    #[test]
    fn a_call_that_names_another_action_activates_nothing() {
        for (action, is_meant) in [
            (json!(null), true),
            (json!("use"), true),
            (json!("activate"), true),
            (json!("deactivate"), false),
            (json!("unload"), false),
            (json!(["deactivate"]), false),
        ] {
            let arguments = json!({"action": action, "skill_name": "pdf"});
            let own = Activate::parse("skill_pdf", arguments.clone());
            let named = Activate::parse("skill", arguments.clone());
            for error in [own.err(), named.err()] {
                assert_eq!(error.is_none(), is_meant, "{action}");
                let hint = error.and_then(|error| error.next_step().map(ToString::to_string));
                assert!(hint.is_none_or(|hint| hint.contains("unload")));
            }
        }
    }

    #[test]
    fn missing_or_contradictory_arguments_get_an_example() {
        for (arguments, part) in [
            (json!({}), "needs a skill's name"),
            (json!({"skill_name": "  "}), "needs a skill's name"),
            (json!({"skill_name": 3}), "needs a skill's name"),
            (
                json!({"skill_name": "a", "name": "b"}),
                "`skill_name` and `name`",
            ),
            (
                json!({"skill_name": "a", "args": "x", "arguments": "y"}),
                "`arguments` and `args`",
            ),
            (json!(["a"]), "one JSON object"),
        ] {
            let error = Activate::parse("skill", arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some());
        }
    }
}

mod sessions {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn load(names: &[&str], adds: bool) -> SkillSession {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        SkillSession::Load { names, adds }
    }

    #[test]
    fn names_come_in_every_form_that_models_use() {
        for names in [
            json!(["a", "b c"]),
            json!([" a ", "b c", "a", ""]),
            json!(r#"["a", "b c"]"#),
            json!("a, b c"),
            json!("a,\"b c\","),
        ] {
            let parsed = SkillSession::parse(json!({"action": "Load", "names": names})).unwrap();
            assert_eq!(parsed, load(&["a", "b c"], false), "{names}");
        }
        let spaced = json!({"action": "load", "names": "a b", "mode": "ADD", "all": "false"});
        assert_eq!(
            SkillSession::parse(spaced).unwrap(),
            load(&["a", "b"], true)
        );
    }

    #[test]
    fn what_is_filled_in_without_need_is_ignored() {
        let nothing = json!({"action": "status", "names": null, "mode": "", "all": null});
        assert_eq!(SkillSession::parse(nothing).unwrap(), SkillSession::Status);
        let all = json!({"action": "unload", "names": [], "mode": "replace", "all": "true"});
        assert_eq!(
            SkillSession::parse(all).unwrap(),
            SkillSession::Unload(None)
        );
    }

    #[test]
    fn what_does_not_say_what_to_do_is_explained() {
        for (arguments, part) in [
            (json!(null), "missing field `action`"),
            (json!(["load"]), "one JSON object"),
            (json!({"action": 3}), "`action` is not a string"),
            (json!({"action": "drop"}), "`drop` is not an action"),
            (json!({"action": "load"}), "needs `names`"),
            (json!({"action": "load", "names": " "}), "needs `names`"),
            (json!({"action": "load", "names": [3]}), "list of names"),
            (json!({"action": "load", "names": "[a"}), "list of names"),
            (json!({"action": "load", "names": {}}), "list of names"),
            (
                json!({"action": "load", "names": "a", "mode": "x"}),
                "`x` is not a mode",
            ),
            (
                json!({"action": "load", "names": "a", "all": true}),
                "belongs to `unload`",
            ),
            (json!({"action": "unload"}), "needs `names`, or `all`"),
            (
                json!({"action": "unload", "names": "a", "all": true}),
                "both say",
            ),
            (
                json!({"action": "unload", "all": 1}),
                "needs `names`, or `all`",
            ),
        ] {
            let error = SkillSession::parse(arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some(), "{arguments}");
        }
    }

    proptest! {
        #[test]
        fn any_text_of_names_is_read(text in ".{0,40}") {
            if let Ok(SkillSession::Load { names, .. }) =
                SkillSession::parse(json!({"action": "load", "names": text}))
            {
                prop_assert!(names.iter().all(|name| !name.trim().is_empty()));
            }
        }
    }
}

mod scripts {
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
                "timeout_secs": null, "background": null, "job": null,
                "stop": null, "stdin": null}),
            json!({"skill": "x", "script": "y", "job": "", "stop": false}),
        ] {
            let start = started(rest);
            assert_eq!((start.args.len(), start.timeout_secs), (0, None));
            assert_eq!(start.workdir, "skill");
            assert!(!start.background);
        }
    }

    #[test]
    fn working_directories_are_words_or_paths() {
        for (written, expected) in [
            ("skill", "skill"),
            (".", "skill"),
            (" project", "project"),
            ("temp", "temp"),
            ("data/in", "data/in"),
            ("./project", "./project"),
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
            "\"it's $x\" 'a'",
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
        let job = |stop| {
            let job = "abc".to_owned();
            RunSkillScript::Job { job, stop }
        };
        for (arguments, expected) in [
            (json!({"job": "abc"}), job(false)),
            (json!({"job": "abc", "skill": "x", "stop": true}), job(true)),
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
            (json!({"job": "a", "path": "y"}), "cannot be combined"),
            (
                json!({"skill": "x", "script": "y", "env": {"A": 1}}),
                "expected a string",
            ),
            (
                json!({"skill": "x", "script": "y", "timeout_secs": "9"}),
                "expected f64",
            ),
            (json!({"stop": true}), "`stop` needs `job`"),
            (json!({"job": "a", "script": "y"}), "cannot be combined"),
            (
                json!({"job": "a", "background": true}),
                "cannot be combined",
            ),
            (json!({"job": 5}), "expected a string"),
        ] {
            let error = RunSkillScript::parse(arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some(), "{arguments}");
        }
    }
}
