use super::*;
use serde_json::json;

fn parse(name: &str, arguments: Value) -> Result<ToolCall> {
    ToolCall::parse(name, Ok(arguments))
}

fn command(words: &[&str]) -> ToolCall {
    ToolCall::Command(words.iter().map(|word| (*word).to_owned()).collect())
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
        let Ok(ToolCall::CreateSkill(call)) = parse("create_skill", arguments) else {
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
    assert_eq!(call.unwrap(), ToolCall::Activate(expected));
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
    let error = ToolCall::parse("read_skill_file", Err("not JSON".to_owned())).unwrap_err();
    assert!(error.to_string().contains("not JSON"));
}

#[test]
fn counts_may_be_text() {
    let call = parse(
        "read_skill_file",
        json!({"skill": "x", "path": "y", "offset": "3"}),
    );
    let ToolCall::ReadSkillFile(read) = call.unwrap() else {
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
