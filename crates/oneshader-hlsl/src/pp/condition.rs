//! The expression of `#if` and `#elif` (C11 6.10.1).
//!
//! Integers have 64 bits and are signed unless a suffix, the size or the other operand makes them unsigned. `true` is
//! 1; other identifiers left after expansion are 0.

use oneshader_diag::{Span, codes};

use super::reader::Pp;
use crate::ast::IntSuffix;
use crate::lex::number::{self, Number};
use crate::lex::{Flags, Token, TokenKind};
use crate::name::kw;

#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn truth(truth: bool) -> Value {
        Value { bits: u64::from(truth), unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// What is wrong, and where.
struct Problem(Span, String);

impl Pp<'_> {
    /// Reads the rest of the line as a condition and evaluates it. A malformed one is false.
    pub(super) fn condition(&mut self, at: Span) -> bool {
        let line = self.condition_line();
        let outer = std::mem::replace(&mut self.in_condition, true);
        self.call = at;
        let list = self.expand_list(&line);
        self.in_condition = outer;
        let mut eval = Eval { pp: self, list: &list, next: 0, depth: 0, end: line.last().map_or(at, |t| t.span).end() };
        let result = eval.expression(0, true).and_then(|value| match list.get(eval.next) {
            None => Ok(value),
            Some(t) => Err(Problem(t.span, format!("unexpected `{}` in the condition", t.text(eval.pp.names)))),
        });
        self.spare.push(line);
        match result {
            Ok(value) => value.is_true(),
            Err(Problem(span, message)) => {
                self.bag.report(codes::BAD_PP_EXPRESSION, span, message);
                false
            }
        }
    }

    /// The tokens of the line; `defined` and its operand are kept from expansion, `__has_include` is evaluated: its
    /// operand is no token.
    fn condition_line(&mut self) -> Vec<Token> {
        let mut line = self.spare.pop().unwrap_or_default();
        line.clear();
        let mut operand = false;
        loop {
            let mut token = self.lex();
            match token.kind {
                TokenKind::Newline | TokenKind::Eof => return line,
                TokenKind::Ident if operand => {
                    token.flags |= Flags::NO_EXPAND;
                    operand = false;
                }
                TokenKind::Ident if token.is(kw::DEFINED) => operand = true,
                TokenKind::Ident if token.is(kw::HAS_INCLUDE) => {
                    let open = self.lex();
                    let header = if open.kind == TokenKind::LParen { self.header_name() } else { None };
                    let close = self.lex();
                    match header {
                        Some((path, angled, span)) if close.kind == TokenKind::RParen => {
                            let found = self.find_include(&path, angled, span).is_some();
                            token.kind = TokenKind::Number;
                            token.value = self.names.intern(if found { "1" } else { "0" }).0;
                        }
                        _ => {
                            let message = "expected `__has_include(\"file\")` or `__has_include(<file>)`";
                            self.bag.report(codes::BAD_PP_EXPRESSION, token.span, message);
                            if matches!(close.kind, TokenKind::Newline | TokenKind::Eof) {
                                return line;
                            }
                        }
                    }
                }
                TokenKind::LParen => {}
                _ => operand = false,
            }
            line.push(token);
        }
    }
}

struct Eval<'p, 'a> {
    pp: &'p mut Pp<'a>,
    list: &'p [Token],
    next: usize,
    depth: u32,
    end: Span,
}

/// Binding strength of binary operators; `?:` and `,` are handled apart, below.
fn precedence(kind: TokenKind) -> u8 {
    match kind {
        TokenKind::Comma => 1,
        TokenKind::Question => 2,
        TokenKind::PipePipe => 3,
        TokenKind::AmpAmp => 4,
        TokenKind::Pipe => 5,
        TokenKind::Caret => 6,
        TokenKind::Amp => 7,
        TokenKind::EqEq | TokenKind::BangEq => 8,
        TokenKind::Lt | TokenKind::Gt | TokenKind::LtEq | TokenKind::GtEq => 9,
        TokenKind::Shl | TokenKind::Shr => 10,
        TokenKind::Plus | TokenKind::Minus => 11,
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 12,
        _ => 0,
    }
}

impl Eval<'_, '_> {
    fn peek(&self) -> Option<Token> {
        self.list.get(self.next).copied()
    }

    fn here(&self) -> Span {
        self.peek().map_or(self.end, |t| t.span)
    }

    /// An expression of operators that bind at least as strong as `least`. Where `live` is false its value does not
    /// matter and it cannot fail to divide.
    fn expression(&mut self, least: u8, live: bool) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > self.pp.options.limits.nesting {
            return Err(Problem(self.here(), "the condition is nested too deeply".into()));
        }
        let mut left = self.unary(live)?;
        while let Some(op) = self.peek() {
            let strength = precedence(op.kind);
            if strength == 0 || strength < least {
                break;
            }
            self.next += 1;
            left = match op.kind {
                TokenKind::Question => {
                    let truth = left.is_true();
                    let yes = self.expression(1, live && truth)?;
                    if self.peek().is_none_or(|t| t.kind != TokenKind::Colon) {
                        return Err(Problem(self.here(), "expected `:` of `?:`".into()));
                    }
                    self.next += 1;
                    let no = self.expression(2, live && !truth)?;
                    Value { bits: if truth { yes.bits } else { no.bits }, unsigned: yes.unsigned || no.unsigned }
                }
                TokenKind::AmpAmp => {
                    let right = self.expression(strength + 1, live && left.is_true())?;
                    Value::truth(left.is_true() && right.is_true())
                }
                TokenKind::PipePipe => {
                    let right = self.expression(strength + 1, live && !left.is_true())?;
                    Value::truth(left.is_true() || right.is_true())
                }
                kind => {
                    let right = self.expression(strength + 1, live)?;
                    match binary(kind, left, right) {
                        Some(value) => value,
                        None if live => return Err(Problem(op.span, "division by zero in the condition".into())),
                        None => Value::truth(false),
                    }
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Problem> {
        // Prefix operators are few but may be many in a row, so they are gathered rather than recursed into.
        let first = self.next;
        while let Some(TokenKind::Bang | TokenKind::Tilde | TokenKind::Plus | TokenKind::Minus) =
            self.peek().map(|t| t.kind)
        {
            self.next += 1;
        }
        let operators = first..self.next;
        let mut value = self.primary(live)?;
        for at in operators.rev() {
            value = match self.list[at].kind {
                TokenKind::Bang => Value::truth(!value.is_true()),
                TokenKind::Tilde => Value { bits: !value.bits, ..value },
                TokenKind::Minus => Value { bits: value.bits.wrapping_neg(), ..value },
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Result<Value, Problem> {
        let Some(token) = self.peek() else { return Err(Problem(self.end, "the condition ends too early".into())) };
        self.next += 1;
        match token.kind {
            TokenKind::Number => self.number(token),
            TokenKind::Char => {
                let text = self.pp.names.text(token.name());
                let inner = &text[1..text.len() - 1];
                Ok(Value { bits: character(inner), unsigned: false })
            }
            TokenKind::Ident if token.is(kw::DEFINED) => self.defined(token),
            TokenKind::Ident => Ok(Value::truth(token.is(kw::TRUE))),
            TokenKind::LParen => {
                let value = self.expression(1, live)?;
                if self.peek().is_none_or(|t| t.kind != TokenKind::RParen) {
                    return Err(Problem(self.here(), "expected `)` in the condition".into()));
                }
                self.next += 1;
                Ok(value)
            }
            _ => {
                let text = token.text(self.pp.names);
                Err(Problem(token.span, format!("unexpected `{text}` in the condition")))
            }
        }
    }

    fn defined(&mut self, token: Token) -> Result<Value, Problem> {
        let paren = self.peek().is_some_and(|t| t.kind == TokenKind::LParen);
        self.next += usize::from(paren);
        let name = self.peek().filter(|t| t.kind == TokenKind::Ident);
        let Some(name) = name else { return Err(Problem(token.span, "expected a name behind `defined`".into())) };
        self.next += 1;
        if paren {
            if self.peek().is_none_or(|t| t.kind != TokenKind::RParen) {
                return Err(Problem(self.here(), "expected `)` behind `defined(name`".into()));
            }
            self.next += 1;
        }
        Ok(Value::truth(self.pp.macros.is_defined(name.name())))
    }

    fn number(&self, token: Token) -> Result<Value, Problem> {
        let text = self.pp.names.text(token.name());
        match number::parse(text) {
            Ok(Number::Int(bits, suffix)) => {
                let unsigned =
                    matches!(suffix, IntSuffix::U | IntSuffix::Ul | IntSuffix::Ull) || bits > i64::MAX as u64;
                Ok(Value { bits, unsigned })
            }
            Ok(Number::Float(..)) => {
                Err(Problem(token.span, "a condition takes integers, not `".to_string() + text + "`"))
            }
            Err(_) => Err(Problem(token.span, format!("`{text}` is no integer"))),
        }
    }
}

/// The value of a character literal's inside.
fn character(text: &str) -> u64 {
    let mut chars = text.chars();
    let first = chars.next().unwrap_or('\0');
    let value = match (first, chars.next()) {
        ('\\', Some('n')) => '\n',
        ('\\', Some('t')) => '\t',
        ('\\', Some('r')) => '\r',
        ('\\', Some('0')) => '\0',
        ('\\', Some(c)) => c,
        (c, _) => c,
    };
    u64::from(value)
}

/// A binary operator; `None` for a division by zero.
fn binary(kind: TokenKind, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (sa, sb) = (a as i64, b as i64);
    let number = |bits| Some(Value { bits, unsigned });
    let compare = |u: bool, s: bool| Some(Value::truth(if unsigned { u } else { s }));
    match kind {
        TokenKind::Star => number(a.wrapping_mul(b)),
        TokenKind::Slash | TokenKind::Percent if b == 0 => None,
        TokenKind::Slash => number(if unsigned { a / b } else { sa.wrapping_div(sb) as u64 }),
        TokenKind::Percent => number(if unsigned { a % b } else { sa.wrapping_rem(sb) as u64 }),
        TokenKind::Plus => number(a.wrapping_add(b)),
        TokenKind::Minus => number(a.wrapping_sub(b)),
        // Shifts have the type of the left operand; too large ones give what is left after all bits are gone.
        TokenKind::Shl => Some(Value { bits: if b < 64 { a << b } else { 0 }, ..left }),
        TokenKind::Shr => {
            let by = b.min(63) as u32;
            let bits = if left.unsigned { if b < 64 { a >> b } else { 0 } } else { (sa >> by) as u64 };
            Some(Value { bits, ..left })
        }
        TokenKind::Lt => compare(a < b, sa < sb),
        TokenKind::Gt => compare(a > b, sa > sb),
        TokenKind::LtEq => compare(a <= b, sa <= sb),
        TokenKind::GtEq => compare(a >= b, sa >= sb),
        TokenKind::EqEq => Some(Value::truth(a == b)),
        TokenKind::BangEq => Some(Value::truth(a != b)),
        TokenKind::Amp => number(a & b),
        TokenKind::Caret => number(a ^ b),
        TokenKind::Pipe => number(a | b),
        _ => Some(right),
    }
}
