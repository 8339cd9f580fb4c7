//! `[[ … ]]`, as far as it is read. Where the shell does not have it, `[[` is looked for as a
//! program and `&&`, `<` and `(` inside it mean what they mean outside; operands of `-eq` and `-v`
//! are evaluated. So one plain test is all there may be.

use rable::{Node, NodeKind};

use super::Fault;
use super::expansion;

const UNARY: &str = "abcdefghkprstuwxzGLNOSno";
const BINARY: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

/// Checks the inside of `[[ … ]]`.
///
/// # Errors
/// For everything but one test of plain words.
pub fn check(body: &Node) -> Result<(), Fault> {
    match &body.kind {
        NodeKind::CondNot { operand } if !matches!(operand.kind, NodeKind::CondNot { .. }) => {
            check(operand)
        }
        NodeKind::UnaryTest { op, operand } if is_unary(op) => term(operand),
        NodeKind::BinaryTest { op, left, right } if BINARY.contains(&op.as_str()) => {
            term(left)?;
            term(right)
        }
        NodeKind::CondTerm { .. } => term(body),
        _ => Err(refused()),
    }
}

fn is_unary(op: &str) -> bool {
    op.strip_prefix('-')
        .is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
}

fn term(node: &Node) -> Result<(), Fault> {
    let NodeKind::CondTerm { value, .. } = &node.kind else {
        return Err(refused());
    };
    if value.contains(['(', ')', '<', '>', '|', '&', ';', '\\', '\n']) {
        return Err(refused());
    }
    expansion::plain_variables_only(value)
}

fn refused() -> Fault {
    Fault::new("[[", "only one plain test is read; use `[` and `&&`")
}
