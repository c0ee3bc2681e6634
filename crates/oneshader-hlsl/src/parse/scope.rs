//! What the parser must know of names: which are types, templates and namespaces.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::name::{Name, kw};

/// A scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ScopeId(u32);

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Symbol {
    /// A type, and the scope of its members if it is a struct or enum seen so far.
    Type(Option<ScopeId>),
    /// A class or alias template.
    TypeTemplate(Option<ScopeId>),
    /// A function template.
    FunctionTemplate,
    /// A namespace.
    Namespace(ScopeId),
    /// A variable, parameter, function or enumerator that hides a type of an outer scope.
    Value,
}

impl Symbol {
    /// The scope that `::` looks into.
    pub fn members(self) -> Option<ScopeId> {
        match self {
            Symbol::Type(scope) | Symbol::TypeTemplate(scope) => scope,
            Symbol::Namespace(scope) => Some(scope),
            Symbol::FunctionTemplate | Symbol::Value => None,
        }
    }

    pub fn is_template(self) -> bool {
        matches!(self, Symbol::TypeTemplate(_) | Symbol::FunctionTemplate)
    }
}

/// At most this many linked scopes (bases, `using namespace`) are looked into for one name.
const MAX_LINKS: usize = 256;

/// Namespaces of the language and the types in them.
const LANGUAGE_NAMESPACES: &[(Name, &[Name])] = &[
    (
        kw::VK,
        &[
            kw::SPIRV_TYPE,
            kw::SPIRV_OPAQUE_TYPE,
            kw::INTEGRAL_CONSTANT,
            kw::LITERAL,
            kw::BUFFER_POINTER,
            kw::SAMPLED_TEXTURE_1D,
            kw::SAMPLED_TEXTURE_1D_ARRAY,
            kw::SAMPLED_TEXTURE_2D,
            kw::SAMPLED_TEXTURE_2D_ARRAY,
            kw::SAMPLED_TEXTURE_2D_MS,
            kw::SAMPLED_TEXTURE_2D_MS_ARRAY,
            kw::SAMPLED_TEXTURE_3D,
            kw::SAMPLED_TEXTURE_CUBE,
            kw::SAMPLED_TEXTURE_CUBE_ARRAY,
        ],
    ),
    (kw::NAMESPACE_DX, &[kw::HIT_OBJECT]),
    (kw::NAMESPACE_HLSL, &[]),
];

pub(super) struct Scopes {
    /// The parent of each scope; the first one is the file's.
    parents: Vec<ScopeId>,
    symbols: FxHashMap<(ScopeId, Name), Symbol>,
    /// Bases of structs and namespaces in `using namespace`.
    links: FxHashMap<ScopeId, Vec<ScopeId>>,
    /// Whether a name was ever declared as a type, template or namespace; others are not looked up at all.
    known: Vec<bool>,
    /// Scopes of template parameters: what a template declares goes outside of them.
    transparent: FxHashSet<ScopeId>,
    /// Names of method templates, declared anywhere.
    member_templates: FxHashSet<Name>,
    pub current: ScopeId,
}

impl Scopes {
    pub fn new() -> Self {
        let file = ScopeId(0);
        let mut member_templates = FxHashSet::default();
        member_templates.extend([kw::LOAD, kw::STORE, kw::LOAD2, kw::LOAD3, kw::LOAD4]);
        let mut scopes = Scopes {
            parents: vec![file],
            symbols: FxHashMap::default(),
            links: FxHashMap::default(),
            known: Vec::new(),
            transparent: FxHashSet::default(),
            member_templates,
            current: file,
        };
        // Namespaces of the language; what is in them is the type checker's, but for what names types.
        for (name, types) in LANGUAGE_NAMESPACES {
            let scope = scopes.make(file);
            scopes.declare(*name, Symbol::Namespace(scope));
            for ty in *types {
                scopes.declare_in(scope, *ty, Symbol::TypeTemplate(None));
            }
        }
        scopes
    }

    /// A new scope inside another, not entered.
    pub fn make(&mut self, parent: ScopeId) -> ScopeId {
        let id = ScopeId(self.parents.len() as u32);
        self.parents.push(parent);
        id
    }

    /// Enters a new scope. Answers the one before, for [`Scopes::leave`].
    pub fn enter(&mut self) -> ScopeId {
        let outer = self.current;
        self.current = self.make(outer);
        outer
    }

    /// Enters a scope for template parameters.
    pub fn enter_template(&mut self) {
        self.enter();
        self.transparent.insert(self.current);
    }

    /// The scope that a declaration here belongs to.
    pub fn declaration_scope(&self) -> ScopeId {
        let mut scope = self.current;
        while self.transparent.contains(&scope) {
            scope = self.parents[scope.0 as usize];
        }
        scope
    }

    pub fn leave(&mut self, outer: ScopeId) {
        self.current = outer;
    }

    /// Lets a scope also find what another one declares.
    pub fn link(&mut self, scope: ScopeId, other: ScopeId) {
        if scope != other {
            self.links.entry(scope).or_default().push(other);
        }
    }

    pub fn declare(&mut self, name: Name, symbol: Symbol) {
        self.declare_in(self.current, name, symbol);
    }

    pub fn declare_in(&mut self, scope: ScopeId, name: Name, symbol: Symbol) {
        let index = name.0 as usize;
        if self.known.len() <= index {
            self.known.resize(index + 64, false);
        }
        self.known[index] = true;
        self.symbols.insert((scope, name), symbol);
    }

    /// Declares a value. `is_type_word` tells that the language has a type of this name.
    pub fn declare_value(&mut self, name: Name, is_type_word: bool) {
        if !is_type_word && !self.is_known(name) {
            return;
        }
        // An overload does not hide the template it stands beside, nor a variable its own elaborated type.
        let here = self.symbols.get(&(self.current, name));
        if !here.is_some_and(|s| s.is_template()) {
            self.declare(name, Symbol::Value);
        }
    }

    pub fn declare_member_template(&mut self, name: Name) {
        self.member_templates.insert(name);
    }

    pub fn is_member_template(&self, name: Name) -> bool {
        self.member_templates.contains(&name)
    }

    pub fn is_known(&self, name: Name) -> bool {
        self.known.get(name.0 as usize).copied().unwrap_or(false)
    }

    /// What a name is, seen from the current scope.
    pub fn find(&self, name: Name) -> Option<Symbol> {
        if !self.is_known(name) {
            return None;
        }
        let mut scope = self.current;
        loop {
            if let Some(symbol) = self.find_in(scope, name) {
                return Some(symbol);
            }
            let parent = self.parents[scope.0 as usize];
            if parent == scope {
                return None;
            }
            scope = parent;
        }
    }

    /// What a name is, seen from file scope: behind a leading `::`.
    pub fn find_global(&self, name: Name) -> Option<Symbol> {
        self.find_in(ScopeId(0), name)
    }

    /// What a name is inside a scope and the scopes linked to it.
    pub fn find_in(&self, scope: ScopeId, name: Name) -> Option<Symbol> {
        if let Some(symbol) = self.symbols.get(&(scope, name)) {
            return Some(*symbol);
        }
        let links = self.links.get(&scope)?;
        let mut queue: Vec<ScopeId> = links.clone();
        let mut next = 0;
        while let Some(&scope) = queue.get(next) {
            next += 1;
            if let Some(symbol) = self.symbols.get(&(scope, name)) {
                return Some(*symbol);
            }
            for &link in self.links.get(&scope).into_iter().flatten() {
                if queue.len() < MAX_LINKS && !queue.contains(&link) {
                    queue.push(link);
                }
            }
        }
        None
    }
}
