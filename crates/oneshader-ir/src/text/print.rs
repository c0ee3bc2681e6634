//! The printer. It never fails, also on a module that the verifier rejects.

use super::number::Numbering;
use super::spell::{self, FLAGS, PROPERTIES, TEXTURE_OPERANDS};
use crate::consts::ConstData;
use crate::entity::{Const, Func, Name, Type, Value};
use crate::func::{BlockData, Function, Hint, Merge, Terminator, TerminatorKind, ValueDef};
use crate::inst::{InstData, Op, TextureOp};
use crate::module::{
    BuiltIn, EntryPoint, GlobalKind, GlobalVar, InlineOperand, InlineSpirv, Interpolation, IoVar, IrModule,
    ResourceVar, Sampling,
};
use crate::types::{Access, CounterKind, MatrixOrder, ResourceType, Scalar, TypeKind, Types};
use half::f16;
use oneshader_diag::Span;
use std::fmt::{self, Write};

/// What to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrintOptions {
    /// Places in the source.
    pub spans: bool,
}

/// The text of a module, without places.
pub fn print(module: &IrModule) -> String {
    print_with(module, PrintOptions::default())
}

/// The text of a module.
pub fn print_with(module: &IrModule, options: PrintOptions) -> String {
    let mut p = Printer { m: module, options, out: String::new() };
    p.module();
    p.out
}

/// The text of one function, without places.
pub fn print_function(module: &IrModule, func: Func) -> String {
    let mut p = Printer { m: module, options: PrintOptions::default(), out: String::new() };
    if let Some(data) = module.functions.get(func) {
        p.function(func, data);
    }
    p.out
}

impl fmt::Display for IrModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

struct Printer<'m> {
    m: &'m IrModule,
    options: PrintOptions,
    out: String,
}

/// Writes to the printer's string, which cannot fail.
macro_rules! put {
    ($p:expr, $($arg:tt)*) => { { let _ = write!($p.out, $($arg)*); } };
}

impl Printer<'_> {
    fn module(&mut self) {
        put!(self, "module");
        for (property, name) in PROPERTIES {
            if self.m.properties.contains(property) {
                put!(self, " {name}");
            }
        }
        put!(self, "\n");
        for (id, data) in self.m.types.structs.iter() {
            put!(self, "struct {id} {} {{\n", self.name(data.name));
            for member in &data.members {
                put!(self, "  {}: {}", self.name(member.name), self.ty(member.ty));
                if member.order == MatrixOrder::RowMajor {
                    put!(self, " row");
                }
                if let Some(offset) = member.offset {
                    put!(self, " at {offset}");
                }
                self.end(member.span);
            }
            put!(self, "}}\n");
        }
        for (id, spec) in self.m.specs.iter() {
            put!(self, "{id} {} id {} = {}", self.name(spec.name), spec.id, self.constant(spec.default));
            self.end(spec.span);
        }
        for (id, inline) in self.m.inlines.iter() {
            put!(self, "inline {id} ");
            self.inline(inline);
        }
        for (id, var) in self.m.globals.iter() {
            put!(self, "global {id} {}: ", self.name(var.name));
            self.global(var);
        }
        for (id, func) in self.m.functions.iter() {
            self.function(id, func);
        }
        for entry in &self.m.entry_points {
            self.entry(entry);
        }
    }

    fn inline(&mut self, inline: &InlineSpirv) {
        put!(self, "{}", inline.opcode);
        if let Some(set) = inline.set {
            put!(self, " set({})", self.name(set));
        }
        let list = |items: Vec<String>| items.join(", ");
        if !inline.capabilities.is_empty() {
            put!(self, " capabilities({})", list(inline.capabilities.iter().map(u32::to_string).collect()));
        }
        if !inline.extensions.is_empty() {
            put!(self, " extensions({})", list(inline.extensions.iter().map(|&e| self.name(e)).collect()));
        }
        let operands = inline.operands.iter().map(|operand| match operand {
            InlineOperand::Id => "id".to_owned(),
            &InlineOperand::Type(ty) => format!("type {}", self.ty(ty)),
            &InlineOperand::Const(c) => format!("const {}", self.constant(c)),
            InlineOperand::Literal(words) => format!("[{}]", list(words.iter().map(u32::to_string).collect())),
        });
        put!(self, " operands({})\n", list(operands.collect()));
    }

    fn name(&self, name: Name) -> String {
        quote(self.m.names.get(name))
    }

    fn ty(&self, ty: Type) -> String {
        type_text(&self.m.types, ty)
    }

    /// The place, when places are asked for, and the end of the line.
    fn end(&mut self, span: Span) {
        self.span(span);
        put!(self, "\n");
    }

    fn span(&mut self, span: Span) {
        if self.options.spans && !span.is_none() {
            put!(self, " !{}:{}..{}", span.file.0, span.lo, span.hi);
        }
    }

    fn constant(&self, c: Const) -> String {
        format!("{} {}", self.ty(self.m.consts.ty(c)), self.literal(c))
    }

    fn literal(&self, c: Const) -> String {
        match self.m.consts.data(c) {
            ConstData::Bool(b) => b.to_string(),
            ConstData::Int(bits) => match self.m.types.kind(self.m.consts.ty(c)) {
                TypeKind::Scalar(s) => crate::eval::scalar::to_i128(s, *bits).to_string(),
                _ => format!("{bits:#x}"),
            },
            ConstData::Float(bits) => match self.m.types.kind(self.m.consts.ty(c)) {
                TypeKind::Scalar(s) => float_text(s, *bits),
                _ => format!("{bits:#x}"),
            },
            ConstData::Composite(parts) => {
                let parts: Vec<String> = parts.iter().map(|&p| self.literal(p)).collect();
                format!("[{}]", parts.join(", "))
            }
            ConstData::Zero => "zero".into(),
            ConstData::Undef => "undef".into(),
            ConstData::Spec(id) => id.to_string(),
        }
    }

    fn global(&mut self, var: &GlobalVar) {
        put!(self, "{} {}", spell::address_space_name(var.space), self.ty(var.ty));
        if let Some(init) = var.init {
            put!(self, " = {}", self.constant(init));
        }
        if var.readonly {
            put!(self, " readonly");
        }
        match &var.kind {
            GlobalKind::Variable => {}
            GlobalKind::Resource(resource) => self.resource(resource),
            GlobalKind::Io(io) => self.io(io),
        }
        self.end(var.span);
    }

    fn resource(&mut self, var: &ResourceVar) {
        put!(self, " resource");
        if let Some(register) = var.register {
            let class = spell::register_class_name(register.class);
            match register.index {
                Some(index) => put!(self, " register({class}, {index}, space {})", register.space),
                None => put!(self, " register({class}, space {})", register.space),
            }
        }
        if let Some((binding, set)) = var.vk_binding {
            put!(self, " vk_binding({binding}, {set})");
        }
        if let Some(binding) = var.vk_counter_binding {
            put!(self, " vk_counter_binding({binding})");
        }
        if let Some(format) = var.vk_image_format {
            put!(self, " vk_image_format({})", self.name(format));
        }
        if let Some(index) = var.vk_input_attachment {
            put!(self, " vk_input_attachment({index})");
        }
        let words = [
            (var.push_constant, "push_constant"),
            (var.coherent, "coherent"),
            (var.rasterizer_ordered, "rasterizer_ordered"),
            (var.implicit, "implicit"),
            (var.combined, "combined"),
        ];
        for (on, word) in words {
            if on {
                put!(self, " {word}");
            }
        }
        if let Some(texture) = var.sampler_of {
            put!(self, " sampler_of({texture})");
        }
    }

    fn io(&mut self, io: &IoVar) {
        put!(self, " io({}, {})", self.name(io.semantic), io.index);
        match io.builtin {
            Some(BuiltIn::Spirv(number)) => put!(self, " builtin(spirv, {number})"),
            Some(builtin) => put!(self, " builtin({})", spell::builtin_name(builtin)),
            None => {}
        }
        if let Some(location) = io.location {
            put!(self, " location({location})");
        }
        if io.blend_index != 0 {
            put!(self, " blend({})", io.blend_index);
        }
        if io.interpolation != Interpolation::default() {
            put!(self, " {}", spell::interpolation_name(io.interpolation));
        }
        if io.sampling != Sampling::default() {
            put!(self, " {}", spell::sampling_name(io.sampling));
        }
    }

    fn entry(&mut self, entry: &EntryPoint) {
        let list = |globals: &[crate::Global]| globals.iter().map(|g| g.to_string()).collect::<Vec<_>>().join(", ");
        put!(self, "entry {} {} {}", spell::stage_name(entry.stage), self.name(entry.name), entry.func);
        put!(self, " in({}) out({})", list(&entry.inputs), list(&entry.outputs));
        let [x, y, z] = entry.threads;
        put!(self, " threads({x}, {y}, {z})");
        if let Some((min, max, preferred)) = entry.wave_size {
            put!(self, " wave({min}, {max}, {preferred})");
        }
        if entry.early_depth_stencil {
            put!(self, " early");
        }
        if entry.depth != crate::DepthMode::Any {
            put!(self, " depth({})", spell::depth_mode_name(entry.depth));
        }
        if !entry.spirv_modes.is_empty() {
            let modes: Vec<String> = entry.spirv_modes.iter().map(u32::to_string).collect();
            put!(self, " modes({})", modes.join(", "));
        }
        self.end(entry.span);
    }

    fn function(&mut self, id: Func, func: &Function) {
        let numbers = Numbering::new(func);
        put!(self, "func {id} {} (", self.name(func.name));
        for (i, param) in func.params.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            put!(self, "{comma}{} {}: {}", numbers.value(param.value), self.name(param.name), self.ty(param.ty));
        }
        put!(self, ") -> {} {{", self.ty(func.ret));
        self.end(func.span);
        for (local, var) in func.locals.iter() {
            put!(self, "  local {local} {}: {}", self.name(var.name), self.ty(var.ty));
            self.end(var.span);
        }
        for &block in &func.order {
            let data = &func.blocks[block];
            put!(self, "{}", numbers.block(block));
            self.header(&numbers, data);
            for &inst in &data.insts {
                put!(self, "  ");
                self.inst(func, &numbers, &func.insts[inst]);
            }
            put!(self, "  ");
            self.terminator(func, &numbers, &data.term);
        }
        put!(self, "}}\n");
    }

    fn header(&mut self, numbers: &Numbering, data: &BlockData) {
        match data.merge {
            Merge::None => {}
            Merge::Selection(merge) => put!(self, " selection({})", numbers.block(merge)),
            Merge::Loop { merge, cont } => put!(self, " loop({}, {})", numbers.block(merge), numbers.block(cont)),
        }
        match data.hint {
            Hint::None => {}
            Hint::Branch => put!(self, " [branch]"),
            Hint::Flatten => put!(self, " [flatten]"),
            Hint::Unroll(0) => put!(self, " [unroll]"),
            Hint::Unroll(n) => put!(self, " [unroll {n}]"),
            Hint::Loop => put!(self, " [loop]"),
        }
        put!(self, ":\n");
    }

    fn operand(&self, func: &Function, numbers: &Numbering, value: Value) -> String {
        match func.values.get(value).map(|v| v.def) {
            Some(ValueDef::Const(c)) => self.constant(c),
            Some(ValueDef::Global(g)) => g.to_string(),
            Some(ValueDef::Local(l)) => l.to_string(),
            Some(ValueDef::Inst(_) | ValueDef::Param(_)) | None => numbers.value(value),
        }
    }

    fn inst(&mut self, func: &Function, numbers: &Numbering, data: &InstData) {
        if let Some(result) = data.result {
            put!(self, "{}", numbers.value(result));
            if let Some(name) = func.value_names[result] {
                put!(self, " {}", self.name(name));
            }
            put!(self, ": {} = ", self.ty(data.ty));
        }
        put!(self, "{}", spell::op_name(data.op));
        for (flag, word) in FLAGS {
            if data.flags.contains(flag) {
                put!(self, ".{word}");
            }
        }
        let args: Vec<String> = data.args.iter().map(|&a| self.operand(func, numbers, a)).collect();
        match data.op {
            Op::Call(callee) => put!(self, " {callee}({})", args.join(", ")),
            Op::Phi => {
                for (i, arg) in args.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    let pred = data.preds.get(i).map_or("block!".into(), |&b| numbers.block(b));
                    put!(self, "{comma} {pred}: {arg}");
                }
            }
            Op::Texture(op, operands) => {
                if let TextureOp::Gather { component } = op {
                    put!(self, " #{component},");
                }
                let mut rest = args.iter();
                put!(self, " {}", rest.next().map_or("", |a| a));
                for (operand, word, count) in TEXTURE_OPERANDS {
                    if operands.contains(operand) {
                        let values: Vec<&str> = rest.by_ref().take(count).map(|a| &**a).collect();
                        put!(self, ", {word} {}", values.join(" "));
                    }
                }
                // Only a module that the verifier rejects has more.
                rest.for_each(|arg| put!(self, ", {arg}"));
            }
            Op::Printf(format) => {
                put!(self, " {}", self.name(format));
                args.iter().for_each(|arg| put!(self, ", {arg}"));
            }
            Op::Spirv(inline) => {
                put!(self, " {inline}");
                args.iter().for_each(|arg| put!(self, ", {arg}"));
            }
            _ => {
                let space = if args.is_empty() { "" } else { " " };
                put!(self, "{space}{}", args.join(", "));
            }
        }
        match data.op {
            Op::Extract { index } | Op::Insert { index } => put!(self, ", #{index}"),
            Op::Swizzle(swizzle) => {
                let letters: String =
                    swizzle.comps().iter().map(|&c| char::from(b"xyzw"[usize::from(c & 3)])).collect();
                put!(self, ", #{letters}");
            }
            Op::Counter { delta } => put!(self, ", #{delta}"),
            Op::AddressPtr { align, order } => {
                put!(self, ", #{align}");
                if order == MatrixOrder::RowMajor {
                    put!(self, " rowmajor");
                }
            }
            _ => {}
        }
        self.end(data.span);
    }

    fn terminator(&mut self, func: &Function, numbers: &Numbering, term: &Terminator) {
        match &term.kind {
            TerminatorKind::Branch(to) => put!(self, "br {}", numbers.block(*to)),
            TerminatorKind::CondBranch { cond, then, els } => {
                let cond = self.operand(func, numbers, *cond);
                put!(self, "condbr {cond}, {}, {}", numbers.block(*then), numbers.block(*els));
            }
            TerminatorKind::Switch { selector, default, cases } => {
                let selector = self.operand(func, numbers, *selector);
                put!(self, "switch {selector}, {} [", numbers.block(*default));
                for (i, case) in cases.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    put!(self, "{comma}{}: {}", case.value, numbers.block(case.target));
                }
                put!(self, "]");
            }
            TerminatorKind::Return(None) => put!(self, "ret"),
            TerminatorKind::Return(Some(value)) => put!(self, "ret {}", self.operand(func, numbers, *value)),
            TerminatorKind::Unreachable => put!(self, "unreachable"),
        }
        self.end(term.span);
    }
}

/// A name in quotes.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The shortest decimal that reads back to the same bits; NaN and infinity as bits.
fn float_text(scalar: Scalar, bits: u64) -> String {
    let value = match scalar.bits() {
        16 => f64::from(f16::from_bits(bits as u16)),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    if !value.is_finite() {
        return format!("{bits:#x}");
    }
    match scalar.bits() {
        64 => format!("{value:?}"),
        // A binary16 is read as a binary32 first, which holds it exactly.
        _ => format!("{:?}", value as f32),
    }
}

/// A type in the words of the text form.
pub fn type_text(types: &Types, ty: Type) -> String {
    match types.kind(ty) {
        TypeKind::Void => "void".into(),
        TypeKind::Scalar(s) => spell::scalar_name(s).into(),
        TypeKind::Vector { elem, len } => format!("{}x{len}", spell::scalar_name(elem)),
        TypeKind::Matrix { elem, rows, cols } => format!("{}x{rows}x{cols}", spell::scalar_name(elem)),
        TypeKind::Array { elem, len } => format!("[{} x {len}]", type_text(types, elem)),
        TypeKind::RuntimeArray { elem } => format!("[{}]", type_text(types, elem)),
        TypeKind::Struct(id) => id.to_string(),
        TypeKind::Pointer { space, pointee } => {
            format!("ptr<{}, {}>", spell::address_space_name(space), type_text(types, pointee))
        }
        TypeKind::Resource(resource) => resource_text(types, resource),
        TypeKind::RayQuery => "rayquery".into(),
        TypeKind::Spirv(id) => id.to_string(),
    }
}

fn resource_text(types: &Types, resource: ResourceType) -> String {
    let rw = |access| if access == Access::ReadWrite { "rw" } else { "" };
    match resource {
        ResourceType::ConstantBuffer { block } => format!("cbuffer<{}>", type_text(types, block)),
        ResourceType::TextureBuffer { block } => format!("tbuffer<{}>", type_text(types, block)),
        ResourceType::StructuredBuffer { elem, access, counter, order } => {
            let mut more = String::new();
            if counter != CounterKind::None {
                let _ = write!(more, ", {}", spell::counter_name(counter));
            }
            if order == MatrixOrder::RowMajor {
                more.push_str(", row");
            }
            format!("{}structured<{}{more}>", rw(access), type_text(types, elem))
        }
        ResourceType::ByteAddressBuffer { access } => format!("{}bytes", rw(access)),
        ResourceType::Texture(t) => {
            let ms = if t.multisampled { "ms" } else { "" };
            let array = if t.arrayed { "array" } else { "" };
            let lanes = if t.components == 1 { String::new() } else { format!("x{}", t.components) };
            let texel = spell::scalar_name(t.texel);
            format!("{}texture_{}{ms}{array}<{texel}{lanes}>", rw(t.access), spell::dim_name(t.dim))
        }
        ResourceType::Sampler { comparison: false } => "sampler".into(),
        ResourceType::Sampler { comparison: true } => "samplercmp".into(),
        ResourceType::SubpassInput { multisampled, texel } => {
            format!("subpass{}<{}>", if multisampled { "ms" } else { "" }, spell::scalar_name(texel))
        }
        ResourceType::AccelerationStructure => "accelstruct".into(),
    }
}
