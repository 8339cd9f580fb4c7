//! `policy fetch`: the policies that local ones take from elsewhere.

use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller};
use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::policy::Pointer;
use crate::run_context::RunContext;
use crate::signing::{Demand, Requirement};
use crate::sys::{files, limits};

/// Fetches each, and keeps it if it is the one that is meant.
///
/// # Errors
/// When one cannot be fetched or is not taken. The last one is kept then, and the others are
/// fetched.
pub fn fetch(ctx: &RunContext, common: Common, caller: Caller) -> Answer {
    let pointers = Pointer::all(&ctx.enterprise())?;
    if pointers.is_empty() && !common.json {
        return Ok("No policy takes another from elsewhere.\n".to_owned());
    }
    let urls: Vec<String> = pointers.iter().map(|one| one.from.url.clone()).collect();
    let mut each = pointers.iter();
    Outcomes::of_each(common, caller, &urls, |url| {
        let pointer = each.next().ok_or_else(|| Error::new("there is none"))?;
        let fetched = content(ctx, pointer);
        let kept = fetched.and_then(|bytes| {
            if common.dry_run {
                return Ok(None);
            }
            pointer.keep(&ctx.enterprise(), &bytes).map(Some)
        });
        if kept.is_err() && !common.dry_run {
            // What kept it from being fetched may also keep this from being written.
            let _ = pointer.note_failure(&ctx.enterprise());
        }
        Ok(match kept? {
            None => format!("`{url}` can be fetched\n"),
            Some(true) => format!("the policy from `{url}` is new and counts from now on\n"),
            Some(false) => format!("the policy from `{url}` is the one that is here\n"),
        })
    })
}

/// What is there now, with a good signature if one is required.
fn content(ctx: &RunContext, pointer: &Pointer) -> Result<Vec<u8>> {
    let from = &pointer.from;
    let base = ctx.base(&ctx.dirs.plugin);
    // The policies themselves may be missing, so none can say which addresses may be contacted; the
    // administrator's pointer does.
    let market = Market {
        offline: false,
        ..ctx.market_at(&base)
    };
    let read = |url: &str| match url.strip_prefix("file://").unwrap_or(url) {
        path if path.starts_with('/') => {
            let path = std::path::Path::new(path);
            let read = files::read_capped(path, limits::CONFIG_FILE);
            read.map_err(|error| Error::io("read", path, &error).hint("look whether it is there"))
        }
        url => market.download(url, limits::CONFIG_FILE),
    };
    let bytes = read(&from.url)?;
    let Some(signers) = &from.signers else {
        return Ok(bytes);
    };
    let armored = read(&format!("{}.sig", from.url))?;
    let beside = |path: &std::path::PathBuf| pointer.file.with_file_name("").join(path);
    let demand = Demand {
        require: Requirement::Listed,
        signers: Some(beside(signers)),
        revoked: from.revoked.as_ref().map(beside),
        principals: from.principals.clone(),
        stated_in: format!("`{}`", pointer.file.display()),
    };
    let why = market.unmet_by_policy(&bytes, &String::from_utf8_lossy(&armored), &demand)?;
    match why {
        None => Ok(bytes),
        Some(why) => Err(Error::new(format!(
            "the policy from `{}` was not taken: {why}",
            from.url
        ))
        .hint("ask who wrote it")),
    }
}
