//! What a skill can do, as a person sees it before they trust or approve it: counted, and in the
//! host's words. Its author's prose is left out: it could talk them into it.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use crate::cli::report::restriction_of;
use crate::marketplace::{Severity, scan_directory};
use crate::permission::Rule;
use crate::run_context::RunContext;
use crate::skill::{Hooks, Runner, Skill, SkillPath, visible};
use crate::sys::text::{count, distinct, listed};

/// The names of one kind that are shown.
const NAMED: usize = 12;

/// The files, scripts, tools and hooks of the skill in `dir`, a line each.
pub fn abilities(ctx: &RunContext, dir: &Path, files: &[String]) -> String {
    let mut text = format!("      {}", count(files.len(), "file"));
    let is_script = |file: &&String| match Runner::at(&dir.join(file.as_str())) {
        Ok(runner) => runner.is_some(),
        // What cannot be read may be one.
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    let scripts: Vec<String> = files
        .iter()
        .filter(is_script)
        .map(|file| visible(file))
        .collect();
    let _ = match scripts.len() {
        0 => writeln!(text, ", no scripts"),
        some => writeln!(
            text,
            ", {}: {}",
            count(some, "script"),
            listed(&scripts, NAMED)
        ),
    };
    let Ok(skill) = Skill::load(dir) else {
        text.push_str("      its SKILL.md cannot be read as that of a skill\n");
        return text;
    };
    let _ = writeln!(text, "      {}", tools(ctx, &skill));
    text += &hooks(&skill);
    let findings = scan_directory(dir).into_iter();
    let severe = findings
        .filter(|finding| finding.severity >= Severity::High)
        .count();
    if severe > 0 {
        let found = count(severe, "severe finding");
        let shown = visible(&dir.display().to_string());
        let _ = writeln!(
            text,
            "      the scan has {found}: `agent-skills scan {shown}`"
        );
    }
    text
}

/// The tools that its lists leave, by the host's names.
fn tools(ctx: &RunContext, skill: &Skill) -> String {
    let (_, restriction) = restriction_of(ctx, skill);
    let named = |rules: &mut dyn Iterator<Item = &Rule>| {
        let names = rules.flat_map(Rule::host_names);
        let names = distinct(names.map(|name| visible(&name)));
        (!names.is_empty()).then(|| listed(&names, NAMED))
    };
    let allowed = restriction.allowed();
    let mut text = match allowed.map(|rules| named(&mut rules.iter())) {
        None => "may use every tool".to_owned(),
        Some(None) => "may use only what is always allowed".to_owned(),
        Some(Some(names)) => format!("may use {names}"),
    };
    let denied = restriction.rules().skip(allowed.map_or(0, <[Rule]>::len));
    if let Some(names) = named(&mut denied.into_iter()) {
        let _ = write!(text, "; not {names}");
    }
    text
}

/// The scripts that run around its activation once it is approved, or why they cannot.
pub fn hooks(skill: &Skill) -> String {
    let Hooks { pre, post } = Hooks::parse(&skill.fields);
    let line = |scripts: Vec<String>, when: &str| {
        let why = |script: &String| {
            let path = SkillPath::parse(script, &skill.dir);
            path.and_then(|path| path.resolve(&skill.dir)).err()
        };
        match scripts.iter().find_map(why) {
            // They run one after the other, until one fails.
            Some(error) => format!("      cannot run {when}: {}\n", visible(&error.to_string())),
            None if scripts.is_empty() => String::new(),
            None => format!("      runs {when}: {}\n", visible(&scripts.join(", "))),
        }
    };
    line(pre, "when it is activated") + &line(post, "when that has ended")
}
