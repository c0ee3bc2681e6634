//! What is done with each resource: decides depth textures, access qualifiers, hidden counters and sizes.
//!
//! Uses flow from callees to callers until each resource of the entry point has all of its own; what that makes of a texture
//! (its class) then flows back down. A helper that is called with textures of several classes is cloned for each.
//!
//! Needs [`lift`](super::lift). Gives the class of every texture parameter.

use super::lift::{Item, Lifted};
use bitflags::bitflags;
use cranelift_entity::SecondaryMap;
use oneshader_ir::{
    Access, Func, Function, GlobalKind, IrModule, Op, ResourceType, TextureDim, TextureOp, TextureOperands,
    TextureType, TypeKind, Types, Value, ValueDef,
};
use rustc_hash::FxHashMap;

bitflags! {
    /// What is done with a resource.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct Uses: u8 {
        /// Sampled by comparison.
        const COMPARE = 1;
        /// A read-write texture is read.
        const READ = 1 << 1;
        /// A read-write texture is written.
        const WRITE = 1 << 2;
        /// The hidden counter is used.
        const COUNTER = 1 << 3;
        /// The length of a buffer is asked for.
        const LENGTH = 1 << 4;
    }
}

/// Metal's access of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TextureAccess {
    Sample,
    Read,
    Write,
    ReadWrite,
}

/// What a texture is in Metal beyond its IR type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Class {
    /// A depth type.
    pub depth: bool,
    pub access: TextureAccess,
    /// What it writes reaches the whole device (`globallycoherent`). Buffers have a class only when they are that.
    pub coherent: bool,
}

/// The classes and uses of the parameters of every function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    classes: SecondaryMap<Func, Vec<Option<Class>>>,
    uses: SecondaryMap<Func, Vec<Uses>>,
}

impl Classes {
    /// The class of parameter `index`, when it is a texture or an array of textures.
    pub(crate) fn class(&self, func: Func, index: usize) -> Option<Class> {
        self.classes[func].get(index).copied().flatten()
    }

    /// Whether a parameter of `func` is coherent.
    pub(crate) fn any_coherent(&self, func: Func) -> bool {
        self.classes[func].iter().flatten().any(|class| class.coherent)
    }

    /// What `func` does with parameter `index`.
    pub(crate) fn uses(&self, func: Func, index: usize) -> Uses {
        self.uses[func].get(index).copied().unwrap_or_default()
    }
}

/// Whether a parameter is a table: an array of resources without size, a pointer to entries of eight bytes in Metal.
pub(crate) fn is_table(types: &Types, ty: oneshader_ir::Type) -> bool {
    types.pointee(ty).is_some_and(|(_, ty)| matches!(types.kind(ty), TypeKind::RuntimeArray { .. }))
}

impl Class {
    /// The class that an entry of a table of this class is read as where it is used so. Whether it is a depth texture is
    /// for each use to say: the entries of one table differ.
    pub(crate) fn of_entry(self, uses: Uses) -> Self {
        Self { depth: uses.contains(Uses::COMPARE), ..self }
    }
}

/// The instances of each function: the classes of its parameters, and the function that is written for them.
type Instances = SecondaryMap<Func, Vec<(Vec<Option<Class>>, Func)>>;

/// The parameter that a handle comes from, and the indices into it when the parameter is an array of resources.
pub(crate) fn root(function: &Function, value: Value) -> Option<(usize, &[Value])> {
    let mut value = value;
    loop {
        match function.values[value].def {
            ValueDef::Param(index) => return Some((index as usize, &[])),
            ValueDef::Inst(inst) => {
                let data = &function.insts[inst];
                match data.op {
                    Op::Load | Op::Copy => value = data.args[0],
                    Op::Access => {
                        let ValueDef::Param(index) = function.values[data.args[0]].def else { return None };
                        return Some((index as usize, &data.args[1..]));
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

/// The texture of a parameter's type: itself, or the element of an array behind a pointer.
pub(crate) fn texture_of(types: &Types, ty: oneshader_ir::Type) -> Option<TextureType> {
    let ty = types.behind(ty);
    match oneshader_ir::layout::resource_type(types, ty) {
        Some(ResourceType::Texture(texture)) => Some(texture),
        _ => None,
    }
}

/// `coherence`: whether Metal's version knows coherent resources.
pub(crate) fn run(
    module: &mut IrModule,
    entry: Func,
    order: &[Func],
    lifted: &mut Lifted,
    coherence: bool,
) -> (Classes, Vec<Func>) {
    let mut out = Classes::default();
    for &func in order {
        out.uses[func] = uses(module, func, &out);
    }
    let entry_classes: Vec<Option<Class>> = module.functions[entry]
        .params
        .iter()
        .zip(&out.uses[entry])
        .enumerate()
        .map(|(index, (param, &uses))| {
            let coherent = coherence && is_coherent(module, lifted.item(entry, index));
            match texture_of(&module.types, param.ty) {
                Some(texture) => Some(Class { coherent, ..classify(texture, uses) }),
                None => coherent.then_some(Class { depth: false, access: TextureAccess::ReadWrite, coherent }),
            }
        })
        .collect();
    // Callers first; each function's instances are known when it is its turn.
    let mut instances = Instances::new();
    instances[entry].push((entry_classes, entry));
    for &func in order.iter().rev() {
        for (classes, instance) in instances[func].clone() {
            assign_calls(module, instance, &classes, &mut instances, lifted, &mut out);
            out.classes[instance] = classes;
        }
    }
    let order = order.iter().flat_map(|&f| instances[f].iter().map(|(_, instance)| *instance)).collect();
    (out, order)
}

/// Whether an argument is a `globallycoherent` resource that is written.
fn is_coherent(module: &IrModule, item: Option<Item>) -> bool {
    let Some(Item::Global(global)) = item else { return false };
    let var = &module.globals[global];
    let writable = match oneshader_ir::layout::resource_type(&module.types, var.ty) {
        Some(ResourceType::StructuredBuffer { access, .. } | ResourceType::ByteAddressBuffer { access }) => {
            access == Access::ReadWrite
        }
        Some(ResourceType::Texture(texture)) => texture.access == Access::ReadWrite,
        _ => false,
    };
    matches!(&var.kind, GlobalKind::Resource(resource) if resource.coherent && writable)
}

fn uses(module: &IrModule, func: Func, known: &Classes) -> Vec<Uses> {
    let function = &module.functions[func];
    let mut out = vec![Uses::empty(); function.params.len()];
    let mut note = |value: Value, uses: Uses| {
        if let Some((param, _)) = root(function, value)
            && let Some(slot) = out.get_mut(param)
        {
            // Of the other uses the entries of a table have no common answer.
            let of_table = Uses::READ | Uses::WRITE;
            *slot |= if is_table(&module.types, function.params[param].ty) { uses & of_table } else { uses };
        }
    };
    for (_, _, data) in function.live_insts() {
        match data.op {
            Op::Texture(op, operands) => {
                let texture = data.args[0];
                if operands.contains(TextureOperands::COMPARE) {
                    note(texture, Uses::COMPARE);
                }
                match op {
                    TextureOp::Load => note(texture, Uses::READ),
                    TextureOp::Store => note(texture, Uses::WRITE),
                    _ => {}
                }
            }
            Op::TexelPtr => note(data.args[0], Uses::READ | Uses::WRITE),
            Op::Counter { .. } => note(data.args[0], Uses::COUNTER),
            Op::BufferLength => note(data.args[0], Uses::LENGTH),
            Op::Call(callee) => {
                for (i, &arg) in data.args.iter().enumerate() {
                    note(arg, known.uses(callee, i));
                }
            }
            _ => {}
        }
    }
    out
}

fn classify(texture: TextureType, uses: Uses) -> Class {
    let access = match texture.access {
        Access::Read if texture.multisampled || texture.dim == TextureDim::Buffer => TextureAccess::Read,
        Access::Read => TextureAccess::Sample,
        Access::ReadWrite => match (uses.contains(Uses::READ), uses.contains(Uses::WRITE)) {
            (true, true) => TextureAccess::ReadWrite,
            (false, true) => TextureAccess::Write,
            _ => TextureAccess::Read,
        },
    };
    Class { depth: uses.contains(Uses::COMPARE), access, coherent: false }
}

/// Decides which instance of its callee each call in `instance` calls.
fn assign_calls(
    module: &mut IrModule,
    instance: Func,
    classes: &[Option<Class>],
    instances: &mut Instances,
    lifted: &mut Lifted,
    out: &mut Classes,
) {
    let mut targets = Vec::new();
    for (_, inst, data) in module.functions[instance].live_insts() {
        let Op::Call(callee) = data.op else { continue };
        let passed: Vec<Option<Class>> = data
            .args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                let function = &module.functions[instance];
                let (param, indices) = root(function, arg)?;
                let class = classes.get(param).copied().flatten()?;
                let of_entry = is_table(&module.types, function.params[param].ty) && !indices.is_empty();
                Some(if of_entry { class.of_entry(out.uses(callee, i)) } else { class })
            })
            .zip(&module.functions[callee].params)
            .map(|(class, param)| class.filter(|_| is_resource(&module.types, param.ty)))
            .collect();
        targets.push((inst, callee, passed));
    }
    let mut index: FxHashMap<(Func, Vec<Option<Class>>), Func> = FxHashMap::default();
    for (inst, callee, passed) in targets {
        let key = (callee, passed);
        let target = match index.get(&key) {
            Some(&target) => target,
            None => {
                let target = instance_for(module, callee, &key.1, instances, lifted, out);
                index.insert(key, target);
                target
            }
        };
        if let Op::Call(callee) = &mut module.functions[instance].insts[inst].op {
            *callee = target;
        }
    }
}

fn instance_for(
    module: &mut IrModule,
    callee: Func,
    classes: &[Option<Class>],
    instances: &mut Instances,
    lifted: &mut Lifted,
    out: &mut Classes,
) -> Func {
    if let Some((_, found)) = instances[callee].iter().find(|(c, _)| c == classes) {
        return *found;
    }
    let instance = match instances[callee].is_empty() {
        true => callee,
        false => {
            let clone = module.functions[callee].clone();
            let id = module.functions.push(clone);
            lifted.items[id] = lifted.items[callee].clone();
            lifted.first[id] = lifted.first[callee];
            out.uses[id] = out.uses[callee].clone();
            id
        }
    };
    instances[callee].push((classes.to_vec(), instance));
    instance
}

/// Whether a type is a handle or an array of handles behind a pointer.
pub(crate) fn is_resource(types: &Types, ty: oneshader_ir::Type) -> bool {
    match types.kind(ty) {
        TypeKind::Resource(_) => true,
        TypeKind::Pointer { space, .. } => space == oneshader_ir::AddressSpace::Handle,
        _ => false,
    }
}
