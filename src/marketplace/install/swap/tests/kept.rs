//! The earlier state that is kept, after a change is interrupted at each of its steps.

use super::*;
use crate::marketplace::install::staging::NEW;

/// The skill's text and its entry's commit in `previous/x`.
fn kept(killed: &Killed) -> Option<(Option<String>, Option<String>)> {
    let previous = previous::read(&killed.base, &name("x")).ok()?;
    let text = fs::read_to_string(previous.dir.path().join("SKILL.md")).ok();
    Some((text, previous.entry.and_then(|entry| entry.commit)))
}

/// Performs the steps of a replacement up to a kill.
fn replacement(killed: &Killed, exchanges: bool, until: usize) {
    let root = killed.base.make().unwrap();
    let (skills, x) = (root.open_dir(&SKILLS).unwrap(), name("x"));
    let within = killed.staging.open_dir(&NEW).unwrap();
    let old = entry("old");
    let steps: [&dyn Fn(); 7] = [
        &|| journal_of_new(&killed.staging).unwrap(),
        &|| previous::make_room(&root, &killed.aside(), &x, Some(&old)).unwrap(),
        &|| {
            if exchanges {
                assert!(within.exchange(x.entry(), &skills, x.entry()).unwrap());
            } else {
                skills.rename(x.entry(), &killed.aside(), &OLD).unwrap();
            }
        },
        &|| {
            if !exchanges {
                within.rename(x.entry(), &skills, x.entry()).unwrap();
            }
        },
        &|| killed.lock("new"),
        &|| {
            let aside = killed.aside();
            let old = replaced(&aside, (&within, x.entry()));
            previous::keep(&root, &aside, &x, old).unwrap();
        },
        &|| remove_journal(&killed.staging).unwrap(),
    ];
    for step in &steps[..until] {
        step();
        // A reader finds nothing wrong before recovery either.
        let present = fs::read_to_string(killed.skill().join("SKILL.md")).ok();
        let found = kept(killed).and_then(|kept| kept.0);
        assert!(
            found.is_none() || found != present,
            "{found:?} at {until} steps"
        );
    }
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
            replacement(&killed, exchanges, until);
            let case = format!("{former:?}, exchange: {exchanges}, {until} steps");
            let (now, earlier) = if until > 0 {
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
fn a_change_takes_nothing_from_an_earlier_one() {
    let killed = Killed::new();
    for left in [&OLD, &GONE, &KEPT, &FORMER] {
        Killed::put(&killed.aside().path_of(left), "another's");
    }
    Killed::put(&killed.skill(), "old");
    Killed::put(&killed.staging.path().join("new/x"), "new");
    let placed = Some(entry("new").sha256);
    begin_journal(&killed.staging, &[journal(None, placed)]).unwrap();
    assert_eq!(killed.recovered(), (Some("new".to_owned()), None));
    assert_eq!(kept(&killed), Some((Some("old".to_owned()), None)));
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
            write_journal(&killed.staging, &journals).unwrap();
            assert_eq!(killed.recovered(), both("new"), "{exchanges} {until}");
            assert_eq!(kept(&killed), Some(both("old")), "{exchanges} {until}");
            assert!(!y.exists(), "{exchanges} {until}");
        }
    }
}
