//! One function: which values become variables and which stay expressions.
//!
//! A value that is used once, in the same region, and has no name in the source stays an expression and waits until its
//! user comes (it is *pending*). A statement that may change memory first names the pending expressions that read it. All
//! other values become variables where they are computed.

use super::Cx;
use super::coalesce::coalesce;
use crate::ast::{self, Arena, Depends, Expr, ExprKind, Stmt, Var, VarData, VarKind};
use crate::names::{Inner, Scope};
use crate::raise::io::StageIo;
use crate::raise::ranges::{Places, Ranges};
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_diag::{Span, codes};
use oneshader_ir::analysis::op_effects;
use oneshader_ir::intrinsic::Effects;
use oneshader_ir::structure::{Node, Region, RegionKind, StructureError, Tree, structure};
use oneshader_ir::{AddressSpace, Block, Func, Function, Inst, Local, Name, Op, TextureOp, Type, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// An expression that takes about this many characters is named rather than written into another one.
const MAX_WEIGHT: u32 = 90;
/// Instructions looked at to see whether memory keeps what was loaded.
const MAX_LOOK_AHEAD: usize = 64;
/// The same where a statement is all that is around it.
const MAX_ROOT_WEIGHT: u32 = 140;
/// And one that is nested this deep.
const MAX_EXPR_DEPTH: u32 = 20;

/// Where and how often a value is used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    count: u32,
    region: Option<Region>,
    /// The phi that asked last.
    phi: Option<Value>,
    /// Whether the last user is a statement of its own: a store, a return.
    root: bool,
}

/// What a value has become.
#[derive(Clone, Copy, Debug, Default)]
enum Bound {
    #[default]
    Nothing,
    /// An expression that may be written as often as needed.
    Expr(Expr),
    /// An expression that its one user takes.
    Pending(Expr),
}

pub(crate) struct Body<'c, 'a> {
    pub cx: &'c mut Cx<'a>,
    pub func: Func,
    pub function: &'c Function,
    pub arena: Arena,
    /// Statements of the list being written.
    pub out: Vec<Stmt>,
    /// Spelled parameters, by index.
    pub params: Vec<Expr>,
    /// The interface, when this is the entry point.
    pub io: Option<StageIo>,
    /// Variables of stage variables, `static` and `groupshared` ones in the entry point.
    pub globals: FxHashMap<oneshader_ir::Global, Expr>,
    /// The place of a thread in its threadgroup, where it follows from the quad-group.
    pub thread: Option<Expr>,
    /// Hidden counters of buffers, by parameter.
    pub counters: FxHashMap<usize, Expr>,
    /// Sizes of buffers in bytes, by parameter.
    pub sizes: FxHashMap<usize, Expr>,
    /// The arguments that hold several views of a table, by buffer index.
    pub tables: FxHashMap<u32, String>,
    /// The components of vectors that are made of known ones.
    pub components: FxHashMap<Expr, Vec<Expr>>,
    /// The scalar of vectors whose components all are one.
    pub splats: FxHashMap<Expr, Expr>,
    /// What scalars of the other signedness are made of: `int(x)` of a `uint`.
    pub recast: FxHashMap<Expr, Expr>,
    /// The number of components of vectors that something was extracted from.
    pub lanes: FxHashMap<Expr, u8>,
    /// Swizzles, with their components.
    pub swizzles: FxHashMap<Expr, Vec<u8>>,
    /// The variable that says that a loop is to be left, of the loops around.
    pub loops: Vec<LoopState>,
    tree: &'c Tree,
    scope: Scope,
    uses: SecondaryMap<Value, Use>,
    bound: SecondaryMap<Value, Bound>,
    pending: Vec<Value>,
    locals: SecondaryMap<Local, Option<Var>>,
    phis: FxHashMap<Inst, Var>,
    /// Values that share the variable of a loop's phi.
    shared: SecondaryMap<Value, Option<Inst>>,
    /// Variables of loops' phis that the ways of a selection write: phis share them.
    rewritten: FxHashSet<Var>,
    /// Where instructions stand, for questions about ranges.
    places: OnceCell<Places>,
    region: Region,
    /// The block being written and the place in it.
    at: Option<(Block, usize)>,
    line: Option<(u32, u32)>,
}

/// A loop being written.
#[derive(Default)]
pub(crate) struct LoopState {
    /// The variable that says so when the loop is left from inside a switch.
    pub leave: Option<Var>,
    /// Whether the switch being written does.
    pub leaves: bool,
}

/// Lowers `func`; `None` after an error.
pub(crate) fn lower_function(cx: &mut Cx, func: Func) -> Option<ast::Function> {
    let raised = cx.raised;
    let function = &raised.module.functions[func];
    let tree = match structure(function) {
        Ok(tree) => tree,
        Err(error) => {
            let (span, message) = match error {
                StructureError::TooDeep(span) => (span, "control flow is nested too deep"),
                StructureError::Unstructured(span) => (span, "control flow leaves several structures at once"),
            };
            cx.error(codes::MSL_CONTROL_FLOW, span, message);
            return None;
        }
    };
    let mut body = Body::new(cx, func, function, &tree);
    let mut head = body.signature();
    body.prologue();
    body.region(tree.root);
    body.epilogue();
    let Body { mut arena, mut out, .. } = body;
    crate::shape::shape(&mut arena, &mut out);
    crate::scope::declare(&mut arena, &mut out);
    head.arena = arena;
    head.body = out;
    Some(head)
}

/// A function that the IR does not have, to write text of our own with the same means.
pub(crate) struct Detached {
    function: Function,
    tree: Tree,
}

impl Detached {
    pub(crate) fn new(module: &oneshader_ir::IrModule) -> Self {
        let any = &module.functions[module.entry_points[0].func];
        let function = Function::new(any.name, any.ret, Span::NONE);
        let tree = structure(&function).unwrap_or_else(|_| Tree {
            regions: Default::default(),
            root: Region::from_u32(0),
            home: SecondaryMap::new(),
        });
        Self { function, tree }
    }

    pub(crate) fn body<'c, 'a>(&'c self, cx: &'c mut Cx<'a>) -> Body<'c, 'a> {
        let func = cx.raised.entry.func;
        Body::new(cx, func, &self.function, &self.tree)
    }
}

impl<'c, 'a> Body<'c, 'a> {
    fn new(cx: &'c mut Cx<'a>, func: Func, function: &'c Function, tree: &'c Tree) -> Self {
        Self {
            cx,
            func,
            function,
            arena: Arena::default(),
            out: Vec::new(),
            params: Vec::new(),
            io: None,
            globals: FxHashMap::default(),
            thread: None,
            counters: FxHashMap::default(),
            sizes: FxHashMap::default(),
            tables: FxHashMap::default(),
            components: FxHashMap::default(),
            splats: FxHashMap::default(),
            recast: FxHashMap::default(),
            lanes: FxHashMap::default(),
            swizzles: FxHashMap::default(),
            loops: Vec::new(),
            region: tree.root,
            tree,
            scope: Scope::default(),
            uses: count_uses(function, tree, &find_dead(function)),
            bound: SecondaryMap::with_capacity(function.values.len()),
            pending: Vec::new(),
            locals: SecondaryMap::new(),
            phis: FxHashMap::default(),
            shared: coalesce(function, tree),
            rewritten: FxHashSet::default(),
            places: OnceCell::new(),
            at: None,
            line: None,
        }
    }
}

/// Instructions whose results nobody asks for and that do nothing else.
fn find_dead(function: &Function) -> EntitySet<Inst> {
    let mut counts: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(function.values.len());
    for &block in &function.order {
        for &inst in &function.blocks[block].insts {
            function.insts[inst].args.iter().for_each(|&a| counts[a] += 1);
        }
        if let Some(arg) = function.blocks[block].term.arg() {
            counts[arg] += 1;
        }
    }
    let mut dead = EntitySet::with_capacity(function.insts.len());
    let mut stack = Vec::new();
    for (_, inst, data) in function.live_insts() {
        if data.result.is_some_and(|r| counts[r] == 0) && op_effects(data.op).is_removable() {
            stack.push(inst);
        }
    }
    while let Some(inst) = stack.pop() {
        dead.insert(inst);
        for &arg in &function.insts[inst].args {
            let ValueDef::Inst(def) = function.values[arg].def else { continue };
            counts[arg] = counts[arg].saturating_sub(1);
            if counts[arg] == 0 && !dead.contains(def) && op_effects(function.insts[def].op).is_removable() {
                stack.push(def);
            }
        }
    }
    dead
}

fn count_uses(function: &Function, tree: &Tree, dead: &EntitySet<Inst>) -> SecondaryMap<Value, Use> {
    let mut uses: SecondaryMap<Value, Use> = SecondaryMap::with_capacity(function.values.len());
    let mut note = |value: Value, region: Region, phi: Option<Value>, root: bool| {
        let slot = &mut uses[value];
        slot.count += 1;
        (slot.region, slot.phi, slot.root) = (Some(region), phi, root);
    };
    for (region, data) in tree.regions.iter() {
        for node in &data.nodes {
            match node {
                Node::Block(block) => {
                    for &inst in function.blocks[*block].insts.iter().filter(|&&i| !dead.contains(i)) {
                        let inst = &function.insts[inst];
                        if inst.op != Op::Phi {
                            let root = matches!(inst.op, Op::Store | Op::RawStore);
                            inst.args.iter().for_each(|&a| note(a, region, None, root));
                        }
                    }
                }
                Node::Edge { from, to } => {
                    for &inst in &function.blocks[*to].insts {
                        let inst = &function.insts[inst];
                        if inst.op != Op::Phi {
                            break;
                        }
                        if inst.result.is_none_or(|r| function.def_inst(r).is_some_and(|(i, _)| dead.contains(i))) {
                            continue;
                        }
                        if let Some(at) = inst.preds.iter().position(|p| p == from) {
                            note(inst.args[at], region, inst.result, true);
                        }
                    }
                }
                Node::If { cond, .. } => note(*cond, region, None, false),
                Node::Switch { selector, .. } => note(*selector, region, None, false),
                Node::Return(block) => {
                    if let Some(value) = function.blocks[*block].term.arg() {
                        note(value, region, None, true);
                    }
                }
                _ => {}
            }
        }
    }
    uses
}

impl Body<'_, '_> {
    /// A variable of type `ty` named like `wanted`.
    pub(super) fn var(&mut self, wanted: &str, ty: Name, kind: VarKind) -> Var {
        let name = Inner { outer: &self.cx.scope, own: &mut self.scope }.variable(wanted);
        let name = self.cx.names.intern(&name);
        self.arena.vars.push(VarData { name, ty, kind })
    }

    /// A name that nothing else in the function has.
    pub(super) fn fresh_name(&mut self, wanted: &str) -> String {
        Inner { outer: &self.cx.scope, own: &mut self.scope }.variable(wanted)
    }

    pub(super) fn take_scope(&mut self) -> Scope {
        std::mem::take(&mut self.scope)
    }

    pub(super) fn put_scope(&mut self, scope: Scope) {
        self.scope = scope;
    }

    pub(super) fn var_expr(&mut self, var: Var) -> Expr {
        let weight = self.cx.names.get(self.arena.vars[var].name).len();
        self.add(ExprKind::Var(var), weight)
    }

    /// Reports a construct that Metal lacks.
    pub(super) fn error(&mut self, code: oneshader_diag::Code, span: Span, message: impl Into<String>) {
        self.cx.error(code, span, message);
    }

    /// The variable of a local.
    pub(super) fn local(&mut self, local: Local) -> Var {
        if let Some(var) = self.locals[local] {
            return var;
        }
        let data = self.function.locals[local];
        let name = self.cx.raised.module.names.get(data.name).to_owned();
        let ty = self.cx.value_type(data.ty);
        let var = self.var(&name, ty, VarKind::Memory);
        self.locals[local] = Some(var);
        var
    }

    /// The variable that the phi `inst` becomes.
    pub(super) fn phi(&mut self, inst: Inst) -> Var {
        if let Some(&var) = self.phis.get(&inst) {
            return var;
        }
        let data = &self.function.insts[inst];
        // Chains end at a loop's phi: a phi shares with one of a loop around it.
        if let Some(phi) = data.result.and_then(|v| self.shared[v]) {
            let var = self.phi(phi);
            self.phis.insert(inst, var);
            self.rewritten.insert(var);
            return var;
        }
        let name = match data.result.and_then(|v| self.function.value_names[v]) {
            Some(name) => self.cx.raised.module.names.get(name).to_owned(),
            None => "result".to_owned(),
        };
        let ty = self.cx.value_type(data.ty);
        let var = self.var(&name, ty, VarKind::Phi);
        self.phis.insert(inst, var);
        if self.is_shared_by_phi(inst) {
            self.rewritten.insert(var);
        }
        var
    }

    /// Gives back the name of a phi's variable that turns out to be none.
    pub(super) fn give_up(&mut self, phi: Inst, var: Var) {
        let shared = self.function.insts[phi].result.is_some_and(|r| self.shared[r].is_some());
        if !shared && !self.rewritten.contains(&var) {
            self.scope.release(self.cx.names.get(self.arena.vars[var].name));
        }
    }

    fn is_shared_by_phi(&self, phi: Inst) -> bool {
        let function = self.function;
        function.insts[phi].args.iter().any(|&arg| {
            self.shared[arg] == Some(phi) && function.def_inst(arg).is_some_and(|(_, data)| data.op == Op::Phi)
        })
    }

    /// Whether the ways of a selection may write a variable while its old value is still asked for.
    pub(super) fn is_rewritten(&self, var: Var) -> bool {
        self.rewritten.contains(&var)
    }

    /// Names what pends before a selection or loop: what it may change, and what reads a variable that its ways write.
    pub(super) fn flush_before_branch(&mut self) {
        self.flush(super::effects::ALL, true);
        self.flush_reading(|body, var| body.rewritten.contains(&var));
    }

    /// Names the pending expressions that mention a variable for which `is` holds.
    fn flush_reading(&mut self, is: impl Fn(&Self, Var) -> bool) {
        let mut at = 0;
        while at < self.pending.len() {
            let value = self.pending[at];
            let mut reads = false;
            if let Bound::Pending(waiting) = self.bound[value] {
                self.arena.each_var(waiting, &mut |v| reads |= is(self, v));
            }
            match (reads, self.bound[value]) {
                (true, Bound::Pending(waiting)) => {
                    self.pending.remove(at);
                    self.name_value(value, waiting);
                }
                _ => at += 1,
            }
        }
    }

    /// Answers about the numbers of values.
    pub(super) fn ranges(&self) -> Ranges<'_> {
        let places = self.places.get_or_init(|| Places::new(self.function));
        let raised = self.cx.raised;
        let (params, lifted) = (&raised.params[self.func], Some((&raised.lifted, self.func)));
        Ranges { module: &raised.module, function: self.function, places, params, lifted }
    }

    pub(super) fn bind(&mut self, value: Value, expr: Expr) {
        self.bound[value] = Bound::Expr(expr);
    }

    pub(super) fn use_count(&self, value: Value) -> u32 {
        self.uses[value].count
    }

    /// The expression of a value that is no pointer and no handle.
    pub(super) fn value(&mut self, value: Value) -> Expr {
        match self.function.values[value].def {
            ValueDef::Const(c) => self.constant(c),
            ValueDef::Param(index) => match self.params.get(index as usize) {
                Some(&expr) => expr,
                None => self.text("0"),
            },
            ValueDef::Global(_) | ValueDef::Local(_) => self.place(value).expr,
            ValueDef::Inst(_) => match self.bound[value] {
                Bound::Expr(expr) => expr,
                Bound::Pending(expr) => {
                    self.bound[value] = Bound::Expr(expr);
                    self.forget_pending(value);
                    expr
                }
                Bound::Nothing => {
                    let ty = self.function.ty(value);
                    self.zero(ty)
                }
            },
        }
    }

    /// Takes a value off the list of those that wait: mostly a late one.
    fn forget_pending(&mut self, value: Value) {
        if let Some(at) = self.pending.iter().rposition(|&v| v == value) {
            self.pending.remove(at);
        }
    }

    pub(super) fn values(&mut self, list: &[Value]) -> Vec<Expr> {
        list.iter().map(|&v| self.value(v)).collect()
    }

    /// Makes `expr` what the result of `inst` is.
    pub(super) fn define(&mut self, inst: Inst, expr: Expr) {
        let data = &self.function.insts[inst];
        let Some(result) = data.result else {
            self.out.push(Stmt::Do(expr));
            return;
        };
        let using = self.uses[result];
        if using.count == 0 {
            return;
        }
        if let Some(phi) = self.shared[result] {
            return self.define_shared(result, phi, expr);
        }
        let named = self.function.value_names[result].is_some() && !self.is_named_after_phi(result, using);
        let info = self.arena[expr];
        let is_name = matches!(info.kind, ExprKind::Text(_) | ExprKind::Var(_));
        if self.is_simple(expr) && (is_name || !named) {
            self.bound[result] = Bound::Expr(expr);
            return;
        }
        let most = if using.root { MAX_ROOT_WEIGHT } else { MAX_WEIGHT };
        let small = info.weight <= most && info.depth <= MAX_EXPR_DEPTH;
        if !named && using.count == 1 && small && self.may_wait(info.depends, using.region) {
            self.bound[result] = Bound::Pending(expr);
            self.pending.push(result);
            return;
        }
        self.name_value(result, expr);
    }

    /// Where the instruction being written stands.
    pub(super) fn place_in_block(&self) -> Option<(Block, usize)> {
        self.at
    }

    pub(super) fn set_place(&mut self, block: Block, index: usize) {
        self.at = Some((block, index));
    }

    /// Whether what `inst`, the instruction being written, loads from `reads` is not changed before its last use: then it
    /// needs no variable however often it is used.
    pub(super) fn stays_until_used(&self, inst: Inst, reads: u64) -> bool {
        let (Some(result), Some((block, index))) = (self.function.insts[inst].result, self.at) else { return false };
        let mut left = self.uses[result].count;
        for &next in self.function.blocks[block].insts[index + 1..].iter().take(MAX_LOOK_AHEAD) {
            let data = &self.function.insts[next];
            left = left.saturating_sub(data.args.iter().filter(|&&a| a == result).count() as u32);
            if left == 0 {
                return true;
            }
            if self.writes(next) & reads != 0 {
                return false;
            }
        }
        false
    }

    /// Whether all that is done with `value`, which is being made, is to take single components out of it.
    pub(super) fn is_taken_apart(&self, value: Value) -> bool {
        let Some((block, index)) = self.at else { return false };
        let mut left = self.uses[value].count;
        for &next in self.function.blocks[block].insts[index + 1..].iter().take(MAX_LOOK_AHEAD) {
            let data = &self.function.insts[next];
            let uses = data.args.iter().filter(|&&a| a == value).count() as u32;
            if uses > 0 && !matches!(data.op, Op::Extract { .. }) {
                return false;
            }
            left = left.saturating_sub(uses);
            if left == 0 {
                return true;
            }
        }
        false
    }

    /// The memory an instruction may write.
    fn writes(&self, inst: Inst) -> u64 {
        let data = &self.function.insts[inst];
        match data.op {
            Op::Store => self.reach(data.args[0]),
            Op::Call(callee) if self.cx.facts[callee].pure => 0,
            Op::Call(_) => super::effects::ALL,
            Op::Texture(TextureOp::Store, _) => super::effects::TEXTURE,
            Op::Intrinsic(which) if which.effects().contains(Effects::WRITES) => self.reach(data.args[0]),
            op if op_effects(op).is_removable() => 0,
            _ => super::effects::SHARED,
        }
    }

    /// The memory that a pointer leads to.
    fn reach(&self, pointer: Value) -> u64 {
        use super::effects;
        let function = self.function;
        match function.values[pointer].def {
            ValueDef::Local(local) => effects::local(local),
            ValueDef::Param(index) => match self.cx.types.pointee(function.ty(pointer)) {
                Some((AddressSpace::Function, _)) => effects::param(index as usize),
                _ => effects::SHARED,
            },
            ValueDef::Inst(inst) if function.insts[inst].op == Op::Access => self.reach(function.insts[inst].args[0]),
            _ => effects::SHARED,
        }
    }

    /// Puts a value into the variable of the phi it comes back to.
    fn define_shared(&mut self, result: Value, phi: Inst, expr: Expr) {
        let var = self.phi(phi);
        self.flush_reading(|_, v| v == var);
        if !matches!(self.arena[expr].kind, ExprKind::Var(v) if v == var) {
            self.out.push(Stmt::Set(var, expr));
        }
        let expr = self.var_expr(var);
        self.bound[result] = Bound::Expr(expr);
    }

    /// Whether a value only goes to a phi that has its name: it needs no variable of its own.
    fn is_named_after_phi(&self, value: Value, using: Use) -> bool {
        if using.count != 1 {
            return false;
        }
        let name = self.function.value_names[value];
        using.phi.is_some_and(|phi| self.function.value_names[phi] == name)
    }

    /// Whether an expression computed here may be written where its user stands.
    fn may_wait(&self, depends: Depends, user: Option<Region>) -> bool {
        let Some(user) = user else { return false };
        if user == self.region {
            return true;
        }
        if depends.reads != 0 || depends.convergent {
            return false;
        }
        // Into a way of a selection, but not into a loop, where it would be computed each time.
        let mut at = user;
        while at != self.region {
            let data = &self.tree.regions[at];
            match (data.kind, data.parent) {
                (RegionKind::Arm, Some(parent)) => at = parent,
                _ => return false,
            }
        }
        true
    }

    /// Names and literals, and parts of names that never change: written as often as needed.
    pub(super) fn is_simple(&self, expr: Expr) -> bool {
        let data = self.arena[expr];
        if data.depends != Depends::default() {
            return false;
        }
        match data.kind {
            ExprKind::Text(_) | ExprKind::Negative(_) => true,
            ExprKind::Var(_) => true,
            ExprKind::Member(object, _) => self.is_simple(object),
            ExprKind::Index(object, index) => {
                self.is_simple(object) && matches!(self.arena[index].kind, ExprKind::Text(_))
            }
            _ => false,
        }
    }

    /// Sets a variable to `expr` and makes it what `value` is.
    fn name_value(&mut self, value: Value, expr: Expr) {
        let wanted = match self.function.value_names[value] {
            Some(name) => self.cx.raised.module.names.get(name).to_owned(),
            None => self.hint(value),
        };
        let ty = self.cx.value_type(self.function.ty(value));
        let var = self.var(&wanted, ty, VarKind::Value);
        self.out.push(Stmt::Set(var, expr));
        let expr = self.var_expr(var);
        self.bound[value] = Bound::Expr(expr);
    }

    /// The same for an expression that has effects: it is always computed here.
    pub(super) fn set_result(&mut self, value: Value, expr: Expr) {
        self.name_value(value, expr);
    }

    /// A variable set to `expr`, named like `wanted`.
    pub(super) fn temporary(&mut self, wanted: &str, ty: Type, expr: Expr) -> Expr {
        if self.is_simple(expr) {
            return expr;
        }
        let ty = self.cx.value_type(ty);
        let var = self.var(wanted, ty, VarKind::Value);
        self.out.push(Stmt::Set(var, expr));
        self.var_expr(var)
    }

    /// A name for a value that has none.
    fn hint(&self, value: Value) -> String {
        let names = &self.cx.raised.module.names;
        let Some((_, data)) = self.function.def_inst(value) else { return "t".to_owned() };
        match data.op {
            Op::Load => self.place_hint(data.args[0]).unwrap_or_else(|| "value".to_owned()),
            Op::Call(callee) => format!("{}_result", names.get(self.cx.raised.module.functions[callee].name)),
            Op::Texture(TextureOp::Size, _) => "size".to_owned(),
            Op::Texture(..) => "texel".to_owned(),
            Op::Atomic(_) | Op::AtomicCompareExchange => "old".to_owned(),
            Op::Counter { .. } => "slot".to_owned(),
            Op::RawLoad => "word".to_owned(),
            _ => "t".to_owned(),
        }
    }

    fn place_hint(&self, pointer: Value) -> Option<String> {
        let module = &self.cx.raised.module;
        match self.function.values[pointer].def {
            ValueDef::Local(local) => Some(module.names.get(self.function.locals[local].name).to_owned()),
            ValueDef::Global(global) => Some(module.names.get(module.globals[global].name).to_owned()),
            ValueDef::Param(index) => {
                self.function.params.get(index as usize).map(|p| module.names.get(p.name).to_owned())
            }
            _ => None,
        }
    }

    /// Names what pends and may be changed by a write to `writes`, or, with `lanes`, by a change of the lanes that run.
    pub(super) fn flush(&mut self, writes: u64, lanes: bool) {
        let mut at = 0;
        while at < self.pending.len() {
            let value = self.pending[at];
            let Bound::Pending(expr) = self.bound[value] else {
                self.pending.remove(at);
                continue;
            };
            let depends = self.arena[expr].depends;
            if depends.reads & writes != 0 || (lanes && depends.convergent) {
                self.pending.remove(at);
                self.name_value(value, expr);
            } else {
                at += 1;
            }
        }
    }

    /// Makes sure that `value` can be written more than once: pointers with several users have it as an index.
    pub(super) fn settle(&mut self, value: Value) {
        if let Bound::Pending(expr) = self.bound[value] {
            self.forget_pending(value);
            self.name_value(value, expr);
        }
    }

    /// Whether pointer or handle `value` has its one user in the region where it is made.
    pub(super) fn is_local_to_region(&self, value: Value) -> bool {
        let using = self.uses[value];
        using.count <= 1 && using.region.is_none_or(|r| r == self.region)
    }

    /// The statements that `f` writes.
    pub(super) fn capture(&mut self, f: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, outer)
    }

    pub(super) fn region(&mut self, region: Region) {
        let outer = std::mem::replace(&mut self.region, region);
        let tree = self.tree;
        for node in &tree.regions[region].nodes {
            self.node(node);
        }
        self.region = outer;
    }

    /// Writes a `#line` directive when the place differs from the last one.
    pub(super) fn mark_line(&mut self, span: Span) {
        let Some(map) = &self.cx.options.line_directives else { return };
        if span.is_none() {
            return;
        }
        let Some((name, line)) = crate::emit::line_of(map, span) else { return };
        if self.line == Some((span.file.0, line)) {
            return;
        }
        self.line = Some((span.file.0, line));
        let text = self.name(&format!("#line {line} \"{name}\""));
        self.out.push(Stmt::Line(text));
    }
}
