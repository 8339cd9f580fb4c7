//! What holds in every agent.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use agent_skills::host::Agent;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::shell_tables::{GRANTED, HOSTILE};

use super::{Form, World};
use super::{claude_code, codex, copilot, cursor, gemini, opencode, qwen_code};
use crate::host::Has;

pub static FORMS: [&Form; 7] = [
    &claude_code::FORM,
    &codex::FORM,
    &copilot::FORM,
    &cursor::FORM,
    &gemini::FORM,
    &opencode::FORM,
    &qwen_code::FORM,
];

pub fn worlds() -> impl Iterator<Item = World> {
    FORMS.iter().map(|form| World::of(form))
}

#[test]
fn every_agent_has_its_tests() {
    for agent in Agent::ALL {
        assert!(FORMS.iter().any(|form| form.agent == agent), "{agent}");
    }
}

#[test]
fn what_the_list_does_not_grant_is_denied_with_the_reason() {
    for world in worlds() {
        let agent = world.form.agent;
        let world = world.skill(
            "pdf",
            "allowed-tools: Read, Bash(git log:*), Write(docs/**)",
        );
        assert!(world.run("touch evil").is_silent(), "{agent}");
        assert!(world.activate("pdf").is_silent(), "{agent}");
        let denied = world.run("touch evil");
        assert!(denied.is_denied(), "{agent}: {denied:?}");
        let (_, reason) = denied.decision();
        let expected = format!(
            "`{}` is not allowed for subcommand `touch evil`: the skill `pdf` does not permit it",
            world.form.shell.1
        );
        reason.begins(&expected);
        reason.has("Allowed: Bash(git log:*), Read, Write(docs/**)");
        world.run("touch evil").decision().1.has("do not retry");
        for command in [
            "git log -3; touch x",
            "git log \"$(touch x)\"",
            "git log > x",
            "git push",
        ] {
            assert!(world.run(command).is_denied(), "{agent}: {command}");
        }
        assert!(world.run("git log -3").is_silent(), "{agent}");
        world.write(&world.project().join("docs/x")).passes(agent);
        world.write(&world.project().join("x")).stops(agent);
        world.audit().has(&format!("\"agent\":\"{agent}\""));
    }
}

#[test]
fn hostile_commands_are_refused_in_every_form() {
    for world in worlds() {
        let agent = world.form.agent;
        let world = world.using("pdf", &format!("allowed-tools: {GRANTED}"));
        let run = |command: &str| {
            let arguments = json!({ "command": command });
            world.hook_here(&world.calling(world.form.shell.1, arguments))
        };
        assert!(run("git log --oneline | head -5").is_silent(), "{agent}");
        // The agents' forms differ, and not what is said of a command in them.
        let step = if agent == Agent::ClaudeCode { 1 } else { 5 };
        let tried = HOSTILE.iter().step_by(step);
        let passed: Vec<_> = tried.filter(|it| !run(it).is_denied()).collect();
        assert!(passed.is_empty(), "{agent}: {passed:?}");
    }
}

#[test]
fn an_agents_own_channel_for_its_answer_is_open() {
    for (form, tool) in [
        (&claude_code::FORM, "StructuredOutput"),
        (&qwen_code::FORM, "structured_output"),
        (&gemini::FORM, "complete_task"),
        (&copilot::FORM, "task_complete"),
        (&opencode::FORM, "StructuredOutput"),
    ] {
        let world = World::of(form).using("pdf", "allowed-tools: Read");
        let answer = world.call(tool, json!({"answer": 1}));
        assert!(answer.is_silent(), "{tool}: {answer:?}");
        let others = [
            json!({"title": "x"}),
            json!({"title": "x", "command": "rm"}),
        ];
        let others = others.map(|arguments| world.call("SomethingElse", arguments));
        let says = others
            .map(|denied| denied.is_denied() && denied.decision().1.contains("always_allowed"));
        assert_eq!(says, [true, false], "{}", form.agent);
    }
}

#[test]
fn another_session_is_free() {
    for mut world in worlds() {
        world = world.using("pdf", "allowed-tools: Read");
        assert!(world.run("touch x").is_denied());
        world.session = "s2".to_owned();
        assert!(world.run("touch x").is_silent(), "{}", world.form.agent);
    }
}

#[test]
fn the_next_prompt_of_a_user_ends_it() {
    for text in ["go on", "why did I get <task-notification>?", ""] {
        for mut world in worlds() {
            let agent = world.form.agent;
            world = world.using("pdf", "allowed-tools: Read");
            assert!(world.run("touch x").is_denied(), "{agent}");
            world.prompt = "p2".to_owned();
            assert!(world.prompted(text).is_silent(), "{agent}");
            assert!(world.run("touch x").is_silent(), "{agent} {text}");
            let mut world = world.config("scope = \"context\"\n");
            world.activate("pdf");
            world.prompt = "p3".to_owned();
            assert!(world.prompted(text).is_silent(), "{agent}");
            assert!(world.run("touch x").is_denied(), "{agent} {text}");
        }
    }
}

#[test]
fn a_turn_that_the_agent_starts_itself_ends_nothing() {
    for mut world in worlds() {
        let (agent, table) = (world.form.agent, world.form.agent.table());
        world = world.using("pdf", "allowed-tools: Read");
        // A prompt of which no event tells.
        world.prompt = "p2".to_owned();
        assert!(world.run("touch x").is_denied(), "{agent}");
        for (at, own) in table.own_prompts.iter().enumerate() {
            world.prompt = format!("p{}", at + 3);
            world.prompted(&format!("{own}\nDone.")).passes(agent);
            assert!(world.run("touch x").is_denied(), "{agent} {own}");
            world.prompted(&format!("\n {own}> a")).passes(agent);
            assert!(world.run("touch x").is_denied(), "{agent} {own}");
        }
        // Another skill joins what was active, and both end together.
        let world = world.skill("csv", "allowed-tools: Read");
        world.activate("csv");
        assert!(world.run("touch x").is_denied(), "{agent}");
        let world = World {
            prompt: "last".to_owned(),
            ..world
        };
        assert!(world.prompted("thanks").is_silent(), "{agent}");
        assert!(world.run("touch x").is_silent(), "{agent}");
    }
}

#[test]
fn a_turn_of_its_own_does_not_clear_a_damaged_record() {
    for world in worlds() {
        let Some(own) = world.form.agent.table().own_prompts.first() else {
            continue;
        };
        let world = world.using("pdf", "allowed-tools: Read");
        world.file("home/.chibi/plugins/agent-skills/state.json", "garbage");
        world.prompted(own);
        assert!(world.run("touch x").is_denied(), "{}", world.form.agent);
        world.prompted("go on");
        assert!(world.run("touch x").is_silent(), "{}", world.form.agent);
    }
}

#[test]
fn a_prompt_in_another_session_does_not_clear_a_damaged_record() {
    for mut world in worlds() {
        let agent = world.form.agent;
        world = world.using("pdf", "allowed-tools: Read");
        let of_skill = std::mem::replace(&mut world.session, "s2".to_owned());
        world.file("home/.chibi/plugins/agent-skills/state.json", "garbage");
        world.prompted("go on");
        assert!(world.run("touch x").is_silent(), "{agent}");
        world.session = of_skill;
        assert!(world.run("touch x").is_denied(), "{agent}");
        world.prompted("go on");
        assert!(world.run("touch x").is_silent(), "{agent}");
    }
}

#[test]
fn what_cannot_be_judged_is_refused_by_the_exit_status() {
    for world in worlds() {
        for data in ["", "{", "[1]", "null", "{}", "{\"hook_event_name\":3}"] {
            let answer = world.hook_with(data.as_bytes(), &|_| {});
            assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{data}");
            answer.stderr.has("cannot be checked");
        }
        // An event of another kind is none of ours.
        let event = world.form.agent.table().keys.event;
        let other = json!({ event: "SomethingNew" });
        assert!(world.hook(&other).is_silent());
    }
}

#[test]
fn a_damaged_policy_or_configuration_closes() {
    for world in worlds() {
        let agent = world.form.agent;
        world.file("policy/policy.toml", "garbage");
        assert!(world.run("touch x").is_denied(), "{agent}");
        fs::remove_file(world.home().parent().unwrap().join("policy/policy.toml")).unwrap();
        let world = world.skill("pdf", "allowed-tools: Bash").config("garbage");
        world.run("touch x").passes((&agent, "nothing is active"));
    }
}

#[test]
fn what_decides_cannot_be_changed_under_any_list() {
    for world in worlds() {
        let agent = world.form.agent;
        let world = world.using("pdf", "allowed-tools: Bash, Write, Edit, Read");
        let home = world.home();
        for file in [
            home.join(".claude/settings.json"),
            home.join(".codex/hooks.json"),
            home.join(".codex/config.toml"),
            home.join(".copilot/hooks/x.json"),
            home.join(".gemini/settings.json"),
            home.join(".qwen/settings.json"),
            home.join(".config/opencode/plugins/agent-skills.js"),
            world.project().join(".claude/settings.local.json"),
            world.project().join(".github/hooks/x.json"),
            world.project().join(".codex/config.toml"),
            world.data().join("config.toml"),
            home.join(world.form.skills).join("pdf/SKILL.md"),
        ] {
            world.write(&file).stops((&agent, &file.display()));
            let command = format!("rm -f {}", file.display());
            assert!(world.run(&command).is_denied(), "{agent}: {command}");
        }
        let ours = Path::new(env!("CARGO_BIN_EXE_agent-skills")).display();
        world.run(&format!("{ours} deactivate")).stops(agent);
        assert!(world.run("touch x").is_silent(), "{agent}");
    }
}

#[test]
fn a_policy_denies_in_every_agent_and_mode() {
    for world in worlds() {
        for mode in ["restrict", "grant", "both", "ask"] {
            let world = World {
                mode: Some(mode),
                ..World::of(world.form)
            };
            world.file("policy/policy.toml", "[tools]\ndeny = [\"Bash(curl:*)\"]\n");
            world.run("curl x").stops((&world.form.agent, &mode));
            world.run("touch x").passes((&world.form.agent, &mode));
        }
    }
}

#[test]
fn reading_the_skills_own_files_needs_no_entry() {
    for (form, tool, key) in [
        (&claude_code::FORM, "Read", "file_path"),
        (&copilot::FORM, "Read", "path"),
        (&gemini::FORM, "read_file", "file_path"),
        (&opencode::FORM, "read", "filePath"),
    ] {
        let world = World::of(form).skill("pdf", "allowed-tools: Bash(git log:*)");
        let file = format!("home/{}/pdf/references/a.md", form.skills);
        world.file(&file, "x");
        world.activate("pdf");
        let own = world.home().join(form.skills).join("pdf/references/a.md");
        world.call(tool, json!({ key: own })).passes(form.agent);
        let other = world.project().join("secret");
        world.call(tool, json!({ key: other })).stops(form.agent);
        let link = world.home().join(form.skills).join("pdf/references/link");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        world.call(tool, json!({ key: link })).stops(form.agent);
    }
}

#[test]
fn the_last_call_is_known_by_a_files_time() {
    for world in worlds() {
        world.run("ls");
        let seen = world
            .data()
            .join(format!("hosts/{}.seen", world.form.agent));
        assert!(seen.exists(), "{}", world.form.agent);
    }
}

#[test]
fn hooks_of_one_call_cannot_end_what_another_began() {
    for form in [&claude_code::FORM, &qwen_code::FORM] {
        let mut world = World::of(form).using("pdf", "allowed-tools: Read");
        world.prompt = "p2".to_owned();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(world.activate("pdf").is_silent()));
            }
        });
        assert!(world.run("touch x").is_denied(), "{}", form.agent);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(world.run("touch x").is_denied()));
            }
        });
    }
}

#[test]
fn signals_and_silence_end_in_the_refusal() {
    let world = World::of(&claude_code::FORM).using("pdf", "allowed-tools: Read");
    let hook = || {
        let mut command = world.command();
        command.args(["hook", "claude-code"]).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // Nothing is written, and the pipe stays open.
    let mut silent = hook();
    let open = silent.stdin.take();
    let started = std::time::Instant::now();
    let status = silent.wait().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(
        started.elapsed().as_secs() < 9,
        "below the agent's own limit"
    );
    drop(open);
    for signal in [Signal::TERM, Signal::SEGV, Signal::ALARM] {
        let ended = hook();
        std::thread::sleep(std::time::Duration::from_millis(300));
        kill_process(Pid::from_child(&ended), signal).unwrap();
        let output = ended.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{signal:?}");
        String::from_utf8_lossy(&output.stderr).has("not allowed");
    }
}
