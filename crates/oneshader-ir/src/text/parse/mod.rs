//! The parser: recursive descent over tokens, the first error ends it.

mod func;
mod types;

use super::lex::{RANGE, Spot, Token, tokens};
use super::spell::{self, PROPERTIES};
use crate::entity::{Const, Func, Global, Name};
use crate::module::{
    BuiltIn, DepthMode, EntryPoint, GlobalKind, GlobalVar, InlineOperand, InlineSpirv, Interpolation, IoVar, IrModule,
    Register, ResourceVar, Sampling, SpecConst,
};
use crate::types::{MatrixOrder, Member, StructType};
use oneshader_diag::{FileId, Span};
use std::fmt;

/// Why a text does not parse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What is wrong; lower case, no full stop.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a module. It has the form the text says, which need not be legal: that is for the verifier.
pub fn parse(text: &str) -> Result<IrModule> {
    let mut p = Parser { spots: tokens(text)?, at: 0, m: IrModule::new(), calls: Vec::new() };
    p.module()?;
    Ok(p.m)
}

struct Parser<'t> {
    spots: Vec<Spot<'t>>,
    at: usize,
    m: IrModule,
    /// Functions that are named before they stand, and where.
    calls: Vec<(Func, usize)>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &Token<'t> {
        &self.spots[self.at].token
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.spots[self.at].token.clone();
        if self.at + 1 < self.spots.len() {
            self.at += 1;
        }
        token
    }

    fn error_at<T>(&self, at: usize, message: impl Into<String>) -> Result<T> {
        let spot = &self.spots[at];
        Err(ParseError { line: spot.line, column: spot.column, message: message.into() })
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        self.error_at(self.at, message)
    }

    /// Takes `mark` if it stands here.
    fn eat(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { self.error(format!("expected `{mark}`")) }
    }

    /// Takes the word `word` if it stands here.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = *self.peek() == Token::Word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    fn word(&mut self) -> Result<&'t str> {
        match *self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.error("expected a word"),
        }
    }

    fn number_text(&mut self) -> Result<&'t str> {
        match *self.peek() {
            Token::Number(text) => {
                self.next();
                Ok(text)
            }
            _ => self.error("expected a number"),
        }
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N> {
        let at = self.at;
        match self.number_text()?.parse() {
            Ok(n) => Ok(n),
            Err(_) => self.error_at(at, "this number is out of range"),
        }
    }

    fn name(&mut self) -> Result<Name> {
        match self.next() {
            Token::Text(text) => Ok(self.m.names.intern(&text)),
            _ => self.error_at(self.at.saturating_sub(1), "expected a name in quotes"),
        }
    }

    /// An id such as `g12` with `prefix` `g`.
    fn id(&mut self, prefix: &str) -> Result<u32> {
        let at = self.at;
        let word = self.word()?;
        match id_number(word, prefix) {
            Some(n) => Ok(n),
            None => self.error_at(at, format!("expected an id like `{prefix}0`")),
        }
    }

    /// An id that defines its entity: it must be the `next` one.
    fn new_id(&mut self, prefix: &str, next: usize) -> Result<()> {
        let at = self.at;
        if self.id(prefix)? as usize != next {
            return self.error_at(at, format!("ids count up: expected `{prefix}{next}`"));
        }
        Ok(())
    }

    /// A word that `from` knows.
    fn spelled<T>(&mut self, from: impl Fn(&str) -> Option<T>, what: &str) -> Result<T> {
        let at = self.at;
        let word = self.word()?;
        match from(word) {
            Some(x) => Ok(x),
            None => self.error_at(at, format!("`{word}` is no {what}")),
        }
    }

    /// A place, if one stands here.
    fn span(&mut self) -> Result<Span> {
        if !self.eat('!') {
            return Ok(Span::NONE);
        }
        let file = self.number()?;
        self.expect(':')?;
        let lo = self.number()?;
        self.expect(RANGE)?;
        Ok(Span::new(FileId(file), lo, self.number()?))
    }

    /// Items between `open` and `close` with commas between.
    fn list<T>(&mut self, open: char, close: char, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(open)?;
        let mut out = Vec::new();
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            self.expect(',')?;
        }
    }

    fn parenthesized<T>(&mut self, item: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect('(')?;
        let x = item(self)?;
        self.expect(')')?;
        Ok(x)
    }

    fn module(&mut self) -> Result<()> {
        self.expect_word("module")?;
        while let Token::Word(word) = *self.peek() {
            let Some((property, _)) = PROPERTIES.iter().find(|(_, name)| *name == word) else { break };
            self.m.properties |= *property;
            self.next();
        }
        loop {
            match *self.peek() {
                Token::End => break,
                Token::Word("struct") => self.structure()?,
                Token::Word("inline") => self.inline()?,
                Token::Word("global") => self.global()?,
                Token::Word("func") => self.function()?,
                Token::Word("entry") => self.entry()?,
                Token::Word(word) if word.starts_with("spec") => self.spec()?,
                _ => return self.error("expected `struct`, `spec`, `global`, `func` or `entry`"),
            }
        }
        for &(func, at) in &self.calls {
            if !self.m.functions.is_valid(func) {
                return self.error_at(at, format!("there is no {func}"));
            }
        }
        Ok(())
    }

    fn func_id(&mut self) -> Result<Func> {
        let at = self.at;
        let func = Func::from_u32(self.id("fn")?);
        self.calls.push((func, at));
        Ok(func)
    }

    fn global_id(&mut self) -> Result<Global> {
        let at = self.at;
        let global = Global::from_u32(self.id("g")?);
        if !self.m.globals.is_valid(global) {
            return self.error_at(at, format!("there is no {global}"));
        }
        Ok(global)
    }

    fn structure(&mut self) -> Result<()> {
        self.next();
        self.new_id("s", self.m.types.structs.len())?;
        let name = self.name()?;
        self.expect('{')?;
        let mut members = Vec::new();
        while !self.eat('}') {
            let name = self.name()?;
            self.expect(':')?;
            let ty = self.ty()?;
            let order = if self.eat_word("row") { MatrixOrder::RowMajor } else { MatrixOrder::ColumnMajor };
            let offset = if self.eat_word("at") { Some(self.number()?) } else { None };
            members.push(Member { name, ty, order, offset, span: self.span()? });
        }
        self.m.types.add_struct(StructType { name, members });
        Ok(())
    }

    fn spec(&mut self) -> Result<()> {
        self.new_id("spec", self.m.specs.len())?;
        let name = self.name()?;
        self.expect_word("id")?;
        let id = self.number()?;
        self.expect('=')?;
        let default: Const = self.constant()?;
        let ty = self.m.consts.ty(default);
        let span = self.span()?;
        self.m.specs.push(SpecConst { name, id, ty, default, span });
        Ok(())
    }

    fn global(&mut self) -> Result<()> {
        self.next();
        self.new_id("g", self.m.globals.len())?;
        let name = self.name()?;
        self.expect(':')?;
        let space = self.spelled(spell::address_space_from_name, "address space")?;
        let ty = self.ty()?;
        let init = if self.eat('=') { Some(self.constant()?) } else { None };
        let readonly = self.eat_word("readonly");
        let kind = match *self.peek() {
            Token::Word("resource") => {
                self.next();
                GlobalKind::Resource(self.resource()?)
            }
            Token::Word("io") => {
                self.next();
                GlobalKind::Io(self.io()?)
            }
            _ => GlobalKind::Variable,
        };
        let span = self.span()?;
        self.m.globals.push(GlobalVar { name, ty, space, init, kind, readonly, span });
        Ok(())
    }

    fn inline(&mut self) -> Result<()> {
        self.next();
        self.new_id("asm", self.m.inlines.len())?;
        let mut inline = InlineSpirv { opcode: self.number()?, ..InlineSpirv::default() };
        if self.eat_word("set") {
            inline.set = Some(self.parenthesized(Self::name)?);
        }
        if self.eat_word("capabilities") {
            inline.capabilities = self.list('(', ')', Self::number)?;
        }
        if self.eat_word("extensions") {
            inline.extensions = self.list('(', ')', Self::name)?;
        }
        self.expect_word("operands")?;
        inline.operands = self.list('(', ')', |p| {
            if p.eat_word("id") {
                Ok(InlineOperand::Id)
            } else if p.eat_word("type") {
                Ok(InlineOperand::Type(p.ty()?))
            } else if p.eat_word("const") {
                Ok(InlineOperand::Const(p.constant()?))
            } else {
                Ok(InlineOperand::Literal(p.list('[', ']', Self::number)?))
            }
        })?;
        self.m.inlines.push(inline);
        Ok(())
    }

    fn resource(&mut self) -> Result<ResourceVar> {
        let mut var = ResourceVar::default();
        while let Token::Word(word) = *self.peek() {
            match word {
                "register" => {
                    self.next();
                    var.register = Some(self.parenthesized(Self::register)?);
                }
                "vk_binding" => {
                    self.next();
                    var.vk_binding = Some(self.parenthesized(|p| {
                        let binding = p.number()?;
                        p.expect(',')?;
                        Ok((binding, p.number()?))
                    })?);
                }
                "vk_counter_binding" => {
                    self.next();
                    var.vk_counter_binding = Some(self.parenthesized(Self::number)?);
                }
                "vk_image_format" => {
                    self.next();
                    var.vk_image_format = Some(self.parenthesized(Self::name)?);
                }
                "vk_input_attachment" => {
                    self.next();
                    var.vk_input_attachment = Some(self.parenthesized(Self::number)?);
                }
                "sampler_of" => {
                    self.next();
                    var.sampler_of = Some(self.parenthesized(Self::global_id)?);
                }
                "push_constant" | "coherent" | "rasterizer_ordered" | "implicit" | "combined" => {
                    self.next();
                    *match word {
                        "push_constant" => &mut var.push_constant,
                        "coherent" => &mut var.coherent,
                        "rasterizer_ordered" => &mut var.rasterizer_ordered,
                        "combined" => &mut var.combined,
                        _ => &mut var.implicit,
                    } = true;
                }
                _ => break,
            }
        }
        Ok(var)
    }

    fn register(&mut self) -> Result<Register> {
        let class = self.spelled(spell::register_class_from_name, "register class")?;
        self.expect(',')?;
        let index = match *self.peek() {
            Token::Number(_) => {
                let index = self.number()?;
                self.expect(',')?;
                Some(index)
            }
            _ => None,
        };
        self.expect_word("space")?;
        Ok(Register { class, index, space: self.number()? })
    }

    fn io(&mut self) -> Result<IoVar> {
        let (semantic, index) = self.parenthesized(|p| {
            let semantic = p.name()?;
            p.expect(',')?;
            Ok((semantic, p.number()?))
        })?;
        let mut io = IoVar {
            semantic,
            index,
            builtin: None,
            location: None,
            blend_index: 0,
            interpolation: Interpolation::default(),
            sampling: Sampling::default(),
        };
        while let Token::Word(word) = *self.peek() {
            match word {
                "builtin" => {
                    self.next();
                    io.builtin = Some(self.parenthesized(|p| {
                        let builtin = p.spelled(spell::builtin_from_name, "system value")?;
                        match builtin {
                            BuiltIn::Spirv(_) => {
                                p.expect(',')?;
                                Ok(BuiltIn::Spirv(p.number()?))
                            }
                            other => Ok(other),
                        }
                    })?);
                }
                "location" => {
                    self.next();
                    io.location = Some(self.parenthesized(Self::number)?);
                }
                "blend" => {
                    self.next();
                    io.blend_index = self.parenthesized(Self::number)?;
                }
                _ => {
                    if let Some(interpolation) = spell::interpolation_from_name(word) {
                        io.interpolation = interpolation;
                    } else if let Some(sampling) = spell::sampling_from_name(word) {
                        io.sampling = sampling;
                    } else {
                        break;
                    }
                    self.next();
                }
            }
        }
        Ok(io)
    }

    fn entry(&mut self) -> Result<()> {
        self.next();
        let stage = self.spelled(spell::stage_from_name, "stage")?;
        let name = self.name()?;
        let func = self.func_id()?;
        self.expect_word("in")?;
        let inputs = self.list('(', ')', Self::global_id)?;
        self.expect_word("out")?;
        let outputs = self.list('(', ')', Self::global_id)?;
        self.expect_word("threads")?;
        let threads = self.triple()?;
        let wave_size = match self.eat_word("wave") {
            true => Some(self.triple()?.into()),
            false => None,
        };
        let early_depth_stencil = self.eat_word("early");
        let depth = match self.eat_word("depth") {
            true => self.parenthesized(|p| p.spelled(spell::depth_mode_from_name, "depth mode"))?,
            false => DepthMode::Any,
        };
        let spirv_modes = match self.eat_word("modes") {
            true => self.list('(', ')', Self::number)?,
            false => Vec::new(),
        };
        let span = self.span()?;
        self.m.entry_points.push(EntryPoint {
            name,
            stage,
            func,
            inputs,
            outputs,
            threads,
            wave_size,
            early_depth_stencil,
            depth,
            spirv_modes,
            span,
        });
        Ok(())
    }

    fn triple(&mut self) -> Result<[u32; 3]> {
        let at = self.at;
        let numbers = self.list('(', ')', Self::number)?;
        match numbers[..] {
            [x, y, z] => Ok([x, y, z]),
            _ => self.error_at(at, "expected three numbers"),
        }
    }
}

/// The number in an id of this prefix.
fn id_number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // The greatest number is reserved by the arenas.
    digits.parse().ok().filter(|&n| n != u32::MAX)
}
