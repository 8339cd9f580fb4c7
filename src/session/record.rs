//! The state in two copies, placed so that one command is unlikely to hit both: beside the program
//! and in the user's state directory. The newest copy counts, so deleting one or restoring an older
//! one lifts no restriction. The places depend on whether the program's directory is writable,
//! which may change: the third place, used in the opposite case, is read too.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::file::StateFile;
use super::state::{State, Unreadable};
use crate::error::Result;
use crate::sys::{Directories, Env, hash};

/// The state with all its copies.
#[derive(Debug, Clone)]
pub(super) struct Record {
    first: StateFile,
    /// `None` if both would be in the same place.
    pub(super) second: Option<StateFile>,
    /// A copy from when the program's directory was writable and no longer is, or the reverse.
    former: Option<StateFile>,
}

impl Record {
    /// The record of this installation.
    pub(super) fn from_env(dirs: &Directories, env: &Env) -> Self {
        let plugin = &dirs.plugin;
        // All installations of a user share these directories, so each has its own file there.
        let own = format!(
            "state-{:016x}.json",
            hash(plugin.as_os_str().as_encoded_bytes())
        );
        let [_, state, cache, _] = dirs.private(env).map(|place| place.join(&own));
        let beside = plugin.join("state.json");
        Self::in_places(if dirs.state(env) == *plugin {
            [beside, state, cache]
        } else {
            [state, cache, beside]
        })
    }

    /// Copies in the first two places, and a former one in the third.
    fn in_places([first, second, former]: [PathBuf; 3]) -> Self {
        let is_another = former != first && former != second;
        Self {
            former: is_another.then(|| StateFile::at(former)),
            second: (second != first).then(|| StateFile::at(second)),
            first: StateFile::at(first),
        }
    }

    /// A single copy, in `dir`.
    #[cfg(test)]
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            first: StateFile::at(dir.join("state.json")),
            second: None,
            former: None,
        }
    }

    /// The first copy, beside which marks are kept.
    pub(super) fn path(&self) -> &Path {
        self.first.path()
    }

    /// The newest copy; `None` if there is none.
    ///
    /// # Errors
    /// When the first cannot be read, or another cannot while the first is missing.
    pub(super) fn read(&self) -> Result<Option<Rc<State>>, Unreadable> {
        self.newest(StateFile::read)
    }

    /// As [`Record::read`], from disk without the cache.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub(super) fn read_anew(&self) -> Result<Option<Rc<State>>, Unreadable> {
        self.newest(StateFile::read_anew)
    }

    fn newest(&self, read: Read) -> Result<Option<Rc<State>>, Unreadable> {
        let first = read(&self.first)?;
        let is_gone = first.is_none();
        let second = self.second.as_ref().map_or(Ok(None), read);
        let mut newest = first;
        for other in [second, self.former(read)] {
            match other {
                Ok(Some(other)) if newest.as_ref().is_none_or(|it| other.serial > it.serial) => {
                    newest = Some(other);
                }
                Err(unreadable) if is_gone => return Err(unreadable),
                _ => {}
            }
        }
        Ok(newest)
    }

    /// The state in the third place. A file of another user, who shares the program, is not about
    /// our sessions.
    fn former(&self, read: Read) -> Result<Option<Rc<State>>, Unreadable> {
        let Some(former) = &self.former else {
            return Ok(None);
        };
        match read(former) {
            Ok(Some(_)) | Err(_) if former.is_anothers() => Ok(None),
            known => known,
        }
    }

    /// Replaces the state; both copies if it contains any activation. The second is written first,
    /// so that a reader in between, or after a kill, finds the newer state there. The file in the
    /// third place is then outdated and is removed if possible.
    ///
    /// # Errors
    /// When the first copy cannot be written. A failure of the second is only reported by `doctor`.
    pub(super) fn write(&self, state: State) -> Result<()> {
        let copies = std::iter::once(&self.first).chain(&self.second);
        let copies = copies.map(StateFile::read);
        let copies = copies.chain([self.former(StateFile::read)]);
        let serials = copies.filter_map(|copy| Some(copy.ok()??.serial));
        let state = State {
            serial: serials.max().unwrap_or_default().saturating_add(1),
            ..state
        };
        let Some(second) = self.second.as_ref().filter(|_| !state.holds_nothing()) else {
            self.first.write(&state)?;
            for older in self.second.iter().chain(&self.former) {
                older.remove();
            }
            return Ok(());
        };
        let before = second.read().ok().flatten();
        let is_kept = second.write(&state).is_ok();
        self.first.write(&state).inspect_err(|_| {
            // Undo it: the caller will report that nothing changed.
            match before {
                Some(before) => drop(second.write(&before)),
                None if is_kept => second.remove(),
                None => {}
            }
        })?;
        if let Some(former) = self.former.as_ref().filter(|_| is_kept) {
            former.remove();
        }
        Ok(())
    }

    /// The copy that is missing or differs although the state is worth keeping, and why.
    pub(super) fn lacks(&self) -> Option<(PathBuf, String)> {
        let second = self.second.as_ref()?;
        let known = self.read().ok()??;
        let why = |copy: &StateFile| match copy.read() {
            Ok(Some(state)) if state.serial == known.serial => None,
            Ok(Some(_)) => Some("it is older".to_owned()),
            Ok(None) => Some("it is missing".to_owned()),
            Err(unreadable) => Some(unreadable.to_string()),
        };
        let mut lacking = [&self.first, second].into_iter();
        let lacking = lacking.find_map(|copy| Some((copy.path().to_owned(), why(copy)?)));
        lacking.filter(|_| !known.holds_nothing())
    }
}

type Read = fn(&StateFile) -> Result<Option<Rc<State>>, Unreadable>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use std::fs;

    fn record() -> (tempfile::TempDir, Record, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let vars = [
            ("HOME", home.path().to_owned()),
            ("AGENT_SKILLS_HOME", home.path().join("p")),
        ];
        fs::create_dir(home.path().join("p")).unwrap();
        let env = Env::new(vars, Path::new("/"));
        let record = Record::from_env(&Directories::from_env(&env), &env);
        let second = record.second.as_ref().unwrap().path().to_owned();
        (home, record, second)
    }

    fn with(names: &[&str]) -> State {
        let session = |name: &&str| {
            let active = crate::session::ActiveSkill {
                name: "x".to_owned(),
                tool: "skill_x".to_owned(),
                dir: "/x".to_owned(),
                digest: String::new(),
                allowed: Some(Vec::new()),
                denied: Vec::new(),
                standing: crate::session::Standing::Active,
                handed: None,
                arguments: None,
            };
            let session = Session {
                activated: vec![active],
                ..Session::default()
            };
            ((*name).to_owned(), session)
        };
        State {
            sessions: names.iter().map(session).collect(),
            ..State::default()
        }
    }

    fn known(record: &Record) -> Vec<String> {
        let state = record.read_anew().unwrap().unwrap_or_default();
        state.sessions.keys().cloned().collect()
    }

    #[test]
    fn either_copy_is_enough_and_the_next_change_makes_both_again() {
        let (_home, record, second) = record();
        for gone in [record.path().to_owned(), second.clone()] {
            record.write(with(&["a", "b"])).unwrap();
            fs::remove_file(&gone).unwrap();
            assert_eq!(known(&record), ["a", "b"]);
            assert_eq!(record.lacks().unwrap().0, gone);
            record.write(with(&["c"])).unwrap();
            assert!(gone.exists() && second.exists() && record.lacks().is_none());
        }
    }

    #[test]
    fn the_newest_counts_whichever_was_put_back_or_emptied() {
        let (_home, record, second) = record();
        record.write(with(&["old"])).unwrap();
        for place in [record.path().to_owned(), second] {
            let old = fs::read(&place).unwrap();
            record.write(with(&["new"])).unwrap();
            for text in [&old[..], br#"{"version":1,"sessions":{}}"#] {
                fs::write(&place, text).unwrap();
                assert_eq!(known(&record), ["new"]);
            }
        }
    }

    #[test]
    fn a_record_gone_here_and_broken_there_is_unknown() {
        let (_home, record, second) = record();
        record.write(with(&["a"])).unwrap();
        fs::write(&second, "garbage").unwrap();
        assert_eq!(known(&record), ["a"]);
        fs::remove_file(record.path()).unwrap();
        assert!(record.read_anew().is_err());
        fs::write(record.path(), "garbage").unwrap();
        assert!(record.read_anew().is_err());
        fs::remove_file(&second).unwrap();
        assert!(record.read_anew().is_err());
        fs::remove_file(record.path()).unwrap();
        assert!(record.read_anew().unwrap().is_none());
    }

    #[test]
    fn a_serial_that_cannot_be_continued_is_damage() {
        let (_home, record, second) = record();
        record.write(with(&["a"])).unwrap();
        let endless = format!(r#"{{"version":1,"serial":{},"sessions":{{}}}}"#, u64::MAX);
        fs::write(&second, &endless).unwrap();
        assert_eq!(known(&record), ["a"]);
        record.write(with(&["b"])).unwrap();
        assert!(record.lacks().is_none());
        fs::write(record.path(), &endless).unwrap();
        assert!(record.read_anew().is_err());
        // After a reset the serial goes on from the sound copy.
        record.write(with(&["c"])).unwrap();
        fs::remove_file(&second).unwrap();
        assert_eq!(known(&record), ["c"]);
    }

    /// The record with the program's directory writable, and with it read-only.
    fn in_either_order(record: &Record) -> (Record, PathBuf) {
        let [first, second, former] = [
            Some(&record.first),
            record.second.as_ref(),
            record.former.as_ref(),
        ]
        .map(|copy| copy.unwrap().path().to_owned());
        let other = Record::in_places([second, former.clone(), first]);
        (other, former)
    }

    #[test]
    fn a_copy_counts_though_the_first_place_became_read_only() {
        let (_home, writable, second) = record();
        let (unwritable, third) = in_either_order(&writable);
        writable.write(with(&["a"])).unwrap();
        fs::remove_file(&second).unwrap();
        assert_eq!(known(&unwritable), ["a"]);
        // The next change makes it the older one, which may be lost.
        let beside = fs::read(writable.path()).unwrap();
        unwritable.write(with(&["b"])).unwrap();
        fs::write(writable.path(), beside).unwrap();
        assert_eq!(
            (known(&unwritable), known(&writable)),
            (vec!["b".to_owned()], vec!["b".to_owned()])
        );
        // The same in reverse.
        fs::remove_file(writable.path()).unwrap();
        fs::remove_file(&second).unwrap();
        assert_eq!(known(&writable), ["b"]);
        writable.write(with(&["c"])).unwrap();
        assert!(!third.exists() && writable.lacks().is_none());
    }

    #[test]
    fn a_damaged_record_counts_only_while_no_copy_is_known() {
        let (_home, writable, _) = record();
        let (unwritable, _) = in_either_order(&writable);
        fs::write(writable.path(), "garbage").unwrap();
        assert!(unwritable.read_anew().is_err());
        unwritable.write(with(&["a"])).unwrap();
        fs::write(writable.path(), "garbage").unwrap();
        assert_eq!(known(&unwritable), ["a"]);
        fs::remove_file(unwritable.path()).unwrap();
        assert!(unwritable.read_anew().is_err());
    }

    #[test]
    fn what_another_user_has_beside_the_program_is_not_this_ones() {
        let (home, ..) = record();
        let [first, second] = ["a", "b"].map(|name| home.path().join(name));
        // A file of root's that is not a state file.
        let record = Record::in_places([first, second, PathBuf::from("/etc/passwd")]);
        let is_ours = crate::sys::process::effective_user() == 0;
        assert_eq!(record.read_anew().is_err(), is_ours);
    }

    #[test]
    fn what_holds_nothing_is_kept_once() {
        let (_home, record, second) = record();
        record.write(with(&["a"])).unwrap();
        let mut free = with(&["b"]);
        free.sessions.insert("b".to_owned(), Session::default());
        record.write(free).unwrap();
        assert!(!second.exists() && record.lacks().is_none());
        assert_eq!(known(&record), ["b"]);
    }

    #[test]
    fn a_second_place_that_cannot_be_written_is_done_without() {
        let (home, record, _) = record();
        fs::write(home.path().join(".local"), "").unwrap();
        record.write(with(&["a"])).unwrap();
        assert_eq!(known(&record), ["a"]);
        assert!(record.lacks().is_some());
    }

    #[test]
    fn what_the_first_place_refuses_did_not_happen() {
        let (_home, record, _) = record();
        record.write(with(&["a"])).unwrap();
        fs::remove_file(record.path()).unwrap();
        fs::create_dir_all(record.path().join("full")).unwrap();
        assert!(record.write(with(&["b"])).is_err());
        let second = record
            .second
            .as_ref()
            .unwrap()
            .read_anew()
            .unwrap()
            .unwrap();
        assert!(second.sessions.contains_key("a"));
    }
}
