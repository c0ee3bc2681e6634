//! The end of a compile: what entry points reach is kept, in order; what they do not reach is forgotten.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use oneshader_diag::{Diagnostic, DiagnosticBag, Span, codes};
use oneshader_ir as ir;
use oneshader_ir::intrinsic::Stages;
use oneshader_ir::layout::{LayoutError, LayoutOptions, LayoutRule, Layouts};
use oneshader_ir::{Func, Op, ResourceType, Stage, StructType, TextureOp, TextureOperands, TypeKind, ValueDef};
use rustc_hash::FxHashSet;

use crate::cx::Cx;
use crate::sema::entry::ENTRY_KEY;
use crate::sema::variable::StaticInit;

impl Cx<'_> {
    /// Reports what is missing, initializes statics, orders functions, and hands the diagnostics over.
    pub(crate) fn finish(&mut self, bag: &mut DiagnosticBag) {
        self.flush();
        self.report_missing_entries();
        self.initialize_statics();
        self.add_builtins();
        self.finish_globals_block();
        let (order, whole) = self.order_functions();
        if whole {
            self.check_stages();
        }
        self.check_offsets();
        let mut reached: FxHashSet<u32> = FxHashSet::default();
        for (id, fun) in self.s.funs.iter().enumerate() {
            if fun.ir.is_some_and(|f| order.contains(&f)) {
                reached.insert(id as u32);
            }
        }
        for (func, diagnostic) in self.diags.drain(..) {
            let kept = func.is_none_or(|f| f & ENTRY_KEY != 0 || reached.contains(&f));
            let lowering = diagnostic.code.number() / 1000 == 3;
            if kept || !lowering {
                bag.push(diagnostic);
            }
        }
    }

    /// Reports what an entry point reaches and its stage does not have, and constants that nobody defined.
    fn check_stages(&mut self) {
        let entries = self.b.module.entry_points.clone();
        let undefined = self.s.undefined_statics.clone();
        for entry in entries {
            let mut wrong: Vec<(Span, String)> = Vec::new();
            let (allowed, name) = match entry.stage {
                Stage::Vertex => (Stages::VERTEX, "vertex"),
                Stage::Pixel => (Stages::PIXEL, "pixel"),
                Stage::Compute => (Stages::COMPUTE, "compute"),
            };
            for func in self.b.module.reachable(entry.func) {
                let function = &self.b.module.functions[func];
                for (_, _, data) in function.live_insts() {
                    match data.op {
                        Op::Discard if entry.stage != Stage::Pixel => {
                            wrong.push((data.span, format!("a {name} shader cannot discard")));
                        }
                        // Derivatives come from quads of pixels or, since shader model 6.6, of threads.
                        Op::Texture(TextureOp::Sample, operands)
                            if entry.stage == Stage::Vertex
                                && !operands.intersects(TextureOperands::LEVEL | TextureOperands::GRAD) =>
                        {
                            let message = "a vertex shader has no derivatives to find the level of detail by";
                            wrong.push((data.span, message.into()));
                        }
                        op if entry.stage == Stage::Compute && takes_derivatives(op) && !forms_quads(entry.threads) => {
                            let message = "derivatives of threads need numthreads with even sizes in x and y, or with a \
                                           multiple of 4 in x alone";
                            wrong.push((data.span, message.into()));
                        }
                        Op::Intrinsic(i) if !i.stages().contains(allowed) => {
                            wrong.push((data.span, format!("`{}` does not exist in {name} shaders", i.text())));
                        }
                        _ => {}
                    }
                    for arg in &data.args {
                        let ValueDef::Global(global) = function.values[*arg].def else { continue };
                        if let Some((_, name, span)) = undefined.iter().find(|(g, ..)| *g == global) {
                            wrong.push((*span, format!("`{}` is used but not defined", self.names.text(*name))));
                        }
                        let var = &self.b.module.globals[global];
                        if var.space == ir::AddressSpace::Workgroup && entry.stage != Stage::Compute {
                            wrong.push((data.span, format!("a {name} shader has no groupshared memory")));
                        }
                        if let TypeKind::Resource(ResourceType::SubpassInput { .. }) = self.b.module.types.kind(var.ty)
                            && entry.stage != Stage::Pixel
                        {
                            wrong.push((data.span, format!("a {name} shader has no subpass inputs")));
                        }
                    }
                }
            }
            for (span, message) in wrong {
                self.error(codes::WRONG_STAGE, span, message);
            }
        }
    }

    /// Reports members of blocks whose stated offsets do not fit.
    fn check_offsets(&mut self) {
        let stated = self.b.module.types.structs.values().any(|s| s.members.iter().any(|m| m.offset.is_some()));
        if !stated {
            return;
        }
        let options = LayoutOptions {
            constant: LayoutRule::DxConstantBuffer,
            texture: LayoutRule::DxConstantBuffer,
            storage: LayoutRule::DxStructured,
        };
        // What a structure or array is aligned to depends on options; what is misaligned by the weakest rule always is.
        let (_, weakest) = Layouts::of_module(self.b.module, &LayoutOptions::SCALAR);
        let (_, usual) = Layouts::of_module(self.b.module, &options);
        for error in weakest {
            if let LayoutError::Misaligned { span, .. } = error {
                self.error(codes::BAD_PACKING, span, "the offset does not suit the member's type");
            }
        }
        for error in usual {
            if let LayoutError::Overlap { span, .. } = error {
                self.error(codes::BAD_PACKING, span, "the member overlaps another one");
            }
        }
    }

    /// The block of loose uniforms grew while its members' types were declared; its structure has to stand behind theirs.
    fn finish_globals_block(&mut self) {
        let Some(block) = self.s.globals else { return };
        let block = self.s.blocks[block as usize];
        let types = &mut self.b.module.types;
        let TypeKind::Struct(old) = types.kind(block.ty) else { return };
        let members = std::mem::take(&mut types.structs[old].members);
        // Members with a register come first, in its order; the others follow them, as in DXC.
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|i| members[*i].offset.map_or((1, 0), |o| (0, o)));
        let data =
            StructType { name: types.structs[old].name, members: order.iter().map(|i| members[*i].clone()).collect() };
        let resource = |block| TypeKind::Resource(ResourceType::ConstantBuffer { block });
        let new = types.add_struct(data);
        let (old_handle, new_handle) = (types.intern(resource(block.ty)), types.intern(resource(new)));
        let pairs = [
            (block.ty, new),
            (old_handle, new_handle),
            (types.pointer(block.space, block.ty), types.pointer(block.space, new)),
            (types.pointer(ir::AddressSpace::Handle, old_handle), types.pointer(ir::AddressSpace::Handle, new_handle)),
        ];
        let swap = |ty: &mut ir::Type| {
            if let Some((_, to)) = pairs.iter().find(|(from, _)| from == ty) {
                *ty = *to;
            }
        };
        swap(&mut self.b.module.globals[block.global].ty);
        let moved = order.iter().enumerate().any(|(to, from)| to != *from);
        let pointer = types.pointer(block.space, new);
        for id in self.b.module.functions.keys().collect::<Vec<_>>() {
            let function = &mut self.b.module.functions[id];
            function.values.values_mut().for_each(|v| swap(&mut v.ty));
            function.insts.values_mut().for_each(|i| swap(&mut i.ty));
            if moved {
                self.move_members(id, pointer, &order);
            }
        }
    }

    /// Renames the members that accesses to a block name, after it was put in another order.
    fn move_members(&mut self, id: Func, pointer: ir::Type, order: &[usize]) {
        let module = &mut *self.b.module;
        let function = &mut module.functions[id];
        let mut edits: Vec<(ir::Inst, u32)> = Vec::new();
        for (inst, data) in function.insts.iter() {
            if let (Op::Access, [base, member, ..]) = (data.op, &data.args[..])
                && function.values[*base].ty == pointer
                && let Some(from) = function.as_const(*member).and_then(|c| module.consts.bits(c))
                && let Some(to) = order.iter().position(|o| *o as u64 == from)
            {
                edits.push((inst, to as u32));
            }
        }
        for (inst, to) in edits {
            let c = module.consts.u32(&mut module.types, to);
            let value = function.const_value(&module.consts, c);
            function.insts[inst].args[1] = value;
        }
    }

    /// The functions that entry points reach, callees first, and whether all is there. Recursion and missing bodies are
    /// reported.
    fn order_functions(&mut self) -> (Vec<Func>, bool) {
        #[derive(Clone, Copy, PartialEq, Eq, Default)]
        enum Mark {
            #[default]
            New,
            Open,
            Done,
        }
        let mut marks: SecondaryMap<Func, Mark> = SecondaryMap::new();
        let mut order: Vec<Func> = Vec::new();
        let mut errors: Vec<(Func, Func, bool)> = Vec::new();
        let roots: Vec<Func> = self.b.module.entry_points.iter().map(|e| e.func).collect();
        for root in roots {
            let mut stack: Vec<(Func, Vec<Func>)> = Vec::new();
            let callees = |cx: &Self, f: Func| {
                let mut list: Vec<Func> = cx.b.module.functions[f].callees().collect();
                list.reverse();
                list
            };
            if marks[root] == Mark::New {
                marks[root] = Mark::Open;
                let list = callees(self, root);
                stack.push((root, list));
            }
            while let Some((func, list)) = stack.last_mut() {
                let func = *func;
                match list.pop() {
                    None => {
                        marks[func] = Mark::Done;
                        order.push(func);
                        stack.pop();
                    }
                    Some(callee) => match marks[callee] {
                        Mark::Done => {}
                        Mark::Open => errors.push((func, callee, true)),
                        Mark::New if self.b.module.functions[callee].order.is_empty() => {
                            marks[callee] = Mark::Done;
                            errors.push((func, callee, false));
                        }
                        Mark::New => {
                            marks[callee] = Mark::Open;
                            let list = callees(self, callee);
                            stack.push((callee, list));
                        }
                    },
                }
            }
        }
        let whole = errors.is_empty();
        for (caller, callee, recursion) in errors {
            let span = self.call_span(caller, callee);
            let f = &self.b.module.functions[callee];
            let name = self.b.module.names.get(f.name).to_owned();
            let d = match recursion {
                true => Diagnostic::new(codes::RECURSION, span, format!("`{name}` calls itself")),
                false => Diagnostic::new(codes::UNDEFINED_FUNCTION, span, format!("`{name}` has no body")),
            };
            let d = d.label(f.span, "declared here");
            self.report(d);
        }
        self.renumber(&order);
        (order, whole)
    }

    fn call_span(&self, caller: Func, callee: Func) -> Span {
        let found = self.b.module.functions[caller].live_insts().find(|(_, _, d)| d.op == Op::Call(callee));
        found.map_or(Span::NONE, |(_, _, d)| d.span)
    }

    /// Keeps the functions of `order`, in it.
    fn renumber(&mut self, order: &[Func]) {
        let mut old = std::mem::take(&mut self.b.module.functions);
        let mut new: PrimaryMap<Func, ir::Function> = PrimaryMap::with_capacity(order.len());
        let mut map: SecondaryMap<Func, Option<Func>> = SecondaryMap::new();
        for &func in order {
            let blank = ir::Function::new(old[func].name, old[func].ret, old[func].span);
            map[func] = Some(new.push(std::mem::replace(&mut old[func], blank)));
        }
        for function in new.values_mut() {
            for inst in function.insts.values_mut() {
                if let Op::Call(callee) = &mut inst.op
                    && let Some(to) = map[*callee]
                {
                    *callee = to;
                }
            }
        }
        self.b.module.functions = new;
        for entry in &mut self.b.module.entry_points {
            if let Some(to) = map[entry.func] {
                entry.func = to;
            }
        }
    }

    /// Static variables whose initial value is computed get it at the start of the entry points that use them.
    fn initialize_statics(&mut self) {
        if self.s.static_inits.is_empty() {
            return;
        }
        let inits = self.s.static_inits.clone();
        for i in 0..self.b.module.entry_points.len() {
            let func = self.b.module.entry_points[i].func;
            let plain = self.b.module.functions[func].clone();
            let mut done = 0;
            // Initial values use functions and variables in turn; each round finds more, and there are not many.
            loop {
                let used = self.used_globals(func);
                let needed: Vec<StaticInit> = inits.iter().copied().filter(|i| used.contains(&i.global)).collect();
                if needed.len() == done {
                    break;
                }
                done = needed.len();
                self.prepend_inits(func, plain.clone(), &needed);
                self.flush();
            }
        }
    }

    fn used_globals(&self, root: Func) -> FxHashSet<ir::Global> {
        let mut out = FxHashSet::default();
        for func in self.b.module.reachable(root) {
            let function = &self.b.module.functions[func];
            for (_, _, data) in function.live_insts() {
                for arg in &data.args {
                    if let ValueDef::Global(global) = function.values[*arg].def {
                        out.insert(global);
                    }
                }
            }
        }
        out
    }

    fn prepend_inits(&mut self, func: Func, plain: ir::Function, inits: &[StaticInit]) {
        let Some(start) = plain.entry() else { return };
        let before = plain.order.len();
        let key = ENTRY_KEY;
        let idle = self.b.begin(plain);
        let outer = self.enter_function(key, 0, false);
        let first = self.b.create_block();
        self.b.switch_to(first);
        for init in inits {
            self.s.env = init.env;
            let span = self.ast[init.init].span;
            let value = self.in_scope(init.scope, |cx| cx.in_block(|cx| cx.initializer(init.ty, init.init)));
            self.at(span);
            if let Ok(value) = value {
                let root = self.b.global(init.global);
                self.b.store(root, value.v);
            }
        }
        self.b.branch(start);
        self.leave_function(outer);
        self.b.func.order.rotate_left(before);
        let function = self.b.end(idle);
        self.b.module.functions[func] = function;
    }
}

/// Whether an operation compares the threads of a quad to find a derivative.
fn takes_derivatives(op: Op) -> bool {
    use ir::Intrinsic as I;
    match op {
        Op::Intrinsic(i) => {
            matches!(i, I::Ddx | I::Ddy | I::DdxCoarse | I::DdyCoarse | I::DdxFine | I::DdyFine | I::Fwidth)
        }
        Op::Texture(TextureOp::Sample, operands) => {
            !operands.intersects(TextureOperands::LEVEL | TextureOperands::GRAD)
        }
        Op::Texture(op, _) => matches!(op, TextureOp::Lod | TextureOp::LodUnclamped),
        _ => false,
    }
}

/// Whether threadgroups of a size divide into quads (DirectX-Specs, HLSL_SM_6_6_Derivatives).
fn forms_quads(threads: [u32; 3]) -> bool {
    match threads {
        [x, 1, 1] if x % 4 == 0 => true,
        [x, y, _] => x % 2 == 0 && y % 2 == 0,
    }
}
