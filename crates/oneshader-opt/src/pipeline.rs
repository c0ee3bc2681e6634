//! The orders that passes run in.

use crate::table::find;

/// A step of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// One pass.
    Pass(&'static str),
    /// Passes again and again, until none changes anything or as often as it says.
    Repeat(u32, &'static [&'static str]),
}

/// An order of passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pipeline {
    /// Its steps.
    pub steps: &'static [Step],
}

use Step::{Pass, Repeat};

/// From variables to values, and what can be done with those.
const SCALAR: &[&str] =
    &["sroa", "mem2reg", "fold", "algebraic", "const-branch", "unreachable", "gvn", "dse", "dce", "simplify-cfg"];

impl Pipeline {
    /// What every target needs, and no more: some operands of textures must be constants.
    pub const LEGAL: Self =
        Self { steps: &[Pass("unreachable"), Pass("resolve-handles"), Repeat(16, &["fold"]), Pass("dce")] };

    /// Cleanup that keeps the shape a person wrote: the default for Metal.
    pub const CLEANUP: Self = Self {
        steps: &[
            Pass("unreachable"),
            Pass("resolve-handles"),
            Repeat(4, &["fold", "const-branch", "unreachable", "forward", "dse", "dce"]),
        ],
    };

    /// Everything: the default for SPIR-V.
    pub const FULL: Self = Self {
        steps: &[
            Pass("unreachable"),
            Pass("resolve-handles"),
            // What is copied is small then.
            Repeat(16, &["fold"]),
            Pass("dce"),
            Pass("inline"),
            Pass("nest-exits"),
            Pass("localize"),
            Repeat(3, SCALAR),
            Pass("if-convert"),
            Pass("unroll"),
            Repeat(4, SCALAR),
            Pass("licm"),
            Pass("gvn"),
            Pass("dce"),
        ],
    };

    /// All standard pipelines with their names.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("legal", Self::LEGAL), ("cleanup", Self::CLEANUP), ("full", Self::FULL)];

    /// The passes in the order of their first run.
    pub fn passes(self) -> impl Iterator<Item = &'static str> {
        self.steps
            .iter()
            .flat_map(|step| match step {
                Pass(name) => std::slice::from_ref(name),
                Repeat(_, names) => names,
            })
            .copied()
    }

    /// The first broken constraint: a pass that does not exist, or one that runs before another it must follow.
    pub fn check(self) -> Result<(), String> {
        let order: Vec<&str> = self.passes().collect();
        for (at, name) in order.iter().enumerate() {
            let Some(pass) = find(name) else { return Err(format!("there is no pass {name}")) };
            for before in pass.after {
                let first = order.iter().position(|n| n == before);
                if first.is_some_and(|first| first > at) && !order[..at].contains(name) {
                    return Err(format!("{name} runs before {before}"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_pipelines_keep_the_order() {
        for (name, pipeline) in Pipeline::ALL {
            assert_eq!(pipeline.check(), Ok(()), "{name}");
        }
    }

    #[test]
    fn every_standard_pipeline_makes_the_module_legal_for_targets() {
        for (name, pipeline) in Pipeline::ALL {
            assert!(pipeline.passes().any(|p| p == "resolve-handles"), "{name}");
        }
    }

    #[test]
    fn a_wrong_order_is_found() {
        let wrong = Pipeline { steps: &[Pass("const-branch"), Pass("fold")] };
        assert_eq!(wrong.check(), Err("const-branch runs before fold".into()));
        let missing = Pipeline { steps: &[Pass("nothing")] };
        assert_eq!(missing.check(), Err("there is no pass nothing".into()));
    }
}
