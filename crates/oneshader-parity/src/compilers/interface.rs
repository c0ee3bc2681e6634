//! Our reflection as what the Metal engine needs.

use crate::engines::metal::{MetalInterface, MetalResource};
use oneshader::Reflection;
use oneshader::reflect::{HiddenInfo, ResourceInfo, ResourceKind};

/// The interface of an entry point; none when reflection has no such entry or no Metal function for it.
pub fn of_entry(reflection: &Reflection, entry: &str) -> Option<MetalInterface> {
    let info = reflection.entry_points.iter().find(|e| e.name == entry)?;
    let push = reflection.resources.iter().find(|r| r.kind == ResourceKind::PushConstant);
    let sizes = info.hidden.iter().find_map(|h| match h {
        HiddenInfo::BufferSizes { msl } => Some(*msl),
        HiddenInfo::Counter { .. } | HiddenInfo::DescriptorHeap { .. } => None,
    });
    Some(MetalInterface {
        function: info.msl_function.clone()?,
        threads: info.threads,
        resources: reflection.resources.iter().map(resource).collect(),
        push_constants: push.and_then(|r| r.msl).map(|slot| slot.index),
        sizes,
    })
}

fn resource(r: &ResourceInfo) -> MetalResource {
    let register = r.register.as_ref().and_then(|g| Some((g.class.chars().next()?, g.index?, g.space)));
    let is_buffer = !matches!(r.kind, ResourceKind::Texture | ResourceKind::TypedBuffer | ResourceKind::Sampler);
    MetalResource {
        name: r.name.clone(),
        register,
        buffer: r.msl.filter(|_| is_buffer).map(|slot| slot.index),
        counter: r.msl_counter,
    }
}
