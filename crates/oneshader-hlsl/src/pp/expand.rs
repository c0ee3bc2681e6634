//! Macro expansion (C11 6.10.3).
//!
//! A stack of [`Context`]s holds what is being rescanned. The macro a context came from is disabled until the context
//! is used up; its name met meanwhile is painted with [`Flags::NO_EXPAND`] for good.

use std::fmt::Write;

use oneshader_diag::{Diagnostic, Span, codes};
use smallvec::SmallVec;

use super::macros::{Builtin, MacroKind};
use super::reader::Pp;
use crate::lex::{Flags, Lexer, Token, TokenKind};
use crate::name::kw;

/// Tokens waiting to be read.
pub(super) struct Context {
    /// `None`: a slice of [`super::macros::Macros::bodies`].
    tokens: Option<Vec<Token>>,
    next: u32,
    end: u32,
    /// Index + 1 of the macro to enable at the end; 0 for none.
    source: u32,
    /// Flags of the first token: what stood before the macro's name.
    lead: Flags,
    fresh: bool,
}

/// The arguments of an invocation, unexpanded.
struct Arguments {
    tokens: Vec<Token>,
    ends: SmallVec<[u32; 8]>,
    /// Whether the variable arguments are missing, their comma too.
    elided: bool,
}

impl Arguments {
    fn get(&self, index: usize) -> &[Token] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.tokens[start as usize..end as usize]
    }
}

impl Pp<'_> {
    /// Expands an invocation that begins in the current file and emits what comes of it.
    pub(super) fn expand_from_file(&mut self, mut token: Token) {
        self.call = token.span;
        let first = self.out.len();
        let index = self.macros.find(token.value).unwrap_or(0) as u32;
        if !self.try_expand(&mut token) {
            return self.emit(token);
        }
        while let Some(mut token) = self.next_in_context() {
            if !self.try_expand(&mut token) {
                self.emit(token);
            }
        }
        if self.out.len() > first {
            self.calls.push((self.call, index));
        }
    }

    /// Expands a list by itself, as an argument or a directive's line is.
    pub(super) fn expand_list(&mut self, tokens: &[Token]) -> Vec<Token> {
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        if !tokens.iter().any(|t| t.kind == TokenKind::Ident && self.macros.find(t.value).is_some()) {
            out.extend_from_slice(tokens);
            return out;
        }
        if self.depth >= self.options.limits.nesting {
            let at = tokens.first().map_or(self.call, |t| t.span);
            self.exhaust(at, "macro invocations are nested too deeply");
            return out;
        }
        let mut input = self.spare.pop().unwrap_or_default();
        input.clear();
        input.extend_from_slice(tokens);
        let (floor, isolated) = (self.floor, self.isolated);
        self.floor = self.contexts.len();
        self.isolated = true;
        self.depth += 1;
        self.push_owned(input, 0, Flags::empty(), false);
        while let Some(mut token) = self.next_in_context() {
            if self.in_condition && token.is(kw::DEFINED) {
                self.keep_operand(token, &mut out);
            } else if !self.try_expand(&mut token) {
                out.push(token);
            }
        }
        self.depth -= 1;
        self.floor = floor;
        self.isolated = isolated;
        out
    }

    /// Keeps the operand of `defined` from being expanded.
    fn keep_operand(&mut self, defined: Token, out: &mut Vec<Token>) {
        out.push(defined);
        let Some(mut token) = self.next_in_context() else { return };
        if token.kind == TokenKind::LParen {
            out.push(token);
            match self.next_in_context() {
                Some(next) => token = next,
                None => return,
            }
        }
        token.flags |= Flags::NO_EXPAND;
        out.push(token);
    }

    #[cold]
    fn exhaust(&mut self, at: Span, message: &str) {
        if !self.exhausted {
            self.exhausted = true;
            self.bag.report(codes::EXPANSION_LIMIT, at, message);
        }
    }

    /// Charges tokens to the budget. Answers false when it is used up.
    fn charge(&mut self, tokens: usize) -> bool {
        self.expanded += tokens as u64 + 1;
        if self.expanded <= self.options.limits.expanded {
            return true;
        }
        let message = format!("macro expansion handles more than {} tokens", self.options.limits.expanded);
        self.exhaust(self.call, &message);
        false
    }

    fn push_owned(&mut self, tokens: Vec<Token>, source: u32, lead: Flags, fresh: bool) {
        let end = tokens.len() as u32;
        self.contexts.push(Context { tokens: Some(tokens), next: 0, end, source, lead, fresh });
    }

    /// The next token of the contexts above the floor.
    pub(super) fn next_in_context(&mut self) -> Option<Token> {
        while self.contexts.len() > self.floor {
            let context = self.contexts.last_mut()?;
            if context.next == context.end {
                let context = self.contexts.pop()?;
                if context.source != 0 {
                    self.macros.defs[context.source as usize - 1].disabled = false;
                }
                if let Some(tokens) = context.tokens
                    && self.spare.len() < 16
                {
                    self.spare.push(tokens);
                }
                continue;
            }
            let at = context.next as usize;
            context.next += 1;
            let mut token = match &context.tokens {
                Some(tokens) => tokens[at],
                None => Token { span: self.call, ..self.macros.bodies[at] },
            };
            if context.fresh {
                context.fresh = false;
                token.flags = token.flags.difference(Flags::SPACE | Flags::LINE_START) | context.lead;
            }
            return Some(token);
        }
        None
    }

    /// The next token of the contexts, or of the file where that is allowed. `None` at the end.
    fn read(&mut self) -> Option<Token> {
        if let Some(token) = self.next_in_context() {
            return Some(token);
        }
        if self.isolated {
            return None;
        }
        let token = self.lex();
        (!matches!(token.kind, TokenKind::Eof | TokenKind::Newline)).then_some(token)
    }

    /// Whether the next token is `(`; reads nothing.
    fn paren_follows(&self) -> bool {
        for context in self.contexts[self.floor..].iter().rev() {
            if context.next < context.end {
                let at = context.next as usize;
                let kind = match &context.tokens {
                    Some(tokens) => tokens[at].kind,
                    None => self.macros.bodies[at].kind,
                };
                return kind == TokenKind::LParen;
            }
        }
        !self.isolated && { Lexer::new(&self.file.text, self.file.pos, self.in_directive).next_byte() == Some(b'(') }
    }

    /// Begins to expand a token if it is a macro's name that may be. Answers false if the token stands as it now is.
    pub(super) fn try_expand(&mut self, token: &mut Token) -> bool {
        if token.kind != TokenKind::Ident || token.flags.contains(Flags::NO_EXPAND) {
            return false;
        }
        let Some(index) = self.macros.find(token.value) else { return false };
        let def = &self.macros.defs[index];
        if def.disabled {
            token.flags |= Flags::NO_EXPAND;
            return false;
        }
        if self.exhausted {
            return false;
        }
        let (kind, body, pastes) = (def.kind, def.body, def.pastes);
        let lead = token.flags & (Flags::SPACE | Flags::LINE_START);
        match kind {
            MacroKind::Object => {
                if !self.charge((body.1 - body.0) as usize) {
                    return false;
                }
                if pastes {
                    let none = Arguments { tokens: Vec::new(), ends: SmallVec::new(), elided: false };
                    let result = self.substitute(index, &none);
                    self.push_owned(result, index as u32 + 1, lead, true);
                } else if body.0 < body.1 {
                    let (next, end) = body;
                    let source = index as u32 + 1;
                    self.contexts.push(Context { tokens: None, next, end, source, lead, fresh: true });
                } else {
                    return true;
                }
                self.macros.defs[index].disabled = true;
            }
            MacroKind::Function { params, variadic } => {
                if !self.paren_follows() {
                    return false;
                }
                let Some(arguments) = self.arguments(index, *token, params as usize, variadic) else { return true };
                let result = self.substitute(index, &arguments);
                self.spare.push(arguments.tokens);
                if !self.charge(result.len()) {
                    return true;
                }
                self.push_owned(result, index as u32 + 1, lead, true);
                self.macros.defs[index].disabled = true;
            }
            MacroKind::Builtin(builtin) => return self.builtin(builtin, index, token),
        }
        true
    }

    /// Reads `( ... )` behind a macro's name. Reports wrong counts; then there is no expansion.
    fn arguments(&mut self, index: usize, name: Token, params: usize, variadic: bool) -> Option<Arguments> {
        let open = self.read()?;
        let mut tokens = self.spare.pop().unwrap_or_default();
        tokens.clear();
        let mut ends: SmallVec<[u32; 8]> = SmallVec::new();
        let mut nesting = 0u32;
        let outer = std::mem::replace(&mut self.in_arguments, true);
        let mut last = open.span;
        let closed = loop {
            let Some(mut token) = self.read() else { break false };
            last = token.span;
            match token.kind {
                TokenKind::LParen => nesting += 1,
                TokenKind::RParen if nesting == 0 => break true,
                TokenKind::RParen => nesting -= 1,
                TokenKind::Comma if nesting == 0 && !(variadic && ends.len() + 1 >= params) => {
                    ends.push(tokens.len() as u32);
                    continue;
                }
                TokenKind::Hash if self.begins_directive(token) => {
                    self.directive(token);
                    continue;
                }
                TokenKind::Ident if self.macros.find(token.value).is_some_and(|m| self.macros.defs[m].disabled) => {
                    token.flags |= Flags::NO_EXPAND;
                }
                _ => {}
            }
            if token.flags.contains(Flags::LINE_START) {
                token.flags = token.flags.difference(Flags::LINE_START) | Flags::SPACE;
            }
            tokens.push(token);
            if !self.charge(0) {
                break false;
            }
        };
        self.in_arguments = outer;
        ends.push(tokens.len() as u32);
        if self.depth == 0 {
            self.call = self.call.to(last);
        }
        if !closed {
            if !self.exhausted {
                let text = self.names.text(name.name());
                let message = format!("the invocation of macro `{text}` has no closing `)`");
                self.bag.report(codes::MACRO_ARGUMENTS, name.span, message);
            }
            return None;
        }
        let mut count = ends.len();
        if params == 0 && tokens.is_empty() {
            count = 0;
        }
        let elided = variadic && count + 1 == params;
        if count == params || elided || variadic && params == 1 && tokens.is_empty() {
            let elided = elided || variadic && params == 1 && tokens.is_empty();
            return Some(Arguments { tokens, ends, elided });
        }
        self.wrong_count(index, name, count, params, variadic);
        None
    }

    /// Whether a `#` met among arguments comes from the file and begins a line of it.
    fn begins_directive(&self, hash: Token) -> bool {
        hash.flags.contains(Flags::LINE_START)
            && !self.isolated
            && !self.in_directive
            && self.contexts.len() == self.floor
    }

    #[cold]
    fn wrong_count(&mut self, index: usize, name: Token, count: usize, params: usize, variadic: bool) {
        let text = self.names.text(name.name());
        let least = if variadic { format!("at least {}", params - 1) } else { params.to_string() };
        let message = format!("macro `{text}` takes {least} arguments and has {count} here");
        let definition = self.macros.defs[index].name_span;
        self.bag.push(Diagnostic::new(codes::MACRO_ARGUMENTS, name.span, message).label(definition, "defined here"));
    }

    /// The body with parameters replaced, `#` and `##` done.
    fn substitute(&mut self, index: usize, arguments: &Arguments) -> Vec<Token> {
        let (lo, hi) = self.macros.defs[index].body;
        let (lo, hi) = (lo as usize, hi as usize);
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        let mut expanded: SmallVec<[Option<Vec<Token>>; 8]> = SmallVec::new();
        let is_paste = |pp: &Self, at: usize| at < hi && pp.macros.bodies[at].kind == TokenKind::Paste;
        let mut at = lo;
        while at < hi {
            let mut token = self.macros.bodies[at];
            token.flags |= Flags::EXPANDED;
            match token.kind {
                TokenKind::Stringify => {
                    token.span = self.call;
                    let raw = arguments.get(token.value as usize);
                    self.charge(raw.len());
                    let text = self.stringify(raw);
                    token.kind = TokenKind::Str;
                    token.value = self.names.intern(&text).0;
                    out.push(token);
                }
                TokenKind::Param => {
                    let param = token.value as usize;
                    let after_paste = at > lo && is_paste(self, at - 1);
                    let raw = arguments.get(param);
                    // `, ## __VA_ARGS__`: the comma goes where the arguments are missing, and is never pasted.
                    if after_paste
                        && at >= lo + 2
                        && self.macros.bodies[at - 2].kind == TokenKind::Comma
                        && self.is_variadic(index, param)
                    {
                        out.pop();
                        if arguments.elided {
                            out.pop();
                        }
                        let first = out.len();
                        let list = self.expand_list(raw);
                        out.extend_from_slice(&list);
                        self.spare.push(list);
                        lead(&mut out, first, Flags::empty());
                        at += 1;
                        continue;
                    }
                    let first = out.len();
                    if (after_paste || is_paste(self, at + 1)) && !self.options.legacy_macro_expansion {
                        out.extend_from_slice(raw);
                    } else {
                        if expanded.len() <= param {
                            expanded.resize_with(param + 1, || None);
                        }
                        if expanded[param].is_none() {
                            expanded[param] = Some(self.expand_list(raw));
                        }
                        out.extend_from_slice(expanded[param].as_deref().unwrap_or_default());
                    }
                    // A `##` out of an argument is no operator.
                    for t in &mut out[first..] {
                        if t.kind == TokenKind::Paste {
                            t.kind = TokenKind::HashHash;
                        }
                    }
                    if out.len() == first {
                        token.kind = TokenKind::Placemarker;
                        token.span = self.call;
                        out.push(token);
                    }
                    lead(&mut out, first, token.flags);
                }
                _ => {
                    token.span = self.call;
                    out.push(token);
                }
            }
            at += 1;
            if self.expanded + out.len() as u64 > self.options.limits.expanded {
                self.charge(out.len());
                break;
            }
        }
        self.spare.extend(expanded.into_iter().flatten());
        self.spare.truncate(32);
        if self.macros.defs[index].pastes {
            self.paste_all(&mut out);
        }
        out.retain(|t| t.kind != TokenKind::Placemarker);
        out
    }

    fn is_variadic(&self, index: usize, param: usize) -> bool {
        matches!(self.macros.defs[index].kind,
            MacroKind::Function { params, variadic: true } if param + 1 == params as usize)
    }

    /// Does every `##` of a list.
    fn paste_all(&mut self, list: &mut Vec<Token>) {
        let mut kept = 0;
        let mut at = 0;
        while at < list.len() {
            let token = list[at];
            if token.kind == TokenKind::Paste && kept > 0 && at + 1 < list.len() {
                let (left, right) = (list[kept - 1], list[at + 1]);
                at += 2;
                match self.paste(left, right) {
                    Some(token) => list[kept - 1] = token,
                    None => {
                        list[kept] = right;
                        kept += 1;
                    }
                }
            } else {
                list[kept] = token;
                kept += 1;
                at += 1;
            }
        }
        list.truncate(kept);
    }

    /// Joins two tokens; `None`, reported, if they do not make one.
    fn paste(&mut self, left: Token, right: Token) -> Option<Token> {
        if left.kind == TokenKind::Placemarker {
            return Some(Token { flags: left.flags | right.flags & Flags::NO_EXPAND, ..right });
        }
        if right.kind == TokenKind::Placemarker {
            return Some(left);
        }
        let text = format!("{}{}", left.text(self.names), right.text(self.names));
        if text.len() > self.options.limits.spelling as usize {
            let message = format!("`##` makes a token of more than {} bytes", self.options.limits.spelling);
            self.exhaust(self.call, &message);
            return Some(left);
        }
        let mut lexer = Lexer::new(&text, 0, true);
        let raw = lexer.next(self.names);
        let whole = lexer.pos == text.len() && raw.lo == 0;
        let comment = text.starts_with("//") || text.starts_with("/*");
        if !whole || comment || matches!(raw.kind, TokenKind::Unknown | TokenKind::Eof | TokenKind::Newline) {
            let message = format!("`##` makes `{text}`, which is not one token");
            self.bag.report(codes::BAD_PASTE, self.call, message);
            return None;
        }
        let flags = left.flags.difference(Flags::NO_EXPAND) | Flags::EXPANDED;
        Some(Token { kind: raw.kind, flags, value: raw.value, span: self.call })
    }

    /// `#`: the spelling of an argument as a string (C11 6.10.3.2).
    fn stringify(&mut self, tokens: &[Token]) -> String {
        let mut text = String::from("\"");
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 && token.flags.intersects(Flags::SPACE | Flags::LINE_START) {
                text.push(' ');
            }
            let spelling = token.text(self.names);
            if matches!(token.kind, TokenKind::Str | TokenKind::Char) {
                for c in spelling.chars() {
                    if matches!(c, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(c);
                }
            } else {
                text.push_str(spelling);
            }
            if text.len() > self.options.limits.spelling as usize {
                let message = format!("`#` makes a string of more than {} bytes", self.options.limits.spelling);
                self.exhaust(self.call, &message);
                return "\"\"".into();
            }
        }
        text.push('"');
        text
    }

    /// A macro that is computed. Answers like `try_expand`.
    fn builtin(&mut self, builtin: Builtin, index: usize, token: &mut Token) -> bool {
        let mut text = String::new();
        let place = Span { lo: self.call.hi.saturating_sub(1), ..self.call };
        match builtin {
            Builtin::File => {
                let name = self.map.locate(place).map_or("", |(name, _)| name);
                text.push('"');
                name.chars().for_each(|c| match c {
                    '"' | '\\' => text.extend(['\\', c]),
                    c => text.push(c),
                });
                text.push('"');
            }
            Builtin::Line => {
                let line = self.map.locate(place).map_or(0, |(_, at)| at.line);
                let _ = write!(text, "{line}");
            }
            Builtin::Counter => {
                let _ = write!(text, "{}", self.counter);
                self.counter = self.counter.wrapping_add(1);
            }
            // The stack also holds the empty state at its bottom.
            Builtin::IncludeLevel => {
                let _ = write!(text, "{}", self.stack.len().saturating_sub(1));
            }
            Builtin::HasInclude => return false,
            Builtin::HasNothing | Builtin::Pragma => {
                if !self.paren_follows() {
                    return false;
                }
                let Some(arguments) = self.arguments(index, *token, 1, true) else { return true };
                if builtin == Builtin::Pragma {
                    self.pragma_operator(&arguments.tokens, token.span);
                    return true;
                }
                text.push('0');
            }
        }
        token.kind = if text.starts_with('"') { TokenKind::Str } else { TokenKind::Number };
        token.value = self.names.intern(&text).0;
        token.flags |= Flags::EXPANDED;
        false
    }

    /// `_Pragma("text")`.
    fn pragma_operator(&mut self, arguments: &[Token], at: Span) {
        let text = match arguments {
            [text] if text.kind == TokenKind::Str => self.names.text(text.name()),
            _ => return self.bag.report(codes::BAD_PRAGMA, at, "`_Pragma` takes one string"),
        };
        let inner = text.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        let mut lexer = Lexer::new(&inner, 0, true);
        let mut line = Vec::new();
        loop {
            let raw = lexer.next(self.names);
            if matches!(raw.kind, TokenKind::Eof | TokenKind::Newline) {
                break;
            }
            line.push(Token { kind: raw.kind, flags: raw.flags, value: raw.value, span: at });
        }
        self.pragma(at, &line);
    }
}

/// Gives the first token of `list[first..]` the spacing of the parameter it replaces.
fn lead(list: &mut [Token], first: usize, flags: Flags) {
    if let Some(token) = list.get_mut(first) {
        token.flags = token.flags.difference(Flags::SPACE | Flags::LINE_START) | flags & Flags::SPACE;
    }
}
