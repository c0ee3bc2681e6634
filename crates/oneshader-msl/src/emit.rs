//! One entry point to one text.

use crate::lower::table::is_table_global;
use crate::lower::{Cx, array_of, array_sizes, facts, lower_function};
use crate::options::{MslBinding, MslOptions};
use crate::print;
use crate::raise::memory::Memory;
use crate::raise::{self, lift};
use oneshader_diag::{DiagnosticBag, SourceMap, Span, codes};
use oneshader_ir::layout::resource_type;
use oneshader_ir::{DescriptorHeap, Global, GlobalKind, IrModule, Layouts, Slots, TypeKind};
use std::fmt::Write;

/// What is computed once for a module and read by every backend.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// The layouts of everything behind the module's resources, by the rules of [`MslOptions::layout`].
    pub layouts: &'a Layouts,
    /// The slots of every resource, by [`MslOptions::slots`].
    pub slots: &'a Slots,
}

/// What emitting an entry point gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MslOutput {
    /// The text.
    pub source: String,
    /// Name of the entry point's function in the text.
    pub function: String,
    /// With [`MslBinding::ArgumentStruct`]: the members of the structure at buffer 0, in order, as (HLSL name, offset in
    /// bytes, size in bytes). Hidden members have the names of the text (`name_counter`, `buffer_sizes`).
    pub arguments: Vec<(String, u32, u32)>,
}

/// Writes `entry_point` of `module` and everything it reaches as one Metal source.
///
/// The same module and options always give the same text. Constructs that Metal lacks are reported as OSH51xx errors, and
/// then there is no text.
pub fn emit(
    module: &IrModule,
    tables: Option<Tables>,
    entry_point: &str,
    options: &MslOptions,
    bag: &mut DiagnosticBag,
) -> Option<MslOutput> {
    let Some(entry) = module.entry_point(entry_point) else {
        bag.report(codes::MSL_NO_ENTRY_POINT, Span::NONE, format!("no entry point is called `{entry_point}`"));
        return None;
    };
    // Errors of others must not hide that there are none of ours.
    let mut own = DiagnosticBag::new();
    let output = emit_entry(module, tables, entry, options, &mut own);
    let failed = own.has_errors();
    bag.append(own);
    if failed { None } else { output }
}

fn emit_entry(
    module: &IrModule,
    tables: Option<Tables>,
    entry: &oneshader_ir::EntryPoint,
    options: &MslOptions,
    bag: &mut DiagnosticBag,
) -> Option<MslOutput> {
    let raised = raise::raise(module, entry, options, tables.map(|t| t.slots), bag)?;
    let mut cx = Cx::new(&raised, options, tables.map(|t| t.layouts), bag);
    let arguments = match options.binding {
        MslBinding::Direct => Arguments::default(),
        MslBinding::ArgumentStruct => argument_struct(&mut cx),
    };
    cx.has_arguments = !arguments.fields.is_empty();
    // Each is spelled as soon as it is there: trees take much room.
    let mut functions = Functions::default();
    for (i, &func) in raised.order.iter().enumerate() {
        if i > 0 {
            functions.text.push('\n');
        }
        functions.last = functions.text.len();
        if let Some(function) = lower_function(&mut cx, func) {
            print::function(&mut functions.text, &cx.names, &function);
        }
        cx.facts[func] = facts(&raised.module, &raised.module.functions[func], &cx.facts);
    }
    if cx.bag.has_errors() {
        return None;
    }
    let source = file(&mut cx, &arguments, &functions);
    let function = crate::names::entry_function_name(module.names.get(entry.name));
    Some(MslOutput { source, function, arguments: arguments.members })
}

/// The text of all functions.
#[derive(Default)]
struct Functions {
    text: String,
    /// Where the entry point's begins.
    last: usize,
}

/// The argument structure.
#[derive(Default)]
struct Arguments {
    fields: Vec<String>,
    members: Vec<(String, u32, u32)>,
}

/// The member of the argument structure that is resource `global`.
pub(crate) fn argument_name(module: &IrModule, global: Global) -> String {
    crate::names::member(module.names.get(module.globals[global].name).trim_start_matches('$'))
}

/// Every resource of the file, eight bytes each, so that all entry points share one structure; those that this entry point
/// does not use are placeholders.
fn argument_struct(cx: &mut Cx) -> Arguments {
    let raised = cx.raised;
    let module = &raised.module;
    let entry = raised.entry.func;
    let mut out = Arguments::default();
    let mut at = 0;
    let mut push = |out: &mut Arguments, hlsl: &str, ty: &str, name: &str, sizes: &[u32]| {
        let size = sizes.iter().fold(8u32, |n, &s| n.saturating_mul(s));
        out.fields.push(format!("{} {name};", array_of(ty.to_owned(), sizes)));
        out.members.push((hlsl.to_owned(), at, size));
        at += size;
    };
    let mut counters = Vec::new();
    for (global, var) in module.globals.iter() {
        let GlobalKind::Resource(info) = &var.kind else { continue };
        let Some(resource) = resource_type(&module.types, var.ty) else { continue };
        if is_table_global(module, global) {
            if DescriptorHeap::of(module, global).is_none() && first_view(cx, global) == global {
                let ty = table_type(cx, global);
                push(&mut out, module.names.get(var.name), &ty, &table_member(cx, global), &[]);
            }
            continue;
        }
        let sizes = array_sizes(&module.types, var.ty);
        let index = raised.lifted.items[entry].iter().position(|&i| i == lift::Item::Global(global));
        let ty = match index {
            Some(index) => cx.handle_type(resource, raised.classes.class(entry, index), info.push_constant),
            None => "ulong".to_owned(),
        };
        let name = argument_name(module, global);
        push(&mut out, module.names.get(var.name), &ty, &name, &sizes);
        if raised.slots.of(global).msl_counter.is_some() {
            let used = index.is_some();
            counters.push((format!("{name}_counter"), used, sizes));
        }
    }
    for (name, used, sizes) in counters {
        push(&mut out, &name, if used { "device atomic_uint*" } else { "ulong" }, &name, &sizes);
    }
    if cx.options.buffer_sizes {
        push(&mut out, "buffer_sizes", "constant uint*", "buffer_sizes", &[]);
    }
    // Both heaps have members once one is read, so that entry points that read different ones share the structure.
    let heaps = DescriptorHeap::ALL.map(|h| module.globals.keys().find(|&g| DescriptorHeap::of(module, g) == Some(h)));
    if heaps.iter().any(Option::is_some) {
        for (heap, global) in DescriptorHeap::ALL.into_iter().zip(heaps) {
            let ty = global.map_or_else(|| "ulong".to_owned(), |global| table_type(cx, global));
            push(&mut out, heap.name(), &ty, heap.name(), &[]);
        }
    }
    out
}

/// The type of the member that is the table of `global`: a placeholder when the entry point reads no view of it.
fn table_type(cx: &mut Cx, global: Global) -> String {
    match cx.table_views(global).is_empty() {
        true => "ulong".to_owned(),
        false => cx.table_argument_type(global),
    }
}

/// The first view of the table of `global` in the file.
fn first_view(cx: &Cx, global: Global) -> Global {
    let slot = cx.raised.slots.of(global).msl;
    slot.and_then(|slot| cx.tables.get(&slot.index)).map_or(global, |table| table.first)
}

/// The member of the argument structure that is the table of `global`.
pub(crate) fn table_member(cx: &Cx, global: Global) -> String {
    argument_name(&cx.raised.module, first_view(cx, global))
}

fn file(cx: &mut Cx, arguments: &Arguments, functions: &Functions) -> String {
    // What initial values of constants need is declared too.
    let constants = constants(cx);
    let specs = specs(cx);
    let mut out = String::from("#include <metal_stdlib>\n");
    if cx.raytracing {
        out.push_str("#include <metal_raytracing>\n");
    }
    out.push_str("\nusing namespace metal;\n\n");
    cx.runtime.write(&mut out);
    let value_structs = cx.value_structs.clone();
    for id in value_structs {
        let ty = cx.types.intern(TypeKind::Struct(id));
        let name = cx.value_type(ty);
        let _ = writeln!(out, "struct {} {{", cx.names.get(name));
        for index in 0..cx.types.structs[id].members.len() {
            let member_ty = cx.types.structs[id].members[index].ty;
            let spelled = cx.value_type(member_ty);
            let member = cx.member_name(id, index);
            let _ = writeln!(out, "    {} {};", cx.names.get(spelled), cx.names.get(member));
        }
        out.push_str("};\n\n");
    }
    for item in &cx.memory.structs {
        Memory::declare(item, &mut out);
        out.push('\n');
    }
    cx.memory.asserts(&mut out);
    if !arguments.fields.is_empty() {
        out.push_str("struct Arguments {\n");
        arguments.fields.iter().for_each(|f| {
            let _ = writeln!(out, "    {f}");
        });
        out.push_str("};\n\n");
    }
    out.push_str(&specs);
    out.push_str(&constants);
    for transfer in &cx.transfers {
        print::function(&mut out, &cx.names, &transfer.function);
        out.push('\n');
    }
    let (helpers, entry) = functions.text.split_at(functions.last);
    out.push_str(helpers);
    out.push_str(&cx.io_structs);
    out.push_str(entry);
    out
}

/// `static const` variables at file scope.
fn constants(cx: &mut Cx) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < cx.constants.len() {
        let global = cx.constants[at];
        at += 1;
        let var = &cx.raised.module.globals[global];
        let Some(init) = var.init else { continue };
        let ty = cx.value_type(var.ty);
        let value = crate::lower::constant_text(cx, init);
        let name = cx.constant_names[global];
        let name = name.map_or("", |n| cx.names.get(n));
        let ty = cx.names.get(ty);
        let value = value.strip_prefix(ty).filter(|v| v.starts_with('{')).unwrap_or(&value);
        let _ = writeln!(out, "constant {ty} {name} = {value};");
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Specialization constants that the entry point reads.
fn specs(cx: &mut Cx) -> String {
    let mut out = String::new();
    for spec in cx.specs.clone() {
        let data = &cx.raised.module.specs[spec];
        let ty = cx.value_type(data.ty);
        let ty = cx.names.get(ty).to_owned();
        let default = crate::lower::constant_text(cx, data.default);
        let name = cx.spec_names[spec].map_or("", |n| cx.names.get(n));
        let _ = writeln!(out, "constant {ty} {name} [[function_constant({})]];", data.id);
        let _ =
            writeln!(out, "constant {ty} {name}_value = is_function_constant_defined({name}) ? {name} : {default};");
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// File name and line of a span, as `#line` takes them.
pub(crate) fn line_of(map: &SourceMap, span: Span) -> Option<(String, u32)> {
    let (name, at) = map.locate(span)?;
    Some((name.replace(['\\', '"'], "/"), at.line))
}
