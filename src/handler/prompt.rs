//! `post_system_prompt`: tells the model which skills there are, and notes down for later calls
//! which conversation this is.

use serde_json::json;

use crate::app::App;
use crate::catalog::Disclosure;
use crate::response::Response;
use crate::sys::remark;

/// The catalog block, or nothing when there are no skills.
pub fn post_system_prompt(app: &App, context: Option<&str>) -> Response {
    if let Some(context) = context
        && let Err(error) = app.store().enter_context(&app.session(), context)
    {
        // Jobs then belong to this run of the host alone, which is no reason to fail.
        remark(format_args!("{error}"));
    }
    match (Disclosure {
        catalog: &app.catalog(),
    })
    .prompt_block()
    {
        Some(block) => Response::json(&json!({"inject": block})),
        None => Response::nothing(),
    }
}
