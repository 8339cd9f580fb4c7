//! SARIF 2.1.0, for code scanning services.

use std::collections::BTreeSet;

use percent_encoding::utf8_percent_encode;
use serde_json::{Value, json};

use crate::author::{Finding, Findings};
use crate::skill::rules;
use crate::sys::URI_PATH;

/// The log of one run.
pub fn log(findings: &Findings) -> Value {
    let codes: BTreeSet<&str> = findings
        .findings
        .iter()
        .map(|found| found.code.as_str())
        .collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let rule = |code: &&str| {
        json!({
            "id": code,
            "shortDescription": {"text": code.replace('-', " ")},
            "help": {"text": rules::remedy(code)},
            "defaultConfiguration": {"level": rules::level(code).as_str()},
        })
    };
    let result = |found: &Finding| {
        json!({
            "ruleId": found.code,
            "ruleIndex": codes.binary_search(&found.code.as_str()).unwrap_or_default(),
            "level": found.level.as_str(),
            "message": {"text": format!("{}. {}", found.message, found.remedy)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(&found.file)},
                "region": {"startLine": found.line, "startColumn": found.column},
            }}],
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "agent-skills",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": findings.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn uri(path: &str) -> String {
    let encoded = utf8_percent_encode(path, URI_PATH);
    if path.starts_with('/') {
        format!("file://{encoded}")
    } else {
        encoded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_the_shape_that_services_take() {
        let finding = Finding::new("body-empty", "a b/SKILL.md".to_owned(), (3, 1), "m");
        let log = log(&Findings {
            skills: 1,
            findings: vec![finding],
        });
        let run = &log["runs"][0];
        assert_eq!(log["version"], "2.1.0");
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "body-empty");
        let result = &run["results"][0];
        assert_eq!(
            (&result["ruleIndex"], &result["level"]),
            (&json!(0), &json!("warning"))
        );
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b/SKILL.md");
        assert_eq!(place["region"], json!({"startLine": 3, "startColumn": 1}));
    }
}
