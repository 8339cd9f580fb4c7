//! Files that list signers, in the form of `ssh-keygen`'s `allowed_signers` (one line each:
//! principals, options, kind of key, key, comment), with one more kind of keys: `openpgp` with the
//! full fingerprint. Comments, order and spelling of what an edit leaves are kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{KeyKind, SignedObject, openpgp_fingerprint, ssh_fingerprint};
use crate::error::{Error, Result};
use crate::skill::visible;
use crate::sys::UnixMillis;

/// One line of a file of signers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigner {
    /// Who signs with it, as it is written: one or more names with commas between.
    pub principals: String,
    /// The options, as they are written.
    pub options: String,
    /// What they say.
    limits: SignerOptions,
    /// The form of the key.
    pub kind: KeyKind,
    /// The key's fingerprint; of OpenPGP that of the whole key, or of the part that signs.
    pub fingerprint: String,
    /// The line's number, from 1.
    pub line: usize,
}

/// What the options of a line say: for which purposes and how long its key counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SignerOptions {
    namespaces: Option<String>,
    after: Option<UnixMillis>,
    before: Option<UnixMillis>,
}

impl AllowedSigner {
    /// Reads the text of such a file: its lines that list a key, in order.
    ///
    /// # Errors
    /// The number of a line that is none, and why: a signer that was meant must not be left out
    /// unnoticed, nor may a restriction on one.
    pub fn all(text: &str) -> Result<Vec<Self>> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let listed = lines.map(|(at, line)| {
            parse_line(line, at + 1).map_err(|why| {
                let text = format!("line {}: {why}", at + 1);
                Error::new(text).hint(
                    "correct that line: `PRINCIPAL [OPTIONS] KIND KEY`, as in `ssh-keygen`'s allowed \
                     signers, or `PRINCIPAL openpgp FINGERPRINT`",
                )
            })
        });
        listed.collect()
    }

    /// The names among its principals: none that is empty or excludes others.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.principals.split(',');
        names.filter(|name| !name.is_empty() && !name.starts_with('!'))
    }

    /// The first of its names, as it is shown; without one its key counts for nobody.
    pub fn principal(&self) -> Option<&str> {
        self.names().next()
    }

    /// Whether it counts for a purpose at this time.
    pub fn is_valid_for(&self, signed: SignedObject, now: UnixMillis) -> bool {
        let limits = &self.limits;
        let namespaces = limits.namespaces.as_ref();
        namespaces.is_none_or(|names| is_in(names, signed.namespace()))
            && limits.after.is_none_or(|after| after <= now)
            && limits.before.is_none_or(|before| now < before)
    }
}

fn parse_line(line: &str, number: usize) -> std::result::Result<AllowedSigner, String> {
    let words = parts(line, char::is_whitespace).ok_or("a quotation mark has no other")?;
    let mut words = words.into_iter().peekable();
    let principals = words.next().unwrap_or_default();
    let options = words.next_if(|word| kind_of(word).is_none());
    let options = options.unwrap_or_default().to_owned();
    let (Some(kind_word), Some(public)) = (words.next(), words.next()) else {
        return Err("it has no key".to_owned());
    };
    let kind = kind_of(kind_word)
        .ok_or_else(|| format!("`{}` is not a kind of key", visible(kind_word)))?;
    let principals = principals.trim_matches('"').to_owned();
    if principals.is_empty() || visible(&principals) != principals {
        return Err("its principal is not a name".to_owned());
    }
    if kind != KeyKind::Ssh && !options.is_empty() {
        return Err("only an ssh key can have options".to_owned());
    }
    let limits = parse_signer_options(&options)?;
    let fingerprint = match kind {
        KeyKind::Openpgp => openpgp_fingerprint(public).ok_or(
            "an OpenPGP key is listed by its full fingerprint, which `gpg --show-keys FILE` prints",
        )?,
        KeyKind::Ssh => {
            let bytes = STANDARD.decode(public);
            let bytes = bytes.map_err(|_| "its key is not base64".to_owned())?;
            if !has_inside(&bytes, kind_word) {
                let kind = visible(kind_word);
                return Err(format!("its key is not of the kind `{kind}`"));
            }
            ssh_fingerprint(&bytes)
        }
    };
    Ok(AllowedSigner {
        principals,
        options,
        limits,
        kind,
        fingerprint,
        line: number,
    })
}

/// The kind of a key by the word before it.
fn kind_of(word: &str) -> Option<KeyKind> {
    let starts = ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"];
    let is_ssh = starts.iter().any(|start| word.starts_with(start));
    match word {
        "openpgp" => Some(KeyKind::Openpgp),
        _ => is_ssh.then_some(KeyKind::Ssh),
    }
}

/// Whether an ssh key begins with the name of its kind.
fn has_inside(bytes: &[u8], kind: &str) -> bool {
    let length = u32::try_from(kind.len()).unwrap_or_default().to_be_bytes();
    bytes.starts_with(&[&length, kind.as_bytes()].concat())
}

/// What the options of a line say, each written as in `ssh-keygen`'s manual.
fn parse_signer_options(options: &str) -> std::result::Result<SignerOptions, String> {
    let mut limits = SignerOptions::default();
    for option in parts(options, |c| c == ',').unwrap_or_default() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value
            .strip_prefix('"')
            .and_then(|value| value.strip_suffix('"'));
        let wrong = || format!("`{}` is not an option of a signer", visible(option));
        match (name.to_ascii_lowercase().as_str(), value) {
            ("cert-authority", None) => {
                return Err("certificates do not count here: list the keys themselves".to_owned());
            }
            ("namespaces", Some(names)) => limits.namespaces = Some(names.to_owned()),
            ("valid-after", Some(time)) => limits.after = Some(moment(time).ok_or_else(wrong)?),
            ("valid-before", Some(time)) => limits.before = Some(moment(time).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        }
    }
    Ok(limits)
}

/// The time `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, in UTC with a `Z` and else local.
fn moment(written: &str) -> Option<UnixMillis> {
    let (digits, zone) = match written.strip_suffix('Z') {
        Some(digits) => (digits, "Z"),
        None => (written, ""),
    };
    let is_time = matches!(digits.len(), 8 | 12 | 14) && digits.bytes().all(|b| b.is_ascii_digit());
    let all = is_time.then(|| format!("{digits:0<14}"))?;
    let at = |from: usize| &all[from..from + 2];
    let day = format!("{}-{}-{}", &all[..4], at(4), at(6));
    let time = format!("{day} {}:{}:{}{zone}", at(8), at(10), at(12));
    UnixMillis::parse(&time, UnixMillis(0))
}

/// Whether a text is in a list of patterns with commas between; one that begins with `!` excludes.
fn is_in(list: &str, text: &str) -> bool {
    let is_one = |pattern: &str| fast_glob::glob_match(pattern, text);
    let (not, these): (Vec<_>, Vec<_>) = list.split(',').partition(|one| one.starts_with('!'));
    these.into_iter().any(is_one) && !not.into_iter().any(|one| is_one(&one[1..]))
}

/// The parts of a text between separators; quotation marks keep what is in them together.
fn parts(text: &str, is_between: impl Fn(char) -> bool) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), None, false);
    for (at, c) in text.char_indices() {
        if c == '"' {
            quoted = !quoted;
        }
        match (start, is_between(c) && !quoted) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                parts.push(&text[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    parts.extend(start.map(|from| &text[from..]));
    (!quoted).then_some(parts)
}

/// The text with a line at its end.
pub fn with_line(text: &str, line: &str) -> String {
    let between = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{text}{between}{line}\n")
}

/// The text without these of its lines; if only a principal is meant, of a line that has others only
/// without this.
pub fn without(text: &str, lines: &[&AllowedSigner], principal: Option<&str>) -> String {
    let mut kept = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let Some(listed) = lines.iter().find(|listed| listed.line == at + 1) else {
            kept.push_str(line);
            continue;
        };
        let others = listed.principals.split(',');
        let others: Vec<&str> = others.filter(|one| Some(*one) != principal).collect();
        if principal.is_some() && !others.is_empty() {
            kept.push_str(&line.replacen(&listed.principals, &others.join(","), 1));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIJr7IjL5a48XomjrHMZSICwfNNBUDqvzWMytztz8oorr";

    #[test]
    fn keys_are_listed_with_names_and_options() {
        let text = format!(
            "# us\nalice@x,al@y namespaces=\"git,agent-skill\" valid-before=\"20300101\" ssh-ed25519 {KEY} a b\n\n"
        );
        // Options that are written as two words are no line of `ssh-keygen` either.
        assert!(AllowedSigner::all(&text).is_err());
        let text = format!(
            "# us\nalice@x,al@y namespaces=\"git,agent-skill\",valid-before=\"20300101\" ssh-ed25519 {KEY} a b\n\
             bob@x openpgp {}\n",
            "0123456789abcdef".repeat(3).get(..40).unwrap()
        );
        let signers = AllowedSigner::all(&text).unwrap();
        let [alice, bob] = signers.as_slice() else {
            panic!("{signers:?}");
        };
        assert_eq!(alice.principal(), Some("alice@x"));
        assert!(alice.options.contains("valid-before") && alice.line == 2);
        assert!(alice.fingerprint.starts_with("SHA256:"));
        assert_eq!((bob.kind, bob.line), (KeyKind::Openpgp, 3));
        assert!(bob.fingerprint.starts_with("0123456789ABCDEF"));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (line, why) in [
            ("alice", "no key"),
            ("alice ssh-ed25519", "no key"),
            ("alice ssh-ed25519 !", "base64"),
            ("alice ssh-rsa AAAAC3NzaC1lZDI1NTE5", "not of the kind"),
            ("alice foo ssh-dss", "no key"),
            ("alice foo bar AAAA", "not a kind"),
            ("\"alice ssh-ed25519 AAAA", "quotation"),
            ("a\u{202e}b openpgp AAAA", "not a name"),
            ("alice namespaces=\"git\" openpgp AAAA", "options"),
            ("alice minisign AAAA", "no key"),
            ("alice openpgp mQINBF8=", "full fingerprint"),
            ("alice openpgp 0123456789ABCDEF", "full fingerprint"),
            (
                &format!("alice valid-before=20300101 ssh-ed25519 {KEY}"),
                "not an option",
            ),
            (
                &format!("alice valid-after=\"2030\" ssh-ed25519 {KEY}"),
                "not an option",
            ),
            (
                &format!("alice other,namespaces=\"git\" ssh-ed25519 {KEY}"),
                "not an option",
            ),
        ] {
            let error = AllowedSigner::all(&format!("# c\n{line}"))
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with("line 2") && error.contains(why),
                "{line}: {error}"
            );
        }
    }

    #[test]
    fn a_line_counts_for_its_purposes_and_time() {
        let noon =
            |day: &str| UnixMillis::parse(&format!("{day}T12:00:00Z"), UnixMillis(0)).unwrap();
        let now = noon("2026-06-15");
        for (options, counts) in [
            ("", true),
            ("namespaces=\"git\"", true),
            ("namespaces=\"file,g*\"", true),
            ("namespaces=\"agent-skill\"", false),
            ("namespaces=\"*,!git\"", false),
            ("valid-before=\"20260614\"", false),
            ("valid-before=\"20260617\"", true),
            ("valid-before=\"20260615115959Z\"", false),
            ("valid-before=\"202606151201Z\"", true),
            ("valid-after=\"20260617\"", false),
            ("Valid-After=\"20260614\",namespaces=\"git,x\"", true),
        ] {
            let line = format!("a,*@x,!b@x {options} ssh-ed25519 {KEY}");
            let listed = &AllowedSigner::all(&line).unwrap()[0];
            assert_eq!(
                listed.is_valid_for(SignedObject::Commit, now),
                counts,
                "{options}"
            );
        }
        let line = format!("!b@x,,c@x ssh-ed25519 {KEY}\n!b@x, ssh-ed25519 {KEY}");
        let signers = AllowedSigner::all(&line).unwrap();
        let names: Vec<_> = signers.iter().map(AllowedSigner::principal).collect();
        assert_eq!(names, [Some("c@x"), None]);
        let line = format!("*@x cert-authority ssh-ed25519 {KEY}");
        let error = AllowedSigner::all(&line).unwrap_err().to_string();
        assert!(error.contains("certificates do not count"), "{error}");
    }

    const WHOLE_KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJr7IjL5a48XomjrHMZSICwfNNBUDqvzWMytztz8oorr";

    #[test]
    fn what_stays_is_kept_as_it_was_written() {
        let text = format!("# us\n\na,b  {WHOLE_KEY} x\r\n# c\n\"c\" {WHOLE_KEY}");
        let signers = AllowedSigner::all(&text).unwrap();
        let all: Vec<&AllowedSigner> = signers.iter().collect();
        assert_eq!(without(&text, &all, None), "# us\n\n# c\n");
        let of_a = without(&text, &all[..1], Some("a"));
        assert_eq!(of_a, text.replace("a,b", "b"));
        let of_c = without(&text, &all[1..], Some("c"));
        assert_eq!(of_c, format!("# us\n\na,b  {WHOLE_KEY} x\r\n# c\n"));
        assert_eq!(with_line(&text, "d"), format!("{text}\nd\n"));
        assert_eq!(with_line("", "d"), "d\n");
    }
}
