//! The supported part of `[[ … ]]`. Shells without it run `[[` as a program and read `&&`, `<` and
//! `(` as usual; operands of `-eq` and `-v` are evaluated. So only one plain test is accepted.

use rable::{Node, NodeKind};

use super::{Rejection, expansion};

const UNARY: &str = "abcdefghkprstuwxzGLNOSno";
const BINARY: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

/// Checks the inside of `[[ … ]]`.
///
/// # Errors
/// For anything but one test of plain words.
pub fn check(body: &Node, zsh: bool) -> Result<(), Rejection> {
    match &body.kind {
        NodeKind::CondNot { operand } if !matches!(operand.kind, NodeKind::CondNot { .. }) => {
            check(operand, zsh)
        }
        // zsh evaluates the number of a terminal.
        NodeKind::UnaryTest { op, operand } if op == "-t" => match &operand.kind {
            NodeKind::CondTerm { value, .. } if value.chars().all(|c| c.is_ascii_digit()) => Ok(()),
            _ => Err(refused()),
        },
        NodeKind::UnaryTest { op, operand } if is_unary(op) => term(operand, zsh),
        NodeKind::BinaryTest { op, left, right } if BINARY.contains(&op.as_str()) => {
            term(left, zsh)?;
            term(right, zsh)
        }
        NodeKind::CondTerm { .. } => term(body, zsh),
        _ => Err(refused()),
    }
}

fn is_unary(op: &str) -> bool {
    op.strip_prefix('-')
        .is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
}

fn term(node: &Node, zsh: bool) -> Result<(), Rejection> {
    let NodeKind::CondTerm { value, .. } = &node.kind else {
        return Err(refused());
    };
    if value.contains(['(', ')', '<', '>', '|', '&', ';', '\\', '\n']) {
        return Err(refused());
    }
    expansion::plain_variables_only(value, zsh)
}

fn refused() -> Rejection {
    Rejection::new("[[", "only one plain test is read; use `[` and `&&`")
}
