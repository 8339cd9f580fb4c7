use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::host::Agent;
use crate::session::ActivationStatus;

fn named(name: &str) -> SessionKey {
    SessionKey::of_call(&Env::new([("AGENT_SKILLS_SESSION", name)], Path::new("/")))
}

fn of_parent() -> SessionKey {
    SessionKey::of_call(&Env::default())
}

fn skill(name: &str) -> ActiveSkill {
    ActiveSkill {
        name: name.to_owned(),
        tool: format!("skill_{name}"),
        dir: format!("/{name}"),
        digest: "sha256:0".to_owned(),
        allowed: Some(vec!["Read".to_owned()]),
        denied: Vec::new(),
        status: ActivationStatus::Active,
        began: 0,
        handed: None,
        arguments: None,
    }
}

fn activate(store: &Store, key: &SessionKey, skill: ActiveSkill) {
    store.load(key, &[skill], LoadMode::Add, 5).unwrap();
}

fn activated(store: &Store, key: &SessionKey) -> Vec<ActiveSkill> {
    let activated = store.session(key).unwrap().activated.into_iter();
    activated
        .map(|skill| ActiveSkill { began: 0, ..skill })
        .collect()
}

/// What another process writes into the file.
fn write(store: &Store, text: &str, mode: u32) {
    fs::write(&store.path, text).unwrap();
    fs::set_permissions(&store.path, fs::Permissions::from_mode(mode)).unwrap();
    store.seen.take();
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path());
    (dir, store)
}

#[test]
fn sessions_do_not_touch_each_other() {
    let (_dir, store) = store();
    let (a, b) = (named("a"), named("b"));
    activate(&store, &a, skill("x"));
    activate(&store, &b, skill("y"));
    let ended = store.begin(&b).unwrap();
    assert_eq!(
        (ended.len(), ended[0].skill.as_str(), ended[0].why),
        (1, "y", EndReason::NextStart)
    );
    assert!(ended[0].began > 1_700_000_000_000);
    assert_eq!(activated(&store, &a), [skill("x")]);
    assert_eq!(activated(&store, &b), []);
}

#[test]
fn the_latest_is_last_and_each_stands_once() {
    let (_dir, store) = store();
    let key = named("a");
    activate(&store, &key, skill("x"));
    activate(&store, &key, skill("y"));
    activate(&store, &key, skill("x"));
    assert_eq!(activated(&store, &key), [skill("y"), skill("x")]);
}

#[test]
fn sessions_of_ended_processes_are_forgotten() {
    let (_dir, store) = store();
    activate(&store, &named("keep"), skill("x"));
    store
        .change_any(|state, _| {
            let session = Session {
                realm: key::pid_namespace_id(),
                changed: now(),
                activated: vec![skill("z")],
                ..Session::default()
            };
            state
                .sessions
                .insert("4194304-1".to_owned(), session.clone());
            let foreign = Session {
                realm: "elsewhere".to_owned(),
                ..session
            };
            state.sessions.insert("4194305-1".to_owned(), foreign);
            Ok(())
        })
        .unwrap();
    let ended = store.begin(&named("other")).unwrap();
    let of = |ended: &EndedActivation| (ended.session.clone(), ended.skill.clone(), ended.why);
    let gone = (
        Some("4194304-1".to_owned()),
        "z".to_owned(),
        EndReason::HostGone,
    );
    assert_eq!(ended.iter().map(of).collect::<Vec<_>>(), [gone]);
    let state = store.read().unwrap();
    let keys: Vec<&String> = state.sessions.keys().collect();
    assert_eq!(keys, ["4194305-1", "named:keep"]);
}

#[test]
fn beginning_with_nothing_known_writes_nothing() {
    let (dir, store) = store();
    store.begin(&named("a")).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn whatever_is_wrong_with_the_file_it_is_unreadable() {
    let (_dir, store) = store();
    let sound = r#"{"version":1,"sessions":{}}"#;
    for (text, mode) in [
        ("", 0o600),
        ("{", 0o600),
        ("null", 0o600),
        ("[]", 0o600),
        (r#"{"version":2,"sessions":{}}"#, 0o600),
        (r#"{"version":1,"sessions":{"a":3}}"#, 0o600),
        (sound, 0o622),
    ] {
        write(&store, text, mode);
        let why = store.session(&named("a")).unwrap_err().to_string();
        assert!(why.contains("state.json"), "{why}");
        let refused = store.load(&named("a"), &[skill("x")], LoadMode::Add, 5);
        assert!(refused.is_err(), "{text:?}");
    }
    write(&store, sound, 0o600);
    assert_eq!(activated(&store, &named("a")), []);
}

#[test]
fn a_prompt_lifts_what_damage_closed_in_its_own_session_alone() {
    for damage in ["garbage", r#"{"version":2,"sessions":{}}"#] {
        for (one, other) in [(named("a"), named("b")), (named("a"), of_parent())] {
            let (_dir, store) = store();
            activate(&store, &other, skill("x"));
            write(&store, damage, 0o600);
            store.begin(&one).unwrap();
            assert_eq!(activated(&store, &one), []);
            assert_eq!(store.session(&other), Err(StateUnreadable::ThrownAway));
            store.begin(&one).unwrap();
            assert!(store.load(&other, &[skill("x")], LoadMode::Add, 5).is_err());
            assert!(!store.is_before_first_prompt(&other));
            store.begin(&other).unwrap();
            assert_eq!(activated(&store, &other), []);
            assert_eq!(store.session(&named("c")), Err(StateUnreadable::ThrownAway));
        }
    }
}

#[test]
fn a_person_ends_what_a_damaged_file_may_have_had() {
    let (_dir, store) = store();
    for is_discarded in [false, true] {
        write(&store, "garbage", 0o600);
        if is_discarded {
            store.begin(&named("a")).unwrap();
        }
        assert_eq!(store.deactivate(None, true, &[]).unwrap().len(), 0);
        assert!(store.session(&named("b")).is_err(), "a dry run");
        assert_eq!(
            store.deactivate(Some("x"), false, &[]).is_ok(),
            is_discarded
        );
        assert!(store.session(&named("b")).is_err(), "one conversation");
        store.deactivate(None, false, &[]).unwrap();
        assert_eq!(activated(&store, &named("b")), []);
    }
}

#[test]
fn a_conversation_is_known_until_the_next_start() {
    let (_dir, store) = store();
    let (a, b) = (named("a"), named("b"));
    activate(&store, &a, skill("x"));
    store.enter(&a, "work", false).unwrap();
    assert_eq!(store.session(&a).unwrap().context.as_deref(), Some("work"));
    assert_eq!(activated(&store, &a), [skill("x")]);
    store.enter(&a, "other", false).unwrap();
    assert_eq!(store.session(&a).unwrap().context.as_deref(), Some("other"));
    assert_eq!(store.session(&b).unwrap().context, None);
    store.begin(&a).unwrap();
    assert_eq!(store.session(&a).unwrap().context, None);
}

#[test]
fn a_kept_conversation_closes_what_names_none_but_no_agent() {
    let (_dir, store) = store();
    store.enter(&named("a"), "work", true).unwrap();
    activate(&store, &named("a"), skill("x"));
    assert_eq!(store.session(&named("b")), Err(StateUnreadable::NotEntered));
    let agents = SessionKey::of_agent(Agent::ClaudeCode, "s");
    assert_eq!(activated(&store, &agents), []);
}

#[test]
fn the_same_conversation_again_writes_nothing() {
    let (_dir, store) = store();
    store.enter(&named("a"), "work", false).unwrap();
    let before = fs::metadata(&store.path).unwrap().ino();
    store.enter(&named("a"), "work", false).unwrap();
    assert_eq!(fs::metadata(&store.path).unwrap().ino(), before);
}

#[test]
fn entering_a_conversation_opens_no_session_a_reset_closed() {
    let (_dir, store) = store();
    write(&store, "garbage", 0o600);
    store.enter(&of_parent(), "work", false).unwrap();
    assert!(store.session(&of_parent()).is_err());
    store.begin(&named("fresh")).unwrap();
    store.enter(&of_parent(), "work", false).unwrap();
    assert!(store.session(&of_parent()).is_err());
}

#[test]
fn many_at_once_lose_nothing() {
    let (dir, store) = store();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let dir = dir.path();
            scope.spawn(move || {
                let store = Store::at(dir);
                for _ in 0..20 {
                    activate(&store, &named(&n.to_string()), skill(&format!("s{n}")));
                }
            });
        }
    });
    for n in 0..16 {
        assert_eq!(
            activated(&store, &named(&n.to_string())),
            [skill(&format!("s{n}"))]
        );
    }
}

#[test]
fn what_cannot_be_written_did_not_happen() {
    let (_dir, store) = store();
    activate(&store, &named("a"), skill("x"));
    let before = fs::read(&store.path).unwrap();
    let endless = ActiveSkill {
        denied: vec!["x".repeat(usize::try_from(limits::STATE_FILE).unwrap())],
        ..skill("y")
    };
    let refused = store.load(&named("a"), &[endless], LoadMode::Add, 5);
    assert!(refused.unwrap_err().next_step().is_some());
    assert_eq!(activated(&store, &named("a")), [skill("x")]);
    assert_eq!(fs::read(&store.path).unwrap(), before);
}

#[test]
fn a_record_in_a_directory_become_read_only_counts() {
    let (dir, store) = store();
    activate(&store, &named("a"), skill("x"));
    let of_env = || {
        let vars = [("AGENT_SKILLS_HOME", dir.path()), ("HOME", dir.path())];
        let env = Env::new(vars, Path::new("/"));
        Store::from_env(&Directories::from_env(&env), &env)
    };
    let change = |mode| fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
    change(0o555);
    let is_restricted = activated(&of_env(), &named("a")) == [skill("x")];
    change(0o755);
    assert!(is_restricted);
}

#[test]
fn the_file_is_private() {
    let (_dir, store) = store();
    activate(&store, &named("a"), skill("x"));
    assert_eq!(fs::metadata(&store.path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn many_conversations_at_once_lose_nothing() {
    // On a machine with much else to do the lock may not come in time.
    fn sooner_or_later<T>(change: impl Fn() -> Result<T>) {
        assert!((0..50).any(|_| change().is_ok()));
    }
    let (dir, store) = store();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let dir = dir.path();
            scope.spawn(move || {
                let store = Store::at(dir);
                let (name, key) = (n.to_string(), named(&n.to_string()));
                let add = || vec![skill(&format!("s{n}"))];
                for _ in 0..10 {
                    sooner_or_later(|| store.begin(&key));
                    sooner_or_later(|| store.enter(&key, &name, true));
                    sooner_or_later(|| store.load(&key, &add(), LoadMode::Add, 5));
                }
            });
        }
    });
    for n in 0..8 {
        let (key, name) = (named("later"), n.to_string());
        store.enter(&key, &name, true).unwrap();
        assert_eq!(activated(&store, &key), [skill(&format!("s{n}"))]);
    }
}

#[test]
fn a_session_without_conversation_closes_if_one_is_restricted() {
    let (_dir, store) = store();
    store.enter(&named("a"), "work", true).unwrap();
    activate(&store, &named("a"), skill("x"));
    assert!(store.session(&named("b")).is_err());
    store.enter(&named("b"), "play", true).unwrap();
    assert_eq!(activated(&store, &named("b")), []);
    store.deactivate(None, false, &[]).unwrap();
    assert_eq!(activated(&store, &named("c")), []);
}

#[test]
fn a_session_begins_with_nothing() {
    let (_dir, store) = store();
    for key in [named("a"), of_parent()] {
        activate(&store, &key, skill("x"));
        assert_eq!(store.begin(&key).unwrap().len(), 1);
        assert_eq!(activated(&store, &key), []);
    }
}

#[test]
fn an_agents_session_and_one_without_anything_have_no_host() {
    let (_dir, store) = store();
    let parent = [ProcessId::parent()];
    activate(&store, &SessionKey::named("claude-code/1"), skill("x"));
    assert_eq!(store.host_among(&parent), None);
    store
        .change(&of_parent(), |session| {
            session.prompt = Some("p".to_owned());
            Ok(())
        })
        .unwrap();
    assert_eq!(store.host_among(&parent), None);
    activate(&store, &of_parent(), skill("x"));
    assert_eq!(store.host_among(&parent), Some(parent[0]));
}

mod always_on {
    use super::*;

    fn skill(name: &str, allowed: &str) -> ActiveSkill {
        ActiveSkill {
            name: name.to_owned(),
            tool: format!("skill_{name}"),
            dir: format!("/{name}"),
            digest: "sha256:0".to_owned(),
            allowed: Some(vec![allowed.to_owned()]),
            denied: Vec::new(),
            status: ActivationStatus::Active,
            began: 0,
            handed: None,
            arguments: None,
        }
    }

    #[test]
    fn always_on_skills_lie_below_the_activated_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let (store, key) = (
            Store::at(dir.path()),
            SessionKey::of_call(&crate::sys::Env::default()),
        );
        let names = || {
            let session = store.session(&key).unwrap();
            let name = |skill: &ActiveSkill| skill.name.clone();
            session.activated.iter().map(name).collect::<Vec<_>>()
        };
        let load = |name: &str| {
            let one = [skill(name, "Read")];
            store.load(&key, &one, LoadMode::InPlace, 9).unwrap();
        };
        load("own");
        let wanted = [skill("b", "Read"), skill("own", "Read"), skill("a", "Read")];
        let kept = store.keep_always_on(&key, Some(&wanted)).unwrap();
        assert_eq!(
            (names(), kept.began),
            (own(&["b", "a", "own"]), own(&["/b", "/a"]))
        );
        let again = store.keep_always_on(&key, Some(&wanted)).unwrap();
        assert!(again.began.is_empty() && again.ended.is_empty());
        let kept = store
            .keep_always_on(&key, Some(&[skill("a", "Grep"), skill("c", "Read")]))
            .unwrap();
        // What a prompt leaves out stays in force.
        assert_eq!(
            (names(), kept.began),
            (own(&["b", "a", "c", "own"]), own(&["/a", "/c"]))
        );
        assert!(kept.ended.is_empty());
        // Replaced skills come first, because the last one decides.
        load("c");
        let last = [skill("c", "Read")];
        store.keep_always_on(&key, Some(&last)).unwrap();
        assert_eq!(names(), own(&["own", "b", "a", "c"]));
        assert!(store.session(&key).unwrap().has_always);
        store.keep_always_on(&key, None).unwrap();
        assert!(!store.session(&key).unwrap().has_always);
        assert_eq!(names(), own(&["own"]));
    }

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
