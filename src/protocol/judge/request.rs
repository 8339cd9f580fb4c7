//! One call of a tool, read once.

use crate::protocol::called_skill;
use crate::protocol::prelude::*;
use skill_permission::vocabulary;

/// A call of a tool, with what its arguments are.
#[derive(Debug)]
pub struct Request {
    /// The tool, as rules call it.
    pub tool: String,
    /// The tool as the host calls it, where that is another name.
    pub shown: Option<String>,
    /// Its arguments, under the keys of chibi's tool.
    pub arguments: Value,
    /// What the call asks for.
    pub kind: RequestKind,
    /// Where and in what shell its command begins, where a call of this host says so.
    pub start: Option<CommandStart>,
    /// Whether the call itself says that the tool is an MCP server's.
    pub is_mcp: bool,
    /// Whether it is known what each of its arguments does, so that none of them loosens anything.
    pub is_known: bool,
    /// The host's record of the session, and the identity of the call in it.
    pub record: Option<(PathBuf, String)>,
}

/// What a call asks for.
#[derive(Debug)]
pub enum RequestKind {
    /// A tool that is not ours.
    Other,
    /// One of our tools, with its arguments; or why they are none, which the tool reports, doing nothing.
    Ours(Result<OwnToolCall>),
    /// That a skill becomes active, by a tool of ours.
    Activation(Box<CalledSkill>),
    /// That a skill becomes active, by an agent's own means.
    Skill {
        /// The skill's name.
        name: String,
        /// Its directory, which tells it from its namesakes.
        dir: PathBuf,
    },
    /// That a skill becomes active, but none can, for this reason, which the tool reports too.
    NoSkill(Error),
}

/// Where a command begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStart {
    /// The directory.
    pub directory: PathBuf,
    /// Whether its shell keeps what an earlier command changed.
    pub persists: bool,
}

impl Request {
    /// A call of a tool that is not ours.
    pub fn of_tool(tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            shown: None,
            arguments,
            kind: RequestKind::Other,
            start: None,
            is_mcp: false,
            is_known: true,
            record: None,
        }
    }

    /// A call in chibi, whose tools rules are written for.
    pub fn of_chibi(facts: &Facts, used: ToolUse) -> Self {
        let kind = kind_of(facts, &used);
        Self {
            kind,
            ..Self::of_tool(used.tool, used.arguments)
        }
    }

    /// The activation of `called` by its own tool.
    pub fn activating(called: CalledSkill) -> Self {
        let tool = called.tool.clone();
        Self {
            kind: RequestKind::Activation(Box::new(called)),
            ..Self::of_tool(tool, Value::Null)
        }
    }

    /// The call, if what it asks for is there.
    ///
    /// # Errors
    /// Why it makes no skill active, although it asks for that.
    pub fn usable(self) -> Result<Self> {
        match self.kind {
            RequestKind::NoSkill(error) => Err(error),
            _ => Ok(self),
        }
    }

    /// The tool as the host calls it.
    pub fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.tool)
    }

    /// The skill that it makes active by a tool of ours.
    pub fn called_skill(&self) -> Option<&CalledSkill> {
        match &self.kind {
            RequestKind::Activation(called) => Some(called),
            _ => None,
        }
    }

    /// The arguments of our tool, if it is a call of one that has any.
    pub fn our_call(&self) -> Option<&OwnToolCall> {
        match &self.kind {
            RequestKind::Ours(parsed) => parsed.as_ref().ok(),
            _ => None,
        }
    }

    /// The directory of the skill whose script it runs, found as its tool finds it: skills may share a
    /// name, and a skill may have several spellings.
    pub fn script_of(&self, facts: &Facts, session: &Session) -> Option<PathBuf> {
        let written = match &self.kind {
            RequestKind::Ours(Ok(OwnToolCall::RunSkillScript(RunSkillScript::Start(start)))) => {
                start.skill.as_deref()
            }
            // The tool says what is wrong with its arguments.
            RequestKind::Ours(Err(_)) if self.tool == ours::RUN_SCRIPT => {
                written_skill(&self.arguments)
            }
            _ => return None,
        };
        called_skill::skill_dir(facts, written, session)
    }

    /// The call in the form that rules apply to: an activation counts as a call of the skill's own tool.
    /// `script_of` is the directory of the skill whose script is to run.
    pub fn call<'a>(&'a self, script_of: Option<&'a Path>) -> ToolCall<'a> {
        let (tool, ours) = match &self.kind {
            RequestKind::Activation(called) => {
                (&called.tool, Some(called_skill::activation(&called.skill)))
            }
            RequestKind::Skill { name, dir } => (&self.tool, Some(OurTool::Skill { name, dir })),
            RequestKind::Ours(parsed) => {
                let parsed = parsed.as_ref().ok();
                (&self.tool, our_tool(&self.tool, parsed, script_of))
            }
            RequestKind::Other | RequestKind::NoSkill(_) => (&self.tool, None),
        };
        ToolCall {
            ours,
            ..ToolCall::new(tool, &self.arguments)
        }
    }

    /// A refusal of it with the host's name of the tool, and with `entries` as their author wrote them
    /// where the host's tools have other names.
    pub fn in_hosts_words(
        &self,
        refusal: Refusal,
        entries: impl FnOnce() -> Vec<String>,
    ) -> Refusal {
        let is_known = self.is_mcp || vocabulary::find_tool(&self.tool).is_some();
        match &self.shown {
            Some(shown) if is_known || !is_harmless(shown, &self.arguments) => {
                refusal.in_agent(shown, entries())
            }
            Some(shown) => refusal.in_agent(shown, entries()).instead(ALLOW_IT.into()),
            None => refusal,
        }
    }
}

/// What to do about a tool of the host that nothing here knows, and that seems to do no harm.
const ALLOW_IT: &str = "Do it another way, or tell the user: its name in `always_allowed` of the configuration allows it.";

/// Whether neither the name says that it acts, nor any argument has the form of a command, a file or an
/// address.
fn is_harmless(tool: &str, arguments: &Value) -> bool {
    const ACTS: &str = "bash|shell|exec|stdin|terminal|repl|run|write|delete|remove|kill|send|sql|cron|create|input";
    let text = arguments.to_string().to_ascii_lowercase();
    !has_any(&tool.to_ascii_lowercase(), ACTS)
        && !has_any(
            &text,
            r"/|\|$|`|;|&|<|>|command|cmd|code|script|path|file|url|uri|dir",
        )
}

/// What a call in chibi asks for.
fn kind_of(facts: &Facts, used: &ToolUse) -> RequestKind {
    let tool = used.tool.as_str();
    if !ours::is_ours(tool) {
        return RequestKind::Other;
    }
    let is_fixed = ours::FIXED.contains(&tool);
    let wanted = match OwnToolCall::parse(tool, Ok(used.arguments.clone())) {
        Ok(OwnToolCall::Activate(wanted)) => Ok(wanted),
        Err(error) if !is_fixed => Err(error),
        parsed => return RequestKind::Ours(parsed),
    };
    match called_skill::skill_of_call(facts, tool, wanted) {
        Some(Ok(called)) => RequestKind::Activation(Box::new(called)),
        Some(Err(error)) => RequestKind::NoSkill(error),
        None => RequestKind::Other,
    }
}

/// Which of our own tools a call is for, unless it activates a skill, by its arguments as the tool
/// reads them; a different reading could bypass the decision.
pub fn our_tool<'a>(
    tool: &str,
    parsed: Option<&'a OwnToolCall>,
    script_of: Option<&'a Path>,
) -> Option<OurTool<'a>> {
    match tool {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: match parsed {
                Some(OwnToolCall::Command(words)) => {
                    words.first().and_then(|verb| read_only_action(verb))
                }
                _ => None,
            },
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: match parsed {
                Some(OwnToolCall::ReadSkillFile(read)) => read.skill.as_deref(),
                _ => None,
            },
        }),
        ours::SESSION => Some(OurTool::Session),
        ours::PROPOSE => Some(OurTool::Propose { new: false }),
        ours::CREATE => Some(OurTool::Propose { new: true }),
        ours::RUN_SCRIPT => Some(match parsed {
            Some(OwnToolCall::RunSkillScript(RunSkillScript::Job { .. })) => OurTool::Job,
            _ => OurTool::RunSkillScript { skill: script_of },
        }),
        _ => None,
    }
}
