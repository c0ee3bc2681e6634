//! The table of passes.

use crate::manager::Cx;
use crate::passes;
use oneshader_ir::{Function, IrModule};

/// What a pass looks at. It gives back whether it changed anything.
#[derive(Clone, Copy)]
pub enum Run {
    /// One function at a time, which is out of the module meanwhile.
    Function(fn(&mut IrModule, &mut Function, &mut Cx) -> bool),
    /// The whole module.
    Module(fn(&mut IrModule, &mut Cx) -> bool),
}

/// A pass.
pub struct Pass {
    /// Its name in pipelines, filetests and reports.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Passes whose first run, when they are in the pipeline at all, must come before this one's.
    pub after: &'static [&'static str],
    /// Whether it leaves blocks, edges and markers as they are.
    pub keeps_graph: bool,
    /// Its code.
    pub run: Run,
}

/// The row called `name`.
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// All passes, by name.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "algebraic",
        about: "applies identities that hold for every operand",
        after: &["fold"],
        keeps_graph: true,
        run: Run::Function(passes::algebraic::run),
    },
    Pass {
        name: "const-branch",
        about: "makes branches on constants unconditional",
        after: &["fold"],
        keeps_graph: false,
        run: Run::Function(passes::const_branch::run),
    },
    Pass {
        name: "dce",
        about: "removes instructions whose results nobody needs",
        after: &[],
        keeps_graph: true,
        run: Run::Function(passes::dce::run),
    },
    Pass {
        name: "dse",
        about: "removes stores that nothing loads",
        after: &["resolve-handles"],
        keeps_graph: true,
        run: Run::Function(passes::dse::run),
    },
    Pass {
        name: "fold",
        about: "evaluates operations on constants, and looks through composites",
        after: &[],
        keeps_graph: true,
        run: Run::Function(passes::fold::run),
    },
    Pass {
        name: "forward",
        about: "replaces loads of locals that are stored once by what was stored",
        after: &["resolve-handles"],
        keeps_graph: true,
        run: Run::Function(passes::forward::run),
    },
    Pass {
        name: "gvn",
        about: "computes equal things once",
        after: &["mem2reg"],
        keeps_graph: true,
        run: Run::Function(passes::gvn::run),
    },
    Pass {
        name: "if-convert",
        about: "turns selections marked `[flatten]` into selects",
        after: &["mem2reg"],
        keeps_graph: false,
        run: Run::Function(passes::if_convert::run),
    },
    Pass {
        name: "inline",
        about: "replaces calls by the bodies of their callees",
        after: &["resolve-handles"],
        keeps_graph: false,
        run: Run::Module(passes::inline::run),
    },
    Pass {
        name: "licm",
        about: "moves what does not change in a loop in front of it",
        after: &["mem2reg"],
        keeps_graph: true,
        run: Run::Function(passes::licm::run),
    },
    Pass {
        name: "localize",
        about: "makes static variables of one function local",
        after: &["inline"],
        keeps_graph: false,
        run: Run::Module(passes::localize::run),
    },
    Pass {
        name: "mem2reg",
        about: "promotes local variables to values",
        after: &["resolve-handles", "sroa"],
        keeps_graph: true,
        run: Run::Function(passes::mem2reg::run),
    },
    Pass {
        name: "nest-exits",
        about: "turns jumps out of a selection to the end of a function into an else",
        after: &["inline", "single-return"],
        keeps_graph: false,
        run: Run::Function(passes::nest_exits::run),
    },
    Pass {
        name: "resolve-handles",
        about: "makes every handle the load of its resource, or a parameter",
        after: &[],
        keeps_graph: false,
        run: Run::Module(passes::resolve_handles::run),
    },
    Pass {
        name: "simplify-cfg",
        about: "joins blocks and drops empty selections",
        after: &["single-return", "inline"],
        keeps_graph: false,
        run: Run::Function(passes::simplify_cfg::run),
    },
    Pass {
        name: "single-return",
        about: "brings functions to one return at their end",
        after: &[],
        keeps_graph: false,
        run: Run::Function(passes::single_return::run),
    },
    Pass {
        name: "sroa",
        about: "splits local structures and arrays into their parts",
        after: &["inline"],
        keeps_graph: true,
        run: Run::Function(passes::sroa::run),
    },
    Pass {
        name: "unreachable",
        about: "removes blocks that control does not reach",
        after: &[],
        keeps_graph: false,
        run: Run::Function(passes::unreachable::run),
    },
    Pass {
        name: "unroll",
        about: "copies the bodies of counted loops marked `[unroll]`",
        after: &["mem2reg"],
        keeps_graph: false,
        run: Run::Function(passes::unroll::run),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_refers_to_itself() {
        assert!(PASSES.windows(2).all(|w| w[0].name < w[1].name));
        for pass in PASSES {
            for before in pass.after {
                assert!(find(before).is_some(), "{} is to run after {before}, which is no pass", pass.name);
            }
        }
    }
}
