//! From the parser's tree to a flat list of what the shell will do, in order: commands,
//! redirections, and where a chain of `&&` ends. What cannot be read surely in every shell is
//! refused here; whether the rest may happen is decided elsewhere.

use rable::{ListOperator, Node, NodeKind};

use super::Fault;
use super::conditional;
use super::expansion;
use super::names;
use super::scan::scan;
use super::word::Word;
use crate::permission::steps::Steps;

/// What the shell will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A simple command.
    Command(Simple),
    /// A redirection of the command after it, simple or compound: the shell opens the file first.
    Redirect(Redirect),
    /// A loop gives this variable its values.
    Loop(String),
    /// From here on it is not known whether the last commands succeeded.
    Join,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=value` words before it.
    pub assignments: Vec<Assignment>,
    /// Program and arguments; none for bare assignments.
    pub words: Vec<Word>,
    /// Where it stands in a pipeline.
    pub stage: usize,
    /// Whether it may run again and again.
    pub in_loop: bool,
    /// Whether something is read from a file or substitution.
    pub reads_input: bool,
    /// Whether its input is text in the command itself.
    pub has_text_input: bool,
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The word as it is written.
    pub raw: String,
    /// Name and value, when the value is plain text.
    pub text: Option<String>,
}

/// A redirection to or from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether the file is written.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

impl Simple {
    /// The command as it is written, for people.
    pub fn shown(&self) -> String {
        let assignments = self.assignments.iter().map(|one| one.raw.as_str());
        let words = self.words.iter().map(|word| word.raw.as_str());
        assignments.chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Reads a whole command line.
///
/// # Errors
/// For everything that RESTRICTION.md §4.10 refuses.
pub fn read(source: &str, steps: &Steps) -> Result<Vec<Step>, Fault> {
    let scanned = scan(source, steps)?;
    let nodes = rable::parse(&scanned.text, false)
        .map_err(|_| Fault::new("", "it cannot be parsed as a shell command"))?;
    let mut reader = Reader::default();
    for node in &nodes {
        reader.node(node)?;
        reader.steps.push(Step::Join);
    }
    let same = reader.substitutions == scanned.substitutions && reader.heredocs == scanned.heredocs;
    if !same {
        return Err(Fault::new("", "two readings of it differ"));
    }
    let acts = |step: &Step| *step != Step::Join;
    if !reader.has_test && !reader.steps.iter().any(acts) {
        return Err(Fault::new("", "it holds no command"));
    }
    Ok(reader.steps)
}

#[derive(Default)]
struct Reader {
    steps: Vec<Step>,
    loops: usize,
    substitutions: usize,
    heredocs: usize,
    files: usize,
    has_test: bool,
}

impl Reader {
    fn node(&mut self, node: &Node) -> Result<(), Fault> {
        match &node.kind {
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => self.command(assignments, words, redirects, 0),
            NodeKind::List { .. } => self.list(node),
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands),
            NodeKind::Negation { pipeline } => self.node(pipeline),
            NodeKind::Time { pipeline, .. } => self.timed(pipeline),
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                self.redirects(redirects)?;
                self.node(body)
            }
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                self.redirects(redirects)?;
                for part in [Some(condition), Some(then_body), else_body.as_ref()] {
                    part.map_or(Ok(()), |part| self.node(part))?;
                    self.steps.push(Step::Join);
                }
                Ok(())
            }
            NodeKind::While {
                condition,
                body,
                redirects,
            }
            | NodeKind::Until {
                condition,
                body,
                redirects,
            } => {
                self.redirects(redirects)?;
                self.repeated(&[condition, body])
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => {
                self.steps.push(Step::Loop(var.clone()));
                self.redirects(redirects)?;
                for word in words.iter().flatten() {
                    self.word(word)?;
                }
                self.repeated(&[body])
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                self.redirects(redirects)?;
                self.word(word)?;
                for pattern in patterns {
                    for word in &pattern.patterns {
                        self.word(word)?;
                    }
                    pattern
                        .body
                        .as_ref()
                        .map_or(Ok(()), |body| self.node(body))?;
                    self.steps.push(Step::Join);
                }
                Ok(())
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                conditional::check(body)?;
                self.has_test = true;
                self.redirects(redirects)
            }
            NodeKind::Comment { .. } | NodeKind::Empty => Ok(()),
            _ => Err(Fault::new(
                &kind_of(&node.kind),
                "shells disagree about it, or it runs later",
            )),
        }
    }

    /// Reads a list, whose tree leans to the left and may be a thousand items deep.
    fn list(&mut self, node: &Node) -> Result<(), Fault> {
        let mut items: Vec<(&Node, Option<ListOperator>)> = Vec::new();
        let mut left = (node, None);
        while let NodeKind::List { items: inner } = &left.0.kind {
            let Some((first, others)) = inner.split_first() else {
                break;
            };
            let mut operator = left.1;
            for item in others.iter().rev() {
                items.push((&item.command, item.operator.or(operator)));
                operator = None;
            }
            left = (&first.command, first.operator.or(operator));
        }
        items.push(left);
        for (command, operator) in items.into_iter().rev() {
            self.node(command)?;
            let chained = operator == Some(ListOperator::And)
                && matches!(command.kind, NodeKind::Command { .. });
            if !chained {
                self.steps.push(Step::Join);
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, commands: &[Node]) -> Result<(), Fault> {
        for (stage, node) in commands.iter().enumerate() {
            match &node.kind {
                NodeKind::Command {
                    assignments,
                    words,
                    redirects,
                } => {
                    self.command(assignments, words, redirects, stage)?;
                }
                _ => self.node(node)?,
            }
            self.steps.push(Step::Join);
        }
        Ok(())
    }

    /// `time` is a word of the grammar in one shell and a program in the other, so only what both
    /// run alike may follow.
    fn timed(&mut self, pipeline: &Node) -> Result<(), Fault> {
        let first = match &pipeline.kind {
            NodeKind::Pipeline { commands, .. } => commands.first(),
            _ => Some(pipeline),
        };
        match first.map(|node| &node.kind) {
            Some(NodeKind::Command { assignments, .. }) if assignments.is_empty() => {
                self.node(pipeline)
            }
            _ => Err(Fault::new(
                "time",
                "only a simple command can be timed in every shell",
            )),
        }
    }

    fn repeated(&mut self, parts: &[&Node]) -> Result<(), Fault> {
        self.loops += 1;
        for part in parts {
            self.node(part)?;
            self.steps.push(Step::Join);
        }
        self.loops -= 1;
        Ok(())
    }

    fn command(
        &mut self,
        assignments: &[Node],
        words: &[Node],
        redirects: &[Node],
        stage: usize,
    ) -> Result<(), Fault> {
        let assignments = assignments
            .iter()
            .map(|node| self.assignment(node))
            .collect::<Result<Vec<_>, _>>()?;
        let words = words
            .iter()
            .map(|node| self.word(node))
            .collect::<Result<Vec<_>, _>>()?;
        if words
            .first()
            .is_some_and(|word| RESERVED.contains(&word.raw.as_str()))
        {
            return Err(Fault::unread(&words[0].raw));
        }
        let of = |wanted: fn(&NodeKind) -> bool| redirects.iter().any(|node| wanted(&node.kind));
        self.redirects(redirects)?;
        if !words.is_empty() || !assignments.is_empty() {
            self.steps.push(Step::Command(Simple {
                assignments,
                words,
                stage,
                in_loop: self.loops > 0,
                reads_input: of(|kind| matches!(kind, NodeKind::Redirect { op, .. } if op.starts_with('<') && op != "<<<")),
                has_text_input: of(|kind| match kind {
                    NodeKind::Redirect { op, .. } => op == "<<<",
                    kind => matches!(kind, NodeKind::HereDoc { .. }),
                }),
            }));
        }
        Ok(())
    }

    fn assignment(&mut self, node: &Node) -> Result<Assignment, Fault> {
        let word = self.word(node)?;
        let Some((name, _)) = names::assignment(&word.raw) else {
            return Err(Fault::new(
                &word.raw,
                "shells disagree about this assignment",
            ));
        };
        Ok(Assignment {
            name: name.to_owned(),
            text: word.text().map(str::to_owned),
            raw: word.raw.clone(),
        })
    }

    /// Reads a word and, before it, the commands that are substituted in it.
    fn word(&mut self, node: &Node) -> Result<Word, Fault> {
        let word = Word::read(node)?;
        if let NodeKind::Word { parts, .. } = &node.kind {
            for part in parts {
                if let NodeKind::CommandSubstitution { command, .. }
                | NodeKind::ProcessSubstitution { command, .. } = &part.kind
                {
                    self.substitutions += 1;
                    self.node(command)?;
                    self.steps.push(Step::Join);
                }
            }
        }
        Ok(word)
    }

    fn redirects(&mut self, redirects: &[Node]) -> Result<(), Fault> {
        for node in redirects {
            match &node.kind {
                NodeKind::HereDoc {
                    content,
                    quoted,
                    complete,
                    ..
                } => {
                    self.heredocs += 1;
                    if !quoted {
                        expansion::plain_variables_only(content)?;
                    }
                    if !complete {
                        return Err(Fault::new("<<", "a here-document has no end"));
                    }
                }
                NodeKind::Redirect {
                    op,
                    target,
                    varfd: None,
                    ..
                } => self.redirect(op, target)?,
                _ => return Err(Fault::unread("{…}>")),
            }
        }
        Ok(())
    }

    fn redirect(&mut self, op: &str, target: &Node) -> Result<(), Fault> {
        let word = self.word(target)?;
        let duplicates = |text: &str| text == "-" || text.chars().all(|c| c.is_ascii_digit());
        let writes = match op {
            "<<<" | ">&-" | "<&-" => return Ok(()),
            ">&" | "<&" if word.text().is_some_and(duplicates) => return Ok(()),
            "<" => false,
            ">" | ">>" | ">|" | "<>" | "&>" | "&>>" | ">&" => true,
            _ => return Err(Fault::new(op, "this redirection is not read")),
        };
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(Fault::new(op, "it redirects to too many files"));
        }
        self.steps.push(Step::Redirect(Redirect {
            writes,
            target: word,
        }));
        Ok(())
    }
}

/// Redirections to files; each is looked for on disk.
const MAX_FILES: usize = 128;

/// Words that open or close a construct; as a program the parser must have seen something else.
const RESERVED: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "function", "select", "coproc", "in", "{", "}", "!", "[[",
];

fn kind_of(kind: &NodeKind) -> String {
    match kind {
        NodeKind::Function { name, .. } => format!("{name}()"),
        NodeKind::Coproc { .. } => "coproc".to_owned(),
        NodeKind::Select { .. } => "select".to_owned(),
        NodeKind::ForArith { .. } => "for ((".to_owned(),
        NodeKind::ArithmeticCommand { .. } => "((".to_owned(),
        _ => String::new(),
    }
}
