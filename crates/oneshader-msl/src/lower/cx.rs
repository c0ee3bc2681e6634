//! What the functions of one text share: spelled types, names, and what must be declared before them.

use crate::names::{Scope, member};
use crate::options::MslOptions;
use crate::raise::memory::{Mem, Memory, Source, scalar_name};
use crate::raise::usage::{Class, TextureAccess};
use crate::raise::{Raised, lift};
use crate::runtime::{Helper, Runtime};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use oneshader_diag::{Code, DiagnosticBag, Span};
use oneshader_ir::{
    Access, AddressSpace, Func, Global, GlobalKind, LayoutError, LayoutId, LayoutRule, Layouts, MatrixOrder, Name,
    Names, ResourceType, SpecId, StructId, TextureDim, TextureType, Type, TypeKind, Types,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::transfer::Transfer;

/// What is known of a function that calls want to know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// A call changes nothing and orders nothing.
    pub pure: bool,
    /// Shared memory it reads.
    pub reads: u64,
}

/// The memory behind a resource: its type, whether an element is wrapped in a structure, and how that is spelled.
type Behind = (Mem, bool, String);

pub(crate) struct Cx<'a> {
    pub raised: &'a Raised<'a>,
    pub options: &'a MslOptions,
    pub bag: &'a mut DiagnosticBag,
    /// The types of the module, and those that lowering adds.
    pub types: Types,
    /// Spelled texts.
    pub names: Names,
    /// Names of the file.
    pub scope: Scope,
    pub layouts: Cow<'a, Layouts>,
    pub memory: Memory,
    pub runtime: Runtime,
    pub func_names: SecondaryMap<Func, Option<Name>>,
    pub facts: SecondaryMap<Func, Facts>,
    /// Structures used as values, in order of declaration.
    pub value_structs: Vec<StructId>,
    struct_names: SecondaryMap<StructId, Option<Name>>,
    member_names: SecondaryMap<StructId, Vec<Name>>,
    used_as_value: EntitySet<StructId>,
    /// Constants at file scope, in order of first use.
    pub constants: Vec<Global>,
    pub constant_names: SecondaryMap<Global, Option<Name>>,
    /// Specialization constants read.
    pub specs: BTreeSet<SpecId>,
    pub spec_names: SecondaryMap<SpecId, Option<Name>>,
    /// Functions that move structures and arrays between memory and values.
    pub transfers: Vec<Transfer>,
    /// Whether the text names what ray tracing has.
    pub raytracing: bool,
    /// The arrays of resources without size, by buffer index.
    pub tables: FxHashMap<u32, super::table::Table>,
    /// Whether there is an argument structure.
    pub has_arguments: bool,
    /// The structures of stage inputs and outputs, declared before the entry point.
    pub io_structs: String,
    type_names: FxHashMap<Type, Name>,
    resource_memory: FxHashMap<(ResourceType, bool), Option<Behind>>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(
        raised: &'a Raised<'a>,
        options: &'a MslOptions,
        layouts: Option<&'a Layouts>,
        bag: &'a mut DiagnosticBag,
    ) -> Self {
        let mut this = Self {
            raised,
            options,
            bag,
            types: raised.module.types.clone(),
            names: Names::default(),
            scope: Scope::default(),
            layouts: layouts.map_or_else(Default::default, Cow::Borrowed),
            memory: Memory::new(options.emulate_int64),
            runtime: Runtime::default(),
            func_names: SecondaryMap::new(),
            facts: SecondaryMap::new(),
            value_structs: Vec::new(),
            struct_names: SecondaryMap::new(),
            member_names: SecondaryMap::new(),
            used_as_value: EntitySet::new(),
            constants: Vec::new(),
            constant_names: SecondaryMap::new(),
            specs: BTreeSet::new(),
            spec_names: SecondaryMap::new(),
            transfers: Vec::new(),
            raytracing: false,
            tables: super::table::tables(raised),
            has_arguments: false,
            io_structs: String::new(),
            type_names: FxHashMap::default(),
            resource_memory: FxHashMap::default(),
        };
        this.take_names();
        this.find_layouts();
        this
    }

    /// Takes the names of the file in an order that depends on the module alone.
    fn take_names(&mut self) {
        for helper in Helper::ALL {
            self.scope.reserve(helper.name());
        }
        let module = &self.raised.module;
        let entry = self.raised.entry.func;
        let name = crate::names::entry_function_name(module.names.get(self.raised.entry.name));
        self.scope.reserve(&name);
        self.func_names[entry] = Some(self.names.intern(&name));
        self.find_value_structs();
        for id in module.types.structs.keys() {
            if self.used_as_value.contains(id) {
                let name = self.scope.unique_in_file(module.names.get(module.types.structs[id].name));
                self.struct_names[id] = Some(self.names.intern(&name));
            }
        }
        for &func in &self.raised.order {
            if func != entry {
                let name = self.scope.unique_in_file(module.names.get(module.functions[func].name));
                self.func_names[func] = Some(self.names.intern(&name));
            }
        }
        for global in module.globals.keys() {
            if lift::stays(module, global) {
                let name = self.scope.unique_in_file(module.names.get(module.globals[global].name));
                self.constant_names[global] = Some(self.names.intern(&name));
            }
        }
        for spec in module.specs.keys() {
            let name = self.scope.unique_in_file(module.names.get(module.specs[spec].name));
            self.scope.reserve(&format!("{name}_value"));
            self.spec_names[spec] = Some(self.names.intern(&name));
        }
    }

    /// Computes the layouts behind the resources that the entry point reaches, and reports those that there cannot be.
    fn find_layouts(&mut self) {
        let module = &self.raised.module;
        for &item in &self.raised.lifted.items[self.raised.entry.func] {
            let lift::Item::Global(global) = item else { continue };
            let var = &module.globals[global];
            let GlobalKind::Resource(info) = &var.kind else { continue };
            let Some(resource) = oneshader_ir::layout::resource_type(&module.types, var.ty) else { continue };
            let Some((ty, rule, order)) = self.options.layout.rule_for(resource, info.push_constant) else { continue };
            if let Err(error) = self.layout(ty, rule, order) {
                crate::raise::check::report_layout_error(module, &error, self.bag);
                continue;
            }
            // Its structures take their names before variables do.
            self.memory_of(resource, info.push_constant);
        }
    }

    /// Structures that occur as values, not only behind buffers.
    fn find_value_structs(&mut self) {
        let module = &self.raised.module;
        let mut seen = EntitySet::with_capacity(module.types.len());
        // Few types stand for many values.
        let mut named: EntitySet<Type> = EntitySet::with_capacity(module.types.len());
        let mut stack = Vec::new();
        for &func in &self.raised.order {
            let function = &module.functions[func];
            let mut add = |ty: Type| {
                if named.insert(ty) {
                    stack.push(ty);
                }
            };
            function.params.iter().for_each(|p| add(p.ty));
            add(function.ret);
            function.locals.values().for_each(|l| add(l.ty));
            for (_, _, inst) in function.live_insts() {
                add(inst.ty);
                inst.args.iter().for_each(|&a| add(function.ty(a)));
            }
        }
        for (global, var) in module.globals.iter() {
            if var.space != AddressSpace::Handle || lift::stays(module, global) {
                stack.push(var.ty);
            }
        }
        while let Some(ty) = stack.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match module.types.kind(ty) {
                TypeKind::Array { elem, .. } => stack.push(elem),
                TypeKind::Struct(id) => {
                    self.used_as_value.insert(id);
                    stack.extend(module.types.structs[id].members.iter().map(|m| m.ty));
                }
                TypeKind::Pointer { space, pointee } => match space {
                    AddressSpace::Constant
                    | AddressSpace::Storage
                    | AddressSpace::Device
                    | AddressSpace::PushConstant
                    | AddressSpace::Handle => {}
                    _ => stack.push(pointee),
                },
                _ => {}
            }
        }
    }

    /// Reports an error.
    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.bag.report(code, span, message);
    }

    /// Spelled names of a structure's members.
    pub(crate) fn member_name(&mut self, id: StructId, index: usize) -> Name {
        if self.member_names[id].is_empty() {
            let module = &self.raised.module;
            let mut scope = Scope::default();
            let members = &self.types.structs[id].members;
            let names: Vec<String> = members.iter().map(|m| scope.member(&member(module.names.get(m.name)))).collect();
            self.member_names[id] = names.iter().map(|n| self.names.intern(n)).collect();
        }
        match self.member_names[id].get(index) {
            Some(&name) => name,
            None => self.names.intern("member"),
        }
    }

    /// The spelled type of values of `ty`; a pointer's is its pointee's.
    pub(crate) fn value_type(&mut self, ty: Type) -> Name {
        if let Some(&name) = self.type_names.get(&ty) {
            return name;
        }
        let text = match self.types.kind(ty) {
            TypeKind::Void => "void".to_owned(),
            TypeKind::Scalar(scalar) => scalar_name(scalar).to_owned(),
            TypeKind::Vector { elem, len } => format!("{}{len}", scalar_name(elem)),
            TypeKind::Matrix { elem, rows, cols } => format!("{}{rows}x{cols}", scalar_name(elem)),
            TypeKind::Array { elem, len } => {
                let template = match self.holds_queries(elem) {
                    true => self.need(Helper::PlainArray),
                    false => "array",
                };
                let elem = self.value_type(elem);
                format!("{template}<{}, {len}>", self.names.get(elem))
            }
            TypeKind::Struct(id) => {
                let name = self.struct_name(id);
                self.names.get(name).to_owned()
            }
            TypeKind::Pointer { pointee, .. } => return self.value_type(pointee),
            TypeKind::RuntimeArray { elem } => return self.value_type(elem),
            // Neither is reached: check.rs refuses the second.
            TypeKind::Resource(_) | TypeKind::Spirv(_) => "int".to_owned(),
            TypeKind::RayQuery => self.ray_query_type().to_owned(),
        };
        let name = self.names.intern(&text);
        self.type_names.insert(ty, name);
        name
    }

    fn struct_name(&mut self, id: StructId) -> Name {
        if !self.value_structs.contains(&id) {
            let members: Vec<Type> = self.types.structs[id].members.iter().map(|m| m.ty).collect();
            members.into_iter().for_each(|ty| {
                self.value_type(ty);
            });
            self.value_structs.push(id);
        }
        match self.struct_names[id] {
            Some(name) => name,
            None => {
                let name = self.scope.unique_in_file(self.raised.module.names.get(self.types.structs[id].name));
                let name = self.names.intern(&name);
                self.struct_names[id] = Some(name);
                name
            }
        }
    }

    /// The memory type behind a resource, and whether an element is wrapped in a structure; with the spelled type.
    pub(crate) fn memory_of(&mut self, resource: ResourceType, push_constant: bool) -> Option<Behind> {
        if let Some(known) = self.resource_memory.get(&(resource, push_constant)) {
            return known.clone();
        }
        let found = self.find_memory(resource, push_constant);
        self.resource_memory.insert((resource, push_constant), found.clone());
        found
    }

    fn find_memory(&mut self, resource: ResourceType, push_constant: bool) -> Option<Behind> {
        let (ty, rule, order) = self.options.layout.rule_for(resource, push_constant)?;
        let layout = self.layout(ty, rule, order).ok()?;
        Some(match resource {
            ResourceType::StructuredBuffer { .. } => self.with_source(|memory, source| memory.element(source, layout)),
            _ => {
                let mem = self.mem(layout);
                (mem, false, self.memory.mems[mem].base.clone())
            }
        })
    }

    /// The layout of a type in memory.
    pub(crate) fn layout(&mut self, ty: Type, rule: LayoutRule, order: MatrixOrder) -> Result<LayoutId, LayoutError> {
        match self.layouts.find(&self.types, ty, rule, order) {
            Some(layout) => Ok(layout),
            None => self.layouts.to_mut().compute(&self.types, ty, rule, order),
        }
    }

    fn mem(&mut self, layout: LayoutId) -> Mem {
        let total = self.layouts.get(layout).stride();
        self.with_source(|memory, source| memory.get(source, layout, total))
    }

    fn with_source<R>(&mut self, f: impl FnOnce(&mut Memory, &mut Source) -> R) -> R {
        // Member names are fixed first: the namers below borrow what is left.
        for id in 0..self.types.structs.len() {
            let id = StructId::new(id);
            if !self.types.structs[id].members.is_empty() {
                self.member_name(id, 0);
            }
        }
        let module = &self.raised.module;
        let (scope, used) = (&mut self.scope, &self.used_as_value);
        let mut name_struct = |id: Option<StructId>, wanted: &str| match id {
            Some(id) => {
                let name = module.names.get(module.types.structs[id].name).trim_start_matches('$');
                let name = if used.contains(id) { format!("{name}_packed") } else { name.to_owned() };
                scope.unique(&name)
            }
            None => scope.unique(wanted),
        };
        let (members, names) = (&self.member_names, &self.names);
        let member_name = |id: StructId, index: usize| names.get(members[id][index]).to_owned();
        let mut source = Source {
            types: &mut self.types,
            layouts: &self.layouts,
            name_struct: &mut name_struct,
            member_name: &member_name,
        };
        f(&mut self.memory, &mut source)
    }

    /// The spelled type of a handle as a parameter or array element: `texture2d<float>`, `const device T*`, `sampler`.
    /// A constant buffer is a pointer here.
    pub(crate) fn handle_type(&mut self, resource: ResourceType, class: Option<Class>, push_constant: bool) -> String {
        match resource {
            ResourceType::Texture(texture) => texture_type(texture, class),
            ResourceType::Sampler { .. } => "sampler".to_owned(),
            ResourceType::AccelerationStructure => {
                self.raytracing = true;
                super::ray_query::STRUCTURE.to_owned()
            }
            ResourceType::ByteAddressBuffer { .. } => format!("{} uchar*", space_of(resource, class)),
            _ => {
                let base = self.memory_of(resource, push_constant).map_or_else(|| "uchar".to_owned(), |m| m.2);
                format!("{} {base}*", space_of(resource, class))
            }
        }
    }

    /// Whether `ty` is a ray query or an array of them.
    fn holds_queries(&self, mut ty: Type) -> bool {
        while let TypeKind::Array { elem, .. } = self.types.kind(ty) {
            ty = elem;
        }
        self.types.kind(ty) == TypeKind::RayQuery
    }

    /// The type of a query: with its flags when they are asked for, which Metal does not tell.
    fn ray_query_type(&mut self) -> &'static str {
        self.raytracing = true;
        match self.raised.reads_ray_flags {
            true => self.need(Helper::RayQuery),
            false => super::ray_query::QUERY,
        }
    }

    /// Notes that the text needs a helper function.
    pub(crate) fn need(&mut self, helper: Helper) -> &'static str {
        self.runtime.need(helper);
        helper.name()
    }
}

/// Whether a resource is memory that is written.
pub(crate) fn is_writable(resource: ResourceType) -> bool {
    matches!(
        resource,
        ResourceType::StructuredBuffer { access: Access::ReadWrite, .. }
            | ResourceType::ByteAddressBuffer { access: Access::ReadWrite }
    )
}

/// The address space of what a buffer points to, with its qualifiers (MSL specification 4.8 for `coherent`).
pub(crate) fn space_of(resource: ResourceType, class: Option<Class>) -> &'static str {
    match resource {
        ResourceType::ConstantBuffer { .. } => "constant",
        _ if !is_writable(resource) => "const device",
        _ if class.is_some_and(|c| c.coherent) => "coherent device",
        _ => "device",
    }
}

/// Metal's type of a texture.
pub(crate) fn texture_type(texture: TextureType, class: Option<Class>) -> String {
    let class = class.unwrap_or(Class { depth: false, access: TextureAccess::Sample, coherent: false });
    let base = match texture.dim {
        TextureDim::D1 => "texture1d",
        TextureDim::D2 if class.depth => "depth2d",
        TextureDim::D2 => "texture2d",
        TextureDim::D3 => "texture3d",
        TextureDim::Cube if class.depth => "depthcube",
        TextureDim::Cube => "texturecube",
        TextureDim::Buffer => "texture_buffer",
    };
    let samples = if texture.multisampled { "_ms" } else { "" };
    let layers = if texture.arrayed { "_array" } else { "" };
    let access = match class.access {
        TextureAccess::Sample => "",
        // What multisampled textures and buffers are by themselves.
        TextureAccess::Read if texture.multisampled || texture.dim == TextureDim::Buffer => "",
        TextureAccess::Read => ", access::read",
        TextureAccess::Write => ", access::write",
        TextureAccess::ReadWrite => ", access::read_write",
    };
    let (access, coherence) = match (class.coherent, access) {
        (true, "") => (", access::read", ", memory_coherence_device"),
        (true, _) => (access, ", memory_coherence_device"),
        (false, _) => (access, ""),
    };
    format!("{base}{samples}{layers}<{}{access}{coherence}>", scalar_name(texture.texel))
}
