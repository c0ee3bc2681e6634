//! Signatures, and what stands at the start and end of a function.

use super::body::Body;
use crate::ast::{self, Arena, Expr, Param, Stmt, VarKind};
use crate::names::Inner;
use crate::options::{BufferArrays, MslBinding, MslVersion};
use crate::raise::io::{Form, stage_io};
use crate::raise::lift::{Item, stays};
use crate::raise::usage::{Uses, is_resource};
use oneshader_diag::codes;
use oneshader_ir::layout::resource_type;
use oneshader_ir::{
    AddressSpace, DescriptorHeap, Global, InstFlags, MslTable, ResourceType, Stage, Type, TypeKind, Value, ValueDef,
};

/// Buffer index of interleaved vertex data.
pub(crate) const VERTEX_BUFFER_INDEX: u32 = 30;

/// Arguments a Metal function takes of each table.
const LIMITS: [(MslTable, u32); 3] = [(MslTable::Buffer, 31), (MslTable::Texture, 128), (MslTable::Sampler, 16)];

impl Body<'_, '_> {
    /// The head of the function; names its parameters.
    pub(super) fn signature(&mut self) -> ast::Function {
        let is_entry = self.func == self.cx.raised.entry.func;
        let name = self.cx.func_names[self.func].map(|n| self.cx.names.get(n).to_owned()).unwrap_or_default();
        let mut head = ast::Function {
            prefix: String::new(),
            result: String::new(),
            name,
            params: Vec::new(),
            arena: Arena::default(),
            body: Vec::new(),
        };
        if is_entry {
            self.entry_signature(&mut head);
        } else {
            head.prefix = "static inline".to_owned();
            let ret = self.cx.value_type(self.function.ret);
            head.result = self.cx.names.get(ret).to_owned();
            for index in 0..self.function.params.len() {
                self.helper_param(index, &mut head.params);
            }
        }
        head
    }

    fn param_name(&mut self, index: usize) -> String {
        let name = match self.cx.raised.lifted.item(self.func, index) {
            Some(Item::Global(global)) => self.cx.heap_name(global),
            _ => None,
        };
        let own = || self.cx.raised.module.names.get(self.function.params[index].name).to_owned();
        let name = name.unwrap_or_else(own);
        self.fresh_name(&name)
    }

    fn helper_param(&mut self, index: usize, out: &mut Vec<Param>) {
        let ty = self.function.params[index].ty;
        let name = self.param_name(index);
        let expr = self.text(&name);
        self.params.push(expr);
        let plain = |declaration| Param { declaration, attribute: String::new() };
        if !is_resource(&self.cx.types, ty) {
            let spelled = self.cx.value_type(ty);
            let spelled = self.cx.names.get(spelled);
            let declaration = match self.cx.types.kind(ty) {
                // Stage inputs are never written.
                TypeKind::Pointer { space: AddressSpace::Input, .. } => format!("{spelled} {name}"),
                TypeKind::Pointer { space: AddressSpace::Workgroup, .. } => format!("threadgroup {spelled}& {name}"),
                TypeKind::Pointer { .. } => format!("thread {spelled}& {name}"),
                _ => format!("{spelled} {name}"),
            };
            return out.push(plain(declaration));
        }
        let spelled = self.resource_param_type(index);
        out.push(plain(format!("{spelled} {name}")));
        let uses = self.cx.raised.classes.uses(self.func, index);
        if uses.contains(Uses::COUNTER) {
            let counter = self.fresh_name(&format!("{name}_counter"));
            out.push(plain(format!("device atomic_uint* {counter}")));
            let expr = self.text(&counter);
            self.counters.insert(index, expr);
        }
        if uses.contains(Uses::LENGTH) && self.cx.options.buffer_sizes {
            let size = self.fresh_name(&format!("{name}_size"));
            out.push(plain(format!("uint {size}")));
            let expr = self.text(&size);
            self.sizes.insert(index, expr);
        }
    }

    /// The type of a resource parameter, with `&` where it is a reference.
    fn resource_param_type(&mut self, index: usize) -> String {
        let ty = self.function.params[index].ty;
        let class = self.cx.raised.classes.class(self.func, index);
        let push = self.is_push_constant(index);
        let sizes = array_sizes(&self.cx.types, ty);
        let Some(resource) = resource_type(&self.cx.types, self.cx.types.behind(ty)) else {
            return "int".to_owned();
        };
        let element = self.cx.handle_type(resource, class, push);
        if self.is_table(index) {
            return self.cx.table_type(&element);
        }
        if sizes.is_empty() {
            return by_reference(resource, element);
        }
        let space = match self.cx.options.binding {
            MslBinding::Direct => "thread const",
            MslBinding::ArgumentStruct => "constant",
        };
        format!("{space} {}&", array_of(element, &sizes))
    }

    fn entry_signature(&mut self, head: &mut ast::Function) {
        let entry = self.cx.raised.entry.clone();
        let stage = match entry.stage {
            Stage::Vertex => "vertex",
            Stage::Pixel => "fragment",
            Stage::Compute => "kernel",
        };
        head.prefix = match entry.stage {
            Stage::Compute => {
                let threads = entry.threads.iter().fold(1u32, |n, &t| n.saturating_mul(t));
                format!("[[max_total_threads_per_threadgroup({threads})]]\n{stage}")
            }
            Stage::Pixel if entry.early_depth_stencil => format!("[[early_fragment_tests]]\n{stage}"),
            _ => stage.to_owned(),
        };
        let io_names = (
            self.cx.scope.unique(&format!("{}Input", head.name)),
            self.cx.scope.unique(&format!("{}Output", head.name)),
        );
        let mut own = self.take_scope();
        ["in", "out", "args"].iter().for_each(|n| own.reserve(n));
        let io = stage_io(
            self.cx.raised,
            self.function,
            Inner { outer: &self.cx.scope, own: &mut own },
            io_names,
            self.cx.bag,
        );
        self.put_scope(own);
        if let Some(input) = &io.input {
            let attribute = "[[stage_in]]".to_owned();
            head.params.push(Param { declaration: format!("{} in", input.name), attribute });
        }
        head.result = io.output.as_ref().map_or_else(|| "void".to_owned(), |o| o.name.clone());
        for item in [&io.input, &io.output].into_iter().flatten() {
            let fields: String = item.fields.iter().map(|f| format!("    {f}\n")).collect();
            self.cx.io_structs += &format!("struct {} {{\n{fields}}};\n\n", item.name);
        }
        let has_attributes = io.has_attributes;
        let builtins = io.params.clone();
        self.io = Some(io);
        match self.cx.options.binding {
            MslBinding::Direct => self.direct_arguments(head, has_attributes),
            // A file without resources has no structure.
            MslBinding::ArgumentStruct if !self.cx.has_arguments => {}
            MslBinding::ArgumentStruct => {
                let declaration = "constant Arguments& args".to_owned();
                head.params.push(Param { declaration, attribute: "[[buffer(0)]]".to_owned() });
                self.aliases();
            }
        }
        head.params.extend(builtins.into_iter().map(|(declaration, attribute)| Param { declaration, attribute }));
        for index in self.params.len()..self.function.params.len() {
            let Some(item) = self.cx.raised.lifted.item(self.func, index) else { continue };
            let attribute = format!("[[{}]]", item.attribute());
            let name = self.param_name(index);
            let expr = self.text(&name);
            self.params.push(expr);
            head.params.push(Param { declaration: format!("uint {name}"), attribute });
        }
    }

    /// One argument for each resource, then the hidden ones.
    fn direct_arguments(&mut self, head: &mut ast::Function, has_attributes: bool) {
        let (mut hidden, mut heaps) = (Vec::new(), Vec::new());
        let mut wants_sizes = false;
        let items = self.cx.raised.lifted.items[self.func].clone();
        for (index, item) in items.iter().enumerate() {
            let Item::Global(global) = *item else { break };
            let name = self.param_name(index);
            let spelled = self.resource_param_type(index);
            let spelled =
                spelled.strip_prefix("thread const ").map_or(spelled.clone(), |s| s.trim_end_matches('&').to_owned());
            let slots = *self.cx.raised.slots.of(global);
            let Some(slot) = slots.msl else { continue };
            self.check_slot(global, slot.table, slot.index, slot.count, has_attributes);
            let table = slot.table.name();
            if self.is_table(index) {
                let argument = self.table_argument(global, &name, &spelled, slot.index);
                match DescriptorHeap::of(&self.cx.raised.module, global) {
                    Some(_) => heaps.extend(argument),
                    None => head.params.extend(argument),
                }
                let expr = self.text(&name);
                self.params.push(expr);
                continue;
            }
            let sizes = array_sizes(&self.cx.types, self.function.params[index].ty);
            let gathers = slot.table == MslTable::Buffer
                && (self.cx.options.buffer_arrays == BufferArrays::Arguments || self.is_acceleration_structure(index));
            match sizes[..] {
                [_, ..] if gathers => self.gathered(head, &name, index, slot.index, slot.count),
                _ => {
                    let attribute = self.resource_attribute(global, &format!("{table}({})", slot.index));
                    head.params.push(Param { declaration: format!("{spelled} {name}"), attribute });
                }
            }
            let expr = self.text(&name);
            self.params.push(expr);
            let uses = self.cx.raised.classes.uses(self.func, index);
            if let (true, Some(counter)) = (uses.contains(Uses::COUNTER), slots.msl_counter) {
                self.check_slot(global, counter.table, counter.index, counter.count, has_attributes);
                let text = self.fresh_name(&format!("{name}_counter"));
                let ty = array_of("device atomic_uint*".to_owned(), &sizes);
                hidden.push(Param {
                    declaration: format!("{ty} {text}"),
                    attribute: format!("[[buffer({})]]", counter.index),
                });
                let expr = self.text(&text);
                self.counters.insert(index, expr);
            }
            if uses.contains(Uses::LENGTH) && self.cx.options.buffer_sizes {
                wants_sizes = true;
                let object = self.text("buffer_sizes");
                let at = self.number(i64::from(slot.index));
                let expr = self.index(object, at);
                self.sizes.insert(index, expr);
            }
        }
        head.params.extend(hidden);
        if wants_sizes {
            let declaration = "constant uint* buffer_sizes".to_owned();
            let attribute = format!("[[buffer({})]]", self.cx.raised.slots.msl_sizes());
            head.params.push(Param { declaration, attribute });
        }
        head.params.extend(heaps);
    }

    /// Whether a parameter is an acceleration structure or an array of them: the specification has no array of them as an
    /// argument, so one is gathered.
    fn is_acceleration_structure(&self, index: usize) -> bool {
        let ty = self.function.params[index].ty;
        let ty = self.cx.types.behind(ty);
        resource_type(&self.cx.types, ty) == Some(ResourceType::AccelerationStructure)
    }

    fn resource_attribute(&self, global: Global, slot: &str) -> String {
        let ordered = match &self.cx.raised.module.globals[global].kind {
            oneshader_ir::GlobalKind::Resource(resource) => resource.rasterizer_ordered,
            _ => false,
        };
        match ordered && self.cx.raised.entry.stage == Stage::Pixel {
            true => format!("[[{slot}, raster_order_group(0)]]"),
            false => format!("[[{slot}]]"),
        }
    }

    /// An array of buffers as an argument for each element, gathered into a local array.
    fn gathered(&mut self, head: &mut ast::Function, name: &str, index: usize, slot: u32, count: u32) {
        let ty = self.function.params[index].ty;
        let ty = self.cx.types.behind(ty);
        let Some(resource) = resource_type(&self.cx.types, ty) else { return };
        let class = self.cx.raised.classes.class(self.func, index);
        let element = self.cx.handle_type(resource, class, self.is_push_constant(index));
        let mut parts = Vec::new();
        for i in 0..count.min(31) {
            let part = self.fresh_name(&format!("{name}_{i}"));
            let attribute = format!("[[buffer({})]]", slot + i);
            head.params.push(Param { declaration: format!("{element} {part}"), attribute });
            parts.push(part);
        }
        let line = format!("const array<{element}, {count}> {name} = {{{}}};", parts.join(", "));
        let line = self.name(&line);
        self.out.push(Stmt::Line(line));
    }

    /// The members of the argument structure under the names of the resources.
    fn aliases(&mut self) {
        let items = self.cx.raised.lifted.items[self.func].clone();
        for (index, item) in items.iter().enumerate() {
            let Item::Global(global) = *item else { break };
            let name = self.param_name(index);
            let spelled = self.resource_param_type(index);
            if self.is_table(index) {
                let member = crate::emit::table_member(self.cx, global);
                match self.cx.table_views(global).len() {
                    0 | 1 => {
                        let line = self.name(&format!("{spelled} {name} = args.{member};"));
                        self.out.push(Stmt::Line(line));
                    }
                    _ => self.view(&name, &spelled, &format!("args.{member}")),
                }
                let expr = self.text(&name);
                self.params.push(expr);
                continue;
            }
            let member = self.argument_member(global);
            let is_reference = spelled.ends_with('&') && !spelled.contains("array<");
            let value = if is_reference { format!("*args.{member}") } else { format!("args.{member}") };
            let line = self.name(&format!("{spelled} {name} = {value};"));
            self.out.push(Stmt::Line(line));
            let expr = self.text(&name);
            self.params.push(expr);
            let uses = self.cx.raised.classes.uses(self.func, index);
            if uses.contains(Uses::COUNTER) {
                let expr = self.dotted(&format!("args.{member}_counter"));
                self.counters.insert(index, expr);
            }
            if uses.contains(Uses::LENGTH) && self.cx.options.buffer_sizes {
                let sizes = self.dotted("args.buffer_sizes");
                let at = self.cx.raised.slots.of(global).msl.map_or(0, |s| s.index);
                let at = self.number(i64::from(at));
                let expr = self.index(sizes, at);
                self.sizes.insert(index, expr);
            }
        }
    }

    fn argument_member(&self, global: Global) -> String {
        crate::emit::argument_name(&self.cx.raised.module, global)
    }

    /// Metal's limits of indices, and the index of vertex data.
    fn check_slot(&mut self, global: Global, table: MslTable, index: u32, count: u32, has_attributes: bool) {
        let var = &self.cx.raised.module.globals[global];
        let (name, span) = (self.cx.raised.module.names.get(var.name).to_owned(), var.span);
        let limit = LIMITS.iter().find(|l| l.0 == table).map_or(0, |l| l.1);
        let end = u64::from(index) + u64::from(count);
        if end > u64::from(limit) {
            let message =
                format!("`{name}` has {} index {}, but a Metal function has {limit} of them", table.name(), end - 1);
            self.cx.error(codes::MSL_TOO_MANY_RESOURCES, span, message);
        } else if table == MslTable::Buffer && has_attributes && end > u64::from(VERTEX_BUFFER_INDEX) {
            let message = format!("`{name}` has buffer index {VERTEX_BUFFER_INDEX}, which holds the vertex attributes");
            self.cx.error(codes::MSL_TOO_MANY_RESOURCES, span, message);
        }
    }

    /// What stands first in the body.
    pub(super) fn prologue(&mut self) {
        let precise = self.function.live_insts().any(|(_, _, inst)| inst.flags.contains(InstFlags::PRECISE));
        if precise {
            let pragmas = ["#pragma clang fp reassociate(off)", "#pragma clang fp contract(off)"];
            let lines: Vec<Stmt> = pragmas.iter().map(|p| Stmt::Line(self.name(p))).collect();
            self.out.splice(0..0, lines);
        }
        if self.func != self.cx.raised.entry.func {
            return;
        }
        self.module_variables();
        self.stage_variables();
    }

    /// `static` and `groupshared` variables become locals.
    fn module_variables(&mut self) {
        for global in self.used_globals() {
            let var = &self.cx.raised.module.globals[global];
            if stays(&self.cx.raised.module, global) {
                continue;
            }
            let name = self.cx.raised.module.names.get(var.name).to_owned();
            match var.space {
                AddressSpace::Workgroup => {
                    let name = self.fresh_name(&name);
                    for line in self.threadgroup_variable(&name, var.ty) {
                        let line = self.name(&line);
                        self.out.push(Stmt::Line(line));
                    }
                    let expr = self.text(&name);
                    self.globals.insert(global, expr);
                }
                AddressSpace::Private => {
                    let ty = self.cx.value_type(var.ty);
                    let variable = self.var(&name, ty, VarKind::Memory);
                    let init = var.init.map(|c| self.constant(c));
                    self.out.push(Stmt::Declare(variable, init));
                    let expr = self.var_expr(variable);
                    self.globals.insert(global, expr);
                }
                _ => {}
            }
        }
    }

    /// The lines that declare a variable in threadgroup memory. Before Metal 3.0 matrices have no constructor for that
    /// memory, so what holds one is a view of plain memory there.
    fn threadgroup_variable(&mut self, name: &str, ty: Type) -> Vec<String> {
        let spelled = self.cx.value_type(ty);
        let spelled = self.cx.names.get(spelled).to_owned();
        if self.cx.options.version >= MslVersion::V3_0
            || !self.cx.types.holds(ty, |kind| matches!(kind, TypeKind::Matrix { .. })).unwrap_or(true)
        {
            return vec![format!("threadgroup {spelled} {name};")];
        }
        let memory = self.fresh_name(&format!("{name}_memory"));
        vec![
            format!("threadgroup uint4 {memory}[(sizeof({spelled}) + 15) / 16];"),
            format!("threadgroup {spelled}& {name} = *(threadgroup {spelled}*){memory};"),
        ]
    }

    /// Module-scope variables that the function names, in order of declaration.
    fn used_globals(&self) -> Vec<Global> {
        let mut out: Vec<Global> = Vec::new();
        for (_, _, inst) in self.function.live_insts() {
            for &arg in &inst.args {
                if let ValueDef::Global(global) = self.function.values[arg].def {
                    out.push(global);
                }
            }
        }
        out.sort();
        out.dedup();
        out
    }

    /// Stage inputs that are gathered, and the output structure.
    fn stage_variables(&mut self) {
        let entry = self.cx.raised.entry.clone();
        let used = self.used_globals();
        let forms: Vec<(Global, Form)> = match &self.io {
            Some(io) => entry.inputs.iter().filter_map(|&g| io.forms[g].clone().map(|f| (g, f))).collect(),
            None => return,
        };
        for (global, form) in forms {
            if !used.contains(&global) {
                continue;
            }
            match form {
                Form::Place(_) => {}
                Form::Thread(builtin) => {
                    let expr = self.thread_position(global, builtin);
                    self.globals.insert(global, expr);
                }
                Form::Interpolant { field, method } => {
                    let field = self.dotted(&field);
                    let expr = self.method(field, method, &[]);
                    self.globals.insert(global, expr);
                }
                Form::Parts { parts, convert } => {
                    let expr = self.gather(global, &parts, convert);
                    self.globals.insert(global, expr);
                }
            }
        }
        let has_output = self.io.as_ref().is_some_and(|io| io.output.is_some());
        if has_output {
            let name = self.io.as_ref().and_then(|io| io.output.as_ref()).map(|o| o.name.clone()).unwrap_or_default();
            let line = self.name(&format!("{name} out = {{}};"));
            self.out.push(Stmt::Line(line));
        }
        for &global in &entry.outputs {
            let Some(Form::Parts { .. }) = self.io.as_ref().and_then(|io| io.forms[global].clone()) else { continue };
            let var = &self.cx.raised.module.globals[global];
            let name = self.cx.raised.module.names.get(var.name).replace('.', "_");
            let ty = self.cx.value_type(var.ty);
            let zero = self.zero(var.ty);
            let variable = self.var(&name, ty, VarKind::Memory);
            self.out.push(Stmt::Declare(variable, Some(zero)));
            let expr = self.var_expr(variable);
            self.globals.insert(global, expr);
        }
    }

    /// A stage input made of parts, as a local variable.
    fn gather(&mut self, global: Global, parts: &[String], convert: Option<String>) -> Expr {
        let var = &self.cx.raised.module.globals[global];
        let name = self.cx.raised.module.names.get(var.name).replace('.', "_");
        let parts: Vec<Expr> = parts
            .iter()
            .map(|part| {
                let part = self.dotted(part);
                match &convert {
                    Some(ty) => self.call(ty, &[part]),
                    None => part,
                }
            })
            .collect();
        let value = match (self.cx.types.kind(var.ty), &parts[..]) {
            (TypeKind::Scalar(_), [only]) => *only,
            (TypeKind::Vector { .. }, [only]) => *only,
            (TypeKind::Vector { .. } | TypeKind::Matrix { .. }, _) => self.construct(var.ty, &parts),
            (TypeKind::Scalar(_), _) => parts[0],
            _ => self.init(var.ty, &parts),
        };
        if self.is_simple(value) {
            return value;
        }
        let ty = self.cx.value_type(var.ty);
        let variable = self.var(&name, ty, VarKind::Value);
        self.out.push(Stmt::Declare(variable, Some(value)));
        self.var_expr(variable)
    }

    /// Leaves the function.
    pub(super) fn leave(&mut self, value: Option<Value>) {
        if self.func != self.cx.raised.entry.func {
            let value = value.map(|v| self.value(v));
            self.flush(super::effects::ALL, true);
            self.out.push(Stmt::Return(value));
            return;
        }
        self.flush(super::effects::ALL, true);
        let outputs = self.cx.raised.entry.outputs.clone();
        for global in outputs {
            let Some(Form::Parts { parts, convert }) = self.io.as_ref().and_then(|io| io.forms[global].clone()) else {
                continue;
            };
            self.scatter(global, &parts, convert);
        }
        let has_output = self.io.as_ref().is_some_and(|io| io.output.is_some());
        let value = has_output.then(|| self.text("out"));
        self.out.push(Stmt::Return(value));
    }

    /// Writes a stage output that is a local variable to its fields.
    fn scatter(&mut self, global: Global, parts: &[String], convert: Option<String>) {
        let Some(&local) = self.globals.get(&global) else { return };
        let ty = self.cx.raised.module.globals[global].ty;
        for (i, part) in parts.iter().enumerate() {
            let mut value = match self.cx.types.kind(ty) {
                TypeKind::Scalar(_) => local,
                TypeKind::Vector { .. } if parts.len() == 1 => local,
                _ => self.leaf(local, ty, i as u32),
            };
            if let Some(ty) = &convert {
                value = self.call(ty, &[value]);
            }
            for place in part.split(" = ") {
                let place = self.place_text(place);
                self.out.push(Stmt::Assign(place, value));
            }
        }
    }

    /// Leaf `index` of a value, in the order of the fields it is written to.
    fn leaf(&mut self, value: Expr, ty: oneshader_ir::Type, index: u32) -> Expr {
        match self.cx.types.kind(ty) {
            TypeKind::Vector { .. } => self.swizzle(value, &[index as u8]),
            TypeKind::Array { elem, .. } => {
                let inner = leaves(&self.cx.types, elem);
                let at = self.number(i64::from(index / inner));
                let part = self.index(value, at);
                match self.cx.types.kind(elem) {
                    TypeKind::Array { .. } | TypeKind::Matrix { .. } => self.leaf(part, elem, index % inner),
                    _ => part,
                }
            }
            _ => {
                let at = self.number(i64::from(index));
                self.index(value, at)
            }
        }
    }

    /// `out.clip_distance[2]` as an expression.
    fn place_text(&mut self, text: &str) -> Expr {
        match text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
            Some((object, index)) => {
                let object = self.dotted(object);
                let index = self.text(index);
                self.index(object, index)
            }
            None => self.dotted(text),
        }
    }

    /// The end of the body: a last `return;` says nothing.
    pub(super) fn epilogue(&mut self) {
        if let Some(Stmt::Return(None)) = self.out.last() {
            self.out.pop();
        }
    }
}

/// The sizes of the arrays of resources that a parameter's type is, the outermost first; without that of an array that has
/// none.
pub(crate) fn array_sizes(types: &oneshader_ir::Types, ty: oneshader_ir::Type) -> Vec<u32> {
    let mut ty = types.behind(ty);
    let mut sizes = Vec::new();
    if let TypeKind::RuntimeArray { elem } = types.kind(ty) {
        ty = elem;
    }
    while let TypeKind::Array { elem, len } = types.kind(ty) {
        sizes.push(len);
        ty = elem;
    }
    sizes
}

/// `array<element, n>`, where arrays of arrays are one array: what Metal takes as an argument. The element itself when
/// there are no sizes.
pub(crate) fn array_of(element: String, sizes: &[u32]) -> String {
    match sizes {
        [] => element,
        _ => format!("array<{element}, {}>", sizes.iter().fold(1u32, |n, &s| n.saturating_mul(s))),
    }
}

fn leaves(types: &oneshader_ir::Types, ty: oneshader_ir::Type) -> u32 {
    match types.kind(ty) {
        TypeKind::Array { elem, len } => leaves(types, elem).saturating_mul(len),
        TypeKind::Matrix { rows, .. } => u32::from(rows),
        _ => 1,
    }
}

/// A block is passed by reference, everything else by value.
fn by_reference(resource: ResourceType, spelled: String) -> String {
    match resource {
        ResourceType::ConstantBuffer { .. } | ResourceType::TextureBuffer { .. } => {
            format!("{}&", spelled.trim_end_matches('*'))
        }
        _ => spelled,
    }
}
