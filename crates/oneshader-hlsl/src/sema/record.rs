//! Structures, classes and interfaces.

use oneshader_diag::{Span, codes};

use crate::ast::{self, DeclId, DeclKind, Mods};
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::StructTemplate;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::ty::{Elem, Field, StructDef, StructRef, Ty, TyKind};

/// Structures inside structures, arrays included.
const MAX_DEPTH: u32 = 48;

impl Cx<'_> {
    /// A structure without members yet.
    pub(crate) fn new_struct(&mut self, name: Name, outer: ScopeId, shown: Option<String>, span: Span) -> Ty {
        let s = StructRef(self.tys.structs.len() as u32);
        let scope = self.new_scope(Some(outer), ScopeKind::Struct(s));
        self.tys.structs.push(StructDef {
            name,
            shown,
            base: None,
            interfaces: Vec::new(),
            fields: Vec::new(),
            scope: scope.0,
            complete: false,
            is_interface: false,
            has_objects: false,
            has_queries: false,
            has_spirv: false,
            depth: 0,
            span,
        });
        let ty = self.tys.intern(TyKind::Struct(s));
        // Inside itself its name means itself.
        if !self.text(name).is_empty() {
            self.scope_mut(scope).names.insert(name, Sym::Type(ty));
        }
        ty
    }

    pub(crate) fn declare_struct(&mut self, id: DeclId, s: ast::StructId) {
        let node = self.ast[s];
        if let Some(params) = self.ast[id].template {
            return self.declare_struct_template(params, s);
        }
        let scope = match node.qualifier {
            None => self.s.scope,
            Some(path) => match self.scope_of_path(path) {
                Ok(scope) => scope,
                Err(_) => return,
            },
        };
        let before = node.name.and_then(|n| self.scope(scope).names.get(&n).copied());
        let ty = match before {
            Some(Sym::Type(ty)) if self.tys.as_struct(ty).is_some_and(|s| self.is_announced(s)) => ty,
            // A declaration after the definition says nothing new.
            Some(Sym::Type(ty)) if node.members.is_none() && self.tys.as_struct(ty).is_some() => ty,
            _ => {
                let name = node.name.unwrap_or(self.anonymous());
                let ty = self.new_struct(name, scope, None, node.name_span);
                if node.name.is_some() {
                    self.in_scope(scope, |cx| cx.declare(name, Sym::Type(ty), node.name_span));
                }
                ty
            }
        };
        self.s.decl_types.insert((id, self.s.env), ty);
        if let (Some(_), Some(st)) = (node.members, self.tys.as_struct(ty)) {
            self.define_struct(ty, st, s);
        }
    }

    /// Whether a structure is declared and waits for its members: not among those members, where it is being defined.
    fn is_announced(&self, s: StructRef) -> bool {
        let own = ScopeId(self.tys.def(s).scope);
        let mut around = std::iter::successors(Some(self.s.scope), |&at| self.scope(at).parent);
        !self.tys.def(s).complete && !around.any(|at| at == own)
    }

    /// The name of what has none.
    pub(crate) fn anonymous(&self) -> Name {
        self.names.get("").unwrap_or(crate::name::kw::STRUCT)
    }

    fn declare_struct_template(&mut self, params: ast::TemplateId, s: ast::StructId) {
        let node = self.ast[s];
        let Some(name) = node.name else { return };
        let here = self.s.scope;
        let before = match self.scope(here).names.get(&name).copied() {
            Some(Sym::StructTemplate(t)) => Some(t),
            _ => None,
        };
        if node.args.is_some() {
            let Some(t) = before else {
                self.unknown_name(name, None, node.name_span);
                return;
            };
            if node.members.is_some() {
                self.s.struct_templates[t as usize].specials.push((params, s));
            }
            return;
        }
        let body = node.members.map(|_| s);
        if let Some(t) = before {
            let t = &mut self.s.struct_templates[t as usize];
            if body.is_some() {
                if t.body.is_some() {
                    let message = format!("`{}` is defined twice", self.text(name));
                    self.error(codes::REDEFINITION, node.name_span, message);
                    return;
                }
                t.body = body;
                t.params = params;
            }
            return;
        }
        self.s.struct_templates.push(StructTemplate {
            name,
            params,
            scope: here,
            body,
            specials: Vec::new(),
            members: Vec::new(),
            statics: Vec::new(),
            instances: Self::no_instances(),
            span: node.name_span,
        });
        let t = self.s.struct_templates.len() as u32 - 1;
        self.declare(name, Sym::StructTemplate(t), node.name_span);
    }

    /// Gives a structure its members.
    pub(crate) fn define_struct(&mut self, ty: Ty, s: StructRef, id: ast::StructId) {
        let node = self.ast[id];
        let index = s.0 as usize;
        if self.tys.structs[index].complete {
            let message = format!("`{}` is defined twice", self.show(ty));
            self.error(codes::REDEFINITION, node.name_span, message);
            return;
        }
        let scope = ScopeId(self.tys.structs[index].scope);
        self.tys.structs[index].is_interface = node.kind == ast::StructKind::Interface;
        for base in self.ast.iter(node.bases) {
            let span = self.ast[base].span;
            let Ok(base) = self.in_scope(scope, |cx| cx.resolve(base)) else { continue };
            let Some(b) = self.tys.as_struct(base).filter(|b| self.tys.def(*b).complete) else {
                let message = format!("`{}` cannot be a base", self.show(base));
                self.error(codes::INCOMPLETE_TYPE, span, message);
                continue;
            };
            let base_def = self.tys.def(b);
            let (is_interface, has, depth) = (base_def.is_interface, base_def.has_objects, base_def.depth);
            let (queries, spirv) = (base_def.has_queries, base_def.has_spirv);
            let def = &mut self.tys.structs[index];
            if is_interface {
                def.interfaces.push(base);
            } else if def.base.is_some() {
                self.error(codes::BAD_DECLARATION, span, "a structure has at most one base that is no interface");
            } else {
                def.base = Some(base);
                def.has_objects |= has;
                def.has_queries |= queries;
                def.has_spirv |= spirv;
                def.depth = depth + 1;
            }
        }
        let mut bits = Bits::default();
        let members: Vec<DeclId> = node.members.map(|m| self.ast.iter(m).collect()).unwrap_or_default();
        self.in_scope(scope, |cx| {
            for member in members {
                let decl = cx.ast[member];
                match decl.kind {
                    DeclKind::Var(var) if !cx.ast[var].mods.contains(Mods::STATIC) => {
                        cx.declare_field(s, member, var, &mut bits);
                    }
                    DeclKind::Function(func) => cx.declare_function(member, func, Some(ty)),
                    _ => cx.declare_one(member),
                }
            }
        });
        let def = &mut self.tys.structs[index];
        def.complete = true;
        if def.depth > MAX_DEPTH {
            self.error(codes::TYPE_TOO_LARGE, node.name_span, "structures are nested too deeply");
        }
    }

    fn declare_field(&mut self, s: StructRef, id: DeclId, var: ast::VarId, bits: &mut Bits) {
        let node = self.ast[var];
        let index = s.0 as usize;
        let span = node.name_span;
        let Ok(ty) = self.resolve(node.ty) else {
            self.add_broken(node.name, span);
            return;
        };
        let ty = self.with_order(ty, node.mods);
        if self.check_object_type(ty, span).is_err() {
            self.add_broken(node.name, span);
            return;
        }
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, span, "an array in a structure needs a size");
            self.add_broken(node.name, span);
            return;
        }
        if let Some(init) = node.init {
            let span = self.ast[init].span;
            self.error(codes::BAD_INITIALIZER, span, "members of a structure cannot have initial values");
        }
        let offset = self.stated_offset(self.ast[id].attributes, &node);
        let position = self.tys.structs[index].fields.len() as u32;
        let placed = match node.bits {
            None => {
                bits.close();
                None
            }
            Some(width) => match self.bit_field(ty, width, bits) {
                Some(placed) => placed,
                None => return,
            },
        };
        let (slot, bit_range) = match placed {
            Some((first, width, fresh)) => {
                let last = self.tys.structs[index].fields.last().map(|f| f.slot);
                match (fresh, last) {
                    (false, Some(last)) => (last, Some((first, width))),
                    _ => (self.next_slot(s), Some((first, width))),
                }
            }
            // A zero-width bit-field only ends the member.
            None if node.bits.is_some() => return,
            None => (self.next_slot(s), None),
        };
        if self.is_spirv_pointer(ty) {
            self.error(codes::BAD_TYPE, span, "a pointer of SPIR-V is bound once, to a name or a parameter");
        }
        let (has, queries, spirv) = (self.tys.has_objects(ty), self.holds_ray_query(ty), self.tys.has_spirv(ty));
        let inner = self.tys.innermost(ty);
        let depth = self.tys.as_struct(inner).map_or(0, |s| self.tys.def(s).depth) + 1;
        let def = &mut self.tys.structs[index];
        def.has_objects |= has;
        def.has_queries |= queries;
        def.has_spirv |= spirv;
        def.depth = def.depth.max(depth);
        def.fields.push(Field {
            name: node.name,
            ty,
            bits: bit_range,
            slot,
            var: Some(var),
            decl: Some(id),
            offset,
            span,
        });
        if let Some(name) = node.name {
            self.declare(name, Sym::Field(s, position), span);
        }
    }

    fn next_slot(&self, s: StructRef) -> u32 {
        let def = self.tys.def(s);
        match def.fields.last() {
            Some(last) => last.slot + 1,
            None => u32::from(def.base.is_some()),
        }
    }

    /// Where a bit-field goes: first bit, width, whether in a member of its own. The outer `None` is an error.
    #[allow(clippy::option_option)]
    fn bit_field(&mut self, ty: Ty, width: ast::ExprId, bits: &mut Bits) -> Option<Option<(u8, u8, bool)>> {
        let span = self.ast[width].span;
        let size = match self.tys.as_numeric(ty) {
            Some((elem, crate::ty::Shape::Scalar)) if elem.is_int() || elem == Elem::Bool => elem.bytes() as u8 * 8,
            _ => {
                self.error(codes::BAD_BIT_FIELD, span, "a bit-field is an integer");
                return None;
            }
        };
        let width = self.constant_int(width).ok()?;
        if width == 0 {
            bits.close();
            return Some(None);
        }
        if width < 0 || width > i64::from(size) {
            self.error(codes::BAD_BIT_FIELD, span, format!("the width is between 1 and {size}"));
            return None;
        }
        let width = width as u8;
        let fits = bits.ty == Some(ty) && bits.used + width <= size;
        let first = if fits { bits.used } else { 0 };
        *bits = Bits { ty: Some(ty), used: first + width };
        Some(Some((first, width, !fits)))
    }

    /// The scope that a whole path names.
    pub(crate) fn scope_of_path(&mut self, path: ast::PathId) -> crate::value::R<ScopeId> {
        let node = self.ast[path];
        let mut scope = node.global.then(|| self.root_scope());
        for segment in self.ast.iter(node.segments) {
            scope = Some(self.segment_scope(scope, &segment)?);
        }
        Ok(scope.unwrap_or(self.s.scope))
    }
}

/// The member that bit-fields are being put into.
#[derive(Default)]
struct Bits {
    ty: Option<Ty>,
    used: u8,
}

impl Bits {
    fn close(&mut self) {
        *self = Bits::default();
    }
}
