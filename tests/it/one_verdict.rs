//! One decision for every host: the same call under the same list is refused through every door or
//! through none. What differs is listed below, with the fact of the host that makes it so.

use agent_skills::host::Agent;
use agent_skills::host::agent::table::AgentProfile;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use skill_permission::vocabulary::Capability;
use skill_permission::vocabulary::Language;

use crate::agents::World;
use crate::agents::all::worlds;
use crate::host::Host;

/// What is asked of a host, in no host's words.
#[derive(Clone, Debug)]
enum Ask {
    Run(String),
    Read(String),
    Write(String),
    Fetch(String),
}

use Ask::{Fetch, Read, Run, Write};

impl Ask {
    /// The call of chibi's tool.
    fn in_chibi(&self) -> (&'static str, Value) {
        match self {
            Run(command) => ("shell_exec", json!({ "command": command })),
            Read(path) => ("file_head", json!({ "path": path })),
            Write(path) => ("write_file", json!({"path": path, "content": "x"})),
            Fetch(url) => ("fetch_url", json!({ "url": url })),
        }
    }

    /// The call of an agent's tool, if it has one for this.
    fn in_agent(&self, world: &World) -> Option<Value> {
        let tool = |wanted: Capability| {
            let mut tools = world.form.agent.table().vocabulary.tools.iter();
            let tool = tools.find(|tool| tool.does == wanted)?;
            Some((tool.names[0], tool.keys[0]))
        };
        let (name, arguments) = match self {
            Run(command) => (world.form.shell.1, json!({ "command": command })),
            Write(path) if world.form.write.1 == "patch" => {
                let text = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
                (world.form.write.0, json!({ "command": text }))
            }
            Write(path) => {
                let (name, key) = world.form.write;
                (name, json!({key: path, "content": "x"}))
            }
            Read(path) => {
                let (name, key) = tool(Capability::ReadFile)?;
                (name, json!({ key: path }))
            }
            Fetch(url) => {
                let (name, key) = tool(Capability::Fetch)?;
                (name, json!({ key: url }))
            }
        };
        Some(world.calling(name, arguments))
    }
}

/// Every host with one skill active: chibi, and each agent.
struct Doors {
    chibi: Host,
    agents: Vec<World>,
}

impl Doors {
    fn with(list: &str) -> Self {
        let frontmatter = format!("allowed-tools: {list}");
        let chibi = Host::stdin().skill("pdf", &frontmatter, "Do");
        let activated = chibi.pre_tool_here("skill_pdf", &json!({}));
        assert_eq!(activated, json!({}), "{list}");
        let agents = worlds().map(|world| world.using("pdf", &frontmatter));
        Self {
            agents: agents.collect(),
            chibi,
        }
    }

    fn chibi_refuses(&self, ask: &Ask) -> bool {
        let (tool, arguments) = ask.in_chibi();
        self.chibi.pre_tool_here(tool, &arguments)["block"] == json!(true)
    }

    /// Whether each agent that has a tool for it refuses.
    fn refusing(&self, ask: &Ask) -> Vec<(Agent, bool)> {
        let worlds = self.agents.iter();
        let of = |world: &World| {
            let answer = world.hook_here(&ask.in_agent(world)?);
            Some((world.form.agent, answer.is_denied()))
        };
        worlds.filter_map(of).collect()
    }

    #[track_caller]
    fn agree(&self, list: &str, ask: &Ask) {
        let refused = self.chibi_refuses(ask);
        for (agent, refuses) in self.refusing(ask) {
            assert_eq!(refuses, refused, "{agent}, not chibi: {ask:?} under {list}");
        }
    }
}

const LISTS: [&str; 5] = [
    "Bash(git log:*) Bash(git status) Bash(ls:*)",
    "Bash(git:*) Write(docs/**)",
    "Bash(npm run:*) Bash(make) Read",
    "Write WebFetch(domain:example.org)",
    "Bash Edit(src/*)",
];

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "git",
        "log",
        "status",
        "push",
        "ls",
        "npm",
        "run",
        "make",
        "rm",
        "-rf",
        "--oneline",
        "x",
        "docs/x",
        "src/a.rs",
        "../x",
        "/etc/passwd",
        "'a b'",
        "\"$(id)\"",
        "`id`",
        "*.rs",
        "~/.ssh",
        "-c",
        "tee",
        ".claude/settings.json",
        ">",
        ">>",
        "<",
        "2>&1",
        "&&",
        "||",
        ";",
        "|",
        "&",
        "(",
        ")",
        "{a,b}",
        "cd",
        "for",
        "in",
        "do",
        "done",
        "env",
        "xargs",
        "sudo",
        "sh",
        "A=1",
    ])
}

fn ask() -> impl Strategy<Value = Ask> {
    let path = prop::sample::select(vec![
        "docs/x",
        "docs/../x",
        "src/a.rs",
        "src/b/c",
        "/etc/passwd",
        "../x",
        "x",
        "./docs/x",
        ".git/config",
        ".claude/settings.json",
        ".chibi/agent-skills.toml",
        "docs",
        "~/x",
    ]);
    let url = prop::sample::select(vec![
        "https://example.org/a",
        "https://a.example.org",
        "http://example.org",
        "https://evil.org/example.org",
        "https://example.org@evil.org/",
        "file:///etc/passwd",
    ]);
    let command = prop::collection::vec(word(), 1..7).prop_map(|words| words.join(" "));
    prop_oneof![
        6 => command.prop_map(Run),
        1 => path.clone().prop_map(|path| Write(path.to_owned())),
        1 => path.prop_map(|path| Read(path.to_owned())),
        1 => url.prop_map(|url| Fetch(url.to_owned())),
    ]
}

#[test]
fn a_call_has_one_verdict_through_every_door() {
    let doors = LISTS.map(|list| (list, Doors::with(list)));
    let mut runner = TestRunner::new_with_rng(
        Config::with_cases(100),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let checked = runner.run(&(0..LISTS.len(), ask()), |(at, ask)| {
        let (list, doors) = &doors[at];
        doors.agree(list, &ask);
        Ok(())
    });
    checked.unwrap();
}

/// What differs, and by which fact of the host's table.
#[test]
fn hosts_differ_where_their_tables_say_so() {
    let doors = Doors::with("Bash(git log:*) Read");
    let by_table = |differs: fn(&AgentProfile) -> bool| -> Vec<Agent> {
        let all = doors.agents.iter().map(|world| world.form.agent);
        all.filter(|agent| differs(agent.table())).collect()
    };
    for (command, who) in [
        // The programs of its shell are its tools for reading.
        ("cat notes.md", by_table(|table| table.reads_by_shell)),
        // zsh replaces `=x` by the path of a program.
        (
            "git log =x",
            by_table(|table| table.shell.language == Language::BashOrZsh),
        ),
        // The next command begins where this one ends.
        ("cd sub && git log", by_table(|table| table.shell.persists)),
    ] {
        let ask = Run(command.to_owned());
        let refused = doors.chibi_refuses(&ask);
        let others = doors.refusing(&ask).into_iter();
        let others = others.filter(|(_, refuses)| *refuses != refused);
        let others: Vec<Agent> = others.map(|(agent, _)| agent).collect();
        assert_eq!(others, who, "{command}");
    }
    // An agent without our tools for the skill's files reads them with its own.
    for world in &doors.agents {
        let file = world.home().join(world.form.skills).join("pdf/SKILL.md");
        let ask = Run(format!("cat {}", file.display()));
        let refuses = world.hook_here(&ask.in_agent(world).unwrap()).is_denied();
        let is_in_doubt = world.form.agent.table().shell.persists;
        assert_eq!(refuses, is_in_doubt, "{}", world.form.agent);
    }
    let file = doors.chibi.skills_dir().join("pdf/SKILL.md");
    assert!(doors.chibi_refuses(&Run(format!("cat {}", file.display()))));
}
