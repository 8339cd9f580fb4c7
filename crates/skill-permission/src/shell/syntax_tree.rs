//! Non-recursive traversal of the parser's tree: a list's tree is as deep as the list is long.

use rable::{ListOperator, Node, NodeKind};

/// The commands of a list in order, each with the operator after it; a list's tree is left-leaning.
pub fn commands(list: &Node) -> Vec<(&Node, Option<ListOperator>)> {
    let mut backwards = Vec::new();
    let mut left = (list, None);
    while let NodeKind::List { items } = &left.0.kind {
        let Some((first, others)) = items.split_first() else {
            break;
        };
        let mut operator = left.1;
        for item in others.iter().rev() {
            backwards.push((&item.command, item.operator.or(operator)));
            operator = None;
        }
        left = (&first.command, first.operator.or(operator));
    }
    backwards.push(left);
    backwards.reverse();
    backwards
}

/// The names in arithmetic; an empty one for anything but a number, a name or a sum of these.
pub fn names_in(sum: &Node) -> impl Iterator<Item = &str> {
    let mut stack = vec![sum];
    std::iter::from_fn(move || {
        while let Some(node) = stack.pop() {
            match &node.kind {
                NodeKind::ArithVar { name } => return Some(name.as_str()),
                NodeKind::ArithBinaryOp { left, right, .. }
                | NodeKind::ArithComma { left, right } => stack.extend([&**left, &**right]),
                NodeKind::ArithUnaryOp { operand, .. } => stack.push(operand),
                NodeKind::ArithTernary {
                    condition,
                    if_true,
                    if_false,
                } => {
                    stack.push(condition);
                    stack.extend(if_true.as_deref());
                    stack.extend(if_false.as_deref());
                }
                NodeKind::ArithNumber { .. } | NodeKind::ArithEmpty => {}
                _ => return Some(""),
            }
        }
        None
    })
}

/// Whether `wanted` holds for a node at or below one of `nodes`. Not recursive, because a list's
/// tree is as deep as the list is long.
pub fn any(nodes: &mut [Node], wanted: &mut dyn FnMut(&mut Node) -> bool) -> bool {
    let mut stack: Vec<&mut Node> = nodes.iter_mut().collect();
    while let Some(node) = stack.pop() {
        if wanted(node) {
            return true;
        }
        match &mut node.kind {
            NodeKind::Word { parts, .. } => stack.extend(parts),
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => stack.extend(assignments.iter_mut().chain(words).chain(redirects)),
            NodeKind::Pipeline { commands, .. } => stack.extend(commands),
            NodeKind::List { items } => {
                stack.extend(items.iter_mut().map(|item| &mut item.command));
            }
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                stack.extend([&mut **condition, &mut **then_body]);
                stack.extend(else_body.as_deref_mut());
                stack.extend(redirects);
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
                stack.extend([&mut **condition, &mut **body]);
                stack.extend(redirects);
            }
            NodeKind::For {
                words,
                body,
                redirects,
                ..
            } => {
                stack.extend(words.iter_mut().flatten());
                stack.push(body);
                stack.extend(redirects);
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                stack.push(word);
                for pattern in patterns {
                    stack.extend(&mut pattern.patterns);
                    stack.extend(&mut pattern.body);
                }
                stack.extend(redirects);
            }
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                stack.push(body);
                stack.extend(redirects);
            }
            NodeKind::Redirect { target: inner, .. }
            | NodeKind::Negation { pipeline: inner }
            | NodeKind::Time {
                pipeline: inner, ..
            }
            | NodeKind::CommandSubstitution { command: inner, .. }
            | NodeKind::ProcessSubstitution { command: inner, .. } => stack.push(inner),
            NodeKind::ConditionalExpr { redirects, .. } => stack.extend(redirects),
            // The rest is refused or contains no words.
            _ => {}
        }
    }
    false
}
