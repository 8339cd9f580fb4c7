//! The command line, as clap sees it: each verb's arguments are in the verb's file, with its help.

use crate::cli::prelude::*;
use clap::{Command, CommandFactory, Parser};

pub use super::get::list::{ListArgs, SearchArgs};
pub use super::get::{
    install::InstallArgs, remove::RemoveArgs, show::ShowArgs, sources::SourcesCommand,
    sync::SyncArgs, update::UpdateArgs,
};
pub use super::look::{
    audit::AuditArgs, check::CheckArgs, info::InfoArgs, jobs::JobsArgs,
    list_installed::SearchInstalledArgs, suggest::SuggestArgs,
};
pub use super::safety::enable::{DisableArgs, EnableArgs};
pub use super::safety::{
    approve::ApproveArgs, confine::ConfineArgs, deactivate::DeactivateArgs, keys::KeysArgs,
    policy::PolicyArgs, rollback::RollbackArgs, scan::ScanArgs, trust::TrustArgs,
    verify::VerifyArgs,
};
pub use super::set_up::complete::{CompleteArgs, CompletionsArgs};
pub use super::set_up::{config::ConfigCommand, doctor::DoctorArgs, hosts::HostsArgs};
pub use super::write::{
    new::NewArgs, package::PackageArgs, proposals::ProposalsCommand, publish::PublishArgs,
    simulate::SimulateArgs, try_skill::TryArgs, validate::ValidateArgs,
};

/// Find, install and check agent skills, and restrict them to what they declare.
#[derive(Debug, Parser)]
#[command(name = "agent-skills", version, disable_help_subcommand = true)]
#[command(after_help = "From chibi: chibi -p agent-skills \"install owner/skill\"")]
pub struct Cli {
    /// The options of every command.
    #[command(flatten)]
    pub common: CommonOptions,
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What can be done, in the order of the help; then, hidden, what only other programs call.
#[derive(Debug, Subcommand)]
pub enum Verb {
    #[command(alias = "add")]
    Install(InstallArgs),
    Update(UpdateArgs),
    #[command(alias = "rm")]
    Remove(RemoveArgs),
    Sync(SyncArgs),
    Search(SearchArgs),
    Show(ShowArgs),
    #[command(subcommand, name = "source")]
    Sources(SourcesCommand),
    #[command(alias = "ls")]
    List(ListArgs),
    Info(InfoArgs),
    Check(CheckArgs),
    Suggest(SuggestArgs),
    Audit(AuditArgs),
    Jobs(JobsArgs),
    New(NewArgs),
    Validate(ValidateArgs),
    Try(TryArgs),
    Simulate(SimulateArgs),
    Package(PackageArgs),
    Publish(PublishArgs),
    #[command(subcommand)]
    Proposals(ProposalsCommand),
    Trust(TrustArgs),
    Approve(ApproveArgs),
    Enable(EnableArgs),
    Disable(DisableArgs),
    Scan(ScanArgs),
    Verify(VerifyArgs),
    Keys(KeysArgs),
    Rollback(RollbackArgs),
    Deactivate(DeactivateArgs),
    Policy(PolicyArgs),
    Doctor(DoctorArgs),
    #[command(subcommand)]
    Config(ConfigCommand),
    Hosts(HostsArgs),
    Completions(CompletionsArgs),
    /// List the installed skills, as the model's tool calls it
    #[command(name = "list_installed", hide = true)]
    ListInstalled,
    #[command(name = "search_installed", hide = true)]
    SearchInstalled(SearchInstalledArgs),
    #[command(hide = true)]
    Confine(ConfineArgs),
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
}

/// The verbs that the help shows, by what they are for.
const GROUPS: [(&str, &str); 5] = [
    ("Get", "install update remove sync search show source"),
    ("Look", "list info check suggest audit jobs"),
    (
        "Write",
        "new validate try simulate package publish proposals",
    ),
    (
        "Safety",
        "trust approve enable disable scan verify keys rollback deactivate policy",
    ),
    ("Set up", "doctor config hosts completions"),
];

/// The command line, whose help has the verbs in groups. clap has no groups for subcommands.
pub fn command() -> Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (title, verbs) in GROUPS {
        let _ = writeln!(groups, "{title}:");
        for verb in verbs.split(' ') {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {verb:12} {about}");
        }
    }
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n\
         {OF_EVERY_COMMAND}\
         {{after-help}}\n"
        ))
        .mut_subcommands(with_common)
}

const OF_EVERY_COMMAND: &str =
    "On every command: --json, --dry-run, -y/--yes, -q/--quiet, --verbose, -h/--help";

/// A command and those below it, whose help ends in a line about the options of every command.
fn with_common(command: Command) -> Command {
    let command = command.mut_subcommands(with_common);
    command.after_help(OF_EVERY_COMMAND)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use super::*;
    use crate::protocol::Input;
    use crate::protocol::call_kind::CallKind;
    use crate::sys::Env;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn no_option_makes_a_hook_call_a_persons() {
        let command = command();
        let more = [
            "--",
            "-",
            "--none",
            "--help",
            "-h",
            "--version",
            "-V",
            "--schema",
        ];
        let mut options: Vec<String> = more.map(str::to_owned).to_vec();
        for option in command.get_arguments().filter(|it| !it.is_positional()) {
            // Its value would be the first word that is no option.
            let takes = option.get_action().takes_values();
            assert!(
                !takes,
                "`hook_words` has to know that {option} takes a value"
            );
            for long in option.get_long_and_visible_aliases().unwrap_or_default() {
                options.extend([format!("--{long}"), format!("--{long}=x")]);
            }
            options.extend(option.get_short().map(|short| format!("-{short}")));
        }
        assert!(options.iter().any(|it| it == "--quiet"), "{options:?}");
        for call in [
            &["hook"][..],
            &["hook", "codex"],
            &["hook", "codex", "--mode", "ask"],
        ] {
            for (at, odd) in (0..=call.len()).flat_map(|at| options.iter().map(move |it| (at, it)))
            {
                let mut args: Vec<_> = call.iter().map(Into::into).collect();
                args.insert(at, odd.into());
                let mut input = Input {
                    args,
                    env: Env::new([("HOME", "/nowhere")], Path::new("/")),
                    stdin: Box::new(Unread),
                };
                assert_eq!(input.kind(), CallKind::Agent, "{:?}", input.args);
                assert!(input.agent().is_err(), "{:?}", input.args);
            }
        }
    }

    /// Standard input of which nothing may be read.
    struct Unread;

    impl Read for Unread {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("read before the words")
        }
    }

    #[test]
    fn the_help_fits_a_screen_with_each_verb_in_one_group() {
        let help = command().render_help().to_string();
        assert!(help.lines().count() <= 48, "{help}");
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
        let command = command();
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let shown: Vec<&str> = shown.map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|(_, verbs)| verbs.split(' '));
        let grouped: Vec<&str> = grouped.collect();
        assert_eq!(shown, grouped);
    }
}
