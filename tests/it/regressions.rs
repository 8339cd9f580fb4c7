//! One test for each defect of an earlier plugin of this kind, named after it. Those of restrictions are in
//! `regressions_restriction.rs`, those of installing in `market_defects.rs`.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Host;

pub fn shell(command: &str) -> serde_json::Value {
    json!({"command": command})
}

#[test]
fn defect_06_a_skill_name_that_is_a_path() {
    for host in Host::both() {
        let host = host
            .skill("x", "", "")
            .file("x/run.sh", "echo ran")
            .file("../../SKILL.md", "---\nname: up\ndescription: d\n---\n")
            .file("../../run.sh", "echo ran outside")
            .file("../../secret", "the secret");
        let absolute = host.home().join(".chibi/plugins").display().to_string();
        for skill in [
            "../..",
            "..",
            ".",
            "",
            "x/../../..",
            "./../..",
            "/",
            absolute.as_str(),
        ] {
            let read = host.tool(
                "read_skill_file",
                &json!({"skill": skill, "path": "secret"}),
            );
            assert!(read.starts_with("Error: "), "{skill:?}: {read}");
            let ran = host.tool(
                "run_skill_script",
                &json!({"skill": skill, "script": "run.sh"}),
            );
            assert!(ran.starts_with("Error: "), "{skill:?}: {ran}");
            let activated = host.tool(&format!("skill_{skill}"), &json!({}));
            assert!(activated.starts_with("Error: "), "{skill:?}: {activated}");
        }
    }
}

#[test]
fn defect_07_no_time_limit_for_scripts() {
    for host in Host::both() {
        let host = host
            .skill("x", "", "")
            .file("x/slow.sh", "echo before; sleep 300")
            .file("x/quick.sh", "echo done");
        let began = Instant::now();
        let slow = json!({"skill": "x", "script": "slow.sh", "timeout_secs": 1});
        let text = host.tool("run_skill_script", &slow);
        assert!(text.starts_with("before\ntimed out after 1 s"), "{text}");
        assert!(began.elapsed() < Duration::from_secs(20));
        // Nobody may be given more than a script may take at all.
        let long = json!({"skill": "x", "script": "quick.sh", "timeout_secs": 500});
        let text = host.tool("run_skill_script", &long);
        assert!(
            text.starts_with("Error: ") && text.contains("at most 120"),
            "{text}"
        );
    }
}

#[test]
fn defect_08_all_input_is_written_before_output_is_read() {
    for host in Host::both() {
        // The older host's arguments are one environment variable, of 128 KiB at most.
        let size = match host.generation() {
            crate::host::Generation::Environment => 100_000,
            crate::host::Generation::Stdin => 2_000_000,
        };
        // More than a pipe holds comes out before anything is read.
        let script = "head -c 1000000 /dev/zero | tr '\\0' y; wc -c";
        let host = host.skill("x", "", "").file("x/a.sh", script);
        let arguments = json!({"skill": "x", "script": "a.sh", "stdin": "z".repeat(size)});
        let text = host.tool("run_skill_script", &arguments);
        assert!(text.trim_end().ends_with(&format!("y{size}")), "{size}");
    }
}

#[test]
fn defect_09_output_without_a_bound() {
    for host in Host::both() {
        let script = "yes out | head -c 3000000; yes err | head -c 3000000 >&2";
        let host = host.skill("x", "", "").file("x/a.sh", script);
        let text = host.tool("run_skill_script", &json!({"skill": "x", "script": "a.sh"}));
        assert!(text.len() < 140_000, "{}", text.len());
        assert_eq!(text.matches("truncated").count(), 2);
        assert!(text.starts_with("out\n") && text.trim_end().ends_with("err"));
    }
}

#[test]
fn defect_10_files_that_are_not_utf8() {
    for host in Host::both() {
        let host = host
            .skill("x", "", "")
            .file("x/latin1.txt", b"caf\xe9 au lait\n")
            .file("x/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0");
        let read = |path| host.tool("read_skill_file", &json!({"skill": "x", "path": path}));
        let text = read("latin1.txt");
        let encoded = "data:application/octet-stream;base64,Y2Fm6SBhdSBsYWl0Cg==\n[";
        assert!(text.starts_with(encoded), "{text}");
        let text = read("logo.png");
        assert!(text.starts_with("data:image/png;base64,iVBORw0K"), "{text}");
    }
}

#[test]
fn defect_11_carriage_returns_and_a_fence_at_the_end() {
    for host in Host::both() {
        let host = host
            .file(
                "crlf/SKILL.md",
                "---\r\nname: crlf\r\ndescription: d\r\nallowed-tools: Read\r\n---\r\nBody.\r\n",
            )
            .file("bare/SKILL.md", "---\nname: bare\ndescription: d\n---");
        let text = host.tool("skill_crlf", &json!({}));
        assert!(
            text.starts_with("<skill_content name=\"crlf\">\nBody.\n"),
            "{text}"
        );
        host.blocks("shell_exec", &shell("ls"));
        let text = host.tool("skill_bare", &json!({}));
        assert!(
            text.starts_with("<skill_content name=\"bare\">\n\n\nSkill directory: "),
            "{text}"
        );
        assert!(
            !text.contains("description:") && !text.contains("---"),
            "{text}"
        );
    }
}

#[test]
fn defect_16_tool_names_that_providers_refuse() {
    for host in Host::both() {
        let names = [
            "a".repeat(64),
            "a".repeat(58),
            "é".repeat(64),
            "marketplace".to_owned(),
        ];
        let mut host = host;
        for name in &names {
            host = host.skill(name, "allowed-tools: Read", &format!("Body of {name}."));
        }
        let tools = host.tool_names();
        assert_eq!(host.skill_tools().len(), names.len());
        for tool in &tools {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(tool.len() <= 64 && tool.chars().all(fits), "{tool}");
            assert_eq!(tools.iter().filter(|other| *other == tool).count(), 1);
        }
        // What `pre_tool` makes of such a name is the skill, too.
        for tool in &host.skill_tools() {
            host.starts().allows(tool, &json!({}));
            host.blocks("shell_exec", &shell("ls"));
            assert!(host.tool(tool, &json!({})).contains("Body of "));
        }
    }
}

#[test]
fn defect_21_failures_cannot_be_told_from_answers() {
    for host in Host::both() {
        let host = host.skill("x", "", "");
        for (tool, arguments) in [
            ("read_skill_file", json!({"skill": "x", "path": "none"})),
            ("read_skill_file", json!({"skill": "none", "path": "none"})),
            ("read_skill_file", json!({})),
            ("run_skill_script", json!({"skill": "x", "script": "none"})),
            ("run_skill_script", json!({"skill": "x"})),
            ("skill_none", json!({})),
            ("skill_x", json!([])),
        ] {
            // That the status is 0, or the host would drop the text, is checked by `tool`.
            let text = host.tool(tool, &arguments);
            let (first, next_step) = text.split_once('\n').unwrap_or((&text, ""));
            assert!(first.starts_with("Error: "), "{tool} {arguments}: {text}");
            assert!(!next_step.is_empty(), "{tool} {arguments}: {text}");
        }
    }
}

#[test]
fn defect_23_the_answer_does_not_tell_the_skills_directory() {
    for host in Host::both() {
        let host = host.skill("x", "", "Run {baseDir}/a.sh and ${CLAUDE_SKILL_DIR}/b.sh.");
        let dir = host.skills_dir().join("x").display().to_string();
        let text = host.tool("skill_x", &json!({}));
        assert!(
            text.contains(&format!("\nSkill directory: {dir}\n")),
            "{text}"
        );
        assert!(
            text.contains(&format!("Run {dir}/a.sh and {dir}/b.sh.")),
            "{text}"
        );
    }
}

#[test]
fn defect_24_tools_for_skills_are_shown_without_any() {
    for host in Host::both() {
        let tools = json!({"context_name": "c", "tools": []});
        let hidden = host.hook("pre_api_tools", &tools);
        let needs_skills = ["read_skill_file", "run_skill_script"];
        let hides = |hidden: &serde_json::Value, tool: &str| {
            hidden["exclude"].as_array().unwrap().contains(&json!(tool))
        };
        assert!(
            needs_skills.iter().all(|tool| hides(&hidden, tool)),
            "{hidden}"
        );
        assert_eq!(host.prompt(), "");
        // One that is not offered is none.
        let host = host.file("x/SKILL.md", "no frontmatter");
        let hidden = host.hook("pre_api_tools", &tools);
        assert!(
            needs_skills.iter().all(|tool| hides(&hidden, tool)),
            "{hidden}"
        );
        let host = host.skill("y", "", "");
        let hidden = host.hook("pre_api_tools", &tools);
        assert!(
            !needs_skills.iter().any(|tool| hides(&hidden, tool)),
            "{hidden}"
        );
    }
}
