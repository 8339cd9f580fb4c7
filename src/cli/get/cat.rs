//! `cat`, now `show --file`: a file of a skill, which need not be installed.

use std::collections::BTreeMap;

use crate::cli::describe::printable;
use crate::cli::json;
use crate::cli::market::{market, note};
use crate::cli::options::Common;
use crate::error::{Error, Result};
use crate::marketplace::InstallOptions;
use crate::run_context::RunContext;

/// Print a file of a skill without installing it
#[derive(Debug, clap::Args)]
pub struct Cat {
    /// REFERENCE:PATH
    pub file: String,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

impl Cat {
    /// The file's text.
    pub fn run(&self, ctx: &RunContext, common: Common) -> Result<String> {
        let split = self.file.rsplit_once(':').filter(|(reference, path)| {
            !reference.is_empty() && !path.is_empty() && !path.starts_with("//")
        });
        let (reference, path) = split.ok_or_else(|| {
            Error::new(format!("`{}` names no file", self.file.escape_debug()))
                .hint("give it as REFERENCE:PATH, for example owner/repo@skill:SKILL.md")
        })?;
        let base = ctx.base(&ctx.dirs.plugin);
        let market = market(ctx, &base, self.offline);
        let bytes = market.cat(reference, path, &InstallOptions::default(), &mut note)?;
        let text = text(path, &bytes)?;
        if common.json {
            return json::one(&BTreeMap::from([("path", path), ("text", &text)]));
        }
        Ok(text)
    }
}

/// The content of a file as text that can be shown.
pub fn text(path: &str, bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(printable(text)),
        _ => {
            let (path, size) = (path.escape_debug(), bytes.len());
            Err(Error::new(format!("`{path}` is not text: {size} bytes"))
                .hint("install the skill to get it"))
        }
    }
}
