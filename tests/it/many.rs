//! Hundreds of skills: one tool for all, a prompt within its budget, and a search.

use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;

/// Characters of a prompt's catalog, and the most that names alone may make of it.
const BUDGET: usize = 12_000;
pub const TOOLS: usize = 32;

/// A skill as people write them: the median description has 216 characters, nine in ten have less
/// than 434 (docs/spec/skills.md#files). The same number is always the same skill.
fn generated(number: usize) -> (String, String) {
    const WORDS: [&str; 16] = [
        "reads", "tables", "from", "reports", "and", "writes", "charts", "for", "teams", "that",
        "review", "designs", "before", "a", "release", "daily",
    ];
    let mut seed = number.wrapping_mul(2_654_435_761) % 9973 + 1;
    let mut next = |below: usize| {
        seed = seed * 7919 % 999_983;
        seed % below
    };
    let (kind, thing) = (WORDS[next(16)], WORDS[next(16)]);
    let name = format!("{kind}-{thing}-{number:04}");
    let length = 80 + next(280);
    let mut description = format!("Skill number {number}");
    while description.len() < length {
        description.push(' ');
        description.push_str(WORDS[next(16)]);
    }
    let text = format!("---\nname: {name}\ndescription: {description}.\n---\nDo it.\n");
    (name, text)
}

pub fn with_generated(host: Host, count: usize) -> Host {
    (0..count).fold(host, |host, number| {
        let (name, text) = generated(number);
        host.file(&format!("{name}/SKILL.md"), text)
    })
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// What skills cost in the schema: everything beyond that of a host without any.
fn schema_chars(host: &Host) -> usize {
    let length = |tools: &[Value]| chars(&serde_json::to_string(tools).unwrap());
    length(&host.schema()) - length(&Host::stdin().schema())
}

#[test]
fn above_the_limit_one_tool_stands_for_all_skills() {
    for host in Host::both() {
        let host = with_generated(host, TOOLS);
        assert_eq!(host.skill_tools().len(), TOOLS);
        assert!(!host.tool_names().contains(&"skill".to_owned()));
        assert!(host.prompt().contains("its tool skill_NAME first"));

        let host = host.skill("last", "", "body");
        assert!(host.skill_tools().is_empty());
        let tools = host.schema();
        let tool = tools.iter().find(|tool| tool["name"] == "skill").unwrap();
        let parameters = tool["parameters"]["properties"].as_object().unwrap();
        assert_eq!(
            parameters.keys().collect::<Vec<_>>(),
            ["skill_name", "arguments"]
        );
        assert_eq!(tool["parameters"]["required"], json!(["skill_name"]));
        // What stands in the prompt stands nowhere else, and there only once.
        let prompt = host.prompt();
        assert_eq!(prompt.matches("last").count(), 2, "{prompt}");
        assert!(
            !tool.to_string().contains("last") && !prompt.contains("skill_last"),
            "{prompt}"
        );
        // A tool of its own goes on to be understood.
        host.activates("last");
    }
}

#[test]
fn when_to_use_and_tags_are_told_and_counted() {
    let host = Host::stdin();
    let more = format!(
        "when_to_use: {}\ntags: [paper, forms]",
        "Whenever. ".repeat(100)
    );
    let host = (0..20).fold(host, |host, n| host.skill(&format!("s{n}"), &more, ""));
    let prompt = host.prompt();
    prompt.has("Does s0. Whenever. ");
    let size = chars(&prompt);
    assert!((BUDGET - 99..=BUDGET).contains(&size), "{size}");
    let host = host.skill("tagged", "tags: paper", "");
    assert!(host.prompt().contains("Does tagged. [paper]"));
}

#[test]
fn the_user_is_told_of_each_change_in_what_was_cut() {
    let host = with_generated(Host::stdin(), 60);
    let told = |host: &Host| {
        host.hook_with_stderr("post_system_prompt", &json!({"context_name": "default"}))
            .1
    };
    let first = told(&host);
    let name = generated(0).0;
    assert_eq!(first.has("; shortened: ").lines().count(), 1);
    assert_eq!(told(&host), "");
    let text = format!("---\ndescription: {}\n---\n", "long ".repeat(100));
    let host = host.file("added/SKILL.md", text);
    assert!(told(&host).contains("; shortened: "));
    assert_eq!(told(&host), "");
    let list = host.succeeds(&["list", "--long"]);
    assert!(list.contains("(description-shortened)") && list.contains(&name));
    host.succeeds(&["list"]).lacks("description-shortened");
}

#[test]
fn installed_skills_are_found_by_name_tag_and_description() {
    let host = Host::stdin();
    let host = with_generated(host, 40)
        .skill("pdf-forms", "tags: [paper]", "")
        .skill("off", "tags: [paper]", "");
    host.succeeds(&["disable", "off"]);
    let search = |query: &str| {
        let call = json!({"action": "search_installed", "query": query});
        host.allows("skill_marketplace", &call);
        host.tool("skill_marketplace", &call)
    };
    for query in ["pdf", "PAPER", "pdf-forms", "does pdf", "pfd-forms"] {
        search(query)
            .begins("- pdf-forms: Does pdf-forms. [paper]\n")
            .has(r#"{"action": "use", "skill_ref": NAME"#)
            .lacks("- off");
    }
    search("whales").begins("No installed skill matches `whales`. `list_installed` shows all");
    let shown = host.succeeds(&["search_installed", "whales"]);
    assert!(shown.contains("`agent-skills list` shows all"));
    // A search for nothing is the list.
    assert!(search("").contains("pdf"), "{}", search(""));
    assert!(search("skill").lines().count() <= 12);
    // One meaning for the model and for a person, and a restricted skill may look.
    let shown = host.succeeds(&["search_installed", "pdf"]);
    assert_eq!(shown, "- pdf-forms: Does pdf-forms. [paper]\n");
    let json = host.succeeds(&["search_installed", "pdf", "--json"]);
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["skills"][0]["tool"], "skill_pdf-forms");
    let host = host.skill("reads", "allowed-tools: Read", "");
    host.activates("reads");
    let call = json!({"action": "search_installed", "query": "pdf"});
    host.allows("skill_marketplace", &call);
}

/// Copies every skill of the real collections; how many there are.
fn add_corpus(to: &Path) -> usize {
    let corpus = crate::corpus::corpus().unwrap_or_default();
    for (name, from) in &corpus {
        crate::repository::copy(from, &to.join(name));
    }
    corpus.len()
}

#[test]
fn a_thousand_skills_and_all_real_ones_stay_within_the_budgets() {
    let host = with_generated(Host::stdin(), 1000);
    let real = add_corpus(&host.skills_dir());
    assert!(schema_chars(&host) < 1000, "{}", schema_chars(&host));
    let data = json!({"context_name": "default"});
    let (answer, told) = host.hook_with_stderr("post_system_prompt", &data);
    let prompt = answer["inject"].as_str().unwrap();
    assert!(chars(prompt) <= 2 * BUDGET, "{}", chars(prompt));
    let named = prompt.matches("\n- ").count();
    assert!(named >= 800, "{named} of {}", 1000 + real);
    // Two of the real ones have one name.
    let offered = 1000 + real - usize::from(real > 0);
    if named < offered {
        let counted = format!("… and {} more skills", offered - named);
        assert!(prompt.contains(&counted), "{counted}");
        told.has("; not named: ");
    }
    // The last one by name is found all the same.
    let last = (0..1000).map(|number| generated(number).0).max().unwrap();
    let call = json!({"action": "search_installed", "query": last});
    host.tool("skill_marketplace", &call)
        .begins(&format!("- {last}: "));
    let call = json!({"skill_name": last});
    host.allows("skill", &call);
    assert!(host.tool("skill", &call).contains("\nDo it.\n"));
}

/// To print the table: `cargo test --test it many::characters -- --nocapture`.
#[test]
fn characters_per_skill() {
    println!("| skills | schema | prompt | characters per skill |");
    for (count, most) in [(10, 900), (100, 130), (1000, 30)] {
        let host = with_generated(Host::stdin(), count);
        let (schema, prompt) = (schema_chars(&host), chars(&host.prompt()));
        let each = (schema + prompt) / count;
        println!("| {count} | {schema} | {prompt} | {each} |");
        assert!(each <= most, "{count}: {each}");
    }
}

/// What a model reads of ten real skills before any is called: the tools as the newer host passes them
/// on, and the prompt.
#[test]
fn ten_real_skills_cost_little_and_nothing_is_said_twice() {
    let corpus = crate::corpus::corpus().unwrap_or_default();
    let ten = corpus.iter().filter(|(name, _)| name.starts_with("obra+"));
    let host = Host::stdin();
    for (name, from) in ten.take(10) {
        let name = name.rsplit("--").next().unwrap();
        crate::repository::copy(from, &host.skills_dir().join(name));
    }
    let mut tools = host.schema();
    tools.retain(|tool| tool["name"] != "agent-skills");
    let passed = tools.iter().map(|tool| {
        let parameters = &tool["parameters"];
        let properties = parameters["properties"].as_object().unwrap().iter();
        let pass = |it: &Value| json!({"type": it["type"], "description": it["description"]});
        let properties: serde_json::Map<_, _> = properties
            .map(|(key, it)| (key.clone(), pass(it)))
            .collect();
        let parameters = json!({"type": "object", "properties": properties,
            "required": parameters["required"]});
        json!({"name": tool["name"], "description": tool["description"],
            "parameters": parameters})
    });
    let schema = json!(passed.collect::<Vec<_>>()).to_string();
    let prompt = host.prompt();
    let size = schema.len() + prompt.len();
    println!("schema {}, prompt {}", schema.len(), prompt.len());
    assert!(size <= 7_500, "{size}");
    let catalog = host.catalog();
    for offered in catalog.offered() {
        let (name, told) = (offered.skill.name.as_str(), offered.told());
        assert_eq!(prompt.matches(&*told).count(), 1, "{name}");
        assert!(!schema.contains(&*told), "{name}");
        assert_eq!(schema.matches(name).count(), 1, "{name}");
    }
}
