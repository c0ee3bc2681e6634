//! Tokens to the syntax tree.
//!
//! A hand-written recursive-descent parser. What it decides about types, templates and casts is told at
//! [`crate::ast`]. It never gives up: an error is reported once per token, the node becomes an error node, and parsing
//! goes on at the next statement or declaration. Recursion is bounded by [`Limits::nesting`].

mod annotation;
mod declaration;
mod definition;
mod expression;
mod function;
mod scope;
mod statement;
#[cfg(test)]
mod tests;
mod types;

use std::sync::Arc;

use oneshader_diag::{Code, Diagnostic, DiagnosticBag, SourceMap, Span, codes};
use rustc_hash::FxHashMap;

use crate::ast::*;
use crate::lex::{Token, TokenKind};
use crate::name::{Class, Interner, Name};
use crate::pp::{self, IncludeLoader, Packing, Preprocessed};
use scope::Scopes;

/// Budgets of the parser; passing one is an error.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep expressions, statements, declarations and types nest. A parenthesis counts twice.
    pub nesting: u32,
    /// How long a chain may be that nests in the tree but not in the text: operators of one expression
    /// (`a + b + c ...`), postfixes (`a.b[0].c ...`), `else if`s. Walk these with a loop.
    pub chain: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { nesting: 512, chain: 4096 }
    }
}

/// A source, parsed.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree.
    pub ast: Ast,
    /// The names in it.
    pub names: Interner,
    /// What the parser read.
    pub preprocessed: Preprocessed,
}

/// Preprocesses and parses one source.
///
/// Texts are added to `map`, problems to `bag`; there is always a tree, of what could be read.
pub fn parse_source(
    source: (impl Into<Arc<str>>, impl Into<Arc<str>>),
    options: &pp::Options,
    loader: &dyn IncludeLoader,
    map: &mut SourceMap,
    bag: &mut DiagnosticBag,
) -> Parsed {
    let mut names = Interner::new();
    let preprocessed = pp::preprocess(source, options, loader, &mut names, map, bag);
    let ast = parse(&preprocessed, options.hlsl_version, Limits::default(), &names, bag);
    Parsed { ast, names, preprocessed }
}

/// Parses preprocessed tokens. `hlsl_version` is that of [`pp::Options`].
pub fn parse(
    preprocessed: &Preprocessed,
    hlsl_version: u16,
    limits: Limits,
    names: &Interner,
    bag: &mut DiagnosticBag,
) -> Ast {
    let tokens = preprocessed.tokens.as_slice();
    let Some(first) = tokens.first() else { return Ast::default() };
    let mut parser = Parser {
        tokens,
        pos: 0,
        cur: *first,
        last: first.span.start(),
        packing: &preprocessed.packing,
        packed: Mods::empty(),
        hlsl_version,
        limits,
        names,
        bag,
        ast: Ast::default(),
        scopes: Scopes::new(),
        numbers: FxHashMap::default(),
        depth: 0,
        in_template_args: false,
        reported_at: usize::MAX,
    };
    parser.unit();
    parser.ast
}

struct Parser<'a> {
    tokens: &'a [Token],
    pos: usize,
    /// The token at `pos`, or what is left of it after a `>` was split off.
    cur: Token,
    /// Span of the token before.
    last: Span,
    packing: &'a [(u32, Packing)],
    /// The `PACK_*` flag in force.
    packed: Mods,
    hlsl_version: u16,
    limits: Limits,
    names: &'a Interner,
    bag: &'a mut DiagnosticBag,
    ast: Ast,
    scopes: Scopes,
    /// Literals read before, by spelling.
    numbers: FxHashMap<Name, ExprKind>,
    depth: u32,
    /// Whether `>` closes template arguments rather than compares.
    in_template_args: bool,
    /// Where the last error was reported, so that there is one per token.
    reported_at: usize,
}

impl Parser<'_> {
    fn unit(&mut self) {
        let mut decls = Vec::new();
        while self.cur.kind != TokenKind::Eof {
            let at = self.pos;
            self.declaration(declaration::Context::Namespace, &mut decls);
            if self.pos == at {
                // Nothing begins a declaration with this token.
                if !self.is(TokenKind::RBrace) {
                    self.error_here(codes::EXPECTED_DECLARATION, |text| format!("expected a declaration, not {text}"));
                } else {
                    self.error_here(codes::EXPECTED_DECLARATION, |_| "this `}` closes nothing".into());
                }
                self.bump();
            }
        }
        self.ast.unit = self.ast.list(&decls);
    }

    // Tokens.

    fn bump(&mut self) -> Token {
        let token = self.cur;
        self.last = token.span;
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
            while let Some((at, packing)) = self.packing.first()
                && *at as usize <= self.pos
            {
                self.packed = match packing {
                    Packing::Row => Mods::PACK_ROW_MAJOR,
                    Packing::Column => Mods::PACK_COLUMN_MAJOR,
                };
                self.packing = &self.packing[1..];
            }
        }
        self.cur = self.tokens[self.pos];
        token
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.cur.kind == kind
    }

    fn is_word(&self, word: Name) -> bool {
        self.cur.is(word)
    }

    /// The token `n` behind the current one.
    fn ahead(&self, n: usize) -> Token {
        self.at(self.pos + n)
    }

    /// The token at a position; the last one is `Eof`.
    fn at(&self, pos: usize) -> Token {
        if pos == self.pos {
            return self.cur;
        }
        self.tokens[pos.min(self.tokens.len() - 1)]
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: Name) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a token that must come, or says that it is missing.
    fn expect(&mut self, kind: TokenKind, where_: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let span = self.last.end();
        let text = self.spelled(self.cur);
        let want = kind.text();
        self.error_at(codes::EXPECTED_TOKEN, span, || format!("expected `{want}` {where_}, found {text}"));
        false
    }

    /// Takes a closing token that must come, or says that it is missing and shows the opening one.
    fn expect_close(&mut self, kind: TokenKind, open: Span, where_: &str) -> bool {
        if self.is(kind) || self.reported_at == self.pos {
            return self.eat(kind);
        }
        self.reported_at = self.pos;
        let message = format!("expected `{}` {where_}, found {}", kind.text(), self.spelled(self.cur));
        let place = self.last.end();
        self.report(Diagnostic::new(codes::EXPECTED_TOKEN, place, message).label(open, "opened here"));
        false
    }

    /// Takes one `>`, also off `>>`, `>=` and `>>=`.
    fn eat_gt(&mut self) -> bool {
        let rest = match self.cur.kind {
            TokenKind::Gt => {
                self.bump();
                return true;
            }
            TokenKind::Shr => TokenKind::Gt,
            TokenKind::GtEq => TokenKind::Eq,
            TokenKind::ShrEq => TokenKind::GtEq,
            _ => return false,
        };
        let span = self.cur.span;
        self.last = Span { hi: (span.lo + 1).min(span.hi), ..span };
        self.cur.kind = rest;
        self.cur.span.lo = (span.lo + 1).min(span.hi);
        true
    }

    /// The class of an identifier token.
    fn class(&self, token: Token) -> Class {
        self.names.class(token.name())
    }

    /// Whether a token can be the name of something: an identifier, also of a type, or a contextual word.
    fn is_name(&self, token: Token) -> bool {
        token.kind == TokenKind::Ident && !matches!(self.class(token), Class::Keyword | Class::Reserved)
    }

    /// How a message shows a token.
    fn spelled(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Eof => "the end of the source".into(),
            TokenKind::Ident if self.class(token) == Class::Keyword => {
                format!("the keyword `{}`", token.text(self.names))
            }
            TokenKind::Ident if self.class(token) == Class::Reserved => {
                format!("the reserved word `{}`", token.text(self.names))
            }
            _ => {
                let text = token.text(self.names);
                let short: String = text.chars().take(40).collect();
                format!("`{short}{}`", if short.len() < text.len() { "..." } else { "" })
            }
        }
    }

    // Errors.

    /// Reports unless this token was complained about already.
    fn error_at(&mut self, code: Code, span: Span, message: impl FnOnce() -> String) {
        if self.reported_at == self.pos {
            return;
        }
        self.reported_at = self.pos;
        self.bag.report(code, span, message());
    }

    /// Reports at the current token; the message is made from its spelling.
    fn error_here(&mut self, code: Code, message: impl FnOnce(&str) -> String) {
        let text = self.spelled(self.cur);
        let (code, span) = match self.cur.kind {
            TokenKind::Unknown => (codes::UNEXPECTED_CHAR, self.cur.span),
            _ => (code, self.cur.span),
        };
        self.error_at(code, span, || message(&text));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.bag.push(diagnostic);
    }

    /// Reports that a construct needs a newer language version, unless this one has it.
    fn needs_version(&mut self, version: u16, span: Span, what: &str) {
        if self.hlsl_version < version {
            let message = format!("{what} need HLSL {version} and this is HLSL {}", self.hlsl_version);
            let help = format!("compile with `-HV {version}`");
            self.report(Diagnostic::new(codes::NEEDS_NEWER_HLSL, span, message).help(help));
        }
    }

    /// Counts a level of nesting. Answers false, reported, if there are too many; then the caller must not recurse.
    fn descend(&mut self) -> bool {
        if self.depth < self.limits.nesting {
            self.depth += 1;
            return true;
        }
        self.too_deep();
        false
    }

    fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Reports the limit of nesting and gives up on the rest of the source: what follows would be noise.
    #[cold]
    fn too_deep(&mut self) {
        let message = "the source is nested too deeply here";
        self.bag.report(codes::NESTING_LIMIT, self.cur.span, message);
        self.pos = self.tokens.len() - 1;
        self.cur = self.tokens[self.pos];
        self.reported_at = self.pos;
    }

    // Recovery.

    /// Skips a balanced group that begins at the current opening token; its closing token too.
    fn skip_group(&mut self) {
        let mut open = 0u32;
        loop {
            match self.cur.kind {
                TokenKind::LParen | TokenKind::LBrace | TokenKind::LBracket => open += 1,
                TokenKind::RParen | TokenKind::RBrace | TokenKind::RBracket => open = open.saturating_sub(1),
                TokenKind::Eof => return,
                _ => {}
            }
            self.bump();
            if open == 0 {
                return;
            }
        }
    }

    /// Skips to one of some tokens, or to a `;`, a `}` or the end; groups are skipped whole. Takes nothing of these.
    fn skip_to(&mut self, stop: &[TokenKind]) {
        loop {
            match self.cur.kind {
                kind if stop.contains(&kind) => return,
                TokenKind::Semi | TokenKind::RBrace | TokenKind::Eof => return,
                TokenKind::LParen | TokenKind::LBrace | TokenKind::LBracket => self.skip_group(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips behind the next `;`, or before a `}`.
    fn skip_statement(&mut self) {
        self.skip_to(&[]);
        self.eat(TokenKind::Semi);
    }

    // Nodes.

    fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.ast.add(Expr { kind, span })
    }

    fn error_expr(&mut self, span: Span) -> ExprId {
        self.expr(ExprKind::Error, span)
    }

    fn stmt(&mut self, kind: StmtKind, attributes: Slice<Attribute>, span: Span) -> StmtId {
        self.ast.add(Stmt { kind, attributes, span })
    }

    fn ty(&mut self, kind: TypeKind, mods: Mods, span: Span) -> TypeId {
        self.ast.add(Type { kind, mods: mods & Mods::TYPE, span })
    }

    fn error_type(&mut self, span: Span) -> TypeId {
        self.ty(TypeKind::Error, Mods::empty(), span)
    }
}
