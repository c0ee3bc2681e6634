//! Our reflection as what the Metal engine needs.

use crate::engines::metal::{MetalInterface, MetalResource};
use oneshader::Reflection;
use oneshader::reflect::{DescriptorHeap, HiddenInfo, ResourceInfo, ResourceKind};

/// The interface of an entry point; none when reflection has no such entry or no Metal function for it.
pub fn of_entry(reflection: &Reflection, entry: &str) -> Option<MetalInterface> {
    let info = reflection.entry_points.iter().find(|e| e.name == entry)?;
    let push = reflection.resources.iter().find(|r| r.kind == ResourceKind::PushConstant);
    let (mut sizes, mut heaps) = (None, [None; 2]);
    for hidden in &info.hidden {
        match *hidden {
            HiddenInfo::BufferSizes { msl } => sizes = Some(msl),
            HiddenInfo::DescriptorHeap { heap: DescriptorHeap::Resources, msl, .. } => heaps[0] = Some(msl),
            HiddenInfo::DescriptorHeap { heap: DescriptorHeap::Samplers, msl, .. } => heaps[1] = Some(msl),
            HiddenInfo::Counter { .. } => {}
        }
    }
    Some(MetalInterface {
        function: info.msl_function.clone()?,
        threads: info.threads,
        resources: reflection.resources.iter().map(resource).collect(),
        push_constants: push.and_then(|r| r.msl).map(|slot| slot.index),
        sizes,
        heaps,
        version: None,
    })
}

fn resource(r: &ResourceInfo) -> MetalResource {
    let register = r.register.as_ref().and_then(|g| Some((g.class.chars().next()?, g.index?, g.space)));
    MetalResource {
        name: r.name.clone(),
        register,
        descriptor: r.spirv.map(|slot| (slot.set, slot.binding)),
        index: r.msl.map(|slot| slot.index),
        is_table: r.msl_table.is_some(),
        counter: r.msl_counter,
    }
}
