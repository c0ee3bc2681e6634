//! Types of SPIR-V that a program names: `vk::SpirvOpaqueType`, `vk::SpirvType` (HLSL proposal 0011).

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{InlineOperand, InlineSpirv, TypeKind};

use crate::ast::{TemplateArg, TemplateArgKind};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::ty::{SpirvDef, Ty, TyKind};
use crate::value::R;

/// `OpTypePointer`.
const TYPE_POINTER: u32 = 32;

impl Cx<'_> {
    /// `vk::SpirvOpaqueType<opcode, operands...>`, `vk::SpirvType<opcode, size, alignment, operands...>`.
    pub(crate) fn spirv_named_type(&mut self, kind: ObjectKind, args: &[TemplateArg], span: Span) -> R<Ty> {
        let (numbers, operands) = match kind {
            ObjectKind::SpirvType if args.len() >= 3 => args.split_at(3),
            ObjectKind::SpirvOpaqueType if !args.is_empty() => args.split_at(1),
            _ => {
                let message = format!("`{}` takes an opcode and operands", kind.text());
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
            }
        };
        let mut opcode = 0;
        for (i, number) in numbers.iter().enumerate() {
            let TemplateArgKind::Expr(e) = number.kind else {
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, number.span, "expected a number"));
            };
            let n = self.constant_int(e)?;
            if i == 0 {
                opcode = n as u32;
            }
        }
        let mut types = Vec::with_capacity(operands.len());
        for operand in operands {
            if let TemplateArgKind::Expr(_) = operand.kind {
                let message = "an operand is a type, `vk::integral_constant` or `vk::Literal`";
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, operand.span, message));
            }
            types.push(self.type_arg(operand)?);
        }
        Ok(self.tys.spirv_type(SpirvDef::Type(opcode, types)))
    }

    /// `vk::integral_constant<T, n>`.
    pub(crate) fn spirv_constant(&mut self, args: &[TemplateArg], span: Span) -> R<Ty> {
        let [of, TemplateArg { kind: TemplateArgKind::Expr(e), .. }] = args else {
            let message = "`vk::integral_constant` takes a type and a number";
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        };
        let of = self.type_arg(of)?;
        let n = self.constant_int(*e)?;
        let Some(elem) = self.tys.elem(of).filter(|_| self.tys.shape(of).is_some_and(|s| s.count() == 1)) else {
            let message = format!("a constant is a number, not `{}`", self.show(of));
            return Err(self.error(codes::BAD_TYPE, span, message));
        };
        let module = &mut *self.b.module;
        let c = module.consts.scalar(&mut module.types, elem.ir(), n as u64);
        Ok(self.tys.spirv_type(SpirvDef::Constant(c, of)))
    }

    /// `vk::Literal<vk::integral_constant<T, n>>`.
    pub(crate) fn spirv_literal(&mut self, args: &[TemplateArg], span: Span) -> R<Ty> {
        if let [of] = args
            && let of = self.type_arg(of)?
            && let TyKind::Spirv(at) = self.tys.kind(of)
            && let SpirvDef::Constant(c, _) = self.tys.spirv[at as usize]
        {
            let module = &self.b.module;
            let wide = module.types.scalar_of(module.consts.ty(c)).is_some_and(|s| s.bits() == 64);
            let bits = module.consts.bits(c).unwrap_or(0);
            let words = [bits as u32, (bits >> 32) as u32];
            return Ok(self.tys.spirv_type(SpirvDef::Literal(of, words[..if wide { 2 } else { 1 }].to_vec())));
        }
        Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "`vk::Literal` takes a `vk::integral_constant`"))
    }

    /// Whether a type is a pointer of SPIR-V: its values live in no variables, and are named once.
    pub(crate) fn is_spirv_pointer(&self, ty: Ty) -> bool {
        let TyKind::Spirv(at) = self.tys.kind(ty) else { return false };
        matches!(self.tys.spirv[at as usize], SpirvDef::Type(TYPE_POINTER, _))
    }

    /// The IR's type of an entry of the table; of an operand, which no value has, a number's.
    pub(crate) fn spirv_ir(&mut self, at: u32) -> ir::Type {
        let SpirvDef::Type(opcode, operands) = self.tys.spirv[at as usize].clone() else {
            return self.ir(Ty::UINT);
        };
        let operands = operands.into_iter().map(|ty| self.spirv_operand(ty)).collect();
        let id = self.b.module.inlines.push(InlineSpirv { opcode, operands, ..InlineSpirv::default() });
        self.b.module.types.intern(TypeKind::Spirv(id))
    }

    fn spirv_operand(&mut self, ty: Ty) -> InlineOperand {
        match self.tys.kind(ty) {
            TyKind::Spirv(at) => match &self.tys.spirv[at as usize] {
                SpirvDef::Type(..) => InlineOperand::Type(self.ir(ty)),
                SpirvDef::Constant(c, _) => InlineOperand::Const(*c),
                SpirvDef::Literal(_, words) => InlineOperand::Literal(words.clone()),
            },
            _ => InlineOperand::Type(self.ir(ty)),
        }
    }
}
