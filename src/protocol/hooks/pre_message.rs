//! `pre_message`: a prompt that begins with `/name` or `agent-skills use name` activates that skill
//! for the user, even one hidden from the model. Only the host runs this hook, on what the user
//! wrote, so no model can use it.

use crate::protocol::prelude::*;
use crate::protocol::tools::hand_over;
use crate::sys::text::did_you_mean;

/// Activates the skill that the prompt calls and adds its instructions to the prompt. Without a
/// usable call the prompt stays unchanged; if the skill cannot be used, the user is told why.
pub fn pre_message(facts: &Facts, prompt: Option<(String, Option<String>)>) -> Response {
    // Only the first prompt of a run may be the user's: later ones are continuations written by a
    // model, or belong to another conversation.
    if let Some((text, context)) = prompt
        && let Some(call) = slash_command(&text)
        && facts.store().is_before_first_prompt(facts.key())
    {
        if let Some(context) = &context {
            facts.remember_context(context);
        }
        match invoke(facts, call) {
            Ok(Some(text)) => return Response::json(&json!({"prompt": text})),
            Ok(None) => {}
            Err(error) => {
                let hint = error.next_step().map(|hint| format!("; {hint}"));
                warn(format_args!("{error}{}", hint.unwrap_or_default()));
            }
        }
    }
    Response::nothing()
}

/// The skill that a prompt calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SlashCommand<'p> {
    name: &'p str,
    arguments: &'p str,
    /// Whether it can mean nothing else.
    is_plain: bool,
}

/// The call in a prompt: it begins with `/name` or `agent-skills use name`. A path is not a call,
/// unless it is a skill's name with its layer or owner.
fn slash_command(prompt: &str) -> Option<SlashCommand<'_>> {
    let text = prompt.trim_start();
    let (rest, is_plain) = match text.strip_prefix('/') {
        Some(rest) => (rest, false),
        None => (text.strip_prefix("agent-skills use ")?.trim_start(), true),
    };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_in_name = |c: char| c.is_alphanumeric() || "-_@".contains(c);
    let mut parts = name.split('/');
    let are_names = parts.all(|part| !part.is_empty() && part.chars().all(is_in_name));
    (are_names && name.matches('/').count() <= 1).then_some(SlashCommand {
        name,
        arguments: arguments.trim(),
        is_plain,
    })
}

fn invoke(facts: &Facts, call: SlashCommand) -> Result<Option<String>> {
    let catalog = Catalog::naming(facts, call.name);
    let Some(entry) = catalog.by_name(call.name) else {
        if call.is_plain {
            let text = format!("there is no skill `{}`", call.name);
            return Err(Error::new(text).hint("`agent-skills list` shows all skills"));
        }
        // The host sends it to the model as text.
        let all = Catalog::of(facts);
        let callable = all.entries().iter().filter_map(Entry::callable);
        let near = did_you_mean(call.name, callable.map(|skill| skill.name.as_str()));
        return near.map_or(Ok(None), |near| {
            Err(Error::new(format!("no skill is called `{}`", call.name)).hint(near))
        });
    };
    let skill = entry.callable();
    let skill = skill.ok_or_else(|| not_callable(call.name, entry))?;
    let arguments = (!call.arguments.is_empty()).then(|| call.arguments.to_owned());
    let called = CalledSkill::new(&catalog, skill, Some(call.name), arguments);
    // At the start of a run nothing is in force yet, and a policy's denials apply to everybody.
    let session = Ok(Session {
        has_always: true,
        ..Session::default()
    });
    let request = Request::activating(called.clone());
    if let Some(reason) = judge(&JudgeContext::new(facts, &session), &request).stopped() {
        let text = format!("the skill `{}` was not called: {reason}", skill.name);
        return Err(Error::new(text));
    }
    let text = hand_over(facts, &called)?;
    let called_by_user = format!("The user calls the skill `{}`.", skill.name);
    // The older host's system prompt carries the active skills' instructions in each turn.
    let prompt = match facts.run.protocol {
        Some(Protocol::Environment) => {
            called_by_user + " Follow its instructions under <active_skills>."
        }
        _ => format!("{called_by_user}\n\n{text}"),
    };
    Ok(Some(match &called.arguments {
        Some(arguments) => format!("{prompt}\n\n{arguments}"),
        None => prompt,
    }))
}

fn not_callable(name: &str, entry: &Entry) -> Error {
    let reason = entry.reason_not_offered();
    let reason =
        reason.unwrap_or_else(|| "its author hides it from people (`user-invocable`)".to_owned());
    Error::new(format!("the skill `{name}` was not called: {reason}"))
        .hint("`agent-skills list` shows all skills")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_the_first_word_and_a_path_is_none() {
        for (prompt, expected) in [
            ("/pdf", Some(("pdf", ""))),
            (
                "  /pdf fill  this\nform ",
                Some(("pdf", "fill  this\nform")),
            ),
            ("/plugin/pdf x", Some(("plugin/pdf", "x"))),
            ("/pdf@acme x", Some(("pdf@acme", "x"))),
            ("agent-skills use pdf x", Some(("pdf", "x"))),
            ("agent-skills use  pdf", Some(("pdf", ""))),
            ("/", None),
            ("/ pdf", None),
            ("//pdf", None),
            ("/etc/passwd/x", None),
            ("/tmp/a.txt is odd", None),
            ("/../pdf", None),
            ("pdf", None),
            ("please /pdf", None),
            ("agent-skills install pdf", None),
            ("agent-skills used pdf", None),
            ("", None),
        ] {
            let call = slash_command(prompt).map(|call| (call.name, call.arguments));
            assert_eq!(call, expected, "{prompt:?}");
        }
    }
}
