//! `approve`: an administrator approves a skill in its current state, or a user approves its hooks;
//! and what is approved, by whom and when, and whether it still is what was approved.

use super::abilities::{abilities, below, hooks};
use crate::cli::prelude::*;
use crate::policy::{Approval, Approvals, approval_digest, user};
use crate::sys::time::local;
use crate::sys::tree;

/// Approve skills as they are now, where the policy requires that
#[derive(Debug, clap::Args)]
pub struct ApproveArgs {
    /// The skills' names
    #[arg(required_unless_present = "list", value_name = "NAME")]
    pub names: Vec<String>,
    /// Only list what is approved, by whom and when, and what has changed since
    #[arg(long, conflicts_with_all = ["names", "revoke"])]
    pub list: bool,
    /// Withdraw the approval
    #[arg(long)]
    pub revoke: bool,
}

impl ApproveArgs {
    /// Records the skills' digests, takes them back, or lists them.
    pub fn run(&self, call: CliCall) -> Answer {
        if self.list {
            return Ok(list(call)?);
        }
        Outcomes::of_each(call, &self.names, |name| {
            if self.revoke {
                revoke(call, name)
            } else {
                approve(call, name)
            }
        })
    }
}

fn approve(call: CliCall, written: &str) -> Result<String> {
    let catalog = Catalog::naming(call.facts, written);
    let entry = installed(call.facts, &catalog, written)?;
    let (skill, digest) = read(entry)?;
    let name = entry.name();
    let approved = Ledger::approvals(call.facts.enterprise(), call.facts.state());
    let before = approved.entries()?.remove(&name);
    let is_same = before.as_ref().is_some_and(|before| before.has(&digest));
    let (shown, worst) = describe(call, entry, before.as_ref().filter(|_| !is_same))?;
    permits_findings(&*call.facts.policies()?, "approved", &worst)?;
    if call.common.dry_run {
        return Ok(format!("would approve `{name}` as it is now\n{shown}"));
    }
    if is_same {
        return Ok(format!("`{name}` is approved already, as it is now\n"));
    }
    let at = one_line(&entry.dir.display().to_string());
    let screenful = format!("`{name}` in {at}:\n{shown}");
    let undone = format!("`{name}` was not approved");
    let words = ["approve".to_owned(), written.to_owned()];
    let one = CliCall {
        words: &words,
        ..call
    };
    one.to_agree(&screenful, "Approve it as it is now?", &undone)?;
    let approval = Approval::now(digest.clone(), user(&call.facts.run.env));
    let put = approved.approve(&name, &entry.dir, approval);
    put.map_err(|error| with_owner_hint(call.facts, error))?;
    let event = Event::new("approve")
        .with("skill", name.as_str())
        .with("path", entry.dir.display().to_string())
        .with("digest", digest);
    call.facts.record(event);
    let is_needed =
        !hooks(&skill).is_empty() || !call.facts.policies()?.needs_approval().is_empty();
    let unneeded = if is_needed {
        ""
    } else {
        " (no policy requires it)"
    };
    let shown = if call.asks() { "" } else { &shown };
    Ok(format!(
        "`{name}` is approved as it is now{unneeded}\n{shown}"
    ))
}

/// What the person approves, whether it was another state before, and the worst finding of the scan.
fn describe(
    call: CliCall,
    entry: &Entry,
    before: Option<&Approvals>,
) -> Result<(String, Option<ScanFinding>)> {
    let files = tree::file_digests(&entry.dir);
    let files = files.map_err(|source| Error::io("read", &entry.dir, &source))?;
    let files: Vec<String> = files.into_keys().collect();
    let is_changed = before.is_some_and(|before| before.was_for(&entry.dir));
    let since = is_changed.then(|| "changed since it was approved".to_owned());
    let (lines, worst) = abilities(&entry.dir, &files, ToolNames::of(call.facts));
    let lines = since.into_iter().chain(lines);
    Ok((below(lines, "  ", call.screen), worst))
}

fn revoke(call: CliCall, written: &str) -> Result<String> {
    let catalog = Catalog::naming(call.facts, written);
    let qualified = catalog.by_qualified_name(written);
    let name = qualified.map_or_else(|| written.to_owned(), Entry::name);
    let dir = qualified.map(|entry| entry.dir.as_path());
    let approved = Ledger::approvals(call.facts.enterprise(), call.facts.state());
    let entries = approved.entries()?;
    let found = entries.get(&name);
    if !found.is_some_and(|found| dir.is_none_or(|dir| found.was_for(dir))) {
        let text = format!("`{}` was not approved", one_line(written));
        let near = did_you_mean(written, entries.keys().map(String::as_str));
        let all = || "`agent-skills approve --list` shows what is approved".to_owned();
        return Err(Error::new(text).hint(near.unwrap_or_else(all)));
    }
    if call.common.dry_run {
        return Ok(format!("would no longer approve `{}`\n", one_line(written)));
    }
    let revoked = approved.revoke(&name, dir);
    revoked.map_err(|error| with_owner_hint(call.facts, error))?;
    let event = Event::new("unapprove").with("skill", name);
    call.facts
        .record(event.with("path", dir.map(|dir| dir.display().to_string())));
    Ok(format!("`{}` is no longer approved\n", one_line(written)))
}

/// The skill, and the digest of all its files.
fn read(entry: &Entry) -> Result<(Skill, String)> {
    if entry.is_concealed() {
        let (name, holder) = (entry.name(), entry.holder().display());
        let text = format!("`{name}` comes with a project that is not trusted");
        return Err(Error::new(text).hint(format!(
            "look at it, then run `agent-skills trust {holder}` first"
        )));
    }
    let skill = Skill::load(&entry.dir)
        .map_err(|diagnostic| Error::new(diagnostic.to_string()).hint("repair it first"))?;
    let digest = approval_digest(&skill);
    let digest = digest.map_err(|source| Error::io("read", &entry.dir, &source))?;
    Ok((skill, digest))
}

/// Says whose record it is, where it cannot be written.
fn with_owner_hint(facts: &Facts, error: Error) -> Error {
    let approved = Ledger::approvals(facts.enterprise(), facts.state());
    let file = approved.file().display();
    error.or_hint(format!("`{file}` has to be writable: run it as its owner"))
}

/// What an approved skill is now: `same`, `changed` or `gone`.
fn state(dir: &Path, digest: &str) -> &'static str {
    if dir.symlink_metadata().is_err() {
        return "gone";
    }
    let now = Skill::load(dir).ok();
    let now = now.and_then(|skill| approval_digest(&skill).ok());
    if now.as_deref() == Some(digest) {
        "same"
    } else {
        "changed"
    }
}

/// Every approval.
///
/// # Errors
/// If the record cannot be read.
fn list(call: CliCall) -> Result<String> {
    let entries = Ledger::approvals(call.facts.enterprise(), call.facts.state()).entries()?;
    let columns = [
        ("NAME", 12),
        ("STATE", 0),
        ("APPROVED", 0),
        ("BY", 4),
        ("PATH", 20),
    ];
    let mut table = Table::new(&columns, "BY, PATH, APPROVED");
    let mut listed = Vec::new();
    for (name, approvals) in &entries {
        for (path, approval) in &approvals.0 {
            let state = state(Path::new(path), &approval.digest);
            let (shown, paint) = match state {
                "same" => ("as approved", Paint::Good),
                "changed" => ("changed since", Paint::Bad),
                _ => (state, Paint::Dim),
            };
            let by = approval.by.as_deref().unwrap_or_default();
            let cells = vec![
                Cell::new(one_line(name)),
                Cell::new(shown).paint(paint),
                Cell::new(local(&approval.time)),
                Cell::new(one_line(by)),
                Cell::new(one_line(path)).paint(Paint::Dim),
            ];
            table.row(cells, Vec::new());
            let of = with(json!({"name": name, "path": path}), json!(approval));
            listed.push(with(of, json!({"state": state})));
        }
    }
    let none = "No skill is approved.\n";
    call.answers_or("approvals", &listed, none, || table.render(call.screen))
}
