//! `keys` without a change: the signers that count, in which file, whom first signatures made known,
//! and which keys count no longer.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::catalog::{Layer, market_at, signing_files};
use crate::cli::options::Common;
use crate::cli::table::{Cell, Column, Table};
use crate::cli::{Answer, Failure, Paint, Screen, json};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::KnownSigners;
use crate::policy::SigningFile;
use crate::signing::{KRL, KeyKind, Signers, revocations};
use crate::skill::one_line;
use crate::sys::{Base, Moment, files, limits};

/// A listed signer, in the format that `--json` documents.
#[derive(Debug, Serialize)]
struct Listed {
    principals: Vec<String>,
    kind: KeyKind,
    /// `None` for an OpenPGP key that gpg could not read.
    key: Option<String>,
    /// As the file has them.
    options: String,
    file: String,
    line: usize,
    policy: bool,
}

/// A signer that is known for a source.
#[derive(Debug, Serialize)]
struct Known {
    source: String,
    principal: Option<String>,
    kind: KeyKind,
    key: String,
    since: u64,
}

/// A key that counts no longer; without one, a list of ssh-keygen's.
#[derive(Debug, Serialize)]
struct Revoked {
    key: Option<String>,
    file: String,
    policy: bool,
}

/// The text of a file of keys; empty if there is none.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let read = files::unless_missing(path, |path| files::read_capped(path, limits::SIGNERS));
    let read = read.map_err(|error| Error::io("read", path, &error))?;
    Ok(read.unwrap_or_default())
}

/// The signers in a file, and the fingerprint of each; `None` for an OpenPGP key without one.
///
/// # Errors
/// When the file cannot be read or understood.
pub fn signers(facts: &Facts, path: &Path) -> Result<(String, Signers, Vec<Option<String>>)> {
    let text = String::from_utf8(read(path)?)
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", path.display())))?;
    let signers =
        Signers::parse(&text).map_err(|error| error.context(format!("`{}`", path.display())))?;
    let openpgp: Vec<&str> = signers
        .of_kind(KeyKind::Openpgp)
        .map(|listed| listed.public.as_str())
        .collect();
    let base = Layer::Plugin.base(facts);
    // Without gpg, these keys count nowhere, and the rest is to be seen all the same.
    let found = market_at(facts, &base).openpgp_fingerprints(&openpgp);
    let mut found = found.unwrap_or_default().into_iter();
    let fingerprints = signers.listed.iter().map(|listed| match listed.kind {
        KeyKind::Openpgp => found.next().and_then(|all| all.into_iter().next()),
        KeyKind::Ssh => listed.fingerprint.clone(),
    });
    let fingerprints = fingerprints.collect();
    Ok((text, signers, fingerprints))
}

/// Shows all keys; a failure if a file cannot be read.
pub fn show(facts: &Facts, common: Common, screen: Screen) -> Answer {
    let (mut listed, mut revoked, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for file in signing_files(facts)? {
        let read = if file.revokes {
            revoked_in(&file).map(|found| revoked.extend(found))
        } else {
            listed_in(facts, &file).map(|found| listed.extend(found))
        };
        errors.extend(read.err().map(|error| error.to_string()));
    }
    let known = KnownSigners::read(&Base::own(facts.run.dirs.plugin.clone()));
    let known: Vec<Known> = match &known {
        Ok(known) => known
            .iter()
            .map(|(source, signer)| Known {
                source: source.to_owned(),
                principal: signer.principal.clone(),
                kind: signer.key.kind,
                key: signer.key.fingerprint.to_string(),
                since: signer.since,
            })
            .collect(),
        Err(error) => {
            errors.push(error.to_string());
            Vec::new()
        }
    };
    let text = if common.json {
        json::one(&json!({
            "signers": listed, "known": known, "revoked": revoked, "errors": errors,
        }))?
    } else {
        text(&listed, &known, &revoked, &errors, screen)
    };
    Failure::unless(errors.is_empty(), text)
}

fn exists(file: &SigningFile) -> Result<()> {
    if file.path.exists() {
        return Ok(());
    }
    let (path, by) = (file.path.display(), file.stated_in.display());
    Err(Error::new(format!(
        "`{path}`, which `{by}` names, does not exist"
    )))
}

fn listed_in(facts: &Facts, file: &SigningFile) -> Result<Vec<Listed>> {
    exists(file)?;
    let (_, signers, fingerprints) = signers(facts, &file.path)?;
    let each = signers.listed.into_iter().zip(fingerprints);
    let listed = each.map(|(listed, key)| Listed {
        principals: listed.principals.split(',').map(str::to_owned).collect(),
        kind: listed.kind,
        key,
        options: listed.options,
        file: file.path.display().to_string(),
        line: listed.line,
        policy: file.is_policy,
    });
    Ok(listed.collect())
}

fn revoked_in(file: &SigningFile) -> Result<Vec<Revoked>> {
    exists(file)?;
    let bytes = read(&file.path)?;
    let of = |key: Option<String>| Revoked {
        key,
        file: file.path.display().to_string(),
        policy: file.is_policy,
    };
    if bytes.starts_with(KRL) {
        return Ok(vec![of(None)]);
    }
    let found = revocations(&String::from_utf8_lossy(&bytes))
        .map_err(|error| error.context(format!("`{}`", file.path.display())))?;
    Ok(found.into_iter().map(|key| of(Some(key))).collect())
}

fn text(
    listed: &[Listed],
    known: &[Known],
    revoked: &[Revoked],
    errors: &[String],
    screen: Screen,
) -> String {
    let mut text = String::new();
    for error in errors {
        text += &screen.hanging("", &format!("CANNOT BE READ: {}", one_line(error)), 0);
    }
    let by = |policy: bool| Cell::new(if policy { "policy" } else { "own" });
    let key = |kind: KeyKind, key: Option<&str>| {
        let key = key.unwrap_or("(gpg cannot read it)");
        Cell::new(format!("{} {key}", kind.as_str()))
    };
    let dim = |text: &str| Cell::new(one_line(text)).paint(Paint::Dim);
    let mut section = |title: &str, empty: bool, table: Table| {
        if !empty {
            let _ = write!(text, "{title}:\n{}", table.render(screen));
        }
    };
    let columns = |last: &'static str| {
        vec![
            Column::new("WHO", 12),
            Column::new("KEY", 0),
            Column::new("BY", 0),
            Column::new(last, 8),
        ]
    };
    let mut table = Table::new(columns("FOR"), &["BY", "FOR"]);
    for one in listed {
        let who = Cell::new(one_line(&one.principals.join(",")));
        let key = key(one.kind, one.key.as_deref());
        table.row(
            vec![who, key, by(one.policy), dim(&one.options)],
            Vec::new(),
        );
    }
    section("Listed", listed.is_empty(), table);
    let mut table = Table::new(columns("SOURCE"), &["BY"]);
    for one in known {
        let who = one.principal.as_deref().unwrap_or("(not listed)");
        let local = Moment(one.since).local();
        let since = local.split(' ').next().unwrap_or_default().to_owned();
        let cells = vec![
            Cell::new(one_line(who)),
            key(one.kind, Some(&one.key)),
            Cell::new(format!("since {since}")),
            dim(&one.source),
        ];
        table.row(cells, Vec::new());
    }
    section("Known by what was installed", known.is_empty(), table);
    let mut table = Table::new(columns("FILE"), &["FILE"]);
    for one in revoked {
        let key = one.key.as_deref().unwrap_or("(a list of ssh-keygen's)");
        let cells = vec![
            Cell::new(""),
            Cell::new(key),
            by(one.policy),
            dim(&one.file),
        ];
        table.row(cells, Vec::new());
    }
    section("Revoked", revoked.is_empty(), table);
    if text.is_empty() {
        return "No signer is listed, and none is known yet.\n".to_owned();
    }
    text
}
