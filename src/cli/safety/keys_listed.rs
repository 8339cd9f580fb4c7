//! `keys` without a change: the signers that count, in which file, whom first signatures made known,
//! and which keys count no longer.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::catalog::{Layer, market_at, signing_files};
use crate::cli::{Answer, Call, Cell, Column, Failure, Paint, Screen, Table, json};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::{KnownSigner, KnownSigners};
use crate::policy::SigningFile;
use crate::signing::{Signers, revocations};
use crate::skill::one_line;
use crate::sys::{Base, Moment, files, limits};

/// A key, in the format that `--json` documents, and the cells of its row for people.
struct Row {
    json: Value,
    cells: [String; 4],
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

/// The signers in a file, with the fingerprints of their keys; `None` for an OpenPGP key that gpg
/// cannot read.
///
/// # Errors
/// When the file cannot be read or understood.
pub fn signers(facts: &Facts, path: &Path) -> Result<Signers> {
    let text = String::from_utf8(read(path)?)
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", path.display())))?;
    let mut signers =
        Signers::parse(&text).map_err(|error| error.context(format!("`{}`", path.display())))?;
    let base = Layer::Plugin.base(facts);
    // Without gpg, these keys count nowhere, and the rest is to be seen all the same.
    let found = market_at(facts, &base).openpgp_fingerprints(&signers);
    for (fingerprint, line) in found.unwrap_or_default() {
        let mut each = signers.listed.iter_mut();
        if let Some(listed) = each.find(|listed| listed.line == line) {
            listed.fingerprint.get_or_insert(fingerprint);
        }
    }
    Ok(signers)
}

/// Shows all keys; a failure if a file cannot be read.
pub fn show(call: Call) -> Answer {
    let (mut listed, mut revoked, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for file in signing_files(call.facts)? {
        let read = if file.revokes {
            revoked_in(&file).map(|found| revoked.extend(found))
        } else {
            listed_in(call.facts, &file).map(|found| listed.extend(found))
        };
        errors.extend(read.err().map(|error| error.to_string()));
    }
    let known = KnownSigners::read(&Base::own(call.facts.run.dirs.plugin.clone()));
    errors.extend(known.as_ref().err().map(ToString::to_string));
    let known: Vec<Row> = known.unwrap_or_default().iter().map(known_row).collect();
    let text = if call.common.json {
        let all = [&listed, &known, &revoked];
        let [listed, known, revoked] =
            all.map(|rows| rows.iter().map(|row| &row.json).collect::<Vec<_>>());
        json::one(&json!({
            "signers": listed, "known": known, "revoked": revoked, "errors": errors,
        }))?
    } else {
        text(&[&listed, &known, &revoked], &errors, call.screen)
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

fn by(file: &SigningFile) -> String {
    if file.is_policy { "policy" } else { "own" }.to_owned()
}

fn listed_in(facts: &Facts, file: &SigningFile) -> Result<Vec<Row>> {
    exists(file)?;
    let listed = signers(facts, &file.path)?.listed.into_iter();
    let rows = listed.map(|one| {
        let key = one.fingerprint.as_deref().unwrap_or("(gpg cannot read it)");
        Row {
            cells: [
                one.principals.clone(),
                format!("{} {key}", one.kind.as_str()),
                by(file),
                one.options.clone(),
            ],
            json: json!({
                "principals": one.principals.split(',').collect::<Vec<_>>(),
                "kind": one.kind,
                "key": one.fingerprint,
                "options": one.options,
                "file": file.path.display().to_string(),
                "line": one.line,
                "policy": file.is_policy,
            }),
        }
    });
    Ok(rows.collect())
}

fn known_row((source, signer): (&str, &KnownSigner)) -> Row {
    let local = Moment(signer.since).local();
    let who = signer.principal.as_deref().unwrap_or("(not listed)");
    Row {
        cells: [
            who.to_owned(),
            signer.key.to_string(),
            format!("since {}", local.split(' ').next().unwrap_or_default()),
            source.to_owned(),
        ],
        json: json!({
            "source": source,
            "principal": signer.principal,
            "kind": signer.key.kind,
            "key": signer.key.fingerprint,
            "since": signer.since,
        }),
    }
}

fn revoked_in(file: &SigningFile) -> Result<Vec<Row>> {
    exists(file)?;
    let bytes = read(&file.path)?;
    let row = |key: String| Row {
        json: json!({
            "key": key, "file": file.path.display().to_string(), "policy": file.is_policy,
        }),
        cells: [
            String::new(),
            key,
            by(file),
            file.path.display().to_string(),
        ],
    };
    let found = revocations(&String::from_utf8_lossy(&bytes))
        .map_err(|error| error.context(format!("`{}`", file.path.display())))?;
    Ok(found.into_iter().map(row).collect())
}

fn text(sections: &[&[Row]; 3], errors: &[String], screen: Screen) -> String {
    let mut text = String::new();
    for error in errors {
        text += &screen.hanging("", &format!("CANNOT BE READ: {}", one_line(error)), 0);
    }
    let titles = [
        ("Listed", "FOR", &["BY", "FOR"][..]),
        ("Known by what was installed", "SOURCE", &["BY"]),
        ("Revoked", "FILE", &["FILE"]),
    ];
    for ((title, last, narrow), rows) in titles.into_iter().zip(sections) {
        let columns = [("WHO", 12), ("KEY", 0), ("BY", 0), (last, 8)];
        let columns = columns.map(|(name, least)| Column::new(name, least));
        let mut table = Table::new(columns.into(), narrow);
        for row in *rows {
            let mut cells: Vec<Cell> = row
                .cells
                .iter()
                .map(|cell| Cell::new(one_line(cell)))
                .collect();
            let last = cells.pop().map(|cell| cell.paint(Paint::Dim));
            cells.extend(last);
            table.row(cells, Vec::new());
        }
        if !rows.is_empty() {
            let _ = write!(text, "{title}:\n{}", table.render(screen));
        }
    }
    if text.is_empty() {
        return "No signer is listed, and none is known yet.\n".to_owned();
    }
    text
}
