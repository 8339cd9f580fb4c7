//! Approvals as a process: a request that can be mailed or reviewed, an administrator's signature
//! below it, and machines that take what is signed. Without signers in a policy nothing signed
//! counts, and `approve NAME` decides on each machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::abilities::{abilities, below};
use super::approvable::{read, to_owner};
use crate::cli::caller::pasted;
use crate::cli::consent::Consenting;
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::error::{Error, Result};
use crate::marketplace::scan_directory;
use crate::policy::{
    Approval, ApprovalSigners, Event, Requested, STATEMENT, Stated, Statement, difference,
};
use crate::run_context::RunContext;
use crate::signing::{Namespace, Signature};
use crate::skill::{brief, one_line, shown_name};
use crate::sys::{Dir, Durable, EntryName, Moment, files, process, tree};

/// How files of signed approvals and withdrawals end.
const APPROVAL: &str = ".approval";

/// What is said of a file that is written.
#[derive(Debug, Clone, Copy)]
pub struct Paper<'a> {
    /// Why.
    pub reason: Option<&'a str>,
    /// Where it is to be, or its directory.
    pub output: Option<&'a Path>,
    /// The key that signs it.
    pub key: Option<&'a Path>,
    /// Whether it withdraws.
    pub revoke: bool,
}

/// The statement about an installed skill.
fn stated(ctx: &RunContext, consenting: Consenting, name: &str) -> Result<Statement> {
    let catalog = ctx.catalog_naming(name);
    let entry = installed(ctx, &catalog, name)?;
    let (skill, digest) = read(entry)?;
    let files = tree::files(&entry.dir);
    let files = files.map_err(|error| Error::io("read", &entry.dir, &error))?;
    let paths: Vec<String> = files.keys().cloned().collect();
    let findings = scan_directory(&entry.dir);
    let mut lockfiles = crate::catalog::Installed::default();
    let said = lockfiles.known(ctx, entry);
    let before = ctx.approved().entries()?.remove(skill.name.as_str());
    let before = before.and_then(|before| before.files(&entry.dir).cloned());
    Ok(Statement {
        version: Statement::VERSION,
        decision: Stated::Requested,
        name: skill.name.to_string(),
        digest,
        source: said.map(|said| said.source.as_str().to_owned()),
        signer: said.and_then(|said| Some(said.signer.as_ref()?.to_string())),
        abilities: abilities(&entry.dir, &paths, consenting.names).0,
        findings: findings
            .iter()
            .map(|finding| one_line(&finding.summary()))
            .collect(),
        changed: before.map_or_else(Vec::new, |before| difference(&before, &files)),
        files,
        by: ctx.user(),
        machine: process::machine(),
        time: Moment::now().to_string(),
        reason: None,
    })
}

/// Writes the request for one skill.
pub fn request(
    ctx: &RunContext,
    paper: &Paper,
    common: Common,
    consenting: Consenting,
    name: &str,
) -> Result<String> {
    let statement = Statement {
        reason: paper.reason.map(str::to_owned),
        ..stated(ctx, consenting, name)?
    };
    let name = &statement.name;
    let file = output(ctx, paper, &format!("{name}.request.json"));
    let shown = shown_name(&file.to_string_lossy());
    if common.dry_run {
        return Ok(format!("would write {shown}\n"));
    }
    write(&file, &statement.render()?)?;
    let asked = Requested {
        digest: statement.digest.clone(),
        by: statement.by.clone(),
        time: statement.time.clone(),
        reason: statement.reason.clone(),
    };
    ctx.approval_requests().put(name, asked)?;
    ctx.record(event("request", &statement));
    Ok(format!(
        "Wrote {shown}: hand it to who may approve; they run `agent-skills {}`\n",
        pasted(&["approve", "--sign", &shown, "--key", "KEY"])
    ))
}

/// Signs a request, or the withdrawal of what one names.
pub fn sign(
    ctx: &RunContext,
    paper: &Paper,
    common: Common,
    consenting: Consenting,
    file: &str,
) -> Result<String> {
    let text = read_file(&ctx.env.cwd.join(file))?;
    let asked = Statement::read(&text)?.0;
    let name = asked.name.clone();
    let mut statement = if paper.revoke {
        // Which files it takes back is all that is signed: the rest is its writer's word.
        Statement {
            decision: Stated::Withdrawn,
            source: None,
            signer: None,
            abilities: Vec::new(),
            findings: Vec::new(),
            changed: Vec::new(),
            files: BTreeMap::new(),
            ..asked.clone()
        }
    } else {
        // What a request says of a skill is its writer's word: the files have to be here.
        let here = stated(ctx, consenting, &name)?;
        if here.digest != asked.digest {
            let text = format!("the request is about other files than those of `{name}` here");
            let from = asked.source.as_deref().map(one_line);
            return Err(Error::new(text).hint(format!(
                "install what is asked for{} to look at it, or have it asked for again",
                from.map_or_else(String::new, |from| format!(", from {from},"))
            )));
        }
        Statement {
            decision: Stated::Approved,
            ..here
        }
    };
    let (what, question) = if paper.revoke {
        ("withdraw", "Withdraw it for good?")
    } else {
        (
            "approve",
            "Approve it as it is now, wherever your signature counts?",
        )
    };
    let shown = below(lines(&asked, &statement), "  ", consenting.screen);
    if common.dry_run {
        return Ok(format!("would {what} `{name}` by a signature\n{shown}"));
    }
    let key = paper.key.ok_or_else(|| {
        Error::new("no key was given").hint("add `--key FILE`, a private ssh key or its .pub")
    })?;
    let command = pasted(&["approve", "--sign", file]);
    if !consenting.to_decide(&format!("`{name}`:\n{shown}"), question, &command)? {
        let text = format!("`{name}` was not signed: you said no");
        return Err(Error::new(text).hint("the same command asks again"));
    }
    (statement.by, statement.time) = (ctx.user(), Moment::now().to_string());
    statement.machine = process::machine();
    statement.reason = paper.reason.map(str::to_owned).or(asked.reason);
    let text = statement.render()?;
    let base = ctx.base(&ctx.dirs.plugin);
    let market = ctx.market_at(&base);
    let signed = market.sign_text(&text, Namespace::Approval, &ctx.env.cwd.join(key))?;
    let kind = if paper.revoke {
        "withdrawn"
    } else {
        "approved"
    };
    let short = statement.digest.trim_start_matches("sha256:");
    let short = &short[..12.min(short.len())];
    let target = output(ctx, paper, &format!("{name}-{short}.{kind}{APPROVAL}"));
    write(&target, &format!("{text}{}", signed.0))?;
    ctx.record(event("sign", &statement).with("key", signed.1.to_string()));
    let file = shown_name(&target.to_string_lossy());
    Ok(format!(
        "Signed with {}: machines take it with `agent-skills {}`\n{}",
        signed.1,
        pasted(&["approve", "--accept", &file]),
        // Who was not asked sees what was signed.
        if consenting.asks() { "" } else { &shown }
    ))
}

fn lines(asked: &Statement, statement: &Statement) -> Vec<String> {
    let mut lines = vec![format!("digest {}", statement.digest)];
    let by = asked.by.as_deref().map(|by| brief(by, 60));
    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
    let on = brief(&asked.machine, 60);
    lines.push(format!("asked for{by} on {on}, {}", brief(&asked.time, 40)));
    let stranger = |what: &str, text: &str| format!("{what}: {}", shown_name(&brief(text, 300)));
    lines.extend(
        asked
            .reason
            .as_deref()
            .map(|reason| stranger("reason", reason)),
    );
    let known = [("source", &statement.source), ("signer", &statement.signer)];
    let known = known.into_iter();
    lines.extend(known.filter_map(|(what, text)| Some(stranger(what, text.as_deref()?))));
    lines.extend(statement.abilities.iter().cloned());
    let told = |what, all: &[String]| {
        let few = all.iter().take(20).map(|line| stranger(what, line));
        let left = all.len().saturating_sub(20);
        let more = (left > 0).then(|| format!("{what}: {left} more"));
        few.chain(more).collect::<Vec<_>>()
    };
    lines.extend(told("finding", &statement.findings));
    lines.extend(told("since approved", &statement.changed));
    lines
}

/// What the policies say of signed approvals; every file that names signers has to list one.
fn signers(ctx: &RunContext) -> Result<Vec<ApprovalSigners>> {
    let signers: Vec<_> = ctx.policies()?.approval_signers().collect();
    if signers.is_empty() {
        return Err(
            Error::new("no policy says whose signed approvals count").hint(
                "an administrator sets `[approval] signers` in policy.toml; until then \
             `agent-skills approve NAME` approves on this machine",
            ),
        );
    }
    Ok(signers)
}

/// The files that the policies' directories of approvals have, in order.
pub fn provided(ctx: &RunContext) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for dir in ctx.policies()?.approval_dirs() {
        let entries = files::entries(&dir).map_err(|error| Error::io("read", &dir, &error))?;
        let named = entries
            .into_iter()
            .map(|(name, _)| dir.join(name.as_os_str()));
        let named = named.map(|path| path.to_string_lossy().into_owned());
        found.extend(named.filter(|path| path.ends_with(APPROVAL)));
    }
    found.sort();
    Ok(found)
}

/// Takes a signed approval or withdrawal.
pub fn accept(ctx: &RunContext, common: Common, file: &str) -> Result<String> {
    let path = ctx.env.cwd.join(file);
    let text = read_file(&path)?;
    let (statement, signed) = Statement::read(&text)?;
    let taken = signer(ctx, signed).and_then(|by| take(ctx, common, &statement, by));
    let refused = taken.as_ref().err().filter(|_| !common.dry_run);
    if let Some(error) = refused {
        let event = event("approve", &statement).with("decision", "refused");
        ctx.record(event.with("reason", error.to_string()));
    }
    taken
}

/// Who has signed, as each policy's file of signers names them.
fn signer(ctx: &RunContext, signed: Option<(&str, &str)>) -> Result<String> {
    let all = signers(ctx)?;
    let refused = |why: &str, stated_in: &Path| {
        let stated_in = stated_in.display();
        Error::new(format!("it does not count: {why}")).hint(format!(
            "`{stated_in}` says whose approvals count; do not use this one"
        ))
    };
    let signed = signed.ok_or_else(|| refused("nobody has signed it", &all[0].stated_in))?;
    let base = ctx.base(&ctx.dirs.plugin);
    let market = ctx.market_at(&base);
    let mut named = String::new();
    let enterprise = ctx.enterprise();
    for one in &all {
        for path in [Some(&one.signers), one.revoked.as_ref()]
            .into_iter()
            .flatten()
        {
            enterprise.check_named(path)?;
        }
        let checked = market.check_approval(signed, &one.signers, one.revoked.as_deref())?;
        named = match checked {
            Signature::Good(by) => by.principal.ok_or_else(|| {
                refused(
                    "nobody who is listed for approvals has signed it",
                    &one.stated_in,
                )
            })?,
            Signature::Unsigned => return Err(refused("it is not signed", &one.stated_in)),
            Signature::Bad { why } | Signature::Unchecked { why, .. } => {
                return Err(refused(&why, &one.stated_in));
            }
        };
    }
    Ok(named)
}

fn take(ctx: &RunContext, common: Common, said: &Statement, by: String) -> Result<String> {
    let (approved, name) = (ctx.approved(), said.name.as_str());
    let shown = brief(&by, 60);
    let before = approved.entries()?.remove(name);
    let is_withdrawn = before
        .as_ref()
        .is_some_and(|before| before.is_withdrawn(&said.digest));
    let (kind, approval, done) = match said.decision {
        Stated::Requested => {
            return Err(
                Error::new("it is a request, which nobody has approved so far")
                    .hint("`agent-skills approve --sign FILE --key KEY` does"),
            );
        }
        Stated::Approved if is_withdrawn => {
            let text = format!("the approval of `{name}` in this state was withdrawn");
            return Err(Error::new(text).hint("a withdrawal is for good: change the skill"));
        }
        Stated::Approved => {
            let approval = Approval::signed(said, by);
            (
                "approve",
                approval,
                format!("`{name}` is approved by {shown}\n"),
            )
        }
        Stated::Withdrawn => {
            let approval = Approval::withdrawn(said, by);
            (
                "unapprove",
                approval,
                format!("`{name}` is no longer approved, by {shown}\n"),
            )
        }
    };
    let is_known = before.is_some_and(|before| before.has_taken(&approval));
    if is_known {
        return Ok(format!("`{name}`: this was taken before\n"));
    }
    if common.dry_run {
        return Ok(format!("would take it: {done}"));
    }
    let put = approved.take_signed(name, approval);
    put.map_err(|error| to_owner(ctx, error))?;
    ctx.record(event(kind, said).with("signer", shown));
    Ok(done)
}

fn event(kind: &str, said: &Statement) -> Event {
    Event::new(kind)
        .with("skill", said.name.as_str())
        .with("digest", said.digest.as_str())
        .with("reason", said.reason.clone())
}

/// The file that a command writes: where `--output` says, else beside the user.
fn output(ctx: &RunContext, paper: &Paper, name: &str) -> PathBuf {
    let output = paper.output.map(|output| ctx.env.cwd.join(output));
    match output {
        Some(dir) if dir.is_dir() => dir.join(name),
        Some(file) => file,
        None => ctx.env.cwd.join(name),
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    let written = files::replace(file, text.as_bytes(), 0o644, Durable::Yes);
    written.map_err(|error| error.hint("check the directory, or write elsewhere with --output"))
}

/// A file of a stranger: a regular one, no link, of bounded size.
fn read_file(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(EntryName::parse);
    let read = path
        .parent()
        .zip(name)
        .ok_or(std::io::ErrorKind::InvalidInput.into());
    let read = read.and_then(|(dir, name)| Dir::anchor(dir)?.read(&name, STATEMENT));
    let bytes = read.map_err(|error: std::io::Error| Error::io("read", path, &error))?;
    String::from_utf8(bytes).map_err(|_| Error::new("it is not text"))
}
