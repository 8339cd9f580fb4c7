//! What a call has to do with an active skill's own files: reading them, and running a script of the
//! skill.

use crate::protocol::called_skill::advice;
use crate::protocol::prelude::*;
use skill_permission::vocabulary::{self, Argument, Effect};

/// Programs that run the file that is their first operand.
static RUNNERS: Names = Names::new("bash sh zsh dash python python3 node ruby perl php lua");

/// Whether a call only reads what belongs to an active skill, or runs a script of it as it is: what
/// the tools of ours do in chibi without an entry in the skill's list.
pub fn uses_own_files(facts: &Facts, session: &Session, call: &Request) -> bool {
    let Some(calling) = &facts.run.agent else {
        return false;
    };
    let dirs = session.active();
    let dirs = dirs.filter_map(|active| OnDisk.canonical(Path::new(&active.dir)));
    let dirs: Vec<PathBuf> = dirs.collect();
    let is_own = |path: &Path| {
        let real = OnDisk.canonical(path);
        real.is_some_and(|real| dirs.iter().any(|dir| real.starts_with(dir)))
    };
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    let is_inside = || text("path").is_some_and(|path| is_own(Path::new(path)));
    match call.tool.as_str() {
        "read_file" | "dir_list" | "grep_files" => is_inside(),
        "glob_files" => {
            let leads_out = |pattern: &str| {
                let mut parts = Path::new(pattern).components();
                parts.any(|part| !matches!(part, Component::Normal(_)))
            };
            let has_alternatives = |pattern: &str| pattern.contains(['{', '(', '[', '\\']);
            let pattern = text("pattern").unwrap_or_default();
            is_inside() && !leads_out(pattern) && !has_alternatives(pattern)
        }
        "run_command" => {
            let Some(start) = &call.start else {
                return false;
            };
            let places = RuleDirectories {
                home: facts.run.env.home(),
                shell: calling.agent.table().shell,
                ..RuleDirectories::default()
            };
            let outline = Outline::read(text("command").unwrap_or_default(), &places);
            let words = outline.as_ref().and_then(Outline::plain);
            let words = words.unwrap_or_default();
            if reads_only(&words, |word| is_own(&start.directory.join(word))) {
                return !start.persists;
            }
            let script = match words.first() {
                Some(program) if RUNNERS.has(program) => words.get(1),
                first => first,
            };
            script.is_some_and(|script| {
                let path = start.directory.join(script);
                // A shared shell may be in another directory.
                let is_known = !start.persists || Path::new(script).is_absolute();
                let is_script = || matches!(Runner::at(&path), Ok(Some(_)));
                is_known && script.contains('/') && is_own(&path) && is_script()
            })
        }
        _ => false,
    }
}

/// Whether a plain command only prints files that are all the skill's own.
fn reads_only(words: &[&str], is_own: impl Fn(&str) -> bool) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let is_line_range = |word: &&str| {
        let mut chars = word.chars();
        chars.all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | 'p'))
    };
    let (words, is_skipped): (_, fn(&str) -> bool) = match (*program, rest) {
        ("sed", ["-n", range, files @ ..]) if is_line_range(range) => (files, |_| false),
        ("cat" | "ls" | "wc" | "nl", words) => (words, |word| word.starts_with('-')),
        ("head" | "tail", words) => (words, |word| {
            word.starts_with('-') || word.chars().all(|c| c.is_ascii_digit())
        }),
        _ => return false,
    };
    let mut files = words.iter().filter(|word| !is_skipped(word)).peekable();
    files.peek().is_some() && files.all(|word| !word.starts_with('-') && is_own(word))
}

/// The advice to run a script of the active skill with our tool, if a call reads one instead.
pub fn script_read(facts: &Facts, session: &Session, call: &Request) -> Option<String> {
    let active = session.latest()?;
    let dir = Path::new(&active.dir);
    let path = if let Some(OwnToolCall::ReadSkillFile(read)) = call.our_call() {
        let means_it =
            |written: &str| meant_skill(facts, Some(written)).is_ok_and(|it| it.dir == dir);
        let is_its = read.skill.as_deref().is_none_or(means_it);
        is_its.then(|| dir.join(&read.path))?
    } else {
        let tool = vocabulary::find_tool(&call.tool).filter(|tool| tool.effect == Effect::Read)?;
        let key = tool.keys(&[Argument::Path]).next()?;
        let written = call.arguments.get(key)?.as_str()?;
        facts.run.env.project_root().join(written)
    };
    let (real, dir) = (OnDisk.canonical(&path)?, OnDisk.canonical(dir)?);
    let inside = real.strip_prefix(&dir).ok()?;
    Runner::is_meant_at(&real).then(|| advice(&active.name, inside))
}
