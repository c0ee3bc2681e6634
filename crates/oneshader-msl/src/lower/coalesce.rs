//! Which values share the variable of a loop's phi.
//!
//! `sum2 = sum + x` that comes back to the phi `sum` is written `sum += x`: the value is put into the phi's variable where it
//! is computed. That is right when nobody asks for the old value from there on: neither in the rest of the loop nor, through
//! a break that comes later, behind it.

use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::structure::{Node, Region, Tree};
use oneshader_ir::{Block, Function, Inst, Merge, Op, Value};
use rustc_hash::FxHashMap;

/// Positions are numbers of places in the order of the text.
#[derive(Default)]
struct Walk {
    now: u32,
    def: SecondaryMap<Value, u32>,
    /// The region in which a value is computed.
    home: SecondaryMap<Value, Option<Region>>,
    /// The uses of loops' phis: the position, and the block whose phis ask for it.
    uses: FxHashMap<Value, Vec<(u32, Option<Block>)>>,
    /// The loops' phis: most values are none.
    asked: EntitySet<Value>,
    /// The blocks of all phis.
    blocks: FxHashMap<Inst, Block>,
    /// First edge into each block with phis.
    arrival: SecondaryMap<Block, u32>,
    loops: Vec<LoopRange>,
    /// Loops around the place: indices into `loops`.
    around: Vec<usize>,
}

struct LoopRange {
    header: Block,
    body: Region,
    cont: Option<Region>,
    start: u32,
    end: u32,
    breaks: Vec<u32>,
}

/// For each value that shares a phi's variable, the phi.
pub(crate) fn coalesce(function: &Function, tree: &Tree) -> SecondaryMap<Value, Option<Inst>> {
    let mut walk = Walk::default();
    let mut out: SecondaryMap<Value, Option<Inst>> = SecondaryMap::new();
    for &block in &function.order {
        for &phi in function.blocks[block].insts.iter().take_while(|&&i| function.insts[i].op == Op::Phi) {
            walk.blocks.insert(phi, block);
            if let (Merge::Loop { .. }, Some(result)) = (function.blocks[block].merge, function.insts[phi].result) {
                walk.uses.insert(result, Vec::new());
                walk.asked.insert(result);
            }
        }
    }
    if walk.uses.is_empty() {
        return out;
    }
    walk.region(function, tree, tree.root, 0);
    for range in &walk.loops {
        for &phi in &function.blocks[range.header].insts {
            let data = &function.insts[phi];
            if data.op != Op::Phi {
                break;
            }
            let Some(result) = data.result else { continue };
            // The one argument that comes from inside the loop.
            let mut inside = data
                .args
                .iter()
                .zip(&data.preds)
                .filter(|(_, pred)| tree.home[**pred].expand().is_some_and(|r| tree.contains(range.body, r)))
                .map(|(&arg, _)| arg);
            let (Some(value), None) = (inside.next(), inside.next()) else { continue };
            if out[value].is_none() && value != result && walk.may_share(function, range, result, value) {
                out[value] = Some(phi);
            }
        }
    }
    out
}

impl Walk {
    fn step(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    fn used(&mut self, value: Value, at: u32, by: Option<Block>) {
        if self.asked.contains(value)
            && let Some(uses) = self.uses.get_mut(&value)
        {
            uses.push((at, by));
        }
    }

    fn region(&mut self, function: &Function, tree: &Tree, region: Region, switches: u32) {
        for node in &tree.regions[region].nodes {
            self.node(function, tree, region, node, switches);
        }
    }

    fn node(&mut self, function: &Function, tree: &Tree, region: Region, node: &Node, switches: u32) {
        match node {
            Node::Block(block) => {
                for &inst in &function.blocks[*block].insts {
                    let at = self.step();
                    let data = &function.insts[inst];
                    if data.op != Op::Phi {
                        data.args.iter().for_each(|&a| self.used(a, at, None));
                    }
                    if let Some(result) = data.result {
                        self.def[result] = at;
                        self.home[result] = Some(region);
                    }
                }
            }
            Node::Edge { from, to } => {
                let at = self.step();
                if self.arrival[*to] == 0 {
                    self.arrival[*to] = at;
                }
                for &inst in &function.blocks[*to].insts {
                    let data = &function.insts[inst];
                    if data.op != Op::Phi {
                        break;
                    }
                    if let Some(i) = data.preds.iter().position(|p| p == from) {
                        self.used(data.args[i], at, Some(*to));
                    }
                }
            }
            Node::If { cond, then, els, .. } => {
                let at = self.step();
                self.used(*cond, at, None);
                self.region(function, tree, *then, switches);
                self.region(function, tree, *els, switches);
            }
            Node::Loop { header, body, cont } => {
                let index = self.loops.len();
                let start = self.step();
                let (header, body, cont) = (*header, *body, *cont);
                self.loops.push(LoopRange { header, body, cont, start, end: 0, breaks: Vec::new() });
                self.around.push(index);
                self.region(function, tree, body, 0);
                if let Some(cont) = cont {
                    self.region(function, tree, cont, 0);
                }
                self.around.pop();
                self.loops[index].end = self.step();
            }
            Node::Switch { selector, cases, .. } => {
                let at = self.step();
                self.used(*selector, at, None);
                cases.iter().for_each(|c| self.region(function, tree, c.body, switches + 1));
            }
            Node::Break | Node::BreakLoop => {
                let at = self.step();
                let leaves_loop = switches == 0 || matches!(node, Node::BreakLoop);
                if let (true, Some(&index)) = (leaves_loop, self.around.last()) {
                    self.loops[index].breaks.push(at);
                }
            }
            Node::Return(block) => {
                let at = self.step();
                if let Some(value) = function.blocks[*block].term.arg() {
                    self.used(value, at, None);
                }
            }
            Node::Continue | Node::Unreachable => {}
        }
    }

    /// Whether `value`, which comes back to the phi `result`, can be written over it.
    fn may_share(&self, function: &Function, range: &LoopRange, result: Value, value: Value) -> bool {
        let Some((inst, data)) = function.def_inst(value) else { return false };
        let at = self.def[value];
        let in_body = self.home[value] == Some(range.body) || (range.cont.is_some() && self.home[value] == range.cont);
        if !in_body || at <= range.start || at >= range.end {
            return false;
        }
        let own_block = (data.op == Op::Phi).then(|| self.blocks.get(&inst).copied()).flatten();
        // A phi's variable is written where its first edge is taken.
        let written = match own_block {
            Some(block) => self.arrival[block],
            None if data.op == Op::Phi => return false,
            None => at,
        };
        if written <= range.start {
            return false;
        }
        let left_later = range.breaks.iter().any(|&b| b > written);
        self.uses.get(&result).into_iter().flatten().all(|&(position, to)| {
            // Handing the old value on to the phi that takes its place changes nothing.
            let handed_on = to.is_some() && to == own_block;
            let behind = position > range.end && !left_later;
            position <= written && !(to.is_some() && position == written)
                || handed_on
                || behind
                || position < range.start
        })
    }
}
