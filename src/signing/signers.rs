//! Files that list signers, in the form of `ssh-keygen`'s `allowed_signers` (one line each:
//! principals, options, kind of key, key, comment), with one more kind of keys: `openpgp` with the
//! public key in base64. Programs get only the lines that they understand.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Key, KeyKind, ssh_fingerprint};
use crate::error::{Error, Result};
use crate::skill::visible;

/// One line of a file of signers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Who signs with it, as it is written: one or more names with commas between.
    pub principals: String,
    /// The options, as they are written: `namespaces`, `valid-after`, `valid-before`,
    /// `cert-authority`.
    pub options: String,
    /// The form of the key.
    pub kind: KeyKind,
    /// The key as the programs of its kind take it: for ssh the kind and the base64, for OpenPGP the
    /// base64 alone.
    pub public: String,
    /// The fingerprint of an ssh key. Of an OpenPGP key only GnuPG can tell it.
    pub fingerprint: Option<String>,
    /// The line's number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

impl Listed {
    /// The first of its principals, as it is shown.
    pub fn principal(&self) -> &str {
        self.principals.split(',').next().unwrap_or_default()
    }

    /// Each of its principals, which may be a pattern, but not those that it excludes.
    pub fn each_principal(&self) -> impl Iterator<Item = &str> {
        let each = self.principals.split(',');
        each.filter(|name| !name.starts_with('!') && !name.is_empty())
    }

    /// The key; `None` for OpenPGP.
    pub fn key(&self) -> Option<Key> {
        Key::new(self.kind, self.fingerprint.as_deref()?).ok()
    }
}

/// The content of a file of signers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signers {
    /// Its lines that list a key, in order.
    pub listed: Vec<Listed>,
}

impl Signers {
    /// Reads the text of such a file.
    ///
    /// # Errors
    /// The number of a line that is none, and why: a signer that was meant must not be left out
    /// unnoticed, nor may a restriction on one.
    pub fn parse(text: &str) -> Result<Self> {
        let mut signers = Self::default();
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let listed = parse_line(trimmed, at + 1).map_err(|why| {
                let text = format!("line {}: {why}", at + 1);
                Error::new(text).hint(
                    "it is `PRINCIPAL [OPTIONS] KIND KEY`, as in `ssh-keygen`'s allowed signers",
                )
            })?;
            signers.listed.push(listed);
        }
        Ok(signers)
    }

    /// The lines of keys of one kind.
    pub fn of_kind(&self, kind: KeyKind) -> impl Iterator<Item = &Listed> {
        self.listed.iter().filter(move |listed| listed.kind == kind)
    }

    /// The lines that list a key.
    pub fn with_key<'s>(&'s self, key: &'s Key) -> impl Iterator<Item = &'s Listed> {
        let is_it = |listed: &&Listed| listed.key().as_ref() == Some(key);
        self.listed.iter().filter(is_it)
    }
}

fn parse_line(line: &str, number: usize) -> std::result::Result<Listed, String> {
    let words = words(line).ok_or("a quotation mark has no other")?;
    let [principals, rest @ ..] = words.as_slice() else {
        return Err("it is empty".to_owned());
    };
    let (options, rest) = match rest {
        [first, ..] if kind_of(first).is_some() => (String::new(), rest),
        [options, rest @ ..] => ((*options).to_owned(), rest),
        [] => return Err("it has no key".to_owned()),
    };
    let [kind_word, public, ..] = rest else {
        return Err("it has no key".to_owned());
    };
    let kind = kind_of(kind_word)
        .ok_or_else(|| format!("`{}` is not a kind of key", visible(kind_word)))?;
    let bytes = STANDARD
        .decode(public)
        .map_err(|_| "its key is not base64".to_owned())?;
    let principals = principals.trim_matches('"').to_owned();
    if principals.is_empty() || visible(&principals) != principals {
        return Err("its principal is not a name".to_owned());
    }
    if kind != KeyKind::Ssh && !options.is_empty() {
        return Err("only an ssh key can have options".to_owned());
    }
    let fingerprint = match kind {
        KeyKind::Ssh if !has_inside(&bytes, kind_word) => {
            return Err(format!(
                "its key is not of the kind `{}`",
                visible(kind_word)
            ));
        }
        KeyKind::Ssh => Some(ssh_fingerprint(&bytes)),
        KeyKind::Openpgp => None,
    };
    let public = match kind {
        KeyKind::Ssh => format!("{kind_word} {public}"),
        KeyKind::Openpgp => (*public).to_owned(),
    };
    Ok(Listed {
        principals,
        options,
        kind,
        public,
        fingerprint,
        line: number,
        text: line.to_owned(),
    })
}

/// The kind of a key by the word before it.
fn kind_of(word: &str) -> Option<KeyKind> {
    match word {
        "openpgp" => Some(KeyKind::Openpgp),
        word if ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"]
            .iter()
            .any(|start| word.starts_with(start)) =>
        {
            Some(KeyKind::Ssh)
        }
        _ => None,
    }
}

/// Whether an ssh key begins with the name of its kind.
fn has_inside(bytes: &[u8], kind: &str) -> bool {
    let length = u32::try_from(kind.len()).unwrap_or_default().to_be_bytes();
    bytes.starts_with(&[&length, kind.as_bytes()].concat())
}

/// The words of a line; quotation marks keep spaces together.
fn words(line: &str) -> Option<Vec<&str>> {
    let (mut words, mut start, mut quoted) = (Vec::new(), None, false);
    for (at, c) in line.char_indices() {
        if c == '"' {
            quoted = !quoted;
        }
        match (start, c.is_whitespace() && !quoted) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                words.push(&line[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| &line[from..]));
    (!quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIJr7IjL5a48XomjrHMZSICwfNNBUDqvzWMytztz8oorr";

    #[test]
    fn each_program_gets_the_lines_it_understands() {
        let text = format!(
            "# us\nalice@x,al@y namespaces=\"git,agent-skill\" valid-before=\"20300101\" ssh-ed25519 {KEY} a b\n\n"
        );
        // Options that are written as two words are no line of `ssh-keygen` either.
        assert!(Signers::parse(&text).is_err());
        let text = format!(
            "# us\nalice@x,al@y namespaces=\"git,agent-skill\",valid-before=\"20300101\" ssh-ed25519 {KEY} a b\n\
             bob@x openpgp mQINBF8=\n"
        );
        let signers = Signers::parse(&text).unwrap();
        let [alice, bob] = signers.listed.as_slice() else {
            panic!("{signers:?}");
        };
        assert_eq!(alice.principal(), "alice@x");
        assert!(alice.options.contains("valid-before") && alice.line == 2);
        assert!(alice.fingerprint.as_deref().unwrap().starts_with("SHA256:"));
        assert_eq!((bob.kind, bob.line), (KeyKind::Openpgp, 3));
        assert!(alice.each_principal().eq(["alice@x", "al@y"]));
        assert!(signers.with_key(&alice.key().unwrap()).eq([alice]));
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
        ] {
            let error = Signers::parse(&format!("# c\n{line}"))
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with("line 2") && error.contains(why),
                "{line}: {error}"
            );
        }
    }
}
