//! Statements.

use oneshader_diag::codes;
use smallvec::SmallVec;

use super::Parser;
use super::declaration::Context;
use crate::ast::*;
use crate::lex::{Token, TokenKind};
use crate::name::{Class, kw};

impl Parser<'_> {
    /// A function's body, in the scope that its parameters are in.
    pub(super) fn function_body(&mut self) -> StmtId {
        let start = self.cur.span;
        let kind = self.block_in_scope();
        self.stmt(kind, Slice::EMPTY, start.to(self.last))
    }

    fn block(&mut self) -> StmtKind {
        let outer = self.scopes.enter();
        let block = self.block_in_scope();
        self.scopes.leave(outer);
        block
    }

    fn block_in_scope(&mut self) -> StmtKind {
        let start = self.cur.span;
        self.expect(TokenKind::LBrace, "to begin a block");
        let mut stmts: SmallVec<[StmtId; 16]> = SmallVec::new();
        while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
            let at = self.pos;
            let stmt = self.statement();
            stmts.push(stmt);
            if self.pos == at {
                self.error_here(codes::SYNTAX, |text| format!("expected a statement, found {text}"));
                self.bump();
            }
        }
        self.expect_close(TokenKind::RBrace, start, "at the end of the block");
        StmtKind::Block(self.ast.list(&stmts))
    }

    /// A statement that is the body of another one: its declarations are its own.
    fn body(&mut self) -> StmtId {
        let outer = self.scopes.enter();
        let body = self.statement();
        self.scopes.leave(outer);
        body
    }

    pub(super) fn statement(&mut self) -> StmtId {
        if !self.descend() {
            return self.stmt(StmtKind::Error, Slice::EMPTY, self.cur.span);
        }
        let start = self.cur.span;
        let attributes = self.attributes();
        let kind = self.statement_kind(attributes);
        self.ascend();
        self.stmt(kind, attributes, start.to(self.last))
    }

    fn statement_kind(&mut self, attributes: Slice<Attribute>) -> StmtKind {
        let token = self.cur;
        match token.kind {
            TokenKind::LBrace => self.block(),
            TokenKind::Semi => {
                self.bump();
                StmtKind::Empty
            }
            TokenKind::Ident if self.class(token) == Class::Keyword => self.keyword_statement(token, attributes),
            TokenKind::Ident if self.class(token) == Class::Reserved && !token.is(kw::AUTO) => {
                self.reserved_word();
                self.skip_statement();
                StmtKind::Error
            }
            TokenKind::Ident | TokenKind::ColonColon if self.begins_declaration() => {
                self.declaration_statement(attributes)
            }
            TokenKind::Ident if self.ahead(1).kind == TokenKind::Colon => {
                self.error_here(codes::NOT_HLSL, |_| "HLSL has no labels".into());
                self.bump();
                self.bump();
                StmtKind::Error
            }
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> StmtKind {
        let at = self.pos;
        let expr = self.expression();
        if self.pos == at {
            // Nothing was read and an error reported: go on behind the statement.
            self.skip_statement();
        } else {
            self.semi("behind the expression");
        }
        StmtKind::Expr(expr)
    }

    /// Takes the `;` that ends a statement; where it is missing, goes on where the next statement may begin.
    pub(super) fn semi(&mut self, where_: &str) {
        if self.eat(TokenKind::Semi) {
            return;
        }
        let reported = self.reported_at == self.pos;
        self.expect(TokenKind::Semi, where_);
        // Behind an error or in the middle of a line the rest is noise; a new line may begin a new statement.
        if reported || !self.cur.flags.contains(crate::lex::Flags::LINE_START) {
            self.skip_statement();
        }
    }

    fn keyword_statement(&mut self, token: Token, attributes: Slice<Attribute>) -> StmtKind {
        match token.name() {
            kw::IF => self.if_chain(),
            kw::FOR => self.for_statement(),
            kw::WHILE => {
                self.bump();
                let outer = self.scopes.enter();
                let cond = self.condition("while");
                let body = self.body();
                self.scopes.leave(outer);
                StmtKind::While { cond, body }
            }
            kw::DO => {
                self.bump();
                let body = self.body();
                if !self.eat_word(kw::WHILE) {
                    self.error_here(codes::EXPECTED_TOKEN, |text| {
                        format!("expected `while` behind the body of `do`, found {text}")
                    });
                    let cond = self.error_expr(self.cur.span);
                    return StmtKind::DoWhile { body, cond };
                }
                let cond = self.condition("while");
                self.semi("behind `do ... while (...)`");
                StmtKind::DoWhile { body, cond }
            }
            kw::SWITCH => {
                self.bump();
                let outer = self.scopes.enter();
                let on = self.condition("switch");
                let body = self.body();
                self.scopes.leave(outer);
                StmtKind::Switch { on, body }
            }
            kw::CASE => {
                self.bump();
                let value = self.constant();
                self.expect(TokenKind::Colon, "behind `case`");
                StmtKind::Case(value)
            }
            kw::DEFAULT => {
                self.bump();
                self.expect(TokenKind::Colon, "behind `default`");
                StmtKind::Default
            }
            kw::BREAK | kw::CONTINUE | kw::DISCARD => {
                self.bump();
                self.semi("behind the statement");
                match token.name() {
                    kw::BREAK => StmtKind::Break,
                    kw::CONTINUE => StmtKind::Continue,
                    _ => StmtKind::Discard,
                }
            }
            kw::RETURN => {
                self.bump();
                let value = match self.cur.kind {
                    TokenKind::Semi => None,
                    TokenKind::LBrace => Some(self.initializer()),
                    _ => Some(self.expression()),
                };
                self.semi("behind `return`");
                StmtKind::Return(value)
            }
            kw::ELSE => {
                self.error_here(codes::SYNTAX, |_| "`else` without `if`".into());
                self.bump();
                StmtKind::Error
            }
            kw::THIS | kw::SIZEOF | kw::TRUE | kw::FALSE => self.expression_statement(),
            kw::UNSIGNED | kw::SIGNED | kw::TYPENAME | kw::DECLTYPE | kw::GNU_DECLTYPE
                if !self.begins_declaration() =>
            {
                self.expression_statement()
            }
            kw::OPERATOR => {
                self.error_here(codes::SYNTAX, |_| "an operator is declared at namespace or struct scope".into());
                self.skip_statement();
                StmtKind::Error
            }
            _ => self.declaration_statement(attributes),
        }
    }

    fn declaration_statement(&mut self, attributes: Slice<Attribute>) -> StmtKind {
        let mut decls = Vec::new();
        let at = self.pos;
        self.declaration_with(Context::Block, attributes, &mut decls);
        if self.pos == at {
            self.error_here(codes::SYNTAX, |text| format!("expected a statement, found {text}"));
            self.skip_statement();
        }
        StmtKind::Decl(self.ast.list(&decls))
    }

    /// `( condition )`; a declaration may stand in it.
    fn condition(&mut self, word: &str) -> ExprId {
        if !self.expect(TokenKind::LParen, &format!("behind `{word}`")) {
            return self.error_expr(self.cur.span);
        }
        let open = self.last;
        let cond = self.condition_inside();
        self.close_paren(open);
        cond
    }

    fn condition_inside(&mut self) -> ExprId {
        if !self.begins_declaration() {
            return self.expression();
        }
        let start = self.cur.span;
        match self.condition_declaration() {
            Some(decl) => self.expr(ExprKind::DeclCondition(decl), start.to(self.last)),
            None => self.error_expr(start.to(self.last)),
        }
    }

    /// `if`, and the chain of `else if` behind it, without recursion.
    fn if_chain(&mut self) -> StmtKind {
        struct Link {
            start: oneshader_diag::Span,
            attributes: Slice<Attribute>,
            cond: ExprId,
            then: StmtId,
        }
        let outer = self.scopes.enter();
        let mut links: SmallVec<[Link; 4]> = SmallVec::new();
        let mut attributes = Slice::EMPTY;
        let otherwise = loop {
            let start = self.cur.span;
            self.bump();
            let cond = self.condition("if");
            let then = self.body();
            links.push(Link { start, attributes, cond, then });
            if links.len() as u32 > self.limits.chain {
                self.too_deep();
            }
            if !self.eat_word(kw::ELSE) {
                break None;
            }
            // `else [branch] if (...)` keeps its attributes.
            let before = (self.pos, self.cur.span);
            attributes = self.attributes();
            if self.is_word(kw::IF) {
                continue;
            }
            let body = self.body();
            if before.0 != self.pos && !attributes.is_empty() {
                self.ast[body].attributes = attributes;
            }
            break Some(body);
        };
        self.scopes.leave(outer);
        let mut kind = StmtKind::Empty;
        let mut otherwise = otherwise;
        while let Some(link) = links.pop() {
            kind = StmtKind::If { cond: link.cond, then: link.then, otherwise };
            if !links.is_empty() {
                otherwise = Some(self.stmt(kind, link.attributes, link.start.to(self.last)));
            }
        }
        kind
    }

    fn for_statement(&mut self) -> StmtKind {
        self.bump();
        let outer = self.scopes.enter();
        self.expect(TokenKind::LParen, "behind `for`");
        let open = self.last;
        let start = self.cur.span;
        let init = if self.eat(TokenKind::Semi) {
            None
        } else {
            let kind = if self.begins_declaration() {
                self.declaration_statement(Slice::EMPTY)
            } else {
                let expr = self.expression();
                self.expect(TokenKind::Semi, "behind the first part of `for`");
                StmtKind::Expr(expr)
            };
            Some(self.stmt(kind, Slice::EMPTY, start.to(self.last)))
        };
        let cond = if self.is(TokenKind::Semi) { None } else { Some(self.condition_inside()) };
        self.expect(TokenKind::Semi, "behind the condition of `for`");
        let step = if self.is(TokenKind::RParen) { None } else { Some(self.expression()) };
        self.close_paren(open);
        let body = self.body();
        self.scopes.leave(outer);
        StmtKind::For { init, cond, step, body }
    }
}
