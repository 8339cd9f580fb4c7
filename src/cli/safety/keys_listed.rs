//! `keys` without a change: the signers that count, in which file, whom first signatures made known,
//! and which keys count no longer.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::catalog::{Layer, market_at, signing_files};
use crate::cli::{Answer, Call, Cell, Column, Failure, Paint, Table};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::KnownSigners;
use crate::policy::SigningFile;
use crate::signing::{Signers, revocations};
use crate::skill::one_line;
use crate::sys::{Base, Moment, files, limits};

/// Keys of one kind, in the format that `--json` documents and as a table.
struct Keys {
    json: Vec<Value>,
    table: Table,
}

impl Keys {
    fn new(last: &'static str, leave_out: &'static [&'static str]) -> Self {
        let columns = [("WHO", 12), ("KEY", 0), ("BY", 0), (last, 8)];
        let columns = columns.map(|(name, least)| Column::new(name, least));
        Self {
            json: Vec::new(),
            table: Table::new(columns.into(), leave_out),
        }
    }

    fn add(&mut self, cells: [&str; 4], json: Value) {
        let [who, key, by, last] = cells.map(|cell| Cell::new(one_line(cell)));
        let cells = vec![who, key, by, last.paint(Paint::Dim)];
        self.table.row(cells, Vec::new());
        self.json.push(json);
    }
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
    let mut listed = Keys::new("FOR", &["BY", "FOR"]);
    let mut known = Keys::new("SOURCE", &["BY"]);
    let mut revoked = Keys::new("FILE", &["FILE"]);
    let mut errors = Vec::new();
    for file in signing_files(call.facts)? {
        let read = if file.revokes {
            add_revoked(&file, &mut revoked)
        } else {
            add_listed(call.facts, &file, &mut listed)
        };
        errors.extend(read.err().map(|error| error.to_string()));
    }
    match KnownSigners::read(&Base::own(call.facts.run.dirs.plugin.clone())) {
        Ok(signers) => add_known(&signers, &mut known),
        Err(error) => errors.push(error.to_string()),
    }
    let all = json!({
        "signers": listed.json, "known": known.json, "revoked": revoked.json, "errors": errors,
    });
    let text = call.answer(&all, || {
        let shown = |error| format!("CANNOT BE READ: {}", one_line(error));
        let shown = errors
            .iter()
            .map(|error| call.screen.hanging("", &shown(error), 0));
        let mut text: String = shown.collect();
        for (title, keys) in [
            ("Listed", listed),
            ("Known by what was installed", known),
            ("Revoked", revoked),
        ] {
            if !keys.json.is_empty() {
                let _ = write!(text, "{title}:\n{}", keys.table.render(call.screen));
            }
        }
        if text.is_empty() {
            return "No signer is listed, and none is known yet.\n".to_owned();
        }
        text
    })?;
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

fn by(file: &SigningFile) -> &'static str {
    if file.is_policy { "policy" } else { "own" }
}

fn add_listed(facts: &Facts, file: &SigningFile, keys: &mut Keys) -> Result<()> {
    exists(file)?;
    for one in signers(facts, &file.path)?.listed {
        let key = one.fingerprint.as_deref().unwrap_or("(gpg cannot read it)");
        let key = format!("{} {key}", one.kind.as_str());
        let json = json!({
            "principals": one.principals.split(',').collect::<Vec<_>>(),
            "kind": one.kind,
            "key": one.fingerprint,
            "options": one.options,
            "file": file.path.display().to_string(),
            "line": one.line,
            "policy": file.is_policy,
        });
        keys.add([&one.principals, &key, by(file), &one.options], json);
    }
    Ok(())
}

fn add_known(signers: &KnownSigners, keys: &mut Keys) {
    for (source, signer) in signers.iter() {
        let local = Moment(signer.since).local();
        let since = format!("since {}", local.split(' ').next().unwrap_or_default());
        let who = signer.principal.as_deref().unwrap_or("(not listed)");
        let json = json!({
            "source": source,
            "principal": signer.principal,
            "kind": signer.key.kind,
            "key": signer.key.fingerprint,
            "since": signer.since,
        });
        keys.add([who, &signer.key.to_string(), &since, source], json);
    }
}

fn add_revoked(file: &SigningFile, keys: &mut Keys) -> Result<()> {
    exists(file)?;
    let (bytes, path) = (read(&file.path)?, file.path.display().to_string());
    let found = revocations(&String::from_utf8_lossy(&bytes))
        .map_err(|error| error.context(format!("`{path}`")))?;
    for key in found {
        let json = json!({"key": key, "file": path, "policy": file.is_policy});
        keys.add(["", &key, by(file), &path], json);
    }
    Ok(())
}
