//! What an install would add, on one screen, for a person to decide. What a skill may do is never
//! shortened.

use std::fmt::Write as _;
use std::path::Path;

use unicode_width::UnicodeWidthStr;

use super::caller::pasted;
use super::describe::{doubt, short};
use super::screen::Screen;
use super::table::shortened;
use super::wrap::hanging;
use crate::marketplace::{Finding, Kind, Origin, Plan, Planned, Severity};
use crate::permission::{Restriction, Rule};
use crate::skill::{brief, one_line, visible};
use crate::sys::text::{count, distinct, size};

/// The length of a description that says what a skill is.
const DESCRIPTION: usize = 200;
/// How many lines the names of the scripts may take.
const SCRIPT_LINES: usize = 2;
/// How many remarks are shown, and how many findings, unless more are severe.
const REMARKS: usize = 3;
const FINDINGS: usize = 4;
/// The width for which lists are cut elsewhere than at a terminal.
const WIDTH: usize = 100;
/// The columns before a value: the indentation and its label.
const INDENT: usize = 13;

/// Describes a plan. Long lists are cut if there is a command `show` that shows a skill of the plan
/// as a whole, as [`pasted`] writes it.
pub fn describe(plan: &Plan, show: Option<&str>, screen: Screen) -> String {
    let mut text = format!("From {}:\n", at(&plan.source, plan.commit.as_deref()));
    for from in distinct(origins(plan)) {
        describe_origin(&mut text, plan, from, screen);
    }
    for skill in &plan.skills {
        let show = show.map(|show| show_of(show, plan, skill));
        Described {
            skill,
            show,
            screen,
        }
        .write(&mut text);
    }
    text
}

/// Where the skills of a plan come from.
pub fn origins(plan: &Plan) -> impl Iterator<Item = &Origin> {
    let skills = plan.skills.iter();
    skills.filter_map(|skill| skill.provenance.as_deref())
}

/// The scan's findings about the skills of a plan.
pub fn findings(plan: &Plan) -> impl Iterator<Item = &Finding> {
    plan.skills.iter().flat_map(|skill| &skill.findings)
}

/// The command that shows one of the plan's skills.
pub fn show_of(show: &str, plan: &Plan, skill: &Planned) -> String {
    let path = skill.path.as_str();
    if !plan.chosen {
        return show.to_owned();
    }
    // A path with a comma would be two names.
    if path.is_empty() || path.contains(',') {
        return format!("{show} --all");
    }
    format!("{show} {}", pasted(&["--skill", path]))
}

fn at(source: &str, commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!(" at {}", short(&one_line(commit))));
    one_line(source) + &commit.unwrap_or_default()
}

/// Adds what the first line does not say about a skill's origin.
fn describe_origin(text: &mut String, plan: &Plan, from: &Origin, screen: Screen) {
    let source = one_line(&from.source);
    let mut line = |line: &str| *text += &hanging("  ", line, 2, screen);
    if from.source != plan.source {
        line(&at(&from.source, from.commit.as_deref()));
    }
    if let Some(address) = &from.address {
        let address = one_line(address);
        line(&match from.kind {
            Kind::Git => format!("ATTENTION: git went to {address} for {source}"),
            _ => format!("ATTENTION: {source} led to {address}"),
        });
    }
    if let Some(doubt) = doubt(from) {
        line(&format!("ATTENTION: {doubt}"));
    }
}

/// One skill of a plan.
struct Described<'p> {
    skill: &'p Planned,
    /// The command that shows it as a whole, instead of which this is cut.
    show: Option<String>,
    screen: Screen,
}

impl Described<'_> {
    fn write(&self, text: &mut String) {
        let skill = self.skill;
        let description = skill.description.as_deref().unwrap_or("no description");
        let description = match self.show {
            Some(_) => brief(description, DESCRIPTION),
            None => one_line(description),
        };
        *text += &hanging(
            "  ",
            &format!("{}: {description}", skill.name),
            2,
            self.screen,
        );
        let others = skill
            .paths
            .iter()
            .filter(|path| !skill.scripts.contains(path));
        let sum = format!("{} ({}): ", skill.files, size(skill.bytes));
        self.line(
            text,
            "files",
            &(sum.clone() + &self.names(others, 1, sum.width())),
        );
        if !skill.scripts.is_empty() {
            self.line(
                text,
                "scripts",
                &self.names(skill.scripts.iter(), SCRIPT_LINES, 0),
            );
        }
        let tools = Tools::of(skill);
        self.line(text, "may use", &tools.may_use);
        if let Some(denied) = tools.denied {
            self.line(text, "never", &denied);
        }
        for says in skill.powers.remarks() {
            self.line(text, "says", &one_line(&says));
        }
        let remarks: Vec<&String> = skill.dropped.iter().chain(&skill.warnings).collect();
        let shown = self.shown(REMARKS, &remarks);
        for remark in &remarks[..shown] {
            self.line(text, "note", &one_line(remark));
        }
        self.more(text, remarks.len() - shown, "note");
        // The worst come first.
        let severe = |finding: &&Finding| finding.severity >= Severity::High;
        let severe = skill.findings.iter().filter(severe).count();
        let shown = self.shown(FINDINGS.max(severe), &skill.findings);
        for finding in &skill.findings[..shown] {
            let mut remark = finding.remark();
            let is_cut = self.show.is_some() && finding.severity < Severity::High;
            if let Some(width) = self.screen.width.filter(|_| is_cut) {
                remark = shortened(&remark, width.saturating_sub(INDENT));
            }
            self.line(text, finding.severity.as_str(), &remark);
        }
        self.more(text, skill.findings.len() - shown, "finding");
    }

    fn line(&self, text: &mut String, label: &str, value: &str) {
        *text += &hanging(&format!("    {label:8} "), value, INDENT, self.screen);
    }

    /// How many of a list are shown.
    fn shown<T>(&self, most: usize, all: &[T]) -> usize {
        self.show
            .as_ref()
            .map_or(all.len(), |_| all.len().min(most))
    }

    /// Adds how many more there are, and where.
    fn more(&self, text: &mut String, left: usize, what: &str) {
        if let Some(more) = self.and_more(left, what) {
            self.line(text, "", &more);
        }
    }

    fn and_more(&self, left: usize, what: &str) -> Option<String> {
        let show = self.show.as_ref().filter(|_| left > 0)?;
        let what = if what.is_empty() {
            format!("{left} more")
        } else {
            count(left, &format!("more {what}"))
        };
        Some(format!("and {what}: `agent-skills {show}`"))
    }

    /// The names that fit into so many lines, of which the first has less room by `used` columns,
    /// and how many more there are.
    fn names<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
        lines: usize,
        used: usize,
    ) -> String {
        let names: Vec<String> = names.map(|name| one_line(&visible(name))).collect();
        let width = self.screen.width.unwrap_or(WIDTH);
        let room = (width.saturating_sub(INDENT) * lines).saturating_sub(used);
        let mut columns = 0;
        let fitting = names.iter().take_while(|name| {
            columns += name.width() + 2;
            columns <= room
        });
        let shown = self.shown(fitting.count().max(1), &names);
        let mut text = names[..shown].join(", ");
        if let Some(more) = self.and_more(names.len() - shown, "") {
            let _ = write!(text, " {more}");
        }
        text
    }
}

/// What a skill may use, in the host's names.
struct Tools {
    may_use: String,
    denied: Option<String>,
}

impl Tools {
    fn of(skill: &Planned) -> Self {
        let (powers, nowhere) = (&skill.powers, Path::new(""));
        let (allowed, denied) = (powers.allowed_tools.as_deref(), &powers.disallowed_tools);
        let read = Restriction::parse(&skill.name, allowed, denied, nowhere, nowhere);
        let mut may_use = match read.allowed().map(named) {
            None if allowed.is_none() => "every tool, as it has no allowed-tools".to_owned(),
            None => "every tool, as its allowed-tools has `*`".to_owned(),
            Some(tools) if tools.is_empty() => "only what is always allowed".to_owned(),
            Some(tools) => tools,
        };
        if powers.is_unclear {
            may_use += "; or every tool, if its `tools` names none";
        }
        let denied = named(&read.denied);
        Self {
            may_use,
            denied: (!denied.is_empty()).then_some(denied),
        }
    }
}

/// All tools that these rules cover.
fn named(rules: &[Rule]) -> String {
    let names = rules.iter().flat_map(Rule::host_names);
    let names = distinct(names.map(|name| one_line(&visible(&name))));
    names.join(", ")
}

#[cfg(test)]
mod tests;
