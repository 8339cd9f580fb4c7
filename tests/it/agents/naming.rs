//! Which skill a name means is what that agent loads: as tried with each, Codex's from its source (docs/hosts.md).

use std::fs;
use std::os::unix::fs::symlink;

use agent_skills::facts::Facts;
use agent_skills::policy::{Ledger, SeenPart, parts_of};
use agent_skills::sys::Env;
use serde_json::json;

use super::{Form, World, claude_code, codex, copilot, gemini, opencode, qwen_code};

const LIST: &str = "allowed-tools: Read\n";

fn text(name: &str, more: &str) -> String {
    let name = match name {
        "" => String::new(),
        name => format!("name: {name}\n"),
    };
    format!("---\n{name}description: d\n{more}---\nDo.\n")
}

/// A world with these skills: the directory, the frontmatter's name, and whether it has a list.
fn with(form: &'static Form, skills: &[(&str, &str, bool)]) -> World {
    let world = World::of(form);
    for (dir, name, has_list) in skills {
        let more = if *has_list { LIST } else { "" };
        world.file(&format!("{dir}/SKILL.md"), &text(name, more));
    }
    world
}

fn trust(world: &World, holder: &std::path::Path) {
    let vars = [("HOME", world.home()), ("AGENT_SKILLS_HOME", world.data())];
    let env = Env::new(vars, &world.project());
    let record = Ledger::trusted(Facts::new(env, None).state());
    let seen = SeenPart::all(parts_of(holder), None);
    assert!(record.trust_seen(holder, seen, false).unwrap().is_empty());
}

/// Whether the call restricts; `None` if it is refused.
fn restricts(world: &World, name: &str) -> Option<bool> {
    let answer = world.activate(name);
    (!answer.is_denied()).then(|| world.run("touch x").is_denied())
}

/// Rows of an agent, the two skills that it finds, the name that is called, and whether that restricts
/// (`-` if it is refused). A skill is its directory below the agent's, the name in its frontmatter if
/// there is one, and `+` if it has a list; `~` is the home.
const NAMESAKES: &str = "
    # Claude Code: the directory, then the frontmatter.
    claude deploy:deploy:+ a-deploy:deploy: deploy yes
    claude deploy:deploy: a-deploy:deploy:+ deploy no
    claude deploy:deploy: a-deploy:deploy:+ a-deploy yes
    claude one:other:+ x:: other yes
    claude a:one:+ z:one: one -
    claude a:one:+ z:one:+ one yes
    claude a;b:x:+ .dot:y:+ a:b yes
    claude a;b:x:+ .dot:y:+ .dot -
    # Qwen Code: the frontmatter; the first directory.
    qwen deploy:deploy:+ a-deploy:deploy: deploy no
    qwen deploy:deploy:+ z-deploy:deploy: deploy yes
    qwen one:other:+ a:one: other yes
    qwen z:one:+ ~/.agents/skills/a:one: one yes
    # Copilot: the same, whatever the case; without a name the directory; groups in order.
    copilot deploy:deploy:+ a-deploy:deploy: deploy no
    copilot deploy:Deploy:+ x:y: deploy yes
    copilot one::+ x:y: one yes
    copilot one:one: a/x:one:+ one yes
    copilot one:one: one/in:one:+ one no
    copilot .:one:+ x:y:+ one -
    # Gemini CLI: the frontmatter; which of one directory is not known.
    gemini a:one:+ z:one: one -
    gemini a:one:+ z:one:+ one yes
    gemini a:one:+ ~/.agents/skills/z:one: one no
    gemini a:x;y:+ z:q: x-y yes
    # opencode: the frontmatter; any of several.
    opencode a:one:+ z:one: one -
    opencode a:one:+ ~/.claude/skills/z:one:+ one yes
    opencode one:other: z:one:+ one yes
";

#[test]
fn the_namesake_that_counts_is_the_agents_own() {
    let rows = NAMESAKES.lines().map(str::trim);
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let words: Vec<&str> = row.split(' ').collect();
        let form = match words[0] {
            "claude" => &claude_code::FORM,
            "qwen" => &qwen_code::FORM,
            "copilot" => &copilot::FORM,
            "gemini" => &gemini::FORM,
            _ => &opencode::FORM,
        };
        let world = World::of(form);
        for skill in &words[1..3] {
            let parts: Vec<String> = skill
                .split(':')
                .map(|part| part.replace(';', ":"))
                .collect();
            let dir = match parts[0].strip_prefix("~/") {
                Some(elsewhere) => format!("home/{elsewhere}"),
                None => format!("home/{}/{}", form.skills, parts[0]),
            };
            let more = if parts[2] == "+" { LIST } else { "" };
            world.file(&format!("{dir}/SKILL.md"), &text(&parts[1], more));
        }
        let found = match restricts(&world, words[3]) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        };
        assert_eq!(found, words[4], "{row}");
    }
}

#[test]
fn codex_uses_none_of_several_for_a_dollar_name() {
    let root = "home/.agents/skills";
    for (other, expected) in [("one", false), ("two", true)] {
        let world = World::of(&codex::FORM);
        world.file(&format!("{root}/a/SKILL.md"), &text("one", LIST));
        world.file(&format!("{root}/g/z/SKILL.md"), &text(other, ""));
        let mut prompt = world.payload("user-prompt-submit");
        prompt["prompt"] = json!("use $one");
        assert!(world.hook(&prompt).is_silent());
        assert_eq!(world.run("touch x").is_denied(), expected, "{other}");
    }
}

#[test]
fn a_skill_is_judged_by_the_tool_that_is_recorded() {
    for (name, tool) in [
        ("pdf", "skill_pdf"),
        ("marketplace", "skill_marketplace_dfd76b3ecb"),
    ] {
        let world = World::of(&claude_code::FORM).skill(name, "");
        let world = world.using("held", "allowed-tools: Read, Skill");
        assert!(world.activate(name).is_silent(), "{name}");
        let world = world.config(&format!("deny = [\"{tool}\"]\n"));
        assert!(world.activate(name).is_denied(), "{name}");
    }
}

#[test]
fn a_skill_however_deep_is_found() {
    let deep = "a/node_modules/b/target/c/d/e/f/g/h/i/j/k";
    let world = with(
        &copilot::FORM,
        &[(&format!("home/.copilot/skills/{deep}/pdf"), "pdf", true)],
    );
    assert_eq!(restricts(&world, "pdf"), Some(true));
    let world = with(
        &opencode::FORM,
        &[(&format!("home/.claude/skills/{deep}/x"), "pdf", true)],
    );
    assert_eq!(restricts(&world, "pdf"), Some(true));
    let plugin = format!("home/.claude/plugins/cache/m/ops/1.0/{deep}/pdf");
    let world = with(&claude_code::FORM, &[(&plugin, "pdf", true)]);
    assert_eq!(restricts(&world, "ops:pdf"), Some(true));
    for below in [deep, "node_modules/p", "target", ".hidden/x"] {
        let world = with(
            &claude_code::FORM,
            &[(
                &format!("project/{below}/.claude/skills/pdf"),
                "other",
                true,
            )],
        );
        for name in ["pdf", "other"] {
            assert_eq!(restricts(&world, name), None, "not trusted: {below} {name}");
        }
        trust(&world, &world.project().join(below));
        for name in ["pdf", "other"] {
            assert_eq!(restricts(&world, name), Some(true), "{below} {name}");
        }
    }
}

#[test]
fn a_link_to_a_directory_of_skills_is_followed() {
    let elsewhere = "home/elsewhere/.claude/skills/pdf";
    let world = with(&claude_code::FORM, &[(elsewhere, "pdf", true)]);
    let to = world.home().join("elsewhere");
    symlink(to, world.project().join("sub/link")).unwrap();
    assert_eq!(restricts(&world, "pdf"), None, "not trusted");
    let world = with(&copilot::FORM, &[("home/elsewhere/g/pdf", "pdf", true)]);
    fs::create_dir_all(world.home().join(".copilot/skills")).unwrap();
    let link = world.home().join(".copilot/skills/link");
    symlink(world.home().join("elsewhere"), link).unwrap();
    assert_eq!(restricts(&world, "pdf"), Some(true));
}

#[test]
fn a_huge_repository_has_its_built_in_skills() {
    let world = World::of(&claude_code::FORM);
    for outer in 0..105 {
        let outer = world.project().join(format!("packages/{outer}"));
        fs::create_dir_all(&outer).unwrap();
        for inner in 0..200 {
            fs::create_dir(outer.join(inner.to_string())).unwrap();
        }
    }
    assert_eq!(restricts(&world, "built-in"), Some(false));
    assert_eq!(restricts(&world, "code-review"), Some(false));
    let nested = "project/packages/104/199/.claude/skills/pdf/SKILL.md";
    world.file(nested, &text("pdf", LIST));
    assert_eq!(restricts(&world, "pdf"), None, "not trusted");
}

#[test]
fn copies_and_links_keep_their_directories_names() {
    let claude = "home/.claude/skills";
    let world = with(
        &claude_code::FORM,
        &[(&format!("{claude}/deploy"), "deploy", true)],
    );
    world.file(
        "project/.claude/skills/copy/SKILL.md",
        &text("deploy", LIST),
    );
    trust(&world, &world.project());
    let link = world.home().join(".claude/skills/link");
    symlink("deploy", link).unwrap();
    for name in ["deploy", "copy", "link"] {
        assert_eq!(restricts(&world, name), Some(true), "{name}");
    }
}

#[test]
fn a_plugin_among_the_skills_is_one() {
    let plugin = "home/.claude/skills/ops";
    let world = with(
        &claude_code::FORM,
        &[(&format!("{plugin}/skills/deploy"), "other", true)],
    );
    world.file(
        &format!("{plugin}/.claude-plugin/plugin.json"),
        "{\"name\": \"q\"}",
    );
    for name in ["q:deploy", "other"] {
        assert_eq!(restricts(&world, name), Some(true), "{name}");
    }
}

#[test]
fn of_a_plugins_releases_the_installed_one_counts() {
    let cache = "home/.claude/plugins/cache/m/ops";
    let world = with(
        &claude_code::FORM,
        &[
            (&format!("{cache}/1.0/skills/deploy"), "deploy", false),
            (&format!("{cache}/1.1/skills/deploy"), "deploy", true),
        ],
    );
    assert_eq!(restricts(&world, "ops:deploy"), None);
    let installed = world.home().join(".claude/plugins/cache/m/ops/1.1");
    let list = json!({"plugins": {"ops@m": [{"installPath": installed}]}});
    world.file(
        "home/.claude/plugins/installed_plugins.json",
        &list.to_string(),
    );
    assert_eq!(restricts(&world, "ops:deploy"), Some(true));
}

#[test]
fn a_command_wins_over_another_name_of_a_skill() {
    for (file, denied) in [("other.md", LIST), ("other/SKILL.md", LIST), ("x.md", "")]
        .map(|(file, more)| (file, (more, file != "x.md")))
    {
        let world = with(
            &claude_code::FORM,
            &[("home/.claude/skills/one", "other", true)],
        );
        let (more, denied) = denied;
        world.file(&format!("project/.claude/commands/{file}"), &text("", more));
        assert_eq!(world.activate("other").is_denied(), denied, "{file}");
    }
    let world = World::of(&copilot::FORM);
    world.file("project/.claude/commands/ship.md", &text("", LIST));
    assert!(world.activate("ship").is_denied());
}

#[test]
fn skills_above_and_of_the_main_checkout_are_found() {
    let world = with(
        &claude_code::FORM,
        &[("work/.claude/skills/pdf", "pdf", true)],
    );
    fs::remove_dir_all(world.project().join(".git")).unwrap();
    fs::rename(
        world.project(),
        world.project().with_file_name("work").join("project"),
    )
    .unwrap();
    symlink("work/project", world.project()).unwrap();
    assert_eq!(restricts(&world, "pdf"), None, "not trusted");
    let world = with(
        &claude_code::FORM,
        &[("main/.claude/skills/pdf", "pdf", true)],
    );
    fs::remove_dir_all(world.project().join(".git")).unwrap();
    let main = world.project().with_file_name("main");
    let text = format!("gitdir: {}/.git/worktrees/project\n", main.display());
    world.file("project/.git", &text);
    assert_eq!(restricts(&world, "pdf"), None, "not trusted");
    trust(&world, &main);
    assert_eq!(restricts(&world, "pdf"), Some(true));
}
