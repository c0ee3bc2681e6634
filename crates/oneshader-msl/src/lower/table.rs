//! Arrays of resources without size, and descriptor heaps: a buffer of entries of eight bytes, each a handle or a pointer.
//!
//! Metal 3 reads handles from the memory of any buffer (MSL specification 2.14, argument buffers of tier 2). Arrays that
//! share a range are views of one buffer: an entry point that reaches one takes it by its type, one that reaches several
//! takes untyped entries and makes a pointer for each view. Whether a texture of a table is read as a depth texture is for
//! each use to say.

use super::Cx;
use super::body::Body;
use crate::ast::{Expr, Param, Stmt};
use crate::raise::Raised;
use crate::raise::lift::Item;
use crate::raise::usage::{self, Class, Uses};
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::layout::resource_type;
use oneshader_ir::{DescriptorHeap, Global, IrModule, ResourceType, TextureDim, TypeKind, Value};
use rustc_hash::FxHashMap;

/// A buffer of entries.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The first view of it in the file.
    pub first: Global,
    /// The views that the entry point reaches, in order of declaration.
    reached: Vec<Global>,
}

/// The tables of the file, by buffer index.
pub(crate) fn tables(raised: &Raised) -> FxHashMap<u32, Table> {
    let module = &raised.module;
    let mut out: FxHashMap<u32, Table> = FxHashMap::default();
    for global in module.globals.keys().filter(|&g| is_table_global(module, g)) {
        if let Some(slot) = raised.slots.of(global).msl {
            out.entry(slot.index).or_insert_with(|| Table { first: global, reached: Vec::new() });
        }
    }
    for &item in &raised.lifted.items[raised.entry.func] {
        if let Item::Global(global) = item
            && is_table_global(module, global)
            && let Some(table) = raised.slots.of(global).msl.and_then(|slot| out.get_mut(&slot.index))
        {
            table.reached.push(global);
        }
    }
    out
}

/// Whether a module-scope variable is an array without size.
pub(crate) fn is_table_global(module: &IrModule, global: Global) -> bool {
    matches!(module.types.kind(module.globals[global].ty), TypeKind::RuntimeArray { .. })
}

/// The argument that is a descriptor heap.
fn heap_argument(heap: DescriptorHeap) -> &'static str {
    match heap {
        DescriptorHeap::Resources => "resource_heap",
        DescriptorHeap::Samplers => "sampler_heap",
    }
}

impl Cx<'_> {
    /// The name of a view of a descriptor heap: the heap's, with what its entries are where there are several.
    pub(crate) fn heap_name(&self, global: Global) -> Option<String> {
        let module = &self.raised.module;
        let argument = heap_argument(DescriptorHeap::of(module, global)?);
        if self.table_views(global).len() <= 1 {
            return Some(argument.to_owned());
        }
        let entries = match resource_type(&module.types, module.globals[global].ty)? {
            ResourceType::Texture(texture) => match texture.dim {
                TextureDim::D1 => "texture1d",
                TextureDim::D2 => "texture2d",
                TextureDim::D3 => "texture3d",
                TextureDim::Cube => "texturecube",
                TextureDim::Buffer => "texture_buffer",
            },
            ResourceType::ConstantBuffer { .. } | ResourceType::TextureBuffer { .. } => "constants",
            ResourceType::StructuredBuffer { .. } => "buffers",
            ResourceType::ByteAddressBuffer { .. } => "bytes",
            ResourceType::Sampler { comparison: false } => "samplers",
            ResourceType::Sampler { comparison: true } => "comparisons",
            ResourceType::AccelerationStructure => "structures",
            ResourceType::SubpassInput { .. } => "inputs",
        };
        Some(format!("{argument}_{entries}"))
    }

    /// The type of a pointer to entries that are `element`s.
    pub(crate) fn table_type(&mut self, element: &str) -> String {
        let name = self.need(Helper::Descriptor);
        format!("const device {name}<{element}>*")
    }

    /// The type of a pointer to the entries of the table that `global` is a view of, as the entry point takes it.
    pub(crate) fn table_argument_type(&mut self, global: Global) -> String {
        let element = match *self.table_views(global) {
            [only] => self.entry_type(only),
            _ => "ulong".to_owned(),
        };
        self.table_type(&element)
    }

    /// The views of the same table that the entry point reaches, in order of declaration.
    pub(crate) fn table_views(&self, global: Global) -> &[Global] {
        let slot = self.raised.slots.of(global).msl;
        slot.and_then(|slot| self.tables.get(&slot.index)).map_or(&[], |table| &table.reached)
    }

    /// What an entry of a table is in the entry point.
    fn entry_type(&mut self, global: Global) -> String {
        let raised = self.raised;
        let entry = raised.entry.func;
        let position = raised.lifted.items[entry].iter().position(|&i| i == Item::Global(global));
        let class = position.and_then(|i| raised.classes.class(entry, i));
        match resource_type(&raised.module.types, raised.module.globals[global].ty) {
            Some(resource) => self.handle_type(resource, class, false),
            None => "ulong".to_owned(),
        }
    }
}

impl Body<'_, '_> {
    /// Whether a parameter is an array of resources without size.
    pub(super) fn is_table(&self, param: usize) -> bool {
        self.function.params.get(param).is_some_and(|p| usage::is_table(&self.cx.types, p.ty))
    }

    /// Whether a handle is an entry of a table.
    pub(super) fn is_table_entry(&self, handle: Value) -> bool {
        usage::root(self.function, handle).is_some_and(|(param, indices)| self.is_table(param) && !indices.is_empty())
    }

    /// The class that a texture has where it is used so.
    pub(super) fn texture_class(&self, handle: Value, uses: Uses) -> Option<Class> {
        let (param, indices) = usage::root(self.function, handle)?;
        let class = self.cx.raised.classes.class(self.func, param)?;
        Some(if self.is_table(param) && !indices.is_empty() { class.of_entry(uses) } else { class })
    }

    /// Entry `indices` of the table that is parameter `param`, as a texture of `class`.
    pub(super) fn table_entry(&mut self, param: usize, indices: &[Value], class: Option<Class>) -> Expr {
        let mut table = self.params[param];
        if class.is_some() && class != self.cx.raised.classes.class(self.func, param) {
            let ty = self.function.params[param].ty;
            let pointee = self.cx.types.behind(ty);
            if let Some(resource) = resource_type(&self.cx.types, pointee) {
                let element = self.cx.handle_type(resource, class, false);
                let pointer = self.cx.table_type(&element);
                table = self.call(&format!("reinterpret_cast<{pointer}>"), &[table]);
            }
        }
        let entry = self.element_of(table, param, indices);
        let value = self.name("value");
        self.member(entry, value)
    }

    /// The argument for the table that `global`, called `name` and of type `spelled`, is a view of; none when another view
    /// has made it. Where there are several, `name` becomes a variable.
    pub(super) fn table_argument(&mut self, global: Global, name: &str, spelled: &str, index: u32) -> Option<Param> {
        let attribute = format!("[[buffer({index})]]");
        if self.cx.table_views(global).len() <= 1 {
            return Some(Param { declaration: format!("{spelled} {name}"), attribute });
        }
        let made = self.tables.get(&index).cloned();
        let table = match &made {
            Some(table) => table.clone(),
            None => {
                let wanted = match DescriptorHeap::of(&self.cx.raised.module, global) {
                    Some(heap) => heap_argument(heap).to_owned(),
                    None => format!("{name}_table"),
                };
                let table = self.fresh_name(&wanted);
                self.tables.insert(index, table.clone());
                table
            }
        };
        self.view(name, spelled, &table);
        let ty = self.cx.table_argument_type(global);
        made.is_none().then(|| Param { declaration: format!("{ty} {table}"), attribute })
    }

    /// Declares the view `name` of a table of untyped entries.
    pub(super) fn view(&mut self, name: &str, spelled: &str, table: &str) {
        let line = self.name(&format!("{spelled} {name} = reinterpret_cast<{spelled}>({table});"));
        self.out.push(Stmt::Line(line));
    }

    /// Reports that an entry of a table has no counter and no length.
    pub(super) fn no_entry_fact(&mut self, span: oneshader_diag::Span, what: &str) {
        let message = format!("the buffers of an array without size have no {what} in Metal");
        self.error(codes::MSL_UNSUPPORTED_RESOURCE, span, message);
    }
}
