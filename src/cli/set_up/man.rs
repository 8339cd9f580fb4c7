//! The manual page, generated from clap's definitions.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

const DESCRIPTION: &str = r#".SH DESCRIPTION
Without a command, it prints its help.
In chibi: chibi \-p agent\-skills \"install owner/skill\"
"#;

/// The sections that clap does not generate.
const AFTER: &str = r#".SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Failure, or a negative answer; standard error says why and what to do.
.TP
.B 2
Wrong usage.
.SH FILES
.TP
.I ${CHIBI_HOME:-~/.chibi}/plugins/agent\-skills/
The program where chibi loads it, with
.IR skills/ ", " skills.lock.json ", " config.toml " and its records."
.TP
.IR ~/.chibi/skills ", " ~/.agents/skills
Personal skills.
.TP
.IR .chibi/skills ", " .agents/skills ", " .claude/skills
Skills of a project, once it is trusted.
.TP
.I /etc/chibi/agent\-skills/
The administrator's skills and policy.
.SH ENVIRONMENT
.TP
.B AGENT_SKILLS_HOME
Another plugin directory.
.TP
.B XDG_DATA_HOME
Its directory
.I agent\-skills
is the plugin directory of an installation without chibi.
.TP
.BR NO_COLOR ", " CLICOLOR=0 ", " TERM=dumb
No colour.
.SH SEE ALSO
.UR https://agentskills.io
.UE
"#;

/// The page in the format of `man`.
pub fn page(root: Command) -> String {
    let mut root = root
        .disable_help_flag(true)
        .subcommand_value_name("COMMAND");
    root.build();
    let man = Man::new(root.clone())
        .title("AGENT-SKILLS")
        // An empty date would be left out, and the following words taken for it.
        .date(" ")
        .manual("User Commands");
    let mut page = rendered(|page| {
        man.render_title(page)?;
        man.render_name_section(page)?;
        man.render_synopsis_section(page)
    });
    page.push_str(DESCRIPTION);
    // The help of each command leaves them out.
    let common = root.get_arguments().filter(|arg| arg.is_global_set());
    let common = Command::new("").args(common.map(|arg| arg.clone().hide(false)));
    let common = Man::new(common.disable_help_flag(true));
    let options = rendered(|page| common.render_options_section(page));
    let options = below_heading(&options);
    let _ = write!(
        page,
        ".SH OPTIONS\nOn every command:\n{options}.SH COMMANDS\n"
    );
    commands(&root, &mut page);
    page.push_str(AFTER);
    // Some terminals cannot show an ellipsis.
    page.replace('…', "...")
}

/// A subsection for each command, built from the sections of its own page.
fn commands(above: &Command, page: &mut String) {
    for command in above.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        if command.has_subcommands() {
            commands(command, page);
            let is_shared = |arg: &clap::Arg| arg.is_global_set() || arg.get_id() == "help";
            if command.get_arguments().all(is_shared) {
                continue;
            }
        }
        let name = command.get_bin_name().unwrap_or_default();
        let name = name.trim_start_matches("agent-skills ").replace('-', "\\-");
        let man = Man::new(command.clone());
        let synopsis = rendered(|part| man.render_synopsis_section(part));
        let description = rendered(|part| man.render_description_section(part));
        let options = rendered(|part| man.render_options_section(part));
        let [synopsis, description, options] =
            [&synopsis, &description, &options].map(|part| below_heading(part));
        let _ = write!(page, ".SS {name}\n{synopsis}.PP\n{description}{options}");
    }
}

fn rendered(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = render(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A section without its heading.
fn below_heading(section: &str) -> &str {
    let text = section.split_once("\n.SH ");
    let text = text.and_then(|(_, section)| section.split_once('\n'));
    text.map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::{Arg, CommandFactory};

    #[test]
    fn every_command_and_option_is_on_the_page() {
        let page = page(Cli::command());
        let mut root = Cli::command();
        root.build();
        for command in root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let escaped = |text: &str| text.replace('-', "\\-");
            assert!(page.contains(&format!(".SS {}", escaped(command.get_name()))));
            for long in command.get_arguments().filter_map(Arg::get_long) {
                assert!(
                    long == "help" || page.contains(&escaped(&format!("--{long}"))),
                    "{long}"
                );
            }
        }
        assert!(page.is_ascii() && !page.contains("__complete"));
    }
}
