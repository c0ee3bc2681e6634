//! V030 to V032: variables, stages, entry points.

use super::Checker;
use crate::entity::{Func, Global};
use crate::func::ValueDef;
use crate::inst::Op;
use crate::intrinsic::Stages;
use crate::module::{BuiltIn, EntryPoint, GlobalKind, GlobalVar, Stage};
use crate::text::type_text;
use crate::types::{AddressSpace, TypeKind};
use cranelift_entity::EntitySet;

fn stage_flag(stage: Stage) -> Stages {
    match stage {
        Stage::Vertex => Stages::VERTEX,
        Stage::Pixel => Stages::PIXEL,
        Stage::Compute => Stages::COMPUTE,
    }
}

/// Stages that may read (input) or write (output) a system value.
fn builtin_stages(builtin: BuiltIn) -> (Stages, Stages) {
    let (v, p, c, none) = (Stages::VERTEX, Stages::PIXEL, Stages::COMPUTE, Stages::empty());
    match builtin {
        BuiltIn::Position | BuiltIn::ClipDistance | BuiltIn::CullDistance => (p, v),
        BuiltIn::VertexId | BuiltIn::InstanceId | BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::DrawIndex => {
            (v, none)
        }
        BuiltIn::PrimitiveId
        | BuiltIn::FrontFace
        | BuiltIn::SampleIndex
        | BuiltIn::CoverageIn
        | BuiltIn::InnerCoverage
        | BuiltIn::Barycentrics
        | BuiltIn::HelperInvocation => (p, none),
        BuiltIn::CoverageOut | BuiltIn::Depth | BuiltIn::StencilRef => (none, p),
        BuiltIn::Layer | BuiltIn::ViewportIndex | BuiltIn::ShadingRate => (p, v),
        BuiltIn::ViewId => (v.union(p), none),
        BuiltIn::DispatchThreadId | BuiltIn::GroupId | BuiltIn::GroupThreadId | BuiltIn::GroupIndex => (c, none),
        BuiltIn::PointSize => (p, v),
        // By number: which stages have it is known to the backend.
        BuiltIn::Spirv(_) => (v.union(p).union(c), v.union(p)),
    }
}

pub(super) fn check(cx: &mut Checker) {
    for (id, var) in cx.m.globals.iter() {
        variable(cx, id, var);
    }
    for entry in &cx.m.entry_points {
        entry_point(cx, entry);
    }
    (cx.func, cx.block, cx.inst) = (None, None, None);
}

fn variable(cx: &mut Checker, id: Global, var: &GlobalVar) {
    let data = cx.is_data(var.ty);
    let ok = match &var.kind {
        GlobalKind::Variable => match var.space {
            // A static variable may hold a handle; once handles are resolved, nothing may load or store it.
            AddressSpace::Private => true,
            AddressSpace::Workgroup => data,
            _ => false,
        },
        GlobalKind::Resource(resource) => {
            let handle = crate::layout::resource_type(&cx.m.types, var.ty);
            // A sampler stands behind the texture it is combined with.
            let sampler = resource.sampler_of.is_none_or(|texture| {
                texture < id && resource.combined && matches!(handle, Some(crate::ResourceType::Sampler { .. }))
            });
            handle.is_some() && sampler && var.space == AddressSpace::Handle && var.init.is_none()
        }
        GlobalKind::Io(_) => data && matches!(var.space, AddressSpace::Input | AddressSpace::Output),
    };
    let init = var.init.is_none_or(|c| cx.m.consts.ty(c) == var.ty && var.space != AddressSpace::Workgroup);
    let (m, name) = (cx.m, cx.m.names.get(var.name));
    cx.check(30, ok && init, || {
        format!("{id} {name} of type {} cannot be what it is declared to be", type_text(&m.types, var.ty))
    });
}

fn entry_point(cx: &mut Checker, entry: &EntryPoint) {
    let m = cx.m;
    cx.func = Some(entry.func);
    let name = m.names.get(entry.name);
    let func = &m.functions[entry.func];
    let bare = func.params.is_empty() && m.types.kind(func.ret) == TypeKind::Void;
    cx.check(32, bare, || format!("the function of entry point {name} has parameters or a result"));
    cx.check(32, entry.threads.iter().all(|&n| n > 0), || format!("entry point {name} has no threads"));
    let flag = stage_flag(entry.stage);
    let sides = [(&entry.inputs, AddressSpace::Input), (&entry.outputs, AddressSpace::Output)];
    for (list, space) in sides {
        for &global in list {
            let var = &m.globals[global];
            let GlobalKind::Io(io) = &var.kind else { continue };
            let allowed = match io.builtin {
                Some(builtin) => {
                    let (reads, writes) = builtin_stages(builtin);
                    let stages = if space == AddressSpace::Input { reads } else { writes };
                    stages.contains(flag) && io.location.is_none()
                }
                None => io.location.is_some() && entry.stage != Stage::Compute,
            };
            cx.check(32, allowed && var.space == space, || {
                format!("{global} {} is no part of a signature of this stage", m.names.get(var.name))
            });
        }
    }
    for func in m.reachable(entry.func) {
        reached(cx, entry, func, flag);
    }
}

/// V031 for a function that an entry point reaches.
fn reached(cx: &mut Checker, entry: &EntryPoint, id: Func, flag: Stages) {
    let m = cx.m;
    let func = &m.functions[id];
    cx.func = Some(id);
    let name = m.names.get(entry.name);
    let mut seen = EntitySet::with_capacity(m.globals.len());
    for (block, inst, data) in func.live_insts() {
        (cx.block, cx.inst) = (Some(block), Some(inst));
        let allowed = match data.op {
            Op::Intrinsic(which) => which.stages().contains(flag),
            Op::Discard => entry.stage == Stage::Pixel,
            _ => true,
        };
        cx.check(31, allowed, || format!("it is not allowed in the stage of entry point {name}"));
        for &arg in &data.args {
            let ValueDef::Global(global) = func.values[arg].def else { continue };
            if !seen.insert(global) {
                continue;
            }
            let allowed = match m.globals[global].space {
                AddressSpace::Workgroup => entry.stage == Stage::Compute,
                AddressSpace::Input => entry.inputs.contains(&global),
                AddressSpace::Output => entry.outputs.contains(&global),
                _ => true,
            };
            cx.check(31, allowed, || format!("{global} is out of reach of entry point {name}"));
        }
    }
    (cx.block, cx.inst) = (None, None);
}
