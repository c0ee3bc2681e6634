//! Ids, slices and the arenas they point into.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::*;

/// A run of items of one arena of an [`Ast`]: `&ast[slice]` is `&[T]`.
pub struct Slice<T> {
    start: u32,
    len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Slice<T> {
    /// No items.
    pub const EMPTY: Slice<T> = Slice { start: 0, len: 0, of: PhantomData };

    /// How many items.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T> Clone for Slice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<T> {}

impl<T> Default for Slice<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> PartialEq for Slice<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
    }
}

impl<T> Eq for Slice<T> {}

impl<T> fmt::Debug for Slice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}; {}]", self.start, self.len)
    }
}

macro_rules! arenas {
    (
        nodes { $($id:ident $node:ident $nodes:ident;)* }
        lists { $($item:ty, $items:ident;)* }
    ) => {
        $(
            #[doc = concat!("A [`", stringify!($node), "`] of an [`Ast`].")]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $id(std::num::NonZeroU32);

            impl $id {
                /// The position in its arena, for side tables.
                pub fn index(self) -> usize {
                    self.0.get() as usize - 1
                }
            }

            impl fmt::Debug for $id {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{}{}", stringify!($nodes), self.index())
                }
            }

            impl Index<$id> for Ast {
                type Output = $node;

                fn index(&self, id: $id) -> &$node {
                    &self.$nodes[id.index()]
                }
            }

            impl IndexMut<$id> for Ast {
                fn index_mut(&mut self, id: $id) -> &mut $node {
                    &mut self.$nodes[id.index()]
                }
            }

            impl Node for $node {
                type Id = $id;

                fn add(self, ast: &mut Ast) -> $id {
                    ast.$nodes.push(self);
                    // Budgets keep arenas far below 2^32 items; past that the last id repeats.
                    let id = u32::try_from(ast.$nodes.len()).unwrap_or(u32::MAX);
                    $id(std::num::NonZeroU32::new(id).unwrap_or(std::num::NonZeroU32::MAX))
                }
            }
        )*

        $(
            impl Item for $item {
                fn add(items: &[Self], ast: &mut Ast) -> Slice<Self> {
                    let start = ast.$items.len() as u32;
                    ast.$items.extend_from_slice(items);
                    Slice { start, len: items.len() as u32, of: PhantomData }
                }
            }

            impl Index<Slice<$item>> for Ast {
                type Output = [$item];

                fn index(&self, slice: Slice<$item>) -> &[$item] {
                    &self.$items[slice.start as usize..][..slice.len as usize]
                }
            }
        )*

        /// One translation unit.
        #[derive(Clone, Debug, Default)]
        pub struct Ast {
            $($nodes: Vec<$node>,)*
            $($items: Vec<$item>,)*
            strings: String,
            string_ends: Vec<u32>,
            /// The declarations at file scope, in order.
            pub unit: Slice<DeclId>,
        }
    };
}

arenas! {
    nodes {
        ExprId Expr exprs;
        StmtId Stmt stmts;
        TypeId Type types;
        DeclId Decl decls;
        PathId Path paths;
        VarId Var vars;
        FunctionId Function functions;
        StructId Struct structs;
        EnumId Enum enums;
        BlockId Cbuffer cbuffers;
        NamespaceId Namespace namespaces;
        AliasId Alias aliases;
        TemplateId Template templates;
    }
    lists {
        ExprId, expr_lists;
        StmtId, stmt_lists;
        DeclId, decl_lists;
        TypeId, type_lists;
        Segment, segments;
        TemplateArg, template_args;
        TemplateParam, template_params;
        Annotation, annotations;
        Attribute, attributes;
        Enumerator, enumerators;
    }
}

/// A node with an id.
pub trait Node {
    /// Its id.
    type Id;
    /// Puts it into its arena.
    fn add(self, ast: &mut Ast) -> Self::Id;
}

/// An item of lists.
pub trait Item: Sized {
    /// Puts a list into its arena.
    fn add(items: &[Self], ast: &mut Ast) -> Slice<Self>;
}

/// The text of a string literal, escapes resolved, neighbours joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StrId(u32);

impl Ast {
    /// Adds a node.
    pub fn add<N: Node>(&mut self, node: N) -> N::Id {
        node.add(self)
    }

    /// Adds a list.
    pub fn list<T: Item>(&mut self, items: &[T]) -> Slice<T> {
        if items.is_empty() { Slice::EMPTY } else { T::add(items, self) }
    }

    /// Adds the text of a string literal.
    pub fn add_string(&mut self, text: &str) -> StrId {
        self.strings.push_str(text);
        self.string_ends.push(self.strings.len() as u32);
        StrId(self.string_ends.len() as u32 - 1)
    }

    /// The text of a string literal.
    pub fn string(&self, id: StrId) -> &str {
        let index = id.0 as usize;
        let start = if index == 0 { 0 } else { self.string_ends[index - 1] };
        &self.strings[start as usize..self.string_ends[index] as usize]
    }

    /// How many expressions there are, for side tables.
    pub fn expr_count(&self) -> usize {
        self.exprs.len()
    }

    /// How many declarations there are, for side tables.
    pub fn decl_count(&self) -> usize {
        self.decls.len()
    }

    /// How many type nodes there are, for side tables.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// How many statements there are, for side tables.
    pub fn stmt_count(&self) -> usize {
        self.stmts.len()
    }

    /// Items of a slice by value: convenient where the tree is borrowed otherwise.
    pub fn iter<'a, T: Item + Copy + 'a>(&'a self, slice: Slice<T>) -> impl ExactSizeIterator<Item = T> + 'a
    where
        Ast: Index<Slice<T>, Output = [T]>,
    {
        self[slice].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshader_diag::Span;

    #[test]
    fn nodes_are_small() {
        assert_eq!(size_of::<Expr>(), 32);
        assert_eq!(size_of::<Type>(), 32);
        assert!(size_of::<Stmt>() <= 40);
        assert!(size_of::<Decl>() <= 40);
        assert_eq!(size_of::<Option<ExprId>>(), 4);
    }

    #[test]
    fn stores_and_finds() {
        let mut ast = Ast::default();
        let a = ast.add(Expr { kind: ExprKind::Bool(true), span: Span::NONE });
        let b = ast.add(Expr { kind: ExprKind::This, span: Span::NONE });
        let list = ast.list(&[b, a]);
        assert_eq!(ast[list], [b, a]);
        assert!(ast.list::<ExprId>(&[]).is_empty());
        assert!(matches!(ast[a].kind, ExprKind::Bool(true)));
        let (x, y) = (ast.add_string("one"), ast.add_string(""));
        assert_eq!((ast.string(x), ast.string(y)), ("one", ""));
    }
}
