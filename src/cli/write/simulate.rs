//! `simulate`: conversations that test skills.

use crate::author::{Conversation, PlayedConversation, PlayedStep};
use crate::cli::prelude::*;

/// The number of lines shown of an unexpected answer, or of how it differs.
const SHOWN: usize = 12;

/// Play conversations with skills and compare the answers
#[derive(Debug, clap::Args)]
pub struct SimulateArgs {
    /// Conversations in YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

impl SimulateArgs {
    /// Plays the conversations; a failure if an answer is not as expected.
    pub fn run(&self, call: CliCall) -> Answer {
        let exe = call.facts.run.env.exe.as_deref().ok_or_else(|| {
            Error::new("this program's own path is unknown").hint("call it by its full path")
        })?;
        let (mut told, mut text, mut is_good) = (Vec::new(), String::new(), true);
        for file in &self.files {
            let conversation = Conversation::read(file)?;
            let plays = conversation
                .play(exe, &call.facts.run.env)
                .map_err(|error| error.context(file.display()))?;
            let file = file.display().to_string();
            text += &shown(&one_line(&file), &plays);
            is_good &= plays.iter().all(|play| play.failed() == 0);
            told.push(json!({"file": file, "plays": plays}));
        }
        Failure::unless(is_good, call.answers("conversations", &told, || text)?)
    }
}

fn shown(file: &str, plays: &[PlayedConversation]) -> String {
    let mut text = String::new();
    for play in plays {
        let _ = writeln!(text, "{file} ({})", play.host);
        for (at, step) in play.steps.iter().enumerate() {
            show_step(&mut text, at + 1, step);
        }
        let (all, failed) = (play.steps.len(), play.failed());
        let good = count(all - failed, "step");
        let _ = writeln!(text, "  {good} as expected, {failed} not");
    }
    text
}

fn show_step(text: &mut String, number: usize, step: &PlayedStep) {
    let as_expected = step.failures.is_empty();
    let mark = if as_expected { "ok  " } else { "FAIL" };
    let refused = if step.blocked { " (refused)" } else { "" };
    let _ = writeln!(text, "  {mark} {number} {}{refused}", one_line(&step.what));
    if as_expected {
        return;
    }
    for failure in &step.failures {
        let _ = writeln!(text, "       {}", one_line(failure));
    }
    let (title, answer) = match &step.diff {
        Some(diff) => ("the difference:", printable(diff)),
        None => ("it answered:", printable(&step.answer)),
    };
    let lines: Vec<&str> = answer.lines().collect();
    let _ = writeln!(text, "       {title}");
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(text, "       | {line}");
    }
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 {
        let more = count(more, "more line");
        let _ = writeln!(text, "       | and {more} (--json shows all)");
    }
}
