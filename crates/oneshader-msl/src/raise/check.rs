//! What Metal cannot say at all, found before anything is changed; and the words for errors of the tables.

use crate::options::{MslOptions, MslVersion};
use oneshader_diag::{Diagnostic, DiagnosticBag, Span, codes};
use oneshader_ir::ray_query;
use oneshader_ir::slots::SlotOwner;
use oneshader_ir::{
    DescriptorHeap, EntryPoint, Func, Global, GlobalKind, Inline, InlineOperand, Intrinsic, IrModule, LayoutError, Op,
    ResourceType, Scalar, SlotError, Stage, Type, TypeKind, ValueDef,
};
use rustc_hash::FxHashSet;

pub(crate) fn run(
    module: &IrModule,
    entry: &EntryPoint,
    order: &[Func],
    options: &MslOptions,
    bag: &mut DiagnosticBag,
) {
    let mut check = Check { module, entry, options, bag, double: false, globals: FxHashSet::default() };
    check.modes();
    for &func in order {
        check.function(func);
    }
}

/// Execution modes that only permit a faster way: DepthUnchanged, and early beside late tests with what is known of the
/// stencil reference (SPIR-V specification 3.6).
const PERMISSIONS: &[u32] = &[16, 5017, 5079, 5080, 5081, 5082, 5083, 5084];

struct Check<'a> {
    module: &'a IrModule,
    entry: &'a EntryPoint,
    options: &'a MslOptions,
    bag: &'a mut DiagnosticBag,
    /// Whether `double` has been reported: once is enough.
    double: bool,
    globals: FxHashSet<Global>,
}

impl Check<'_> {
    fn function(&mut self, func: Func) {
        let function = &self.module.functions[func];
        for param in &function.params {
            self.value_type(param.ty, function.span);
        }
        for (_, _, data) in function.live_insts() {
            self.value_type(data.ty, data.span);
            for &arg in &data.args {
                self.value_type(function.ty(arg), data.span);
                if let ValueDef::Global(global) = function.values[arg].def {
                    self.global(global);
                }
            }
            match data.op {
                Op::Intrinsic(which) => self.intrinsic(which, data.span),
                Op::Spirv(id) => self.spirv(id, data.span),
                Op::AddressPtr { .. } if self.options.version < MslVersion::V3_0 => {
                    let message = "memory is reached by its address from Metal 3.0 on (-msl-version 3.0)";
                    self.bag.report(codes::MSL_UNSUPPORTED_RESOURCE, data.span, message);
                }
                _ => {}
            }
        }
    }

    /// Types of values: `double` cannot be one.
    fn value_type(&mut self, ty: Type, span: Span) {
        let types = &self.module.types;
        if types.scalar_of(ty) == Some(Scalar::F64) && !std::mem::replace(&mut self.double, true) {
            self.bag.report(codes::MSL_UNSUPPORTED_TYPE, span, "Metal has no `double`");
        }
        if let TypeKind::Spirv(id) = types.kind(ty) {
            let number = self.module.inlines.get(id).map_or(0, |inline| inline.opcode);
            self.bag.report(codes::MSL_SPIRV, span, format!("Metal has no counterpart to SPIR-V's type {number}"));
        }
        let TypeKind::Resource(resource) = types.kind(ty) else { return };
        match resource {
            ResourceType::SubpassInput { .. } => {
                let message = "the Metal backend has no subpass inputs";
                self.bag.report(codes::MSL_UNSUPPORTED_RESOURCE, span, message);
            }
            ResourceType::Texture(texture) if texture.texel.bits() == 64 => {
                let message = "the texels of a Metal texture have up to 32 bits in a component";
                self.bag.report(codes::MSL_UNSUPPORTED_TYPE, span, message);
            }
            _ => {}
        }
    }

    fn global(&mut self, global: Global) {
        if !self.globals.insert(global) {
            return;
        }
        let var = &self.module.globals[global];
        let mut ty = var.ty;
        loop {
            match self.module.types.kind(ty) {
                TypeKind::Array { elem, .. } => ty = elem,
                TypeKind::RuntimeArray { elem } => {
                    if self.options.version < MslVersion::V3_0 {
                        return self.no_tables(global);
                    }
                    let ordered = matches!(&var.kind, GlobalKind::Resource(r) if r.rasterizer_ordered);
                    if ordered && self.entry.stage == Stage::Pixel {
                        let message = "Metal has no order of fragments for the entries of an array without size";
                        self.bag.report(codes::MSL_UNSUPPORTED_RESOURCE, var.span, message);
                    }
                    ty = elem;
                }
                _ => break,
            }
        }
        self.value_type(ty, var.span);
    }

    /// Handles in the memory of a buffer came with Metal 3.
    fn no_tables(&mut self, global: Global) {
        let var = &self.module.globals[global];
        let name = self.module.names.get(var.name);
        let what = match DescriptorHeap::of(self.module, global) {
            Some(_) => "is a descriptor heap",
            None => "is an array of resources without a size",
        };
        let message = format!("`{name}` {what}, which needs Metal 3.0 (-msl-version 3.0)");
        let help = "compile for Metal 3.0 or newer, which reads handles from buffers, or give the array a size";
        self.bag.push(Diagnostic::new(codes::MSL_UNBOUNDED_ARRAY, var.span, message).help(help));
    }

    /// Execution modes that attributes state.
    fn modes(&mut self) {
        for mode in self.entry.spirv_modes.iter().filter(|mode| !PERMISSIONS.contains(mode)) {
            let message = format!("Metal has no counterpart to SPIR-V's execution mode {mode}");
            self.bag.report(codes::MSL_SPIRV, self.entry.span, message);
        }
    }

    /// Instructions of SPIR-V: what only asks for capabilities and what only permits a faster way needs no counterpart.
    fn spirv(&mut self, id: Inline, span: Span) {
        /// `OpNop`, `OpExecutionMode`, `OpDecorate` (SPIR-V specification 3.3).
        const NOP: u32 = 0;
        const EXECUTION_MODE: u32 = 16;
        const DECORATE: u32 = 71;
        /// RelaxedPrecision, Restrict, Aliased.
        const PLAIN_DECORATIONS: &[u32] = &[0, 19, 20];
        let Some(inline) = self.module.inlines.get(id) else { return };
        let first = inline.operands.iter().find_map(|operand| match operand {
            InlineOperand::Literal(words) => words.first().copied(),
            _ => None,
        });
        let among = |list: &[u32]| first.is_some_and(|number| list.contains(&number));
        let what = match (inline.set, inline.opcode) {
            (None, NOP) => return,
            (None, EXECUTION_MODE) if among(PERMISSIONS) => return,
            (None, DECORATE) if among(PLAIN_DECORATIONS) => return,
            (None, EXECUTION_MODE) => format!("execution mode {}", first.unwrap_or(0)),
            (None, DECORATE) => format!("decoration {}", first.unwrap_or(0)),
            (None, opcode) => format!("instruction {opcode}"),
            (Some(set), number) => format!("instruction {number} of {}", self.module.names.get(set)),
        };
        self.bag.report(codes::MSL_SPIRV, span, format!("Metal has no counterpart to SPIR-V's {what}"));
    }

    fn intrinsic(&mut self, which: Intrinsic, span: Span) {
        if let Some(method) = ray_query::of_intrinsic(which)
            // Flags are kept beside the query.
            && method.metal.is_none()
            && which != Intrinsic::RayFlags
        {
            let message = format!("Metal's intersection query has no `{}`", method.name);
            self.bag.report(codes::MSL_RAY_QUERY, span, message);
        }
        let lane = matches!(which, Intrinsic::WaveLaneIndex | Intrinsic::WaveLaneCount)
            || (self.options.emulate_wave_match && super::waves::is_multi_prefix(which));
        if lane && self.entry.stage == Stage::Vertex {
            let message = "Metal has no lane index and lane count in vertex functions";
            self.bag.report(codes::MSL_WAVE_INTRINSIC, span, message);
        }
    }
}

fn owner(module: &IrModule, owner: SlotOwner) -> (String, Span) {
    let name = |global: Global| module.names.get(module.globals[global].name).to_owned();
    match owner {
        SlotOwner::Resource(global) => (format!("`{}`", name(global)), module.globals[global].span),
        SlotOwner::Counter(global) => (format!("the counter of `{}`", name(global)), module.globals[global].span),
        SlotOwner::Sizes => ("the sizes of buffers".to_owned(), Span::NONE),
    }
}

/// Reports why slots cannot be chosen, as far as it matters to Metal.
pub(crate) fn report_slot_error(module: &IrModule, error: &SlotError, bag: &mut DiagnosticBag) {
    match error {
        SlotError::Overlap { first, second, slot } if slot.starts_with("[[") => {
            let ((first, first_span), (second, span)) = (owner(module, *first), owner(module, *second));
            let message = format!("{second} is bound to {slot}, which {first} has");
            bag.push(Diagnostic::new(codes::MSL_BINDING, span, message).label(first_span, "bound there first"));
        }
        SlotError::OutOfRange(global) => {
            let var = &module.globals[*global];
            let message = format!("the Metal index of `{}` is out of range", module.names.get(var.name));
            bag.report(codes::MSL_BINDING, var.span, message);
        }
        // Vulkan's affair.
        SlotError::Overlap { .. }
        | SlotError::NoBindRegister(_)
        | SlotError::NoBindGlobals(_)
        | SlotError::Unpaired(..) => {}
    }
}

/// Reports why a type has no layout.
pub(crate) fn report_layout_error(module: &IrModule, error: &LayoutError, bag: &mut DiagnosticBag) {
    let member = |ty: Type, index: u32| match module.types.kind(ty) {
        TypeKind::Struct(id) => {
            module.types.structs[id].members.get(index as usize).map_or("", |m| module.names.get(m.name)).to_owned()
        }
        _ => String::new(),
    };
    let (span, message) = match *error {
        LayoutError::Overlap { ty, first, second, span } => {
            (span, format!("`{}` overlaps `{}`", member(ty, second), member(ty, first)))
        }
        LayoutError::Misaligned { ty, member: index, align, span } => {
            (span, format!("the offset of `{}` is no multiple of {align}", member(ty, index)))
        }
        LayoutError::TooLarge(_) => (Span::NONE, "a buffer's type takes 2 GiB or more".to_owned()),
        LayoutError::NotData(_) => (Span::NONE, "a buffer's type holds what cannot lie in memory".to_owned()),
    };
    bag.report(codes::MSL_LAYOUT, span, message);
}
