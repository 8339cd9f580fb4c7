//! What a skill declares that its scripts need (`metadata.openclaw` and its older names,
//! docs/spec/skills.md#fields), and which of these are missing. It installs nothing.

use std::ffi::OsStr;

use serde_json::Value;

use super::environment::{Variables, is_never_passed};
use super::interpreter::{find, system_install};
use crate::skill::Fields;
use crate::sys::Env;
use crate::sys::text::distinct;

/// The keys of `metadata` that may hold the block.
const BLOCKS: [&str; 4] = ["openclaw", "clawdbot", "clawdis", "moltbot"];

/// What is missing, one sentence each. Programs are searched on the host's `PATH`, variables in the
/// script's environment.
pub fn unmet_needs(fields: &Fields, skill: &str, base: &Env, given: &Variables) -> Vec<String> {
    // Some authors write the metadata as JSON text.
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let metadata = match fields.value("metadata") {
        Some(Value::String(text)) => parsed(text),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let Some(block) = BLOCKS.iter().find_map(|key| metadata.get(key)) else {
        return Vec::new();
    };
    let requires = |key: &str| texts(block.pointer(&format!("/requires/{key}")));
    let is_missing = |name: &&str| find(name, base).is_none();
    let mut unmet = Vec::new();
    for name in requires("bins").iter().filter(|name| is_missing(name)) {
        let how = system_install(name);
        unmet.push(format!(
            "the skill needs `{name}`, which was not found on PATH: {how}"
        ));
    }
    let any = requires("anyBins");
    if !any.is_empty() && any.iter().all(is_missing) {
        let (names, how) = (any.join("` or `"), system_install(any[0]));
        unmet.push(format!(
            "the skill needs `{names}`, none of which was found on PATH: {how}"
        ));
    }
    let variables = [requires("env"), texts(block.get("primaryEnv"))].concat();
    let withheld = distinct(variables.into_iter()).into_iter();
    let withheld = withheld.filter(|name| !given.contains_key(OsStr::new(name)));
    unmet.extend(withheld.map(|name| without(skill, name, base.os(name).is_some())));
    unmet
}

fn without(skill: &str, name: &str, is_set: bool) -> String {
    let setting = format!("`pass_env = [\"{name}\"]` for the skill `{skill}`");
    if is_never_passed(name) {
        format!("the skill needs the variable `{name}`, which is the host's own and never passed")
    } else if is_set {
        format!(
            "the skill needs the variable `{name}`, which was not passed on because its name looks \
             like a secret's or is not listed: the setting {setting} passes it"
        )
    } else {
        format!(
            "the skill needs the variable `{name}`, which is not set: the user can set it before \
             starting chibi; if its name looks like a secret's, the setting {setting} passes it on"
        )
    }
}

/// One string or a list of them.
fn texts(value: Option<&Value>) -> Vec<&str> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let texts = items.iter().filter_map(Value::as_str);
    texts.filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn unmet_by(block: &Value, base: &Env, given: &Variables) -> Vec<String> {
        let metadata = json!({ "metadata": block });
        let fields = Fields(metadata.as_object().unwrap().clone());
        unmet_needs(&fields, "pdf", base, given)
    }

    fn unmet(block: &Value, set: &[(&str, &str)], given: &[&str]) -> Vec<String> {
        let base = Env::new(
            set.iter().copied().chain([("PATH", "/no/such")]),
            Path::new("/"),
        );
        let given: Variables = given.iter().map(|name| (name.into(), "x".into())).collect();
        unmet_by(block, &base, &given)
    }

    #[test]
    fn missing_programs_are_named_with_an_install_command() {
        let block = json!({"openclaw": {
            "requires": {"bins": ["jq"], "anyBins": ["a", "b"]},
        }});
        for block in [&block, &json!(block.to_string())] {
            let unmet = unmet(block, &[], &[]);
            assert!(unmet[0].contains("`jq`") && unmet[0].contains("`sudo apt install jq`"));
            assert!(unmet[1].contains("`a` or `b`"), "{unmet:?}");
        }
    }

    #[test]
    fn what_is_there_is_not_spoken_of() {
        let here = Env::from_process();
        let block = json!({"clawdbot": {"requires": {"bins": ["sh"], "anyBins": ["no", "sh"]}}});
        for block in [
            block,
            json!(null),
            json!("text"),
            json!({"openclaw": null}),
            json!([1]),
        ] {
            let unmet = unmet_by(&block, &here, &Variables::new());
            assert_eq!(unmet, Vec::<String>::new(), "{block}");
        }
    }

    #[test]
    fn a_withheld_variable_comes_with_the_setting_for_it() {
        let block = json!({"moltbot": {"requires": {"env": ["A_TOKEN", "B"]}, "primaryEnv": "B"}});
        let text = unmet(&block, &[("A_TOKEN", "1")], &["B"]);
        assert_eq!(text.len(), 1);
        assert!(text[0].contains("`A_TOKEN`") && text[0].contains("pass_env = [\"A_TOKEN\"]"));
        let text = unmet(&block, &[], &[]);
        assert!(
            text[0].contains("not set") && text[1].contains("`B`"),
            "{text:?}"
        );
        let own = json!({"openclaw": {"requires": {"env": "CHIBI_API_KEY"}}});
        assert!(unmet(&own, &[("CHIBI_API_KEY", "1")], &[])[0].contains("never passed"));
    }
}
