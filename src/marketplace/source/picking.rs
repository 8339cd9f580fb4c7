//! Decides which of the possible places a reference means, and which skills there are meant.

use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Fetcher, Snapshot};
use crate::marketplace::reference::{Place, Reading, Reference, Want};
use crate::marketplace::source::{Found, Miss, Origin, choose};
use crate::marketplace::{InstallOptions, Market, Note};
use crate::sys::limits;

/// What a reference means.
pub struct Picked<'a> {
    pub snapshot: Rc<Snapshot<'a>>,
    pub chosen: Vec<Found>,
    pub origin: Rc<Origin>,
}

impl Market<'_> {
    /// Finds the place that a reference means, and the skills wanted from it.
    pub(crate) fn pick<'a>(
        &self,
        fetcher: &mut Fetcher<'a>,
        reference: &Reference,
        requested: &str,
        options: &InstallOptions,
        note: &mut Note,
    ) -> Result<Picked<'a>> {
        let readings = match reference {
            Reference::Named { name, source } => {
                vec![self.find_by_name(fetcher, name, source.as_deref(), note)?]
            }
            Reference::Readings(readings) => readings.clone(),
        };
        let picked = pick(fetcher, &readings, requested, options, note)?;
        let unusable = picked.snapshot.tree.unusable;
        if unusable > 0 {
            let (deep, long) = (limits::TREE_DEPTH, limits::TREE_PATH);
            note(&format!(
                "{unusable} paths of the source were left out: they are unsafe, deeper than {deep} \
                 directories, or longer than {long} bytes"
            ));
        }
        Ok(picked)
    }
}

/// Takes the first reading that exists. Only if its repository or skill is missing, the next one is
/// tried; any other failure is returned.
fn pick<'a>(
    fetcher: &mut Fetcher<'a>,
    readings: &[Reading],
    requested: &str,
    options: &InstallOptions,
    note: &mut Note,
) -> Result<Picked<'a>> {
    let choosing = options.all || !options.skills.is_empty();
    let (mut misses, mut forbidden) = (Vec::<Miss>::new(), None);
    for reading in readings {
        // A reading as a single skill does not apply if several are wanted.
        if choosing && readings.len() > 1 && matches!(reading.want, Want::Named(_)) {
            continue;
        }
        // Whether it exists is not asked, so another reading may be meant.
        if readings.len() > 1
            && let Place::Repository { url, .. } = &reading.place
            && let Err(failure) = fetcher.remote(url)
        {
            forbidden.get_or_insert(failure);
            continue;
        }
        let told = format!("`{requested}` is the {reading}");
        // With several readings, it is not known before which one applies.
        if readings.len() == 1 {
            note(&told);
        }
        let opened = match fetcher.open(reading, requested, &options.skills, options.all) {
            Ok(opened) => opened,
            Err(failure) if failure.is_absence() || failure.class == Class::NoSuchRef => {
                misses.push(Miss {
                    absent: true,
                    lists: false,
                    error: failure.into(),
                });
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        // From a site, only the chosen skills were fetched.
        let (want, all) = match &reading.place {
            Place::WellKnown(_) => (Want::Any, true),
            _ => (opened.want(reading), options.all),
        };
        let found = &opened.snapshot.found;
        let chosen: Vec<Found> = match choose(found, &want, &options.skills, all) {
            Ok(chosen) => chosen.into_iter().cloned().collect(),
            Err(miss) => {
                let error = miss.error.context(format!("`{}`", opened.origin.shown()));
                if miss.absent {
                    misses.push(Miss { error, ..miss });
                    continue;
                }
                return Err(error);
            }
        };
        if readings.len() > 1 {
            note(&told);
        }
        warn_of_ref(fetcher, reading, note);
        return Ok(Picked {
            snapshot: opened.snapshot,
            chosen,
            origin: Rc::new(opened.origin),
        });
    }
    Err(forbidden.map_or_else(|| nothing_fits(requested, misses), Error::from))
}

/// Warns that `REPO@NAME` means a skill here, while other tools read `NAME` as a ref.
fn warn_of_ref(fetcher: &mut Fetcher, reading: &Reading, note: &mut Note) {
    if let (Place::Repository { url, .. }, Want::Named(name)) = (&reading.place, &reading.want)
        && fetcher.refs.get(url).is_some_and(|refs| refs.has(name))
    {
        note(&format!(
            "`{name}` is a branch or tag, too; `#{name}` instead of `@{name}` would mean that"
        ));
    }
}

/// Combines the errors of all readings into one.
fn nothing_fits(requested: &str, mut misses: Vec<Miss>) -> Error {
    let requested = requested.escape_debug();
    match misses.len() {
        0 => Error::new(format!("`{requested}` names one skill already"))
            .hint("leave out `--skill` and `--all`"),
        1 => misses.remove(0).error,
        _ => {
            let reason = |miss: &Miss| format!("\n  {}", miss.error);
            let reasons: Vec<String> = misses.iter().map(reason).collect();
            // A repository that exists but has other skills gives the most helpful error.
            let listing = misses.iter().find(|miss| miss.lists);
            let listing = listing.and_then(|miss| miss.error.next_step());
            let hint = listing.unwrap_or(
                "check the spelling; a private repository needs credentials that git has without \
                 asking",
            );
            Error::new(format!("nothing fits `{requested}`:{}", reasons.concat())).hint(hint)
        }
    }
}
