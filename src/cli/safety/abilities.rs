//! What a skill can do, as a person sees it before they trust or approve it: counted, and in the
//! host's words. Its author's prose is left out: it could talk them into it.

use std::io::ErrorKind;

use crate::cli::prelude::*;
use crate::skill::{Hooks, Runner, SkillPath};
use crate::sys::text::listed;

/// The names of one kind that are shown.
const NAMED: usize = 12;

/// The files, scripts, tools and hooks of the skill in `dir`, a line each, and the worst finding of the
/// scan.
pub fn abilities(
    dir: &Path,
    files: &[String],
    names: ToolNames,
) -> (Vec<String>, Option<ScanFinding>) {
    let is_script = |file: &&String| match Runner::at(&dir.join(file.as_str())) {
        Ok(runner) => runner.is_some(),
        // What cannot be read, or has a name that is not UTF-8, may be one.
        Err(error) => error.kind() != ErrorKind::NotFound || file.contains('\u{fffd}'),
    };
    let scripts = files.iter().filter(is_script);
    let scripts: Vec<String> = scripts.map(|file| shown_name(file)).collect();
    let (total, some) = (count(files.len(), "file"), count(scripts.len(), "script"));
    let mut lines = vec![match listed(&scripts, NAMED) {
        none if none.is_empty() => format!("{total}, no scripts"),
        names => format!("{total}, {some}: {names}"),
    }];
    let Ok(skill) = Skill::load(dir) else {
        lines.push("its SKILL.md cannot be read as that of a skill".to_owned());
        return (lines, None);
    };
    let tools = tool_rows(skill.name.as_str(), &Powers::of(&skill), names).into_iter();
    lines.extend(tools.map(|(label, tools)| format!("{label} {tools}")));
    lines.extend(hooks(&skill));
    let found = scan_directory(dir);
    let severe = found.iter().filter(|finding| is_severe(finding)).count();
    if severe > 0 {
        let command = shell_command(&["scan", &dir.display().to_string()]);
        let found = count(severe, "severe finding");
        lines.push(format!(
            "the scan has {found}: `agent-skills {command}` shows them"
        ));
    }
    let worst = found.into_iter().max_by_key(|finding| finding.severity);
    (lines, worst)
}

/// The lines, each below what is named above them.
pub fn below(lines: impl IntoIterator<Item = String>, indent: &str, screen: Screen) -> String {
    let lines = lines.into_iter();
    let wrapped = lines.map(|line| screen.hanging(indent, &line, indent.len() + 2));
    wrapped.collect()
}

/// The scripts that run around its activation once it is approved, or why they cannot.
pub fn hooks(skill: &Skill) -> Vec<String> {
    let Hooks { pre, post } = Hooks::parse(&skill.fields);
    let line = |(scripts, when): (Vec<String>, &str)| {
        let why = |script: &String| {
            let path = SkillPath::parse(script, &skill.dir);
            path.and_then(|path| path.resolve(&skill.dir)).err()
        };
        match scripts.iter().find_map(why) {
            // They run one after the other, until one fails.
            Some(error) => Some(format!(
                "cannot run {when}: {}",
                shown_name(&error.to_string())
            )),
            None if scripts.is_empty() => None,
            None => Some(format!("runs {when}: {}", shown_name(&scripts.join(", ")))),
        }
    };
    let both = [(pre, "when it is activated"), (post, "when that has ended")];
    both.into_iter().filter_map(line).collect()
}
