//! Inline SPIR-V (HLSL proposal 0011): instructions, capabilities, extensions, execution modes and built-in variables by
//! their numbers.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{
    AddressSpace, BinaryOp, BuiltIn, GlobalKind, GlobalVar, InlineOperand, InlineSpirv, IoVar, Op, UnaryOp, ValueDef,
};
use smallvec::SmallVec;

use crate::ast::{self, Attribute, DeclId, ExprKind, Mods, Slice};
use crate::cx::Cx;
use crate::sema::attribute::is_mode;
use crate::sema::{FnId, Storage, Var};
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, R, ReadOnly, TemplateValue, Value};

/// Opcodes (SPIR-V specification 3.3).
const NOP: u32 = 0;
const EXECUTION_MODE: u32 = 16;
const DECORATE: u32 = 71;
const DECORATE_ID: u32 = 332;
const DECORATE_STRING: u32 = 5632;
const EXECUTION_MODE_ID: u32 = 331;
const READ_CLOCK: u32 = 5056;
/// `OpCooperativeMatrixLengthKHR`.
const MATRIX_LENGTH: u32 = 4460;

/// Capabilities and extensions asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub capabilities: Vec<u32>,
    pub extensions: Vec<ir::Name>,
}

impl Needs {
    fn is_empty(&self) -> bool {
        self.capabilities.is_empty() && self.extensions.is_empty()
    }
}

/// `vk::` attributes that a function or entry point may have besides modes; decorations by ids and strings are reported
/// where the function is declared.
const OF_FUNCTIONS: &[&str] = &[
    "location",
    "index",
    "builtin",
    "ext_capability",
    "ext_extension",
    "ext_instruction",
    "ext_decorate",
    "ext_decorate_id",
    "ext_decorate_string",
    "spvexecutionmode",
];

/// What an instruction is in terms of the language, so that it can be folded and said in Metal too.
#[derive(Clone, Copy)]
enum Known {
    /// A number as it is.
    Copy,
    /// The same bits.
    Bits,
    /// A conversion; integers are taken and given with this sign (`None`: floats).
    Convert(Option<bool>, Option<bool>),
    Unary(UnaryOp),
    /// Integers have this sign.
    Binary(BinaryOp, Option<bool>),
}

/// SPIR-V specification 3.3.11 to 3.3.13.
const KNOWN: &[(u32, Known)] = &[
    (83, Known::Copy),
    (109, Known::Convert(None, Some(false))),
    (110, Known::Convert(None, Some(true))),
    (111, Known::Convert(Some(true), None)),
    (112, Known::Convert(Some(false), None)),
    (113, Known::Convert(Some(false), Some(false))),
    (114, Known::Convert(Some(true), Some(true))),
    (115, Known::Convert(None, None)),
    (124, Known::Bits),
    (126, Known::Unary(UnaryOp::Neg)),
    (127, Known::Unary(UnaryOp::Neg)),
    (128, Known::Binary(BinaryOp::Add, Some(false))),
    (129, Known::Binary(BinaryOp::Add, None)),
    (130, Known::Binary(BinaryOp::Sub, Some(false))),
    (131, Known::Binary(BinaryOp::Sub, None)),
    (132, Known::Binary(BinaryOp::Mul, Some(false))),
    (133, Known::Binary(BinaryOp::Mul, None)),
    (134, Known::Binary(BinaryOp::Div, Some(false))),
    (135, Known::Binary(BinaryOp::Div, Some(true))),
    (136, Known::Binary(BinaryOp::Div, None)),
];

/// The integer of as many bits.
fn integer(elem: Elem, signed: bool) -> Option<Elem> {
    Some(match (elem.ir(), signed) {
        (ir::Scalar::Int { bits: 16, .. }, true) => Elem::Int16,
        (ir::Scalar::Int { bits: 16, .. }, false) => Elem::Uint16,
        (ir::Scalar::Int { bits: 32, .. }, true) => Elem::Int,
        (ir::Scalar::Int { bits: 32, .. }, false) => Elem::Uint,
        (ir::Scalar::Int { bits: 64, .. }, true) => Elem::Int64,
        (ir::Scalar::Int { bits: 64, .. }, false) => Elem::Uint64,
        _ => return None,
    })
}

/// The opcode of a decorating attribute.
fn decoration(attribute: &str) -> Option<u32> {
    Some(match attribute {
        "ext_decorate" => DECORATE,
        "ext_decorate_id" => DECORATE_ID,
        "ext_decorate_string" => DECORATE_STRING,
        _ => return None,
    })
}

/// A literal string: UTF-8 in little-endian words, with a zero byte behind (SPIR-V specification 2.2.1).
fn string_words(text: &str) -> Vec<u32> {
    let mut bytes: Vec<u8> = text.bytes().take_while(|&b| b != 0).take(1 << 12).collect();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.as_chunks::<4>().0.iter().map(|&c| u32::from_le_bytes(c)).collect()
}

impl Cx<'_> {
    /// The declaration of a function that is an instruction of SPIR-V.
    pub(crate) fn inline_decl(&self, decl: DeclId, bodiless: bool) -> Option<DeclId> {
        let attributes = self.ast[decl].attributes;
        (bodiless && self.attribute(attributes, Some("vk"), "ext_instruction").is_some()).then_some(decl)
    }

    /// What attributes ask of the module.
    fn needs_of(&mut self, attributes: Slice<Attribute>) -> Needs {
        let mut needs = Needs::default();
        for a in self.ast.iter(attributes) {
            if a.space != Some(crate::name::kw::VK) {
                continue;
            }
            match self.text(a.name) {
                "ext_capability" => {
                    needs.capabilities.extend(self.attribute_ints(a, 1, 1).into_iter().flatten().map(|n| n as u32));
                }
                "ext_extension" => {
                    if let Ok(text) = self.attribute_string(a).map(str::to_owned) {
                        needs.extensions.push(self.b.module.names.intern(&text));
                    }
                }
                _ => {}
            }
        }
        needs
    }

    /// Remembers what a declaration outside functions asks for, for the entry points behind it.
    pub(crate) fn note_needs(&mut self, attributes: Slice<Attribute>) {
        let needs = self.needs_of(attributes);
        self.s.needs.capabilities.extend(needs.capabilities);
        self.s.needs.extensions.extend(needs.extensions);
    }

    /// Asks for what attributes name, where the program stands.
    pub(crate) fn ask_needs(&mut self, attributes: Slice<Attribute>) {
        let needs = self.needs_of(attributes);
        self.ask(needs);
    }

    fn ask(&mut self, needs: Needs) {
        if !needs.is_empty() {
            self.inline_effect(NOP, needs, &[], Vec::new());
        }
    }

    fn inline_effect(&mut self, opcode: u32, needs: Needs, args: &[ir::Value], operands: Vec<InlineOperand>) {
        let Needs { capabilities, extensions } = needs;
        let id = self.b.module.inlines.push(InlineSpirv { opcode, set: None, capabilities, extensions, operands });
        self.b.effect(Op::Spirv(id), args);
    }

    /// The `vk::` attributes of a function whose body begins here.
    pub(crate) fn function_attributes(&mut self, attributes: Slice<Attribute>) {
        self.ask_needs(attributes);
        for a in self.ast.iter(attributes).filter(|a| a.space == Some(crate::name::kw::VK)).collect::<Vec<_>>() {
            let name = self.text(a.name).to_owned();
            if name == "ext_decorate" {
                if let Ok(words) = self.attribute_ints(a, 1, 16) {
                    let operands = words.iter().map(|w| InlineOperand::Literal(vec![*w as u32])).collect();
                    self.inline_effect(DECORATE, Needs::default(), &[], operands);
                }
            } else if !OF_FUNCTIONS.contains(&&*name) && !is_mode(&name) {
                let message = format!("`vk::{name}` is not supported on a function");
                self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, message);
            }
        }
    }

    /// The `vk::` attributes of an entry point, and what declarations before it ask for.
    pub(crate) fn entry_attributes(&mut self, attributes: Slice<Attribute>) {
        let needs = self.s.needs.clone();
        self.ask(needs);
        self.ask_needs(attributes);
        for a in self.ast.iter(attributes).filter(|a| a.space == Some(crate::name::kw::VK)).collect::<Vec<_>>() {
            let name = self.text(a.name).to_owned();
            if name == "ext_decorate" || !OF_FUNCTIONS.contains(&&*name) && !is_mode(&name) {
                let message = format!("`vk::{name}` is not supported on an entry point");
                self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, message);
            }
        }
    }

    /// The `vk::` attributes of a local variable or parameter: decorations of its memory.
    pub(crate) fn decorate_variable(&mut self, attributes: Slice<Attribute>, name: Option<crate::name::Name>) {
        /// Without effect on what is computed, or handled where the variable is declared.
        const OTHERS: &[&str] = &[
            "ext_capability",
            "ext_extension",
            "ext_literal",
            "ext_reference",
            "location",
            "index",
            "builtin",
            "offset",
            "aliased_pointer",
        ];
        for a in self.ast.iter(attributes).filter(|a| a.space == Some(crate::name::kw::VK)).collect::<Vec<_>>() {
            let text = self.text(a.name).to_owned();
            let Some(opcode) = decoration(&text) else {
                if !OTHERS.contains(&&*text) {
                    let message = format!("`vk::{text}` is not supported on a local variable or parameter");
                    self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, message);
                }
                continue;
            };
            let Ok((mut operands, mut values)) = self.decoration_operands(a, opcode) else { continue };
            let root = name.and_then(|name| self.lookup(name)).and_then(|sym| match sym {
                crate::sema::Sym::Var(var) => match self.s.vars[var.0 as usize].storage {
                    Storage::Local(root) => Some(root),
                    _ => None,
                },
                _ => None,
            });
            let Some(root) = root else {
                self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, "only a variable with memory can be decorated");
                continue;
            };
            self.at(a.span);
            operands.insert(0, InlineOperand::Id);
            values.insert(0, root);
            self.inline_effect(opcode, Needs::default(), &values, operands);
        }
    }

    /// The operands of a decoration behind its target: numbers, a string, or ids of constants.
    fn decoration_operands(&mut self, a: Attribute, opcode: u32) -> R<(Vec<InlineOperand>, Vec<ir::Value>)> {
        let args: Vec<ast::ExprId> = self.ast.iter(a.args).collect();
        let Some((&first, rest)) = args.split_first() else {
            return Err(self.error(codes::BAD_ATTRIBUTE_USE, a.span, "a decoration is a number"));
        };
        let mut operands = vec![InlineOperand::Literal(vec![self.constant_int(first)? as u32])];
        let mut values = Vec::new();
        for &arg in rest {
            match (opcode, self.ast[arg].kind) {
                (DECORATE_STRING, ExprKind::Str(s)) => {
                    let text = self.ast.string(s).to_owned();
                    operands.push(InlineOperand::Literal(string_words(&text)));
                }
                (DECORATE_ID, _) => {
                    let n = self.constant_int(arg)?;
                    values.push(self.int(n, Elem::Int).v);
                    operands.push(InlineOperand::Id);
                }
                _ => operands.push(InlineOperand::Literal(vec![self.constant_int(arg)? as u32])),
            }
        }
        Ok((operands, values))
    }

    /// `vk::ext_execution_mode(mode, ...)`, with ids for the operands when `ids`.
    pub(crate) fn execution_mode(&mut self, args: &[Arg], ids: bool, span: Span) -> R<Expr> {
        let mut operands = Vec::new();
        let mut values = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let value = self.arg(arg, Ty::UINT)?;
            let Some(c) = self.known(value.v).and_then(|c| self.b.module.consts.bits(c)) else {
                return Err(self.error(codes::NOT_CONSTANT, arg.span, "an execution mode takes constants"));
            };
            if ids && i > 0 {
                operands.push(InlineOperand::Id);
                values.push(value.v);
            } else {
                operands.push(InlineOperand::Literal(vec![c as u32]));
            }
        }
        self.at(span);
        let opcode = if ids { EXECUTION_MODE_ID } else { EXECUTION_MODE };
        self.inline_effect(opcode, Needs::default(), &values, operands);
        Ok(Expr::Void)
    }

    /// `vk::ReadClock(scope)`.
    pub(crate) fn read_clock(&mut self, scope: &Arg) -> R<Expr> {
        let scope = self.arg(scope, Ty::UINT)?;
        if self.known(scope.v).is_none() {
            let message = "the scope of a clock is a constant such as `vk::SubgroupScope`";
            return Err(self.error(codes::NOT_CONSTANT, self.b.span, message));
        }
        let inline = InlineSpirv { opcode: READ_CLOCK, operands: vec![InlineOperand::Id], ..InlineSpirv::default() };
        let id = self.b.module.inlines.push(inline);
        let ty = self.tys.scalar(Elem::Uint64);
        let ir = self.ir(ty);
        Ok(Expr::Value(Value { v: self.b.value(Op::Spirv(id), ir, &[scope.v]), ty }))
    }

    /// `vk::CooperativeMatrixLength<T>()`, for the header of cooperative matrices: the instruction takes a type.
    pub(crate) fn matrix_length(&mut self, given: &[TemplateValue], span: Span) -> R<Expr> {
        let [TemplateValue::Type(of)] = given else {
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "one type is the template argument"));
        };
        let operands = vec![InlineOperand::Type(self.ir(*of))];
        let inline = InlineSpirv { opcode: MATRIX_LENGTH, operands, ..InlineSpirv::default() };
        let id = self.b.module.inlines.push(inline);
        let uint = self.ir(Ty::UINT);
        Ok(Expr::Value(Value { v: self.b.value(Op::Spirv(id), uint, &[]), ty: Ty::UINT }))
    }

    /// A call of a function with `[[vk::ext_instruction]]`.
    pub(crate) fn call_inline(&mut self, fun: FnId, decl: DeclId, args: Vec<Arg>, span: Span) -> R<Expr> {
        let f = self.s.funs[fun.0 as usize].clone();
        let attributes = self.ast[decl].attributes;
        let Some(a) = self.attribute(attributes, Some("vk"), "ext_instruction") else { return Ok(Expr::Void) };
        let parts: Vec<ast::ExprId> = self.ast.iter(a.args).collect();
        let (opcode, set) = match parts[..] {
            [opcode] => (opcode, None),
            [opcode, set] => (opcode, Some(set)),
            _ => {
                let message = "`ext_instruction` takes an opcode and the name of an instruction set";
                return Err(self.error(codes::BAD_ATTRIBUTE_USE, a.span, message));
            }
        };
        let opcode = self.constant_int(opcode)? as u32;
        let set = match set.map(|e| self.ast[e].kind) {
            None => None,
            Some(ExprKind::Str(s)) => Some(self.b.module.names.intern(self.ast.string(s))),
            Some(_) => {
                return Err(self.error(codes::BAD_ATTRIBUTE_USE, a.span, "an instruction set is named by a string"));
            }
        };
        let needs = self.needs_of(attributes);
        let mut operands = Vec::new();
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        let mut plain = set.is_none();
        let mut args = args.into_iter();
        for param in &f.params {
            let arg = self.given_or_default(args.next(), param, span)?;
            let own = self.ast[param.decl].attributes;
            if self.attribute(own, Some("vk"), "ext_literal").is_some() {
                operands.push(InlineOperand::Literal(self.literal_words(&arg, param.ty)?));
                plain = false;
            } else if self.attribute(own, Some("vk"), "ext_reference").is_some() {
                operands.push(InlineOperand::Id);
                values.push(self.reference(&arg, param.ty)?);
                plain = false;
            } else {
                operands.push(InlineOperand::Id);
                values.push(self.arg(&arg, param.ty)?);
            }
        }
        self.at(span);
        if self.tys.has_objects(f.ret) {
            return Err(self.unsupported(span, "an instruction of SPIR-V cannot give a resource here"));
        }
        if plain && let Some(value) = self.known_instruction(opcode, f.ret, &values) {
            self.ask(needs);
            return Ok(Expr::Value(value));
        }
        let Needs { capabilities, extensions } = needs;
        let id = self.b.module.inlines.push(InlineSpirv { opcode, set, capabilities, extensions, operands });
        let values: SmallVec<[ir::Value; 4]> = values.iter().map(|v| v.v).collect();
        if f.ret == Ty::VOID {
            self.b.effect(Op::Spirv(id), &values);
            return Ok(Expr::Void);
        }
        let ir = self.ir(f.ret);
        Ok(Expr::Value(Value { v: self.b.value(Op::Spirv(id), ir, &values), ty: f.ret }))
    }

    /// The words of a literal operand, low-order first.
    fn literal_words(&mut self, arg: &Arg, ty: Ty) -> R<Vec<u32>> {
        let value = self.arg(arg, ty)?;
        let module = &self.b.module;
        let bits = self.known(value.v).and_then(|c| Some((module.consts.bits(c)?, module.consts.ty(c))));
        let Some((bits, ty)) = bits else {
            return Err(self.error(codes::NOT_CONSTANT, arg.span, "a literal operand is a constant"));
        };
        let wide = module.types.scalar_of(ty).is_some_and(|s| s.bits() == 64);
        let words = [bits as u32, (bits >> 32) as u32];
        Ok(words[..if wide { 2 } else { 1 }].to_vec())
    }

    /// A variable's address as an operand; of a resource, the resource.
    fn reference(&mut self, arg: &Arg, ty: Ty) -> R<Value> {
        if self.tys.as_object(ty).is_some() {
            return self.arg(arg, ty);
        }
        let Expr::Place(place) = &arg.expr else {
            return Err(self.error(codes::BAD_ARGUMENTS, arg.span, "a reference is to a variable"));
        };
        if !self.tys.same(place.ty, ty) {
            return Err(self.no_conversion(place.ty, ty, arg.span, false));
        }
        let place = place.clone();
        self.at(arg.span);
        match self.address(&place) {
            Some(v) => Ok(Value { v, ty }),
            None => {
                Err(self.unsupported(arg.span, "this part of a variable has no address that an instruction can take"))
            }
        }
    }

    /// An instruction that the language has too, when its operands are of such types.
    fn known_instruction(&mut self, opcode: u32, ret: Ty, args: &[Value]) -> Option<Value> {
        let &(_, known) = KNOWN.iter().find(|(n, _)| *n == opcode)?;
        let (to, shape) = self.tys.as_numeric(ret)?;
        let first = args.first()?;
        let (from, first_shape) = self.tys.as_numeric(first.ty)?;
        let flat = |shape| !matches!(shape, Shape::Matrix(..));
        if !flat(shape) || !flat(first_shape) || self.is_enum(ret) || from == Elem::Bool || to == Elem::Bool {
            return None;
        }
        let same_count = shape.count() == first_shape.count();
        let as_sign = |elem: Elem, sign: Option<bool>| match sign {
            Some(signed) => integer(elem, signed),
            None => elem.is_float().then_some(elem),
        };
        match (known, args) {
            (Known::Copy, [_]) => (same_count && from.ir() == to.ir()).then_some(Value { v: first.v, ty: ret }),
            (Known::Bits, [_]) => {
                (same_count && from.ir().bits() == to.ir().bits()).then(|| self.with_bits(*first, to, ret))
            }
            (Known::Convert(take, give), [_]) if same_count => {
                let (take, give) = (as_sign(from, take)?, as_sign(to, give)?);
                let taken = self.tys.numeric(take, first_shape);
                let taken = self.with_bits(*first, take, taken);
                let given = self.tys.numeric(give, shape);
                let ir = self.ir(given);
                let v = if take.ir() == give.ir() { taken.v } else { self.emit(Op::Convert, ir, &[taken.v]) };
                Some(self.with_bits(Value { v, ty: given }, to, ret))
            }
            (Known::Unary(op), [a]) => {
                let is_float = opcode == 127;
                (self.tys.same(a.ty, ret) && to.is_float() == is_float).then(|| self.unary(op, *a))
            }
            (Known::Binary(op, sign), [a, b]) if self.tys.same(a.ty, ret) && self.tys.same(b.ty, ret) => {
                let elem = as_sign(to, sign)?;
                let ty = self.tys.numeric(elem, shape);
                let (a, b) = (self.with_bits(*a, elem, ty), self.with_bits(*b, elem, ty));
                let v = self.binary(op, a, b);
                Some(self.with_bits(v, to, ret))
            }
            _ => None,
        }
    }

    /// The same bits as numbers of another type of as many components and bits.
    fn with_bits(&mut self, value: Value, elem: Elem, ty: Ty) -> Value {
        let from = self.tys.elem(value.ty).map(Elem::ir);
        if from == Some(elem.ir()) {
            return Value { v: value.v, ty };
        }
        let ir = self.ir(ty);
        Value { v: self.emit(Op::Bitcast, ir, &[value.v]), ty }
    }

    /// Declares a variable of `[[vk::ext_builtin_input(n)]]` or `[[vk::ext_builtin_output(n)]]`. Whether it is one.
    pub(crate) fn spirv_builtin(&mut self, attributes: Slice<Attribute>, node: &ast::Var, ty: Ty) -> bool {
        let input = self.attribute(attributes, Some("vk"), "ext_builtin_input");
        let output = self.attribute(attributes, Some("vk"), "ext_builtin_output");
        let Some(a) = input.or(output) else { return false };
        let is_output = output.is_some();
        let errors = self.diags.len();
        let is_static = self.mods(node).contains(Mods::STATIC);
        if is_static {
            self.check_builtin_attributes(attributes, node);
        }
        let numeric = self.tys.is_numeric_aggregate(ty) && self.tys.as_struct(self.tys.innermost(ty)).is_none();
        let wrong = match node.init {
            _ if !is_static => Some("a variable that stands for a built-in is `static`"),
            _ if !numeric => Some("a built-in variable is a number, a vector, or an array of them"),
            Some(_) => Some("a variable that stands for a built-in has no initial value"),
            None => None,
        };
        if let Some(message) = wrong {
            self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
        }
        let number = self.attribute_ints(a, 1, 1).ok().and_then(|n| u32::try_from(n[0]).ok());
        let failed = self.diags.len() > errors;
        let (Some(number), false, Some(name)) = (number, failed, node.name) else {
            self.add_broken(node.name, node.name_span);
            return true;
        };
        self.note_needs(attributes);
        let ir_name = self.ir_name(name);
        let io = IoVar {
            semantic: ir_name,
            index: 0,
            builtin: Some(BuiltIn::Spirv(number)),
            location: None,
            blend_index: 0,
            interpolation: ir::Interpolation::default(),
            sampling: ir::Sampling::default(),
        };
        let ir = self.ir(ty);
        let global = self.b.module.globals.push(GlobalVar {
            name: ir_name,
            ty: ir,
            space: if is_output { AddressSpace::Output } else { AddressSpace::Input },
            init: None,
            kind: GlobalKind::Io(io),
            readonly: false,
            span: node.name_span,
        });
        self.s.builtin_vars.push((global, is_output));
        let readonly = (!is_output).then_some(ReadOnly::Const);
        self.add_var(Var { name, ty, storage: Storage::Global(global), readonly, known: None, span: node.name_span });
        true
    }

    /// Adds the built-in variables that entry points use to their signatures.
    pub(crate) fn add_builtins(&mut self) {
        if self.s.builtin_vars.is_empty() {
            return;
        }
        let builtins = self.s.builtin_vars.clone();
        for at in 0..self.b.module.entry_points.len() {
            let func = self.b.module.entry_points[at].func;
            let mut used: Vec<ir::Global> = Vec::new();
            for func in self.b.module.reachable(func) {
                let function = &self.b.module.functions[func];
                for (_, _, data) in function.live_insts() {
                    used.extend(data.args.iter().filter_map(|&arg| match function.values[arg].def {
                        ValueDef::Global(global) => Some(global),
                        _ => None,
                    }));
                }
            }
            let entry = &mut self.b.module.entry_points[at];
            for &(global, is_output) in builtins.iter().filter(|(global, _)| used.contains(global)) {
                let list = if is_output { &mut entry.outputs } else { &mut entry.inputs };
                list.push(global);
            }
        }
    }
}
