//! The syntax tree.
//!
//! Nodes live in one [`Ast`], are addressed by 32-bit ids and never move; lists of nodes are [`Slice`]s. Nothing owns
//! a string: names are interned, literals sit in side tables. The tree is what the source says, names unresolved:
//! the same ids can be walked again for every instance of a template.
//!
//! # What the parser decides
//!
//! HLSL, like C++, cannot be parsed without knowing which names are types and templates. The parser keeps scopes of
//! its own with just that knowledge (types, templates, namespaces, and values that hide one of these) and decides:
//!
//! - **Type or value.** A name found in scope as a type, a numeric or object type of the language that no visible
//!   declaration hides, and a template's type parameter begin a type. `float3`, `int2x2`, `Texture2D<...>` arrive
//!   decoded as [`TypeKind::Numeric`] and [`TypeKind::Object`]; everything else as [`TypeKind::Path`]. A name the
//!   parser does not know begins a type where only a type can stand: `Foo x`, `Foo<int> x`; the type checker reports
//!   it as unknown.
//! - **Declaration or expression.** A statement or `for` header that begins with a modifier or a type that is not
//!   followed by `(`, `.`, `[`-less operators and the like is a declaration. `float3(1, 2, 3).x;` is an expression.
//! - **Cast or parenthesis.** `(` type `)` followed by anything that can begin an operand is [`ExprKind::Cast`];
//!   the operand is a unary expression, as in C. `T(...)` with a type in front is [`ExprKind::Construct`], even with
//!   one argument, and even where `T` is a struct.
//! - **`<`.** After a name known as a template it opens arguments. After `.name` it opens arguments if some struct
//!   declared a method template of this name, or the name is one of the built-in ones (`Load`, `Store`, ...), and a
//!   matching `>` follows with `(` behind it. Inside template arguments `>` closes and `>>` closes twice; a comparison
//!   needs parentheses there, as in C++.
//! - **Template arguments** are types where a type can be read, else expressions. A bare name that is a value stays an
//!   expression ([`TemplateArgKind::Expr`]); the type checker need not guess.
//! - **Parentheses are dropped**, except that [`Expr::span`] includes them.
//! - **Case labels** are statements of their own in the list of their block, never parents of what follows.
//! - **Out-of-line members** (`void S::f() {}`) have [`Function::qualifier`] set and sit where they were written.
//! - **`T a, *b[2]`-style lists**: each declarator is a declaration of its own; they share the [`TypeId`] of the
//!   specifiers unless array brackets follow (`float a, b[2]`: `b` has a [`TypeKind::Array`] around it).
//! - **Errors.** Where the parser reported an error the tree has [`ExprKind::Error`], [`TypeKind::Error`] and so on,
//!   and later stages stay silent about these nodes.
//!
//! Modifiers that belong to the type (`const`, `row_major`, `snorm`, ...) are set on the type node *and* kept in
//! [`Var::mods`] as written. `#pragma pack_matrix` is recorded on matrix types as [`Mods::PACK_ROW_MAJOR`] or
//! [`Mods::PACK_COLUMN_MAJOR`].

mod decl;
mod expr;
mod stmt;
mod store;
mod types;

pub use decl::*;
pub use expr::*;
pub use stmt::*;
pub use store::*;
pub use types::*;
