//! Errors of layouts and slots as diagnostics; the table of layouts.

use oneshader_diag::{Code, Diagnostic, DiagnosticBag, Span, codes};
use oneshader_ir::layout::{self, LayoutError, LayoutOptions, Layouts};
use oneshader_ir::slots::{SlotError, SlotOwner};
use oneshader_ir::{Global, GlobalKind, IrModule, Type, TypeKind};

use crate::options::CompileTarget;

/// The codes of layout and slot errors of a target.
fn error_codes(target: CompileTarget) -> (Code, Code) {
    match target {
        CompileTarget::Msl => (codes::MSL_LAYOUT, codes::MSL_BINDING),
        CompileTarget::Spirv => (codes::SPIRV_LAYOUT, codes::SPIRV_BINDING),
    }
}

/// Reports why a type has no layout.
pub fn layout_error(module: &IrModule, error: &LayoutError, target: CompileTarget, bag: &mut DiagnosticBag) {
    let member = |ty: Type, index: u32| {
        let members = match module.types.kind(ty) {
            TypeKind::Struct(id) => &module.types.structs[id].members[..],
            _ => &[],
        };
        members.get(index as usize).map_or(("?", Span::NONE), |m| (module.names.get(m.name), m.span))
    };
    let code = error_codes(target).0;
    bag.push(match *error {
        LayoutError::Overlap { ty, first, second, span } => {
            let ((first, first_span), (second, _)) = (member(ty, first), member(ty, second));
            Diagnostic::new(code, span, format!("`{second}` takes bytes of `{first}`"))
                .label(first_span, format!("`{first}` is placed here"))
                .help("give every member bytes of its own, or leave the placing to the compiler")
        }
        LayoutError::Misaligned { ty, member: index, align, span } => {
            let (name, _) = member(ty, index);
            Diagnostic::new(code, span, format!("the offset of `{name}` must be a multiple of {align} bytes"))
        }
        LayoutError::TooLarge(ty) => {
            let name = type_name(module, ty);
            Diagnostic::new(code, type_span(module, ty), format!("{name} is too large for a buffer"))
        }
        LayoutError::NotData(ty) => {
            let name = type_name(module, ty);
            Diagnostic::new(code, type_span(module, ty), format!("{name} cannot lie in a buffer"))
        }
    });
}

fn type_name(module: &IrModule, ty: Type) -> String {
    match module.types.kind(ty) {
        TypeKind::Struct(id) => format!("`{}`", module.names.get(module.types.structs[id].name)),
        _ => "the type".into(),
    }
}

/// The first member of a structure, as the nearest place there is.
fn type_span(module: &IrModule, ty: Type) -> Span {
    match module.types.kind(ty) {
        TypeKind::Struct(id) => module.types.structs[id].members.first().map_or(Span::NONE, |m| m.span),
        _ => Span::NONE,
    }
}

/// Reports why slots cannot be chosen.
pub fn slot_error(module: &IrModule, error: &SlotError, target: CompileTarget, bag: &mut DiagnosticBag) {
    let name = |global: Global| module.names.get(module.globals[global].name);
    let span = |global: Global| module.globals[global].span;
    let owner = |owner: SlotOwner| match owner {
        SlotOwner::Resource(global) => (format!("`{}`", name(global)), span(global)),
        SlotOwner::Counter(global) => (format!("the counter of `{}`", name(global)), span(global)),
        SlotOwner::Sizes => ("the hidden buffer of sizes".into(), Span::NONE),
    };
    let code = error_codes(target).1;
    bag.push(match error {
        SlotError::Overlap { first, second, slot } => {
            let ((first, first_span), (second, second_span)) = (owner(*first), owner(*second));
            Diagnostic::new(code, second_span, format!("{first} and {second} are both bound to {slot}"))
                .label(first_span, format!("{first} is declared here"))
                .help("change one of the two in the binding map or the -fvk options")
        }
        SlotError::NoBindRegister(global) => {
            let message = format!("no -fvk-bind-register names the register of `{}`", name(*global));
            Diagnostic::new(code, span(*global), message).help("with -fvk-bind-register every resource needs one")
        }
        SlotError::NoBindGlobals(global) => {
            Diagnostic::new(code, span(*global), "loose uniforms need -fvk-bind-globals beside -fvk-bind-register")
        }
        // The halves have slots of their own on Metal.
        SlotError::Unpaired(..) if target != CompileTarget::Spirv => return,
        SlotError::Unpaired(global, slot) => {
            let (set, binding) = (slot.set, slot.binding);
            let message = format!("`{}` is combined, but with nothing: set {set}, binding {binding}", name(*global));
            Diagnostic::new(code, span(*global), message)
                .help("give a texture and a sampler, both with [[vk::combinedImageSampler]], one set and binding")
        }
        SlotError::OutOfRange(global) => {
            Diagnostic::new(code, span(*global), format!("the binding of `{}` is beyond 32 bits", name(*global)))
        }
    });
}

/// Offset, size and padding of every field of every buffer, in order of declaration.
pub fn layout_table(module: &IrModule, layouts: &Layouts, options: &LayoutOptions) -> String {
    let mut text = String::new();
    for (_, var) in &module.globals {
        let GlobalKind::Resource(resource) = &var.kind else { continue };
        let Some(rule) = layout::resource_type(&module.types, var.ty)
            .and_then(|kind| options.rule_for(kind, resource.push_constant))
        else {
            continue;
        };
        let (ty, rule, order) = rule;
        if let Some(id) = layouts.find(&module.types, ty, rule, order) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&layout::render(module, layouts, module.names.get(var.name), id));
        }
    }
    text
}
