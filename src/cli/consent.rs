//! Consent before anything is installed: a person sees the plan and decides. If nobody can be
//! asked, the command proceeds unless the scan found something that hardly any legitimate skill
//! has.

use crate::cli::prelude::*;
use std::io::BufRead;

use crate::marketplace::{CommitPrefix, PlannedSkill, VersionSwitch};
use crate::sys::scrolled_lines;

impl CliCall<'_> {
    fn is_at_terminal(self) -> bool {
        self.caller == Caller::Person { terminal: true }
    }

    /// Whether somebody is asked: a person at a terminal, unless they already said yes.
    pub fn asks(self) -> bool {
        self.is_at_terminal() && !self.common.yes
    }

    /// Shows what is to be decided; with `--quiet` only to somebody who is asked.
    fn show(self, text: &str) {
        let show = if self.asks() { eprint } else { tell };
        show(format_args!("{text}"));
    }

    /// The next step: `here`, or through the host the `command` that the user has to run. There, a call
    /// may come from a model, which cannot consent.
    fn next(self, command: &str, here: &str) -> String {
        if self.caller == Caller::Host {
            return format!(
                "ask the user to run in a terminal: agent-skills {command} (it shows this and asks)"
            );
        }
        here.to_owned()
    }

    /// Shows what the command would decide, and asks. What nobody is asked is in the command's answer.
    ///
    /// # Errors
    /// When there is no terminal to ask at and nobody said yes.
    pub fn to_decide(self, shown: &str, question: &str) -> Result<bool> {
        if self.asks() {
            eprint(format_args!("{shown}"));
            return Ok(ask_yes_or_no(question));
        }
        if self.common.yes {
            return Ok(true);
        }
        self.show(shown);
        let [look, agree] = ["--dry-run", "--yes"].map(|option| self.command_with(Some(option)));
        let here =
            format!("check it with `agent-skills {look}`; accept it with `agent-skills {agree}`");
        Err(Error::new("cannot ask without a terminal").hint(self.next(&self.command(), &here)))
    }

    /// As [`CliCall::to_decide`].
    ///
    /// # Errors
    /// Also when somebody says no, with what is `undone` then.
    pub fn to_agree(self, shown: &str, question: &str, undone: &str) -> Result<()> {
        if self.to_decide(shown, question)? {
            return Ok(());
        }
        Err(Error::new(format!("{undone}: you said no")))
    }
}

/// How a command decides whether to put skills in their place.
#[derive(Clone, Copy)]
pub struct Consent<'a> {
    call: CliCall<'a>,
    /// What the scan may have found.
    findings: FindingsOption,
    /// In whose names tools are shown.
    pub names: ToolNames,
}

impl<'a> Consent<'a> {
    /// As the command line says.
    pub fn new(call: CliCall<'a>, findings: FindingsOption) -> Self {
        let names = ToolNames::of(call.facts);
        Self {
            call,
            findings,
            names,
        }
    }

    /// Says what would be installed.
    pub fn tell_plan(self, plan: &Plan, show: Option<&str>) {
        let plan = describe_plan(plan, show, self.call.screen, self.names);
        tell(format_args!("{plan}"));
    }

    /// Shows what would be installed, and decides; `show` is the command that shows a skill as a
    /// whole.
    ///
    /// # Errors
    /// When there is no terminal to ask at and the scan's findings are too severe.
    pub fn to_install(self, plan: &Plan, show: Option<&str>) -> Result<bool> {
        let call = self.call;
        call.show(&describe_plan(plan, show, call.screen, self.names));
        if call.asks() {
            return Ok(ask_yes_or_no("Install?"));
        }
        let (command, look) = (call.command(), look(plan, show));
        let doubt = plan_origins(plan).find_map(Origin::doubt);
        if let Some(doubt) = doubt.filter(|_| !call.common.yes) {
            let next = call.next(&command, &format!("{look}; `--yes` accepts it"));
            return Err(Error::new(format!("a commit is {doubt}")).hint(next));
        }
        self.unless_suspect((plan_findings(plan), &look), "installed", &command)
    }

    /// Shows what would change, and decides. Unless somebody is asked, no skill gains abilities,
    /// and none changes to a commit that does not follow the installed one; `downgrade` allows the
    /// latter, `--yes` does not.
    ///
    /// # Errors
    /// When consent is needed and there is no terminal to ask at.
    pub fn to_update(self, difference: &Difference, downgrade: bool) -> Result<bool> {
        let call = self.call;
        let regress = difference.regress().filter(|_| !downgrade);
        let needed = difference.needs_consent() || regress.is_some();
        if call.asks() || needed {
            call.show(&describe_difference(difference, self.names));
        }
        if call.asks() && needed || call.is_at_terminal() && regress.is_some() {
            return Ok(ask_yes_or_no("Update?"));
        }
        let command = shell_command(&["update", &difference.name]);
        let look = format!("look at it with `{command} --dry-run --diff`");
        let to = difference.to.as_deref();
        let to = to.and_then(|to| CommitPrefix::parse(to).ok());
        let to = to.map_or_else(String::new, |to| format!(" --to {to}"));
        let next = |flag| {
            call.next(
                &command,
                &format!("{look}; `{command}{to} {flag}` accepts that"),
            )
        };
        if let Some(doubt) = regress {
            return Err(Error::new(doubt).hint(next("--allow-downgrade")));
        }
        self.unless_suspect((&difference.new_findings, &look), "updated", &command)?;
        if difference.needs_consent() && !call.common.yes {
            let text = "it adds scripts, asks for more tools or restricts itself less";
            return Err(Error::new(text).hint(next("--yes")));
        }
        Ok(true)
    }

    /// Shows what another version would change, and decides. Nothing switches without consent.
    ///
    /// # Errors
    /// When there is no terminal to ask at and nobody said yes, or the scan's findings are too severe.
    pub fn to_switch(
        self,
        difference: &Difference,
        to: &VersionSwitch,
        command: &str,
    ) -> Result<bool> {
        self.call.show(&describe_difference(difference, self.names));
        let name = &difference.name;
        let from = to.from.as_deref().map_or("the default branch", short_ref);
        let to = short_ref(&to.to);
        if self.call.asks() {
            return Ok(ask_yes_or_no(&format!(
                "Switch `{name}` from {from} to {to}?"
            )));
        }
        if !self.call.common.yes {
            let here = format!(
                "`agent-skills {command} --yes` switches it to {to}; with `--name NAME` instead, \
                 that is installed beside it"
            );
            let text = format!("it is installed at {from}, not {to}");
            return Err(Error::new(text).hint(self.call.next(command, &here)));
        }
        let look = "they are new in that version";
        self.unless_suspect((&difference.new_findings, look), "switched", command)
    }

    /// Shows what a proposal would change, and decides. A proposal is never applied without
    /// consent.
    ///
    /// # Errors
    /// When there is no terminal to ask at and nobody said yes, or the scan's findings are too severe.
    pub fn to_improve(self, difference: &Difference) -> Result<bool> {
        let mut shown = describe_difference(difference, self.names);
        let tools = newly_usable(&difference.powers, self.names);
        if !tools.is_empty() {
            let tools = all_names(&tools);
            let _ = writeln!(
                shown,
                "ATTENTION: while it is active, the model could use more than now: {tools}"
            );
        }
        self.decides((&shown, "Apply it?"), &difference.new_findings, "applied")
    }

    /// Shows the skill that a proposal would create, and decides like [`Consent::to_improve`].
    ///
    /// # Errors
    /// As [`Consent::to_improve`].
    pub fn to_create(self, plan: &Plan) -> Result<bool> {
        let shown = describe_plan(plan, None, self.call.screen, self.names);
        self.decides((&shown, "Install it?"), plan_findings(plan), "installed")
    }

    fn decides<'f>(
        self,
        (shown, question): (&str, &str),
        findings: impl IntoIterator<Item = &'f ScanFinding>,
        done: &str,
    ) -> Result<bool> {
        self.call.show(shown);
        let agreed = self.call.to_decide("", question)?;
        if self.call.asks() {
            return Ok(agreed);
        }
        let look = "look at it with `agent-skills proposals show`";
        self.unless_suspect((findings, look), done, &self.call.command())
    }

    /// Yes, or an error with severe findings and with how to look at what they are about.
    fn unless_suspect<'f>(
        self,
        (findings, look): (impl IntoIterator<Item = &'f ScanFinding>, &str),
        done: &str,
        command: &str,
    ) -> Result<bool> {
        let findings = findings.into_iter();
        let suspects: Vec<&ScanFinding> = findings.filter(|finding| is_severe(finding)).collect();
        if suspects.is_empty() || self.findings.accept_findings {
            return Ok(true);
        }
        let mut text = format!("it was not {done}, because the scan found:");
        for finding in suspects {
            let _ = write!(text, "\n  {}", finding.summary());
        }
        let here = format!("{look}; `--accept-findings` continues anyway");
        Err(Error::new(text).hint(self.call.next(command, &here)))
    }
}

/// How to look at the skills of a plan.
fn look(plan: &Plan, show: Option<&str>) -> String {
    let suspect = |skill: &&Rc<PlannedSkill>| skill.findings.iter().any(is_severe);
    let skill = plan.skills.iter().find(suspect).or(plan.skills.first());
    let show = show
        .zip(skill)
        .map(|(show, skill)| show_of(show, plan, skill));
    show.map_or("it was shown as a whole".to_owned(), |show| {
        format!("look at it with `agent-skills {show}`")
    })
}

/// Whether hardly any honest skill has what was found.
pub fn is_severe(finding: &ScanFinding) -> bool {
    finding.severity >= Severity::High
}

/// Whether a person at the terminal says yes. An author decides how much there is to read before
/// that, so a person is told when its beginning may have left the screen.
pub fn ask_yes_or_no(question: &str) -> bool {
    if let Some(lines) = scrolled_lines() {
        eprint(format_args!(
            "These are {lines} lines, more than the terminal shows at once: read them from the \
             beginning.\n"
        ));
    }
    let answer = ask_for_text(&format!("{question} [y/N] ")).to_ascii_lowercase();
    ["y", "yes"].contains(&answer.as_str())
}

/// The trimmed answer of a person at the terminal; empty if nothing can be read.
pub fn ask_for_text(question: &str) -> String {
    eprint(format_args!("{question}"));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_or_else(|_| String::new(), |_| answer.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::options::CommonOptions;
    use crate::cli::screen::Screen;
    use crate::facts::Facts;
    use crate::sys::Env;
    use std::path::Path;

    fn finding() -> ScanFinding {
        ScanFinding {
            severity: Severity::High,
            code: "encoded-command",
            file: "SKILL.md".to_owned(),
            line: 5,
            message: "a command is hidden in it",
            excerpt: "x".to_owned(),
            judged: None,
        }
    }

    fn hint(caller: Caller) -> String {
        let env = Env::new([("A", "")], Path::new("/"));
        let facts = Facts::new(env, None);
        let call = CliCall {
            screen: Screen::new(&facts.run.env, caller == Caller::Host),
            facts: &facts,
            common: CommonOptions::default(),
            caller,
            words: &[],
        };
        let consenting = Consent::new(call, FindingsOption::default());
        let error = consenting.unless_suspect(
            ([&finding()], "look"),
            "installed",
            &shell_command(&["install", "a/b;x"]),
        );
        error.unwrap_err().next_step().unwrap().to_owned()
    }

    #[test]
    fn a_caller_through_a_host_is_told_the_users_command() {
        let by_host = hint(Caller::Host);
        let command = "ask the user to run in a terminal: agent-skills install 'a/b;x' (";
        assert!(by_host.contains(command), "{by_host}");
        assert!(!by_host.contains("--"), "{by_host}");
        let in_a_pipe = hint(Caller::Person { terminal: false });
        assert!(in_a_pipe.contains("`--accept-findings`"), "{in_a_pipe}");
    }
}
