use std::os::unix::fs::MetadataExt;

use std::fs;

use super::*;
use crate::session::Standing;

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
        standing: Standing::Active,
        handed: None,
        arguments: None,
    }
}

fn activate(store: &Store, key: &SessionKey, skill: ActiveSkill) {
    store.load(key, vec![skill], Loading::Add, 5).unwrap();
}

fn activated(store: &Store, key: &SessionKey) -> Vec<ActiveSkill> {
    store.session(key).unwrap().activated
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
        (1, "y", End::NextStart)
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
        .change(|state, _| {
            let session = Session {
                realm: key::realm(),
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
    let of = |ended: &Ended| (ended.session.clone(), ended.skill.clone(), ended.why);
    let gone = (Some("4194304-1".to_owned()), "z".to_owned(), End::HostGone);
    assert_eq!(ended.iter().map(of).collect::<Vec<_>>(), [gone]);
    let state = store.record.read().unwrap().unwrap();
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
    use std::os::unix::fs::PermissionsExt;
    let (_dir, store) = store();
    for content in [
        "",
        "{",
        "null",
        "[]",
        r#"{"version":2,"sessions":{}}"#,
        r#"{"version":1,"sessions":{"a":3}}"#,
    ] {
        fs::write(store.record.path(), content).unwrap();
        fs::set_permissions(store.record.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(store.session(&named("a")).is_err(), "{content:?}");
        assert!(
            store
                .load(&named("a"), vec![skill("x")], Loading::Add, 5)
                .is_err(),
            "{content:?}"
        );
    }
    fs::write(store.record.path(), r#"{"version":1,"sessions":{}}"#).unwrap();
    fs::set_permissions(store.record.path(), fs::Permissions::from_mode(0o622)).unwrap();
    assert!(store.session(&named("a")).is_err(), "writable by others");
}

#[test]
fn a_reset_keeps_the_sessions_it_may_have_hit_closed() {
    let (_dir, store) = store();
    fs::write(store.record.path(), "garbage").unwrap();
    store.begin(&named("fresh")).unwrap();
    // The host that discarded it can go on; this test's parent is older than the reset.
    assert_eq!(activated(&store, &named("fresh")), []);
    assert!(store.session(&of_parent()).is_err());
    store.begin(&of_parent()).unwrap();
    assert_eq!(activated(&store, &of_parent()), []);
}

#[test]
fn a_conversation_is_known_until_the_next_start() {
    let (_dir, store) = store();
    let (a, b) = (named("a"), named("b"));
    activate(&store, &a, skill("x"));
    store.enter(&a, "work", false).unwrap();
    assert_eq!(store.context(&a).as_deref(), Some("work"));
    assert_eq!(activated(&store, &a), [skill("x")]);
    store.enter(&a, "other", false).unwrap();
    assert_eq!(store.context(&a).as_deref(), Some("other"));
    assert_eq!(store.context(&b), None);
    store.begin(&a).unwrap();
    assert_eq!(store.context(&a), None);
}

#[test]
fn the_same_conversation_again_writes_nothing() {
    let (_dir, store) = store();
    // With the second call the host is certain.
    store.enter(&named("a"), "work", false).unwrap();
    store.enter(&named("a"), "work", false).unwrap();
    let before = fs::metadata(store.record.path()).unwrap().ino();
    store.enter(&named("a"), "work", false).unwrap();
    assert_eq!(fs::metadata(store.record.path()).unwrap().ino(), before);
}

#[test]
fn entering_a_conversation_opens_no_session_a_reset_closed() {
    let (_dir, store) = store();
    fs::write(store.record.path(), "garbage").unwrap();
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
fn the_file_is_private() {
    let (_dir, store) = store();
    activate(&store, &named("a"), skill("x"));
    assert_eq!(
        fs::metadata(store.record.path()).unwrap().mode() & 0o777,
        0o600
    );
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
                    sooner_or_later(|| store.load(&key, add(), Loading::Add, 5));
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
fn an_unrecorded_conversation_counts_until_it_is_recorded() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, store) = store();
    let key = of_parent();
    let is_host = |store: &Store| store.host_among(&[ProcessId::parent()]).is_some();
    let mark = key.left_mark(store.record.path());
    let left = |text: &str, mode| {
        fs::write(&mark, text).unwrap();
        fs::set_permissions(&mark, fs::Permissions::from_mode(mode)).unwrap();
    };
    assert!(store.is_before_first_prompt(&key) && !is_host(&store));
    for (text, mode) in [
        ("", 0o600),
        (r#"{"context":"b"}"#, 0o600),
        (r#"{"context":"b","keep":true}"#, 0o622),
    ] {
        left(text, mode);
        assert_eq!(store.session(&key), Err(Unreadable::NotEntered));
        let refused = store.load(&key, vec![skill("x")], Loading::Add, 5);
        assert!(refused.is_err() && !store.is_before_first_prompt(&key));
    }
    store.enter(&key, "a", true).unwrap();
    activate(&store, &key, skill("x"));
    left(r#"{"context":"b","keep":true}"#, 0o600);
    assert_eq!(store.context(&key).as_deref(), Some("b"));
    assert_eq!(activated(&store, &key), []);
    activate(&store, &key, skill("y"));
    assert!(!mark.exists() && is_host(&store));
    assert_eq!(activated(&store, &key), [skill("y")]);
    store.enter(&key, "a", true).unwrap();
    assert_eq!(activated(&store, &key), [skill("x")]);
    left("", 0o600);
    store.begin(&key).unwrap();
    assert!(!store.is_before_first_prompt(&key) && mark.exists());
}

#[test]
fn only_a_name_is_begun_again() {
    let (_dir, store) = store();
    for (key, is_again) in [(named("a"), true), (of_parent(), false)] {
        activate(&store, &key, skill("x"));
        let mark = key.left_mark(store.record.path());
        fs::write(&mark, "").unwrap();
        assert_eq!(store.begin(&key).unwrap().len(), usize::from(is_again));
        assert_eq!(mark.exists(), !is_again);
        let _ = fs::remove_file(&mark);
        assert_eq!(activated(&store, &key).is_empty(), is_again);
    }
}

/// A process that runs until the test ends it.
struct Running(std::process::Child);

impl Running {
    fn start() -> Self {
        let mut command = std::process::Command::new("cat");
        Self(command.stdin(std::process::Stdio::piped()).spawn().unwrap())
    }

    fn id(&self) -> ProcessId {
        ProcessId::from_pid(self.0.id())
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn the_last_host_of_a_named_session_is_its_host() {
    let (_dir, store) = store();
    let [first, second] = [Running::start(), Running::start()];
    for host in [&first, &second, &second] {
        store
            .enter(&SessionKey::hosted("a", host.id()), "work", true)
            .unwrap();
        assert_eq!(store.host_among(&[host.id()]), Some(host.id()));
    }
    assert_eq!(store.host_among(&[first.id()]), None);
    let session = store.session(&named("a")).unwrap();
    assert!(!is_over(
        "named:a",
        &Session {
            changed: 1,
            ..session.clone()
        },
        &key::realm()
    ));
    first.end();
    second.end();
    assert!(is_over(
        "named:a",
        &Session {
            changed: 1,
            ..session
        },
        &key::realm()
    ));
}

#[test]
fn an_agents_session_and_one_without_anything_have_no_host() {
    let (_dir, store) = store();
    let parent = [ProcessId::parent()];
    activate(&store, &SessionKey::named("claude-code/1"), skill("x"));
    assert_eq!(store.host_among(&parent), None);
    store
        .remember_tools(&of_parent(), std::collections::BTreeSet::new(), None)
        .unwrap();
    assert_eq!(store.host_among(&parent), None);
    activate(&store, &of_parent(), skill("x"));
    assert_eq!(store.host_among(&parent), Some(parent[0]));
}

#[test]
fn the_hosts_that_an_earlier_version_recorded_are_ignored() {
    let (_dir, store) = store();
    let text = r#"{"version":1,"sessions":{"named:a":{"realm":"","changed":1,"context":"c",
        "hosts":[{"realm":"r","noted":1,"above":[{"pid":1,"start":0}]}]}}}"#;
    fs::write(store.record.path(), text).unwrap();
    assert_eq!(store.context(&named("a")).as_deref(), Some("c"));
    assert_eq!(store.host_among(&[ProcessId { pid: 1, start: 0 }]), None);
}
