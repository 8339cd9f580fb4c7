//! Several skills are meant: a person at a terminal marks some of them in a list, anyone else gets
//! the command for each. The library that draws the list writes to the terminal itself, so it gets
//! only text without characters that control one.

use crate::cli::prelude::*;
use inquire::list_option::ListOption;
use inquire::ui::RenderConfig;
use inquire::validator::MinLengthValidator;
use inquire::{InquireError, MultiSelect};

use crate::marketplace::Candidate;
use crate::sys::signals::ignoring_interrupts;
use crate::sys::wrap;

/// The length of a description that is shown whole, and of one that is enough for a model to choose.
const CHARS: usize = 1024;
const HOST_CHARS: usize = 100;
/// The lines that a list leaves free: for the question, which may take two, the help, a warning and
/// what was typed.
const AROUND: usize = 5;
/// How many rows a list has at least, and how many where the terminal does not tell its height.
const ROWS: usize = 3;
const USUAL_ROWS: usize = 12;
/// What stands before each row: where the cursor is, and whether it is marked.
const MARKS: usize = 6;
/// The width up to which names are aligned.
const NAMES: usize = 30;

/// What chooses for `command` when several skills are meant; `None` where a brief error names them.
/// Those of the reference `marks` can be marked; without it they are only listed.
pub fn skill_picker<'a>(
    call: CliCall<'a>,
    marks: Option<&'a str>,
    command: &'a str,
) -> Option<impl Fn(&[Candidate]) -> Result<Vec<usize>> + 'a> {
    if call.common.json || call.caller == Caller::Host {
        return None;
    }
    let is_asked = call.asks();
    let marks = marks.filter(|_| is_asked && !is_dumb(&call.facts.run.env));
    Some(move |candidates: &[Candidate]| {
        if let Some(reference) = marks {
            return marked(candidates, reference, call.screen);
        }
        let number = candidates.len();
        let list = listed(candidates, call.screen, command);
        let text = format!("it has {number} skills; choose one by its command:\n{list}");
        let hint = "`--skill a,b` chooses several, `--all` chooses all";
        Err(Error::new(text.trim_end()).hint(hint))
    })
}

/// The positions of those that a person marks.
fn marked(candidates: &[Candidate], reference: &str, screen: Screen) -> Result<Vec<usize>> {
    let room = screen.width.unwrap_or(usize::MAX).saturating_sub(MARKS + 1);
    let names = candidates.iter().map(|one| one.name.width());
    let names = names.max().unwrap_or_default().min(NAMES);
    let rows = candidates.iter().map(|one| {
        let name = one_line(&one.name);
        let pad = " ".repeat(names.saturating_sub(name.width()));
        let (mark, description) = (mark(one), one.description.as_deref().unwrap_or_default());
        let shown = format!("{name}{pad}  {mark}{}", brief(description, CHARS));
        shortened(shown.trim_end(), room)
    });
    let (number, reference) = (candidates.len(), one_line(reference));
    let question = format!("Which of the {number} skills of {reference}?");
    let chosen = |marked: &[ListOption<&String>]| {
        let names = marked.iter();
        let names = names.map(|one| one_line(&candidates[one.index].name));
        names.collect::<Vec<_>>().join(", ")
    };
    let at_least_one =
        MinLengthValidator::new(1).with_message("mark one with space, or leave with Esc");
    let colours = if screen.colour {
        RenderConfig::default_colored()
    } else {
        RenderConfig::empty()
    };
    let select = MultiSelect::new(&question, rows.collect())
        .with_help_message("type: filter, space: mark, enter: install, Esc: leave")
        .with_page_size(rows_at_once())
        .with_formatter(&chosen)
        .with_validator(at_least_one)
        .with_render_config(colours);
    let error = match ignoring_interrupts(|| select.raw_prompt()) {
        Ok(marked) => return Ok(marked.into_iter().map(|one| one.index).collect()),
        Err(InquireError::IO(error)) if error.kind() != std::io::ErrorKind::Interrupted => {
            Error::caused("the skills could not be shown", error)
        }
        Err(_) => Error::new("nothing was installed: you chose none"),
    };
    Err(error.hint("`--list` lists them, `--skill NAME` takes one"))
}

/// How many rows are shown at once.
fn rows_at_once() -> usize {
    let fitting = |height: usize| height.saturating_sub(AROUND).max(ROWS);
    wrap::error_size().map_or(USUAL_ROWS, |(_, rows)| fitting(rows))
}

/// The skills that a reference means, each with the command that installs it.
pub fn offered(skills: &[Candidate], call: CliCall, install: &str) -> String {
    if !call.screen.is_host {
        return listed(skills, call.screen, install);
    }
    let row = |one: &Candidate| {
        let description = brief(one.description.as_deref().unwrap_or_default(), HOST_CHARS);
        format!("{}: {}{description}\n", one_line(&one.name), mark(one))
    };
    let rows: String = skills.iter().map(row).collect();
    let one = match skills {
        [_] => install.to_owned(),
        _ => format!("{install} --skill NAME"),
    };
    let command = host_command(&call.facts.run, &one);
    format!("{rows}install one: {command}\n")
}

/// Each skill with its whole description and its command.
fn listed(candidates: &[Candidate], screen: Screen, command: &str) -> String {
    let mut text = String::new();
    for one in candidates {
        let name = screen.paint(&one_line(&one.name), Paint::Bold);
        let group = one.plugin.as_deref();
        let group = group.map(|group| format!(" (of {})", one_line(group)));
        let mark = mark(one);
        let line = format!("  {name}{} {mark}", group.unwrap_or_default());
        text.extend([line.trim_end(), "\n"]);
        let description = one.description.as_deref().unwrap_or("no description");
        text += &screen.hanging("      ", &brief(description, CHARS), 6);
        let select = match candidates {
            [_] => String::new(),
            _ => format!(" {}", shell_command(&["--skill", &one.select])),
        };
        text.extend(["      agent-skills ", command, &select, "\n"]);
    }
    text
}

fn mark(one: &Candidate) -> &'static str {
    if one.installed { "(installed) " } else { "" }
}
