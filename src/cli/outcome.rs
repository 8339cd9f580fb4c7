//! What became of each of several things, as text or JSON. The failure of one does not hide the
//! others.

use crate::cli::prelude::*;

/// What became of each thing that a command changes.
pub struct Outcomes<'a> {
    call: CliCall<'a>,
    results: Vec<(String, Result<String>, OutcomeNote)>,
    next: String,
}

/// What there is to say of one besides what was done.
#[derive(Debug, Default)]
pub enum OutcomeNote {
    /// Nothing.
    #[default]
    Nothing,
    /// A code of what stopped it, for programs.
    Stopped(&'static str),
    /// It stays as it is. Of several such it is said once: their number, and this.
    Unchanged(&'static str),
}

impl<'a> Outcomes<'a> {
    /// Nothing has been done yet.
    pub fn new(call: CliCall<'a>) -> Self {
        Self {
            call,
            results: Vec::new(),
            next: String::new(),
        }
    }

    /// The answer of a command that changes one thing, which it calls `name`.
    ///
    /// # Errors
    /// As [`Outcomes::answer`].
    pub fn of_one(call: CliCall<'a>, name: &str, changed: Result<String>) -> Answer {
        let mut one = Self::new(call);
        one.push(name, changed);
        one.answer()
    }

    /// The answer of a command that does the same to each of these.
    ///
    /// # Errors
    /// As [`Outcomes::answer`].
    pub fn of_each<N: AsRef<str>>(
        call: CliCall<'a>,
        names: &[N],
        mut change: impl FnMut(&str) -> Result<String>,
    ) -> Answer {
        let mut all = Self::new(call);
        for name in names {
            all.push(name.as_ref(), change(name.as_ref()));
        }
        all.answer()
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Adds what became of `name`: the text that says so, with its line ends.
    pub fn push(&mut self, name: &str, outcome: Result<String>) {
        self.push_with(name, outcome, OutcomeNote::Nothing);
    }

    /// The same, with what there is to say besides.
    pub fn push_with(&mut self, name: &str, outcome: Result<String>, note: OutcomeNote) {
        self.results.push((name.to_owned(), outcome, note));
    }

    /// Adds what to do next, once for all of them.
    pub fn then(&mut self, next: String) {
        self.next = next;
    }

    /// Reports the errors, and returns what of that belongs to the answer.
    pub fn errors(self) -> String {
        let mut text = String::new();
        for (name, outcome, _) in self.results {
            if let Err(error) = outcome {
                report_error(self.call, &name, error, &mut text);
            }
        }
        text
    }

    /// The whole answer.
    ///
    /// # Errors
    /// When one has failed; all errors are then reported.
    pub fn answer(mut self) -> Answer {
        let is_good = self.results.iter().all(|(_, outcome, _)| outcome.is_ok());
        if self.call.common.json {
            return Failure::unless(is_good, self.as_json()?);
        }
        if !is_good && self.results.len() == 1 {
            return self.results.remove(0).1.map_err(Failure::Failed);
        }
        let mut unchanged: BTreeMap<&str, usize> = BTreeMap::new();
        for (.., note) in &self.results {
            if let OutcomeNote::Unchanged(all) = note {
                *unchanged.entry(all).or_default() += 1;
            }
        }
        unchanged.retain(|_, number| *number > 1);
        let in_total =
            |note| matches!(note, OutcomeNote::Unchanged(all) if unchanged.contains_key(all));
        // A dry run is done for what it says.
        let is_silent = self.call.common.quiet && !self.call.common.dry_run;
        let mut text = String::new();
        for (name, outcome, note) in self.results {
            match outcome {
                Ok(_) if is_silent || in_total(note) => {}
                Ok(message) => text += &message,
                Err(error) => report_error(self.call, &name, error, &mut text),
            }
        }
        for (all, number) in unchanged.iter().filter(|_| !is_silent) {
            let _ = writeln!(text, "{number} {all}");
        }
        if !self.call.common.quiet {
            text += &self.next;
        }
        Failure::unless(is_good, text)
    }

    /// The same in the format that `--json` documents.
    fn as_json(&self) -> Result<String> {
        let result = |(name, outcome, note): &(String, Result<String>, OutcomeNote)| {
            let error = outcome.as_ref().err();
            json!({
                "name": name,
                "message": outcome.as_deref().ok().map(str::trim_end),
                "error": error.map(ToString::to_string),
                "hint": error.and_then(Error::next_step),
                "code": if let OutcomeNote::Stopped(code) = note { Some(code) } else { None },
            })
        };
        let results: Vec<Value> = self.results.iter().map(result).collect();
        json::one(&json!({"dry_run": self.call.common.dry_run, "results": results}))
    }
}

/// The answer of a command that only looks at each of these, as data and as text: with `--json` one
/// object for one name, a list under `key` for several; otherwise their texts, with an empty line
/// between.
///
/// # Errors
/// When one has failed; all errors are then reported.
pub fn answer_each(
    call: CliCall,
    names: &[String],
    key: &str,
    look: impl Fn(&str) -> Result<(Value, String)>,
) -> Answer {
    if let [name] = names {
        let (found, text) = look(name)?;
        return Ok(call.answer(&found, || text)?);
    }
    let (mut found, mut texts, mut errors) = (Vec::new(), Vec::new(), String::new());
    for name in names {
        match look(name) {
            Ok((one, text)) => {
                found.push(one);
                texts.push(text);
            }
            Err(error) => report_error(call, name, error, &mut errors),
        }
    }
    let text = call.answers(key, &found, || texts.join("\n") + &errors);
    Failure::unless(found.len() == names.len(), text?)
}

/// Reports one of several errors: on standard error, which a model does not see, or in the answer.
fn report_error(call: CliCall, name: &str, error: Error, answer: &mut String) {
    let error = if call.common.verbose {
        error.with_causes()
    } else {
        error
    };
    let name = one_line(name);
    let text = error.to_string();
    // Most messages name it.
    let text = if text.contains(&*name) {
        text
    } else {
        format!("`{name}`: {text}")
    };
    let hint = error.next_step();
    if call.caller == Caller::Host {
        let _ = writeln!(answer, "Error: {}", one_line(&text));
        let _ = hint.map(|hint| writeln!(answer, "{}", one_line(hint)));
    } else {
        warn(format_args!("{text}"));
        let _ = hint.map(|hint| eprint(format_args!("hint: {hint}\n")));
    }
}
