//! What a skill can do, as a person sees it before they trust or approve it: counted, and in the
//! host's words. Its author's prose is left out: it could talk them into it.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use crate::cli::caller::pasted;
use crate::cli::report::restriction_of;
use crate::marketplace::{Finding, Severity, scan_directory};
use crate::permission::Rule;
use crate::run_context::RunContext;
use crate::skill::{Hooks, Runner, Skill, SkillPath, visible};
use crate::sys::text::{count, distinct, listed};

/// The names of one kind that are shown.
const NAMED: usize = 12;

/// The files, scripts, tools and hooks of the skill in `dir`, a line each.
pub fn abilities(ctx: &RunContext, dir: &Path, files: &[String]) -> Vec<String> {
    let is_script = |file: &&String| match Runner::at(&dir.join(file.as_str())) {
        Ok(runner) => runner.is_some(),
        // What cannot be read may be one.
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    let scripts = files.iter().filter(is_script);
    let scripts: Vec<String> = scripts.map(|file| visible(file)).collect();
    let (total, some) = (count(files.len(), "file"), count(scripts.len(), "script"));
    let mut lines = vec![match listed(&scripts, NAMED) {
        none if none.is_empty() => format!("{total}, no scripts"),
        names => format!("{total}, {some}: {names}"),
    }];
    let Ok(skill) = Skill::load(dir) else {
        lines.push("its SKILL.md cannot be read as that of a skill".to_owned());
        return lines;
    };
    lines.push(tools(ctx, &skill));
    lines.extend(hooks(&skill));
    let is_severe = |finding: &Finding| finding.severity >= Severity::High;
    match scan_directory(dir).into_iter().filter(is_severe).count() {
        0 => {}
        severe => {
            let command = pasted(&["scan", &dir.display().to_string()]);
            let found = count(severe, "severe finding");
            lines.push(format!(
                "the scan has {found}: `agent-skills {command}` shows them"
            ));
        }
    }
    lines
}

/// The lines, each below what is named above them.
pub fn below(lines: impl IntoIterator<Item = String>, indent: &str) -> String {
    let lines = lines.into_iter();
    lines.fold(String::new(), |text, line| text + indent + &line + "\n")
}

/// The tools that its lists leave, by the host's names.
fn tools(ctx: &RunContext, skill: &Skill) -> String {
    let (_, restriction) = restriction_of(ctx, skill);
    let listed_in = |rules: &mut dyn Iterator<Item = &Rule>| {
        let names = rules.flat_map(Rule::host_names);
        let names = distinct(names.map(|name| visible(&name)));
        (!names.is_empty()).then(|| listed(&names, NAMED))
    };
    let allowed = restriction.allowed();
    let mut text = match allowed.map(|rules| listed_in(&mut rules.iter())) {
        None => "may use every tool".to_owned(),
        Some(None) => "may use only what is always allowed".to_owned(),
        Some(Some(names)) => format!("may use {names}"),
    };
    let denied = restriction.rules().skip(allowed.map_or(0, <[Rule]>::len));
    if let Some(names) = listed_in(&mut denied.into_iter()) {
        let _ = write!(text, "; not {names}");
    }
    text
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
                visible(&error.to_string())
            )),
            None if scripts.is_empty() => None,
            None => Some(format!("runs {when}: {}", visible(&scripts.join(", ")))),
        }
    };
    let both = [(pre, "when it is activated"), (post, "when that has ended")];
    both.into_iter().filter_map(line).collect()
}
