//! What is trusted of a project, or would be, and what has changed since.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::abilities::{abilities, below};
use crate::cli::options::Common;
use crate::cli::tool_names::ToolNames;
use crate::cli::{Screen, json};
use crate::error::Result;
use crate::facts::Facts;
use crate::policy::{Ledger, Seen, Trust, Trusts, is_empty_place, is_place, parts_of};
use crate::skill::{one_line, shown_name};
use crate::sys::text::{count, counted};

/// The parts that are described before the question; of more, only the dry run tells.
const SHOWN: usize = 10;

/// What of a project a person is asked about.
pub struct Look {
    /// Each part that is new, changed or gone; first those with severe findings.
    parts: Vec<String>,
    /// Those that are as before.
    kept: usize,
    /// Whether there is nothing to ask: all is trusted as it is.
    pub is_same: bool,
}

impl Look {
    /// Looks at these parts of `holder`; `whole` says whether they are all it has.
    pub fn new(facts: &Facts, holder: &Path, seen: &[Seen], whole: bool, screen: Screen) -> Self {
        let trusts = Trusts::new(Ledger::trusted(facts.state()));
        // Further in than what is inside, which a name could look like otherwise.
        let below = |told: String| screen.hanging("  ", &told, 6);
        let names = ToolNames::of(facts);
        let (mut parts, mut severe, mut kept) = (Vec::new(), Vec::new(), 0);
        for part in seen.iter().filter(|part| !is_nothing(&part.path)) {
            match trusts.of_seen(holder, part) {
                _ if !part.is_readable() => {
                    parts.push(below(told(holder, &part.path, "it cannot be read")));
                }
                Trust::Given => kept += 1,
                state => {
                    let (inside, is_severe) = inside(part, screen, names);
                    let list = if is_severe { &mut severe } else { &mut parts };
                    list.push(below(line(holder, &part.path, &state, "new")) + &inside);
                }
            }
        }
        if whole {
            let gone = trusts.gone(holder);
            parts.extend(gone.iter().map(|path| below(told(holder, path, "gone"))));
        }
        parts.splice(..0, severe);
        let is_same = parts.is_empty() && !trusts.is_always(holder);
        Self {
            parts,
            kept,
            is_same,
        }
    }

    /// A screenful; `command` shows all with `--dry-run`.
    pub fn brief(&self, command: &str) -> String {
        let rest = match self.parts.len().saturating_sub(SHOWN) {
            0 => String::new(),
            rest => format!("  and {rest} more: `agent-skills {command} --dry-run` shows them\n"),
        };
        let shown: String = self.parts.iter().take(SHOWN).map(String::as_str).collect();
        shown + &rest + &self.kept()
    }

    /// All of it.
    pub fn whole(&self) -> String {
        self.parts.concat() + &self.kept()
    }

    fn kept(&self) -> String {
        match self.kept {
            0 => String::new(),
            kept => format!("  {} as before\n", counted(kept, "is", "are")),
        }
    }
}

/// What is in a part, and whether the scan has severe findings there.
fn inside(part: &Seen, screen: Screen, names: ToolNames) -> (String, bool) {
    let files = part.files();
    let (lines, is_severe) = if is_place(&part.path) {
        (vec![count(files.len(), "file")], false)
    } else if part.path.is_dir() {
        abilities(&part.path, &files, names)
    } else {
        (Vec::new(), false)
    };
    (below(lines, "    ", screen), is_severe)
}

/// Whether a part is a skills directory in which there is nothing beside the skills.
fn is_nothing(part: &Path) -> bool {
    is_place(part) && is_empty_place(part)
}

/// One line about a part that is not trusted as it is.
fn line(holder: &Path, part: &Path, state: &Trust, missing: &str) -> String {
    let state = match state {
        Trust::Given => "as before".to_owned(),
        Trust::Missing => missing.to_owned(),
        Trust::Outdated(changed) if changed.is_empty() => "changed since".to_owned(),
        Trust::Outdated(changed) => format!("changed since: {}", changed.join(", ")),
    };
    told(holder, part, &state)
}

fn told(holder: &Path, part: &Path, state: &str) -> String {
    let path = part.strip_prefix(holder).unwrap_or(part);
    let what = if is_place(part) {
        "/ (beside the skills)"
    } else {
        ""
    };
    let (path, state) = (shown_name(&path.display().to_string()), shown_name(state));
    format!("{path}{what}: {state}")
}

/// A trusted directory, in the format that `--json` documents.
#[derive(Serialize)]
struct Listed<'l> {
    path: &'l str,
    /// Whether it stays trusted whatever changes.
    always: bool,
    /// What is not trusted as it is now, a line each.
    differs: Vec<String>,
}

/// `trust --list`: every trusted directory with its current state.
///
/// # Errors
/// If the record cannot be read.
pub fn trusted(facts: &Facts, common: Common) -> Result<String> {
    let record = Ledger::trusted(facts.state());
    let entries = record.entries()?;
    let listed = entries.iter().map(|(path, recorded)| {
        let (holder, trusts) = (Path::new(path), Trusts::new(record.clone()));
        let mut parts = parts_of(holder);
        parts.retain(|part| !is_nothing(part));
        let states = parts.iter().filter_map(|part: &PathBuf| {
            let state = trusts.of_part(holder, part);
            (state != Trust::Given).then(|| line(holder, part, &state, "not trusted"))
        });
        let gone = trusts.gone(holder);
        let gone = gone.iter().map(|path| told(holder, path, "gone"));
        Listed {
            path,
            always: recorded.is_always(),
            differs: states.chain(gone).collect(),
        }
    });
    let listed: Vec<Listed> = listed.collect();
    if common.json {
        return json::list("projects", &listed);
    }
    if listed.is_empty() {
        return Ok("No project is trusted.\n".to_owned());
    }
    let mut text = String::new();
    for one in listed {
        let always = if one.always { "  always" } else { "" };
        let _ = writeln!(text, "{}{always}", one_line(one.path));
        text.extend(one.differs.iter().map(|line| format!("  {line}\n")));
    }
    Ok(text)
}
