//! Checking and lowering: declarations, names, overloads, templates, expressions, statements, entry points.
//!
//! Bodies are lowered where they are defined, so that names mean what has been declared up to there; bodies of methods
//! wait for the end of their structure and instances of templates for the end of the declaration that needs them. A
//! call of a function whose body has not been lowered yet names a function of the module without blocks; at the end
//! the functions that entry points reach are put in order, callees first.

pub(crate) mod attribute;
pub(crate) mod builtin;
pub(crate) mod call;
pub(crate) mod decl;
pub(crate) mod entry;
pub(crate) mod expr;
pub(crate) mod finish;
pub(crate) mod func;
pub(crate) mod init;
pub(crate) mod member;
pub(crate) mod ops;
pub(crate) mod overload;
pub(crate) mod pointer;
pub(crate) mod precise;
pub(crate) mod ray_query;
pub(crate) mod record;
pub(crate) mod resource;
pub(crate) mod scope;
pub(crate) mod signature;
pub(crate) mod spirv;
pub(crate) mod spirv_type;
pub(crate) mod stmt;
pub(crate) mod switch;
pub(crate) mod template;
pub(crate) mod types;
pub(crate) mod variable;
pub(crate) mod vk;

use oneshader_diag::Span;
use oneshader_ir as ir;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ast;
use crate::name::Name;
use crate::ty::{StructRef, Ty};
use crate::value::{Place, ReadOnly, TemplateValue};
pub(crate) use scope::{Scope, ScopeId, Sym};

/// A variable of [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct VarId(pub u32);

/// A function of [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct FnId(pub u32);

/// Where a variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    /// A local variable or parameter: its address in the function that is being lowered.
    Local(ir::Value),
    /// A module-scope variable.
    Global(ir::Global),
    /// A member of a block: constant buffer or loose uniforms. The node is that of its resources, if it has any.
    Block { block: u32, member: Option<u32>, node: Option<u32> },
    /// A value without memory: enumerators, template arguments, specialization constants.
    Const(ir::Const),
    /// A value without memory (a handle).
    Value(ir::Value),
    /// A string literal.
    Str(ast::StrId),
    /// Reported already.
    Error,
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub name: Name,
    pub ty: Ty,
    pub storage: Storage,
    pub readonly: Option<ReadOnly>,
    /// The value of a constant with a name.
    pub known: Option<ir::Const>,
    pub span: Span,
}

/// A constant buffer, texture buffer, or the block of loose uniforms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub global: ir::Global,
    pub space: ir::AddressSpace,
    pub ty: ir::Type,
}

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub name: Option<Name>,
    pub ty: Ty,
    pub dir: Direction,
    /// Default and the scope to evaluate it in.
    pub default: Option<(ast::ExprId, ScopeId)>,
    pub decl: ast::DeclId,
    pub span: Span,
}

/// How far a body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BodyState {
    /// Not lowered and not asked for.
    Idle,
    /// In the queue.
    Queued,
    /// Lowered or being lowered.
    Done,
}

/// A function: declared, defined, or an instance of a template.
#[derive(Clone, Debug)]
pub(crate) struct Fun {
    pub name: ast::FunctionName,
    pub span: Span,
    pub params: Vec<Param>,
    pub ret: Ty,
    /// Where its body's names are looked up: the scope it is declared in, or that of the template's arguments.
    pub scope: ScopeId,
    /// The structure whose (non-static) method it is.
    pub this: Option<Ty>,
    /// The declaration, of an instruction of SPIR-V.
    pub inline: Option<ast::DeclId>,
    /// The definition: its declaration and the node with the body.
    pub body: Option<(ast::DeclId, ast::FunctionId)>,
    pub state: BodyState,
    pub ir: Option<ir::Func>,
    /// Which instance of templates it belongs to.
    pub env: u32,
    pub precise: bool,
    /// A method that does not change its object.
    pub is_const: bool,
    /// How many instances of templates call each other down to this function.
    pub chain: u32,
    /// Parameters that stand for arrays of resources of the module, which a call names: they are not passed.
    pub aliases: Vec<(Param, ir::Global)>,
}

/// What an overload set has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Candidate {
    /// A function.
    Fun(FnId),
    /// A function template.
    Template(u32),
}

/// A function template.
#[derive(Clone, Debug)]
pub(crate) struct FunTemplate {
    pub decl: ast::DeclId,
    pub func: ast::FunctionId,
    pub params: ast::TemplateId,
    pub scope: ScopeId,
    pub this: Option<Ty>,
    /// The definition, where it is apart.
    pub body: Option<(ast::DeclId, ast::FunctionId, ast::TemplateId)>,
    pub instances: FxHashMap<Vec<TemplateValue>, FnId>,
}

/// A structure template and its specializations.
#[derive(Clone, Debug)]
pub(crate) struct StructTemplate {
    pub name: Name,
    pub params: ast::TemplateId,
    pub scope: ScopeId,
    /// The primary definition, once it is there.
    pub body: Option<ast::StructId>,
    /// Specializations: their template, their definition.
    pub specials: Vec<(ast::TemplateId, ast::StructId)>,
    /// Members defined out of line: the template of the structure, of the member, and the function.
    pub members: Vec<(ast::TemplateId, ast::DeclId, ast::FunctionId)>,
    /// Static members defined out of line.
    pub statics: Vec<(ast::TemplateId, ast::VarId)>,
    pub instances: FxHashMap<Vec<TemplateValue>, Ty>,
    pub span: Span,
}

impl FunTemplate {
    /// A copy without the instances, of which there may be many.
    pub fn shallow(&self) -> Self {
        FunTemplate { instances: FxHashMap::default(), ..*self }
    }
}

impl StructTemplate {
    /// A copy without the instances, of which there may be many.
    pub fn shallow(&self) -> Self {
        StructTemplate {
            instances: FxHashMap::default(),
            specials: self.specials.clone(),
            members: self.members.clone(),
            statics: self.statics.clone(),
            ..*self
        }
    }
}

/// A variable template and its specializations.
#[derive(Clone, Debug)]
pub(crate) struct VarTemplate {
    pub name: Name,
    pub params: ast::TemplateId,
    /// The primary definition: its declaration and the node.
    pub body: (ast::DeclId, ast::VarId),
    pub scope: ScopeId,
    /// Specializations: their template, arguments, definition.
    pub specials: Vec<Special<(ast::DeclId, ast::VarId)>>,
    pub instances: FxHashMap<Vec<TemplateValue>, VarId>,
}

/// A specialization: its template, the arguments it is for, and its definition.
pub(crate) type Special<B> = (ast::TemplateId, ast::Slice<ast::TemplateArg>, B);

/// An alias template.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AliasTemplate {
    pub params: ast::TemplateId,
    pub ty: ast::TypeId,
    pub scope: ScopeId,
}

/// A node of the tree of resources inside uniforms.
#[derive(Clone, Debug)]
pub(crate) enum ResourceNode {
    /// A structure: a node for each slot that has resources.
    Struct(SmallVec<[(u32, u32); 4]>),
    /// A resource or array of resources.
    Leaf(ir::Global),
}

/// What `break` and `continue` mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    pub brk: ir::Block,
    /// `None` in a switch outside of any loop; the loop's around a switch.
    pub cont: Option<ir::Block>,
    /// Whether something branched to `brk`.
    pub broke: bool,
    /// Whether this is a switch.
    pub is_switch: bool,
    /// Whether something branched to `cont`.
    pub continued: bool,
}

/// What returns do: the result's type, and how an entry point stores it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub ret: Option<Ty>,
    pub this: Option<Place>,
    pub jumps: Vec<Jump>,
    /// What an entry point stores before it returns.
    pub outputs: Option<std::rc::Rc<entry::Outputs>>,
    /// Variables that hold stage inputs, and what they were read from.
    pub inputs: Vec<(ir::Value, signature::Io)>,
    /// Values and variables whose computation is precise.
    pub precise: Vec<ir::Value>,
    /// Whether the result is precise.
    pub precise_result: bool,
}

/// Declarations, scopes and the state of the walk.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The function that is being lowered, for diagnostics.
    pub func: Option<u32>,
    pub scopes: Vec<Scope>,
    pub scope: ScopeId,
    pub vars: Vec<Var>,
    /// The function each variable is local to.
    pub owners: Vec<Option<u32>>,
    pub funs: Vec<Fun>,
    pub sets: Vec<Vec<Candidate>>,
    pub fun_templates: Vec<FunTemplate>,
    pub struct_templates: Vec<StructTemplate>,
    pub alias_templates: Vec<AliasTemplate>,
    pub var_templates: Vec<VarTemplate>,
    /// Which template and arguments a structure is an instance of.
    pub instance_of: FxHashMap<StructRef, (u32, Vec<TemplateValue>)>,
    /// Types that declarations of structures and enumerations made, by declaration and instance.
    pub decl_types: FxHashMap<(ast::DeclId, u32), Ty>,
    /// The scope of the namespace `vk`, once it is used.
    pub vk: Option<ScopeId>,
    /// The structure `RayDesc`, once it is used.
    pub ray_desc: Option<Ty>,
    pub blocks: Vec<Block>,
    pub resources: Vec<ResourceNode>,
    /// Built-ins that `static` variables stand for.
    pub builtins: Vec<attribute::StatedBuiltin>,
    /// Whether there is a block of push constants.
    pub push_constants: bool,
    /// The block of loose uniforms.
    pub globals: Option<u32>,
    /// The arrays that stand for descriptor heaps, by their type.
    pub heaps: FxHashMap<ir::Type, ir::Global>,
    /// Functions by the arrays of resources that calls pass to them.
    pub special: FxHashMap<(FnId, Vec<Option<ir::Global>>), FnId>,
    /// Bodies that wait.
    pub queue: std::collections::VecDeque<FnId>,
    pub body: Body,
    /// The current instance of templates; 0 outside of any.
    pub env: u32,
    pub envs: u32,
    /// Depth of nested constructs.
    pub depth: u32,
    /// [`Fun::chain`] of the function that is being lowered.
    pub chain: u32,
    /// Depth of nested instances.
    pub template_depth: u32,
    /// Whether a constant expression is being evaluated.
    pub constant: u32,
    /// Constant members of structures that are declared and not defined yet.
    pub undefined_statics: Vec<(ir::Global, Name, Span)>,
    /// `static` variables whose initial value is computed, in order.
    pub static_inits: Vec<variable::StaticInit>,
    /// Variables that stand for SPIR-V's built-in ones, which belong to the entry points that use them, and whether each is
    /// an output.
    pub builtin_vars: Vec<(ir::Global, bool)>,
    /// Capabilities and extensions that declarations outside functions ask for.
    pub needs: spirv::Needs,
    /// Entry points found.
    pub entries: Vec<entry::Found>,
}

impl State {
    /// The node below a structure's node for a slot.
    pub fn resource_child(&self, node: u32, slot: u32) -> Option<u32> {
        match self.resources.get(node as usize)? {
            ResourceNode::Struct(children) => children.iter().find(|(s, _)| *s == slot).map(|(_, n)| *n),
            ResourceNode::Leaf(_) => None,
        }
    }

    /// The variable of a leaf.
    pub fn resource_leaf(&self, node: u32) -> Option<ir::Global> {
        match self.resources.get(node as usize)? {
            ResourceNode::Leaf(global) => Some(*global),
            ResourceNode::Struct(_) => None,
        }
    }
}
