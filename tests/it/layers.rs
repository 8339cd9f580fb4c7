//! Skills of several layers: who stands in whose place, and how the others are reached.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, each, write_at};

pub const LAYERS: [&str; 4] = ["enterprise", "personal", "project", "plugin"];

/// Writes a skill that says where it is from, and a file that says so too.
pub fn put(dir: &Path, name: &str, more: &str, from: &str) {
    let frontmatter = format!("name: {name}\ndescription: From {from}.\n{more}\n");
    let text = format!("---\n{frontmatter}---\nBody from {from}.\n");
    write_at(dir.join(name).join("SKILL.md"), text);
    write_at(dir.join(name).join("from.txt"), from);
}

/// A host with an enterprise directory of its own.
pub fn with_layers(host: Host) -> Host {
    let enterprise = host.home().join("enterprise");
    fs::create_dir_all(&enterprise).unwrap();
    host.var("AGENT_SKILLS_ENTERPRISE_DIR", enterprise.to_str().unwrap())
}

/// Writes the policy in the administrator's layer.
pub fn policy(host: &Host, text: impl AsRef<[u8]>) {
    write_at(host.home().join("enterprise/policy.toml"), text);
}

pub fn layer_dir(host: &Host, layer: &str) -> PathBuf {
    match layer {
        "enterprise" => host.home().join("enterprise/skills"),
        "personal" => host.home().join(".chibi/skills"),
        "project" => host.project().join(".chibi/skills"),
        _ => host.skills_dir(),
    }
}

/// Agrees to what is in a layer, where somebody has to.
#[track_caller]
pub fn agree(host: &Host, layer: &str) {
    if layer == "project" {
        host.succeeds(&["trust", "--yes", "--always"]);
    }
}

/// `list --json`.
#[track_caller]
pub fn installed(host: &Host) -> Vec<Value> {
    let all = host.json(&["list", "--json"]);
    all["skills"].as_array().unwrap().clone()
}

/// The codes of everything remarked on the skills of one name.
#[track_caller]
pub fn codes(host: &Host, name: &str) -> Vec<String> {
    let mut all = installed(host);
    all.retain(|skill| skill["name"] == name);
    let codes = all
        .iter()
        .flat_map(|skill| each(&skill["diagnostics"], "code"));
    codes.map(str::to_owned).collect()
}

#[track_caller]
pub fn is_offered(host: &Host, name: &str) -> bool {
    let tool = format!("skill_{name}");
    let in_schema = host.tool_names().contains(&tool);
    let prompt = host.prompt() + "\n";
    let in_prompt = [":", "\n"]
        .iter()
        .any(|end| prompt.contains(&format!("\n- {name}{end}")));
    assert_eq!(
        in_schema, in_prompt,
        "{name} is in one and not in the other"
    );
    in_schema
}

#[track_caller]
pub fn read(host: &Host, skill: &str) -> String {
    host.tool(
        "read_skill_file",
        &json!({"skill": skill, "path": "from.txt"}),
    )
}

#[test]
fn of_every_two_layers_the_higher_replaces_the_lower_whole() {
    let order = ["enterprise", "personal", "project", "plugin"];
    for high in 0..4 {
        for low in high + 1..4 {
            let host = with_layers(if low % 2 == 0 {
                Host::stdin()
            } else {
                Host::environment()
            });
            let (high, low) = (order[high], order[low]);
            put(
                &layer_dir(&host, low),
                "deploy",
                "allowed-tools: Read\npriority: 99",
                low,
            );
            agree(&host, low);
            host.tool("skill_deploy", &json!({}))
                .has(&format!("Body from {low}."));
            put(&layer_dir(&host, high), "deploy", "", high);
            agree(&host, high);
            host.starts();
            host.tool("skill_deploy", &json!({}))
                .has(&format!("Body from {high}."));
            host.prompt()
                .has(&format!("From {high}."))
                .lacks(&format!("From {low}."));
            // Whole: the lower one's restriction is not in force.
            host.allows("shell_exec", &json!({"command": "ls"}));
            let overridden = high == "enterprise";
            let code = if overridden {
                "hidden-enterprise"
            } else {
                "shadowed"
            };
            assert!(codes(&host, "deploy").contains(&code.to_owned()));
            for (skill, from) in [
                ("deploy".to_owned(), high),
                (
                    format!("{low}/deploy"),
                    if overridden { "Error: the" } else { low },
                ),
                (format!("{high}/deploy"), high),
            ] {
                assert!(read(&host, &skill).starts_with(from), "{skill}");
            }
            let info = host.succeeds(&["info", "deploy"]);
            let why = if overridden {
                "the administrator's skill of this name".to_owned()
            } else {
                format!("{high} skills come before {low} ones")
            };
            info.has(&format!("layer         {high}")).has(&why);
        }
    }
}

#[test]
fn priority_breaks_ties_inside_a_layer_only() {
    let host = Host::stdin();
    put(&host.home().join(".chibi/skills"), "deploy", "", "first");
    put(&host.home().join(".agents/skills"), "deploy", "", "second");
    assert_eq!(read(&host, "deploy"), "first");
    put(
        &host.home().join(".agents/skills"),
        "deploy",
        "priority: 5",
        "second",
    );
    assert_eq!(read(&host, "deploy"), "second");
    put(&host.skills_dir(), "deploy", "priority: 1000", "plugin");
    assert_eq!(read(&host, "deploy"), "second");
    host.succeeds(&["info", "deploy"])
        .has("its priority is higher");
}

#[test]
fn the_same_content_is_one_skill() {
    let host = Host::stdin();
    put(&host.home().join(".chibi/skills"), "deploy", "", "one");
    put(&host.home().join(".agents/skills"), "deploy", "", "one");
    put(&host.skills_dir(), "deploy", "", "one");
    assert_eq!(installed(&host).len(), 1);
    assert_eq!(codes(&host, "deploy"), [""; 0]);
    fs::write(host.skills_dir().join("deploy/more.txt"), "x").unwrap();
    assert_eq!(installed(&host).len(), 2, "one more file is another skill");
    let other = host.home().join("linked");
    fs::rename(host.home().join(".chibi/skills"), &other).unwrap();
    std::os::unix::fs::symlink(other, host.home().join(".chibi/skills")).unwrap();
    // A link to skills is where they are.
    assert_eq!(installed(&host).len(), 2);
}

#[test]
fn a_link_makes_another_clients_skills_personal() {
    let host = Host::stdin();
    put(&host.home().join(".claude/skills"), "theirs", "", "claude");
    assert!(!is_offered(&host, "theirs"));
    let agents = host.home().join(".agents");
    fs::create_dir_all(&agents).unwrap();
    std::os::unix::fs::symlink("../.claude/skills", agents.join("skills")).unwrap();
    assert!(is_offered(&host, "theirs"));
}

#[test]
fn project_skills_are_found_up_to_the_projects_root() {
    let mut host = Host::stdin();
    let project = host.project().to_owned();
    let deep = project.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    for (dir, kind) in [
        ("", ".chibi"),
        ("", ".agents"),
        ("", ".claude"),
        ("a", ".claude"),
        ("a/b", ".agents"),
    ] {
        let name = format!("s{}{}", dir.replace('/', ""), &kind[1..]);
        put(&project.join(dir).join(kind).join("skills"), &name, "", dir);
    }
    put(
        &host.home().join(".claude/skills"),
        "outside",
        "",
        "outside",
    );
    host.cwd(&deep);
    host.succeeds(&["trust", "--yes"]);
    let found = json!(installed(&host));
    let names = ["sabagents", "saclaude", "schibi", "sagents", "sclaude"];
    assert_eq!(each(&found, "name"), names);
    host.cwd(&project);
    assert!(is_offered(&host, "sclaude") && !is_offered(&host, "saclaude"));
    let elsewhere = host.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    host.cwd(&elsewhere);
    assert!(!is_offered(&host, "sclaude"));
    let host = host.var("CHIBI_PROJECT_ROOT", project.to_str().unwrap());
    assert!(is_offered(&host, "sclaude"), "the host names the root");
}

#[test]
fn an_administrator_installs_and_removes_in_any_layer() {
    let host = with_layers(Host::stdin());
    let source = host.home().join("source");
    put(&source, "deploy", "", "source");
    let source = source.join("deploy");
    for layer in LAYERS {
        let dir = layer_dir(&host, layer);
        let text = host.succeeds(&["install", source.to_str().unwrap(), "--layer", layer]);
        assert!(dir.join("deploy/SKILL.md").exists(), "{layer}: {text}");
        assert_eq!(
            text.contains("agent-skills trust"),
            layer == "project",
            "{text}"
        );
        host.succeeds(&["remove", "deploy", "--layer", layer]);
        assert!(!dir.join("deploy").exists(), "{layer}");
    }
    host.succeeds(&["install", source.to_str().unwrap()]);
    // The plugin's is the default.
    assert!(host.skills_dir().join("deploy").exists());
    assert_eq!(
        host.person(&["install", "x", "--layer", "global"]).status,
        2
    );
}

#[test]
fn a_skill_is_reached_by_its_owner() {
    let host = Host::stdin();
    put(&host.home().join(".chibi/skills"), "deploy", "", "personal");
    put(&host.skills_dir(), "deploy", "", "acme");
    let lock = json!({"version": 1, "skills": [{
        "id": "x", "name": "deploy", "source": "https://github.com/acme/skills", "kind": "git",
        "requested": "acme/deploy", "ref": null, "commit": null, "path": "deploy", "tree": null,
        "sha256": "", "files": {}, "license": null,
    }]});
    fs::write(host.plugin_dir().join("skills.lock.json"), lock.to_string()).unwrap();
    // A project says so, too.
    put(
        &host.project().join(".chibi/skills"),
        "deploy",
        "",
        "hostile",
    );
    let claim = host.project().join(".chibi/skills.lock.json");
    fs::write(claim, lock.to_string()).unwrap();
    host.succeeds(&["trust", "--yes"]);
    for written in ["acme/deploy", "deploy@acme", "ACME/deploy", "plugin/deploy"] {
        assert_eq!(read(&host, written), "acme", "{written}");
    }
    for written in ["deploy", "personal/deploy"] {
        assert_eq!(read(&host, written), "personal", "{written}");
    }
    for written in [
        "other/deployment",
        "enterprise/deploy2",
        "../deploy",
        "plugin/../deploy",
    ] {
        assert!(read(&host, written).starts_with("Error: "), "{written}");
    }
    // Even where nothing else is from there.
    fs::remove_dir_all(host.skills_dir().join("deploy")).unwrap();
    host.config("uses_skills = {\"*\" = [\"acme/deploy\"]}");
    assert!(!host.starts().prompt().contains("Body from hostile"));
    assert!(read(&host, "acme/deploy").starts_with("Error: "));
    host.succeeds(&["info", "project/deploy"])
        .has("says it is from https://github.com/acme/skills");
    let reports = installed(&host);
    let claimed = |report: &&Value| report["claimed"] == true;
    let layers = reports
        .iter()
        .filter(claimed)
        .map(|report| &report["layer"]);
    assert_eq!(layers.collect::<Vec<_>>(), ["project"]);
    host.succeeds(&["list"]).has("says it is from acme/skills");
}
