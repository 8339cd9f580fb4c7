//! Turns the parser's tree into a flat list of what the shell will do, in order: commands,
//! redirections, and where an `&&` chain ends. Refuses what some shell may read differently; rules
//! are checked elsewhere.

use std::cell::RefCell;
use std::rc::Rc;

use rable::{ListOperator, Node, NodeKind};

use super::programs::{SAME_GRAMMAR, by_name};
use super::scan::{Scan, scan};
use super::step::{Assignment, BlockKind, LineStep, Redirection, SimpleCommand, StdinSource};
use super::variables::{self, Variables};
use super::word::{Piece, Word};
use super::{Rejection, accepted_expansions, constants, syntax_tree};
use crate::places::RuleDirectories;
use crate::steps::Steps;
use crate::vocabulary::{Language, Shell};
use skill_text::Names;

/// A command line as a shell reads it.
pub struct ParsedLine {
    /// What the shell will do, in order.
    pub steps: Vec<LineStep>,
    /// Its loop variables and the words they iterate over.
    pub loops: Vec<(String, Vec<Word>)>,
    /// Whether it may change the directory of the shell that runs it.
    moves: bool,
}

/// Reads a whole command line. Known values of `variables` replace their uses.
///
/// # Errors
/// For everything that is refused outright (docs/spec/restriction.md#refused-outright).
pub fn parse(
    source: &str,
    shell: Shell,
    variables: Variables,
    steps: &Steps,
) -> Result<ParsedLine, Rejection> {
    let scanned = scan(source, shell, steps)?;
    let reading = parse_scanned(&scanned, shell, variables, steps)?;
    match scanned.text_for_dash() {
        None => Ok(reading),
        Some(other) => {
            let other = parse_scanned(&scan(&other, shell, steps)?, shell, variables, steps)?;
            Ok(reading.merged_with(other))
        }
    }
}

impl ParsedLine {
    /// Its simple commands.
    pub fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        self.steps.iter().filter_map(|step| match step {
            LineStep::Command(simple) => Some(simple),
            _ => None,
        })
    }

    /// What the shell does if it reads the text in one of two ways.
    fn merged_with(self, other: Self) -> Self {
        let moves = self.moves || other.moves;
        let enter = |kind| LineStep::Enter { kind, moves };
        let mut steps = Vec::new();
        for way in [self.steps, other.steps] {
            steps.push(enter(BlockKind::Subshell));
            steps.extend(way);
            steps.push(LineStep::Leave);
        }
        let mut loops = self.loops;
        for one in other.loops {
            if !loops.contains(&one) {
                loops.push(one);
            }
        }
        // Where it leads is not known if it moves.
        steps.extend([enter(BlockKind::Branches), LineStep::Leave]);
        Self {
            steps,
            loops,
            moves,
        }
    }
}

fn parse_scanned(
    scanned: &Scan,
    shell: Shell,
    variables: Variables,
    steps: &Steps,
) -> Result<ParsedLine, Rejection> {
    let mut nodes = rable::parse(&scanned.text, false)
        .map_err(|_| Rejection::new("", "it cannot be parsed as a shell command"))?;
    // Before constants are put in: names are searched for in the text as it is written.
    let binds_unseen = scanned.text.contains("for") && constants::binds_unseen(&mut nodes);
    let untouched = constants::untouched(&mut nodes, &scanned.text, variables, steps);
    let mut nodes = constants::substitute(nodes, &scanned.text, variables, steps);
    let plain_loops = if binds_unseen {
        Vec::new()
    } else {
        constants::loops_over_names(&mut nodes, &scanned.text, variables, steps)
    };
    let mut builder = StepBuilder {
        untouched: untouched.into(),
        host_variable: constants::host_variable(&mut nodes, &scanned.text, variables),
        plain_loops,
        zsh: shell.language == Language::BashOrZsh,
        ..StepBuilder::default()
    };
    builder.parts(&nodes)?;
    builder.heredocs.sort_unstable();
    let same =
        builder.substitutions == scanned.substitutions && builder.heredocs == scanned.heredocs;
    Rejection::err_if(!same, "", "it can be parsed in two ways")?;
    let acts = |step: &LineStep| matches!(step, LineStep::Command(_) | LineStep::Redirect(_));
    if !builder.has_test && !builder.steps.iter().any(acts) {
        return Rejection::err("", "it contains no command");
    }
    Ok(ParsedLine {
        steps: builder.steps,
        loops: builder.for_loops,
        moves: builder.moves,
    })
}

#[derive(Default)]
struct StepBuilder {
    steps: Vec<LineStep>,
    /// The variables that nothing here sets.
    untouched: Rc<[String]>,
    loops: usize,
    for_loops: Vec<(String, Vec<Word>)>,
    /// The variable of the host with which a program's path may begin.
    host_variable: Option<String>,
    /// The variables of loops over plain names.
    plain_loops: Vec<String>,
    /// Those of them whose loops enclose the current position.
    names: Vec<String>,
    substitutions: usize,
    heredocs: Vec<String>,
    files: usize,
    /// Whether a command so far may change the directory of the shell that runs the current part.
    moves: bool,
    has_test: bool,
    zsh: bool,
}

impl StepBuilder {
    fn node(&mut self, node: &Node) -> Result<(), Rejection> {
        match &node.kind {
            NodeKind::Command { .. } => self.command(node, 0),
            NodeKind::List { .. } => self.list(node),
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands),
            NodeKind::Negation { pipeline } => self.node(pipeline),
            NodeKind::Time { pipeline, .. } => self.time_prefix(pipeline),
            NodeKind::Subshell { body, redirects } => {
                self.redirects(redirects)?;
                self.block(BlockKind::Subshell, |this| this.node(body))
            }
            NodeKind::BraceGroup { body, redirects } => {
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
                let parts = [Some(condition), Some(then_body), else_body.as_ref()];
                let parts = parts.into_iter().flatten().map(Box::as_ref);
                self.block(BlockKind::Branches, |this| this.parts(parts))
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
                self.loop_body(&[condition, body])
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => self.for_loop(var, words.as_deref().unwrap_or_default(), body, redirects),
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                self.redirects(redirects)?;
                self.word(word)?;
                self.block(BlockKind::Branches, |this| {
                    for pattern in patterns {
                        for word in &pattern.patterns {
                            this.word(word)?;
                        }
                        let body = pattern.body.as_ref();
                        body.map_or(Ok(()), |body| this.node(body))?;
                        this.steps.push(LineStep::Join);
                    }
                    Ok(())
                })
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                let refused =
                    || Rejection::new("[[", "only one plain test is read; use `[` and `&&`");
                for text in test_operands(body).ok_or_else(refused)? {
                    accepted_expansions::plain_variables_only(text, self.zsh)?;
                }
                self.has_test = true;
                self.redirects(redirects)
            }
            NodeKind::Comment { .. } | NodeKind::Empty => Ok(()),
            // The scan has refused `coproc`, `((` and functions.
            _ => Rejection::err("", "shells disagree about it, or it runs later"),
        }
    }

    /// Reads parts that follow each other, whether or not those before them succeeded.
    fn parts<'n>(&mut self, parts: impl IntoIterator<Item = &'n Node>) -> Result<(), Rejection> {
        for part in parts {
            self.node(part)?;
            self.steps.push(LineStep::Join);
        }
        Ok(())
    }

    fn list(&mut self, node: &Node) -> Result<(), Rejection> {
        for (command, operator) in syntax_tree::commands(node) {
            self.node(command)?;
            let chained = operator == Some(ListOperator::And)
                && matches!(command.kind, NodeKind::Command { .. });
            if !chained {
                self.steps.push(LineStep::Join);
            }
        }
        Ok(())
    }

    /// Reads a part in which directory changes are local or are not followed.
    fn block(
        &mut self,
        kind: BlockKind,
        part: impl FnOnce(&mut Self) -> Result<(), Rejection>,
    ) -> Result<(), Rejection> {
        let (loops, before) = (self.loops, std::mem::take(&mut self.moves));
        if kind == BlockKind::Subshell {
            self.loops = 0;
        }
        let begin = self.steps.len();
        let enter = |moves| LineStep::Enter { kind, moves };
        self.steps.push(enter(false));
        part(self)?;
        let moves = self.moves;
        self.steps[begin] = enter(moves);
        self.steps.push(LineStep::Leave);
        self.loops = loops;
        self.moves = before || moves && kind != BlockKind::Subshell;
        Ok(())
    }

    fn pipeline(&mut self, commands: &[Node]) -> Result<(), Rejection> {
        self.block(BlockKind::Mixed, |this| {
            for (stage, node) in commands.iter().enumerate() {
                match &node.kind {
                    NodeKind::Command { .. } => this.command(node, stage)?,
                    _ => this.node(node)?,
                }
                this.steps.push(LineStep::Join);
            }
            Ok(())
        })
    }

    /// `time` is grammar in some shells and a program in others, so only what both run alike may
    /// follow.
    fn time_prefix(&mut self, pipeline: &Node) -> Result<(), Rejection> {
        let first = match &pipeline.kind {
            NodeKind::Pipeline { commands, .. } => commands.first(),
            _ => Some(pipeline),
        };
        match first.map(|node| &node.kind) {
            // If it is a program, a `cd` after it has no effect.
            Some(NodeKind::Command { assignments, .. }) if assignments.is_empty() => {
                self.block(BlockKind::Mixed, |this| this.node(pipeline))
            }
            _ => Rejection::err("time", "only a simple command can be timed in every shell"),
        }
    }

    fn command(&mut self, node: &Node, stage: usize) -> Result<(), Rejection> {
        let NodeKind::Command {
            assignments,
            words,
            redirects,
        } = &node.kind
        else {
            return Err(Rejection::misparsed(""));
        };
        let read = |node| self.assignment(node);
        let assignments: Vec<_> = assignments.iter().map(read).collect::<Result<_, _>>()?;
        let read = |node| self.word(node);
        let mut words: Vec<_> = words.iter().map(read).collect::<Result<_, _>>()?;
        if let (Some(name), Some(first)) = (&self.host_variable, words.first_mut()) {
            spell_host_variable(name, first);
        }
        if let Some(first) = words.first().filter(|word| RESERVED.has(&word.raw)) {
            return Err(Rejection::misparsed(&first.raw));
        }
        let input = |node: &Node| match &node.kind {
            NodeKind::HereDoc { fd: ..=0, .. } => StdinSource::Text,
            NodeKind::Redirect { op, fd: ..=0, .. } if op == "<<<" => StdinSource::Text,
            NodeKind::Redirect { op, fd: ..=0, .. } if op == "<" => StdinSource::File,
            NodeKind::HereDoc { .. } => StdinSource::Unknown,
            NodeKind::Redirect { op, .. } if op.starts_with('<') => StdinSource::Unknown,
            _ => StdinSource::Outer,
        };
        self.redirects(redirects)?;
        // Behind a pipe zsh hands on both inputs.
        if let (0, [shell], [redirect]) = (stage, words.as_slice(), redirects.as_slice())
            && shell.fits(|name| by_name(name).has(SAME_GRAMMAR))
            && let Some(line) = single_heredoc_line(redirect)
        {
            words.extend(["-c", line].map(Word::literal));
        }
        if !words.is_empty() || !assignments.is_empty() {
            let simple = SimpleCommand {
                assignments,
                words,
                stage,
                in_loop: self.loops > 0,
                input: redirects
                    .iter()
                    .map(input)
                    .max()
                    .unwrap_or(StdinSource::Outer),
                untouched: Rc::clone(&self.untouched),
            };
            self.moves = self.moves || simple.may_change_directory();
            self.steps.push(LineStep::Command(simple));
        }
        Ok(())
    }

    /// Reads `for NAME in WORDS`; the variable may be one that holds plain file names.
    fn for_loop(
        &mut self,
        name: &str,
        words: &[Node],
        body: &Node,
        redirects: &[Node],
    ) -> Result<(), Rejection> {
        self.steps.push(LineStep::Loop(name.to_owned()));
        self.redirects(redirects)?;
        // `for x; do` has this word too; the parser gives it no parts.
        let is_all =
            |node: &Node| matches!(&node.kind, NodeKind::Word { value, .. } if value == "\"$@\"");
        let known = words.iter().filter(|word| !is_all(word));
        let mut over: Vec<Word> = known
            .map(|word| self.word(word))
            .collect::<Result<_, _>>()?;
        if over.is_empty() || over.len() < words.len() {
            over.push(Word::unknown());
        }
        self.for_loops.push((name.to_owned(), over));
        let around = self.names.len();
        if self.plain_loops.iter().any(|plain| plain == name) {
            self.names.push(name.to_owned());
        }
        self.loop_body(&[body])?;
        self.names.truncate(around);
        Ok(())
    }

    /// Reads parts that may run any number of times.
    fn loop_body(&mut self, parts: &[&Node]) -> Result<(), Rejection> {
        self.block(BlockKind::Mixed, |this| {
            this.loops += 1;
            this.parts(parts.iter().copied())
        })
    }

    fn redirects(&mut self, redirects: &[Node]) -> Result<(), Rejection> {
        for node in redirects {
            match &node.kind {
                NodeKind::HereDoc {
                    content,
                    quoted,
                    complete,
                    ..
                } => {
                    self.heredocs.push(content.clone());
                    if !quoted {
                        accepted_expansions::plain_variables_only(content, self.zsh)?;
                    }
                    Rejection::err_if(!complete, "<<", "a here-document has no end")?;
                }
                NodeKind::Redirect {
                    op,
                    target,
                    varfd: None,
                    ..
                } => self.redirect(op, target)?,
                _ => return Err(Rejection::misparsed("{…}>")),
            }
        }
        Ok(())
    }

    fn redirect(&mut self, op: &str, target: &Node) -> Result<(), Rejection> {
        let word = self.word(target)?;
        let duplicates = |text: &str| text == "-" || text.chars().all(|c| c.is_ascii_digit());
        let writes = match op {
            "<<<" | ">&-" | "<&-" => return Ok(()),
            ">&" | "<&" if word.text().is_some_and(duplicates) => return Ok(()),
            "<" => false,
            ">" | ">>" | ">|" | "<>" | "&>" | "&>>" | ">&" => true,
            _ => return Rejection::err(op, "this redirection is not read"),
        };
        self.files += 1;
        Rejection::err_if(self.files > MAX_FILES, op, "it redirects to too many files")?;
        self.steps.push(LineStep::Redirect(Redirection {
            writes,
            target: word,
        }));
        Ok(())
    }

    fn assignment(&mut self, node: &Node) -> Result<Assignment, Rejection> {
        let word = self.word(node)?;
        let Some((name, _)) = variables::assignment(&word.raw) else {
            return Rejection::err(&word.raw, "shells disagree about this assignment");
        };
        let text = word.text();
        let value = text.and_then(|text| Some(text.split_once('=')?.1));
        Ok(Assignment {
            name: name.to_owned(),
            text: text.map(str::to_owned),
            is_safe: value.is_some_and(|value| variables::is_safe_value(name, value)),
            raw: word.raw.clone(),
        })
    }

    /// Reads a word, preceded by the commands substituted in it.
    fn word(&mut self, node: &Node) -> Result<Word, Rejection> {
        let word = Word::from_node(node, &self.names)?;
        if let NodeKind::Word { parts, .. } = &node.kind {
            for part in parts {
                if let NodeKind::ArithmeticExpansion {
                    expression: Some(sum),
                } = &part.kind
                    && syntax_tree::names_in(sum).next().is_some()
                {
                    return Err(accepted_expansions::evaluates_names());
                }
                if let NodeKind::CommandSubstitution { command, .. }
                | NodeKind::ProcessSubstitution { command, .. } = &part.kind
                {
                    self.substitutions += 1;
                    self.block(BlockKind::Subshell, |this| this.node(command))?;
                    self.steps.push(LineStep::Join);
                }
            }
        }
        Ok(word)
    }
}

/// The limit of redirections to files; each costs file system queries.
const MAX_FILES: usize = 128;

/// Makes a program's path that begins with a variable plain text, as an entry has it.
fn spell_host_variable(name: &str, program: &mut Word) {
    let is_empty = |piece: &Piece| matches!(piece, Piece::Text(text) if text.is_empty());
    let begin = program
        .pieces
        .iter()
        .take_while(|piece| is_empty(piece))
        .count();
    if let [Piece::Expansion(_), Piece::Text(rest)] = &program.pieces[begin..] {
        let text = format!("${{{name}}}{rest}");
        if program.raw.replace('"', "") == text {
            program.pieces = vec![Piece::Text(text)];
        }
    }
}

/// The text of one line that a here-document gives a shell as its input. Of several, a command could
/// read a part, and the shell go on in the middle of a word.
fn single_heredoc_line(redirect: &Node) -> Option<&str> {
    match &redirect.kind {
        NodeKind::HereDoc {
            content,
            quoted: true,
            fd: ..=0,
            ..
        } => content
            .strip_suffix('\n')
            .filter(|line| !line.contains('\n') && !line.ends_with('\\')),
        _ => None,
    }
}

/// Words that open or close a construct; as a program they show that the parser misread something.
const RESERVED: Names = Names::new(
    "if then else elif fi do done case esac while until for function select coproc in { } ! [[",
);

/// Shells without `[[` run it as a program and read `&&`, `<` and `(` as usual, and operands of `-eq`
/// and `-v` are evaluated; so only one plain test is accepted.
const UNARY: &str = "abcdefghkprstuwxzGLNOSno";
const BINARY: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

/// The operands of one plain test.
fn test_operands(node: &Node) -> Option<Vec<&str>> {
    match &node.kind {
        NodeKind::CondNot { operand } if !matches!(operand.kind, NodeKind::CondNot { .. }) => {
            test_operands(operand)
        }
        NodeKind::UnaryTest { op, operand } => {
            let letter = op.strip_prefix('-').filter(|letter| letter.len() == 1)?;
            let text = test_operand(operand)?;
            // zsh evaluates the number of a terminal.
            let is_safe = letter != "t" || text.chars().all(|c| c.is_ascii_digit());
            (is_safe && UNARY.contains(letter)).then(|| vec![text])
        }
        NodeKind::BinaryTest { op, left, right } if BINARY.contains(&op.as_str()) => {
            Some(vec![test_operand(left)?, test_operand(right)?])
        }
        NodeKind::CondTerm { .. } => Some(vec![test_operand(node)?]),
        _ => None,
    }
}

fn test_operand(node: &Node) -> Option<&str> {
    let special = ['(', ')', '<', '>', '|', '&', ';', '\\', '\n'];
    match &node.kind {
        NodeKind::CondTerm { value, .. } if !value.contains(special) => Some(value),
        _ => None,
    }
}

/// Command lines beyond this number, nested ones included, are parsed again.
const MAX_CACHED: usize = 16;
/// Characters compared per step.
const PER_STEP: usize = 64;

/// The command lines read for a decision.
pub struct ParseCache<'a> {
    /// The steps left for the decision.
    pub steps: &'a Steps,
    /// The host's shell and where it starts.
    pub places: &'a RuleDirectories,
    /// What is known about that shell's variables.
    pub variables: Variables<'a>,
    cached: RefCell<Vec<Cached>>,
}

struct Cached {
    text: String,
    shell: Shell,
    with_variables: bool,
    reading: Rc<Result<ParsedLine, Rejection>>,
}

impl<'a> ParseCache<'a> {
    /// Nothing is read yet.
    pub fn new(steps: &'a Steps, places: &'a RuleDirectories, variables: Variables<'a>) -> Self {
        Self {
            steps,
            places,
            variables,
            cached: RefCell::default(),
        }
    }

    /// What `shell` would do with a text; `with_variables` replaces variables whose values are
    /// known.
    pub fn parse(
        &self,
        text: &str,
        shell: Shell,
        with_variables: bool,
    ) -> Rc<Result<ParsedLine, Rejection>> {
        // Elsewhere they make no difference.
        let with_variables = with_variables && (text.contains(['$', '~']) || text.contains("for"));
        self.steps.spend(1 + text.len() / PER_STEP);
        let is_same = |cached: &&Cached| {
            (cached.shell, cached.with_variables) == (shell, with_variables) && cached.text == text
        };
        if let Some(cached) = self.cached.borrow().iter().find(is_same) {
            return Rc::clone(&cached.reading);
        }
        let variables = if with_variables {
            self.variables
        } else {
            Variables::default()
        };
        let reading = Rc::new(parse(text, shell, variables, self.steps));
        let mut cached = self.cached.borrow_mut();
        if cached.len() < MAX_CACHED {
            cached.push(Cached {
                text: text.to_owned(),
                shell,
                with_variables,
                reading: Rc::clone(&reading),
            });
        }
        reading
    }
}
