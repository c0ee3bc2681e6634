//! Memory types: how the bytes of a buffer are declared in Metal.
//!
//! Vectors are `packed_*`, a `bool` is a `uint`, a matrix is an array of its lines, elements of an array whose stride is
//! not their size are wrapped with padding, and every structure states its padding as `uchar padN[]`. What C++ cannot
//! state (an array whose last element leaves its padding to the next member, Direct3D's packing) is declared as bytes and
//! reached through a cast. Offsets, strides and the asserts all come from the layout table.

use cranelift_entity::{PrimaryMap, entity_impl};
use oneshader_ir::{LayoutId, LayoutKind, Layouts, MatrixOrder, Scalar, StructId, Type, TypeKind, Types};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// A type in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Mem(u32);
entity_impl!(Mem, "mem");

/// A member of a structure in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemMember {
    /// Spelled name.
    pub name: String,
    pub mem: Mem,
    /// Declared as bytes; reached through a cast.
    pub raw: bool,
    /// Without bytes, as a structure without members is: not declared, since C++ has no arrays of no elements.
    pub empty: bool,
}

/// The shape of a type in memory.
#[derive(Clone, Debug)]
pub(crate) enum MemKind {
    /// As the value.
    Scalar,
    /// A `uint`.
    Bool,
    /// A packed vector, or a vector of `uint` for `bool`s.
    Vector,
    /// Lines; each is `value` of a wrapper when `wrapped`.
    Matrix {
        order: MatrixOrder,
        lines: u32,
        line: Mem,
        wrapped: bool,
    },
    /// Elements, likewise.
    Array {
        elem: Mem,
        len: u32,
        wrapped: bool,
    },
    Struct(Vec<MemMember>),
    /// A vector of 64-bit integers as an array of them, when that is asked for.
    Components,
    /// Bytes Metal has no type for: `double`, vectors of 64-bit integers.
    Opaque,
}

/// A type in memory.
#[derive(Clone, Debug)]
pub(crate) struct MemData {
    /// The type of its value.
    pub ty: Type,
    pub kind: MemKind,
    /// What stands before the name in a declaration.
    pub base: String,
    /// What stands behind it: array bounds.
    pub suffix: String,
    /// `sizeof` in C++.
    pub size: u32,
    /// `alignof` in C++.
    pub align: u32,
}

/// A structure to declare.
#[derive(Clone, Debug)]
pub(crate) struct MemStruct {
    pub name: String,
    /// Lines of the body: declarations without indentation.
    pub fields: Vec<String>,
    pub size: u32,
    /// (member, offset), of members that are not padding.
    pub offsets: Vec<(String, u32)>,
}

/// The memory types of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub mems: PrimaryMap<Mem, MemData>,
    /// In order of declaration.
    pub structs: Vec<MemStruct>,
    /// Whether vectors of 64-bit integers are arrays; else they are bytes.
    emulate_int64: bool,
    known: FxHashMap<(LayoutId, u32), Mem>,
    wrappers: FxHashMap<(String, String, u32), String>,
}

/// What the pass reads, and the namer of structures.
pub(crate) struct Source<'a> {
    pub types: &'a mut Types,
    pub layouts: &'a Layouts,
    /// A free name for a structure of memory: of an HLSL structure, or made up.
    pub name_struct: &'a mut dyn FnMut(Option<StructId>, &str) -> String,
    /// The spelled name of a member.
    pub member_name: &'a dyn Fn(StructId, usize) -> String,
}

/// The name of a scalar in a value.
pub(crate) fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::Int { bits: 16, signed: true } => "short",
        Scalar::Int { bits: 16, signed: false } => "ushort",
        Scalar::Int { bits: 64, signed: true } => "long",
        Scalar::Int { bits: 64, signed: false } => "ulong",
        Scalar::Int { signed: true, .. } => "int",
        Scalar::Int { signed: false, .. } => "uint",
        Scalar::Float { bits: 16 } => "half",
        // `double` is refused before it is spelled.
        Scalar::Float { .. } => "float",
    }
}

impl Memory {
    /// No types yet. `emulate_int64`: vectors of 64-bit integers are arrays.
    pub(crate) fn new(emulate_int64: bool) -> Self {
        Self { emulate_int64, ..Self::default() }
    }

    /// The memory type of `layout`, padded at its end to `total` bytes when it is a structure.
    pub(crate) fn get(&mut self, source: &mut Source, layout: LayoutId, total: u32) -> Mem {
        let layouts = source.layouts;
        let info = layouts.get(layout);
        let total = if matches!(info.kind, LayoutKind::Struct(_)) { total } else { info.size };
        if let Some(&mem) = self.known.get(&(layout, total)) {
            return mem;
        }
        let ty = info.ty;
        let data = match &info.kind {
            LayoutKind::Scalar | LayoutKind::Vector => self.plain(source.types, ty, info.size),
            &LayoutKind::Matrix { order, lines, stride } => {
                let elem = source.types.scalar_of(ty).unwrap_or(Scalar::F32);
                let len = match (source.types.kind(ty), order) {
                    (TypeKind::Matrix { cols, .. }, MatrixOrder::RowMajor) => cols,
                    (TypeKind::Matrix { rows, .. }, MatrixOrder::ColumnMajor) => rows,
                    _ => 4,
                };
                let line_ty = source.types.vector(elem, len);
                let line = self.mems.push(self.vector(line_ty, elem, len));
                let (base, suffix, wrapped) = self.elements(source, line, stride);
                let align = self.mems[line].align;
                let kind = MemKind::Matrix { order, lines, line, wrapped };
                MemData { ty, kind, base, suffix: format!("[{lines}]{suffix}"), size: stride * lines, align }
            }
            &LayoutKind::Array { elem, len, stride } => {
                let elem = self.get(source, elem, stride);
                let (base, suffix, wrapped) = self.elements(source, elem, stride);
                let align = self.mems[elem].align;
                let size = stride.saturating_mul(len);
                let kind = MemKind::Array { elem, len, wrapped };
                MemData { ty, kind, base, suffix: format!("[{len}]{suffix}"), size, align }
            }
            LayoutKind::Struct(members) => {
                let members = members.clone();
                let id = match source.types.kind(ty) {
                    TypeKind::Struct(id) => Some(id),
                    _ => None,
                };
                self.structure(source, ty, id, &members, total)
            }
        };
        let mem = self.mems.push(data);
        self.known.insert((layout, total), mem);
        mem
    }

    /// The element type of a structured buffer: what a pointer to elements points to. Wrapped when it is an array.
    pub(crate) fn element(&mut self, source: &mut Source, layout: LayoutId) -> (Mem, bool, String) {
        let stride = source.layouts.get(layout).stride();
        let mem = self.get(source, layout, stride);
        let data = &self.mems[mem];
        if data.suffix.is_empty() && data.size == stride {
            return (mem, false, data.base.clone());
        }
        let (base, _, _) = self.wrap(source, mem, stride);
        (mem, true, base)
    }

    /// How elements `elem` apart by `stride` are declared: (base, suffix, wrapped).
    fn elements(&mut self, source: &mut Source, elem: Mem, stride: u32) -> (String, String, bool) {
        let data = &self.mems[elem];
        match data.size >= stride {
            true => (data.base.clone(), data.suffix.clone(), false),
            false => self.wrap(source, elem, stride),
        }
    }

    fn wrap(&mut self, source: &mut Source, elem: Mem, stride: u32) -> (String, String, bool) {
        let data = &self.mems[elem];
        let key = (data.base.clone(), data.suffix.clone(), stride);
        if let Some(name) = self.wrappers.get(&key) {
            return (name.clone(), String::new(), true);
        }
        let dims: String = data.suffix.chars().map(|c| if c.is_ascii_digit() { c } else { '_' }).collect();
        let dims = dims.trim_matches('_').replace("__", "_");
        let dims = if dims.is_empty() { dims } else { format!("_{dims}") };
        let wanted = match stride > data.size {
            true => format!("{}{dims}_stride{stride}", data.base),
            false => format!("{}{dims}_element", data.base),
        };
        let mut fields = vec![format!("{} value{};", data.base, data.suffix)];
        if stride > data.size {
            fields.push(format!("uchar pad0[{}];", stride - data.size));
        }
        let name = (source.name_struct)(None, &wanted);
        let offsets = vec![("value".to_owned(), 0)];
        self.structs.push(MemStruct { name: name.clone(), fields, size: stride.max(data.size), offsets });
        self.wrappers.insert(key, name.clone());
        (name, String::new(), true)
    }

    fn structure(
        &mut self,
        source: &mut Source,
        ty: Type,
        id: Option<StructId>,
        members: &[oneshader_ir::MemberLayout],
        total: u32,
    ) -> MemData {
        // By offset: `packoffset` may turn the order round.
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&i| (members[i].offset, i));
        let mut out: Vec<Option<MemMember>> = members.iter().map(|_| None).collect();
        let (mut fields, mut offsets) = (Vec::new(), Vec::new());
        let (mut at, mut align, mut pads) = (0u32, 1u32, 0);
        let mut pad = |fields: &mut Vec<String>, bytes: u32| {
            if bytes > 0 {
                fields.push(format!("uchar pad{pads}[{bytes}];"));
                pads += 1;
            }
        };
        for (position, &i) in order.iter().enumerate() {
            let member = &members[i];
            let end = order.get(position + 1).map_or(total, |&n| members[n].offset).max(member.offset);
            let own = source.layouts.get(member.layout);
            let mem = self.get(source, member.layout, own.size);
            let name = id.map_or_else(|| format!("m{i}"), |id| (source.member_name)(id, i));
            let data = &self.mems[mem];
            let raw = data.size > end - member.offset || !member.offset.is_multiple_of(data.align.max(1));
            pad(&mut fields, member.offset.saturating_sub(at));
            let mut empty = false;
            at = if raw {
                let bytes = member.size.min(end - member.offset);
                empty = bytes == 0;
                if !empty {
                    fields.push(format!("uchar {name}[{bytes}];"));
                }
                member.offset + bytes
            } else {
                fields.push(format!("{} {name}{};", data.base, data.suffix));
                align = align.max(data.align);
                member.offset + data.size
            };
            if !empty {
                offsets.push((name.clone(), member.offset));
            }
            out[i] = Some(MemMember { name, mem, raw, empty });
        }
        pad(&mut fields, total.saturating_sub(at));
        // A structure without members has a size of 1 in C++.
        let size = total.max(at).max(1).next_multiple_of(align);
        let wanted = id.map_or("block", |_| "");
        let name = (source.name_struct)(id, wanted);
        self.structs.push(MemStruct { name: name.clone(), fields, size, offsets });
        let kind = MemKind::Struct(out.into_iter().flatten().collect());
        MemData { ty, kind, base: name, suffix: String::new(), size, align }
    }

    /// Appends the declaration of `item`, with its asserts.
    pub(crate) fn declare(item: &MemStruct, out: &mut String) {
        let _ = writeln!(out, "struct {} {{", item.name);
        for field in &item.fields {
            let _ = writeln!(out, "    {field}");
        }
        out.push_str("};\n");
    }

    /// Appends the asserts of all structures, behind `ONESHADER_CHECK_LAYOUT`.
    pub(crate) fn asserts(&self, out: &mut String) {
        if self.structs.is_empty() {
            return;
        }
        out.push_str("#ifdef ONESHADER_CHECK_LAYOUT\n");
        for item in &self.structs {
            let name = &item.name;
            let _ = writeln!(out, "static_assert(sizeof({name}) == {}, \"size of {name}\");", item.size);
            for (member, offset) in &item.offsets {
                let what = format!("offset of {name}.{member}");
                let _ = writeln!(out, "static_assert(__builtin_offsetof({name}, {member}) == {offset}, \"{what}\");");
            }
        }
        out.push_str("#endif\n\n");
    }

    fn plain(&self, types: &Types, ty: Type, size: u32) -> MemData {
        match types.kind(ty) {
            TypeKind::Vector { elem, len } => self.vector(ty, elem, len),
            _ => {
                let scalar = types.scalar_of(ty).unwrap_or(Scalar::U32);
                let (kind, base) = match scalar {
                    Scalar::Bool => (MemKind::Bool, "uint"),
                    Scalar::Float { bits: 64 } => return opaque(ty, size),
                    _ => (MemKind::Scalar, scalar_name(scalar)),
                };
                MemData { ty, kind, base: base.to_owned(), suffix: String::new(), size, align: size }
            }
        }
    }

    /// A vector of `len` components.
    fn vector(&self, ty: Type, elem: Scalar, len: u8) -> MemData {
        let bytes = elem.bits() / 8;
        let size = bytes * u32::from(len);
        if elem.bits() == 64 && !(self.emulate_int64 && elem.is_int()) {
            return opaque(ty, size);
        }
        let name = if elem == Scalar::Bool { "uint" } else { scalar_name(elem) };
        if elem.bits() == 64 {
            let (kind, suffix) = (MemKind::Components, format!("[{len}]"));
            return MemData { ty, kind, base: name.to_owned(), suffix, size, align: bytes };
        }
        MemData {
            ty,
            kind: MemKind::Vector,
            base: format!("packed_{name}{len}"),
            suffix: String::new(),
            size,
            align: bytes,
        }
    }
}

fn opaque(ty: Type, size: u32) -> MemData {
    MemData { ty, kind: MemKind::Opaque, base: "uchar".to_owned(), suffix: format!("[{size}]"), size, align: 1 }
}
