//! What a command line names, anywhere in it, that changes what its `git` commands do.

use super::constants::Text;

/// The variable by which `git` works elsewhere.
pub const GIT_TREE: &str = "GIT_WORK_TREE";
/// Parts of the settings by which its subcommands have other names or work elsewhere.
pub const SETTINGS: [&str; 4] = ["alias", "autocorrect", "include", "worktree"];

/// What a command line names, anywhere in it.
#[derive(Debug, Clone, Copy)]
pub struct GitNames {
    /// A variable or setting by which `git` works elsewhere.
    pub work_tree: bool,
    /// A subcommand that removes or moves files.
    pub removal: bool,
    /// The settings by which a subcommand has another name.
    pub alias: Named,
}

/// How much of a name a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Nothing.
    Not,
    /// Part of it, to which another command may add the rest.
    InPart,
    /// All of it.
    Wholly,
}

impl GitNames {
    /// What this command line names.
    pub fn in_text(text: &Text) -> Self {
        let names = |name: &&str| text.bindings(name) > 0;
        // Settings have no case. A file that is included may hold any.
        let folded = text.folded();
        let text_has = |part: &&str| folded.iter().any(|text| text.contains(part));
        // They are given by `-c`, by `config` and by variables, each at the beginning of a word.
        let is_option = |text: &String| {
            let mut behind = text.match_indices("-c").map(|(at, _)| &text[at + 2..]);
            behind.any(|text| !text.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        };
        let may_set = text_has(&"config") || folded.iter().any(is_option);
        let is_given = |name: &&str| {
            let begins = |text: &str, at: usize| {
                !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_./-".contains(c))
            };
            may_set
                && folded
                    .iter()
                    .any(|text| text.match_indices(*name).any(|(at, _)| begins(text, at)))
        };
        let included =
            text_has(&"git_config") || ["include.path", "includeif."].iter().any(is_given);
        let alias = ["alias.", "help.autocorrect"].iter().any(is_given);
        let work_tree = is_given(&"core.worktree");
        Self {
            work_tree: names(&GIT_TREE) || work_tree || included,
            removal: ["clean", "rm", "mv"].iter().any(names),
            alias: match SETTINGS.iter().any(text_has) {
                _ if alias || included => Named::Wholly,
                true => Named::InPart,
                false => Named::Not,
            },
        }
    }
}
