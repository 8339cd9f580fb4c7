//! `list`, and `list_installed` and `search_installed` of the model's tool: the installed skills and
//! their diagnostics.

use std::cmp::Reverse;

use crate::catalog::plain;
use crate::cli::prelude::*;

/// Every skill directory, including those that are not offered; `long` with descriptions,
/// directories and problems in full.
pub fn list_installed(call: CliCall, long: bool) -> Result<String> {
    let catalog = Catalog::of(call.facts);
    let mut reports: Vec<_> = SkillReport::for_catalog(call.facts, &catalog).collect();
    if call.facts.run.protocol.is_none() {
        reports.extend(SkillReport::of_agents(call.facts, &catalog));
    }
    if call.common.json {
        // A large catalog and its text do not need to be in memory together.
        drop(catalog);
        return json::list("skills", &reports);
    }
    // A model learns only the number of untrusted skills, because even their names are untrusted
    // text.
    let is_untold = |entry: &&Entry| call.facts.run.protocol.is_some() && entry.is_concealed();
    let untold = match catalog.entries().iter().filter(is_untold).count() {
        0 => String::new(),
        count => format!(
            "{} with the project, which the user does not trust so far: they can see which with \
             `agent-skills list`\n",
            counted(count, "more comes", "more come")
        ),
    };
    if reports.is_empty() && untold.is_empty() {
        let none = "No skills are installed. `agent-skills search` shows what can be installed.\n";
        return Ok(none.to_owned());
    }
    // Any reason why one is not offered fits the last.
    let columns = [
        ("NAME", 12),
        ("VERSION", 7),
        ("LAYER", 0),
        ("SOURCE", 12),
        ("TOKENS", 0),
        ("RESTRICTION", 0),
        ("PROBLEMS", 20),
    ];
    let leave_out = "VERSION, SOURCE, LAYER, RESTRICTION, TOKENS, PROBLEMS";
    let mut table = Table::new(&columns, leave_out).numbers(&["TOKENS"]);
    // A model has no other way to see these lines.
    let long = long || call.common.verbose || call.screen.is_host;
    for report in &reports {
        let below = if long { below(report) } else { Vec::new() };
        table.row(row(report, call.screen), below);
    }
    Ok(table.render(call.screen) + &untold)
}

fn row(report: &SkillReport, screen: Screen) -> Vec<Cell> {
    let restriction = report.restriction.as_ref();
    let restriction = restriction.map_or("", |restriction| match restriction.allowed {
        Some(_) => "restricted",
        None => "denials",
    });
    // Without a heading, the number needs its unit.
    let cost = report.tokens.map(|tokens| tokens.instructions);
    let tokens = cost.map(|cost| {
        if screen.is_terminal() {
            cost.to_string()
        } else {
            count(cost, "token")
        }
    });
    vec![
        Cell::new(one_line(&report.name)),
        Cell::new(one_line(report.version.as_deref().unwrap_or_default())),
        Cell::new(report.layer),
        Cell::new(one_line(&report.origin())).paint(Paint::Dim),
        Cell::new(tokens.unwrap_or_default()),
        Cell::new(restriction),
        problems(report),
    ]
}

/// Why it is not offered, in words, then the codes of the other diagnostics, the worst first.
fn problems(report: &SkillReport) -> Cell {
    let is_said = |code: &str| report.why.is_some() && report.not_offered.as_deref() == Some(code);
    let others = report.diagnostics.iter();
    // With many skills nearly every description is shortened, which is no problem of this skill.
    let shortened = Diagnostic::DescriptionShortened.code();
    let others = others.filter(|found| !is_said(&found.code) && found.code != shortened);
    let mut found: Vec<_> = others.collect();
    found.sort_by_key(|found| Reverse(found.level));
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    let codes = codes.join(", ");
    let why = report.why.map(|why| format!("{why}, so not offered"));
    let why = why.or_else(|| (!report.offered).then(|| "not offered".to_owned()));
    let text = match why {
        None => codes,
        Some(why) if codes.is_empty() => why,
        Some(why) => format!("{why}; {codes}"),
    };
    Cell::new(text).paint(match report.worst() {
        _ if !report.offered => Paint::Bad,
        Some(level) => level.into(),
        None => Paint::Dim,
    })
}

fn below(report: &SkillReport) -> Vec<Cell> {
    let description = report.description.iter();
    let mut lines: Vec<Cell> = description.map(|text| Cell::new(one_line(text))).collect();
    lines.push(Cell::new(one_line(&report.path)).paint(Paint::Dim));
    if !report.agents.is_empty() {
        let found = format!("found by {}", agent_names(&report.agents));
        lines.push(Cell::new(found).paint(Paint::Dim));
    }
    let found = report.diagnostics.iter();
    lines.extend(found.map(|found| Cell::new(remark_line(found)).paint(found.level.into())));
    lines
}

/// Installed skills that one search returns.
const FOUND_SKILLS: usize = 10;

/// Search the installed skills by name, tag and description
#[derive(Debug, clap::Args)]
pub struct SearchInstalledArgs {
    /// Words to look for
    #[arg(required = true)]
    pub words: Vec<String>,
}

impl SearchInstalledArgs {
    /// The offered skills that match the words, best first.
    pub fn run(&self, call: CliCall) -> Result<String> {
        let catalog = Catalog::of(call.facts);
        let (mut found, mut text) = (Vec::new(), String::new());
        for offered in catalog.search(&self.words) {
            let (name, description) = (offered.skill.name.as_str(), plain(&offered.told()));
            if found.len() < FOUND_SKILLS {
                let _ = match description.as_str() {
                    "" => writeln!(text, "- {name}"),
                    description => writeln!(text, "- {name}: {description}"),
                };
            }
            let tool = offered.tool;
            found.push(json!({"name": name, "tool": tool, "description": description}));
        }
        call.answers("skills", &found, || {
            self.describe_found(call.facts, found.len(), text)
        })
    }

    /// The first of so many that were found, and what to do next.
    fn describe_found(&self, facts: &Facts, found: usize, mut text: String) -> String {
        if found == 0 {
            let words = quoted(&self.words.join(" "));
            // A model's tool calls it an action, a shell a command.
            let list = match facts.run.protocol {
                Some(_) => "list_installed",
                None => "agent-skills list",
            };
            return format!(
                "No installed skill matches `{words}`. `{list}` shows all, `search` what could be \
                 installed.\n"
            );
        }
        let more = found.saturating_sub(FOUND_SKILLS);
        if more > 0 {
            let more = counted(more, "more matches", "more match");
            let _ = writeln!(text, "{more}: more words find fewer.");
        }
        // The host may not know its tool yet.
        if facts.run.protocol.is_some() {
            text.push_str(
                "To activate one: skill_marketplace {\"action\": \"use\", \"skill_ref\": NAME, \
                 \"query\": …}\n",
            );
        }
        text
    }
}
