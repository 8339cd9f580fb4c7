//! All checks of a single skill: of its text by the format, and of its files.

use super::prelude::*;
use super::{files, package, references};
use crate::skill::Hooks;

/// The findings about the skill in `dir`, and the skill if there is one.
pub fn lint(dir: &Path) -> (Vec<LintFinding>, Option<SkillSource>) {
    let skill = match Skill::load(dir) {
        Ok(skill) => skill,
        Err(diagnostic) => {
            let file = dir.join("SKILL.md").display().to_string();
            let found = LintFinding::of_diagnostic(&diagnostic, file, (1, 1));
            return (vec![found], None);
        }
    };
    let source = SkillSource::read(skill);
    let found = skill_format::lint(&source.skill, &source).into_iter();
    let mut found: Vec<_> = found
        .map(|found| LintFinding::of_format(found, source.file()))
        .collect();
    found.extend(hooks(&source));
    found.extend(references::lint(&source));
    found.extend(files::lint(dir));
    found.extend(package::lint_manifest(&source.skill));
    (found, Some(source))
}

/// Findings about the skill's own hooks: each is a script that is there.
fn hooks(source: &SkillSource) -> Vec<LintFinding> {
    let (skill, Hooks { pre, post }) = (&source.skill, Hooks::parse(&source.skill.fields));
    let problem = |script: &String| {
        let path = SkillPath::parse(script, &skill.dir);
        let (code, error) = match path.map(|path| path.resolve(&skill.dir)) {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => ("hook-missing", error),
            Err(error) => ("hook-leaves-skill", error),
        };
        let (place, text) = (source.words("hooks", script), format!("hook: {error}"));
        Some(LintFinding::new(code, source.file(), place, &text))
    };
    pre.iter().chain(&post).filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_file_is_judged_at_places_it_has(
            text in "(---|\\n|\\r\\n|name: |x|description: |allowed-tools: |'|\"|\\[a\\]\\(b/c\\.md\\)|`{1,3}|&a|\\|| |\u{feff}|é|: |- ){0,30}"
        ) {
            let root = tempfile::tempdir().unwrap();
            let dir = root.path().join("x");
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("SKILL.md"), &text).unwrap();
            let lines = text.split('\n').count().max(text.split('\r').count());
            for found in lint(&dir).0 {
                prop_assert!((1..=lines).contains(&found.line) && found.column >= 1, "{:?}", found);
                prop_assert!(!found.message.is_empty() && !found.message.contains('\n'));
            }
        }
    }

    fn codes(yaml: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("x");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("a.sh"), "").unwrap();
        std::os::unix::fs::symlink("/bin/sh", dir.join("out.sh")).unwrap();
        let text = format!("---\nname: x\ndescription: d\n{yaml}\n---\nb\n");
        std::fs::write(dir.join("SKILL.md"), text).unwrap();
        let found = hooks(&SkillSource::read(Skill::load(&dir).unwrap()));
        let found = found.into_iter().map(|found| {
            assert_eq!(found.line, 4, "{yaml}: {found:?}");
            assert!(
                !found.remedy.is_empty() && found.message.len() < 150,
                "{found:?}"
            );
            found.code
        });
        found.collect()
    }

    #[test]
    fn a_hook_is_a_script_of_the_skill() {
        for (yaml, code) in [
            ("hooks: {pre: nosuch.sh}", "hook-missing"),
            ("hooks: {post: [a.sh, nosuch.sh]}", "hook-missing"),
            ("hooks: {pre: out.sh}", "hook-missing"),
            ("hooks: {pre: ../x.sh}", "hook-leaves-skill"),
            ("hooks: {post: /bin/sh}", "hook-leaves-skill"),
        ] {
            assert_eq!(codes(yaml), [code], "{yaml}");
        }
        assert_eq!(codes("hooks: {pre: a.sh, post: [./a.sh]}"), [""; 0]);
    }
}
