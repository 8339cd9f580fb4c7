//! Which skills a skill requires (`requires` in its frontmatter), directly or indirectly.

use super::{Catalog, Entry};
use crate::skill::{Skill, SkillName, one_line};
use crate::sys::limits;

/// What must be loaded before a skill.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Required {
    /// The names of offered skills, each after those it requires itself.
    pub names: Vec<SkillName>,
    /// Names that match no offered skill, on one line each.
    pub missing: Vec<String>,
    /// A cycle: skills that each require the next, with the first repeated at the end.
    pub cycle: Option<Vec<SkillName>>,
}

impl Catalog {
    /// Everything that `skill` requires.
    pub fn required(&self, skill: &Skill) -> Required {
        let mut required = Required::default();
        self.follow(skill, &mut vec![skill.name.clone()], &mut required);
        required
    }

    fn follow(&self, skill: &Skill, path: &mut Vec<SkillName>, required: &mut Required) {
        for written in skill.fields.requires() {
            let offered = self.by_name(&written).and_then(Entry::offered);
            let Some(offered) = offered else {
                let shown = one_line(&written);
                let is_known = required.missing.contains(&shown);
                if !is_known && required.missing.len() < limits::REQUIRED_SKILLS {
                    required.missing.push(shown);
                }
                continue;
            };
            let name = &offered.skill.name;
            if let Some(at) = path.iter().position(|earlier| earlier == name) {
                let circle = path[at..].iter().chain([name]).cloned();
                required.cycle.get_or_insert_with(|| circle.collect());
                continue;
            }
            let is_too_much = path.len() > limits::REQUIRES_DEPTH
                || required.names.len() >= limits::REQUIRED_SKILLS;
            if is_too_much || required.names.contains(name) {
                continue;
            }
            path.push(name.clone());
            self.follow(offered.skill, path, required);
            path.pop();
            required.names.push(name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::testing::catalog;

    fn required(skills: &[(&str, &str)]) -> Required {
        let texts: Vec<(String, String)> = skills
            .iter()
            .map(|(name, requires)| {
                let text =
                    format!("---\nname: {name}\ndescription: d\nrequires: {requires}\n---\n");
                ((*name).to_owned(), text)
            })
            .collect();
        let texts: Vec<(&str, &str)> = texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let (_root, catalog) = catalog(&texts);
        catalog.required(catalog.by_tool("skill_a").unwrap())
    }

    fn names(names: &[SkillName]) -> Vec<&str> {
        names.iter().map(SkillName::as_str).collect()
    }

    #[test]
    fn each_comes_behind_what_it_requires_itself() {
        let found = required(&[("a", "[b, c]"), ("b", "[d]"), ("c", "d, nosuch"), ("d", "")]);
        assert_eq!(names(&found.names), ["d", "b", "c"]);
        assert_eq!(found.missing, ["nosuch"]);
        assert_eq!(found.cycle, None);
    }

    #[test]
    fn a_circle_is_reported_as_it_runs() {
        let found = required(&[("a", "[b]"), ("b", "[c]"), ("c", "[a]")]);
        assert_eq!(names(&found.cycle.unwrap()), ["a", "b", "c", "a"]);
        let found = required(&[("a", "[b]"), ("b", "[b]")]);
        assert_eq!(names(&found.cycle.unwrap()), ["b", "b"]);
    }

    #[test]
    fn it_is_followed_five_deep_and_no_deeper() {
        let found = required(&[
            ("a", "[b]"),
            ("b", "[c]"),
            ("c", "[d]"),
            ("d", "[e]"),
            ("e", "[f]"),
            ("f", "[g]"),
            ("g", ""),
        ]);
        assert_eq!(names(&found.names), ["f", "e", "d", "c", "b"]);
    }

    #[test]
    fn a_table_of_programs_requires_no_skill() {
        assert_eq!(
            required(&[("a", "{bins: [b]}"), ("b", "")]),
            Required::default()
        );
    }
}
