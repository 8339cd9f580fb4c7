//! How a signature is told to people, and which recorded signatures have become invalid.

use crate::cli::prelude::*;
use crate::signing::{MANIFEST, Signature, Signer};

/// The signature of a skill in one sentence: who signed it and since when that is known, or that
/// nobody did, or what is wrong.
pub fn describe_signature(checked: &CheckedSignature) -> String {
    let since = match (&checked.signature, checked.since) {
        (Signature::Good(_), Some(since)) => {
            let local = UnixMillis(since).local();
            let day = local.split(' ').next().unwrap_or_default();
            format!(" (known since {day})")
        }
        (Signature::Good(signer), None) if signer.principal.is_none() => {
            " (not known until now)".to_owned()
        }
        _ => String::new(),
    };
    let unmet = checked.unmet.as_ref();
    let unmet = unmet.map_or_else(String::new, |why| format!("; {why}"));
    one_line(&format!("{}{since}{unmet}", checked.signature))
}

/// A skill whose signature holds no longer, or is not what is required.
#[derive(Debug, Serialize)]
pub struct SignatureProblem {
    /// Its directory's name.
    pub name: String,
    /// Its directory.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The next step.
    pub remedy: String,
}

impl SignatureProblem {
    fn new(name: &str, path: String, message: &str) -> Self {
        Self {
            name: name.to_owned(),
            path,
            message: one_line(message),
            remedy: format!(
                "`agent-skills info {name}` shows who signed it; ask its author before you use it"
            ),
        }
    }
}

/// What is wrong with the signatures of those of the compared skills that had one, or may have.
///
/// # Errors
/// When the lockfile cannot be read, or a program that checks is missing or does not answer.
pub fn signature_problems(
    market: &Market,
    compared: &[VerifiedSkill],
) -> Result<Vec<SignatureProblem>> {
    let is_there = |name: &str| {
        let mut compared = compared.iter();
        compared.any(|one| one.name == name && one.state != InstallState::Missing)
    };
    let may_be_signed =
        |entry: &LockEntry| entry.signer.is_some() || entry.files.get(MANIFEST).is_some();
    let mut problems = Vec::new();
    for entry in market.entries()? {
        if !may_be_signed(&entry) || !is_there(&entry.name) {
            continue;
        }
        // What a project's lockfile says came with it.
        let before = entry.signer.as_ref();
        let before = before.filter(|_| !market.plugin_dir.is_shared());
        if let Some(why) = why_lapsed(before, &market.signature(&entry)?) {
            let path = market.dir(&entry.name).display().to_string();
            problems.push(SignatureProblem::new(&entry.name, path, &why));
        }
    }
    Ok(problems)
}

/// Why a signature does not hold, or is not by whom the lockfile names; `None` if it is.
pub fn why_lapsed(before: Option<&Signer>, now: &CheckedSignature) -> Option<String> {
    let was = |what: String| match before {
        Some(before) => format!("the lockfile says that it is signed by {before}, and {what}"),
        None => what,
    };
    let differs = match (&now.signature, before) {
        (Signature::Bad { why }, _) => Some(was(format!("its signature is invalid: {why}"))),
        (Signature::Good(signer), Some(before)) if signer.key != before.key => {
            Some(was(format!("it is signed by {signer}")))
        }
        (Signature::Good(signer), Some(before)) => {
            let is_other = before.principal.is_some() && signer.principal != before.principal;
            let listed = signer.principal.as_deref();
            let as_whom = listed.map_or_else(
                || "no file of signers lists that key".to_owned(),
                |listed| format!("that key is listed as {listed}'s"),
            );
            is_other.then(|| was(as_whom))
        }
        (Signature::Unchecked { why }, Some(_)) => {
            Some(was(format!("that cannot be checked: {why}")))
        }
        _ => None,
    };
    differs.or_else(|| now.unmet.clone())
}

/// Skills that are withheld because of their signatures, whoever put them there.
pub fn unsigned_skills(facts: &Facts) -> Vec<SignatureProblem> {
    let catalog = Catalog::of(facts);
    let unsigned = |entry: &&Entry| entry.withheld() == Some(WithheldReason::Unsigned);
    let entries = catalog.entries().iter().filter(unsigned);
    let problems = entries.map(|entry| {
        let why = entry.reason_not_offered().unwrap_or_default();
        SignatureProblem::new(&entry.name(), entry.dir.display().to_string(), &why)
    });
    problems.collect()
}
