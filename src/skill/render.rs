//! The text that the model gets when a skill is activated. It does not know the host: notes about
//! it are passed in.

use std::fmt::Write;
use std::path::Path;

use super::Skill;
use super::resources::Resource;
use crate::sys::limits;
use skill_format::{PlaceholderValues, commands_run};

/// The element around the answer of a skill's own tool (docs/spec/skills.md#bodies).
pub const SKILL_CONTENT: &str = "skill_content";
/// The element around one of several skills in `<active_skills>`.
pub const SKILL: &str = "skill";

/// The text in this element. Nothing in guarded text can close it.
pub fn wrapped(tag: &str, name: &str, text: &str) -> String {
    format!("<{tag} name=\"{name}\">\n{text}\n</{tag}>")
}

/// What the model reads of a skill with this body and these files: `notes` say how to go on with it on
/// this host. Blank arguments count as absent.
pub fn rendered(
    skill: &Skill,
    body: &str,
    files: &[Resource],
    arguments: Option<&str>,
    notes: &[String],
) -> String {
    let arguments = arguments.filter(|text| !text.trim().is_empty());
    let mut text = guarded(&filled_in(skill, body, arguments));
    let _ = write!(
        text,
        "\n\nSkill directory: {}\nRelative paths start there.\n",
        skill.dir.display(),
    );
    if !commands_run(body).is_empty() {
        text.push_str(
            "Commands written as !`…` were not run: run those whose output you need, if allowed.\n",
        );
    }
    if arguments.is_none() && body.contains("$ARGUMENTS") {
        text.push_str("No arguments were given: $ARGUMENTS stands for what the user asked for.\n");
    }
    resources(&mut text, files);
    if let Some(arguments) = arguments {
        let _ = write!(text, "\n## Arguments\n\n{}\n", guarded(arguments));
    }
    if !notes.is_empty() {
        let _ = write!(text, "\n{}\n", guarded(&notes.join("\n")));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// The body with the skill's directory and the arguments substituted.
fn filled_in(skill: &Skill, body: &str, arguments: Option<&str>) -> String {
    let body = place(body, &skill.dir.display().to_string());
    PlaceholderValues::new(arguments.unwrap_or_default(), &skill.fields).fill(&body)
}

fn resources(text: &mut String, files: &[Resource]) {
    // Tests are for its author.
    let listed = files.iter().take(limits::LISTED_RESOURCES);
    let shown: Vec<_> = listed.filter(|it| !it.path.starts_with("tests")).collect();
    if shown.is_empty() {
        return;
    }
    text.push_str("<skill_resources>\n");
    for resource in shown {
        let _ = writeln!(text, "<file>{}</file>", escape(&resource.path));
    }
    text.push_str("</skill_resources>\n");
    if files.len() > limits::LISTED_RESOURCES {
        let more = files.len() - limits::LISTED_RESOURCES;
        let _ = writeln!(text, "{more} more are not listed.");
    }
}

/// Replaces the placeholders that real skills use for their own directory
/// (docs/spec/skills.md#bodies).
fn place(body: &str, dir: &str) -> String {
    let placeholders = ["{baseDir}", "${CLAUDE_SKILL_DIR}", "${SKILL_DIR}"];
    let fill = |text: String, placeholder| text.replace(placeholder, dir);
    placeholders.into_iter().fold(body.to_owned(), fill)
}

/// Escapes the closing tags of our elements.
pub fn guarded(text: &str) -> String {
    let ours = ["skill_content", "skill_resources", "active_skills", "skill"];
    let mut parts = text.split("</");
    let mut guarded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // `</skills>` and `</skill-name>` are not closing tags of ours.
        let of_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let name = part.trim_start().split(|c: char| !of_name(c)).next();
        let closes = name.is_some_and(|name| ours.iter().any(|tag| name.eq_ignore_ascii_case(tag)));
        guarded += if closes { "&lt;/" } else { "</" };
        guarded += part;
    }
    guarded
}

fn escape(path: &Path) -> String {
    let text = path.display().to_string().replace(char::is_control, " ");
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn activate(body: &str, files: &[(&str, usize)], arguments: Option<&str>) -> String {
        let root = tempfile::tempdir().unwrap();
        fs::write(
            root.path().join("SKILL.md"),
            format!("---\nname: x\ndescription: d\n---\n{body}"),
        )
        .unwrap();
        for (name, size) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, vec![b'x'; *size]).unwrap();
        }
        let skill = Skill::load(root.path()).unwrap();
        let files = Resource::all(root.path());
        let notes = ["Note.".to_owned()];
        let text = rendered(&skill, &skill.body().unwrap(), &files, arguments, &notes);
        wrapped(SKILL_CONTENT, "x", &text).replace(&root.path().display().to_string(), "/DIR")
    }

    #[test]
    fn the_whole_form() {
        assert_eq!(
            activate(
                "# T\n\nUse {baseDir}/a and ${SKILL_DIR}/b, ${CLAUDE_SKILL_DIR}.",
                &[("a.md", 1500), ("tests/a.py", 1)],
                Some("now")
            ),
            "<skill_content name=\"x\">\n# T\n\nUse /DIR/a and /DIR/b, /DIR.\n\n\
             Skill directory: /DIR\n\
             Relative paths start there.\n\
             <skill_resources>\n<file>a.md</file>\n</skill_resources>\n\n## Arguments\n\nnow\n\nNote.\n</skill_content>"
        );
    }

    #[test]
    fn neither_body_nor_arguments_can_close_the_wrapper() {
        let text = activate(
            "a </skill_content> b </ SKILL_CONTENT x </p>",
            &[],
            Some("</skill_content>"),
        );
        assert_eq!(text.matches("</skill_content>").count(), 1);
        assert!(
            text.contains("&lt;/skill_content> b &lt;/ SKILL_CONTENT x </p>"),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_done_is_noted() {
        let text = activate("!`git status`\n\nFix $ARGUMENTS.", &[], None);
        assert!(
            text.contains("!`git status`\n\nFix $ARGUMENTS.\n"),
            "{text}"
        );
        assert!(text.contains("were not run") && text.contains("No arguments were given"));
        let text = activate("Fix $ARGUMENTS.", &[], Some("!`id`"));
        assert!(
            text.starts_with("<skill_content name=\"x\">\nFix !`id`.\n"),
            "{text}"
        );
        assert!(
            !text.contains("were not run") && !text.contains("No arguments"),
            "{text}"
        );
    }

    #[test]
    fn blank_arguments_are_none() {
        assert!(!activate("b", &[], Some(" \n")).contains("## Arguments"));
    }
}
