//! The manual page, generated from clap's definitions.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use super::args::Cli;

const AFTER: &str = r#".SH EXIT STATUS
.TP
.B 0
It was done.
.TP
.B 1
It failed, or the answer is a no; standard error says why and what to do.
.TP
.B 2
The words make no command.
.SH FILES
.TP
.I ${CHIBI_HOME:-~/.chibi}/plugins/agent\-skills/
The program where chibi loads it, with
.IR skills/ ", " skills.lock.json ", " config.toml " and what it writes down."
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
.BR NO_COLOR ", " CLICOLOR=0 ", " TERM=dumb
No colour.
.SH SEE ALSO
The README and docs/ of the project;
.UR https://agentskills.io
.UE
"#;

/// The page in the format of `man`.
pub fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let version = env!("CARGO_PKG_VERSION");
    let mut page = format!(
        ".TH AGENT\\-SKILLS 1 \"\" \"agent\\-skills {version}\" \"User Commands\"\n.SH NAME\n\
         agent\\-skills \\- {}\n.SH SYNOPSIS\n.B agent\\-skills\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n\
         .SH DESCRIPTION\n{}\nWithout a command, at a terminal, it says what is installed and what \
         to do next.\n.SH COMMANDS\n",
        about(&root),
        escaped(
            &root
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default()
        ),
    );
    commands(&mut root, &mut page);
    page.push_str(AFTER);
    page
}

fn commands(above: &mut Command, page: &mut String) {
    for command in above
        .get_subcommands_mut()
        .filter(|command| !command.is_hide_set())
    {
        if command.has_subcommands() {
            commands(command, page);
            continue;
        }
        let usage = command.render_usage().to_string();
        let usage = usage.strip_prefix("Usage: agent-skills ").unwrap_or(&usage);
        let _ = writeln!(page, ".SS {}\n{}.", escaped(usage.trim()), about(command));
        let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
        for arg in arguments.filter(|arg| arg.get_id() != "help") {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                page,
                ".TP\n{}\n{}{}",
                name(arg),
                escaped(&help),
                values(arg)
            );
        }
    }
}

fn name(arg: &Arg) -> String {
    let value = || {
        let names = arg.get_value_names().unwrap_or_default();
        let names: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
        format!("\\fI{}\\fR", escaped(&names.join(" ")))
    };
    let mut ways: Vec<String> = Vec::new();
    ways.extend(arg.get_short().map(|short| format!("\\fB\\-{short}\\fR")));
    ways.extend(
        arg.get_long()
            .map(|long| format!("\\fB\\-\\-{}\\fR", escaped(long))),
    );
    match (ways.is_empty(), arg.get_action().takes_values()) {
        (true, _) => value(),
        (false, true) => format!("{} {}", ways.join(", "), value()),
        (false, false) => ways.join(", "),
    }
}

fn values(arg: &Arg) -> String {
    let values = arg.get_possible_values();
    if values.is_empty() || !arg.get_action().takes_values() {
        return String::new();
    }
    let names: Vec<&str> = values
        .iter()
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    escaped(&format!(": {}", names.join(", ")))
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    escaped(about.unwrap_or_default().trim_end_matches('.'))
}

/// Text escaped so that `roff` interprets none of it.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    if text.starts_with(['.', '\'']) {
        safe.push_str("\\&");
    }
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\e"),
            '-' => safe.push_str("\\-"),
            '…' => safe.push_str("..."),
            c if c.is_ascii() => safe.push(c),
            c => {
                let _ = write!(safe, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_option_is_on_the_page() {
        let page = page();
        let mut root = Cli::command();
        root.build();
        for command in root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            assert!(page.contains(&format!(".SS {}", escaped(command.get_name()))));
            for long in command.get_arguments().filter_map(Arg::get_long) {
                assert!(
                    long == "help" || page.contains(&escaped(&format!("--{long}"))),
                    "{long}"
                );
            }
        }
        assert!(!page.contains("__complete"));
    }

    #[test]
    fn no_text_is_taken_for_a_request() {
        assert_eq!(escaped(".sp -x\\fB"), "\\&.sp \\-x\\efB");
    }
}
