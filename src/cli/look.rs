//! `show`, `cat`, `scan` and `sources`: inspecting skills before an install, and managing sources.

use std::fmt::Write as _;

use super::caller::Failure;
use super::consent::{describe, printable};
use super::json;
use super::options::{Sources, Wanted};
use super::shop::{Shop, note};
use crate::error::{Error, Result};
use crate::marketplace::{Finding, InstallOptions, Severity};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// The plan of an install.
pub fn show(ctx: &RunContext, wanted: &Wanted, as_json: bool) -> Result<String> {
    let shop = Shop::of_user(ctx).offline(wanted.offline);
    let options = InstallOptions {
        reading: wanted.reading.map(Into::into),
        ..InstallOptions::default()
    };
    let plan = shop
        .market(ctx)
        .show(&wanted.reference, &options, &mut note)?;
    if as_json {
        json::one(&plan)
    } else {
        Ok(describe(&plan))
    }
}

/// A file of a skill, which need not be installed.
pub fn cat(ctx: &RunContext, file: &str, offline: bool) -> Result<String> {
    let split = file.rsplit_once(':').filter(|(reference, path)| {
        !reference.is_empty() && !path.is_empty() && !path.starts_with("//")
    });
    let (reference, path) = split.ok_or_else(|| {
        Error::new(format!("`{}` names no file", file.escape_debug()))
            .hint("give it as REFERENCE:PATH, for example owner/repo@skill:SKILL.md")
    })?;
    let shop = Shop::of_user(ctx).offline(offline);
    let options = InstallOptions::default();
    let bytes = shop.market(ctx).cat(reference, path, &options, &mut note)?;
    let size = bytes.len();
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| {
        Error::new(format!(
            "`{}` is not text: {size} bytes",
            path.escape_debug()
        ))
        .hint("install the skill to get it")
    })?;
    Ok(printable(&text))
}

/// The scan's findings. Fails if one is at least as severe as `fail_on`.
pub fn scan(
    ctx: &RunContext,
    target: &str,
    as_json: bool,
    fail_on: Option<Severity>,
    offline: bool,
) -> Result<String, Failure> {
    let shop = Shop::of_user(ctx).offline(offline);
    let scanned = shop.market(ctx).scan(target, &mut note).map_err(|error| {
        // A bare name most likely means an installed skill.
        match ctx.catalog().nearest(target).first() {
            Some(name) if !target.contains(['/', '@', ':']) => {
                error.hint(format!("did you mean the installed `{name}`?"))
            }
            _ => error,
        }
    })?;
    let text = if as_json {
        let skills: Vec<_> = scanned
            .iter()
            .map(|(name, findings)| Scanned { name, findings })
            .collect();
        json::list("skills", &skills)?
    } else {
        let mut text = String::new();
        for (name, findings) in &scanned {
            let _ = writeln!(text, "{name}: {} findings", findings.len());
            for finding in findings {
                let _ = writeln!(text, "  {}", finding.summary());
            }
        }
        text
    };
    let worst = scanned
        .iter()
        .flat_map(|(_, findings)| findings)
        .map(|f| f.severity)
        .max();
    if fail_on.is_some_and(|level| worst >= Some(level)) {
        Err(Failure::Answered(text))
    } else {
        Ok(text)
    }
}

#[derive(serde::Serialize)]
struct Scanned<'a> {
    name: &'a str,
    findings: &'a [Finding],
}

/// Changes and lists the sources.
pub fn sources(ctx: &RunContext, verb: &Sources) -> Result<String, Failure> {
    let shop = Shop::of_user(ctx);
    let market = shop.market(ctx);
    match verb {
        Sources::Add { reference, name } => {
            let (source, count) = market.add_source(reference, name.as_deref())?;
            Ok(format!(
                "added `{}`, which has {count} skills\n",
                source.name
            ))
        }
        Sources::Remove { name } => {
            market.remove_source(name)?;
            Ok(format!(
                "removed the source `{}`; what was installed from it stays\n",
                one_line(name)
            ))
        }
        Sources::List { json: as_json } => {
            let sources = market.sources()?;
            if *as_json {
                return Ok(json::list("sources", &sources)?);
            }
            let line = |source: &crate::marketplace::Source| {
                format!(
                    "{}  {}\n",
                    one_line(&source.name),
                    one_line(&source.reference)
                )
            };
            Ok(sources.iter().map(line).collect())
        }
        Sources::Update => {
            let (mut text, mut failed) = (String::new(), false);
            for (source, asked) in market.update_sources()? {
                let name = one_line(&source.name);
                let _ = match asked {
                    Ok(count) => writeln!(text, "`{name}` has {count} skills"),
                    Err(error) => {
                        failed = true;
                        writeln!(
                            text,
                            "`{name}` was left as it was: {}",
                            one_line(&error.to_string())
                        )
                    }
                };
            }
            if failed {
                Err(Failure::Answered(text))
            } else {
                Ok(text)
            }
        }
    }
}
