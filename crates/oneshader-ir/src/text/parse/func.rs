//! Functions: read whole first, since operands may name what stands later, then built.

use super::{Parser, Result, id_number};
use crate::entity::{Block, Const, Func, Global, Inline, Local, Name, Type, Value};
use crate::func::{Function, Hint, Merge, SwitchCase, Terminator, TerminatorKind};
use crate::inst::{InstData, InstFlags, Op, Swizzle, TextureOp, TextureOperands};
use crate::text::lex::{ARROW, Token};
use crate::text::spell::{self, FLAGS, TEXTURE_OPERANDS};
use crate::types::{MatrixOrder, TypeKind};
use oneshader_diag::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An operand as written, and where.
#[derive(Clone, Copy)]
struct Operand {
    kind: OperandKind,
    at: usize,
}

#[derive(Clone, Copy)]
enum OperandKind {
    Value(u32),
    Global(Global),
    Local(Local),
    Const(Const),
}

/// A block's number as written, and where.
type BlockRef = (u32, usize);

struct RawInst {
    result: Option<(u32, usize, Option<Name>)>,
    ty: Type,
    op: Op,
    args: Vec<Operand>,
    preds: Vec<BlockRef>,
    flags: InstFlags,
    span: Span,
}

enum RawTerm {
    Branch(BlockRef),
    CondBranch(Operand, BlockRef, BlockRef),
    Switch(Operand, BlockRef, Vec<(u64, BlockRef)>),
    Return(Option<Operand>),
    Unreachable,
}

enum RawMerge {
    None,
    Selection(BlockRef),
    Loop(BlockRef, BlockRef),
}

struct RawBlock {
    number: BlockRef,
    merge: RawMerge,
    hint: Hint,
    insts: Vec<RawInst>,
    term: RawTerm,
    term_span: Span,
}

/// What numbers in the text stand for.
struct Scope {
    func: Function,
    values: FxHashMap<u32, Value>,
    blocks: FxHashMap<u32, Block>,
}

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Result<()> {
        self.next();
        self.new_id("fn", self.m.functions.len())?;
        let name = self.name()?;
        let params = self.list('(', ')', |p| {
            let at = p.at;
            let number = p.id("v")?;
            let name = p.name()?;
            p.expect(':')?;
            Ok((number, at, name, p.ty()?))
        })?;
        self.expect(ARROW)?;
        let ret = self.ty()?;
        self.expect('{')?;
        let span = self.span()?;
        let func = Function::new(name, ret, span);
        let mut scope = Scope { func, values: FxHashMap::default(), blocks: FxHashMap::default() };
        for (number, at, name, ty) in params {
            let value = scope.func.add_param(name, ty);
            if scope.values.insert(number, value).is_some() {
                return self.error_at(at, format!("v{number} is defined twice"));
            }
        }
        let mut locals = Vec::new();
        while self.eat_word("local") {
            self.new_id("l", locals.len())?;
            let name = self.name()?;
            self.expect(':')?;
            let ty = self.ty()?;
            locals.push(crate::LocalVar { name, ty, span: self.span()? });
        }
        let count = locals.len();
        locals.into_iter().for_each(|l| {
            scope.func.locals.push(l);
        });
        let mut blocks = Vec::new();
        while !self.eat('}') {
            blocks.push(self.block(count)?);
        }
        let func = self.build(scope, blocks)?;
        self.m.functions.push(func);
        Ok(())
    }

    fn block_ref(&mut self) -> Result<BlockRef> {
        let at = self.at;
        Ok((self.id("block")?, at))
    }

    fn block(&mut self, locals: usize) -> Result<RawBlock> {
        let number = self.block_ref()?;
        let merge = if self.eat_word("selection") {
            RawMerge::Selection(self.parenthesized(Self::block_ref)?)
        } else if self.eat_word("loop") {
            self.parenthesized(|p| {
                let merge = p.block_ref()?;
                p.expect(',')?;
                Ok(RawMerge::Loop(merge, p.block_ref()?))
            })?
        } else {
            RawMerge::None
        };
        let hint = if self.eat('[') { self.hint()? } else { Hint::None };
        self.expect(':')?;
        let mut insts = Vec::new();
        loop {
            if let Some(term) = self.terminator(locals)? {
                let term_span = self.span()?;
                return Ok(RawBlock { number, merge, hint, insts, term, term_span });
            }
            insts.push(self.inst(locals)?);
        }
    }

    fn hint(&mut self) -> Result<Hint> {
        let at = self.at;
        let hint = match self.word()? {
            "branch" => Hint::Branch,
            "flatten" => Hint::Flatten,
            "loop" => Hint::Loop,
            "unroll" => match *self.peek() {
                Token::Number(_) => Hint::Unroll(self.number()?),
                _ => Hint::Unroll(0),
            },
            word => return self.error_at(at, format!("`{word}` is no hint")),
        };
        self.expect(']')?;
        Ok(hint)
    }

    fn operand(&mut self, locals: usize) -> Result<Operand> {
        let at = self.at;
        if let Token::Word(word) = *self.peek() {
            let kind = if let Some(n) = id_number(word, "v") {
                Some(OperandKind::Value(n))
            } else if id_number(word, "g").is_some() {
                return Ok(Operand { kind: OperandKind::Global(self.global_id()?), at });
            } else if let Some(n) = id_number(word, "l") {
                if n as usize >= locals {
                    return self.error(format!("there is no l{n}"));
                }
                Some(OperandKind::Local(Local::from_u32(n)))
            } else {
                None
            };
            if let Some(kind) = kind {
                self.next();
                return Ok(Operand { kind, at });
            }
        }
        Ok(Operand { kind: OperandKind::Const(self.constant()?), at })
    }

    fn terminator(&mut self, locals: usize) -> Result<Option<RawTerm>> {
        let Token::Word(word) = *self.peek() else { return Ok(None) };
        let term = match word {
            "br" => {
                self.next();
                RawTerm::Branch(self.block_ref()?)
            }
            "condbr" => {
                self.next();
                let cond = self.operand(locals)?;
                self.expect(',')?;
                let then = self.block_ref()?;
                self.expect(',')?;
                RawTerm::CondBranch(cond, then, self.block_ref()?)
            }
            "switch" => {
                self.next();
                let selector = self.operand(locals)?;
                self.expect(',')?;
                let default = self.block_ref()?;
                let cases = self.list('[', ']', |p| {
                    let value = p.number()?;
                    p.expect(':')?;
                    Ok((value, p.block_ref()?))
                })?;
                RawTerm::Switch(selector, default, cases)
            }
            "ret" => {
                self.next();
                // A result follows unless the line's place, a block or the end does.
                let ends = match self.peek() {
                    Token::Word(word) => id_number(word, "block").is_some(),
                    Token::Mark('[') => false,
                    _ => true,
                };
                RawTerm::Return(if ends { None } else { Some(self.operand(locals)?) })
            }
            "unreachable" => {
                self.next();
                RawTerm::Unreachable
            }
            _ => return Ok(None),
        };
        Ok(Some(term))
    }

    fn inst(&mut self, locals: usize) -> Result<RawInst> {
        let at = self.at;
        let mut result = None;
        let mut ty = self.m.types.intern(TypeKind::Void);
        if let Token::Word(word) = *self.peek()
            && let Some(number) = id_number(word, "v")
        {
            self.next();
            let name = if let Token::Text(_) = self.peek() { Some(self.name()?) } else { None };
            self.expect(':')?;
            ty = self.ty()?;
            if self.m.types.kind(ty) == TypeKind::Void {
                return self.error_at(at, "a result has a type");
            }
            self.expect('=')?;
            result = Some((number, at, name));
        }
        let op_at = self.at;
        let word = self.word()?;
        let mut flags = InstFlags::empty();
        while self.eat('.') {
            let find = |word: &str| FLAGS.iter().find(|(_, name)| *name == word).map(|(flag, _)| *flag);
            flags |= self.spelled(find, "flag")?;
        }
        let (mut args, mut preds) = (Vec::new(), Vec::new());
        let op = match word {
            "call" => {
                let callee: Func = self.func_id()?;
                args = self.list('(', ')', |p| p.operand(locals))?;
                Op::Call(callee)
            }
            "phi" => {
                if let Token::Word(word) = *self.peek()
                    && id_number(word, "block").is_some()
                {
                    loop {
                        preds.push(self.block_ref()?);
                        self.expect(':')?;
                        args.push(self.operand(locals)?);
                        if !self.eat(',') {
                            break;
                        }
                    }
                }
                Op::Phi
            }
            "extract" | "insert" | "swizzle" | "counter" | "addressptr" => {
                self.with_immediate(word, locals, &mut args)?
            }
            "printf" => {
                let format = self.name()?;
                while self.eat(',') {
                    args.push(self.operand(locals)?);
                }
                Op::Printf(format)
            }
            "spirv" => {
                let at = self.at;
                let inline = Inline::from_u32(self.id("asm")?);
                if !self.m.inlines.is_valid(inline) {
                    return self.error_at(at, format!("there is no {inline}"));
                }
                while self.eat(',') {
                    args.push(self.operand(locals)?);
                }
                Op::Spirv(inline)
            }
            "gather" => {
                self.expect('#')?;
                let component = self.number()?;
                self.expect(',')?;
                let operands = self.texture_operands(locals, &mut args)?;
                Op::Texture(TextureOp::Gather { component }, operands)
            }
            _ => {
                if let Some(op) = spell::texture_op_from_name(word) {
                    let operands = self.texture_operands(locals, &mut args)?;
                    Op::Texture(op, operands)
                } else if let Some(op) = spell::plain_op_from_name(word) {
                    if !self.at_line_start() {
                        args.push(self.operand(locals)?);
                        while self.eat(',') {
                            args.push(self.operand(locals)?);
                        }
                    }
                    op
                } else {
                    return self.error_at(op_at, format!("`{word}` is no operation"));
                }
            }
        };
        let span = self.span()?;
        Ok(RawInst { result, ty, op, args, preds, flags, span })
    }

    /// Whether the next token begins a line or is a place: an operation without operands has ended.
    fn at_line_start(&self) -> bool {
        let line = self.at.checked_sub(1).map_or(0, |before| self.spots[before].line);
        self.spots[self.at].line != line || *self.peek() == Token::Mark('!')
    }

    fn with_immediate(&mut self, word: &str, locals: usize, args: &mut Vec<Operand>) -> Result<Op> {
        loop {
            args.push(self.operand(locals)?);
            self.expect(',')?;
            if self.eat('#') {
                break;
            }
        }
        Ok(match word {
            "extract" => Op::Extract { index: self.number()? },
            "insert" => Op::Insert { index: self.number()? },
            "counter" => Op::Counter { delta: self.number()? },
            "addressptr" => {
                let align = self.number()?;
                let order = match self.eat_word("rowmajor") {
                    true => MatrixOrder::RowMajor,
                    false => MatrixOrder::ColumnMajor,
                };
                Op::AddressPtr { align, order }
            }
            _ => {
                let at = self.at;
                let letters = self.word()?;
                let comps: Option<Vec<u8>> =
                    letters.bytes().map(|b| b"xyzw".iter().position(|&c| c == b).map(|i| i as u8)).collect();
                match comps.and_then(|c| Swizzle::new(&c)) {
                    Some(swizzle) => Op::Swizzle(swizzle),
                    None => return self.error_at(at, "expected one to four of `xyzw`"),
                }
            }
        })
    }

    fn texture_operands(&mut self, locals: usize, args: &mut Vec<Operand>) -> Result<TextureOperands> {
        args.push(self.operand(locals)?);
        let mut operands = TextureOperands::empty();
        while self.eat(',') {
            let find = |word: &str| TEXTURE_OPERANDS.iter().find(|(_, name, _)| *name == word).copied();
            let at = self.at;
            let (operand, _, count) = self.spelled(find, "texture operand")?;
            if operands.bits() >= operand.bits() {
                return self.error_at(at, "texture operands stand in their order, each once");
            }
            operands |= operand;
            for _ in 0..count {
                args.push(self.operand(locals)?);
            }
        }
        Ok(operands)
    }

    fn build(&mut self, mut scope: Scope, blocks: Vec<RawBlock>) -> Result<Function> {
        for raw in &blocks {
            let block = scope.func.add_block(raw.term_span);
            scope.func.order.push(block);
            if scope.blocks.insert(raw.number.0, block).is_some() {
                return self.error_at(raw.number.1, format!("block{} is defined twice", raw.number.0));
            }
        }
        // Results first, in order, so that values are numbered as the printer numbers them.
        let mut insts = Vec::new();
        for (index, raw) in blocks.iter().enumerate() {
            for raw_inst in &raw.insts {
                let data = InstData {
                    op: raw_inst.op,
                    args: SmallVec::new(),
                    preds: SmallVec::new(),
                    ty: raw_inst.ty,
                    result: None,
                    flags: raw_inst.flags,
                    span: raw_inst.span,
                };
                let inst = scope.func.add_inst(&mut self.m.types, data);
                let block = scope.func.order[index];
                scope.func.blocks[block].insts.push(inst);
                insts.push(inst);
                if let (Some((number, at, name)), Some(value)) = (raw_inst.result, scope.func.insts[inst].result) {
                    if scope.values.insert(number, value).is_some() {
                        return self.error_at(at, format!("v{number} is defined twice"));
                    }
                    if name.is_some() {
                        scope.func.value_names[value] = name;
                    }
                }
            }
        }
        let mut next = insts.into_iter();
        for (index, raw) in blocks.into_iter().enumerate() {
            for (raw_inst, inst) in raw.insts.into_iter().zip(next.by_ref()) {
                for arg in raw_inst.args {
                    let value = self.resolve(&mut scope, arg)?;
                    scope.func.insts[inst].args.push(value);
                }
                for pred in raw_inst.preds {
                    let block = self.resolve_block(&scope, pred)?;
                    scope.func.insts[inst].preds.push(block);
                }
            }
            let kind = match raw.term {
                RawTerm::Branch(to) => TerminatorKind::Branch(self.resolve_block(&scope, to)?),
                RawTerm::CondBranch(cond, then, els) => TerminatorKind::CondBranch {
                    cond: self.resolve(&mut scope, cond)?,
                    then: self.resolve_block(&scope, then)?,
                    els: self.resolve_block(&scope, els)?,
                },
                RawTerm::Switch(selector, default, cases) => TerminatorKind::Switch {
                    selector: self.resolve(&mut scope, selector)?,
                    default: self.resolve_block(&scope, default)?,
                    cases: cases
                        .into_iter()
                        .map(|(value, to)| Ok(SwitchCase { value, target: self.resolve_block(&scope, to)? }))
                        .collect::<Result<_>>()?,
                },
                RawTerm::Return(value) => {
                    TerminatorKind::Return(value.map(|v| self.resolve(&mut scope, v)).transpose()?)
                }
                RawTerm::Unreachable => TerminatorKind::Unreachable,
            };
            let merge = match raw.merge {
                RawMerge::None => Merge::None,
                RawMerge::Selection(merge) => Merge::Selection(self.resolve_block(&scope, merge)?),
                RawMerge::Loop(merge, cont) => {
                    Merge::Loop { merge: self.resolve_block(&scope, merge)?, cont: self.resolve_block(&scope, cont)? }
                }
            };
            let block = scope.func.order[index];
            let data = &mut scope.func.blocks[block];
            data.term = Terminator { kind, span: raw.term_span };
            data.merge = merge;
            data.hint = raw.hint;
        }
        Ok(scope.func)
    }

    fn resolve(&mut self, scope: &mut Scope, operand: Operand) -> Result<Value> {
        Ok(match operand.kind {
            OperandKind::Value(number) => match scope.values.get(&number) {
                Some(&value) => value,
                None => return self.error_at(operand.at, format!("v{number} is not defined")),
            },
            OperandKind::Global(global) => {
                let (space, ty) = (self.m.globals[global].space, self.m.globals[global].ty);
                scope.func.global_value(&mut self.m.types, global, space, ty)
            }
            OperandKind::Local(local) => scope.func.local_value(&mut self.m.types, local),
            OperandKind::Const(c) => scope.func.const_value(&self.m.consts, c),
        })
    }

    fn resolve_block(&self, scope: &Scope, (number, at): BlockRef) -> Result<Block> {
        match scope.blocks.get(&number) {
            Some(&block) => Ok(block),
            None => self.error_at(at, format!("block{number} is not defined")),
        }
    }
}
