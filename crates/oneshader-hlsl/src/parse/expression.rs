//! Expressions.

use oneshader_diag::{Diagnostic, Span, codes};
use smallvec::SmallVec;

use super::Parser;
use crate::ast::*;
use crate::lex::number::{self, Number, NumberError};
use crate::lex::{Token, TokenKind};
use crate::name::{Class, kw};

/// Binding strengths, weakest first (C11 6.5).
mod strength {
    pub const COMMA: u8 = 1;
    pub const ASSIGN: u8 = 2;
    pub const TERNARY: u8 = 3;
    pub const OR: u8 = 4;
}

#[derive(Clone, Copy)]
enum Operator {
    Binary(BinaryOp),
    Assign(Option<BinaryOp>),
    Ternary,
}

fn operator(kind: TokenKind) -> Option<(Operator, u8)> {
    use BinaryOp as B;
    use Operator::{Assign, Binary, Ternary};
    use TokenKind as K;
    Some(match kind {
        K::Comma => (Binary(B::Comma), strength::COMMA),
        K::Eq => (Assign(None), strength::ASSIGN),
        K::StarEq => (Assign(Some(B::Mul)), strength::ASSIGN),
        K::SlashEq => (Assign(Some(B::Div)), strength::ASSIGN),
        K::PercentEq => (Assign(Some(B::Rem)), strength::ASSIGN),
        K::PlusEq => (Assign(Some(B::Add)), strength::ASSIGN),
        K::MinusEq => (Assign(Some(B::Sub)), strength::ASSIGN),
        K::ShlEq => (Assign(Some(B::Shl)), strength::ASSIGN),
        K::ShrEq => (Assign(Some(B::Shr)), strength::ASSIGN),
        K::AmpEq => (Assign(Some(B::BitAnd)), strength::ASSIGN),
        K::CaretEq => (Assign(Some(B::BitXor)), strength::ASSIGN),
        K::PipeEq => (Assign(Some(B::BitOr)), strength::ASSIGN),
        K::Question => (Ternary, strength::TERNARY),
        K::PipePipe => (Binary(B::Or), strength::OR),
        K::AmpAmp => (Binary(B::And), 5),
        K::Pipe => (Binary(B::BitOr), 6),
        K::Caret => (Binary(B::BitXor), 7),
        K::Amp => (Binary(B::BitAnd), 8),
        K::EqEq => (Binary(B::Eq), 9),
        K::BangEq => (Binary(B::Ne), 9),
        K::Lt => (Binary(B::Lt), 10),
        K::LtEq => (Binary(B::Le), 10),
        K::Gt => (Binary(B::Gt), 10),
        K::GtEq => (Binary(B::Ge), 10),
        K::Shl => (Binary(B::Shl), 11),
        K::Shr => (Binary(B::Shr), 11),
        K::Plus => (Binary(B::Add), 12),
        K::Minus => (Binary(B::Sub), 12),
        K::Star => (Binary(B::Mul), 13),
        K::Slash => (Binary(B::Div), 13),
        K::Percent => (Binary(B::Rem), 13),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression, commas included.
    pub(super) fn expression(&mut self) -> ExprId {
        self.operators(strength::COMMA)
    }

    /// An expression without comma operator.
    pub(super) fn assignment(&mut self) -> ExprId {
        self.operators(strength::ASSIGN)
    }

    /// A constant expression: no assignment either.
    pub(super) fn constant(&mut self) -> ExprId {
        self.operators(strength::TERNARY)
    }

    /// An initializer: an expression or `{ ... }`.
    pub(super) fn initializer(&mut self) -> ExprId {
        if !self.is(TokenKind::LBrace) {
            return self.assignment();
        }
        if !self.descend() {
            return self.error_expr(self.cur.span);
        }
        let start = self.bump().span;
        let outer = std::mem::replace(&mut self.in_template_args, false);
        let mut items: SmallVec<[ExprId; 8]> = SmallVec::new();
        while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
            let at = self.pos;
            items.push(self.initializer());
            if !self.eat(TokenKind::Comma) || self.pos == at {
                break;
            }
        }
        self.in_template_args = outer;
        if !self.expect_close(TokenKind::RBrace, start, "at the end of the initializer list") {
            self.skip_to(&[]);
            self.eat(TokenKind::RBrace);
        }
        self.ascend();
        let items = self.ast.list(&items);
        self.expr(ExprKind::InitList(items), start.to(self.last))
    }

    /// What stands between brackets of any kind, where `>` compares again. The closing one is not taken.
    pub(super) fn parenthesized_expr(&mut self) -> ExprId {
        let outer = std::mem::replace(&mut self.in_template_args, false);
        let expr = self.expression();
        self.in_template_args = outer;
        expr
    }

    /// Parses what stands behind an opened `(` and takes the `)`.
    pub(super) fn parenthesized<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let open = self.last;
        let outer = std::mem::replace(&mut self.in_template_args, false);
        let result = inner(self);
        self.in_template_args = outer;
        self.close_paren(open);
        result
    }

    pub(super) fn close_paren(&mut self, open: Span) {
        if !self.expect_close(TokenKind::RParen, open, "to close the `(`") {
            // A `{` begins the body that belongs to what is in the parentheses.
            self.skip_to(&[TokenKind::RParen, TokenKind::LBrace]);
            self.eat(TokenKind::RParen);
        }
    }

    /// Operators that bind at least as strong as `least`, by precedence climbing.
    fn operators(&mut self, least: u8) -> ExprId {
        if !self.descend() {
            return self.error_expr(self.cur.span);
        }
        let mut left = self.unary();
        let mut chain = 0;
        while let Some((op, strength)) = operator(self.cur.kind) {
            if strength < least || self.in_template_args && self.ends_argument() {
                break;
            }
            chain += 1;
            if chain > self.limits.chain {
                self.too_deep();
                break;
            }
            self.bump();
            let start = self.ast[left].span;
            left = match op {
                Operator::Binary(op) => {
                    let rhs = self.operators(strength + 1);
                    self.expr(ExprKind::Binary { op, lhs: left, rhs }, start.to(self.last))
                }
                Operator::Assign(op) => {
                    let rhs = if self.is(TokenKind::LBrace) { self.initializer() } else { self.operators(strength) };
                    self.expr(ExprKind::Assign { op, lhs: left, rhs }, start.to(self.last))
                }
                Operator::Ternary => {
                    if self.is(TokenKind::Colon) {
                        self.error_here(codes::NOT_HLSL, |_| "`?:` needs its middle operand in HLSL".into());
                    }
                    let yes = self.parenthesized_expr();
                    self.expect(TokenKind::Colon, "of `?:`");
                    let no = self.operators(strength::ASSIGN);
                    self.expr(ExprKind::Ternary { cond: left, yes, no }, start.to(self.last))
                }
            };
        }
        self.ascend();
        left
    }

    /// Whether the current token ends a template argument rather than being an operator in it.
    fn ends_argument(&self) -> bool {
        matches!(
            self.cur.kind,
            TokenKind::Gt | TokenKind::Shr | TokenKind::GtEq | TokenKind::ShrEq | TokenKind::Comma | TokenKind::Eq
        )
    }

    fn unary(&mut self) -> ExprId {
        let start = self.cur.span;
        let op = match self.cur.kind {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::PlusPlus => UnaryOp::PreInc,
            TokenKind::MinusMinus => UnaryOp::PreDec,
            TokenKind::Star | TokenKind::Amp => {
                self.error_here(codes::NOT_HLSL, |text| format!("HLSL has no pointers: {text} is no prefix operator"));
                self.bump();
                return self.nested_unary(start);
            }
            TokenKind::LParen if self.is_cast() => return self.cast(),
            TokenKind::Ident if self.is_word(kw::SIZEOF) => return self.sizeof(),
            _ => return self.postfix(),
        };
        self.bump();
        let operand = self.nested_unary(start);
        self.expr(ExprKind::Unary { op, operand }, start.to(self.last))
    }

    /// The operand of a prefix operator or cast.
    fn nested_unary(&mut self, start: Span) -> ExprId {
        if !self.descend() {
            return self.error_expr(start);
        }
        let operand = self.unary();
        self.ascend();
        operand
    }

    /// Whether the `(` at the current token opens a cast.
    fn is_cast(&self) -> bool {
        let mut pos = self.pos + 1;
        if self.begins_type(pos) {
            let Some(mut end) = self.type_end(pos) else { return true };
            // `(float3(1, 2, 3))`, `(S::value)` and `(T.x)` are expressions.
            while self.at(end).kind == TokenKind::LBracket {
                let mut open = 0;
                loop {
                    match self.at(end).kind {
                        TokenKind::LBracket => open += 1,
                        TokenKind::RBracket => open -= 1,
                        TokenKind::Eof | TokenKind::Semi => return false,
                        _ => {}
                    }
                    end += 1;
                    if open == 0 {
                        break;
                    }
                }
            }
            return matches!(
                self.at(end).kind,
                TokenKind::RParen | TokenKind::Star | TokenKind::Amp | TokenKind::Ident
            );
        }
        // `(Undeclared)x`: nothing but a cast has an operand behind `)`.
        if self.is_name(self.at(pos)) && self.symbol(self.at(pos).name()).is_none() {
            pos += 1;
            return self.at(pos).kind == TokenKind::RParen
                && (matches!(self.at(pos + 1).kind, TokenKind::Number)
                    || self.at(pos + 1).kind == TokenKind::Ident && self.is_name(self.at(pos + 1)));
        }
        false
    }

    fn cast(&mut self) -> ExprId {
        let start = self.bump().span;
        let ty = self.parenthesized(Self::type_name);
        if self.is(TokenKind::LBrace) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no compound literals".into());
            self.initializer();
            return self.error_expr(start.to(self.last));
        }
        let operand = self.nested_unary(start);
        self.expr(ExprKind::Cast { ty, operand }, start.to(self.last))
    }

    fn sizeof(&mut self) -> ExprId {
        let start = self.bump().span;
        let kind = if self.is(TokenKind::LParen) && self.sizeof_type() {
            self.bump();
            ExprKind::SizeofType(self.parenthesized(Self::type_name))
        } else {
            ExprKind::SizeofExpr(self.nested_unary(start))
        };
        self.expr(kind, start.to(self.last))
    }

    fn sizeof_type(&self) -> bool {
        let pos = self.pos + 1;
        match self.type_end(pos) {
            Some(end) => matches!(self.at(end).kind, TokenKind::RParen | TokenKind::LBracket),
            None => self.begins_type(pos),
        }
    }

    /// A primary expression with its postfixes.
    fn postfix(&mut self) -> ExprId {
        let mut expr = self.primary();
        let start = self.ast[expr].span;
        let mut chain = 0;
        loop {
            chain += 1;
            if chain > self.limits.chain {
                self.too_deep();
                return expr;
            }
            let kind = match self.cur.kind {
                TokenKind::Dot | TokenKind::Arrow => match self.member(expr) {
                    Some(kind) => kind,
                    None => {
                        expr = self.error_expr(start.to(self.last));
                        continue;
                    }
                },
                TokenKind::LBracket if self.ahead(1).kind == TokenKind::LBracket => return expr,
                TokenKind::LBracket => {
                    let open = self.bump().span;
                    let index = self.parenthesized_expr();
                    if !self.expect_close(TokenKind::RBracket, open, "behind the index") {
                        self.skip_to(&[TokenKind::RBracket, TokenKind::RParen, TokenKind::Comma]);
                        self.eat(TokenKind::RBracket);
                    }
                    ExprKind::Index { base: expr, index }
                }
                TokenKind::LParen => ExprKind::Call { callee: expr, args: self.arguments() },
                TokenKind::PlusPlus => {
                    self.bump();
                    ExprKind::Unary { op: UnaryOp::PostInc, operand: expr }
                }
                TokenKind::MinusMinus => {
                    self.bump();
                    ExprKind::Unary { op: UnaryOp::PostDec, operand: expr }
                }
                _ => return expr,
            };
            expr = self.expr(kind, start.to(self.last));
        }
    }

    /// `.name`, `.Load<T>`, `.Base::name`. `None`, reported, where no name follows.
    fn member(&mut self, base: ExprId) -> Option<ExprKind> {
        if self.is(TokenKind::Arrow) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no pointers: use `.` for members".into());
        }
        self.bump();
        self.eat_word(kw::TEMPLATE);
        if !self.is_name(self.cur) {
            self.error_here(codes::EXPECTED_NAME, |text| format!("expected a member's name, found {text}"));
            return None;
        }
        let name = self.cur.name();
        let next = self.ahead(1);
        let qualified = next.kind == TokenKind::ColonColon;
        let has_args = next.kind == TokenKind::Lt
            && self.scopes.is_member_template(name)
            && self.angle_end(self.pos + 1).is_some_and(|end| self.at(end).kind == TokenKind::LParen);
        if !qualified && !has_args {
            self.bump();
            return Some(ExprKind::Member { base, name });
        }
        if qualified {
            let path = self.path(false)?;
            return Some(ExprKind::MemberPath { base, path });
        }
        let token = self.bump();
        let args = Some(self.template_args());
        let segments = self.ast.list(&[Segment { name, args, span: token.span }]);
        let path = self.ast.add(Path { global: false, segments, span: token.span.to(self.last) });
        Some(ExprKind::MemberPath { base, path })
    }

    /// `( ... )` of a call; the current token is `(`.
    pub(super) fn arguments(&mut self) -> Slice<ExprId> {
        // A level of its own beside the argument's: calls within calls take as much stack as parentheses do.
        if !self.descend() {
            return Slice::EMPTY;
        }
        let open = self.bump().span;
        let outer = std::mem::replace(&mut self.in_template_args, false);
        let mut args: SmallVec<[ExprId; 8]> = SmallVec::new();
        if !self.is(TokenKind::RParen) {
            loop {
                let at = self.pos;
                args.push(self.initializer());
                if !self.eat(TokenKind::Comma) || self.pos == at {
                    break;
                }
            }
        }
        self.in_template_args = outer;
        self.ascend();
        self.close_paren(open);
        self.ast.list(&args)
    }

    fn primary(&mut self) -> ExprId {
        let token = self.cur;
        match token.kind {
            TokenKind::Ident => self.named(token),
            TokenKind::Number => {
                self.bump();
                let kind = self.number(token);
                self.expr(kind, token.span)
            }
            TokenKind::LParen => {
                let start = self.bump().span;
                let inner = self.parenthesized(Self::expression);
                let span = start.to(self.last);
                self.ast[inner].span = span;
                inner
            }
            TokenKind::Str => self.string(),
            TokenKind::Char => {
                self.bump();
                let kind = self.character(token);
                self.expr(kind, token.span)
            }
            TokenKind::ColonColon if self.type_end(self.pos).is_none() => self.path_expr(),
            TokenKind::ColonColon => self.construct(),
            _ => {
                self.error_here(codes::EXPECTED_EXPRESSION, |text| format!("expected an expression, found {text}"));
                // An operator without operand is skipped so that what follows can be parsed.
                let stray = matches!(token.kind, TokenKind::Unknown | TokenKind::Hash | TokenKind::HashHash);
                if stray || operator(token.kind).is_some() && token.kind != TokenKind::Comma {
                    self.bump();
                }
                self.error_expr(token.span)
            }
        }
    }

    /// A primary expression that begins with a word.
    fn named(&mut self, token: Token) -> ExprId {
        match self.class(token) {
            Class::Ident | Class::Contextual => {
                let next = self.ahead(1).kind;
                let known = self.scopes.is_known(token.name());
                if !known && next != TokenKind::ColonColon {
                    self.bump();
                    return self.expr(ExprKind::Name(token.name()), token.span);
                }
                if self.type_end(self.pos).is_some() { self.construct() } else { self.path_expr() }
            }
            Class::Numeric(_) | Class::Object(_) => {
                if self.type_end(self.pos).is_some() {
                    self.construct()
                } else {
                    self.path_expr()
                }
            }
            Class::Keyword => match token.name() {
                kw::TRUE | kw::FALSE => {
                    self.bump();
                    self.expr(ExprKind::Bool(token.is(kw::TRUE)), token.span)
                }
                kw::THIS => {
                    self.bump();
                    self.expr(ExprKind::This, token.span)
                }
                kw::UNSIGNED | kw::SIGNED | kw::TYPENAME | kw::DECLTYPE | kw::GNU_DECLTYPE => self.construct(),
                kw::SIZEOF => self.sizeof(),
                _ => {
                    self.error_here(codes::EXPECTED_EXPRESSION, |text| format!("expected an expression, found {text}"));
                    self.error_expr(token.span)
                }
            },
            Class::Reserved => {
                self.reserved_word();
                self.bump();
                self.error_expr(token.span)
            }
        }
    }

    /// `T(args)`; the current token begins a type.
    fn construct(&mut self) -> ExprId {
        let start = self.cur.span;
        let ty = self.type_specifier(Mods::empty());
        if self.is(TokenKind::LParen) {
            let args = self.arguments();
            return self.expr(ExprKind::Construct { ty, args }, start.to(self.last));
        }
        if self.is(TokenKind::LBrace) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL constructs values with `T(...)`, not `T{...}`".into());
            self.initializer();
        } else {
            let text = self.spelled(self.cur);
            let span = start.to(self.last);
            self.error_at(codes::EXPECTED_EXPRESSION, span, || {
                format!("a type is no value: expected `(` behind it, found {text}")
            });
        }
        self.error_expr(start.to(self.last))
    }

    /// A name, perhaps qualified or with template arguments.
    fn path_expr(&mut self) -> ExprId {
        let start = self.cur.span;
        let Some(path) = self.path(false) else { return self.error_expr(start) };
        let node = self.ast[path];
        let first = self.ast[node.segments][0];
        let kind = match first.args {
            None if node.segments.len() == 1 && !node.global => ExprKind::Name(first.name),
            _ => ExprKind::Path(path),
        };
        self.expr(kind, node.span)
    }

    // Literals.

    fn number(&mut self, token: Token) -> ExprKind {
        if let Some(kind) = self.numbers.get(&token.name()) {
            return *kind;
        }
        let text = self.names.text(token.name());
        let kind = match number::parse(text) {
            Ok(Number::Int(value, suffix)) => ExprKind::Int(value, suffix),
            Ok(Number::Float(value, suffix)) => ExprKind::Float(value, suffix),
            Err(NumberError::Malformed(why)) => {
                let message = format!("`{text}` is no number of HLSL");
                self.report(Diagnostic::new(codes::BAD_NUMBER, token.span, message).note(why));
                return ExprKind::Error;
            }
            Err(NumberError::TooLarge) => {
                let message = format!("`{text}` needs more than 64 bits");
                self.report(Diagnostic::new(codes::NUMBER_TOO_LARGE, token.span, message));
                return ExprKind::Error;
            }
        };
        self.numbers.insert(token.name(), kind);
        kind
    }

    /// String literals side by side make one.
    fn string(&mut self) -> ExprId {
        let start = self.cur.span;
        let id = self.string_text();
        self.expr(ExprKind::Str(id), start.to(self.last))
    }

    pub(super) fn string_text(&mut self) -> StrId {
        let mut text = String::new();
        while self.is(TokenKind::Str) {
            let token = self.bump();
            let spelling = self.names.text(token.name());
            unescape(spelling.get(1..spelling.len().saturating_sub(1)).unwrap_or(""), &mut text);
        }
        self.ast.add_string(&text)
    }

    /// A character literal is an unsigned integer, as in DXC.
    fn character(&mut self, token: Token) -> ExprKind {
        let mut text = String::new();
        let spelling = self.names.text(token.name());
        unescape(spelling.get(1..spelling.len().saturating_sub(1)).unwrap_or(""), &mut text);
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => ExprKind::Int(u64::from(c), IntSuffix::U),
            _ => {
                let message = "a character literal has one character";
                self.report(Diagnostic::new(codes::SYNTAX, token.span, message));
                ExprKind::Error
            }
        }
    }
}

/// Resolves the escapes of a literal (C11 6.4.4.4). Unknown ones stand for their character.
fn unescape(text: &str, out: &mut String) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match if c == '\\' { chars.next() } else { None } {
            None => c,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('v') => '\x0b',
            Some('x') => code(&mut chars, 0, 16, 6),
            Some(c @ '0'..='7') => code(&mut chars, u32::from(c) - u32::from('0'), 8, 2),
            Some(c) => c,
        };
        out.push(c);
    }
}

/// The character of an escape's digits, at most `most`, behind `value`.
fn code(chars: &mut std::str::Chars<'_>, mut value: u32, radix: u32, most: usize) -> char {
    for _ in 0..most {
        let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(radix)) else { break };
        value = value * radix + digit;
        chars.next();
    }
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}
