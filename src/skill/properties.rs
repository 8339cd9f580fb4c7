//! The fields that the specification defines, with a skill's values.

use serde_json::{Value, json};

use super::Skill;

impl Skill {
    /// `name` and `description`, and `license`, `compatibility`, `allowed-tools` and `metadata` if
    /// they are set (docs/spec/skills.md#what-the-specification-asks).
    pub fn properties(&self) -> Value {
        let mut properties = json!({"name": self.name, "description": self.description});
        for key in ["license", "compatibility", "allowed-tools", "metadata"] {
            if let Some(value) = self.fields.value(key).filter(|value| !value.is_null()) {
                properties[key] = value.clone();
            }
        }
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_set_is_left_out() {
        let properties = |text: &str| {
            let dir = std::path::Path::new("/x/pdf");
            let skill = Skill::parse(dir, dir.join("SKILL.md"), text.as_bytes());
            skill.unwrap().properties()
        };
        assert_eq!(
            properties("---\nname: pdf\ndescription: ' d '\nlicense:\nextra: 1\n---\nbody"),
            json!({"name": "pdf", "description": "d"})
        );
        assert_eq!(
            properties(
                "---\nname: pdf\ndescription: d\nlicense: MIT\nallowed-tools: Read\nmetadata:\n  a: b\n---\n"
            ),
            json!({"name": "pdf", "description": "d", "license": "MIT", "allowed-tools": "Read",
                "metadata": {"a": "b"}})
        );
    }
}
