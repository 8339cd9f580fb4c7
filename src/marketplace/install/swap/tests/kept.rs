//! The earlier state that is kept, after a change is interrupted at each of its steps.

use super::*;
use crate::marketplace::install::staging::NEW;

/// The skill's text and its entry's commit in `previous/x`.
fn kept(killed: &Killed) -> Option<(Option<String>, Option<String>)> {
    let previous = previous::read(&killed.base, &name("x")).ok()?;
    let text = fs::read_to_string(previous.dir.path().join("SKILL.md")).ok();
    Some((text, previous.entry.and_then(|entry| entry.commit)))
}

/// Performs the steps of a replacement up to a kill. Returns whether the new skill is in place.
fn replacement(killed: &Killed, exchanges: bool, until: usize) -> bool {
    let root = killed.base.make().unwrap();
    let (skills, x) = (root.open_dir(&SKILLS).unwrap(), name("x"));
    let within = killed.staging.open_dir(&NEW).unwrap();
    let old = entry("old");
    let steps: [(&dyn Fn(), bool); 7] = [
        (&|| journal_of_new(&killed.staging).unwrap(), false),
        (
            &|| previous::make_room(&root, &killed.aside(), &x, Some(&old)).unwrap(),
            false,
        ),
        (
            &|| {
                if exchanges {
                    assert!(within.exchange(x.entry(), &skills, x.entry()).unwrap());
                } else {
                    skills.rename(x.entry(), &killed.aside(), &OLD).unwrap();
                }
            },
            exchanges,
        ),
        (
            &|| {
                if !exchanges {
                    within.rename(x.entry(), &skills, x.entry()).unwrap();
                }
            },
            true,
        ),
        (&|| killed.lock("new"), true),
        (
            &|| {
                let aside = killed.aside();
                let old = replaced(&aside, (&within, x.entry()));
                previous::keep(&root, &aside, &x, old).unwrap();
            },
            true,
        ),
        (&|| remove_journal(&killed.staging).unwrap(), true),
    ];
    let mut is_new = false;
    for (step, moves) in &steps[..until] {
        step();
        is_new = *moves;
        // A reader finds nothing wrong before recovery either.
        let present = fs::read_to_string(killed.skill().join("SKILL.md")).ok();
        let found = kept(killed).and_then(|kept| kept.0);
        assert!(
            found.is_none() || found != present,
            "{found:?} at {until} steps"
        );
    }
    is_new
}

#[test]
fn a_killed_replacement_keeps_the_state_before() {
    // As after a rollback: the state kept until now is the one being restored.
    for former in [Some("new"), None] {
        for (exchanges, until) in [true, false]
            .into_iter()
            .flat_map(|e| (0..=7).map(move |n| (e, n)))
        {
            let killed = Killed::new();
            killed.lock("old");
            Killed::put(&killed.skill(), "old");
            Killed::put(&killed.staging.path().join("new/x"), "new");
            if let Some(text) = former {
                let homes = killed.plugin.path().join("previous");
                let homes = Dir::make_anchor(&homes).unwrap();
                let kept = homes.new_of_ours(name("x").entry()).unwrap();
                let json = serde_json::to_vec(&Some(entry(text))).unwrap();
                fs::write(kept.path().join("entry.json"), json).unwrap();
                Killed::put(&kept.path().join("skill"), text);
            }
            let is_new = replacement(&killed, exchanges, until);
            let case = format!("{former:?}, exchange: {exchanges}, {until} steps");
            let (now, earlier) = if is_new {
                ("new", Some("old"))
            } else {
                ("old", former)
            };
            assert_eq!(killed.recovered(), both(now), "{case}");
            assert_eq!(kept(&killed), earlier.map(both), "{case}");
        }
    }
}

#[test]
fn a_removal_killed_anywhere_keeps_the_earlier_state() {
    for is_gone in [false, true] {
        let killed = Killed::new();
        killed.lock("old");
        Killed::put(&killed.skill(), "old");
        let root = killed.base.make().unwrap();
        previous::make_room(&root, &killed.aside(), &name("x"), Some(&entry("older"))).unwrap();
        Killed::put(&killed.staging.path().join("new/x"), "older");
        let within = killed.staging.open_dir(&NEW).unwrap();
        let x = name("x");
        previous::keep(&root, &killed.aside(), &x, (&within, x.entry())).unwrap();
        write_journal(&killed.staging, &[journal(None, None)]).unwrap();
        previous::set_aside(&root, &killed.aside(), &name("x")).unwrap();
        if is_gone {
            let gone = killed.aside().path_of(&GONE);
            fs::rename(killed.skill(), gone).unwrap();
        }
        let expected = if is_gone { (None, None) } else { both("old") };
        assert_eq!(killed.recovered(), expected);
        let expected = (!is_gone).then(|| both("older"));
        assert_eq!(kept(&killed), expected);
    }
}

#[test]
fn a_change_takes_nothing_from_an_earlier_one() {
    let killed = Killed::new();
    for left in [&OLD, &GONE, &KEPT, &FORMER] {
        Killed::put(&killed.aside().path_of(left), "another's");
    }
    Killed::put(&killed.skill(), "old");
    Killed::put(&killed.staging.path().join("new/x"), "new");
    let placed = Some(entry("new").sha256);
    begin_journal(&killed.staging, &[journal(None, placed)]).unwrap();
    assert_eq!(killed.recovered(), (Some("old".to_owned()), None));
    assert_eq!(kept(&killed), None);
    assert!(!killed.plugin.path().join("previous").exists());
}

#[test]
fn of_many_changes_recovery_carries_out_what_is_left() {
    for exchanges in [true, false] {
        for until in 1..=6 {
            let killed = Killed::new();
            killed.lock("old");
            Killed::put(&killed.skill(), "old");
            Killed::put(&killed.staging.path_of(&NEW).join("x"), "new");
            let y = skills(&killed.base).join("y");
            Killed::put(&y, "old");
            replacement(&killed, exchanges, until);
            let new = entry("new");
            let placed = Some(new.sha256.clone());
            let journals = [
                journal(Some(new), placed),
                Journal::new(&name("y"), None, None),
            ];
            write_journal(&killed.staging, &journals.map(Journal::of_many)).unwrap();
            assert_eq!(killed.recovered(), both("new"), "{exchanges} {until}");
            assert_eq!(kept(&killed), Some(both("old")), "{exchanges} {until}");
            assert!(!y.exists(), "{exchanges} {until}");
        }
    }
}
