//! Checks the links by which other agents find installed skills.

use super::check::Check;
use crate::catalog::Layer;
use crate::cli::agents;
use crate::facts::Facts;
use crate::sharing::{Fault, Shared};

/// The checks of this area: only what is wrong.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let layers = Layer::ALL.into_iter();
    let shared = layers.filter_map(|layer| Some((layer, Shared::of(facts, layer)?)));
    let found = shared.flat_map(|(layer, shared)| {
        let faults = shared.faults().into_iter();
        let checks = faults.map(move |(link, skill, fault)| {
            let (text, remedy) = agents::fault(&link, &skill, fault);
            let code = match fault {
                Fault::Missing => "link-missing",
                Fault::Replaced => "link-replaced",
                Fault::Dangling => "link-dangling",
            };
            let check = Check::warn(code, text, remedy);
            if fault == Fault::Replaced {
                return check;
            }
            let again = Facts::new(facts.run.env.clone(), None);
            check.fix(move || {
                let shared = Shared::of(&again, layer);
                let mended = shared.map(|shared| shared.mend(&link, &skill, fault));
                mended.transpose()?;
                let done = match fault {
                    Fault::Dangling => "removed",
                    Fault::Missing | Fault::Replaced => "made again",
                };
                Ok(format!("`{}` was {done}", link.path.display()))
            })
        });
        checks.collect::<Vec<_>>()
    });
    found.collect()
}
