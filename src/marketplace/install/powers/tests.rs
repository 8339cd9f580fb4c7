//! Which changes to a frontmatter let a skill do more.

use super::*;
use crate::marketplace::testing::everything;
use skill_format::FIELDS;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The keys that decide nothing: they describe the skill to a reader.
const DESCRIBE: [&str; 16] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "argumenthint",
    "arguments",
    "model",
    "agent",
    "version",
    "whentouse",
    "tags",
    "effort",
    "paths",
    "shell",
    "<<",
];
const TOOLS: [&str; 3] = ["allowedtools", "tools", "disallowedtools"];

fn powers(yaml: &str) -> Powers {
    let text = format!("---\nname: x\n{yaml}\n---\nb\n");
    let dir = Path::new("/x");
    Powers::of(&Skill::parse(dir, dir.join("SKILL.md"), text.as_bytes()).unwrap())
}

fn more(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (powers(old), powers(new));
    let mut wider = old.wider(&new, |_, entries, _| entries);
    wider.extend(old.widened(&new));
    wider
}

fn each_is_named(table: &[(&str, &str, &str)]) {
    for (narrow, wide, named) in table {
        let found = more(narrow, wide);
        assert!(
            found.iter().any(|one| one.contains(named)),
            "{narrow} > {wide}: {found:?}"
        );
        for same in [narrow, wide] {
            assert_eq!(more(same, same), [""; 0], "{same}");
        }
    }
}

#[test]
fn tools_that_were_not_permitted_are_named() {
    each_is_named(&[
        ("allowed-tools: Read", "", "every tool"),
        ("allowed-tools: Read", "allowed-tools:", "every tool"),
        (
            "allowed-tools: Read",
            "allowed-tools: Read, Bash",
            "Read, Bash",
        ),
        (
            "allowed-tools: Read",
            "tools: codex",
            "every tool, if `tools`",
        ),
        (
            "tools: [Read, codex]",
            "tools: codex",
            "every tool, if `tools`",
        ),
        (
            "allowed-tools: Read",
            "tools: Read",
            "every tool, if `tools`",
        ),
        ("disallowed-tools: Bash", "", "Bash, which it denies now"),
        (
            "disallowed-tools: Bash",
            "disallowed-tools: Bash(rm:*)",
            "Bash, which",
        ),
        (
            "disallowed-tools: {Bash: true}",
            "disallowed-tools: {Bash: false}",
            "Bash, which",
        ),
    ]);
}

#[test]
fn what_could_do_more_is_named() {
    each_is_named(&[
        (
            "execution: {sandbox: true}",
            "",
            "`execution` is gone; it was {\"sandbox\":true}",
        ),
        (
            "execution: {sandbox: true}",
            "Execution: {sandbox: true}",
            "`execution` is gone",
        ),
        (
            "execution: {sandbox: true, network: restricted}",
            "execution: {sandbox: true}",
            "`execution`",
        ),
        (
            "execution: {sandbox: true}",
            "execution: {sandbox: true, allowed-paths: ['~']}",
            "[\"~\"]",
        ),
        (
            "disable-model-invocation: true",
            "",
            "`disable-model-invocation` is gone",
        ),
        (
            "disable_model_invocation: yes",
            "disable-model-invocation: no",
            "is gone",
        ),
        (
            "user-invocable: false",
            "user-invocable: true",
            "`user-invocable`",
        ),
        (
            "scope: {agents: [ops]}",
            "",
            "`scope` is gone; it was agents ops",
        ),
        (
            "scope: {agents: [ops]}",
            "scope: {agents: ['*']}",
            "`scope` is agents *",
        ),
        (
            "context: fork",
            "context: inline",
            "`context` is gone; it was fork",
        ),
        (
            "",
            "hooks: {pre: run.sh}",
            "`hooks` is new: {\"pre\":\"run.sh\"}",
        ),
        ("hooks: {pre: a.sh}", "hooks: {pre: b.sh}", "b.sh"),
        ("", "requires: other", "`requires` is new: \"other\""),
        ("", "priority: 10", "`priority` is 10, not 0"),
        ("priority: -2", "", "`priority` is 0, not -2"),
    ]);
}

#[test]
fn what_could_do_less_is_no_matter() {
    for (wide, narrow) in [
        ("", "allowed-tools: Read"),
        ("allowed-tools: [Read, Bash]", "allowed-tools: [Read]"),
        ("", "disallowed-tools: Bash"),
        ("", "execution: {sandbox: true}"),
        ("", "disable-model-invocation: true"),
        ("", "scope: {agents: [ops]}"),
        ("", "context: fork"),
        ("hooks: {pre: run.sh}", ""),
        ("priority: 10", "priority: 9"),
        ("scope: project\ncontext: a", "scope: x\ncontext: b"),
        ("version: 1\nauthor: a", "version: 2\nlicense: MIT"),
        ("user-invocable: true", ""),
    ] {
        assert_eq!(more(wide, narrow), [""; 0], "{wide} > {narrow}");
    }
}

/// A new key is read from the frontmatter by one of these calls, or is in the table of fields.
#[test]
fn every_key_is_a_power_or_a_description() {
    const CALLS: [&str; 9] = [
        "fields.value(\"",
        "fields.text(\"",
        "self.value(\"",
        "self.text(\"",
        "spelled(\"",
        "flag(\"",
        "folds_to(key,\"",
        "folded=[\"",
        "keys=[\"",
    ];
    let folded = |key: &str| key.replace(['-', '_'], "").to_lowercase();
    let quoted = |text: &str| text.split('"').next().map(folded);
    let decide = LIMITS.iter().chain(&REQUESTS).map(|(key, _)| folded(key));
    let known = [
        &DESCRIBE[..],
        &TOOLS,
        &["priority", "disablemodelinvokation"],
    ]
    .concat();
    let known: BTreeSet<String> = known.into_iter().map(str::to_owned).chain(decide).collect();
    let mut found = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let format = root.join("crates/skill-format/src");
    let files = everything(&root.join("src")).into_iter();
    for path in files.chain(everything(&format)) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut source = text;
        source.retain(|c| !c.is_whitespace());
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        // Elsewhere, the other calls read other things.
        let of_skill = path.starts_with(root.join("src/skill")) || path.starts_with(&format);
        for call in &CALLS[..if of_skill { CALLS.len() } else { 2 }] {
            found.extend(source.split(*call).skip(1).filter_map(quoted));
        }
    }
    found.extend(FIELDS.iter().map(|field| folded(field.key)));
    assert!(found.len() > 20, "{found:?}");
    let unknown: Vec<_> = found.difference(&known).collect();
    assert!(unknown.is_empty(), "classify them: {unknown:?}");
}
