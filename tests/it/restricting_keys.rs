//! Keys that restrict, in frontmatter that is not what its author meant: the skill has less, never
//! more, and every place that shows it says so. Beside them what honest authors write, as it was.

use std::fs;
use std::path::Path;

use agent_skills::skill::Skill;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Host;
use crate::corpus::corpus;
use crate::host::{Has, write_at};
use crate::layers::{codes, is_offered};
use crate::parsing::with_file;
use crate::terminal::converse;

const HEAD: &str = "---\nname: x\ndescription: Use when asked.\n";

/// The skill in a file of this text.
fn parsed(text: &str) -> Skill {
    let dir = Path::new("/skills/x");
    Skill::parse(dir, dir.join("SKILL.md"), text.as_bytes()).unwrap()
}

/// The entries that it allows; `None` if it restricts nothing.
fn allowed(text: &str) -> Option<Vec<String>> {
    parsed(text).fields.allowed_tools()
}

fn has(text: &str, code: &str) -> bool {
    let found = parsed(text).parsed.diagnostics;
    found.iter().any(|found| found.code() == code)
}

/// Files of which a list is not certain.
fn uncertain_lists() -> Vec<String> {
    let broken = |keys: &str| format!("{HEAD}{keys}\n---\nBody.\n");
    let mut all: Vec<String> = [
        // Markdown in place of YAML.
        "allowed-tools:\n* Read\n* Grep",
        "allowed-tools: * Read * Grep",
        "allowed-tools: Read\n<!-- Bash and Write are not allowed here -->",
        "allowed-tools: Read\nBash is not needed.",
        "allowed-tools:\nRead Grep",
        "allowed-tools: `Read`",
        "allowed-tools:\n- Bash(git: *)",
        "disallowed-tools: !foo [Bash]",
        "disallowed-tools: `Bash`",
        "disallowed-tools:\n* Bash",
        // Values that are no YAML.
        "allowed-tools: [Read, Bash",
        "allowed-tools: Read: Bash",
        "allowed-tools: \"Read\" \"Bash\"",
        "allowed-tools: *all",
        "allowed-tools: Read\0",
        "tools: [Bash",
        // Keys that only a whole mapping would give.
        "x: [a] [b]\n  allowed-tools: Read",
        "x: [a] [b]\n\tallowed-tools: Read",
        "x: [a] [b]\n? allowed-tools\n: Read",
        "x: [a] [b]\n&a allowed-tools: Read",
        "x: [a] [b]\nallowed-tools:Read",
        "x: [a] [b]\n<<: *x",
        "x: [a] [b]\n\"allowed\\x2dtools\": [Read",
        // The same key twice.
        "allowed-tools: Read\nallowed-tools: Bash",
        "x: [a] [b]\nallowed-tools: Read\nallowed_tools: Bash",
        "x: [a] [b]\nallowed-tools: Read\nallowed-tools: [Bash",
        // A fence that is none, in two ways.
        "--- 1.0.1\nallowed-tools: [Read\nversion: 1",
        "---\nallowed-tools: Read\n",
        "---\n---\nallowed-tools: Read\n",
    ]
    .into_iter()
    .map(broken)
    .collect();
    all.extend(
        [
            "+++\nname = \"x\"\ndescription = \"d\"\nallowed-tools = \"Read\"\n+++\nBody.\n",
            "---json\n{\"name\": \"x\", \"allowed-tools\": \"Read\"}\n---\nBody.\n",
            "---toml\nallowed-tools = \"Read\"\n---\nBody.\n",
            "{\n  \"name\": \"x\",\n  \"allowed-tools\": \"Read\"\n}\nBody.\n",
            "---\n{name: x: y, allowed-tools: Read}\n---\nBody.\n",
            "---\n- name: x\n- allowed-tools: Read\n---\nBody.\n",
            "---\n  name: x: y\n  allowed-tools: Read\n---\nBody.\n",
            "----\nname: x\nallowed-tools: Read\n----\nBody.\n",
            "allowed-tools: Read\nname: x\n---\nBody.\n",
            "---\nname: x\ndescription: d\n\nallowed-tools: Read\n\nBody\n",
            "---\nname: x\ndescription: d\n--- 1.0.1\nallowed-tools: Read\n\n# Body\n",
            // A first block without a key, and prose in the second.
            "---\n---\nname: x\nprose here\nallowed-tools: Read\n---\nBody.\n",
            "---\n# nothing\n---\nname: x\nprose here\nallowed-tools: Read\n---\nBody.\n",
            "---\n---\nname: x\nprose here\ndisallowed-tools: Bash\n---\nBody.\n",
        ]
        .map(str::to_owned),
    );
    all
}

#[test]
fn an_uncertain_list_allows_nothing_and_is_named() {
    for text in uncertain_lists() {
        assert_eq!(allowed(&text), Some(Vec::new()), "{text:?}");
        let told = ["key-not-read", "allowed-tools-twice", "foreign-fence"];
        assert!(told.iter().any(|code| has(&text, code)), "{text:?}");
    }
}

#[test]
fn the_program_says_so_wherever_it_shows_the_skill() {
    for (text, code) in [
        (
            "---\nname: x\nallowed-tools:\n* Read\n---\n",
            "key-not-read",
        ),
        (
            "---\nname: x\nallowed-tools: Read\n<!-- not Bash -->\n---\n",
            "key-not-read",
        ),
        (
            "+++\nname = \"x\"\nallowed-tools = \"Read\"\n+++\n",
            "foreign-fence",
        ),
    ] {
        let host = with_file(Host::stdin(), format!("{text}Body.\n"));
        let info = &host.json(&["info", "x", "--json"]);
        assert_eq!(info["restricted"], json!(true), "{info}");
        assert_eq!(info["restriction"]["allowed"], json!([]), "{info}");
        let named = |answer: &Value| answer.to_string().contains(&format!("\"{code}\""));
        assert!(named(info), "{info}");
        let list = host.json(&["list", "--json"]);
        assert!(named(&list), "{list}");
        assert!(host.succeeds(&["list"]).contains(code));
        let dir = host.skills_dir().join("x");
        let dir = dir.to_str().unwrap();
        let validated = host.person(&["validate", dir]);
        assert!(
            validated.status == 1 && validated.stdout.contains(code),
            "{validated:?}"
        );
        for (tool, argument) in [("Bash", "command=ls"), ("Read", "path=a")] {
            let ran = host.person(&["check", "x", "--tool", tool, "--arg", argument]);
            assert_eq!(ran.status, 1, "{text:?} {tool}: {ran:?}");
        }
        let shown = host.person(&["install", dir, "--dry-run", "--name", "y"]);
        let shown = shown.stdout + &shown.stderr;
        let says = ["only what is always allowed", "cannot be installed"];
        assert!(says.iter().any(|says| shown.contains(says)), "{shown}");
    }
}

/// Keys, and the entries that they allow.
fn rows(table: &str) -> impl Iterator<Item = (String, Vec<String>)> {
    table.trim().lines().map(|row| {
        let row = row.trim().replace("\\n", "\n");
        let (keys, entries) = row.split_once(" => ").unwrap();
        let entries = entries.split(" ;; ").map(str::to_owned);
        (keys.to_owned(), entries.collect())
    })
}

/// At the end: what only mentions the key belongs to another; a version behind three hyphens, a
/// comment, prose.
const BESIDE_BROKEN_KEYS: &str = r#"
    x: [a] [b]\nallowed-tools: Read, Grep => Read, Grep
    x: a: b\nallowed-tools:\n\n- Read\n# c\n- Grep => Read ;; Grep
    x: **b**\n"allowed-tools": [Read] => Read
    x: `b`\n'allowed-tools' : Read => Read
    x: a: b\nallowed-tools: >-\n  Read\n  Grep => Read Grep
    x: a: b\nallowed-tools: &a !!str Read # c => Read
    x: a: b\n"allowed\x2dtools": Read => Read
    x: a: b\nallowed_tools: Read => Read
    x: a: b\nAllowed-Tools: Read => Read
    x: a: b\ntools: Read => Read
    x: a: b\n  allowed-tools: Bash\nallowed-tools: Read => Read
    --- 1.0.1\nallowed-tools: Bash(git:*) => Bash(git:*)
    <!-- which? -->\nallowed-tools: Read => Read
    Prose.\nallowed-tools: Read => Read
"#;

#[test]
fn what_is_certain_counts_also_beside_broken_keys() {
    let broken = |keys: &str| format!("{HEAD}{keys}\n---\nBody.\n");
    for (keys, entries) in rows(BESIDE_BROKEN_KEYS) {
        let text = broken(&keys);
        assert_eq!(allowed(&text), Some(entries), "{text:?}");
        assert!(!has(&text, "key-not-read"), "{text:?}");
        assert_eq!(parsed(&text).name.as_str(), "x", "{text:?}");
    }
    assert_eq!(
        allowed(&broken("x: a: b\nallowed-tools: \"\"")),
        Some(vec![String::new()])
    );
    for keys in [
        "x: a: b\nallowed-tools:",
        "x: a: b\n# allowed-tools: Read",
        "x: a: b",
    ] {
        assert_eq!(allowed(&broken(keys)), None, "{keys}");
    }
    let commented = "---\nname: x\n<!-- which? -->\nallowed-tools: Read\ndescription: d\n---\n";
    assert_eq!(parsed(commented).name.as_str(), "x");
    assert_eq!(allowed(commented), Some(vec!["Read".to_owned()]));
}

#[test]
fn a_carriage_return_ends_a_line() {
    let text = format!("{HEAD}allowed-tools: Read\n---\nBody.\n").replace('\n', "\r");
    let skill = parsed(&text);
    assert_eq!(skill.description.as_deref(), Some("Use when asked."));
    assert_eq!(allowed(&text), Some(vec!["Read".to_owned()]));
    let host = with_file(Host::stdin(), &text);
    host.activates("x");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_skill_whose_flag_is_uncertain_is_hidden() {
    for keys in [
        "disable-model-invocation: true",
        "disable-model-invocation: maybe",
        "disable-model-invocation: [true]",
        "disable-model-invocation: `true`",
        "disable-model-invocation:\n* true",
        "disable-model-invocation: true\n<!-- why -->",
        "disable-model-invocation: true\ndisable-model-invocation: false",
        "disable_model_invocation: true\ndisable-model-invocation: false",
        "x: &x {disable-model-invocation: true}\n<<: *x",
        "x: [a] [b]\n  disable-model-invocation: true",
        "--- 1.0.1\ndisable-model-invocation: true",
        "---\ndisable-model-invocation: true",
    ] {
        let text = format!("{HEAD}{keys}\n---\nBody.\n");
        assert!(parsed(&text).fields.disables_model_invocation(), "{text:?}");
    }
    for keys in [
        "disable-model-invocation: false",
        "disable-model-invocation:",
        "x: a: b\ndisable-model-invocation: no",
        "x: a: b",
    ] {
        let text = format!("{HEAD}{keys}\n---\nBody.\n");
        assert!(
            !parsed(&text).fields.disables_model_invocation(),
            "{text:?}"
        );
    }
    let text = format!("{HEAD}disable-model-invocation: `true`\n---\nBody.\n");
    let host = with_file(Host::stdin(), text);
    assert!(!is_offered(&host, "x"));
    assert!(codes(&host, "x").contains(&"key-not-read".to_owned()));
}

#[test]
fn a_body_that_documents_the_key_is_not_restricted_by_it() {
    let documents = "```yaml\nallowed-tools: Bash\n```\n\n- `allowed-tools`: lists tools\n";
    for text in [
        format!("{HEAD}---\n# T\n\n{documents}\n---\n\nMore.\n"),
        format!("{HEAD}---\n# T\n\n---\n\nallowed-tools: Bash\n"),
        format!("{HEAD}---\nSome prose.\n\nallowed-tools: what it means\n\n---\n"),
        format!("{HEAD}---# T\n\n{documents}"),
        format!("{HEAD}---# T\n\n{documents}\n---\n\n*r*: [\n"),
        format!("{HEAD}\n# T\n\n{documents}"),
        format!("# Banner\n\n{HEAD}---\n{documents}"),
        format!("---\nname: x\ndescription: Use: it\n---\n{documents}\n---\nMore.\n"),
        format!("# No frontmatter\n\n{documents}"),
    ] {
        assert_eq!(allowed(&text), None, "{text:?}");
    }
}

const FORMS: &str = r#"
    allowed-tools: Read, Write, Edit => Read, Write, Edit
    allowed-tools: "Read, Bash(git:*)" => Read, Bash(git:*)
    allowed-tools: Read Bash(git log *) => Read Bash(git log *)
    allowed-tools: 'Read Grep' => Read Grep
    allowed-tools: Read => Read
    allowed-tools:\n  - Read\n  - Bash(git:*) => Read ;; Bash(git:*)
    allowed-tools:\n- Read # why\n# c\n- Grep => Read ;; Grep
    allowed-tools: [Read, "Bash(npm:*)"] => Read ;; Bash(npm:*)
    allowed-tools: Read,\n  Grep,\n  Bash(npm:*) => Read, Grep, Bash(npm:*)
    allowed-tools: "- Read - Write" => - Read - Write
    allowed-tools: Read | Write => Read | Write
    allowed-tools: Task (for subagents) => Task (for subagents)
    allowed-tools:\n- Azure MCP/documentation => Azure MCP/documentation
    allowed-tools: Agent(a, b, c) => Agent(a, b, c)
    allowed-tools: ["WebFetch(domain": "linear.app)"] => WebFetch(domain:linear.app)
    allowed-tools: MCP(slack:*), mcp_shadcn* => MCP(slack:*), mcp_shadcn*
    allowed-tools: stitch*:* Read => stitch*:* Read
    allowed-tools: Read, ... => Read, ...
    allowed-tools: Bash(*) => Bash(*)
    allowed_tools: Read => Read
    allowedTools: [Read] => Read
    allowed-tools: |\n  Read\n  Grep => Read\nGrep\n
    argument-hint: [t] [m]\nallowed-tools: Read => Read
    metadata: {"e":"\ud83d\udcb0"}\nallowed-tools:\n  - Read => Read
    metadata: {"a":{"b":["c"]}\nallowed-tools: [Read] => Read
    keywords: [A, @B]\nallowed-tools: "Read" => Read
"#;

/// Facts of docs/spec/skills.md#allowed-tools and the fences there: each form with its entries.
#[test]
fn every_form_in_use_has_the_entries_that_it_had() {
    let body = |keys: &str| format!("{HEAD}{keys}\n---\nBody.\n");
    for (keys, entries) in rows(FORMS) {
        assert_eq!(allowed(&body(&keys)), Some(entries), "{keys}");
        assert!(!has(&body(&keys), "key-not-read"), "{keys}");
    }
    let plain = body("allowed-tools: Read");
    for text in [
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.replace("---", "---\u{a0} "),
        format!("\n\n<!-- a\nb -->\n{plain}"),
        format!("# T\n\n{plain}"),
        format!("```markdown\n{plain}```\n"),
        plain.replace("---\nBody", "---# T\nBody"),
        plain.replace("---\nBody", "---# T\nBody\n\n---\nmore: [\n"),
        plain.replacen("---\n", "", 1),
        plain.replace("---\nBody", "\n# T\nBody"),
    ] {
        assert_eq!(allowed(&text), Some(vec!["Read".to_owned()]), "{text:?}");
    }
    assert_eq!(allowed(&body("allowed-tools:")), None);
}

/// The lists of real skills are read from their lines, as anybody would.
#[test]
fn every_list_of_the_corpus_is_what_its_line_says() {
    let Some(corpus) = corpus() else { return };
    let mut lists = 0;
    for (name, dir) in corpus {
        let text = fs::read_to_string(dir.join("SKILL.md")).unwrap();
        let yaml = text.split("\n---").next().unwrap();
        let mut lines = yaml.lines();
        let line = lines.find_map(|line| line.strip_prefix("allowed-tools:"));
        let loaded = Skill::load(&dir).unwrap();
        let Some(line) = line else {
            assert_eq!(loaded.fields.allowed_tools(), None, "{name}");
            continue;
        };
        lists += 1;
        let mut expected = vec![line.trim().trim_matches('"').to_owned()];
        if line.trim().is_empty() {
            let items = lines.map_while(|line| line.trim_start().strip_prefix("- "));
            expected = items
                .map(|item| item.trim_matches('"').to_owned())
                .collect();
        }
        assert_eq!(loaded.fields.allowed_tools(), Some(expected), "{name}");
        let codes: Vec<String> = loaded.diagnostics().map(|it| it.code()).collect();
        assert!(!codes.contains(&"key-not-read".to_owned()), "{name}");
        assert!(!codes.contains(&"near-miss".to_owned()), "{name}");
    }
    assert!(lists > 0);
}

#[test]
fn a_near_miss_is_offered_once_a_person_agrees() {
    for key in [
        "allow-tools: Read",
        "disallowed-tool: Bash",
        "metadata: {allowed-tools: Read}",
    ] {
        let host = Host::stdin().skill("x", key, "b");
        assert!(!is_offered(&host, "x"), "{key}");
        assert!(codes(&host, "x").contains(&"near-miss".to_owned()), "{key}");
        host.succeeds(&["info", "x"]).has("did you mean `");
        assert!(host.succeeds(&["list"]).contains("near-miss"));
        let dir = host.skills_dir().join("x");
        host.person(&["validate", dir.to_str().unwrap()])
            .stdout
            .has("did you mean `")
            .lacks("unknown-field");
        host.succeeds(&["enable", "x"]);
        assert!(is_offered(&host, "x"), "{key}");
    }
    let host = Host::stdin().skill("x", "user-invokable: true", "b");
    assert!(is_offered(&host, "x"));
}

#[test]
fn who_agrees_to_a_near_miss_at_install_is_offered_it() {
    for asks in [true, false] {
        let host = Host::stdin();
        let text = format!("{HEAD}allow-tools: Read\n---\nBody.\n");
        write_at(host.project().join("x/SKILL.md"), text);
        let mut command = host.command();
        command.args(["install", "./x"]);
        if !asks {
            command.arg("--yes");
        }
        let (shown, status) = converse(&mut command, "y\n");
        assert_eq!(status, 0, "{shown}");
        shown.has("did you mean `allowed-tools`?");
        assert_eq!(is_offered(&host, "x"), asks, "{shown}");
    }
}

#[test]
fn what_is_shown_of_a_restriction_is_what_counts() {
    let host = Host::stdin()
        .skill(
            "denies",
            "allowed-tools: Bash Read\ndisallowed-tools: Bash(rm -rf:*)",
            "b",
        )
        .skill("star", "allowed-tools: '*'", "b");
    let info = host.succeeds(&["info", "denies"]);
    info.has("never Bash(rm -rf:*)");
    info.has("`Bash(rm:*)` denies every `rm`");
    let denies = &host.json(&["info", "denies", "--json"])["restriction"];
    assert_eq!(denies["rules"].as_array().unwrap().len(), 2, "{denies}");
    let first = denies["denials"][0].as_str().unwrap();
    assert!(first.starts_with("Bash(rm -rf:*)"), "{denies}");
    let star = &host.json(&["info", "star", "--json"]);
    assert_eq!(
        (&star["restricted"], &star["restriction"]),
        (&json!(false), &Value::Null)
    );
    let listed = host.succeeds(&["list"]);
    let line = listed.lines().find(|line| line.contains("star")).unwrap();
    assert!(!line.contains("restricted"), "{listed}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn junk_in_a_frontmatter_never_widens_its_list(
        lines in Just(vec![
            "name: x",
            "description: Use when asked.",
            "allowed-tools: Read",
            "license: MIT",
            "metadata: {version: '1'}",
        ]).prop_shuffle(),
        at in 0..6_usize,
        junk in prop::sample::select(vec![
            "Bash and Write", "<!-- Bash -->", "<!--", "-->", "* Bash", "- Bash", "--- 1.0.1",
            "---# Bash", "---", "...", "```", "# Bash", "## Bash", "> Bash", "Bash: yes", "[Bash]",
            "{Bash", "\"Bash", "'Bash", "`Bash`", "| Bash", "  Bash", "\tBash", "\0", "&a", "*a",
            "!t", "? Bash", ": Bash", "<<: *a", "<<<<<<< HEAD", "+++", "\u{feff}", "\u{85}Bash",
            "allowed-tools: Bash", "  allowed-tools: Bash", "x: [a] [b]", "x: a: b", "x: |",
            "x: \"", "x: '", "\r", "@Bash", "%YAML 1.2", "1. Bash", "",
        ]),
        more in prop::sample::select(vec!["", "x: [a] [b]", "- Bash", "y: *b", "# T"]),
        ends in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut lines = lines;
        lines.insert(at.min(lines.len()), junk);
        lines.push(more);
        let yaml = lines.join("\n");
        let text = format!("---\n{yaml}\n---\nBody.\n").replace('\n', ends);
        let found = allowed(&text);
        let by_yaml = serde_yaml::from_str::<Value>(&yaml).ok();
        let by_yaml = by_yaml.filter(Value::is_object).map(|value| value["allowed-tools"].clone());
        let grants = |entries: &[String]| entries.iter().any(|entry| entry.contains("Bash"));
        let says = by_yaml.as_ref().map(|value| value.is_null() || value.to_string().contains("Bash"));
        match found {
            None => prop_assert_eq!(says, Some(true), "{:?}", text),
            // An indented line goes on with a value, also where the rest is no YAML.
            Some(entries) if grants(&entries) => {
                prop_assert!(says == Some(true) || entries == ["Read Bash"], "{text:?}: {entries:?}");
            }
            Some(entries) => prop_assert!(entries.is_empty() || entries == ["Read"], "{text:?}: {entries:?}"),
        }
    }
}
