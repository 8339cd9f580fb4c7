//! The files that decide: those that are links of the user's, and those that cannot be read.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};

#[test]
fn what_a_deciding_link_leads_to_is_protected() {
    let plugin = ".chibi/plugins/agent-skills";
    for (dir, name) in [
        (plugin, "config.toml"),
        (plugin, "sources.json"),
        (plugin, "trust.json"),
        (plugin, "approvals.json"),
        (plugin, "skills.lock.json"),
        (plugin, "hooks/x.json"),
        (plugin, "jobs/x/job.json"),
        (plugin, "of-a-later-version.json"),
        (".local/state/agent-skills", "state-x.json"),
        (".chibi", "skills.lock.json"),
    ] {
        let top = name.split('/').next().unwrap();
        let host = Host::stdin().skill("free", "allowed-tools: Write Bash", "");
        let target = host.home().join("dotfiles").join(name);
        write_at(target, "");
        let link = host.home().join(dir).join(top);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(host.home().join("dotfiles").join(top), &link).unwrap();
        host.activates("free");
        let real = host.home().join("dotfiles").join(name);
        let real = real.to_str().unwrap();
        host.blocks("write_file", &json!({"path": real, "content": ""}));
        for command in [
            format!("rm {real}"),
            format!("echo x > {real}"),
            format!("rm -r {}/dotfiles", host.home().display()),
        ] {
            host.blocks("shell_exec", &json!({"command": command}));
        }
        let beside = host.home().join("dotfiles/other");
        host.allows("write_file", &json!({"path": beside, "content": ""}));
    }
}

#[test]
fn a_configuration_that_may_have_always_on_skills_closes() {
    let on = "uses_skills = {\"*\" = [\"reads\"]}\n";
    for (text, closes) in [
        (format!("{on}nonsense = 3\n"), true),
        (format!("[audit]\n{on}"), true),
        (on.replace("uses_skills", "uses_skill"), true),
        ("max_active = \n".to_owned(), true),
        ("# uses_skills\nnonsense = 3\n".to_owned(), false),
    ] {
        let host = Host::stdin().skill("reads", "allowed-tools: Read", "");
        host.config(&text);
        host.starts();
        let context = json!({"context_name": "default"});
        let (_, told) = host.hook_with_stderr("post_system_prompt", &context);
        assert_eq!(told.contains("only reading is allowed"), closes, "{told}");
        let call = json!({"command": "rm x"});
        if !closes {
            host.allows("shell_exec", &call);
            continue;
        }
        told.has("config.toml").has("line");
        assert!(host.blocks("shell_exec", &call).contains("config.toml"));
        host.allows("file_head", &json!({"path": "x"}));
        host.config("");
        host.prompt();
        host.allows("shell_exec", &call);
    }
}

#[test]
fn a_configuration_that_is_there_and_unreadable_closes() {
    for what in ["link", "directory"] {
        let host = Host::stdin();
        let config = host.plugin_dir().join("config.toml");
        match what {
            "link" => symlink("/no/such/mount/config.toml", &config).unwrap(),
            _ => fs::create_dir(&config).unwrap(),
        }
        host.starts();
        let context = json!({"context_name": "default"});
        let (_, told) = host.hook_with_stderr("post_system_prompt", &context);
        told.has("only reading is allowed");
        told.has("config.toml.damaged`: then the defaults count");
        host.blocks("shell_exec", &json!({"command": "ls"}))
            .has("config.toml");
        host.person(&["doctor"]).stdout.has("config.toml");
    }
}
