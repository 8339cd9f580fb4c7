//! The options that several or all verbs share, as clap sees them, and what every verb is handed.

use crate::cli::prelude::*;

use crate::error::word;
use skill_text::visible;

/// Which installation a command works on.
#[derive(Debug, Clone, Copy, Args)]
pub struct LayerOption {
    /// Work on the project's .chibi/skills, like --layer project
    #[arg(long, conflicts_with = "layer")]
    pub project: bool,
    /// The layer: enterprise, personal, project or plugin
    #[arg(long)]
    layer: Option<Layer>,
}

impl LayerOption {
    /// The selected layer.
    pub fn layer(self) -> Layer {
        match self.layer {
            Some(layer) => layer,
            None if self.project => Layer::Project,
            None => Layer::Plugin,
        }
    }

    /// Whether no option was given.
    pub fn is_default(self) -> bool {
        self.layer.is_none() && !self.project
    }
}

/// The options of every command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct CommonOptions {
    /// Print JSON
    #[arg(long, global = true, hide = true)]
    pub json: bool,
    /// Say what would change, and change nothing
    #[arg(long, global = true, hide = true)]
    pub dry_run: bool,
    /// Do not ask; it lifts neither a policy nor what the scan forbids
    #[arg(long, short, global = true, hide = true)]
    pub yes: bool,
    /// Print only errors and what was asked for
    #[arg(long, short, global = true, hide = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: reasons, paths, causes of errors
    #[arg(long, global = true, hide = true)]
    pub verbose: bool,
}

/// What a person may accept besides.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FindingsOption {
    /// Continue despite scan findings of severity high or block
    #[arg(long)]
    pub accept_findings: bool,
}

/// Who runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A person, who can be asked at a terminal.
    Person {
        /// Whether standard input and error are terminals.
        terminal: bool,
    },
    /// The host, which cannot be asked.
    Host,
}

impl Caller {
    /// The person who started this process.
    pub fn person() -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self::Person { terminal }
    }
}

/// What every command is handed.
#[derive(Clone, Copy)]
pub struct CliCall<'a> {
    /// What it is decided and answered on.
    pub facts: &'a Facts,
    /// The options of every command.
    pub common: CommonOptions,
    /// Who called it.
    pub caller: Caller,
    /// What was typed.
    pub words: &'a [String],
    /// Where its answer goes.
    pub screen: Screen,
}

impl CliCall<'_> {
    /// What was done, or in a dry run what would be.
    pub fn would(self, done: &str, to_do: &str) -> String {
        if self.common.dry_run {
            format!("would {to_do}")
        } else {
            done.to_owned()
        }
    }

    /// Records what was done to a skill of a layer, and what else is known of that; a dry run does
    /// nothing.
    pub fn record<const N: usize>(
        self,
        kind: &'static str,
        (skill, layer): (&str, Layer),
        more: [(&'static str, Option<String>); N],
    ) {
        let event = Event::new(kind).with("skill", skill);
        let each = more.into_iter();
        let event = each.fold(event, |event, (key, value)| event.with(key, value));
        if !self.common.dry_run {
            self.facts.record(event.with("layer", layer.as_str()));
        }
    }

    /// The command as it was typed, to be copied from a message.
    pub fn command(self) -> String {
        self.command_with(None)
    }

    /// The same with one more option: before `--`, which stays only where it is needed.
    pub fn command_with(self, option: Option<&str>) -> String {
        let mut parts = self.words.splitn(2, |word| word == "--");
        let before = parts.next().unwrap_or_default().iter();
        let mut words: Vec<&str> = before.map(String::as_str).collect();
        words.extend(option);
        let rest = parts.next().unwrap_or_default();
        let is_needed = rest.iter().any(|word| word.starts_with('-'));
        words.extend(is_needed.then_some("--"));
        words.extend(rest.iter().map(String::as_str));
        shell_command(&words)
    }
}

/// The command of these words, to be copied from a message into a shell. A model may have written
/// them, so they make it run nothing else.
pub fn shell_command<W: AsRef<str>>(words: &[W]) -> String {
    let words = words.iter().map(|each| word(&visible(each.as_ref())));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_repeated_command_has_its_option_before_two_dashes() {
        let facts = Facts::new(crate::sys::Env::default(), None);
        for (words, with) in [
            ("remove mine", "remove mine --yes"),
            ("remove -- mine", "remove --yes mine"),
            ("remove -- -x", "remove --yes -- -x"),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let call = CliCall {
                facts: &facts,
                common: CommonOptions::default(),
                caller: Caller::Host,
                words: &words,
                screen: Screen::pipe(),
            };
            assert_eq!(call.command_with(Some("--yes")), with);
        }
    }

    #[test]
    fn a_shell_reads_a_pasted_command_as_it_was_given() {
        for (word, shown) in [
            ("disable", "disable"),
            ("acme/pdf@x#v1", "acme/pdf@x#v1"),
            ("--skill=a,b", "--skill=a,b"),
            ("My Skill", "'My Skill'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("#x", "'#x'"),
            ("~/x", "'~/x'"),
            (
                "x\"; $(touch a) `b` | c & \\ > d",
                "'x\"; $(touch a) `b` | c & \\ > d'",
            ),
        ] {
            let command = shell_command(&["x", word]);
            assert_eq!(command, format!("x {shown}"));
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("printf %s, {command}")]);
            let read = String::from_utf8(shell.output().unwrap().stdout).unwrap();
            assert_eq!(read, format!("x,{word},"));
        }
        assert!(!shell_command(&["a\n\u{1b}[2Jb"]).contains(['\n', '\u{1b}']));
    }
}
