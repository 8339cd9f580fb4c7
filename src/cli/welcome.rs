//! `agent-skills` alone at a terminal: a summary and the next steps.

use std::fmt::Write as _;

use super::screen::{Paint, Screen};
use crate::run_context::RunContext;
use crate::sys::text::listed;

const HANG: usize = 4;
/// Maximum number of names in the summary of installed skills.
const NAMED: usize = 10;

/// The installed skills and three suggested commands.
pub fn welcome(ctx: &RunContext, screen: Screen) -> String {
    let catalog = ctx.catalog();
    let offered = catalog.offered();
    let names: Vec<&str> = offered.iter().map(|one| one.skill.name.as_str()).collect();
    let to_fix = catalog
        .entries()
        .iter()
        .filter(|entry| entry.is_to_be_fixed());
    let to_fix = to_fix.count();
    let hidden = catalog.entries().len() - names.len() - to_fix;
    let mut text = String::new();
    let mut line = |line: &str, paint| {
        let indent = line.len() - line.trim_start().len();
        let before = " ".repeat(indent);
        for line in screen
            .hanging(&before, line.trim_start(), indent + HANG)
            .lines()
        {
            let _ = writeln!(text, "{}", screen.paint(line, paint));
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    line(
        &format!("agent-skills {version}: your skills, held to what they declare"),
        Paint::Bold,
    );
    line("", Paint::Plain);
    line(&installed(&names), Paint::Plain);
    if to_fix > 0 {
        let told = format!("{to_fix} more can be fixed: `list` says why, `info NAME` how.");
        line(&told, Paint::Warn);
    }
    if hidden > 0 {
        let told = format!("{hidden} more hidden from the model on purpose: `list` says why.");
        line(&told, Paint::Dim);
    }
    line("", Paint::Plain);
    let first = names.first().map(|name| format!("info {name}"));
    let (first, second) = match &first {
        None => (
            ("list --available", "see what there is"),
            ("install anthropics/skills@pdf", "get one"),
        ),
        Some(info) => (
            (info.as_str(), "see what it may do"),
            ("list --available", "see what else there is"),
        ),
    };
    let next = [
        first,
        second,
        ("doctor", "see whether your agents can use it"),
    ];
    let longest = |texts: [&str; 3]| texts.map(str::len).into_iter().max().unwrap_or(0);
    let wide = longest(next.map(|(words, _)| words));
    let room = "  agent-skills ".len() + wide + 2 + longest(next.map(|(_, why)| why));
    for (words, why) in next {
        // A wrapped command cannot be copied, so the explanation is dropped if there is no room.
        let told = if screen.width.is_none_or(|width| room <= width) {
            format!("  agent-skills {words:wide$}  {why}")
        } else {
            format!("  agent-skills {words}")
        };
        line(&told, Paint::Plain);
    }
    line("", Paint::Plain);
    line("All commands: agent-skills --help", Paint::Dim);
    text
}

fn installed(names: &[&str]) -> String {
    let first = listed(names, NAMED);
    match names.len() {
        0 => "No skill is installed.".to_owned(),
        1 => format!("1 skill is installed: {first}"),
        many => format!("{many} skills are installed: {first}"),
    }
}
