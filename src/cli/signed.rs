//! How a signature is told to people.

use crate::marketplace::Checked;
use crate::signing::Signature;
use crate::skill::one_line;
use crate::sys::Moment;

/// The signature of a skill in one sentence: who signed it and since when that is known, or that
/// nobody did, or what is wrong.
pub fn signed(checked: &Checked) -> String {
    let since = match (&checked.signature, checked.since) {
        (Signature::Good(_), Some(since)) => {
            let local = Moment(since).local();
            format!(
                " (known since {})",
                local.split(' ').next().unwrap_or_default()
            )
        }
        (Signature::Good(signer), None) if signer.principal.is_none() => {
            " (not known until now)".to_owned()
        }
        _ => String::new(),
    };
    let unmet = checked
        .unmet
        .as_ref()
        .map_or_else(String::new, |why| format!("; {why}"));
    one_line(&format!("{}{since}{unmet}", checked.signature))
}
