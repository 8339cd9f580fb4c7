//! `config`: shows the configuration and where it comes from, and changes it; what each key takes and
//! does, in a line for people (docs/configuration.md says more).

use crate::cli::prelude::*;
use crate::policy::{self, Setting, edit_key, joined, parse_toml, parts};
use crate::sys::text::split_outside;

/// Show or change the configuration
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show one value and where it comes from
    Get {
        /// KEY or TABLE.KEY
        key: String,
    },
    /// Change a value in config.toml
    Set {
        /// KEY VALUE…, or KEY=VALUE; a list as a,b
        #[arg(
            required = true,
            value_name = "KEY VALUE",
            allow_negative_numbers = true
        )]
        words: Vec<String>,
    },
    /// Remove a value from config.toml, so that the default applies
    Unset {
        /// KEY or TABLE.KEY
        key: String,
    },
    /// Show every key with its value, what it is for and what it takes
    List,
    /// Show where the files are
    Path,
}

impl ConfigCommand {
    /// Shows or changes values.
    pub fn run(&self, call: CliCall) -> Answer {
        let changed = |name: &str, outcome| Outcomes::of_one(call, name, outcome);
        match self {
            Self::Get { key } => Ok(get(call, &parts(key))?),
            Self::Set { words } => {
                let (key, values) = match &words[..] {
                    [one] => one
                        .split_once('=')
                        .map_or((&**one, vec![]), |(key, value)| (key, vec![value])),
                    [key, values @ ..] => (&**key, values.iter().map(String::as_str).collect()),
                    [] => ("", vec![]),
                };
                let key = parts(key);
                changed(&joined(&key), set_values(call, &key, &values))
            }
            Self::Unset { key } => {
                let key = parts(key);
                changed(&joined(&key), unset(call, &key))
            }
            Self::List => Ok(list(call)?),
            Self::Path => Ok(paths(call)?),
        }
    }
}

fn set_values(call: CliCall, key: &[String], values: &[&str]) -> Result<String> {
    let value = value(key, values)?;
    set_in_config(call.facts, key, &value, call.common.dry_run)?;
    if call.common.dry_run {
        let (key, value) = (joined(key), one_line(&value));
        return Ok(format!("would set {key} to {value}\n"));
    }
    describe_value(call, key)
}

fn unset(call: CliCall, key: &[String]) -> Result<String> {
    let file = call.facts.run.config_path();
    let hint = if is_known(key) {
        "`agent-skills config list` shows where each value comes from".to_owned()
    } else {
        suggestion(key)
    };
    let check = |text: &str| check(call.facts, key, text);
    let unset = edit_key(&file, key, None, call.common.dry_run, &check);
    unset.map_err(|error| unchanged(key, error.or_hint(hint)))?;
    if call.common.dry_run {
        let (key, file) = (joined(key), file.display().to_string());
        return Ok(format!("would remove {key} from {}\n", one_line(&file)));
    }
    Ok(describe_value(call, key)
        .unwrap_or_else(|_| format!("`{}` is no longer set\n", joined(key))))
}

/// The value as TOML or text. Of a list, `a,b` and each further value is an entry.
fn value(key: &[String], values: &[&str]) -> Result<String> {
    let is_list = ConfigKey::find(key).is_some_and(ConfigKey::is_list);
    match values {
        [one] if !is_list || one.starts_with('[') || *one == "all" => Ok((*one).to_owned()),
        [_, ..] if is_list => {
            let entries = values.iter().flat_map(|value| entries(value));
            Ok(entries.collect::<toml_edit::Array>().to_string())
        }
        _ => {
            let what = match values {
                [] => "needs a value",
                _ => "takes only one value",
            };
            let text = format!("`{}` {what}", joined(key).escape_debug());
            Err(Error::new(text).hint(takes(key).unwrap_or_else(|| suggestion(key))))
        }
    }
}

/// The entries that commas separate, except for commas within parentheses.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    let parts = split_outside(list, |c| c == ',');
    parts.map(str::trim).filter(|entry| !entry.is_empty())
}

/// Changes one key of `config.toml`, unless the result would be invalid, or this is a dry run.
pub fn set_in_config(facts: &Facts, key: &[String], value: &str, dry_run: bool) -> Result<()> {
    let check = |text: &str| check(facts, key, text);
    let set = edit_key(&facts.run.config_path(), key, Some(value), dry_run, &check);
    set.map_err(|error| unchanged(key, error))
}

fn unchanged(key: &[String], error: Error) -> Error {
    error.context(format!("`{}` was not changed", joined(key).escape_debug()))
}

/// Whether the text of the file is valid with `key` changed.
fn check(facts: &Facts, key: &[String], text: &str) -> Result<()> {
    let Err((_, mistake)) = parse_toml::<policy::Config>(text) else {
        return Ok(());
    };
    // An existing error is reported with its line.
    facts.own_config()?;
    Err(match takes(key) {
        // The hint says what it takes.
        Some(takes) => Error::new(mistake.wrong).hint(takes),
        None => Error::new("there is no such key").hint(suggestion(key)),
    })
}

/// Which values a key takes; `None` for an unknown one.
fn takes(key: &[String]) -> Option<String> {
    let known = ConfigKey::find(key)?;
    Some(format!("it takes {}", known.values))
}

/// The key that is meant, or where all are found.
fn suggestion(key: &[String]) -> String {
    let alike = KEYS.iter().flat_map(|known| known.with_names_of(key));
    let alike: Vec<String> = alike.collect();
    let nearest = did_you_mean(&key.join("."), alike.iter().map(String::as_str));
    let all = "`agent-skills config list` shows every key and its value";
    nearest.unwrap_or_else(|| all.to_owned())
}

/// Whether it is a key, or a table of such.
fn is_known(key: &[String]) -> bool {
    let entry = [key, &["x".to_owned()]].concat();
    ConfigKey::find(key).or(ConfigKey::find(&entry)).is_some()
}

fn settings(facts: &Facts) -> Result<Vec<Setting>> {
    let (policies, own) = (facts.policies()?, facts.own_config()?);
    policy::settings(&facts.run, facts.state(), &policies, &own)
}

/// The value of a key that was changed, as [`get`] tells a person.
fn describe_value(call: CliCall, path: &[String]) -> Result<String> {
    let common = CommonOptions::default();
    get(CliCall { common, ..call }, path)
}

fn get(call: CliCall, path: &[String]) -> Result<String> {
    let settings = settings(call.facts)?;
    let key = joined(path);
    let below = format!("{key}.");
    let is_meant = |one: &&Setting| one.key == key || one.key.starts_with(&below);
    let found: Vec<&Setting> = settings.iter().filter(is_meant).collect();
    if !found.is_empty() {
        let listed: Vec<Value> = found.iter().map(|one| setting_json(one)).collect();
        let lines = || found.iter().map(|one| line(one)).collect();
        return call.answers("settings", &listed, lines);
    }
    if is_known(path) {
        return Ok(format!("`{key}` is not set\n"));
    }
    let text = format!("there is no key `{}`", key.escape_debug());
    Err(Error::new(text).hint(suggestion(path)))
}

/// Every setting, with what is known about its key.
fn list(call: CliCall) -> Result<String> {
    let (mut listed, mut text) = (Vec::new(), String::new());
    for setting in settings(call.facts)? {
        let key = ConfigKey::find(&parts(&setting.key));
        let (about, values) = key.map(|key| (key.about, key.values)).unzip();
        let value = one_line(&setting.value.to_string());
        let from = match setting.origin() {
            "default" => String::new(),
            origin => format!(" (from {})", one_line(origin)),
        };
        let (what, takes) = (about.unwrap_or_default(), values.unwrap_or_default());
        let line = format!("{} = {value}  # {what}: {takes}{from}", setting.key);
        text += &call.screen.hanging("", &line, INDENT);
        let known = json!({"about": about, "values": values});
        listed.push(with(setting_json(&setting), known));
    }
    for key in KEYS.iter().filter(|key| key.is_table()) {
        let line = format!("  # {}: {}", key.about, key.values);
        text += &call.screen.hanging(key.name, &line, INDENT);
    }
    call.answers("settings", &listed, || text)
}

/// Where the description of a key goes on.
const INDENT: usize = 4;

/// A setting in the format that `--json` documents.
fn setting_json(setting: &Setting) -> Value {
    json!({"key": setting.key, "value": setting.value, "origin": setting.origin()})
}

fn line(setting: &Setting) -> String {
    let (value, origin) = (setting.value.to_string(), setting.origin());
    let (value, origin) = (one_line(&value), one_line(origin));
    format!("{} = {value}  # {origin}\n", setting.key)
}

fn paths(call: CliCall) -> Result<String> {
    let mut files = vec![
        ("own", call.facts.run.config_path()),
        ("project", call.facts.run.project_config_path()),
    ];
    let policies = call.facts.enterprise().policy_files().into_iter();
    files.extend(policies.map(|file| ("policy", file.path)));
    let file = |(what, path): &(&str, PathBuf)| json!({"what": what, "path": path, "exists": path.exists()});
    let listed: Vec<_> = files.iter().map(file).collect();
    let line = |(what, path): &(&str, PathBuf)| {
        let missing = if path.exists() {
            ""
        } else {
            "  (does not exist)"
        };
        let shown = one_line(&path.display().to_string());
        format!("{what:8} {shown}{missing}\n")
    };
    call.answers("files", &listed, || files.iter().map(line).collect())
}

/// The part of a key's name that stands for an agent.
const AGENT: &str = "AGENT";

/// A key, with `NAME`, `AGENT` or `GLOB` for what the user chooses.
#[derive(Debug)]
pub struct ConfigKey {
    /// `key` or `table.key`.
    pub name: &'static str,
    /// The possible values, as a sentence goes on after "takes".
    pub values: &'static str,
    /// What it is for.
    pub about: &'static str,
}

impl ConfigKey {
    /// The key that the parts of a written one mean.
    pub fn find(written: &[String]) -> Option<&'static Self> {
        let is_same = |(part, written): (&str, &String)| match part {
            AGENT => written.parse::<Agent>().is_ok(),
            part => part == written || is_free(part),
        };
        KEYS.iter().find(|key| {
            let parts = key.name.split('.');
            parts.clone().count() == written.len() && parts.zip(written).all(is_same)
        })
    }

    /// Its name, with the user's own names from `written` if it has such, or with that of each agent;
    /// none if they do not fit.
    pub fn with_names_of(&self, written: &[String]) -> Vec<String> {
        let parts = self.name.split('.');
        if self.is_table() && parts.clone().count() != written.len() {
            return Vec::new();
        }
        let with = |agent: &str| {
            let mut own = written.iter();
            let filled = parts.clone().map(|part| match (part, own.next()) {
                (AGENT, _) => agent,
                (part, Some(own)) if is_free(part) => own,
                (part, _) => part,
            });
            filled.collect::<Vec<_>>().join(".")
        };
        if self.name.contains(AGENT) {
            return Agent::ALL.map(|agent| with(agent.as_str())).to_vec();
        }
        vec![with("")]
    }

    /// Whether it takes several values.
    pub fn is_list(&self) -> bool {
        self.values.contains("a list")
    }

    /// Whether the user chooses a part of its name.
    pub fn is_table(&self) -> bool {
        self.name.split('.').any(is_free)
    }
}

fn is_free(part: &str) -> bool {
    matches!(part, "NAME" | "GLOB" | AGENT)
}

const fn key(name: &'static str, values: &'static str, about: &'static str) -> ConfigKey {
    ConfigKey {
        name,
        values,
        about,
    }
}

const FLAG: &str = "`true` or `false`";
const NUMBER: &str = "a number";
const POSITIVE: &str = "a number above 0";
const SECONDS: &str = "a number of seconds";
const TOOLS: &str = "a list of tools, such as `Read,Bash(git:*)`";

/// All keys, sorted; those with names chosen by the user last.
#[rustfmt::skip]
pub static KEYS: &[ConfigKey] = &[
    key("always_allowed", TOOLS, "tools that no restriction forbids"),
    key("audit.output_bytes", NUMBER, "how many bytes of each script's output are logged"),
    key("create_skill", FLAG, "whether a model may propose new skills"),
    key("deactivate", "`user` or `model`", "who may unload a skill that restricts"),
    key("deny", TOOLS, "tools that are denied while any skill is active"),
    key("enforce", "`restrict`, `warn` or `off`", "what happens to a call that the active skill does not allow"),
    key("environment", "a text", "what this machine is for: for skills with a `scope`, and the audit log"),
    key("max_active", POSITIVE, "how many skills may be active at a time"),
    key("model_installs", "`sources`, `any` or `off`", "what a model may install without asking you"),
    key("network", "`open` or `restricted`", "the network access of a confined script"),
    key("pass_env", "`all` or a list of names", "the environment variables that scripts get"),
    key("proposals", FLAG, "whether a model may propose changes to skills"),
    key("sandbox", "`off`, `auto` or `require`", "whether scripts are confined (Linux)"),
    key("scope", "`prompt` or `context`", "how long a skill stays active: for the prompt, or the conversation"),
    key("script_reads", "`note` or `block`", "what happens when a script of the active skill is read, not run"),
    key("script_seconds", SECONDS, "how long a script may run"),
    key("scripts", "`own`, `listed` or `any`", "whose scripts a skill that restricts may run"),
    key("stacking", "`replace` or `intersect`", "how the restrictions of two active skills combine"),
    key("tenant", "a text", "who owns this machine: for skills with a `scope`, and the audit log"),
    key("unattended", FLAG, "whether commands without a terminal may decide for you"),
    key("catalog.GLOB", "a list of names or globs", "which skills a context sees"),
    key("signing.require", "`none`, `known` or `listed`", "how every skill has to be signed"),
    key("signing.sources.GLOB.require", "`none`, `known` or `listed`", "how skills of a source have to be signed"),
    key("signing.sources.GLOB.principals", "a list of names", "who may sign skills of a source"),
    key("hosts.AGENT.mode", "`restrict`, `grant`, `both` or `ask`", "what a skill's list means in another agent, such as `claude-code`"),
    key("skills.NAME.allow", TOOLS, "what is granted besides what one skill's own list grants"),
    key("skills.NAME.allowed_paths", "a list of directories", "where else the confined scripts of one skill may write"),
    key("skills.NAME.network", "`open` or `restricted`", "`network` for the scripts of one skill"),
    key("skills.NAME.pass_env", "`all` or a list of names", "`pass_env` for the scripts of one skill"),
    key("skills.NAME.sandbox", "`off`, `auto` or `require`", "`sandbox` for the scripts of one skill"),
    key("uses_skills.GLOB", "a list of skills", "which skills are always on in a context"),
    key("visibility.NAME", "`on`, `name-only`, `user` or `off`", "who sees a skill"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Config, parse_toml, parts};

    /// Whether the configuration accepts the key with this value.
    fn accepts(key: &ConfigKey, value: &str) -> bool {
        let name = key
            .name
            .replace("GLOB", "\"ops*\"")
            .replace("NAME", "pdf")
            .replace("AGENT", "claude-code");
        parse_toml::<Config>(&format!("{name} = {value}")).is_ok()
    }

    #[test]
    fn each_key_takes_the_values_it_names_and_no_other() {
        for key in KEYS {
            let words: Vec<&str> = key.values.split('`').skip(1).step_by(2).collect();
            match key.values {
                FLAG => assert!(accepts(key, "true") && accepts(key, "false"), "{key:?}"),
                NUMBER | POSITIVE | SECONDS => assert!(accepts(key, "7"), "{key:?}"),
                "a text" => assert!(accepts(key, "\"x\""), "{key:?}"),
                _ if key.is_list() => assert!(accepts(key, "[\"Read\"]"), "{key:?}"),
                _ => {
                    let mut words = words.iter();
                    assert!(
                        words.all(|word| accepts(key, &format!("{word:?}"))),
                        "{key:?}"
                    );
                }
            }
            assert!(!accepts(key, "{ a = {} }"), "{key:?}");
        }
    }

    #[test]
    fn the_documentation_has_the_same_keys() {
        let text = include_str!("../../../docs/configuration.md");
        let table = text.lines().filter(|line| line.starts_with("| `"));
        let table: Vec<&str> = table.map_while(|line| line.split(" | ").next()).collect();
        let documented = |name: &str| table.iter().any(|cell| cell.contains(&format!("`{name}`")));
        for key in KEYS {
            let name = key.name.trim_end_matches(".GLOB");
            assert!(documented(name), "{name}");
        }
    }

    #[test]
    fn every_accepted_key_is_here() {
        for table in ["", "audit.", "skills.x.", "signing."] {
            let refused = toml::from_str::<Config>(&format!("{table}nonsense = 1")).unwrap_err();
            let (_, accepted) = refused.message().split_once("expected").unwrap();
            for key in accepted.split('`').skip(1).step_by(2) {
                let table = table.replace(".x", ".NAME");
                let key = format!("{table}{key}");
                let is_documented = |known: &ConfigKey| {
                    known.name == key || known.name.starts_with(&format!("{key}."))
                };
                assert!(KEYS.iter().any(is_documented), "{key}");
            }
        }
    }

    #[test]
    fn a_key_is_found_with_the_users_own_names_in_it() {
        let name = |written: &str| ConfigKey::find(&parts(written)).map(|key| key.name);
        assert_eq!(name("scope"), Some("scope"));
        assert_eq!(name("skills.pdf.sandbox"), Some("skills.NAME.sandbox"));
        assert_eq!(name("skills.pdf"), None);
        assert_eq!(name("hosts.codex.mode"), Some("hosts.AGENT.mode"));
        assert_eq!(name("hosts.codx.mode"), None);
        assert_eq!(name("scpe"), None);
        let of_source = "signing.sources.\"github.com/acme/*\".require";
        assert_eq!(name(of_source), Some("signing.sources.GLOB.require"));
        assert_eq!(name("signing.sources.require"), None);
    }
}
