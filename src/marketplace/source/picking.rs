//! Decides which of the possible places a reference means, and which skills there are meant.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Fetcher, Snapshot};
use crate::marketplace::reference::{Place, Reading, Reference, Want, is_local};
use crate::marketplace::source::{Choosing, Found, Miss, Origin, choose, selects};
use crate::marketplace::{Candidate, InstallOptions, Market, Note};
use crate::skill::SkillName;
use crate::sys::limits;

/// What a reference means.
pub struct Picked<'a> {
    pub snapshot: Rc<Snapshot<'a>>,
    pub chosen: Vec<Found>,
    /// Whether they were chosen among others that the reference means as well.
    pub is_choice: bool,
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
        let installed = match options.pick {
            Some(_) => self.installed_ids(),
            None => HashSet::new(),
        };
        let picked = pick(fetcher, &readings, requested, options, &installed, note)?;
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

    /// What identifies each installed skill ([`Origin::id`]). Of a lockfile that cannot be read
    /// nothing is known; an install reports it.
    pub(crate) fn installed_ids(&self) -> HashSet<String> {
        let entries = self.entries().unwrap_or_default();
        entries.into_iter().map(|entry| entry.id).collect()
    }
}

impl Picked<'_> {
    /// The chosen skills as they are offered.
    pub(crate) fn candidates(&self, installed: &HashSet<String>) -> Vec<Candidate> {
        let chosen: Vec<&Found> = self.chosen.iter().collect();
        candidates(&self.snapshot.found, &chosen, &self.origin, installed)
    }
}

/// Some of the skills that are found in a source, for somebody who chooses among them.
fn candidates(
    found: &[Found],
    some: &[&Found],
    origin: &Origin,
    installed: &HashSet<String>,
) -> Vec<Candidate> {
    let candidate = |one: &&Found| Candidate {
        name: one.skill.name.to_string(),
        path: one.path.clone(),
        description: one.skill.description.clone(),
        plugin: one.plugin.clone(),
        installed: installed.contains(&origin.id(&one.path)),
        select: selects(found, one),
    };
    some.iter().map(candidate).collect()
}

/// Takes the first reading that exists. Only if its repository or skill is missing, the next one is
/// tried; any other failure is returned.
fn pick<'a>(
    fetcher: &mut Fetcher<'a>,
    readings: &[Reading],
    requested: &str,
    options: &InstallOptions,
    installed: &HashSet<String>,
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
        // What is written as a path is what it says.
        let is_plain = matches!(&reading.place, Place::Local(path) if path == requested)
            && is_local(requested);
        // With several readings, it is not known before which one applies.
        if readings.len() == 1 && !is_plain {
            note(&told);
        }
        let is_choice = Cell::new(choosing);
        let ask = |candidates: &[Candidate]| {
            is_choice.set(true);
            options.pick.map_or(Ok(Vec::new()), |pick| pick(candidates))
        };
        let mut skills = options.skills.clone();
        // Of a site or a collection only what is meant is fetched.
        if let (Want::Any, Some(_), false) = (&reading.want, options.pick, choosing) {
            let offered = offered(fetcher, &reading.place, installed)?;
            if offered.len() > 1 {
                let of_place = |error: Error| error.context(format!("`{requested}`"));
                let meant = ask(&offered).map_err(of_place)?;
                let meant = meant.into_iter().filter_map(|at| offered.get(at));
                skills = meant.map(|one| one.select.clone()).collect();
            }
        }
        let opened = match fetcher.open(reading, requested, &skills, options.all) {
            Ok(opened) => opened,
            Err(failure) if failure.is_absence() || failure.class == Class::NoSuchRef => {
                misses.push(Miss {
                    absent: true,
                    lists: false,
                    error: failure.into(),
                });
                continue;
            }
            // Nobody typed the name of this repository.
            Err(failure) if readings.len() > 1 => {
                return Err(failure.context(format!("{told}, if there is one")).into());
            }
            Err(failure) => return Err(failure.into()),
        };
        // From a site, only the chosen skills were fetched.
        let (want, all) = match &reading.place {
            Place::WellKnown(_) => (Want::Any, true),
            _ => (opened.want(reading), options.all),
        };
        let found = &opened.snapshot.found;
        let ask = |several: &[&Found]| ask(&candidates(found, several, &opened.origin, installed));
        let choosing = Choosing {
            names: &skills,
            all,
            ask: options.pick.is_some().then_some(&ask),
        };
        let mut chosen: Vec<Found> = match choose(found, &want, choosing) {
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
        add_required(found, &mut chosen, options, note);
        warn_of_ref(fetcher, reading, note);
        return Ok(Picked {
            snapshot: opened.snapshot,
            chosen,
            is_choice: is_choice.get(),
            origin: Rc::new(opened.origin),
        });
    }
    Err(forbidden.map_or_else(|| nothing_fits(requested, misses), Error::from))
}

/// Adds the missing skills of the same source that the chosen ones require, directly or indirectly.
fn add_required(
    found: &[Found],
    chosen: &mut Vec<Found>,
    options: &InstallOptions,
    note: &mut Note,
) {
    // A name of its own is one skill's.
    let is_missing = options.is_missing.filter(|_| options.name.is_none());
    let Some(is_missing) = is_missing else {
        return;
    };
    let mut at = 0;
    while let Some(skill) = chosen.get(at).map(|one| one.skill.clone()) {
        at += 1;
        for written in skill.fields.requires() {
            let name = SkillName::from_written(&written);
            let is_it = |one: &&Found| Some(&one.skill.name) == name.as_ref();
            let mut named = found.iter().filter(is_it);
            let (Some(required), None) = (named.next(), named.next()) else {
                continue;
            };
            if chosen.iter().any(|one| is_it(&one)) {
                continue;
            }
            let (name, by) = (&required.skill.name, &skill.name);
            match is_missing(&required.skill) {
                Ok(true) => {
                    note(&format!("`{name}` comes too, since `{by}` requires it"));
                    chosen.push(required.clone());
                }
                Ok(false) => {}
                Err(why) => note(&format!(
                    "`{name}`, which `{by}` requires, is left out: {why}"
                )),
            }
        }
    }
}

/// The skills that a site or a collection lists; none for any other place.
fn offered(
    fetcher: &Fetcher,
    place: &Place,
    installed: &HashSet<String>,
) -> Result<Vec<Candidate>> {
    let (_, source, _) = place.record();
    let offers = fetcher.offers(place)?.unwrap_or_default().into_iter();
    let candidates = offers.map(|(name, description)| Candidate {
        path: name.clone(),
        description: Some(description).filter(|text| !text.is_empty()),
        plugin: None,
        installed: installed.contains(&format!("{source}#{name}")),
        select: name.clone(),
        name,
    });
    Ok(candidates.collect())
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
            Error::new(format!(
                "nothing matches `{requested}`:{}",
                reasons.concat()
            ))
            .hint(hint)
        }
    }
}
