//! The scan's rules for text, as one table of words and regular expressions
//! (docs/spec/references.md#the-scan). Pure.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_lite::Regex;

use super::Severity::{self, Block, High, Note, Warn};
use super::finding::Kind;
use super::lines::Line;
use crate::sys::text::has_any;

/// Maximum number of findings of one kind per file; more would add nothing.
pub const EACH: usize = 3;
/// The maximum distance of lines that count as neighbours.
const NEAR: usize = 5;

/// Hosts to which anybody can send data.
const DROP_HOSTS: &str = "webhook.site|ngrok.io|ngrok-free.app|pastebin.com|glot.io|requestbin|\
     pipedream.net|discord.com/api/webhooks|api.telegram.org/bot|transfer.sh|interact.sh|\
     burpcollaborator";
/// What sends data, besides the names of those hosts.
const SENDS: &str = r"(?:requests|httpx|axios)\.post\(|urllib\.request\.urlopen\(|\| nc |
    invoke-restmethod -method post|fetch\(.*post|post.*fetch\(|
    curl (?:(?:.* )?(?:-d |--data|-[ft] )|.*(?:-x ?post|--upload-file))|
    (?: (?:-d |--data|-[ft] )|-x ?post|--upload-file).*curl ";

/// Parts that several patterns share.
const SHARED: [(&str, &str); 7] = [
    ("{url}", r#"https?://[^ "'`<>)\]|]*"#),
    // A URL up to its query, and what may follow the path.
    ("{path}", r#"https?://[^ "'`<>)\]|?#]*"#),
    ("{end}", r#"(?:[?#]|[.,]*(?:[ "'`<>)\]|]|$))"#),
    // A pipe into an interpreter, directly or with `sudo` and other programs that start one.
    (
        "{shell}",
        r#"\|[ `"');&]*(?:(?:[^ `"');&|]*/)?(?:sudo|env|exec|command|nohup|nice)(?:[ `"');&]+-[^ |]*)*[ `"');&]+)*
        (?:[^ `"');&|]*/)?(?:{shells}|iex|python3?|node|perl|ruby|php|powershell|pwsh)(?:[ `"');&|]|$)"#,
    ),
    // An interpreter of what a command prints.
    (
        "{runs}",
        r#"(?:^|[^a-z0-9_.-])(?:eval|(?:{shells})(?: -[a-z]*c|)|source|\.) *(?:<? ?<\(|<<< ?["']?(?:\$\(|`)|["']?(?:\$\(|`)) *"#,
    ),
    (
        "{decodes}",
        r"(?:base64 (?:-[a-z]+ )*(?:-[a-z]*d|--decode)|xxd (?:-[a-z]+ )*-[a-z]*r|openssl (?:enc|base64)[^|]* -d)",
    ),
    ("{shells}", "(?:ba|z|da|k|mk|a|fi)?sh"),
];

/// All rules for text. The words before a pattern are what all its matches have; finding words is
/// ten times as fast.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    vec![
        Rule::new("bidi", Block)
            .means("has characters that show text in another order")
            .has(
                "\u{202a}|\u{202b}|\u{202c}|\u{202d}|\u{202e}|\u{2066}|\u{2067}|\u{2068}|\u{2069}",
            ),
        Rule::new("pipe-to-shell", Warn)
            .reaches()
            .means("runs what it downloads")
            .has("curl|wget|irm |iwr |invoke-webrequest")
            .on(r"(?:(?:curl|wget|irm|iwr) |invoke-webrequest).*{shell}|{runs}(?:curl|wget) "),
        Rule::new("decoded-to-shell", Block)
            .reaches()
            .means("runs what it decodes from base64")
            .has("base64 -|base64 --|xxd -|openssl ")
            .on(r"{decodes}.*{shell}|{runs}[^)]*{decodes}"),
        Rule::new("fake-prerequisite", High)
            .means("has a download with a password, or a command to paste")
            .has(".zip|.rar|.7z|.exe|.dmg|.msi|/releases/download/")
            .on(r"{url}(?:\.(?:zip|rar|7z|exe|dmg|msi)|/releases/download/)")
            .near("password:|pass:|password is|password `|using pass")
            .near("extract|unzip|archive|.zip|.rar|.7z|download"),
        Rule::new("fake-prerequisite", High)
            .means("has a download with a password, or a command to paste")
            .has("glot.io|pastebin.com|rentry.")
            .on(r"{url}(?:glot\.io|pastebin\.com|rentry\.)")
            .near("terminal|paste|execute|run the"),
        Rule::new("raw-address", Warn)
            .means("has a URL of a bare address")
            .has("://")
            .on(r"https?://(\d+\.\d+\.\d+\.\d+)(?:[/:]|{end})"),
        Rule::new("program-url", Warn)
            .means("links to a program to download")
            .has(".exe|.dmg|.pkg|.msi")
            .on(r"{path}\.(?:exe|dmg|pkg|msi){end}"),
        Rule::new("override", Warn)
            .means("tells the model to ignore its instructions")
            .has(" instructions")
            .on(r"(?:ignore|disregard|forget) (?:all )?
                (?:previous|prior|all other|earlier|above) instructions"),
        Rule::new("secrecy", Warn)
            .means("tells the model to keep something from its user")
            .has(" the user")
            .on(
                r"(?:do not|don't|never) (?:tell (?:(?:this|it) to )?the user(?: about|\.)|
                (?:mention|reveal|show|inform) (?:(?:this|it) to )?the user)",
            ),
        Rule::new("fake-tag", Warn)
            .in_scripts(Note)
            .means("has a tag that stands for the system's words")
            .has("system>|inst]|im_start|skill_content>")
            .on(r"</?system>|\[/?inst\]|<\|im_start\|>|</skill_content>"),
        Rule::new("reverse-shell", Warn)
            .in_scripts(High)
            .means("opens a shell to another machine")
            .has("/dev/tcp/|nc -e |ncat -e |nc -c "),
        Rule::new("drop-host", Warn)
            .means("names a host that anybody can send to")
            .has(DROP_HOSTS),
        Rule::new("secrets-sent", Warn)
            .in_scripts(High)
            .means("reads secrets, and the same file sends data away")
            .has(
                ".ssh/id_|~/.ssh/*|.aws/credentials|.netrc|.kube/config|login.keychain|wallet.dat|\
                 .config/gcloud|.docker/config.json|.gnupg/",
            )
            .unless("ssh-keygen|ssh-add|ssh -i|identityfile")
            .anywhere(&format!("{}|{SENDS}", DROP_HOSTS.replace('.', r"\."))),
        Rule::new("remote-instructions", Warn)
            .in_scripts(Note)
            .means("has the model follow a text that can change")
            .has("follow|obey|execute the instructions")
            .has("fetch |read |download |curl ")
            .on(r"{path}\.(?:md|txt){end}"),
        Rule::new("persistence", Warn)
            .means("makes something run again later")
            .has(
                "crontab -|launchctl load|authorized_keys|systemctl enable|\
                 >> ~/.bashrc|>> ~/.zshrc|>> ~/.profile",
            ),
        Rule::new("bypass", Warn)
            .means("turns a client's permission checks off")
            .has("--dangerously-skip-permissions|--yolo|--dangerously-bypass"),
        Rule::new("quarantine", High)
            .means("turns the system's protection off")
            .has("com.apple.quarantine|spctl --master-disable|disablerealtimemonitoring")
            .unless("xattr -p"),
        Rule::new("secret", Warn)
            .means("seems to contain a secret")
            .has("akia|ghp_|github_pat_|sk-ant-|xoxb-")
            .on(r"akia(\w{16,})|ghp_(\w{36,})|github_pat_(\w{40,})|
                (?:sk-ant-|xoxb-)(\w{30,})"),
        Rule::new("load-command", Warn)
            .in_scripts(Note)
            .means("has a command that some clients run when the skill is loaded")
            .has("!`")
            .on("^ *!`"),
        Rule::new("agent-files", Note)
            .means("writes what instructs or configures agents")
            .has("> claude.md|> agents.md|soul.md|settings.json")
            .has(">|write|append|edit"),
        Rule::new("sudo", Note)
            .means("runs something as the administrator")
            .has("sudo")
            .on("(?:^|[^a-z0-9])sudo(?:[^a-z0-9]|$)"),
        Rule::new("no-tls-check", Note)
            .means("does not check whom it talks to")
            .has("verify=false|curl -k |--insecure|node_tls_reject_unauthorized"),
        Rule::new("environment", Note)
            .means("reads the whole environment")
            .has("env")
            .on(r"env [|>]|dict\(os\.environ\)|json\.dumps\(os\.environ|
                json\.stringify\(process\.env\)")
            .unless("grep"),
    ]
});

/// The words that rules need, in one automaton, and for each word the rule.
static WORDS: LazyLock<(AhoCorasick, Vec<usize>)> = LazyLock::new(|| {
    let rules = RULES.iter().enumerate();
    let words = rules.flat_map(|(at, rule)| rule.words().map(move |word| (word, at)));
    let (words, of): (Vec<&str>, Vec<usize>) = words.unzip();
    let automaton = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(words);
    (automaton.expect("there are few words"), of)
});

/// What the rules find, in the order of the lines: of each the line's index, the indexes of further
/// lines that are judged with it, and the rule. One pass over the lines finds the words; a rule then
/// looks only at lines that have one of its own.
pub fn find_all(lines: &[Line]) -> Vec<(usize, Vec<usize>, &'static Rule)> {
    let (automaton, of) = &*WORDS;
    let mut looked = vec![Vec::new(); RULES.len()];
    for (at, line) in lines.iter().enumerate() {
        for found in automaton.find_overlapping_iter(&*line.normal) {
            let rule: &mut Vec<usize> = &mut looked[of[found.pattern().as_usize()]];
            if rule.last() != Some(&at) {
                rule.push(at);
            }
        }
    }
    let found = RULES.iter().zip(looked).flat_map(|(rule, looked)| {
        let found = rule.find(lines, &looked).into_iter();
        found.map(move |(at, more)| (at, more, rule))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(at, ..)| *at);
    found
}

/// A rule for a line of a text.
#[derive(Debug)]
pub struct Rule {
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// In a text, and in a script.
    severities: [Severity; 2],
    message: &'static str,
    /// Whether its patterns reach over a line of any length.
    reaches: bool,
    tests: Vec<Test>,
}

/// What a rule looks for. Words are separated by `|`; one of them has to be there.
#[derive(Debug)]
enum Test {
    /// On the line.
    Has(&'static str),
    /// On the line.
    On(Regex),
    /// Not on the line.
    Unless(&'static str),
    /// On the line or a neighbouring one.
    Near(&'static str),
    /// On any line of the text. The rule then reports one line only.
    Anywhere(Regex),
}

impl Rule {
    fn new(code: &'static str, severity: Severity) -> Self {
        Self {
            code,
            severities: [severity; 2],
            message: "",
            reaches: false,
            tests: Vec::new(),
        }
    }

    fn in_scripts(mut self, severity: Severity) -> Self {
        self.severities[1] = severity;
        self
    }

    fn reaches(self) -> Self {
        Self {
            reaches: true,
            ..self
        }
    }

    fn means(self, message: &'static str) -> Self {
        Self { message, ..self }
    }

    fn has(self, words: &'static str) -> Self {
        self.with(Test::Has(words))
    }

    fn on(self, text: &str) -> Self {
        self.with(Test::On(pattern(text)))
    }

    fn unless(self, words: &'static str) -> Self {
        self.with(Test::Unless(words))
    }

    fn near(self, words: &'static str) -> Self {
        self.with(Test::Near(words))
    }

    fn anywhere(self, text: &str) -> Self {
        self.with(Test::Anywhere(pattern(text)))
    }

    fn with(mut self, test: Test) -> Self {
        self.tests.push(test);
        self
    }

    /// What it finds in a text, or in a script.
    pub fn kind(&self, script: bool) -> Kind {
        let severity = self.severities[usize::from(script)];
        (severity, self.code, self.message)
    }

    /// The words of which it needs one on a line.
    fn words(&self) -> impl Iterator<Item = &'static str> {
        let words = self.tests.iter().find_map(|test| match test {
            Test::Has(words) => Some(words.split('|')),
            _ => None,
        });
        words.into_iter().flatten()
    }

    /// The indexes of the lines that it reports among those `looked` at, each with those of further
    /// lines that it judges with it.
    pub fn find(&self, lines: &[Line], looked: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let passes = |at: &usize| {
            let Line {
                normal: line,
                extent,
                ..
            } = &lines[*at];
            let is_for = if self.reaches {
                extent.is_command()
            } else {
                extent.is_near()
            };
            let near = &lines[at.saturating_sub(NEAR)..lines.len().min(at + NEAR + 1)];
            let near = || near.iter().filter(|near| near.extent.is_near());
            is_for
                && self.tests.iter().all(|test| match test {
                    Test::Has(words) => has_any(line, words),
                    Test::On(regex) => self.is_on(regex, line),
                    Test::Unless(words) => !has_any(line, words),
                    Test::Near(words) => near().any(|near| has_any(&near.normal, words)),
                    Test::Anywhere(_) => true,
                })
        };
        let found = looked.iter().copied().filter(passes);
        let Some(Test::Anywhere(regex)) = self.tests.last() else {
            return found.map(|at| (at, Vec::new())).collect();
        };
        let mut found: Vec<usize> = found.collect();
        if found.is_empty() {
            return Vec::new();
        }
        let first = found.remove(0);
        let anywhere = |line: &Line| line.extent.is_whole() && regex.is_match(&line.normal);
        let before = found.len();
        found.extend((0..lines.len()).filter(|at| anywhere(&lines[*at])));
        let is_found = found.len() > before;
        is_found.then_some((first, found)).into_iter().collect()
    }

    /// Whether a pattern matches and, if it captures something, that is what it looks like.
    fn is_on(&self, regex: &Regex, line: &str) -> bool {
        if regex.captures_len() == 1 {
            return regex.is_match(line);
        }
        let mut captured = regex.captures_iter(line);
        captured.any(|groups| {
            let mut texts = groups.iter().skip(1).flatten();
            texts.any(|text| match self.code {
                "raw-address" => text.as_str().parse().is_ok_and(is_public),
                // A placeholder repeats a few characters.
                _ => text.as_str().chars().collect::<BTreeSet<_>>().len() > 8,
            })
        })
    }
}

/// Compiles a pattern; its line breaks and indentation do not count.
fn pattern(text: &str) -> Regex {
    let whole = SHARED.iter().fold(text.to_owned(), |text, (name, part)| {
        text.replace(name, part)
    });
    let whole: String = whole.lines().map(str::trim_start).collect();
    Regex::new(&whole).expect("a test compiles every pattern")
}

fn is_public(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_unspecified()
        || address.is_documentation()
        || address.is_link_local()
        || address.is_broadcast())
}

#[cfg(test)]
mod tests;
