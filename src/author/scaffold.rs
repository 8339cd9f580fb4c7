//! The first files of a new skill; they are valid as written.

use super::prelude::*;
use std::fmt::Write as _;

/// The language of a new skill's script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ScriptLanguage {
    /// Python
    Py,
    /// Shell
    Sh,
    /// JavaScript
    Js,
}

/// The properties of a new skill.
#[derive(Debug)]
pub struct NewSkill {
    /// The name of the skill and its directory.
    pub name: SkillName,
    /// What it does, and when to use it.
    pub description: String,
    /// An initial script.
    pub script: Option<ScriptLanguage>,
    /// The tools it may use; unrestricted if `None`.
    pub tools: Option<String>,
}

/// One file to write.
#[derive(Debug)]
pub struct NewFile {
    /// Relative to the skill.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// Whether it is a script.
    pub executable: bool,
}

/// The files: `SKILL.md`, the script, and a conversation that tests both.
pub fn files(wish: &NewSkill) -> Vec<NewFile> {
    let file = |path: &str, text: String, executable| NewFile {
        path: PathBuf::from(path),
        text,
        executable,
    };
    let mut files = vec![
        file("SKILL.md", skill_file(wish), false),
        file("tests/first.yaml", conversation(wish), false),
    ];
    let script = wish.script.map(ScriptLanguage::file);
    files.extend(script.map(|(path, text)| file(path, text.to_owned(), true)));
    files
}

impl ScriptLanguage {
    /// Its path and its text.
    fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Py => (
                "scripts/run.py",
                "#!/usr/bin/env python3\n\
                 \"\"\"Say here what this does, and with which arguments.\"\"\"\n\n\
                 import sys\n\n\
                 print(\"arguments:\", *sys.argv[1:])\n",
            ),
            Self::Sh => (
                "scripts/run.sh",
                "#!/usr/bin/env bash\n\
                 # Say here what this does, and with which arguments.\n\
                 set -euo pipefail\n\n\
                 echo \"arguments: $*\"\n",
            ),
            Self::Js => (
                "scripts/run.js",
                "#!/usr/bin/env node\n\
                 // Say here what this does, and with which arguments.\n\
                 console.log(\"arguments:\", ...process.argv.slice(2));\n",
            ),
        }
    }
}

fn skill_file(wish: &NewSkill) -> String {
    let name = &wish.name;
    let description = scalar(&one_line(&wish.description));
    let tools = wish.tools.as_ref().map(|tools| scalar(&one_line(tools)));
    let tools = tools.map_or_else(String::new, |tools| format!("allowed-tools: {tools}\n"));
    let step = match wish.script.map(ScriptLanguage::file) {
        Some((path, _)) => format!(
            "1. Run the script `{path}` with what the user named as its arguments. Do not read it.\n\
             2. Tell the user what it printed.\n"
        ),
        None => "1. Say here what the model does first.\n2. Say what the user gets in the end.\n"
            .to_owned(),
    };
    let title = name.as_str().replace('-', " ");
    let mut letters = title.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let title: String = first.chain(letters).collect();
    format!("---\nname: {name}\ndescription: {description}\n{tools}---\n\n# {title}\n\n{step}")
}

fn conversation(wish: &NewSkill) -> String {
    let name = &wish.name;
    let mut text = format!(
        "# Plays a conversation with this skill: agent-skills simulate FILE\n\
         skills: [..]\nsteps:\n  - prompt: Use the skill {name}\n    expect:\n      contains: {name}\n  \
         - call: skill_{name}\n    expect:\n      contains: Skill directory\n"
    );
    if let Some((path, _)) = wish.script.map(ScriptLanguage::file) {
        let _ = writeln!(
            text,
            "  - call: run_skill_script\n    arguments: {{skill: {name}, script: {path}, args: [a]}}\n    \
             expect:\n      contains: \"arguments: a\"",
        );
    }
    let tools = wish.tools.as_deref();
    if tools.is_some_and(|tools| !has_any(tools, "Bash|shell|*")) {
        text += "  - call: shell_exec\n    arguments: {command: ls}\n    expect:\n      blocked: true\n";
    }
    text
}

/// A value that every YAML parser reads alike: plain where that is safe, otherwise quoted.
pub fn scalar(text: &str) -> String {
    let plain = format!("x: {text}");
    let lenient = serde_yaml::from_str::<serde_json::Value>(&plain);
    let same = lenient.is_ok_and(|value| value["x"] == text);
    if same && !text.contains("---") {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::lint;

    #[test]
    fn a_new_skill_has_no_findings_whatever_its_description_says() {
        let descriptions = [
            "Does x. Use when the user asks for x.",
            "Use when: a \"b\" 'c' # d",
            "[a] {b} &c *d !e when | > @ ` %",
            "true when",
            "- when",
            "文書を作る when\nnew line",
            "'when",
        ];
        for (at, description) in descriptions.iter().enumerate() {
            for script in [
                None,
                Some(ScriptLanguage::Py),
                Some(ScriptLanguage::Sh),
                Some(ScriptLanguage::Js),
            ] {
                for tools in [None, Some("Read Grep".to_owned())] {
                    let root = tempfile::tempdir().unwrap();
                    let name = SkillName::from_written(&format!("new-{at}")).unwrap();
                    let dir = root.path().join(name.as_str());
                    let wish = NewSkill {
                        name,
                        description: (*description).to_owned(),
                        script,
                        tools,
                    };
                    for file in files(&wish) {
                        let path = dir.join(file.path);
                        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                        std::fs::write(path, file.text).unwrap();
                    }
                    let (found, source) = lint(&dir);
                    assert_eq!(found, [], "{description}");
                    let read = source.unwrap().skill.parsed.description.unwrap();
                    assert_eq!(read, one_line(description));
                }
            }
        }
    }
}
