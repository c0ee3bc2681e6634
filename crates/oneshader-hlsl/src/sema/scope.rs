//! Scopes and looking up names.

use oneshader_diag::{Diagnostic, Span, closest, codes};
use rustc_hash::FxHashMap;

use crate::ast;
use crate::cx::Cx;
use crate::name::{Name, kw};
use crate::sema::{Candidate, VarId};
use crate::ty::{StructRef, Ty, TyKind};
use crate::value::{R, Reported};

/// A scope of the state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct ScopeId(pub u32);

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sym {
    /// A variable or named constant.
    Var(VarId),
    /// An overload set.
    Funs(u32),
    /// A type.
    Type(Ty),
    /// A template of structures.
    StructTemplate(u32),
    /// A template of aliases.
    AliasTemplate(u32),
    /// An object type of a namespace of the language.
    Object(crate::builtin::ObjectKind),
    /// A template of variables.
    VarTemplate(u32),
    /// A namespace.
    Namespace(ScopeId),
    /// A field of a structure, by its position.
    Field(StructRef, u32),
}

/// What a scope belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScopeKind {
    /// The file or a namespace.
    Namespace,
    /// A structure.
    Struct(StructRef),
    /// A block of statements, or the arguments of a template.
    Block,
}

/// A scope.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub parent: Option<ScopeId>,
    pub kind: ScopeKind,
    pub names: FxHashMap<Name, Sym>,
    /// Types whose name a variable or function of the same scope has taken; found where a type is asked for.
    pub tags: FxHashMap<Name, Sym>,
    /// `using namespace`.
    pub using: Vec<ScopeId>,
}

/// Namespaces that are open to lookup may use each other in a circle.
const MAX_USING: u32 = 8;

impl Cx<'_> {
    /// A new scope inside another one.
    pub(crate) fn new_scope(&mut self, parent: Option<ScopeId>, kind: ScopeKind) -> ScopeId {
        let id = ScopeId(self.s.scopes.len() as u32);
        self.s.scopes.push(Scope {
            parent,
            kind,
            names: FxHashMap::default(),
            tags: FxHashMap::default(),
            using: Vec::new(),
        });
        id
    }

    /// Runs with a new block scope.
    pub(crate) fn in_block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.s.scope;
        let inner = self.new_scope(Some(outer), ScopeKind::Block);
        self.in_scope(inner, f)
    }

    /// Runs with another current scope.
    pub(crate) fn in_scope<T>(&mut self, scope: ScopeId, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.s.scope, scope);
        let result = f(self);
        self.s.scope = outer;
        result
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope {
        &self.s.scopes[id.0 as usize]
    }

    pub(crate) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.s.scopes[id.0 as usize]
    }

    /// The scope of the file.
    pub(crate) fn root_scope(&self) -> ScopeId {
        ScopeId(0)
    }

    /// Declares a name in the current scope; a second meaning in one scope is an error.
    pub(crate) fn declare(&mut self, name: Name, sym: Sym, span: Span) {
        let scope = self.s.scope;
        if let Some(old) = self.scope(scope).names.get(&name).copied() {
            let same_type = match (old, sym) {
                (Sym::Type(a), Sym::Type(b)) => self.tys.same(a, b),
                (Sym::Namespace(a), Sym::Namespace(b)) => a == b,
                _ => old == sym,
            };
            if same_type {
                return;
            }
            if matches!(old, Sym::Type(t) if self.tys.as_struct(t).is_some()) && !matches!(sym, Sym::Type(_)) {
                self.scope_mut(scope).tags.insert(name, old);
                self.scope_mut(scope).names.insert(name, sym);
                return;
            }
            let mut d = Diagnostic::new(codes::REDEFINITION, span, format!("`{}` is declared twice", self.text(name)));
            if let Sym::Var(v) = old {
                d = d.label(self.s.vars[v.0 as usize].span, "declared here before");
            }
            self.report(d);
        }
        self.scope_mut(scope).names.insert(name, sym);
    }

    /// Adds a function to the overload set of a name in a scope.
    pub(crate) fn declare_candidate(&mut self, scope: ScopeId, name: Name, candidate: Candidate, span: Span) {
        match self.scope(scope).names.get(&name).copied() {
            Some(Sym::Funs(set)) => {
                let set = &mut self.s.sets[set as usize];
                if !set.contains(&candidate) {
                    set.push(candidate);
                }
            }
            old => {
                // A structure's name gives way to a function's, as in C++.
                if let Some(old @ Sym::Type(_)) = old {
                    self.scope_mut(scope).tags.insert(name, old);
                } else if old.is_some() {
                    self.error(codes::REDEFINITION, span, format!("`{}` is declared twice", self.text(name)));
                }
                let set = self.s.sets.len() as u32;
                self.s.sets.push(vec![candidate]);
                self.scope_mut(scope).names.insert(name, Sym::Funs(set));
            }
        }
    }

    /// What a name means in one scope: itself, its bases, the namespaces it uses.
    pub(crate) fn lookup_in(&mut self, scope: ScopeId, name: Name) -> Option<Sym> {
        self.lookup_level(scope, name, 0)
    }

    fn lookup_level(&mut self, scope: ScopeId, name: Name, depth: u32) -> Option<Sym> {
        let s = self.scope(scope);
        let kind = s.kind;
        let own = s.names.get(&name).copied();
        if let Some(sym) = own
            && (s.using.is_empty() || !matches!(sym, Sym::Funs(_)))
        {
            return Some(sym);
        }
        if let ScopeKind::Struct(st) = kind {
            let def = self.tys.def(st);
            let bases: Vec<Ty> = def.base.into_iter().chain(def.interfaces.iter().copied()).collect();
            for base in bases {
                if let TyKind::Struct(b) = self.tys.kind(base) {
                    let inner = ScopeId(self.tys.def(b).scope);
                    if let Some(sym) = self.lookup_level(inner, name, depth) {
                        return Some(sym);
                    }
                }
            }
            return None;
        }
        if depth >= MAX_USING {
            return own;
        }
        let mut found = own;
        for used in self.scope(scope).using.clone() {
            if used == scope {
                continue;
            }
            found = match (found, self.lookup_level(used, name, depth + 1)) {
                (None, other) => other,
                (Some(Sym::Funs(a)), Some(Sym::Funs(b))) if a != b => {
                    let mut all = self.s.sets[a as usize].clone();
                    for c in self.s.sets[b as usize].clone() {
                        if !all.contains(&c) {
                            all.push(c);
                        }
                    }
                    self.s.sets.push(all);
                    Some(Sym::Funs(self.s.sets.len() as u32 - 1))
                }
                (some, _) => some,
            };
        }
        found
    }

    /// The type that an unqualified name means where a value hides it.
    pub(crate) fn lookup_tag(&self, name: Name) -> Option<Sym> {
        let mut at = Some(self.s.scope);
        while let Some(scope) = at {
            let s = self.scope(scope);
            if let Some(sym) = s.tags.get(&name) {
                return Some(*sym);
            }
            at = s.parent;
        }
        None
    }

    /// What an unqualified name means here.
    pub(crate) fn lookup(&mut self, name: Name) -> Option<Sym> {
        let mut at = Some(self.s.scope);
        while let Some(scope) = at {
            if let Some(sym) = self.lookup_in(scope, name) {
                return Some(sym);
            }
            at = self.scope(scope).parent;
        }
        None
    }

    /// The namespace or structure that all segments of a path but the last lead to, and the last segment.
    pub(crate) fn lookup_qualifier(&mut self, path: ast::PathId) -> R<(Option<ScopeId>, ast::Segment)> {
        let path = self.ast[path];
        let segments = &self.ast[path.segments];
        let Some((last, before)) = segments.split_last() else {
            return Err(self.error(codes::UNKNOWN_NAME, path.span, "expected a name"));
        };
        let mut scope = path.global.then(|| self.root_scope());
        for segment in before {
            scope = Some(self.segment_scope(scope, segment)?);
        }
        Ok((scope, *last))
    }

    /// The scope that a segment of a qualifier names.
    pub(crate) fn segment_scope(&mut self, outer: Option<ScopeId>, segment: &ast::Segment) -> R<ScopeId> {
        let sym = match outer {
            Some(scope) => self.lookup_in(scope, segment.name),
            None => self.lookup(segment.name),
        };
        match sym {
            Some(Sym::Namespace(scope)) => Ok(scope),
            Some(sym @ (Sym::Type(_) | Sym::StructTemplate(_) | Sym::AliasTemplate(_) | Sym::Object(_))) => {
                let ty = self.type_of_symbol(sym, segment.name, segment.args, segment.span)?;
                match self.tys.kind(ty) {
                    TyKind::Struct(s) => Ok(ScopeId(self.tys.def(s).scope)),
                    TyKind::Enum(e) => Ok(ScopeId(self.tys.enums[e.0 as usize].scope)),
                    _ => {
                        let shown = self.show(ty);
                        Err(self.error(codes::WRONG_KIND_OF_NAME, segment.span, format!("`{shown}` has no members")))
                    }
                }
            }
            Some(_) => {
                let text = self.text(segment.name).to_owned();
                Err(self.error(
                    codes::WRONG_KIND_OF_NAME,
                    segment.span,
                    format!("`{text}` is neither a namespace nor a type"),
                ))
            }
            None if segment.name == kw::VK => Ok(self.vk_scope()),
            None => Err(self.unknown_name(segment.name, outer, segment.span)),
        }
    }

    /// What the last segment of a path means.
    pub(crate) fn lookup_path(&mut self, path: ast::PathId) -> R<(Option<Sym>, Option<ScopeId>, ast::Segment)> {
        let (scope, last) = self.lookup_qualifier(path)?;
        let sym = match scope {
            Some(scope) => self.lookup_in(scope, last.name),
            None => self.lookup(last.name),
        };
        Ok((sym, scope, last))
    }

    /// Reports a name nobody declared, with the nearest one that is visible.
    pub(crate) fn unknown_name(&mut self, name: Name, scope: Option<ScopeId>, span: Span) -> Reported {
        let text = self.text(name).to_owned();
        if scope.is_some() && scope == self.s.vk {
            return self.error(codes::UNSUPPORTED_ATTRIBUTE, span, format!("`vk::{text}` is not supported"));
        }
        let mut d = Diagnostic::new(codes::UNKNOWN_NAME, span, format!("unknown name `{text}`"));
        if let Some(near) = self.nearest(&text, scope, std::iter::empty()) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        self.report(d)
    }

    /// Reports a function nobody declared; built-in functions are suggested too.
    pub(crate) fn unknown_function(&mut self, name: Name, span: Span) -> Reported {
        let text = self.text(name).to_owned();
        let mut d = Diagnostic::new(codes::UNKNOWN_NAME, span, format!("unknown function `{text}`"));
        if let Some(near) = self.nearest(&text, None, crate::builtins::names()) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        self.report(d)
    }

    /// The name nearest to a misspelled one: of a scope, or of all scopes around here and of `more`.
    fn nearest(&self, text: &str, scope: Option<ScopeId>, more: impl Iterator<Item = &'static str>) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let mut at = Some(scope.unwrap_or(self.s.scope));
        while let Some(id) = at {
            let s = self.scope(id);
            names.extend(s.names.keys().map(|name| self.text(*name)));
            at = if scope.is_some() { None } else { s.parent };
        }
        // Of equals the first one wins, so the order must not be that of a hash.
        names.sort_unstable();
        near(text, names.into_iter().chain(more.map(|name| -> &str { name }))).map(str::to_owned)
    }
}

/// The candidate nearest to a misspelled identifier. One of a letter or two is near to too many.
pub(crate) fn near<'n>(text: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if text.len() < 3 { None } else { closest(text, candidates) }
}
