//! Recognises secrets by their name or format, for logs and for the environment of scripts. It does
//! not mask anything itself.

/// Texts that mark a name as that of a secret wherever they occur in it.
const CONTAINED: [&str; 18] = [
    "secret",
    "passw",
    "passphrase",
    "passcode",
    "passkey",
    "apikey",
    "appkey",
    "authkey",
    "accesskey",
    "accountkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "credential",
    "authorization",
    "connectionstring",
];

/// Words that mark a name as that of a secret.
const WORDS: [&str; 18] = [
    "auth",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "creds",
    "dsn",
    "jwt",
    "otp",
    "pass",
    "pat",
    "pgpass",
    "pin",
    "pw",
    "pwd",
    "sas",
    "sig",
    "signature",
];

/// Word endings that mark a name as that of a secret, and words with such an ending that do not.
const ENDS: [&str; 3] = ["pass", "token", "tokens"];
const NO_SECRETS: [&str; 4] = ["bypass", "compass", "encompass", "surpass"];
/// Words with which a name is that of a number, not a secret: `max_tokens`.
const COUNTS: [&str; 10] = [
    "completion",
    "count",
    "input",
    "limit",
    "max",
    "min",
    "n",
    "num",
    "output",
    "total",
];

/// Words before `key` in the names of keys that are not secret.
const HARMLESS_KEYS: [&str; 14] = [
    "cache",
    "foreign",
    "group",
    "hot",
    "index",
    "map",
    "object",
    "partition",
    "primary",
    "public",
    "publishable",
    "row",
    "sort",
    "unique",
];

/// Services whose URL usually contains the password.
const SERVICES: [&str; 21] = [
    "amqp",
    "broker",
    "celery",
    "clickhouse",
    "cloudinary",
    "database",
    "db",
    "elasticsearch",
    "hook",
    "jdbc",
    "kafka",
    "mongo",
    "mongodb",
    "mysql",
    "pg",
    "postgres",
    "postgresql",
    "rabbitmq",
    "redis",
    "smtp",
    "webhook",
];

/// Prefixes of secrets that a service issues, with the minimum number of characters that follow:
/// published formats, as leak scanners such as gitleaks know them.
const ISSUED: [(&str, usize); 86] = [
    // GitHub, GitLab, Bitbucket and Atlassian.
    ("ghp_", 12),
    ("gho_", 12),
    ("ghu_", 12),
    ("ghs_", 12),
    ("ghr_", 12),
    ("github_pat_", 12),
    ("glpat-", 12),
    ("gldt-", 12),
    ("glrt-", 12),
    ("glcbt-", 12),
    ("glptt-", 12),
    ("glft-", 12),
    ("glsoat-", 12),
    ("ATBB", 28),
    ("ATATT3", 50),
    // Amazon, Google, Microsoft, DigitalOcean and other clouds.
    ("AKIA", 12),
    ("ASIA", 12),
    ("ABIA", 16),
    ("ACCA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("dop_v1_", 32),
    ("doo_v1_", 32),
    ("dor_v1_", 32),
    ("fo1_", 30),
    ("sbp_", 30),
    ("sb_secret_", 16),
    ("pscale_tkn_", 20),
    ("pscale_pw_", 20),
    ("dapi", 32),
    ("LTAI", 16),
    // AI models and their services.
    ("sk-", 12),
    ("hf_", 20),
    ("api_org_", 20),
    ("gsk_", 20),
    ("r8_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("nvapi-", 20),
    ("tvly-", 16),
    ("lsv2_", 20),
    ("rpa_", 20),
    ("pcsk_", 20),
    // Payment.
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("whsec_", 16),
    ("sq0atp-", 16),
    ("sq0csp-", 16),
    ("shpat_", 20),
    ("shpss_", 20),
    ("shpca_", 20),
    ("shppa_", 20),
    // Messaging and mail.
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xoxe-", 10),
    ("xoxe.", 10),
    ("xapp-", 10),
    ("SG.", 40),
    ("xkeysib-", 20),
    // Packages, builds, monitoring.
    ("npm_", 30),
    ("pypi-AgE", 30),
    ("rubygems_", 30),
    ("dckr_pat_", 16),
    ("cio", 32),
    ("pul-", 32),
    ("hvs.", 20),
    ("hvb.", 20),
    ("dp.st.", 20),
    ("dp.pt.", 20),
    ("glc_", 24),
    ("glsa_", 24),
    ("sntrys_", 20),
    ("sntryu_", 20),
    ("NRAK-", 20),
    ("lin_api_", 20),
    ("figd_", 20),
    ("PMAK-", 20),
    ("ntn_", 30),
    // Keys and signed claims themselves.
    ("AGE-SECRET-KEY-1", 20),
    ("eyJ", 12),
];

/// Parts of addresses after which everything is secret.
pub const ADDRESSES: [&str; 4] = [
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// The length of the shortest issued secret, in characters.
const SHORTEST: usize = 15;

/// How a PEM private key begins and ends.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";

/// Whether something with this name is a secret.
pub fn is_name(name: &str) -> bool {
    let words = words(name);
    let folded = words.concat();
    let word = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    // In this spelling it is the shell's directory; a variable `pwd` or `DB_PWD` is a secret.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let ends = |word: &String| {
        ENDS.iter().any(|end| word.ends_with(end)) && !NO_SECRETS.contains(&word.as_str())
    };
    CONTAINED.iter().any(|part| folded.contains(part))
        || word(&WORDS)
        || (words.iter().any(ends) && !word(&COUNTS))
        || is_key(&words)
        || (word(&["url", "uri"]) && word(&SERVICES))
        || folded == "gpgagentinfo"
        || folded == "krb5ccname"
}

/// Whether the words name a secret key; `key` alone means many things.
fn is_key(words: &[String]) -> bool {
    let mut pairs = words.windows(2);
    pairs.any(|pair| {
        matches!(pair[1].as_str(), "key" | "keys") && !HARMLESS_KEYS.contains(&pair[0].as_str())
    })
}

/// Splits a name into words: `fooBar`, `FOO_BAR` and `foo-bar` give the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphanumeric()) && words.last().is_some_and(|last| !last.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The length of the issued secret with which `text` begins.
pub fn issued(text: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.=+/~".contains(c);
    // A quick check, since most words are shorter than any issued secret.
    if !text.chars().take(SHORTEST).all(is_part) || text.len() < SHORTEST {
        return None;
    }
    ISSUED.iter().find_map(|(begins, least)| {
        let rest = text.strip_prefix(begins)?;
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let tail = &rest[..length];
        // Natural words contain neither digits nor inner capitals, and paths contain slashes.
        let is_drawn = tail.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        let dense = tail.split(['/', '.']).map(str::len).max().unwrap_or(0);
        let is_one = is_drawn && length >= *least && dense >= (*least).min(12);
        is_one.then(|| begins.len() + length)
    })
}

/// The range of the secret part of the private key with which `text` begins.
pub fn private_key(text: &str) -> Option<std::ops::Range<usize>> {
    let rest = text.strip_prefix(KEY_BEGINS)?;
    let header = rest.find("-----")?;
    if !rest[..header].contains("PRIVATE KEY") || rest[..header].contains('\n') {
        return None;
    }
    let begins = KEY_BEGINS.len() + header + "-----".len();
    let body = &text[begins..];
    let body = &body[..body.find(KEY_ENDS).unwrap_or(body.len())];
    let mut end = 0;
    // Lines that a key has: others may be commands, which nobody may hide by such a header.
    for line in body.split_inclusive('\n') {
        let is_part = |word: &str| {
            let is_field = |c: char| c.is_ascii_alphanumeric() || "+/=\\,:-".contains(c);
            let is_alone = word.len() == line.trim().len();
            word.chars().all(is_field) && (is_alone || word.len() >= 16 || line.contains(": "))
        };
        if !line.split_whitespace().all(is_part) {
            break;
        }
        end += line.len();
    }
    Some(begins..begins + end)
}

/// The length of user and password in a URL, given the part after `://`.
pub fn user_info(after_scheme: &str) -> Option<usize> {
    let ends = |c: char| c.is_whitespace() || "/?#\"'`<>|\\".contains(c);
    let authority = after_scheme.find(ends).unwrap_or(after_scheme.len());
    after_scheme[..authority].rfind('@').filter(|at| *at > 0)
}

/// Whether a value has the format of a secret, whatever its name: an issued one, a private key, an
/// address that only its owner knows, a URL with a password, or settings of which one is a secret,
/// as in a connection string or a signed URL.
pub fn is_value(value: &str) -> bool {
    let starts = value.char_indices().filter(|(at, _)| {
        let before = value[..*at].chars().next_back();
        before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
    });
    let has_password = |(at, _): (usize, &str)| {
        let rest = &value[at + 3..];
        user_info(rest).is_some_and(|length| rest[..length].contains(':'))
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_- ".contains(c);
    let sets_one = |setting: &str| {
        let set = setting.split_once('=');
        set.is_some_and(|(name, value)| {
            !value.is_empty() && name.chars().all(is_plain) && is_name(name)
        })
    };
    ADDRESSES.iter().any(|address| value.contains(address))
        || value.split([';', '&', '?']).any(sets_one)
        || value.match_indices("://").any(has_password)
        || starts
            .map(|(at, _)| &value[at..])
            .any(|rest| issued(rest).is_some() || private_key(rest).is_some())
}
