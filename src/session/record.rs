//! The state in its two copies, in directories that no one command is likely to reach: beside the program, and
//! where the user's programs keep their state. A copy that is gone, or was put back to an older one, takes
//! nothing away: the newest counts.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::file::StateFile;
use super::state::State;
use super::unreadable::Unreadable;
use crate::error::Result;
use crate::sys::{Directories, Env, hash};

/// The state, wherever it lies.
#[derive(Debug, Clone)]
pub(super) struct Record {
    first: StateFile,
    /// `None` where there is only one place.
    second: Option<StateFile>,
}

impl Record {
    /// That of this installation.
    pub(super) fn of(dirs: &Directories, env: &Env) -> Self {
        let plugin = &dirs.plugin;
        // Installations of one user share these directories, and each has a state of its own.
        let own = format!(
            "state-{:016x}.json",
            hash(plugin.as_os_str().as_encoded_bytes())
        );
        let [_, state, cache] = dirs.private(env).map(|place| place.join(&own));
        let (first, second) = if dirs.state(env) == *plugin {
            (plugin.join("state.json"), state)
        } else {
            (state, cache)
        };
        Self {
            second: (second != first).then(|| StateFile::at(second)),
            first: StateFile::at(first),
        }
    }

    /// One copy, in `dir`.
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            first: StateFile::at(dir.join("state.json")),
            second: None,
        }
    }

    /// The first copy, beside which marks lie.
    pub(super) fn path(&self) -> &Path {
        self.first.path()
    }

    /// The newest copy; `None` when there is none.
    ///
    /// # Errors
    /// When the first cannot be read, or the second where the first is gone.
    pub(super) fn read(&self) -> Result<Option<Rc<State>>, Unreadable> {
        self.newest(StateFile::read)
    }

    /// As [`Record::read`], from the disk whatever was read before.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub(super) fn read_anew(&self) -> Result<Option<Rc<State>>, Unreadable> {
        self.newest(StateFile::read_anew)
    }

    fn newest(&self, read: Read) -> Result<Option<Rc<State>>, Unreadable> {
        let first = read(&self.first)?;
        let Some(second) = &self.second else {
            return Ok(first);
        };
        match (first, read(second)) {
            (Some(first), Ok(Some(second))) if second.serial > first.serial => Ok(Some(second)),
            (Some(first), _) => Ok(Some(first)),
            (None, second) => second,
        }
    }

    /// Replaces the state, in both copies if anything is in force by it. The second comes first: whoever looks in between, or after a kill, finds
    /// there what is newer.
    ///
    /// # Errors
    /// When the first copy cannot be written. The second may be missing: `doctor` tells.
    pub(super) fn write(&self, state: State) -> Result<()> {
        let copies = std::iter::once(&self.first).chain(&self.second);
        let serials = copies.filter_map(|copy| Some(copy.read().ok()??.serial));
        let state = State {
            serial: serials.max().unwrap_or_default().saturating_add(1),
            ..state
        };
        let Some(second) = self.second.as_ref().filter(|_| !state.holds_nothing()) else {
            self.first.write(&state)?;
            if let Some(second) = &self.second {
                second.remove();
            }
            return Ok(());
        };
        let before = second.read().ok().flatten();
        let is_kept = second.write(&state).is_ok();
        self.first.write(&state).inspect_err(|_| {
            // Nothing changed, as the caller will say.
            match before {
                Some(before) => drop(second.write(&before)),
                None if is_kept => second.remove(),
                None => {}
            }
        })
    }

    /// Whether a state of which something is worth keeping lies in one copy only: which is missing, and
    /// why.
    pub(super) fn lacks(&self) -> Option<(PathBuf, String)> {
        let second = self.second.as_ref()?;
        let known = self.read().ok()??;
        let why = |copy: &StateFile| match copy.read() {
            Ok(Some(state)) if state.serial == known.serial => None,
            Ok(Some(_)) => Some("it is older".to_owned()),
            Ok(None) => Some("it is missing".to_owned()),
            Err(unreadable) => Some(unreadable.reason),
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
        let record = Record::of(&Directories::of(&env), &env);
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
    fn what_is_gone_in_one_place_and_broken_in_the_other_is_not_known() {
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
