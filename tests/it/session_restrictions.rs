//! What several active skills restrict together, what an unload leaves in force, and skills of one name
//! from two layers.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::sessions::{SHELL, active, load, ls, read, refused, session, unload, with_skills};

#[test]
fn a_skills_own_tool_loads_as_the_stacking_has_it() {
    for (stacking, after) in [
        ("replace", &["free"][..]),
        ("intersect", &["reads", "free"]),
    ] {
        let host = with_skills(Host::stdin()).configured(&format!("stacking = \"{stacking}\""));
        host.activates("reads").activates("free");
        assert_eq!(active(&host), after, "{stacking}");
    }
}

#[test]
fn restrictions_combine_by_the_stacking() {
    for (stacking, shell_with_both) in [("replace", true), ("intersect", false)] {
        let host = with_skills(Host::stdin()).configured(&format!("stacking = \"{stacking}\""));
        session(&host, &load(&["reads", "free"], "replace"));
        let decided = host.pre_tool(SHELL, &ls()) == json!({});
        assert_eq!(decided, shell_with_both, "{stacking}");
        session(&host, &unload(&["free"]));
        assert_eq!(active(&host), ["reads"]);
        host.blocks(SHELL, &ls());
        host.allows("file_head", &read());
    }
}

#[test]
fn a_model_unloads_what_does_not_restrict_and_nothing_else() {
    let host = with_skills(Host::stdin());
    session(&host, &load(&["free", "reads", "plain"], "add"));
    for call in [
        unload(&["reads"]),
        unload(&["plain", "reads"]),
        json!({"action": "unload", "all": true}),
    ] {
        session(&host, &call)
            .has("only the user can end it")
            .has("deactivate");
        assert_eq!(active(&host), ["free", "reads", "plain"]);
    }
    // A load that replaces is under the rule of a skill's own tool.
    session(&host, &load(&["runs"], "replace"));
    assert_eq!(active(&host), ["runs"]);
    session(&host, &load(&["reads"], "replace"));
    assert_eq!(active(&host), ["reads"]);
    host.blocks(SHELL, &ls());
    session(&host, &unload(&["nosuch"]))
        .begins("Error: nothing was unloaded")
        .has("`reads`");
    session(&host, &unload(&["free"]));
    // Unloading twice is unloading once.
    assert_eq!(active(&host), ["reads"]);
}

#[test]
fn the_user_can_let_the_model_end_restrictions() {
    let host = with_skills(Host::stdin())
        .configured("deactivate = \"model\"\n")
        .skill("narrow", "allowed-tools: Read Skill(plain)", "");
    let fetch = json!({"url": "https://example.com/"});
    session(&host, &load(&["reads", "denies"], "add"));
    host.blocks("fetch_url", &fetch);
    let answer = session(&host, &json!({"action": "unload", "all": true}));
    assert_eq!(answer, "{\"active_skills\":[]}");
    host.allows(SHELL, &ls());
    host.blocks("fetch_url", &fetch).has("`denies`");
    session(&host, &load(&["narrow"], "replace"));
    host.blocks(SHELL, &ls());
    session(&host, &load(&["free"], "replace"));
    host.allows(SHELL, &ls());
    host.succeeds(&["deactivate"]);
    host.allows("fetch_url", &fetch);
}

#[test]
fn an_unloaded_skill_does_not_loosen_what_the_others_restrict() {
    for stacking in ["replace", "intersect"] {
        let host = Host::stdin();
        let config = format!("stacking = \"{stacking}\"\ndeactivate = \"model\"\n");
        let host = with_skills(host).configured(&config);
        session(&host, &load(&["reads", "denies"], "add"));
        session(&host, &unload(&["denies"]));
        host.blocks(SHELL, &ls());
        host.blocks("fetch_url", &json!({"url": "https://example.com/"}));
        host.allows("file_head", &read());
    }
}

#[test]
fn a_replaced_restriction_does_not_return_after_the_last() {
    let host = with_skills(Host::stdin());
    host.activates("reads").activates("free");
    host.allows(SHELL, &ls());
    session(&host, &unload(&["free"]));
    host.allows(SHELL, &ls());
    assert_eq!(active(&host), [""; 0]);
}

/// A restricted skill `x` that another of its name, which does not restrict, shadows.
fn with_two_layers(host: Host) -> Host {
    let host = with_skills(host).skill(
        "x",
        "allowed-tools: Read\ndisallowed-tools: WebFetch",
        "Body of the plugin's x.",
    );
    let text = "---\nname: x\ndescription: d\n---\nBody of the user's x.\n";
    write_at(host.home().join(".agents/skills/x/SKILL.md"), text);
    host
}

fn use_skill(reference: &str) -> Value {
    json!({"action": "use", "skill_ref": reference})
}

fn fetch() -> Value {
    json!({"url": "https://example.com/"})
}

#[test]
fn a_namesake_from_another_layer_combines_by_the_stacking() {
    for (stacking, shell) in [("replace", true), ("intersect", false)] {
        for own_tool in [true, false] {
            let host =
                with_two_layers(Host::stdin()).configured(&format!("stacking = \"{stacking}\""));
            host.allows("skill_marketplace", &use_skill("plugin/x"));
            host.blocks(SHELL, &ls());
            host.blocks("fetch_url", &fetch());
            if own_tool {
                host.activates("x");
            } else {
                host.allows("skill_marketplace", &use_skill("personal/x"));
            }
            let allowed = host.pre_tool(SHELL, &ls()) == json!({});
            assert_eq!(allowed, shell, "{stacking}");
            host.blocks("fetch_url", &fetch());
        }
    }
}

#[test]
fn a_load_does_not_unload_a_restricted_skill_of_the_same_name() {
    let host = with_two_layers(Host::stdin()).configured("stacking = \"intersect\"");
    host.allows("skill_marketplace", &use_skill("plugin/x"));
    refused(&host, &load(&["x"], "replace")).has("only the user can end it");
    session(&host, &load(&["x"], "add"));
    assert_eq!(active(&host), ["x", "x"]);
    host.blocks(SHELL, &ls());
    host.blocks("fetch_url", &fetch());
    session(&host, &unload(&["plugin/x"])).has("only the user can end it");
    // By its plain name, the one that is offered is meant.
    session(&host, &unload(&["x"]));
    assert_eq!(active(&host), ["x"]);
    host.blocks(SHELL, &ls());
    let host = host.configured("deactivate = \"model\"\n");
    session(&host, &load(&["x"], "replace"));
    host.allows(SHELL, &ls());
    host.blocks("fetch_url", &fetch());
}

#[test]
fn a_namesake_is_activated_only_by_an_entry_of_its_own() {
    for stacking in ["replace", "intersect"] {
        let host = Host::stdin()
            .configured(&format!("stacking = \"{stacking}\""))
            .skill("deploy", "", "")
            .skill("pdf", "", "");
        let own = host.home().join(".agents/skills/deploy/SKILL.md");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        let lines = "name: deploy\ndescription: d\nallowed-tools: Read Skill(pdf)";
        fs::write(own, format!("---\n{lines}\n---\n")).unwrap();
        host.activates("deploy").activates("deploy");
        host.blocks("skill_marketplace", &use_skill("plugin/deploy"));
        host.blocks(SHELL, &ls());
        host.activates("pdf");
    }
}

#[test]
fn every_active_skills_own_scripts_run() {
    for (stacking, mode) in [
        ("replace", "replace"),
        ("replace", "add"),
        ("intersect", "add"),
    ] {
        let host = Host::stdin();
        let host = ["free", "reads", "runs"]
            .iter()
            .fold(with_skills(host), |host, name| {
                host.file(&format!("{name}/x.sh"), "echo ran\n")
            });
        let host = host.configured(&format!("stacking = \"{stacking}\""));
        if mode == "add" {
            session(&host, &load(&["free"], mode));
            session(&host, &load(&["reads"], mode));
            session(&host, &load(&["runs"], mode));
        } else {
            session(&host, &load(&["free", "reads", "runs"], mode));
        }
        for name in ["free", "reads", "runs"] {
            let run = json!({"skill": name, "script": "x.sh"});
            host.allows("run_skill_script", &run);
            let answer = host.tool("run_skill_script", &run);
            assert!(answer.starts_with("ran"), "{stacking} {name}: {answer}");
        }
    }
}

#[test]
fn a_replaced_skills_scripts_do_not_run() {
    let host = with_skills(Host::stdin()).file("runs/x.sh", "");
    host.activates("runs").activates("reads");
    let run = json!({"skill": "runs", "script": "x.sh"});
    host.blocks("run_skill_script", &run);
}

#[test]
fn a_script_is_judged_under_every_spelling_of_its_skill() {
    let host = Host::stdin().configured("script_reads = \"block\"");
    let host = host.skill("pdf", "", "").file("pdf/x.sh", "");
    host.activates("pdf");
    for skill in ["pdf", "skill_pdf", "PDF", "plugin/pdf"] {
        let call = json!({"skill": skill, "path": "x.sh"});
        host.blocks("read_skill_file", &call);
    }
}

#[test]
fn a_denial_stays_when_the_skills_file_changes() {
    for scope in ["prompt", "context"] {
        let host = with_skills(Host::stdin()).configured(&format!("scope = \"{scope}\"\n"));
        host.prompt();
        host.activates("denies").blocks("fetch_url", &fetch());
        for line in ["disallowed-tools: Write\n", "", "disallowed-tools: Grep\n"] {
            let text = format!("---\nname: denies\ndescription: d\n{line}---\n");
            fs::write(host.skills_dir().join("denies/SKILL.md"), text).unwrap();
            host.activates("denies").blocks("fetch_url", &fetch());
        }
        host.blocks("file_edit", &json!({"path": "x"}));
    }
}

#[test]
fn a_script_is_judged_as_the_one_that_runs() {
    let host = with_two_layers(Host::stdin())
        .skill("a-b", "allowed-tools: Read", "")
        .skill("ab", "", "")
        .file("a-b/scripts/x.sh", "echo from a-b\n")
        .file("ab/scripts/x.sh", "echo from ab\n")
        .file("x/scripts/x.sh", "echo from plugin x\n");
    let scripts = host.home().join(".agents/skills/x/scripts");
    write_at(scripts.join("x.sh"), "echo from user x\n");
    let run = |skill: &str| json!({"skill": skill, "script": "scripts/x.sh"});
    host.activates("a-b");
    host.blocks("run_skill_script", &run("ab"));
    host.allows("run_skill_script", &run("a-b"));
    host.starts();
    host.allows("skill_marketplace", &use_skill("plugin/x"));
    host.blocks("run_skill_script", &run("x"));
    host.blocks("run_skill_script", &run("personal/x"));
    host.blocks("run_skill_script", &run("nosuch"));
    for call in [run("plugin/x"), json!({"script": "scripts/x.sh"})] {
        host.allows("run_skill_script", &call);
        host.tool("run_skill_script", &call).begins("from plugin x");
    }
}
