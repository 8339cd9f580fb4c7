//! Random commands that a list accepts are run, under every shell that there is, among programs that
//! only write down that they were called: none may run that no entry grants, nothing outside
//! `out/` may change, nothing that is not granted may be read, and no list lets one change the
//! places where skills and restrictions are kept.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use skill_permission::vocabulary::Language;

use crate::shell_grammar::Grammar;
use crate::shell_profiles::{Guards, PROFILES, Profile};
use crate::shell_world::{Happened, Logged, World};

/// As many as a run of the whole suite has time for.
const COMMANDS: usize = 3_000;
const BATCH: usize = 100;
/// After this many the search ends, and no more are told.
const MOST_TOLD: usize = 60;
/// What reads `sh -c` on the systems that there are. The first two have most of the differences;
/// they take turns, and so do the others.
const SHELLS: &[&str] = &[
    "/bin/bash",
    "/bin/dash",
    "/bin/bash --posix",
    "/bin/busybox ash",
];
/// What else a host that runs the user's own shell may run.
const ZSH: &str = "/bin/zsh";

/// The number in an environment variable.
fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn accepted_commands_run_nothing_that_is_not_granted() {
    let count = variable("SHELL_COMMANDS").unwrap_or(COMMANDS);
    let seconds = variable("SHELL_SECONDS").map(Duration::from_secs);
    let mut seed = variable("SHELL_SEED").unwrap_or(1);
    let begun = Instant::now();
    let (mut made, mut accepted) = (0, 0);
    let mut damage = Vec::new();
    for missing in SHELLS.iter().chain([&ZSH]).filter(|shell| !is_there(shell)) {
        println!("passed over: there is no {missing}");
    }
    loop {
        made += count;
        accepted += round(seed, count, &mut damage);
        if seconds.is_none_or(|limit| begun.elapsed() > limit) || damage.len() > MOST_TOLD {
            break;
        }
        seed += 1;
    }
    println!("{accepted} of {made} commands accepted and run, up to seed {seed}");
    damage.truncate(MOST_TOLD);
    assert!(damage.is_empty(), "{}", damage.join("\n\n"));
    assert!(
        accepted * 20 > made,
        "too few were accepted to say anything"
    );
}

/// Whether a shell is installed: one that is not would do no damage.
fn is_there(shell: &str) -> bool {
    let program = shell.split(' ').next();
    program.is_some_and(|program| std::path::Path::new(program).exists())
}

/// Runs what is accepted of one seed's commands; each of two threads has half, in a world without
/// and one with files of hostile names.
fn round(seed: u64, count: usize, damage: &mut Vec<String>) -> usize {
    let half = |half: u64| {
        let world = World::new(half == 1);
        let mut grammar = Grammar::new(seed * 2 + half);
        let mut batches = vec![[BTreeSet::new(), BTreeSet::new()]; PROFILES.len()];
        for number in 0..count / 2 {
            let at = number % PROFILES.len();
            let command = match PROFILES[at].guards {
                Guards::Places => grammar.near_places(),
                _ => grammar.command(),
            };
            let accepts = |language| PROFILES[at].accepts(&world, language, &command);
            let is_accepted = [accepts(Language::Sh), accepts(Language::BashOrZsh)];
            for (batch, _) in batches[at]
                .iter_mut()
                .zip(is_accepted)
                .filter(|(_, is)| *is)
            {
                batch.insert(command.clone());
            }
        }
        let mut damage = Vec::new();
        let mut turn = 0;
        for (profile, [of_sh, of_either]) in PROFILES.iter().zip(&batches) {
            for batch in chunks(of_sh) {
                let shells = [SHELLS[turn % 2], SHELLS[2 + turn % 2]];
                for shell in shells.into_iter().filter(|shell| is_there(shell)) {
                    damage.extend(check(&world, profile, shell, &batch));
                }
                turn += 1;
            }
            for batch in chunks(of_either).into_iter().filter(|_| is_there(ZSH)) {
                damage.extend(check(&world, profile, ZSH, &batch));
            }
        }
        let accepted = batches.iter().map(|[of_sh, _]| of_sh.len());
        (accepted.sum::<usize>(), damage)
    };
    let halves = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        [half(0), other.join().unwrap()]
    });
    halves.into_iter().fold(0, |sum, (accepted, found)| {
        damage.extend(found.into_iter().map(|one| format!("{one}\nseed {seed}")));
        sum + accepted
    })
}

/// Bash 5.2 prints a substitution and reads what it printed: that must be what was written.
#[test]
fn bash_runs_in_a_substitution_what_it_runs_outside() {
    let count = variable("SHELL_COMMANDS").unwrap_or(450);
    let world = World::new(false);
    let mut grammar = Grammar::new(variable("SHELL_SEED").unwrap_or(1));
    // Process numbers differ, and so do the line numbers of messages.
    let differs = ["$$", "$!", "-eq 0 ]", "<("];
    let commands = (0..count).map(|_| grammar.command());
    let accepted: BTreeSet<String> = commands
        .filter(|command| !differs.iter().any(|text| command.contains(text)))
        .filter(|command| {
            let substituted = format!("git \"$({command}\n)\"");
            PROFILES[0].accepts(&world, Language::Sh, command)
                && PROFILES[0].accepts(&world, Language::Sh, &substituted)
        })
        .collect();
    assert!(accepted.len() * 10 > count, "too few were accepted");
    let calls = |commands: &[String]| -> Vec<Vec<_>> {
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let happened = world.run("/bin/bash", Guards::Files.programs(), &commands);
        world.clear();
        world.restore();
        let calls = |one: Happened| {
            let mut calls: Vec<_> = one.calls.into_iter().map(without_counters).collect();
            calls.sort();
            calls
        };
        happened.into_iter().map(calls).collect()
    };
    for batch in chunks(&accepted) {
        let in_shape = |before: &str| -> Vec<String> {
            let shape = |command: &&str| format!("{before}{command}\n)");
            batch.iter().map(shape).collect()
        };
        let both = calls(&in_shape("("))
            .into_iter()
            .zip(calls(&in_shape("x=$(")));
        for (command, (outside, inside)) in batch.iter().zip(both) {
            assert_eq!(outside, inside, "{command}");
        }
    }
}

/// Without the variables in which shells count and name logs.
fn without_counters(mut call: Logged) -> Logged {
    let counters = ["_", "SHLVL", "STUB_LOG"];
    call.variables
        .retain(|(name, _)| !counters.contains(&name.as_str()));
    call
}

fn chunks(commands: &BTreeSet<String>) -> Vec<Vec<&str>> {
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    commands.chunks(BATCH).map(<[&str]>::to_vec).collect()
}

/// What the commands did that they must not, each with the command.
fn check(world: &World, profile: &Profile, shell: &str, commands: &[&str]) -> Vec<String> {
    let happened = world.run(shell, profile.guards.programs(), commands);
    let list = profile.allowed;
    let of_calls = commands.iter().zip(&happened).filter_map(|(command, one)| {
        let damage = profile.damage(world, one)?;
        Some(format!("{shell}: {damage}\nunder {list}\nby {command:?}"))
    });
    let mut damage: Vec<String> = of_calls.collect();
    let all = world.changed(&[world.at("")]);
    let guarded = world.changed(&profile.guarded(world));
    world.clear();
    if all.is_some() {
        world.restore();
    }
    let Some(path) = guarded else { return damage };
    if let [command] = commands {
        let path = path.display();
        return vec![format!(
            "{shell}: {path} has changed\nunder {list}\nby {command:?}"
        )];
    }
    let alone = commands
        .iter()
        .flat_map(|command| check(world, profile, shell, &[command]));
    damage.extend(alone);
    if damage.is_empty() {
        // None alone, but all together.
        damage.push(format!(
            "{shell}: {} has changed\nunder {list}\nby {commands:#?}",
            path.display()
        ));
    }
    damage
}
