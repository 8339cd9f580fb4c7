//! What an agent runs by itself once a skill is loaded, seen by no hook of ours: the commands in its
//! text, with the arguments put in as Claude Code does it, and the hooks in its frontmatter.

use super::event::AgentContext;
use super::find::FoundSkill;
use crate::host::agent::table::CommandInjection;
use crate::protocol::prelude::*;

/// Whether what runs once the skill is loaded is granted by its list and what is `in_force`.
/// `is_typed` says whether its name was typed.
///
/// # Errors
/// The first that is not granted, or that cannot be read.
pub fn may_load(
    found: &FoundSkill,
    caller: AgentContext,
    skill: &Skill,
    (is_typed, arguments): (bool, &str),
    in_force: &Session,
) -> Result<()> {
    let injects = match caller.table.injects {
        CommandInjection::No => false,
        CommandInjection::Always => true,
        CommandInjection::Typed => is_typed,
    };
    let mut runs = Vec::new();
    if injects {
        runs = injected(caller.facts, skill, arguments)?;
    }
    if caller.table.runs_hooks {
        runs.extend(hooks(skill));
    }
    if runs.is_empty() {
        return Ok(());
    }
    let own = snapshot(skill, &tool_name(&skill.name));
    let mut session = Session {
        has_always: true,
        ..in_force.clone()
    };
    session.activated.retain(|active| active.dir != own.dir);
    session.activated.push(own);
    let found = found.facts;
    let (config, policies) = (found.config()?, found.policies()?);
    let mut scope = scope_of(found, &config, &policies, &session);
    begin_in(&mut scope, &found.run.env.cwd, false);
    for run in runs {
        let (tool, as_tool, key, text) = match &run {
            Ok(RunOnLoad {
                text, sends: true, ..
            }) => ("fetch_url", "WebFetch", "url", text.as_str()),
            Ok(run) => ("run_command", "Bash", "command", run.text.as_str()),
            // Whatever restricts commands refuses it.
            Err(_) => ("run_command", "Bash", "command", "eval \"$UNREAD\""),
        };
        let arguments = json!({ key: text });
        let decision = decide(&scope, &ToolCall::new(tool, &arguments), &OnDisk);
        let Outcome::Blocked(refusal) = decision.outcome else {
            continue;
        };
        let RunOnLoad { what, text, .. } = run?;
        let refusal = refusal.in_agent(as_tool, scope.entries());
        let (shown, why) = (quoted(&text), refusal.for_people());
        let text = format!("{what} `{shown}`, and {}", why.trim_end_matches('.'));
        return Err(Error::new(text).hint("its author has to list it in `allowed-tools`"));
    }
    Ok(())
}

/// Something that the agent runs.
struct RunOnLoad {
    /// Where it is from.
    what: &'static str,
    /// The command, or the address.
    text: String,
    /// Whether calls are sent to an address.
    sends: bool,
}

/// What the hooks in a skill's frontmatter run: commands, and addresses to which a call is sent. A
/// prompt only asks a model.
fn hooks(skill: &Skill) -> Vec<Result<RunOnLoad>> {
    let unreadable = || {
        let why = Error::new("its frontmatter has hooks that cannot be read");
        Err(why.hint("its author has to correct them, or take them out of the skill"))
    };
    let events = match skill.fields.value("hooks") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(events)) => events,
        Some(_) => return vec![unreadable()],
    };
    // `pre` and `post` are this program's, and no events there.
    let theirs = events.iter();
    let theirs = theirs.filter(|(event, _)| !["pre", "post"].contains(&event.as_str()));
    let groups = theirs.flat_map(|(_, groups)| list(groups));
    let runs = groups.flat_map(|group| match group.get("hooks") {
        Some(own) => list(own).iter().filter_map(|it| hook(it, skill)).collect(),
        None => vec![unreadable()],
    });
    runs.collect()
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null => &[],
        other => std::slice::from_ref(other),
    }
}

/// What one hook runs; `None` for a prompt.
fn hook(hook: &Value, skill: &Skill) -> Option<Result<RunOnLoad>> {
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    let kind = text("type");
    if text("shell").is_some_and(|shell| shell != "bash") {
        return Some(Err(other_shell()));
    }
    let run = match (kind, text("command"), text("url")) {
        (Some("prompt"), ..) => return None,
        (Some("command"), Some(command), _) => {
            let words = hook.get("args").map_or(&[][..], list).iter();
            let quoted = words.map(|word| {
                let word = word.as_str()?.replace('\'', "'\\''");
                Some(format!(" '{word}'"))
            });
            quoted.collect::<Option<String>>().map(|words| RunOnLoad {
                what: "a hook in its frontmatter runs",
                text: with_places(&format!("{command}{words}"), skill),
                sends: false,
            })
        }
        (Some("http"), _, Some(url)) => Some(RunOnLoad {
            what: "a hook in its frontmatter sends calls to",
            text: url.to_owned(),
            sends: true,
        }),
        _ => None,
    };
    Some(run.ok_or_else(|| {
        let kind = quoted(kind.unwrap_or_default());
        let text =
            format!("its frontmatter has a hook of the type `{kind}`, which cannot be checked");
        Error::new(text).hint("its author has to take that hook out of the skill")
    }))
}

/// The skill's and its plugin's directory in a hook's command, as the agent puts them in.
fn with_places(command: &str, skill: &Skill) -> String {
    let mut text = command.replace("${CLAUDE_SKILL_DIR}", &skill.dir.display().to_string());
    if let Some(root) = plugin_root(&skill.dir) {
        text = text.replace("${CLAUDE_PLUGIN_ROOT}", &root.display().to_string());
    }
    text
}

/// The directory of the plugin that a skill is in.
fn plugin_root(dir: &Path) -> Option<&Path> {
    let mut above = dir.ancestors().skip(1).take(4);
    above.find(|dir| dir.join(".claude-plugin").is_dir())
}

/// What another shell would run, whose words are not read here.
fn other_shell() -> Error {
    Error::new("it has commands for a shell other than Bash, which cannot be checked")
        .hint("its author has to write them for Bash")
}

/// The commands in a skill's text, with the arguments put in.
fn injected(facts: &Facts, skill: &Skill, arguments: &str) -> Result<Vec<Result<RunOnLoad>>> {
    let body = skill.body().map_err(|why| Error::new(why.to_string()))?;
    if !body.contains("!`") && !body.contains("```!") && !body.contains('$') {
        return Ok(Vec::new());
    }
    let calling = facts.run.agent.as_ref();
    let session = calling.map_or("", |calling| calling.session.as_str());
    let project = &facts.run.env.cwd;
    let mut places = vec![
        ("CLAUDE_SKILL_DIR", skill.dir.display().to_string()),
        ("CLAUDE_PROJECT_DIR", project.display().to_string()),
        ("CLAUDE_SESSION_ID", session.to_owned()),
    ];
    let root = plugin_root(&skill.dir);
    places.extend(root.map(|root| ("CLAUDE_PLUGIN_ROOT", root.display().to_string())));
    let filling = ClaudePlaceholders {
        places,
        arguments,
        words: words(arguments),
        names: argument_names_longest_first(skill.fields.value("arguments")),
    };
    let filled = filling.fill(&body);
    let commands = commands_run(&filled);
    let shell = skill.fields.text("shell");
    if !commands.is_empty() && shell.is_some_and(|shell| shell.trim() != "bash") {
        return Ok(vec![Err(other_shell())]);
    }
    let breaks = filled.contains(UNKNOWN) && arguments.contains('`');
    let runs = commands.into_iter().map(|command| {
        if breaks || command.contains(UNKNOWN) {
            let why =
                "arguments would be inserted into a command in its text, but these are not plain words";
            return Err(Error::new(why).hint("call it with plain words as arguments"));
        }
        Ok(RunOnLoad {
            what: "as it is loaded its text runs",
            text: command.to_owned(),
            sends: false,
        })
    });
    Ok(runs.collect())
}

/// Stands for a word of the arguments that is not known. A blank, so that what follows it may begin
/// a command.
const UNKNOWN: char = '\u{2028}';

/// What is put into a skill's text by Claude Code 2.1.330.
struct ClaudePlaceholders<'a> {
    /// Variables that are put in as text; any other is the shell's.
    places: Vec<(&'static str, String)>,
    arguments: &'a str,
    /// `None` where it is not known how the agent splits the arguments.
    words: Option<Vec<&'a str>>,
    /// The names that the skill declares, the longest first, with their places.
    names: Vec<(usize, String)>,
}

impl ClaudePlaceholders<'_> {
    /// The text that the agent looks through for commands. What was put in is not filled again.
    fn fill(&self, body: &str) -> String {
        let (mut text, mut rest, mut is_used) = (String::new(), body, false);
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            let is_escaped = before.ends_with('\\') && !before.ends_with("\\\\");
            let found = if is_escaped && self.begins_placeholder(after) {
                text.pop();
                None
            } else {
                self.placeholder(after, &mut is_used)
            };
            let (value, length) = found.unwrap_or_else(|| ("$".to_owned(), 0));
            text.push_str(&value);
            rest = &after[length..];
        }
        text.push_str(rest);
        if !is_used && !self.arguments.is_empty() {
            text.push_str("\n\nARGUMENTS: ");
            text.push_str(&self.value(self.arguments));
        }
        text
    }

    /// The value and the length of what the text behind a `$` begins with.
    fn placeholder(&self, text: &str, is_used: &mut bool) -> Option<(String, usize)> {
        if let Some(inner) = text.strip_prefix('{') {
            let (name, _) = inner.split_once('}')?;
            let (_, value) = self.places.iter().find(|(known, _)| *known == name)?;
            return Some((value.clone(), name.len() + 2));
        }
        if let Some((at, name)) = self.name(text) {
            *is_used = true;
            return Some((self.word(*at).unwrap_or_default(), name.len()));
        }
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(behind) = text.strip_prefix("ARGUMENTS") {
            let index = behind.strip_prefix('[').and_then(|it| it.split_once(']'));
            if let Some((index, _)) =
                index.filter(|(it, _)| !it.is_empty() && digits(it) == it.len())
            {
                let length = "ARGUMENTS[]".len() + index.len();
                let value = self.word(index.parse().unwrap_or(usize::MAX));
                *is_used |= value.is_some();
                let value = value.unwrap_or_else(|| format!("${}", &text[..length]));
                return Some((value, length));
            }
            *is_used = true;
            return Some((self.value(self.arguments), "ARGUMENTS".len()));
        }
        let n = digits(text);
        if n == 0 || is_word(&text[n..]) {
            return None;
        }
        let value = self.word(text[..n].parse().unwrap_or(usize::MAX))?;
        *is_used = true;
        Some((value, n))
    }

    fn begins_placeholder(&self, text: &str) -> bool {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        is_number || text.starts_with("ARGUMENTS") || self.name(text).is_some()
    }

    fn name(&self, text: &str) -> Option<&(usize, String)> {
        let is_used = |name: &str| {
            let behind = text.strip_prefix(name);
            behind.is_some_and(|it| !it.starts_with('[') && !is_word(it))
        };
        self.names.iter().find(|(_, name)| is_used(name))
    }

    fn word(&self, n: usize) -> Option<String> {
        match &self.words {
            Some(words) => words.get(n).map(|word| self.value(word)),
            None => Some(UNKNOWN.to_string()),
        }
    }

    /// A value, in which no command can begin.
    fn value(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, place) in &self.places {
            text = text.replace(&format!("${{{name}}}"), place);
        }
        let text = text.replace("`!", "` !").replace("!`", "! `");
        let mut value = String::with_capacity(text.len());
        let mut is_free = true;
        for c in text.chars() {
            if c == '!' && is_free {
                value.push('\\');
            }
            value.push(c);
            is_free = c.is_whitespace() || c == '\u{feff}';
        }
        value
    }
}

/// Whether the text begins with what JavaScript takes for a part of a word.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// The words of arguments that a shell's grammar has as these words too, as the agent asks one.
fn words(arguments: &str) -> Option<Vec<&str>> {
    const KEYWORDS: &str = " case do done elif else esac fi for function if in select then time until while \
                            coproc declare typeset export readonly local unset unsetenv let ";
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+, -".contains(c);
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let is_keyword = |word: &&str| KEYWORDS.contains(&format!(" {word} "));
    (arguments.chars().all(is_plain) && !words.iter().any(is_keyword)).then_some(words)
}

/// The names that a skill declares for its arguments.
fn argument_names_longest_first(declared: Option<&Value>) -> Vec<(usize, String)> {
    let is_name =
        |name: &&str| !name.trim().is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit());
    let declared: Vec<&str> = match declared {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => text.split_whitespace().collect(),
        _ => Vec::new(),
    };
    let declared = declared.into_iter().filter(is_name);
    let declared = declared.map(str::to_owned).enumerate();
    let mut names: Vec<_> = declared
        .filter(|(_, name)| name.len() <= 64)
        .take(64)
        .collect();
    names.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(body: &str, arguments: &str, declared: &Value) -> String {
        let filling = ClaudePlaceholders {
            places: vec![("CLAUDE_SKILL_DIR", "/s".to_owned())],
            arguments,
            words: words(arguments),
            names: argument_names_longest_first(Some(declared)),
        };
        filling.fill(body)
    }

    #[test]
    fn a_text_is_filled_as_claude_code_does_it() {
        let declared = json!(["env", "environment", "12"]);
        for (body, arguments, text) in [
            (
                "cat $HOME/.ssh/id $ARGUMENTS",
                "docs",
                "cat $HOME/.ssh/id docs",
            ),
            (
                "$ARGUMENTS[1] $ARGUMENTS[9] $1 $9 $0",
                "a b",
                "b $ARGUMENTS[9] b $9 a",
            ),
            (
                "$env $environment $env_x $env[0]",
                "a b",
                "a b $env_x $env[0]",
            ),
            (
                "$ARGUMENTSX $1a $12 $(id) $$",
                "a b",
                "a bX $1a $12 $(id) $$",
            ),
            (
                "\\$1 \\\\$1 \\$env \\$HOME \\$ARGUMENTS",
                "a b",
                "$1 \\\\b $env \\$HOME $ARGUMENTS",
            ),
            ("${CLAUDE_SKILL_DIR}/x ${HOME} $0", "", "/s/x ${HOME} $0"),
            ("x$ARGUMENTS", "", "x"),
            ("$0", "$1 b", "\u{2028}"),
            ("do it", "a b", "do it\n\nARGUMENTS: a b"),
            ("$ARGUMENTS", "!`id` a!`id`", "\\! `id` a! `id`"),
            (
                "$ARGUMENTS",
                "${CLAUDE_SKILL_DIR} $ARGUMENTS",
                "/s $ARGUMENTS",
            ),
            ("$0", "for a", "\u{2028}"),
        ] {
            assert_eq!(
                filled(body, arguments, &declared),
                text,
                "{body} {arguments}"
            );
        }
    }

    #[test]
    fn names_are_those_that_claude_code_takes() {
        let only = |declared: Value| -> Vec<String> {
            argument_names_longest_first(Some(&declared))
                .into_iter()
                .map(|(_, name)| name)
                .collect()
        };
        assert_eq!(only(json!("a 1 long-name")), ["long-name", "a"]);
        assert_eq!(only(json!(["", "a", 3, "b c"])), ["b c", "a"]);
        assert!(only(json!({"a": 1})).is_empty());
    }
}
