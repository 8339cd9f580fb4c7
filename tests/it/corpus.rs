//! The 76 real skills of `../shared/corpus` in one catalog: each is offered or reported with a
//! reason, and each that is offered comes whole. Without the corpus there is nothing to test.

use std::fs;
use std::path::{Path, PathBuf};

use agent_skills::catalog::{Entry, OfferedSkill};
use agent_skills::skill::Level;
use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::repository::{commit, copy};

const SKILLS: usize = 76;

/// Every directory below the corpus, or below what `CORPUS` names, that has a `SKILL.md`, with a name of its own.
pub fn corpus() -> Option<Vec<(String, PathBuf)>> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let root = std::env::var_os("CORPUS").map_or_else(usual, PathBuf::from);
    let Ok(collections) = fs::read_dir(root) else {
        println!("skipped: ../shared/corpus is not there");
        return None;
    };
    let mut found = Vec::new();
    for collection in collections.flatten().filter(|entry| entry.path().is_dir()) {
        let collection_name = collection.file_name().to_string_lossy().into_owned();
        let mut dirs = Vec::new();
        skill_dirs(&collection.path(), &mut dirs);
        found.extend(dirs.into_iter().map(|dir| {
            let name = dir.file_name().unwrap().to_string_lossy();
            (format!("{collection_name}--{name}"), dir.clone())
        }));
    }
    found.sort();
    Some(found)
}

fn skill_dirs(dir: &Path, found: &mut Vec<PathBuf>) {
    if dir.join("SKILL.md").is_file() {
        found.push(dir.to_owned());
        return;
    }
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            skill_dirs(&entry.path(), found);
        }
    }
}

/// A host whose catalog is the corpus.
fn host_of_all(host: Host) -> Option<(Host, Vec<PathBuf>)> {
    let corpus = corpus()?;
    assert_eq!(corpus.len(), SKILLS);
    let mut dirs = Vec::new();
    for (name, from) in corpus {
        let to = host.skills_dir().join(name);
        assert!(!to.exists(), "two skills in {}", to.display());
        copy(&from, &to);
        dirs.push(to);
    }
    Some((host, dirs))
}

/// The body as anybody would cut it out: what follows the second line of three dashes.
fn body_of(dir: &Path) -> String {
    let text = fs::read_to_string(dir.join("SKILL.md")).unwrap();
    let mut fences = 0;
    let mut body = Vec::new();
    for line in text.split('\n') {
        if fences >= 2 {
            body.push(line);
        } else if line.trim_end() == "---" {
            fences += 1;
        }
    }
    assert_eq!(fences, 2, "{}", dir.display());
    let dir = dir.display().to_string();
    body.join("\n")
        .trim()
        .replace("${CLAUDE_SKILL_DIR}", &dir)
        .replace("${SKILL_DIR}", &dir)
        .replace("{baseDir}", &dir)
}

#[test]
fn each_is_offered_or_reported_with_a_reason() {
    let Some((host, dirs)) = host_of_all(Host::stdin()) else {
        return;
    };
    let catalog = host.catalog();
    let listed: Vec<_> = catalog.entries().iter().map(|e| e.dir.clone()).collect();
    assert_eq!(listed, dirs);
    for entry in catalog.entries() {
        let dir = entry.dir.display();
        match entry.offered() {
            Some(_) => {
                let errors = entry.diagnostics();
                let errors = errors
                    .iter()
                    .filter(|remark| remark.level() == Level::Error);
                assert_eq!(errors.count(), 0, "{dir}");
            }
            None => assert!(
                entry.reason_not_offered().is_some_and(|r| !r.is_empty()),
                "{dir}"
            ),
        }
    }
    let reasons: Vec<_> = catalog
        .entries()
        .iter()
        .filter_map(Entry::reason_not_offered)
        .collect();
    // Two collections have `brand-guidelines`; nothing else stands in a skill's way.
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains("same name"), "{reasons:?}");
    assert_eq!(catalog.offered().len(), SKILLS - 1);
}

/// Of this corpus, or of the larger one that `CORPUS` names.
#[test]
fn all_but_few_load_with_their_exact_description() {
    let Some(corpus) = corpus() else { return };
    let (mut exact, mut without) = (0, Vec::new());
    for (name, dir) in &corpus {
        let bytes = fs::read(dir.join("SKILL.md")).unwrap();
        let parsed = skill_format::Skill::parse(name, &bytes);
        let Some(description) = parsed.ok().and_then(|skill| skill.description) else {
            without.push(name);
            continue;
        };
        // What YAML itself makes of the lines between the fences.
        let text = String::from_utf8_lossy(&bytes);
        let yaml: Vec<&str> = text
            .lines()
            .skip(1)
            .take_while(|line| *line != "---")
            .collect();
        if let Ok(fields) = serde_yaml::from_str::<Value>(&yaml.join("\n")) {
            let written = fields["description"].as_str().unwrap_or(&description);
            assert_eq!(description, written.trim(), "{name}");
            exact += 1;
        }
    }
    println!(
        "{exact} of {} are YAML; without a description: {without:?}",
        corpus.len()
    );
    assert!(without.len() * 1000 <= corpus.len() * 14, "{without:?}");
    assert!(exact * 100 >= corpus.len() * 95, "{exact}");
}

#[test]
fn the_prompt_has_one_line_for_each() {
    let host = Host::stdin();
    let Some((host, _)) = host_of_all(host) else {
        return;
    };
    let catalog = host.catalog();
    let prompt = host.prompt();
    let lines: Vec<_> = prompt.lines().filter(|l| l.starts_with("- ")).collect();
    assert_eq!(lines.len(), SKILLS - 1);
    for OfferedSkill { skill, .. } in catalog.offered() {
        let start = format!("- {}: ", skill.name);
        let its = lines.iter().filter(|line| line.starts_with(&start));
        assert_eq!(its.count(), 1, "{start}");
    }
    assert!(
        prompt
            .lines()
            .all(|line| line.is_empty() || !line.starts_with(['<', ' ']))
    );
}

#[test]
fn each_activates_with_its_whole_body_and_its_directory() {
    // Each call reads the whole catalog, so one generation shows all and the other some of it.
    for (host, step) in Host::both().into_iter().zip([7, 1]) {
        let Some((host, _)) = host_of_all(host) else {
            return;
        };
        let catalog = host.catalog();
        for OfferedSkill { skill, tool, .. } in catalog.offered().into_iter().step_by(step) {
            let text = host.tool(tool, &json!({"arguments": "go"}));
            let dir = skill.dir.display();
            let head = format!("<skill_content name=\"{}\">\n", skill.name);
            let body = body_of(&skill.dir).replace("$ARGUMENTS", "go");
            let rest = text
                .strip_prefix(&head)
                .and_then(|rest| rest.strip_prefix(body.as_str()))
                .unwrap_or_else(|| panic!("{dir}: the body is not whole\n{text}"));
            rest.begins(&format!("\n\nSkill directory: {dir}\n"));
            assert!(rest.ends_with("</skill_content>"), "{dir}: {rest}");
            assert!(rest.contains("\n## Arguments\n\ngo\n"), "{dir}: {rest}");
        }
    }
}

#[test]
fn each_real_skill_validates_without_an_error() {
    let Some(corpus) = corpus() else { return };
    let host = Host::stdin();
    let dirs: Vec<&str> = corpus
        .iter()
        .map(|(_, dir)| dir.to_str().unwrap())
        .collect();
    let report = host.succeeds(&[&["validate"], &dirs[..]].concat());
    let counted = format!("\n{SKILLS} skills: 0 errors, ");
    report.has(&counted);
}

/// From repositories, as people install them, to the last removal.
#[test]
fn all_are_installed_looked_at_updated_and_removed() {
    let Some(corpus) = corpus() else { return };
    let host = Host::stdin();
    let source = host.project().join("source");
    for (name, dir) in &corpus {
        let (collection, name) = name.split_once("--").unwrap();
        copy(dir, &source.join(collection).join("skills").join(name));
    }
    let mut names = Vec::new();
    for collection in fs::read_dir(&source).unwrap().flatten() {
        let dir = collection.path();
        commit(&dir);
        let from = format!("file://{}", dir.display());
        let told = host.succeeds(&["install", &from, "--all", "--yes"]);
        let each = told
            .lines()
            .filter_map(|line| line.strip_prefix("installed `"));
        names.extend(each.filter_map(|line| Some(line.split_once('`')?.0.to_owned())));
    }
    assert_eq!(names.len(), SKILLS);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let with = |words: &[&str]| host.succeeds(&[words, &names[..]].concat());
    with(&["info"]);
    let offered = format!("{SKILLS} of {SKILLS} skills are offered to the model");
    host.person(&["doctor"])
        .stdout
        .has(&offered)
        .lacks("skill-changed");
    host.succeeds(&["verify"])
        .has(&format!("{SKILLS} skills are intact"));
    for (name, _) in &corpus {
        let (collection, name) = name.split_once("--").unwrap();
        let dir = source.join(collection).join("skills").join(name);
        let file = dir.join("SKILL.md");
        let text = fs::read_to_string(&file).unwrap() + "\nOne more line.\n";
        // The copy may be read-only, as what it is of.
        fs::remove_file(&file).unwrap();
        fs::write(file, text).unwrap();
    }
    for collection in fs::read_dir(&source).unwrap().flatten() {
        commit(&collection.path());
    }
    let told = host.succeeds(&["update", "--yes"]);
    assert_eq!(told.matches("` was updated from ").count(), SKILLS);
    with(&["remove", "--yes"]);
    host.succeeds(&["list"]).has("No skills are installed");
}

/// Each command that a skill documents, under the skill's own list or under every program.
#[test]
fn what_real_skills_document_reaches_no_protected_place() {
    let Some(corpus) = corpus() else { return };
    let (mut all, mut passing, mut refused) = (0, 0, Vec::new());
    let (mut own, mut own_passing) = (0, 0);
    for (_, dir) in corpus {
        let Ok(skill) = agent_skills::skill::Skill::load(&dir) else {
            continue;
        };
        let list = skill.fields.allowed_tools();
        let source = agent_skills::author::SkillSource::read(skill);
        let is_program = |name: &str| name.chars().all(|c| c.is_ascii_lowercase());
        for one in agent_skills::author::documented(&source, &is_program) {
            let command = one.command.replace(&*dir.to_string_lossy(), "/skills/t");
            let told = |list: &[String]| crate::shell_tables::refusal(&list.join(" "), &command);
            if let Some(list) = &list {
                own += 1;
                own_passing += usize::from(told(list).is_none());
            }
            all += 1;
            match told(&["Bash Read Write".to_owned()]) {
                None => passing += 1,
                Some(why) => refused.push(format!("{:?}: {why}", one.command)),
            }
        }
    }
    println!("own lists: {own_passing} of {own}; every program: {passing} of {all}");
    println!("{}", refused.join("\n"));
    assert!(refused.len() * 50 < all, "{} of {all}", refused.len());
}
