//! Reach and ancestry over generated histories: lines, branches, merges, force-pushes, forks.

use super::*;
use crate::marketplace::fetch::Permit;
use crate::marketplace::reference::RepoUrl;
use crate::marketplace::testing::World;

struct Histories {
    world: World,
    commits: Vec<(char, CommitId)>,
}

impl Histories {
    /// - `main`: a b c m e, where `m` merges `x`, a branch of `b`.
    /// - Tag `v1` at `b`; tag `only` at `t`, which follows `a`; branch `side` at `s`, which follows
    ///   `c`.
    /// - On no branch or tag any more: `f`, `g`, which follow `b`, like the commits of a fork.
    /// - Without a common ancestor: `o`, `p`, on the branch `other`.
    fn new() -> Self {
        let world = World::new();
        let mut made = Self {
            commits: Vec::new(),
            world,
        };
        made.commit('a');
        made.commit('b');
        made.git(&["tag", "v1"]);
        made.commit('c');
        for (branch, from, letters) in [
            ("x", 'b', "x"),
            ("side", 'c', "s"),
            ("tagged", 'a', "t"),
            ("fork", 'b', "fg"),
        ] {
            let from = made.id(from).to_string();
            made.git(&["checkout", "-q", "-b", branch, &from]);
            letters.chars().for_each(|letter| made.commit(letter));
        }
        made.git(&["tag", "-a", "-m", "t", "only", "tagged"]);
        made.git(&["checkout", "-q", "--orphan", "other"]);
        made.commit('o');
        made.commit('p');
        made.git(&["checkout", "-q", "main"]);
        made.git(&["merge", "-q", "--no-ff", "-m", "m", "x"]);
        made.keep('m');
        made.commit('e');
        for gone in ["x", "tagged", "fork"] {
            made.git(&["branch", "-q", "-D", gone]);
        }
        made
    }

    fn git(&self, args: &[&str]) -> String {
        self.world.git("o/r", args)
    }

    fn commit(&mut self, letter: char) {
        self.world.commit("o/r", &[(&letter.to_string(), "x")]);
        self.keep(letter);
    }

    fn keep(&mut self, letter: char) {
        let id = CommitId::parse(&self.git(&["rev-parse", "HEAD"])).unwrap();
        self.commits.push((letter, id));
    }

    fn id(&self, letter: char) -> &CommitId {
        &self.commits.iter().find(|(of, _)| *of == letter).unwrap().1
    }

    fn with<T>(&self, test: impl FnOnce(&Git, &Remote) -> T) -> T {
        let path = self.world.path("repos/o/r");
        let url = RepoUrl::parse(&format!("file://{}", path.display())).unwrap();
        let test = |git: Git| {
            test(
                &git,
                &Remote::find(&git, &Permit::any(), &url, &url).unwrap(),
            )
        };
        self.world.with_git(test)
    }

    fn reach(&self, depths: &[usize], letter: char) -> Reachability {
        self.with(|git, remote| reach(depths, git, remote, self.id(letter)))
    }

    fn ancestry(&self, depths: &[usize], old: char, new: char) -> Ancestry {
        let (old, new) = (self.id(old), self.id(new));
        self.with(|git, remote| ancestry(depths, git, remote, old, new))
    }
}

#[test]
fn a_commit_is_its_sources_where_a_branch_or_tag_leads_to_it() {
    let made = Histories::new();
    for (letters, reach) in [
        // Merged commits are reached, even if their branch is gone.
        ("abcxme", Reachability::Branch("main".to_owned())),
        ("s", Reachability::Branch("side".to_owned())),
        ("op", Reachability::Branch("other".to_owned())),
        ("t", Reachability::Tag("only".to_owned())),
        // Git still serves them, as hosts serve the commits of forks.
        ("fg", Reachability::None),
    ] {
        for letter in letters.chars() {
            assert_eq!(made.reach(&[200], letter), reach, "{letter}");
        }
    }
    let nobodys = CommitId::parse(&"1".repeat(40)).unwrap();
    made.with(|git, remote| assert_eq!(reach(&DEPTHS, git, remote, &nobodys), Reachability::None));
}

#[test]
fn beyond_the_bound_nobody_knows() {
    let made = Histories::new();
    assert_eq!(made.reach(&[1], 'f'), Reachability::Unknown);
    assert_eq!(made.reach(&[1], 'c'), Reachability::Unknown);
    // The second depth goes further.
    assert!(made.reach(&[1, 200], 'c').is_reached());
    assert_eq!(made.reach(&[1, 200], 'f'), Reachability::None);
    assert_eq!(made.ancestry(&[1], 'a', 'e'), Ancestry::Unknown);
    assert_eq!(made.ancestry(&[1], 'o', 'e'), Ancestry::Unknown);
    assert_eq!(made.ancestry(&[1, 200], 'a', 'e'), Ancestry::Forward);
    let nowhere = RepoUrl::parse("file:///nowhere/o/r").unwrap();
    made.world.with_git(|git| {
        let remote = Remote::find(&git, &Permit::any(), &nowhere, &nowhere).unwrap();
        let (old, new) = (made.id('a'), made.id('b'));
        assert_eq!(reach(&DEPTHS, &git, &remote, old), Reachability::Unknown);
        assert_eq!(
            ancestry(&DEPTHS, &git, &remote, old, new),
            Ancestry::Unknown
        );
    });
}

#[test]
fn commits_follow_precede_or_are_unrelated() {
    let made = Histories::new();
    for (old, new, ancestry) in [
        ('a', 'a', Ancestry::Same),
        ('a', 'b', Ancestry::Forward),
        ('a', 'e', Ancestry::Forward),
        ('x', 'e', Ancestry::Forward),
        ('e', 'a', Ancestry::Backward),
        ('e', 'x', Ancestry::Backward),
        ('p', 'o', Ancestry::Backward),
        ('e', 'p', Ancestry::Unrelated),
        ('e', 's', Ancestry::Unrelated),
        ('g', 'e', Ancestry::Unrelated),
    ] {
        assert_eq!(made.ancestry(&[200], old, new), ancestry, "{old} {new}");
    }
}

#[test]
fn what_the_source_has_forgotten_was_not_followed() {
    let made = Histories::new();
    made.with(|git, remote| {
        let forgotten = CommitId::parse(&"1".repeat(40)).unwrap();
        let ancestry = ancestry(&DEPTHS, git, remote, &forgotten, made.id('e'));
        assert_eq!(ancestry, Ancestry::Unrelated);
    });
}
