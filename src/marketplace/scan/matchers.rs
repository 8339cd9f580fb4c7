//! Tests of a lowercase line for the rules and for the scan of a whole text. Pure.

use std::collections::BTreeSet;

const INTERPRETERS: [&str; 10] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "iex",
    "python",
    "python3",
    "node",
    "perl",
    "powershell",
];

const DROP_HOSTS: [&str; 12] = [
    "webhook.site",
    "ngrok.io",
    "ngrok-free.app",
    "pastebin.com",
    "glot.io",
    "requestbin",
    "pipedream.net",
    "discord.com/api/webhooks",
    "api.telegram.org/bot",
    "transfer.sh",
    "interact.sh",
    "burpcollaborator",
];

const SECRETS: [&str; 10] = [
    ".ssh/id_",
    "~/.ssh/*",
    ".aws/credentials",
    ".netrc",
    ".kube/config",
    "login.keychain",
    "wallet.dat",
    ".config/gcloud",
    ".docker/config.json",
    ".gnupg/",
];

const DUMPS: [&str; 7] = [
    "printenv |",
    "env |",
    "dict(os.environ)",
    "json.dumps(os.environ",
    "json.stringify(process.env)",
    "printenv >",
    "env >",
];

const CURL_SENDS: [&str; 7] = [
    " -d ",
    " --data",
    " -f ",
    " -t ",
    "-x post",
    "--upload-file",
    "-xpost",
];

const SENDS: [&str; 6] = [
    "requests.post(",
    "httpx.post(",
    "axios.post(",
    "urllib.request.urlopen(",
    "| nc ",
    "invoke-restmethod -method post",
];

/// Whether a download is passed to an interpreter.
pub fn downloads_to_shell(line: &str) -> bool {
    let fetches = ["curl ", "wget ", "irm ", "iwr ", "invoke-webrequest"];
    let piped = pipes_from(line, &fetches);
    let nested = [
        "bash <(curl",
        "sh <(curl",
        "sh -c \"$(curl",
        "sh -c '$(curl",
        "bash -c \"$(curl",
        "eval \"$(curl",
        "source <(curl",
        "bash <(wget",
    ];
    piped || has_any(line, &nested)
}

/// Whether something in the line is piped into an interpreter.
fn pipes_to_shell(line: &str) -> bool {
    line.split('|').skip(1).any(|stage| {
        let words = stage.split(|c: char| c.is_whitespace() || "`\"');&".contains(c));
        let mut words = words.filter(|word| !word.is_empty() && *word != "sudo");
        let program = words.next().and_then(|word| word.rsplit('/').next());
        program.is_some_and(|program| INTERPRETERS.contains(&program))
    })
}

/// Whether decoded base64 is passed to an interpreter.
pub fn decodes_to_shell(line: &str) -> bool {
    pipes_from(line, &["base64 -d", "base64 --decode", "base64 -di"])
}

/// Whether something after one of the words is piped into an interpreter.
fn pipes_from(line: &str, words: &[&str]) -> bool {
    let mut found = words.iter().filter_map(|word| line.find(word));
    found.any(|at| pipes_to_shell(&line[at..]))
}

/// Whether the line names a host to which anyone can send data.
pub fn is_drop_host(line: &str) -> bool {
    has_any(line, &DROP_HOSTS)
}

/// Whether the line sends data.
pub fn sends(line: &str) -> bool {
    line.contains("curl ") && has_any(line, &CURL_SENDS)
        || has_any(line, &SENDS)
        || line.contains("fetch(") && line.contains("post")
}

/// Whether the line reads secrets.
pub fn reads_secrets(line: &str) -> bool {
    has_any(line, &SECRETS) && !has_any(line, &["ssh-keygen", "ssh-add", "ssh -i", "identityfile"])
}

/// Whether the line reads the whole environment.
pub fn dumps_environment(line: &str) -> bool {
    has_any(line, &DUMPS) && !line.contains("grep")
}

/// Whether a URL of the line has a bare public IP address as its host.
pub fn has_raw_address(line: &str) -> bool {
    any_url(line, |url| {
        let host = url.split("://").nth(1).unwrap_or_default();
        let host = host.split(['/', ':', '?']).next().unwrap_or_default();
        host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| {
            !(address.is_private()
                || address.is_loopback()
                || address.is_unspecified()
                || address.is_documentation()
                || address.is_link_local()
                || address.is_broadcast())
        })
    })
}

/// Whether the line contains what looks like a working key.
pub fn has_secret(line: &str) -> bool {
    let long = |start: &str, length: usize| {
        line.match_indices(start).any(|(at, _)| {
            let rest = line[at + start.len()..].chars();
            let key = rest.take_while(|c| c.is_ascii_alphanumeric() || *c == '_');
            let key: Vec<char> = key.collect();
            let varied = key.iter().collect::<BTreeSet<_>>().len();
            key.len() >= length && varied > 8
        })
    };
    long("akia", 16)
        || long("ghp_", 36)
        || long("github_pat_", 40)
        || long("sk-ant-", 30)
        || long("xoxb-", 30)
}

/// Whether any URL of the line passes a test.
pub fn any_url(line: &str, test: impl Fn(&str) -> bool) -> bool {
    let starts = line.match_indices("http").map(|(at, _)| &line[at..]);
    starts
        .filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"))
        .any(|rest| {
            let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>)]|".contains(c));
            test(rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',']))
        })
}

/// Whether the path of a URL has one of the endings.
pub fn ends_with_any(url: &str, ends: &[&str]) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    ends.iter().any(|end| path.ends_with(end))
}

/// Whether the line contains one of the words.
pub fn has_any(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}
