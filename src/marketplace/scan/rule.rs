//! One rule of the scan: the words and patterns that it needs on a line, near it or in the same text.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use regex_lite::Regex;

use super::Severity;
use super::finding::FindingKind;
use super::lines::Line;
use crate::sys::text::has_any;

/// The maximum distance of lines that count as neighbours.
const NEAR: usize = 5;

/// Parts that several patterns share.
const SHARED: [(&str, &str); 13] = [
    ("{url}", r#"https?://[^ "'`<>)\]|]*"#),
    // A URL up to its query, and what may follow the path.
    ("{path}", r#"https?://[^ "'`<>)\]|?#]*"#),
    ("{end}", r#"(?:[?#]|[.,]*(?:[ "'`<>)\]|]|$))"#),
    // A pipe into an interpreter, directly or with `sudo` and other programs that start one.
    (
        "{shell}",
        r#"\|[ `"');&]*(?:(?:[a-z0-9_]+=[^ |]*|(?:[^ `"');&|]*/)?(?:sudo|env|exec|command|nohup|nice))(?:[ `"');&]+-[^ |]*)*[ `"');&]+)*
        (?:[^ `"');&|]*/)?(?:{shells}|iex|python3?|node|perl|ruby|php|powershell|pwsh)(?:[ `"');&|]|$)|
        \|[^|]*(?:exec|eval|system|popen) ?\(|\|[^|]*  .*(?:\b(?:subprocess|os\.|vm\b|runpy|pickle|marshal|include)|
        (?:eval|system|/ee)\b|exec|child_process|spawn|passthru|(?:require|load|\bdo)(?:_once)?[ (]*["'](?:php:|/)|
        code\.inter|`(?:\$_|\#\{)|%x[({\[]|(?:\$\(|`)cat\b|\$\(<)"#,
    ),
    // An interpreter that runs what stands behind it, and reads the pipe as data unless that is run.
    (
        "{data}",
        r#"{json}|python3? (?:-[a-hj-z]+ )*-[a-hj-z]*c |(?:node|perl|ruby) (?:-[a-hj-z]+ )*-[a-hj-z]*e |php -r |
        (?:python3?|node|perl|ruby|php) [^ -][^ ]*\.(?:py|[mc]?js|rb|pl|php)|curl (?:…|\.\.\.)[ `"']*\|"#,
    ),
    ("{json}", r"python3? (?:-[a-hj-z]+ )*-m json\.tool\b"),
    // A connection, and what keeps the words of one that fails away.
    ("{tcp}", r#"/dev/tcp(?:/<[a-z_-]+>|[^ "'`();&|<>])+"#),
    ("{quiet}", "(?: ?[0-9&]?> ?/dev/null(?: 2>&1)?)?"),
    ("{brew}", r"\$\(brew --prefix(?: [a-z0-9@+_.-]+)?\)"),
    ("{below}", "(?:/[a-z0-9@+_-][a-z0-9@+_.-]*)*"),
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

/// A rule for a line of a text.
#[derive(Debug)]
pub struct ScanRule {
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// In a text, and in a script.
    pub severities: [Severity; 2],
    /// What it says about a skill.
    pub message: &'static str,
    /// Whether its patterns reach over a line of any length.
    reaches: bool,
    /// The line needs one of them.
    words: &'static str,
    tests: Vec<Condition>,
}

/// What a rule looks for. Words are separated by `|`; one of them has to be there.
#[derive(Debug)]
enum Condition {
    /// On the line.
    Has(&'static str),
    /// On the line.
    On(Regex),
    /// On the line, and still without what the first pattern matches: two spaces are in its place, and nowhere else.
    Besides(Regex, Regex),
    /// Not on the line.
    Unless(&'static str),
    /// On the line or a neighbouring one.
    Near(&'static str),
    /// One of the first words, or one of the second and the pattern, on any line of the text. The rule then reports one line only.
    Anywhere(&'static str, &'static str, Regex),
}

impl ScanRule {
    /// A rule of this severity, in texts and in scripts.
    pub fn new(code: &'static str, severity: Severity, message: &'static str) -> Self {
        Self {
            code,
            severities: [severity; 2],
            message,
            reaches: false,
            words: "",
            tests: Vec::new(),
        }
    }

    /// Of another severity in scripts.
    #[must_use]
    pub fn in_scripts(mut self, severity: Severity) -> Self {
        self.severities[1] = severity;
        self
    }

    /// Its patterns reach over a line of any length.
    #[must_use]
    pub fn reaches(self) -> Self {
        Self {
            reaches: true,
            ..self
        }
    }

    /// Needs one of these words on the line. By those that are named first, lines are found.
    #[must_use]
    pub fn has(self, words: &'static str) -> Self {
        if self.words.is_empty() {
            return Self { words, ..self };
        }
        self.with(Condition::Has(words))
    }

    /// Needs this pattern on the line.
    #[must_use]
    pub fn on(self, text: &str) -> Self {
        self.with(Condition::On(pattern(text)))
    }

    /// Needs this pattern on the line without what `honest` matches there.
    #[must_use]
    pub fn besides(self, honest: &str, text: &str) -> Self {
        self.with(Condition::Besides(pattern(honest), pattern(text)))
    }

    /// None of these words may be on the line.
    #[must_use]
    pub fn unless(self, words: &'static str) -> Self {
        self.with(Condition::Unless(words))
    }

    /// Needs one of these words on the line or near it.
    #[must_use]
    pub fn near(self, words: &'static str) -> Self {
        self.with(Condition::Near(words))
    }

    /// Needs one of `words` on any line of the text, or one of `others` with this pattern.
    #[must_use]
    pub fn anywhere(self, words: &'static str, others: &'static str, text: &str) -> Self {
        self.with(Condition::Anywhere(words, others, pattern(text)))
    }

    fn with(mut self, test: Condition) -> Self {
        self.tests.push(test);
        self
    }

    /// What it finds in a text, or in a script.
    pub fn kind(&self, script: bool) -> FindingKind {
        let severity = self.severities[usize::from(script)];
        (severity, self.code, self.message)
    }

    /// The words by which lines are found that it has to look at.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.words.split('|')
    }

    /// The indexes of the lines that it reports among those `looked` at, which have one of its words, each with those of further
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
                    Condition::Has(words) => has_any(line, words),
                    Condition::On(regex) => self.is_on(regex, line),
                    Condition::Besides(left, on) => {
                        on.is_match(line) && matches(on, &left.replace_all(line, "  "))
                    }
                    Condition::Unless(words) => !has_any(line, words),
                    Condition::Near(words) => near().any(|near| has_any(&near.normal, words)),
                    Condition::Anywhere(..) => true,
                })
        };
        let found = looked.iter().copied().filter(passes);
        let Some(Condition::Anywhere(words, others, regex)) = self.tests.last() else {
            return found.map(|at| (at, Vec::new())).collect();
        };
        let mut found: Vec<usize> = found.collect();
        if found.is_empty() {
            return Vec::new();
        }
        let first = found.remove(0);
        let anywhere = |line: &Line| {
            let text = &*line.normal;
            let is_on = || has_any(text, others) && matches(regex, text);
            line.extent.is_whole() && (has_any(text, words) || is_on())
        };
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
            texts.any(|text| {
                let text = text.as_str();
                if self.code == "raw-address" {
                    return text.parse().is_ok_and(is_public);
                }
                // A placeholder repeats a few characters, or is a published example.
                let distinct: BTreeSet<char> = text.chars().collect();
                distinct.len() > 8 && !text.ends_with("example")
            })
        })
    }
}

#[cfg(test)]
thread_local! {
    /// How often a pattern was looked for on a line that no word of its rule chose, what is honest
    /// was left out, and a text was searched for attacks.
    pub static SLOW: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn matches(regex: &Regex, text: &str) -> bool {
    #[cfg(test)]
    SLOW.set(SLOW.get() + 1);
    regex.is_match(text)
}

/// Compiles a pattern; its line breaks and indentation do not count.
pub fn pattern(text: &str) -> Regex {
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
