//! The files that decide: those that are links of the user's, and those that cannot be read.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Host;

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
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, "").unwrap();
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
