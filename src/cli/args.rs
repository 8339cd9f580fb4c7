//! The command line, as clap sees it: each verb's arguments are in the verb's file, with its help.

use clap::{Parser, Subcommand};

pub use super::get::{
    cat::Cat,
    import_lock::ImportLock,
    install::Install,
    link::Link,
    list::{List, Search},
    outdated::Outdated,
    remove::Remove,
    show::Show,
    sources::Sources,
    update::Update,
};
pub use super::look::{
    audit::Audit, check::Check, history::History, info::Info, jobs::Jobs,
    list_installed::ListInstalled, search_installed::SearchInstalled, stats::Stats, tree::Tree,
    use_skill::Use,
};
pub use super::safety::{
    approve::Approve,
    deactivate::Deactivate,
    enable::{Disable, Enable},
    rollback::Rollback,
    scan::Scan,
    trust::{Trust, Untrust},
    verify::Verify,
};
pub use super::set_up::{
    complete::Complete, completions::Completions, config::Config, doctor::Doctor,
};
pub use super::write::{
    new::New,
    package::Package,
    proposals::Proposals,
    reference_tool::{ReadProperties, ToPrompt},
    simulate::Simulate,
    try_skill::Try,
    validate::Validate,
};

/// Agent Skills for chibi: find, install and check skills.
#[derive(Debug, Parser)]
#[command(name = "agent-skills", version, disable_help_subcommand = true)]
#[command(after_help = "From chibi: chibi -p agent-skills \"install owner/skill\"")]
pub struct Cli {
    /// Show what caused an error
    #[arg(long, global = true)]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What can be done, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Install(Install),
    Remove(Remove),
    Update(Update),
    Outdated(Outdated),
    Rollback(Rollback),
    History(History),
    #[command(subcommand)]
    Proposals(Proposals),
    Verify(Verify),
    Link(Link),
    ImportLock(ImportLock),
    Scan(Scan),
    Show(Show),
    Cat(Cat),
    #[command(subcommand)]
    Sources(Sources),
    List(List),
    #[command(alias = "list_installed")]
    ListInstalled(ListInstalled),
    #[command(alias = "search_installed")]
    SearchInstalled(SearchInstalled),
    Use(Use),
    Search(Search),
    Deactivate(Deactivate),
    Jobs(Jobs),
    Check(Check),
    Info(Info),
    Tree(Tree),
    Doctor(Doctor),
    Completions(Completions),
    /// Print the manual page
    Man,
    #[command(name = "__complete", hide = true)]
    Complete(Complete),
    Trust(Trust),
    Untrust(Untrust),
    Approve(Approve),
    Enable(Enable),
    Disable(Disable),
    New(New),
    Validate(Validate),
    ReadProperties(ReadProperties),
    ToPrompt(ToPrompt),
    Try(Try),
    Simulate(Simulate),
    Package(Package),
    Audit(Audit),
    Stats(Stats),
    #[command(subcommand)]
    Config(Config),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
