//! Changes to files of signers and of revoked keys: each is shown with its fingerprint, a person
//! agrees, and the file is replaced as a whole.

use std::path::{Path, PathBuf};

pub use super::keys_line::{Added, Removed, Revoked};
use super::keys_line::{line, principal};
use super::keys_listed::{read, signers};
use crate::catalog::{Layer, market_at, own_signing_file, signing_files};
use crate::cli::{Call, Consenting, Findings, pasted};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::policy::Event;
use crate::run_context::RunContext;
use crate::signing::{self, Listed, Signers, exported, revocations};
use crate::skill::{one_line, visible};
use crate::sys::{Dir, Durable, EntryName, FileLock, Moment, files, limits};

/// Lists a key.
///
/// # Errors
/// When it is no public key, is listed or revoked already, nobody agrees, or the file cannot be
/// changed.
pub fn add(call: Call, added: &Added) -> Result<String> {
    let who = principal(&added.principal)?;
    let base = Layer::Plugin.base(call.facts);
    let key = match (&added.key, &added.from) {
        (Some(file), _) => of_file(&call.facts.run, file)?,
        (None, Some(skill)) => {
            let market = market_at(call.facts, &base);
            let entry = market.origin(skill)?.ok_or_else(|| {
                let text = format!("there is no installed skill `{}`", one_line(skill));
                Error::new(text).hint("`agent-skills list` shows what there is")
            })?;
            market.signers_key(&entry)?
        }
        (None, None) => return Err(Error::new("there is no key").hint("give a public key's file")),
    };
    let line = line(who, &key, added)?;
    let (listed, fingerprint) = listed(call.facts, &line)?;
    let (file, shown) = place(&call.facts.run, added.file.as_deref(), false);
    if let Some(revoked) = revoked_in(call.facts, &fingerprint)? {
        let text = format!(
            "the key {fingerprint} is revoked in `{}`",
            revoked.display()
        );
        return Err(Error::new(text).hint("its owner has to make a new one"));
    }
    let there = signers(call.facts, &file)?;
    let is_it = |one: &&Listed| one.kind == listed.kind && one.public == listed.public;
    if let Some(same) = there.listed.iter().find(is_it) {
        let is_same = same.options == listed.options;
        if is_same && same.principals.split(',').any(|one| one == who) {
            return Ok(format!(
                "{who} is listed with this key already, in {shown}\n"
            ));
        }
        let text = format!(
            "line {} of `{shown}` lists the key {fingerprint} for {}",
            same.line, same.principals
        );
        return Err(Error::new(text).hint(format!(
            "`agent-skills keys remove {fingerprint}` takes it out, then add it"
        )));
    }
    let kind = key.split(' ').next().unwrap_or_default();
    let what = format!(
        "  {who}\n  {kind} {fingerprint}\n  {}\n",
        restriction(&listed.options)
    );
    let mut words = vec!["keys".to_owned(), "add".to_owned(), who.to_owned()];
    words.extend(added.key.iter().map(|key| key.display().to_string()));
    let from = added.from.iter();
    words.extend(from.flat_map(|skill| ["--from".to_owned(), skill.clone()]));
    if call.common.dry_run {
        return Ok(format!("would add to {shown}:\n{what}"));
    }
    let consenting = consenting(call);
    let screenful = format!("{shown} would list\n{what}");
    let question = "Is it theirs, and may it sign skills?";
    agreed(
        consenting.to_decide(&screenful, question, &pasted(&words))?,
        "added",
    )?;
    change(call.facts, &file, |text| {
        Ok(signing::with_line(text, &line))
    })?;
    record(call.facts, "add", who, &fingerprint);
    Ok(format!(
        "{who} is listed in {shown} with {kind} {fingerprint}\n"
    ))
}

/// Takes a principal or a key out of a file of signers.
///
/// # Errors
/// When it is not there, nobody agrees, or the file cannot be changed.
pub fn remove(call: Call, key: &Removed) -> Result<String> {
    let which = key.which.as_str();
    let (file, shown) = place(&call.facts.run, key.file.as_deref(), false);
    let meant = |listed: &&Listed| {
        let key = listed.fingerprint.as_ref();
        key.is_some_and(|key| key.eq_ignore_ascii_case(which) && key.len() >= 16)
            || listed.principals.split(',').any(|one| one == which)
    };
    let there = signers(call.facts, &file)?;
    let found: Vec<&Listed> = there.listed.iter().filter(meant).collect();
    if found.is_empty() {
        let text = format!("`{shown}` lists no `{}`", visible(which));
        return Err(Error::new(text).hint("`agent-skills keys` shows who is listed, and where"));
    }
    let lines = found.iter().map(|one| {
        let key = one.fingerprint.as_deref().unwrap_or("(gpg cannot read it)");
        format!("  {} {} {key}\n", one.principals, one.kind.as_str())
    });
    let lines: String = lines.collect();
    if call.common.dry_run {
        return Ok(format!(
            "would take {} out of {shown}:\n{lines}",
            visible(which)
        ));
    }
    let words = words("remove", which, key.file.as_deref());
    let screenful = format!(
        "{} would no longer be listed in {shown}:\n{lines}",
        visible(which)
    );
    let consenting = consenting(call);
    agreed(
        consenting.to_decide(&screenful, "Remove it?", &pasted(&words))?,
        "removed",
    )?;
    let publics: Vec<&str> = found.iter().map(|one| one.public.as_str()).collect();
    change(call.facts, &file, |text| {
        let now = Signers::parse(text)?;
        let by_name = |one: &&Listed| one.principals.split(',').any(|one| one == which);
        let is_meant = |one: &&Listed| publics.contains(&one.public.as_str());
        let lines: Vec<&Listed> = now.listed.iter().filter(is_meant).collect();
        // A key goes as a whole, a name only from its own lines.
        let of_name: Vec<&Listed> = lines.iter().copied().filter(by_name).collect();
        Ok(if of_name.is_empty() {
            signing::without(text, &lines, None)
        } else {
            signing::without(text, &of_name, Some(which))
        })
    })?;
    record(call.facts, "remove", which, "");
    Ok(format!(
        "{} is no longer listed in {shown}\n",
        visible(which)
    ))
}

/// Adds a key to a file of revoked ones.
///
/// # Errors
/// When it is no key, nobody agrees, or the file cannot be changed.
pub fn revoke(call: Call, key: &Revoked) -> Result<String> {
    let which = key.which.as_str();
    let key_file = call.facts.run.env.cwd.join(which);
    let fingerprint = if key_file.is_file() {
        let key = of_file(&call.facts.run, &key_file)?;
        listed(call.facts, &format!("x {key}"))?.1
    } else {
        let keys = revocations(which).unwrap_or_default();
        keys.into_iter().next().ok_or_else(|| {
            let text = format!("`{}` is neither a file nor a fingerprint", visible(which));
            Error::new(text).hint("`agent-skills keys` shows fingerprints")
        })?
    };
    let (file, shown) = place(&call.facts.run, key.file.as_deref(), true);
    let bytes = read(&file)?;
    let there = revocations(&String::from_utf8_lossy(&bytes))
        .map_err(|error| error.context(format!("`{shown}`")))?;
    if there.contains(&fingerprint) {
        return Ok(format!("{fingerprint} is revoked already, in {shown}\n"));
    }
    let who = whose(call.facts, &fingerprint);
    let of = who
        .as_ref()
        .map_or_else(String::new, |who| format!(" of {who}"));
    if call.common.dry_run {
        return Ok(format!("would revoke {fingerprint}{of} in {shown}\n"));
    }
    let words = words("revoke", which, key.file.as_deref());
    let screenful = format!(
        "The key {fingerprint}{of} would count no longer: what it signed is wrongly signed then.\n"
    );
    let consenting = consenting(call);
    agreed(
        consenting.to_decide(&screenful, "Revoke it?", &pasted(&words))?,
        "revoked",
    )?;
    let now = Moment::now().local();
    let today = now.split(' ').next().unwrap_or_default();
    let line = format!("{fingerprint} {today}{of}");
    change(call.facts, &file, |text| {
        Ok(signing::with_line(text, &line))
    })?;
    record(
        call.facts,
        "revoke",
        who.as_deref().unwrap_or_default(),
        &fingerprint,
    );
    Ok(format!("{fingerprint}{of} is revoked in {shown}\n"))
}

/// The words of the command that does it, for a person to repeat.
fn words(change: &str, which: &str, file: Option<&Path>) -> Vec<String> {
    let mut words = ["keys", change, which].map(str::to_owned).to_vec();
    let file = file.into_iter();
    words.extend(file.flat_map(|file| ["--file".to_owned(), file.display().to_string()]));
    words
}

fn of_file(run: &RunContext, file: &Path) -> Result<String> {
    let path = run.env.cwd.join(file);
    let bytes = files::read_capped(&path, limits::MANIFEST);
    let bytes = bytes
        .map_err(|error| Error::io("read", &path, &error).hint("give the file of a public key"))?;
    exported(&bytes).map_err(|error| error.context(format!("`{}`", file.display())))
}

fn restriction(options: &str) -> &str {
    if options.is_empty() {
        "for whatever it signs"
    } else {
        options
    }
}

/// The key in a line of a file of signers, and its fingerprint; of OpenPGP keys, gpg tells it.
fn listed(facts: &Facts, line: &str) -> Result<(Listed, String)> {
    let signers = Signers::parse(line)?;
    let base = Layer::Plugin.base(facts);
    let of_gpg = market_at(facts, &base).openpgp_fingerprints(&signers)?;
    let first = signers.listed.into_iter().next();
    let listed = first.ok_or_else(|| Error::new("it is not a public key"))?;
    let fingerprint = match (&listed.fingerprint, of_gpg.as_slice()) {
        (Some(known), _) | (None, [(known, _)]) => known.clone(),
        (None, []) => {
            return Err(Error::new("gpg reads no public key in it")
                .hint("export it: `gpg --export KEY > FILE`"));
        }
        _ => {
            return Err(Error::new("there are several keys in it")
                .hint("export one: `gpg --export FINGERPRINT > FILE`"));
        }
    };
    Ok((listed, fingerprint))
}

/// The file to change, and how it is shown.
fn place(run: &RunContext, written: Option<&Path>, revokes: bool) -> (PathBuf, String) {
    let file = match written {
        Some(file) => run.env.cwd.join(file),
        None => own_signing_file(run, revokes),
    };
    let shown = one_line(&file.display().to_string());
    (file, shown)
}

/// The file that revokes a key, if one does.
fn revoked_in(facts: &Facts, fingerprint: &str) -> Result<Option<PathBuf>> {
    let files = signing_files(facts)?.into_iter();
    for file in files.filter(|file| file.revokes) {
        let text = String::from_utf8_lossy(&read(&file.path)?).into_owned();
        if revocations(&text).is_ok_and(|keys| keys.contains(fingerprint)) {
            return Ok(Some(file.path));
        }
    }
    Ok(None)
}

/// Who is listed with a key, in any file that counts.
fn whose(facts: &Facts, fingerprint: &str) -> Option<String> {
    let files = signing_files(facts).ok()?.into_iter();
    let files = files.filter(|file| !file.revokes);
    let read = files.filter_map(|file| signers(facts, &file.path).ok());
    let mut listed = read.flat_map(|signers| signers.listed);
    let found = listed.find(|one| one.fingerprint.as_deref() == Some(fingerprint));
    found.map(|listed| listed.principals)
}

fn consenting(call: Call) -> Consenting {
    Consenting::new(call, Findings::default())
}

fn agreed(is_agreed: bool, done: &str) -> Result<()> {
    if is_agreed {
        return Ok(());
    }
    Err(Error::new(format!("nothing was {done}: you said no")).hint("the same command asks again"))
}

/// Replaces a file by what `edit` makes of its text, while no other command of ours does. It keeps
/// its owner and permissions, and a link to it.
fn change(facts: &Facts, file: &Path, edit: impl Fn(&str) -> Result<String>) -> Result<()> {
    let own = Layer::Plugin.base(facts).make()?;
    let lock = own.path().join("signers.lock");
    let _lock = FileLock::exclusive(&lock, limits::INSTALL_LOCK)?;
    let bytes = read(file)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", file.display())))?;
    let new = edit(&text)?;
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let (Ok(metadata), Some(dir), Some(name)) = (
        real.metadata(),
        real.parent(),
        real.file_name().and_then(EntryName::parse),
    ) else {
        return files::replace(&real, new.as_bytes(), 0o644, Durable::Yes);
    };
    let written = Dir::anchor(dir).and_then(|dir| dir.replace_as(&name, new.as_bytes(), &metadata));
    written.map_err(|error| Error::io("write", &real, &error))
}

fn record(facts: &Facts, change: &str, who: &str, key: &str) {
    let event = Event::new("keys").with("change", change);
    facts.record(event.with("principal", who).with("key", key));
}
