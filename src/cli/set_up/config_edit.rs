//! `config edit`: config.toml in the user's editor. A copy is edited, so the file never has a mistake.

use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result};
use crate::policy::{Config, parse_toml, save_toml};
use crate::run_context::RunContext;
use crate::sys::{Durable, files, limits};

/// Opens a copy in the editor and saves it, unless it has a mistake. Then the copy is kept, and
/// opened next time.
pub fn edit(ctx: &RunContext) -> Result<String> {
    let path = ctx.config_path();
    let copy = path.with_file_name("config.edited.toml");
    let before = read(&path)?.unwrap_or_default();
    if read(&copy)?.is_none() {
        ctx.base(&ctx.dirs.plugin).make()?;
        files::replace(&copy, before.as_bytes(), 0o600, Durable::No)?;
    }
    open(ctx, &copy)?;
    let after = read(&copy)?.unwrap_or_default();
    let kept = || {
        let copy = copy.display();
        format!("what you wrote is in `{copy}`; `agent-skills config edit` opens it again")
    };
    let check = |text: &str| match parse_toml::<Config>(text) {
        Ok(_) => Ok(()),
        Err((line, reason)) => {
            Err(Error::new(format!("nothing was saved: line {line}: {reason}")).hint(kept()))
        }
    };
    let what = if after == before {
        "unchanged"
    } else {
        save_toml(&path, &before, &after, &check).map_err(|error| error.or_hint(kept()))?;
        "saved"
    };
    files::remove(&copy).map_err(|error| Error::io("remove", &copy, &error))?;
    Ok(format!("{what}: {}\n", path.display()))
}

fn read(path: &Path) -> Result<Option<String>> {
    let bytes = files::unless_missing(path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let bytes = bytes.map_err(|error| Error::io("read", path, &error))?;
    bytes.map(String::from_utf8).transpose().map_err(|_| {
        Error::new(format!("`{}` is not UTF-8", path.display())).hint("save it as UTF-8")
    })
}

/// Runs the editor as git does: the variable may contain options.
fn open(ctx: &RunContext, file: &Path) -> Result<()> {
    let set = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| ctx.env.text(name));
    let editor = set.filter(|editor| !editor.trim().is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(file);
    let status = shell
        .status()
        .map_err(|error| Error::io("run", Path::new("sh"), &error))?;
    if status.success() {
        return Ok(());
    }
    let text = format!(
        "the editor `{}` failed: nothing was saved",
        editor.escape_debug()
    );
    Err(Error::new(text).hint("set `VISUAL` or `EDITOR` to one that is installed"))
}
