//! `post_system_prompt`: tells the model which skills there are.

use serde_json::json;

use crate::app::App;
use crate::catalog::Disclosure;
use crate::response::Response;

/// The catalog block, or nothing when there are no skills.
pub fn post_system_prompt(app: &App) -> Response {
    match (Disclosure {
        catalog: &app.catalog(),
    })
    .prompt_block()
    {
        Some(block) => Response::json(&json!({"inject": block})),
        None => Response::nothing(),
    }
}
