//! The scan's rules for text, as one table of words and regular expressions
//! (docs/spec/references.md#the-scan). Pure.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::Severity::{Block, High, Note, Warn};
use super::lines::Line;
use super::rule::ScanRule;

/// Maximum number of findings of one kind per file; more would add nothing.
pub const EACH: usize = 3;
/// Hosts to which anybody can send data.
const DROP_HOSTS: &str = "webhook.site|ngrok.io|ngrok-free.app|pastebin.com|glot.io|requestbin|\
     pipedream.net|discord.com/api/webhooks|api.telegram.org/bot|transfer.sh|interact.sh|\
     burpcollaborator";
/// What sends data, besides the names of those hosts.
const SENDS: &str = r"(?:requests|httpx|axios)\.post\(|urllib\.request\.urlopen\(|\| nc |
    invoke-restmethod -method post|fetch\(.*post|post.*fetch\(|
    curl (?:(?:.* )?(?:-d |--data|-[ft] )|.*(?:-x ?post|--upload-file))|
    (?: (?:-d |--data|-[ft] )|-x ?post|--upload-file).*curl ";

/// Words that are in all of it.
const SENDERS: &str = ".post(|urlopen(| nc |method post|fetch(|curl ";

/// All rules for text. The words before a pattern are what all its matches have; finding words is
/// ten times as fast.
pub static RULES: LazyLock<Vec<ScanRule>> = LazyLock::new(|| {
    vec![
        ScanRule::new("bidi", Block, "has characters that show text in another order")
            .has(
                "\u{202a}|\u{202b}|\u{202c}|\u{202d}|\u{202e}|\u{2066}|\u{2067}|\u{2068}|\u{2069}",
            ),
        ScanRule::new("pipe-to-shell", Warn, "runs what it downloads")
            .reaches()
            .has("curl|wget|irm |iwr |invoke-webrequest")
            // Without a word behind it, it downloads what `xargs` or a variable names, or nothing.
            .besides(
                "{data}",
                r"(?:(?:curl|wget|irm|iwr) [^|]|(?:xargs.*|[$@%].?)(?:curl|wget)|invoke-webrequest).*
                (?:{shell})|{runs}(?:curl|wget) ",
            ),
        ScanRule::new("decoded-to-shell", Block, "runs what it decodes from base64")
            .reaches()
            .has("base64 -|base64 --|xxd -|openssl ")
            .besides("{json}", r"{decodes}.*(?:{shell})|{runs}[^)]*{decodes}"),
        ScanRule::new(
            "fake-prerequisite",
            High,
            "has a download with a password, or a command to paste",
        )
            .has(".zip|.rar|.7z|.exe|.dmg|.msi|/releases/download/")
            .on(r"{url}(?:\.(?:zip|rar|7z|exe|dmg|msi)|/releases/download/)")
            .near("password:|pass:|password is|password `|using pass")
            .near("extract|unzip|archive|.zip|.rar|.7z|download"),
        ScanRule::new(
            "fake-prerequisite",
            High,
            "has a download with a password, or a command to paste",
        )
            .has("glot.io|pastebin.com|rentry.")
            .on(r"{url}(?:glot\.io|pastebin\.com|rentry\.)")
            .near("terminal|paste|execute|run the"),
        ScanRule::new("raw-address", Warn, "has a URL of a bare address")
            .has("://0|://1|://2|://3|://4|://5|://6|://7|://8|://9")
            .on(r"https?://(\d+\.\d+\.\d+\.\d+)(?:[/:]|{end})"),
        ScanRule::new("program-url", Warn, "links to a program to download")
            .has(".exe|.dmg|.pkg|.msi")
            .has("://")
            .on(r"{path}\.(?:exe|dmg|pkg|msi){end}"),
        ScanRule::new("override", Warn, "tells the model to ignore its instructions")
            .has(" instructions")
            .has("ignore |disregard |forget ")
            .on(r"(?:ignore|disregard|forget) (?:all )?
                (?:previous|prior|all other|earlier|above) instructions"),
        ScanRule::new("secrecy", Warn, "tells the model to keep something from its user")
            .has(" the user")
            .has("not |don't |never ")
            .has("tell |mention |reveal |show |inform ")
            .on(
                r"(?:do not|don't|never) (?:tell (?:(?:this|it) to )?the user(?: about|\.)|
                (?:mention|reveal|show|inform) (?:(?:this|it) to )?the user)",
            ),
        ScanRule::new("fake-tag", Warn, "has a tag that stands for the system's words")
            .in_scripts(Note)
            .has("system>|inst]|im_start|skill_content>")
            .on(r"</?system>|\[/?inst\]|<\|im_start\|>|</skill_content>"),
        ScanRule::new("reverse-shell", Warn, "opens a shell to another machine")
            .in_scripts(High)
            .reaches()
            .has("/dev/tcp/|nc -e |ncat -e |nc -c ")
            // Whether a port answers is seen by a connection that carries nothing, and that is closed.
            .besides(
                r#"(?:(?:^|[;&|({!`"']) ?|\b(?:if|then|do|else|until|while) )
                (?:echo|:|true|cat ?< ?/dev/null) ?> ?{tcp}["']*{quiet}["']* ?(?:[`);&|\],]|$)|
                (?:[^\\]; ?|(?:&&|\|\|) |(?:^|[^$<>\\])\( ?)[<>] ?{tcp}{quiet}["']* ?(?:[`);&|]|$)|
                (?:\(exec [0-9]+<>|-c ["'](?:exec [0-9]+<>|[<>])) ?{tcp}{quiet}(?:\)|["'](?:[ `);&|>\],]|$))"#,
                "/dev/tcp/|nc -e |ncat -e |nc -c ",
            ),
        ScanRule::new("drop-host", Warn, "names a host that anybody can send to")
            .has(DROP_HOSTS),
        ScanRule::new("secrets-sent", Warn, "reads secrets, and the same file sends data away")
            .in_scripts(High)
            .has(
                ".ssh/id_|~/.ssh/*|.aws/credentials|.netrc|.kube/config|login.keychain|wallet.dat|\
                 .config/gcloud|.docker/config.json|.gnupg/",
            )
            .unless("ssh-keygen|ssh-add|ssh -i|identityfile")
            .anywhere(DROP_HOSTS, SENDERS, SENDS),
        ScanRule::new("remote-instructions", Warn, "has the model follow a text that can change")
            .in_scripts(Note)
            .has("follow|obey|execute the instructions")
            .has("fetch |read |download |curl ")
            .has("://")
            .on(r"{path}\.(?:md|txt){end}"),
        ScanRule::new("persistence", Warn, "makes something run again later")
            .has(
                "crontab -|launchctl load|authorized_keys|systemctl enable|\
                 >> ~/.bashrc|>> ~/.zshrc|>> ~/.profile",
            )
            // What only names the file with the keys adds none.
            .on(r"crontab -(?:[^a-z]|$)|launchctl load|systemctl enable|>> ~/|
                (?:>|tee|add|append|write|cp|mv|put|copy|paste|install|open\(|curl|wget|rsync|sponge|rename|replace|
                \b(?:of=|ln -|move|sed -[a-z-]*i)).*authorized_keys|
                authorized_keys.*(?:<<|append|write|\b[wa]\b)"),
        ScanRule::new("bypass", Warn, "turns a client's permission checks off")
            .has("--dangerously-skip-permissions|--yolo|--dangerously-bypass"),
        ScanRule::new("quarantine", High, "turns the system's protection off")
            .has("com.apple.quarantine|spctl --master-disable|disablerealtimemonitoring")
            .unless("xattr -p")
            .besides(
                r#"com\.apple\.quarantine (?:"{brew}{below}"|(?:{brew}|"{brew}"){below})(?: ?(?:[;&|)`]|$)| \#)"#,
                r"com\.apple\.quarantine|spctl --master-disable|disablerealtimemonitoring|xargs.*  ",
            ),
        ScanRule::new("quarantine", Warn, "turns the system's protection off")
            .has("com.apple.quarantine")
            .has("$(brew --prefix"),
        ScanRule::new("secret", Warn, "seems to contain a secret")
            .has("akia|ghp_|github_pat_|sk-ant-|xoxb-")
            .on(r"akia(\w{16,})|ghp_(\w{36,})|github_pat_(\w{40,})|
                (?:sk-ant-|xoxb-)(\w{30,})"),
        ScanRule::new(
            "load-command",
            Warn,
            "has a command that some clients run when the skill is loaded",
        )
            .in_scripts(Note)
            .has("!`")
            .on("^ *!`"),
        ScanRule::new("agent-files", Note, "writes what instructs or configures agents")
            .has("> claude.md|> agents.md|soul.md|settings.json")
            .besides(
                r"[0-9&]?>[>|]? ?(?:&[0-9-]|/dev/(?:null|std(?:out|err)|tty)(?:[^a-z0-9/]|$))",
                ">|write|append|edit",
            ),
        ScanRule::new("sudo", Note, "runs something as the administrator")
            .has("sudo")
            // Before a comment it is a package's name in a list.
            .on(r"(?:^|[^a-z0-9])sudo(?:[^a-z0-9 ]|$| (?:[^\\]|$|\\(?:[^ ]| ?$)))"),
        ScanRule::new("no-tls-check", Note, "does not verify certificates")
            .has("verify=false|curl -k |--insecure|node_tls_reject_unauthorized")
            .besides(
                r#"(?:grep|rg) (?:-[^ ]+ )*(?:"[^"]*"|'[^']*'|[^ ]+)"#,
                "verify=false|curl -k |--insecure|node_tls_reject_unauthorized",
            ),
        ScanRule::new("environment", Note, "reads the whole environment")
            .has("env |(os.environ|process.env)")
            .on(r"(?:^|[^a-z0-9_-]|print)env [|>]|dict\(os\.environ\)|json\.dumps\(os\.environ|
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

#[cfg(test)]
thread_local! {
    /// How often all rules were looked for together.
    pub static PASSES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What the rules find, in the order of the lines: of each the line's index, the indexes of further
/// lines that are judged with it, and the rule. One pass over the lines finds the words; a rule then
/// looks only at lines that have one of its own.
pub fn find_all(lines: &[Line]) -> Vec<(usize, Vec<usize>, &'static ScanRule)> {
    #[cfg(test)]
    PASSES.set(PASSES.get() + 1);
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

#[cfg(test)]
mod tests;
