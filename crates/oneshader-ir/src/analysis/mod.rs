//! Facts about functions: flow, dominance, loops, uses. All are arrays indexed by entity, computed in (near) linear time;
//! none is kept up to date when the function changes.

mod cfg;
mod constructs;
mod csr;
mod dom;
mod effects;
mod frontier;
mod loops;
mod uses;

pub use cfg::Cfg;
pub use constructs::{Construct, ConstructId, ConstructKind, Constructs};
pub use dom::DomTree;
pub use effects::{OpEffects, op_effects};
pub use frontier::Frontiers;
pub use loops::{LoopId, Loops};
pub use uses::{User, Uses};

#[cfg(test)]
mod tests;
