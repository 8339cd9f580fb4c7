//! Variables whose value is known at each use (docs/spec/restriction.md#constants). The value
//! replaces the variable before the command is checked: `OUT=out; ls > "$OUT/x"` writes `out/x`.
//! `$HOME` and the `~` of `~/x` are constants too.
//!
//! All conditions are in [`constant_assignment`], [`assignments`] and [`substitute`].

use std::collections::BTreeMap;

use rable::{ListOperator, Node, NodeKind};

use super::accepted_expansions::LONGEST_SUM;
use super::programs::{BINDS_OPERANDS, BINDS_UNSEEN, NeutralForm, PREFIX, Program, Wraps, by_name};
use super::special_variables::is_special;
use super::syntax_tree::{any, commands, names_in};
use super::variables::{self, Variables, is_name_char};
use crate::steps::Steps;

/// With more assignments than this, no constant is used: each costs a search of the whole text.
const MAX: usize = 24;

/// The values of variables that have one value at all their uses.
type Constants = BTreeMap<String, String>;

/// The name and value of a bare assignment of one literal. Other mentions of the name must follow it and be
/// `$NAME` or `${NAME…}`.
fn constant_assignment(
    command: &Node,
    known: &Constants,
    text: &SearchedText,
    variables: Variables,
) -> Option<(String, String)> {
    let NodeKind::Command {
        assignments,
        redirects,
        ..
    } = &command.kind
    else {
        return None;
    };
    let ([assignment], []) = (assignments.as_slice(), redirects.as_slice()) else {
        return None;
    };
    let written = literal(assignment, known)?;
    let (name, value) = variables::assignment(&written)?;
    let may_be = variables.may_have_any_value(name) && !is_special(name);
    let value = literal_value(value).filter(|_| may_be && text.only_uses(name, 1))?;
    Some((name.to_owned(), value))
}

/// Replaces uses of constants. `nodes` were parsed from `text`.
pub fn substitute(
    mut nodes: Vec<Node>,
    text: &str,
    variables: Variables,
    steps: &Steps,
) -> Vec<Node> {
    if variables.inherited.is_none() || !text.contains(['$', '~']) {
        return nodes;
    }
    let searched = SearchedText::new(text);
    // `$HOME`, if nothing in the text could change its value.
    let home = variables.home.and_then(literal_value);
    let home = home.filter(|_| searched.only_uses("HOME", 0));
    let mut constants: Constants = home
        .map(|home| ("HOME".to_owned(), home))
        .into_iter()
        .collect();
    let assignments = assignments(&nodes);
    // A value may be composed of earlier constants.
    for (command, runs_first) in &assignments {
        if assignments.len() > MAX || !steps.spend(text.len() / 16) {
            return nodes;
        }
        let found = constant_assignment(command, &constants, &searched, variables);
        constants.extend(found.filter(|_| *runs_first));
    }
    let mut binds = |node: &mut Node| may_bind_unseen(node, &constants);
    if !constants.is_empty() && !any(&mut nodes, &mut binds) {
        any(&mut nodes, &mut |node| {
            if let NodeKind::Word { value, parts, .. } = &mut node.kind {
                substitute_in_word(value, parts, &constants);
            }
            false
        });
    }
    nodes
}

/// The variables of loops over plain names, such as `for f in a.py b.py`, that nothing else can
/// bind: inside its loop such a variable leads to no other directory.
pub fn loops_over_names(
    nodes: &mut [Node],
    text: &str,
    variables: Variables,
    steps: &Steps,
) -> Vec<String> {
    if variables.inherited.is_none() || !text.contains("for") {
        return Vec::new();
    }
    let searched = SearchedText::new(text);
    let mut found = Vec::new();
    any(nodes, &mut |node| {
        if let NodeKind::For {
            var,
            words: Some(words),
            ..
        } = &node.kind
        {
            let over_names = !words.is_empty() && words.iter().all(is_plain_name);
            let affordable = found.len() < MAX && steps.spend(text.len() / 16);
            let may_be = variables.may_have_any_value(var) && !is_special(var);
            if over_names && affordable && may_be && searched.only_uses(var, 1) {
                found.push(var.clone());
            }
        }
        false
    });
    found
}

/// The variable of the host that an entry names, if nothing in the text could set it.
pub fn host_variable(nodes: &mut [Node], text: &str, variables: Variables) -> Option<String> {
    let is_untouched = |name: &&str| {
        let written = SearchedText::new(text);
        variables.inherited.is_some() && variables::is_name(name) && written.only_uses(name, 0)
    };
    let name = variables.host.filter(is_untouched)?.to_owned();
    // The program that it leads to sets nothing here.
    let known = Constants::from([(name.clone(), "/".to_owned())]);
    let binds = any(nodes, &mut |node| may_bind_unseen(node, &known));
    (!binds).then_some(name)
}

/// The variables that the text uses and nothing in it could set: their values are the host's.
pub fn untouched(
    nodes: &mut [Node],
    text: &str,
    variables: Variables,
    steps: &Steps,
) -> Vec<String> {
    // Only `find` asks for them.
    if variables.inherited.is_none() || !text.contains("find") || binds_unseen(nodes) {
        return Vec::new();
    }
    let searched = SearchedText::new(text);
    let uses = text.split('$').skip(1).take(MAX);
    uses.map(|text| text.strip_prefix('{').unwrap_or(text))
        .map(|text| &text[..text.find(|c| !is_name_char(c)).unwrap_or(text.len())])
        .filter(|name| variables::is_name(name) && !is_special(name))
        .filter(|name| steps.spend(text.len() / 16) && searched.only_uses(name, 0))
        .map(str::to_owned)
        .collect()
}

/// Whether a command line may bind variables invisibly.
pub fn binds_unseen(nodes: &mut [Node]) -> bool {
    any(nodes, &mut |node| may_bind_unseen(node, &Constants::new()))
}

/// Whether a word names a file in its directory, even if text is added on either side.
fn is_plain_name(word: &Node) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.@%+-".contains(c);
    literal(word, &Constants::new())
        .and_then(|text| literal_value(&text))
        .is_some_and(|name| !name.starts_with(['.', '-']) && name.chars().all(is_part))
}

/// A command line, and a copy without quotes, which could hide a name.
struct SearchedText<'a> {
    written: &'a str,
    unquoted: String,
}

impl<'a> SearchedText<'a> {
    fn new(written: &'a str) -> Self {
        let quotes = ['"', '\'', '\\'];
        Self {
            written,
            unquoted: written.replace(quotes, ""),
        }
    }

    /// Whether a name is mentioned `bindings` times, before any use, and otherwise only as `$NAME`
    /// and `${NAME…}`.
    fn only_uses(&self, name: &str, bindings: usize) -> bool {
        [self.written, &self.unquoted].into_iter().all(|text| {
            let mut mentions = mentions(text, name);
            (0..bindings).all(|_| mentions.next() == Some(false)) && mentions.all(|is_use| is_use)
        })
    }
}

/// Whether each mention of a name uses its value.
fn mentions(text: &str, name: &str) -> impl Iterator<Item = bool> {
    let next = move |from: usize| Some(from + text.get(from..)?.find(name)?);
    let first = name.chars().next().map_or(1, char::len_utf8);
    // Mentions may overlap.
    let places = std::iter::successors(next(0), move |at| next(at + first));
    places.filter_map(move |at| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let option = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_option = option
            .trim_end_matches('-')
            .ends_with(|c: char| c.is_whitespace());
        let is_option = is_option && option.ends_with('-');
        // `printf -vNAME`, `read -raNAME`, `wait -pNAME`.
        let is_bound = is_option && before.ends_with(['v', 'a', 'A', 'p']);
        // The name of an option binds nothing.
        let is_own_word =
            !(before.ends_with(is_name_char) || is_option && option.len() == before.len());
        let whole = (is_own_word || is_bound) && !after.starts_with(is_name_char);
        let is_use = || before.ends_with('$') || before.ends_with("${") || is_in_sum(before, after);
        whole.then(is_use)
    })
}

/// Whether a name between these is inside `$((…))`, where the scan permits no assignment.
fn is_in_sum(before: &str, after: &str) -> bool {
    let is_other = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"_ +-*/%".contains(byte));
    // Look no further than the maximum length of a sum.
    let before = &before.as_bytes()[before.len().saturating_sub(LONGEST_SUM)..];
    let after = &after.as_bytes()[..after.len().min(LONGEST_SUM)];
    let opens = before.iter().rposition(is_other).map(|at| &before[..=at]);
    let closes = after.iter().position(is_other).map(|at| &after[at..]);
    opens.is_some_and(|text| text.ends_with(b"$(("))
        && closes.is_some_and(|text| text.starts_with(b"))"))
}

/// A value without its quotes, if all its characters are literal in every context.
fn literal_value(value: &str) -> Option<String> {
    let single = value
        .strip_prefix('\'')
        .and_then(|value| value.strip_suffix('\''));
    let value = single.map_or_else(|| value.replace('"', ""), str::to_owned);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c);
    (!value.is_empty() && value.chars().all(is_plain)).then_some(value)
}

/// A word's text as written, with constants replaced; `None` if it contains other expansions.
fn literal(word: &Node, constants: &Constants) -> Option<String> {
    let NodeKind::Word { parts, .. } = &word.kind else {
        return None;
    };
    let text = |part: &Node| match &part.kind {
        NodeKind::WordLiteral { value } => Some(value.clone()),
        part => constant_for(part, constants).cloned(),
    };
    parts.iter().map(text).collect()
}

/// The constant that this part of a word uses.
fn constant_for<'a>(part: &NodeKind, constants: &'a Constants) -> Option<&'a String> {
    match part {
        NodeKind::ParamExpansion {
            param,
            op: None,
            arg: None,
        } => constants.get(param),
        _ => None,
    }
}

/// The bare assignments among the items of the top-level list, and whether this shell runs each
/// before all that follows.
fn assignments(nodes: &[Node]) -> Vec<(&Node, bool)> {
    let is_assignment = |node: &Node| matches!(&node.kind, NodeKind::Command { assignments, words, .. } if words.is_empty() && !assignments.is_empty());
    let sequential = |operator| matches!(operator, None | Some(ListOperator::Semi));
    let mut found = Vec::new();
    for node in nodes {
        let mut before = None;
        for (command, after) in commands(node) {
            if is_assignment(command) {
                let begins = sequential(before) || before == Some(ListOperator::Background);
                found.push((command, begins && sequential(after)));
            }
            before = after;
        }
    }
    found
}

fn substitute_in_word(written: &str, parts: &mut [Node], constants: &Constants) {
    let below_home = written.starts_with("~/");
    let tildes = written.matches('~').count();
    // Braces expand before variables, and a tilde may expand after the constant too.
    if written.replace("${", "").contains('{') || tildes > usize::from(below_home) {
        return;
    }
    for (at, part) in parts.iter_mut().enumerate() {
        if let Some(value) = constant_for(&part.kind, constants) {
            let value = value.clone();
            part.kind = NodeKind::WordLiteral { value };
            continue;
        }
        match &mut part.kind {
            // Only numbers remain in it, whatever its result.
            NodeKind::ArithmeticExpansion { expression } => {
                let is_digit = |c: char| c.is_ascii_digit();
                let is_number = |name: &str| {
                    constants
                        .get(name)
                        .is_some_and(|value| value.chars().all(is_digit))
                };
                if expression
                    .as_ref()
                    .is_some_and(|sum| names_in(sum).all(is_number))
                {
                    *expression = None;
                }
            }
            NodeKind::WordLiteral { value } if at == 0 && below_home => {
                if let Some(home) = constants.get("HOME")
                    && let Some(rest) = value.strip_prefix('~')
                {
                    *value = format!("{home}{rest}");
                }
            }
            _ => {}
        }
    }
}

/// Whether a command may bind variables invisibly: it evaluates text, or is unknown.
fn may_bind_unseen(node: &Node, constants: &Constants) -> bool {
    let NodeKind::Command { words, .. } = &node.kind else {
        return false;
    };
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let unquoted = |word: &Node| {
        let text = literal(word, constants)?;
        Some(text.replace(['"', '\'', '\\'], ""))
    };
    let Some(row) = unquoted(program).map(|name| by_name(&name)) else {
        return true;
    };
    // Nearly every program is none of these.
    if !row.has(BINDS_UNSEEN | BINDS_OPERANDS | PREFIX) {
        return false;
    }
    let format = arguments.first().and_then(unquoted);
    // `trap 'rm -rf "$tmp"' EXIT` removes files and no more.
    let removes =
        |text: &String| text.starts_with("rm ") && !text.contains([';', '|', '&', '`', '\n', '(']);
    if row.wraps == Wraps::Trap && format.as_ref().is_some_and(removes) {
        return false;
    }
    // A name that a constant is a part of stands nowhere in the text; a glob may be any file's.
    let is_known = |word: &Node| match &word.kind {
        NodeKind::Word { value, .. } if variables::assignment(value).is_some() => true,
        _ => literal(word, &Constants::new()).is_some_and(|text| !text.contains(['*', '?', '['])),
    };
    // Only values follow the format, unless the format is an option.
    let prints =
        row.neutral == NeutralForm::Printf && format.is_some_and(|format| !format.starts_with('-'));
    let binds_unknown = !prints && !arguments.iter().all(is_known);
    let may_bind =
        |row: &Program| row.has(BINDS_UNSEEN) || row.has(BINDS_OPERANDS) && binds_unknown;
    let mut runs = arguments.iter().filter_map(unquoted);
    may_bind(row) || row.has(PREFIX) && runs.any(|name| may_bind(by_name(&name)))
}
