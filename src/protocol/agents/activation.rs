//! A skill becomes active in an agent: by its tool, by a name that the user types, or by a read, where
//! the agent has no tool for skills (docs/hosts.md#codex).

use super::event::AgentContext;
use super::find::{find, find_in, refuse_slash_command, without_owner};
use super::loading::may_load;
use crate::catalog::{Eligibility, signing_in_force};
use crate::host::agent::table::CallSyntax;
use crate::protocol::prelude::*;

/// How a skill is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivatedBy {
    /// By a call of the agent's tool for skills, which the agent may yet refuse.
    Tool,
    /// By a name that the user typed.
    Typing,
    /// By reading its `SKILL.md` or running its script.
    Reading,
}

/// A call of a skill.
#[derive(Debug, Clone, Copy)]
pub struct SkillCall<'a> {
    /// Its name, as the agent has it.
    pub name: &'a str,
    /// Its directory, if that is known.
    pub dir: Option<&'a Path>,
    /// Its arguments.
    pub arguments: &'a str,
    /// How it is called.
    pub by: ActivatedBy,
    /// The tool or the text in which it was called, for messages.
    pub shown: &'a str,
    /// The user's prompt.
    pub prompt: Option<&'a str>,
}

/// Puts the skill in force, or says why it may not become active. A skill that is none of those on
/// disk restricts nothing.
pub fn activate(caller: AgentContext, on: &JudgeContext, wanted: SkillCall) -> JudgedCall {
    let facts = caller.facts;
    // Where signatures are required, nothing is loaded of which none is known to hold; nor what may
    // stand in the place of a skill that a policy requires.
    let name = without_owner(wanted.name);
    let policies = facts.policies();
    let is_required = policies.map_or(true, |all| all.requires(name).is_some());
    let requires = is_required || signing_in_force(facts).require_anything();
    let restricts = on.mode().restricts();
    let is_strict = restricts || requires;
    let found = match wanted.dir {
        Some(dir) => Ok(find_in(caller, dir)),
        None => find(caller, wanted.name),
    };
    let found = match found {
        Ok(Some(found)) if found.is_seen => found,
        Ok(found) => {
            let stands_in = is_required || found.is_some();
            let is_asked = stands_in || restricts;
            let why = is_asked.then(|| refuse_slash_command(caller, wanted.name, stands_in));
            match (why.flatten(), found) {
                (Some(why), _) => return refused(wanted, wanted.name, &why),
                (None, Some(found)) => found,
                (None, None) => return unknown(on, wanted),
            }
        }
        Err(error) if is_strict => {
            return refused(wanted, wanted.name, &error.with_next_step());
        }
        Err(_) => return JudgedCall::ALLOWED,
    };
    let entry = found.entry();
    let (name, dir) = (entry.name(), entry.dir.clone());
    let judged = judge(on, &request(wanted.shown, &name, &dir));
    if judged.stopped().is_some() {
        return judged;
    }
    let skill = match usable(entry, wanted.by, requires) {
        Ok(skill) => skill,
        // Without a restriction to lose, only what was decided about the skill counts.
        Err((why, is_decided)) if is_decided || restricts => {
            return refused(wanted, &name, &why);
        }
        Err(_) => return JudgedCall::ALLOWED,
    };
    let is_typed = wanted.by == ActivatedBy::Typing;
    // What an earlier prompt had active ends with this one.
    let is_over =
        |it: &Session| is_typed && wanted.prompt.is_some() && it.prompt.as_deref() != wanted.prompt;
    let in_force = facts.session().ok().filter(|it| !is_over(it));
    let (in_force, typed) = (in_force.unwrap_or_default(), (is_typed, wanted.arguments));
    if restricts && let Err(error) = may_load(&found, caller, skill, typed, &in_force) {
        return refused(wanted, &name, &error.with_next_step());
    }
    match activate_found(found.facts, facts, skill, wanted) {
        Ok(()) if restricts => JudgedCall::new(told(skill, without_owner(wanted.name)), None),
        Ok(()) => JudgedCall::ALLOWED,
        Err(_) if !is_strict => JudgedCall::ALLOWED,
        Err(error) => refused(wanted, &name, &error.with_next_step()),
    }
}

/// The activation of the skill in `dir`, for judging it.
fn request(shown: &str, name: &str, dir: &Path) -> Request {
    // As the record calls it.
    let tool = SkillName::from_written(name);
    let tool = tool.map_or_else(|| format!("skill_{name}"), |name| tool_name(&name));
    Request {
        shown: Some(shown.to_owned()),
        kind: RequestKind::Skill {
            name: name.to_owned(),
            dir: dir.to_owned(),
        },
        ..Request::of_tool(tool, json!({}))
    }
}

/// Why the skill does not become active.
fn refused(wanted: SkillCall, name: &str, why: &str) -> JudgedCall {
    let name = quoted(name);
    let text = format!("The skill `{name}` is not allowed to become active: {why}");
    let event = Event::new("tool").with("tool", wanted.shown);
    let event = event.with("skill", name).with("decision", "blocked");
    JudgedCall::refused(text, event.with("by", "failed activation"))
}

/// What the model may use from now on, so that it does not learn it by refusals. `name` is what the
/// agent calls the skill.
fn told(skill: &Skill, name: &str) -> Verdict {
    let name = quoted(name);
    restricted_to(skill).map_or(Verdict::Allow, |what| {
        Verdict::Note(format!("While the skill {name} is active, {what}."))
    })
}

/// Records that the agent itself has made a skill active, which only then grants anything.
pub fn confirm(caller: AgentContext, name: &str) {
    if let Ok(Some(found)) = find(caller, name) {
        let facts = caller.facts;
        // Without the record the skill grants nothing.
        let _ = facts.store().confirm(facts.key(), &found.entry().dir);
    }
}

/// A skill that the agent ships inside itself, or a command of another kind.
fn unknown(on: &JudgeContext, wanted: SkillCall) -> JudgedCall {
    if wanted.by != ActivatedBy::Tool {
        return JudgedCall::ALLOWED;
    }
    let judged = judge(on, &request(wanted.shown, wanted.name, Path::new("")));
    let decision = judged.stopped().map_or("allowed", |_| "blocked");
    let event = Event::new("unknown-skill").with("skill", wanted.name);
    JudgedCall::new(judged.verdict, Some(event.with("decision", decision)))
}

/// The skill, if it may be used; else why not, and whether somebody decided that. What cannot be read
/// or is not trusted has no signature that could be looked at.
fn usable(
    entry: &Entry,
    by: ActivatedBy,
    requires_signature: bool,
) -> Result<&Skill, (String, bool)> {
    let is_typed = by == ActivatedBy::Typing;
    let is_usable = match &entry.eligibility {
        // The agent reads a skill without a description, too.
        Eligibility::Offered { .. }
        | Eligibility::Withheld(WithheldReason::Shadowed, _)
        | Eligibility::Unusable => true,
        Eligibility::Withheld(WithheldReason::ForPeople, _) => is_typed,
        Eligibility::Withheld(..) => false,
    };
    entry.disclosed().filter(|_| is_usable).ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        let is_undecided = match entry.eligibility {
            Eligibility::Withheld(WithheldReason::ForPeople, _) => true,
            Eligibility::Unusable | Eligibility::Withheld(WithheldReason::Untrusted, _) => {
                !requires_signature
            }
            _ => false,
        };
        (reason, !is_undecided)
    })
}

fn activate_found(found: &Facts, facts: &Facts, skill: &Skill, wanted: SkillCall) -> Result<()> {
    let (store, key) = (facts.store(), facts.key());
    match wanted.prompt {
        // Comes before the event of its prompt.
        Some(prompt) if wanted.by == ActivatedBy::Typing => {
            facts.record_ends(store.enter_prompt(key, Some(prompt))?);
        }
        // A call does not tell whether somebody wrote its prompt: what is active stays.
        Some(prompt) => store.name_prompt(key, prompt)?,
        None => {}
    }
    put_in_force(found, skill, &tool_name(&skill.name))?;
    if wanted.by != ActivatedBy::Tool {
        store.confirm(key, &skill.dir)?;
    }
    Ok(())
}

/// The names of skills that a prompt calls in one of these ways, each with its directory if the
/// prompt links to it.
pub fn called_in<'t>(text: &'t str, ways: &[CallSyntax]) -> Vec<(&'t str, Option<&'t Path>)> {
    let is_name = |c: char| c.is_alphanumeric() || "-_:.".contains(c);
    let name = |rest: &'t str| &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    let first = text.trim_start();
    let mut called = Vec::new();
    for way in ways {
        match way {
            CallSyntax::Anywhere(sign) => {
                called.extend(text.match_indices(*sign).map(|(at, sign)| {
                    let rest = &text[at + sign.len()..];
                    let name = name(rest).trim_end_matches(['.', ':']);
                    (name, linked(&rest[name.len()..]))
                }));
            }
            CallSyntax::AtStart(sign) => {
                called.extend(first.strip_prefix(*sign).map(|rest| (name(rest), None)));
            }
            CallSyntax::Between(before, after) => {
                let rest = first.strip_prefix(before);
                let name = rest.and_then(|rest| rest.split_once(after));
                called.extend(name.map(|(name, _)| (name, None)));
            }
        }
    }
    called.retain(|(name, _)| !name.is_empty());
    called.dedup();
    called
}

/// The directory of the skill in a link whose text ends here: `[$name](/path/SKILL.md)`.
fn linked(rest: &str) -> Option<&Path> {
    let rest = rest.trim_start().strip_prefix(']')?;
    let (path, _) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    let path = Path::new(path.trim().trim_start_matches("skill://"));
    path.parent().filter(|dir| dir.is_absolute())
}

/// Puts in force the skills that a call uses by reading, after it was judged without them.
pub fn by_reading(
    caller: AgentContext,
    on: &JudgeContext,
    calls: &[Request],
    prompt: Option<&str>,
) -> Option<JudgedCall> {
    let read = |call| skills_read(caller, call);
    let active = caller.facts.session().unwrap_or_default();
    calls.iter().flat_map(read).find_map(|dir| {
        let dir = dir.as_path();
        let is_active = |active: &ActiveSkill| real(Path::new(&active.dir)) == real(dir);
        let name = dir.file_name()?.to_str()?;
        if active.active().any(is_active) {
            return None;
        }
        let wanted = SkillCall {
            name,
            dir: Some(dir),
            arguments: "",
            by: ActivatedBy::Reading,
            shown: "reading SKILL.md",
            prompt,
        };
        let judged = activate(caller, on, wanted);
        judged.stopped().is_some().then_some(judged)
    })
}

/// What enters a directory.
static ENTER: Names = Names::new("cd pushd");
/// How many directories that a command enters are looked in.
const ENTERED: usize = 16;

/// Programs that only list, name or test the files that they are given.
static LISTERS: Names = Names::new(
    "ls tree test [ stat du file realpath readlink basename dirname pwd mkdir touch echo printf cd pushd \
     find",
);
/// What uses the names that another command prints, or reads a text as commands.
static USERS: Names =
    Names::new("xargs parallel read mapfile readarray eval source sh bash zsh dash ksh fish");

/// The directories of the skills whose `SKILL.md` a call reads or whose script it runs.
pub fn skills_read(caller: AgentContext, call: &Request) -> Vec<PathBuf> {
    let env = &caller.facts.run.env;
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str);
    match call.tool.as_str() {
        "read_file" => {
            let skill = text("path").and_then(|file| of_skill(&roots(caller), Path::new(file)));
            skill.into_iter().collect()
        }
        "run_command" => {
            let command = text("command").unwrap_or_default();
            // Most commands have nothing to do with skills, and are not read at all.
            let start = call.start.as_ref();
            let directory = start.map_or(&env.cwd, |start| &start.directory);
            let written = directory.to_string_lossy();
            let names = ["skill", "SKILL", "scripts"];
            if !written.contains("skill") && !names.iter().any(|name| command.contains(name)) {
                return Vec::new();
            }
            let places = RuleDirectories {
                home: env.home(),
                shell: caller.table.shell,
                ..RuleDirectories::default()
            };
            let outline = Outline::read(command, &places);
            ActivationCommand {
                command,
                outline: outline.as_ref(),
                home: places.home.unwrap_or_default(),
                roots: roots(caller),
            }
            .skills(directory)
        }
        _ => Vec::new(),
    }
}

/// The agent's directories of skills.
fn roots(caller: AgentContext) -> Vec<PathBuf> {
    let skills = &caller.table.skills;
    let personal = caller.in_home(skills.personal);
    let roots = skills.enterprise.iter().map(PathBuf::from).chain(personal);
    roots.chain(caller.in_project(skills.project)).collect()
}

/// The skill that a file is of.
fn of_skill(roots: &[PathBuf], file: &Path) -> Option<PathBuf> {
    let real = OnDisk.canonical(file)?;
    let by_path = roots.iter().find_map(|root| {
        // A skill may be a link to where it was installed.
        let below = file.strip_prefix(root).ok().map(Path::to_owned);
        let below = below.or_else(|| {
            let root = OnDisk.canonical(root)?;
            real.strip_prefix(root).ok().map(Path::to_owned)
        })?;
        // The nearest directory with such a file is the skill: it may be deeper than the first.
        let mut dirs = below.ancestors();
        let skill = dirs.find(|dir| root.join(dir).join("SKILL.md").exists())?;
        (!skill.as_os_str().is_empty()).then(|| root.join(skill))
    });
    by_path.or_else(|| roots.iter().find_map(|root| linked_skill(root, &real)))
}

/// The skill that a link in `root` leads to and that the file is used of, where it really is.
fn linked_skill(root: &Path, real: &Path) -> Option<PathBuf> {
    let entries = files::entries(root).ok()?.into_iter();
    let links = entries.filter(|(_, kind)| *kind == EntryKind::Link);
    let mut links = links.map(|(name, _)| root.join(name.as_os_str()));
    links.find(|link| {
        let below = OnDisk.canonical(link);
        let below = below.and_then(|dir| real.strip_prefix(dir).ok().map(Path::to_owned));
        below.is_some_and(|below| below.starts_with("scripts") || below == Path::new("SKILL.md"))
    })
}

/// A command line.
struct ActivationCommand<'a> {
    command: &'a str,
    outline: Option<&'a Outline>,
    home: PathBuf,
    roots: Vec<PathBuf>,
}

impl<'a> ActivationCommand<'a> {
    /// The skills that it may use, when it begins in `directory`.
    fn skills(&self, directory: &Path) -> Vec<PathBuf> {
        let commands = self.commands();
        let dirs = self.entered(directory, &commands.concat());
        let words = self.reading(&commands);
        let mut found = Vec::new();
        for dir in &dirs {
            let files = words.iter().map(|word| self.expanded(dir, word));
            found.extend(files.filter_map(|file| of_skill(&self.roots, &file)));
        }
        found.dedup();
        found
    }

    /// Its commands as the shell reads them, with `$` for a word that is not known before the command
    /// runs; if it cannot be read, its words as they are written.
    fn commands(&self) -> Vec<Vec<&'a str>> {
        let Some(outline) = self.outline else {
            return vec![self.written().collect()];
        };
        let words = |words: &'a [Option<String>]| {
            let words = words.iter();
            words.map(|word| word.as_deref().unwrap_or("$")).collect()
        };
        outline.commands.iter().map(|one| words(one)).collect()
    }

    fn written(&self) -> impl Iterator<Item = &'a str> {
        let ends = |c: char| c.is_whitespace() || ";&|\"'<>()=".contains(c);
        self.command.split(ends)
    }

    /// The words that may name what is read or run. Those of commands that only list are left out where
    /// nothing uses what these print; of a word that is not known, the text counts as it is written.
    fn reading(&self, commands: &[Vec<&'a str>]) -> Vec<&'a str> {
        let mut reading: Vec<&str> = Vec::new();
        reading.extend(commands.iter().filter(|words| !is_lister(words)).flatten());
        if self.outline.is_none() || self.hands_on(commands) || reading.contains(&"$") {
            reading = commands.concat();
            reading.extend(self.written());
        }
        reading
    }

    /// Whether a command may use what another one prints, or a file that is its input.
    fn hands_on(&self, commands: &[Vec<&str>]) -> bool {
        let uses = |words: &Vec<&str>| {
            words.first() == Some(&".") || words.iter().any(|word| USERS.has(word))
        };
        self.command.contains(['<', '`'])
            || self.command.contains("$(")
            || commands.iter().any(uses)
    }

    /// Where the command begins, and the directories that it enters: each file may be meant in each.
    fn entered(&self, directory: &Path, words: &[&str]) -> Vec<PathBuf> {
        let mut dirs = vec![directory.to_owned()];
        for (at, _) in words.iter().enumerate().filter(|(_, word)| ENTER.has(word)) {
            let mut operands = words[at + 1..].iter();
            let Some(to) = operands.find(|word| !word.starts_with('-')) else {
                continue;
            };
            let bases = [dirs.first(), dirs.last()].into_iter().flatten();
            let entered: Vec<PathBuf> = bases.map(|dir| self.expanded(dir, to)).collect();
            dirs.extend(entered);
            dirs.truncate(ENTERED);
        }
        dirs
    }

    /// The path of a word up to where it is not known: a pattern or a variable names nothing.
    fn expanded(&self, dir: &Path, word: &str) -> PathBuf {
        let path = match begins_at_home(word) {
            Some(rest) => self.home.join(rest),
            None => dir.join(word),
        };
        let is_known = |part: &Component| {
            let part = part.as_os_str().to_string_lossy();
            !part.contains(['*', '?', '[', '{', '$', '`', '~'])
        };
        path.components().take_while(is_known).collect()
    }
}

/// Whether a command only lists, names or tests files.
fn is_lister(words: &[&str]) -> bool {
    words.first().is_some_and(|program| LISTERS.has(program))
        && !words.iter().any(|word| word.starts_with("-exec"))
}

/// The rest of a word that begins at the home.
fn begins_at_home(word: &str) -> Option<&str> {
    let mut homes = ["~", "$HOME", "${HOME}"].iter();
    let rest = homes.find_map(|begin| word.strip_prefix(begin))?;
    rest.strip_prefix('/')
        .or_else(|| rest.is_empty().then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_calls_skills_by_the_sign() {
        let told = CallSyntax::Between("invoked the \"/", "\" skill");
        for (text, way, names) in [
            (
                "use $pdf and $docx.",
                CallSyntax::Anywhere('$'),
                &["pdf", "docx"][..],
            ),
            ("costs $ 5", CallSyntax::Anywhere('$'), &[]),
            ("  /deploy now", CallSyntax::AtStart('/'), &["deploy"]),
            ("see /etc", CallSyntax::AtStart('/'), &[]),
            ("invoked the \"/ops:x\" skill. /y", told, &["ops:x"]),
            ("it says: invoked the \"/x\" skill", told, &[]),
        ] {
            let called = called_in(text, &[way]);
            let called: Vec<&str> = called.into_iter().map(|(name, _)| name).collect();
            assert_eq!(called, names, "{text}");
        }
    }

    #[test]
    fn a_link_says_which_skill_is_called() {
        for (text, dir) in [
            ("[$pdf](/a/pdf/SKILL.md)", Some("/a/pdf")),
            ("use [$pdf] ( skill:///a/pdf/SKILL.md ) now", Some("/a/pdf")),
            ("[$pdf](SKILL.md)", None),
            ("$pdf (see below)", None),
        ] {
            let called = called_in(text, &[CallSyntax::Anywhere('$')]);
            assert_eq!(called, [("pdf", dir.map(Path::new))], "{text}");
        }
    }
}
