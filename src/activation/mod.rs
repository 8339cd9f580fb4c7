//! Makes skills active: what the model is handed, which hooks run, and what restricts its calls
//! from then on. It does not know how a host calls or is answered. Open `load.rs` first.

mod enforcement;
mod hooks;
mod instructions;
mod load;
mod prelude;

pub use enforcement::*;
pub use hooks::*;
pub use instructions::*;
pub use load::*;
