//! Recognises secrets by their name or format, for logs and for the environment of scripts. It does
//! not mask anything itself.

use skill_text::Names;

/// Texts that mark a name as that of a secret wherever they occur in it.
const CONTAINED: &str = "secret passw passphrase passcode passkey apikey appkey authkey accesskey accountkey \
     privatekey signingkey encryptionkey masterkey sharedkey credential authorization \
     connectionstring";

/// Words that mark a name as that of a secret.
const WORDS: Names = Names::new(
    "auth bearer cookie cookies cred creds dsn jwt otp pass pat pgpass pin pw pwd sas sig \
     signature",
);

/// Word endings that mark a name as that of a secret, and words with such an ending that do not.
const ENDS: [&str; 3] = ["pass", "token", "tokens"];
const NO_SECRETS: Names = Names::new("bypass compass encompass surpass");
/// Words with which a name is that of a number, not a secret: `max_tokens`.
const COUNTS: Names = Names::new("completion count input limit max min n num output total");

/// Words before `key` in the names of keys that are not secret.
const HARMLESS_KEYS: Names = Names::new(
    "cache foreign group hot index map object partition primary public publishable row sort \
     unique",
);

/// Services whose URL usually contains the password.
const SERVICES: Names = Names::new(
    "amqp broker celery clickhouse cloudinary database db elasticsearch hook jdbc kafka mongo \
     mongodb mysql pg postgres postgresql rabbitmq redis smtp webhook",
);

/// Prefixes of secrets that a service issues, behind the minimum number of characters that follow:
/// published formats, as leak scanners such as gitleaks know them.
const ISSUED: [(usize, &str); 24] = [
    // GitHub, GitLab, Bitbucket and Atlassian.
    (
        12,
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glsoat-",
    ),
    (28, "ATBB"),
    (50, "ATATT3"),
    // Amazon, Google, Microsoft, DigitalOcean and other clouds.
    (12, "AKIA ASIA"),
    (16, "ABIA ACCA sb_secret_ LTAI"),
    (20, "ya29. GOCSPX- pscale_tkn_ pscale_pw_"),
    (30, "AIza fo1_ sbp_"),
    (32, "dop_v1_ doo_v1_ dor_v1_ dapi"),
    // AI models and their services.
    (12, "sk-"),
    (16, "tvly-"),
    (
        20,
        "hf_ api_org_ gsk_ r8_ xai- pplx- nvapi- lsv2_ rpa_ pcsk_",
    ),
    // Payment.
    (10, "sk_live_ sk_test_ rk_live_ rk_test_"),
    (16, "whsec_ sq0atp- sq0csp-"),
    (20, "shpat_ shpss_ shpca_ shppa_"),
    // Messaging and mail.
    (10, "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xapp-"),
    (20, "xkeysib-"),
    (40, "SG."),
    // Packages, builds, monitoring.
    (16, "dckr_pat_"),
    (
        20,
        "hvs. hvb. dp.st. dp.pt. sntrys_ sntryu_ NRAK- lin_api_ figd_ PMAK-",
    ),
    (24, "glc_ glsa_"),
    (30, "npm_ pypi-AgE rubygems_ ntn_"),
    (32, "cio pul-"),
    // Keys and signed claims themselves.
    (12, "eyJ"),
    (20, "AGE-SECRET-KEY-1"),
];

/// For each first byte of an issued secret, a bit for every second one.
static BEGINNINGS: [u128; 128] = {
    let mut table = [0; 128];
    let mut group = 0;
    while group < ISSUED.len() {
        let prefixes = ISSUED[group].1.as_bytes();
        let mut at = 0;
        while at + 1 < prefixes.len() {
            if at == 0 || prefixes[at - 1] == b' ' {
                table[prefixes[at] as usize] |= 1 << prefixes[at + 1];
            }
            at += 1;
        }
        group += 1;
    }
    table
};

/// Parts of addresses after which everything is secret.
const ADDRESSES: [&str; 4] = [
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// How a PEM private key begins and ends.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";

/// Whether something with this name is a secret.
pub fn is_name(name: &str) -> bool {
    // In this spelling it is the shell's directory; a variable `pwd` or `DB_PWD` is a secret.
    if matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    let (folded, bounds) = folded(name);
    let words = bounds.windows(2).map(|at| &folded[at[0]..at[1]]);
    let words: Vec<&str> = words.collect();
    let word = |wanted: Names| words.iter().any(|word| wanted.has(word));
    let ends = |word: &&str| ENDS.iter().any(|end| word.ends_with(end)) && !NO_SECRETS.has(word);
    // `key` alone means many things.
    let is_key = |pair: &[&str]| matches!(pair[1], "key" | "keys") && !HARMLESS_KEYS.has(pair[0]);
    CONTAINED.split(' ').any(|part| folded.contains(part))
        || word(WORDS)
        || (words.iter().any(ends) && !word(COUNTS))
        || words.windows(2).any(is_key)
        || (word(Names::new("url uri")) && word(SERVICES))
        || matches!(&*folded, "gpgagentinfo" | "krb5ccname")
}

/// The words of a name together, and where they begin and end: `fooBar`, `FOO_BAR` and `foo-bar`
/// give the same.
fn folded(name: &str) -> (String, Vec<usize>) {
    let (mut folded, mut bounds) = (String::with_capacity(name.len()), vec![0]);
    let mut before = ' ';
    for c in name.chars().chain([' ']) {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphanumeric()) && bounds.last() != Some(&folded.len()) {
            bounds.push(folded.len());
        }
        match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' => folded.push(c.to_ascii_lowercase()),
            c if c.is_alphanumeric() => folded.extend(c.to_lowercase()),
            _ => {}
        }
        before = c;
    }
    (folded, bounds)
}

/// The length of the address with which `text` begins, if all that follows it is secret.
pub fn address(text: &str) -> Option<usize> {
    let mut each = ADDRESSES.iter();
    Some(each.find(|address| text.starts_with(**address))?.len())
}

/// The length of the issued secret with which `text` begins.
pub fn issued(text: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.=+/~".contains(c);
    // A quick check, since few words begin like an issued secret.
    let (&[first, second], _) = text.as_bytes().split_first_chunk()?;
    let seconds = BEGINNINGS.get(usize::from(first))?;
    if seconds.checked_shr(second.into())? & 1 == 0 {
        return None;
    }
    let issued = ISSUED.iter().flat_map(|(least, prefixes)| {
        let prefixes = prefixes.split(' ');
        prefixes.map(move |prefix| (*least, prefix))
    });
    let mut issued = issued.filter_map(|(least, begins)| {
        let rest = text.strip_prefix(begins)?;
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let tail = &rest[..length];
        // Natural words contain neither digits nor inner capitals, and paths contain slashes.
        let is_drawn = tail.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        let dense = tail.split(['/', '.']).map(str::len).max().unwrap_or(0);
        let is_one = is_drawn && length >= least && dense >= least.min(12);
        is_one.then(|| begins.len() + length)
    });
    issued.next()
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
