//! From types as written to semantic types.

use oneshader_diag::{Span, codes};
use oneshader_ir::MatrixOrder;

use crate::ast::{self, Mods, TemplateArg, TemplateArgKind, TypeId};
use crate::builtin::{NumericType, ObjectKind, ScalarKind};
use crate::cx::Cx;
use crate::irty::{is_read_write, texture_shape};
use crate::name::{Name, kw};
use crate::sema::Sym;
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{Base, R};

/// Elements of an array, components of a type, at most.
const MAX_COMPONENTS: u64 = 1 << 26;

impl Cx<'_> {
    /// The type a node of the tree means here.
    pub(crate) fn resolve(&mut self, id: TypeId) -> R<Ty> {
        let node = self.ast[id];
        let ty = match node.kind {
            ast::TypeKind::Error => return Err(crate::value::Reported(())),
            ast::TypeKind::Numeric(numeric) => self.numeric_type(numeric, node.mods, node.span)?,
            ast::TypeKind::Object { kind, args } => self.object_type(kind, args, node.mods, node.span)?,
            ast::TypeKind::Path(path) => {
                let (sym, scope, last) = self.lookup_path(path)?;
                let Some(mut sym) = sym else { return Err(self.unknown_name(last.name, scope, last.span)) };
                if let (Sym::Var(_) | Sym::Funs(_), Some(tag)) = (sym, self.lookup_tag(last.name)) {
                    sym = tag;
                }
                self.type_of_symbol(sym, last.name, last.args, last.span)?
            }
            ast::TypeKind::Array { element, size } => {
                let of = self.resolve(element)?;
                return self.array_type(of, size, node.span);
            }
            ast::TypeKind::Struct(decl) | ast::TypeKind::Enum(decl) => {
                match self.s.decl_types.get(&(decl, self.s.env)) {
                    Some(ty) => *ty,
                    None => {
                        self.declare_one(decl);
                        match self.s.decl_types.get(&(decl, self.s.env)) {
                            Some(ty) => *ty,
                            None => return Err(crate::value::Reported(())),
                        }
                    }
                }
            }
            ast::TypeKind::Decltype(expr) => self.discarded(|cx| {
                let e = cx.expr(expr)?;
                Ok(cx.type_of(&e))
            })?,
            ast::TypeKind::Auto => {
                return Err(self.error(codes::BAD_TYPE, node.span, "`auto` needs an initializer"));
            }
        };
        Ok(self.with_order(ty, node.mods))
    }

    /// An array type, checked.
    pub(crate) fn array_type(&mut self, of: Ty, size: Option<ast::ExprId>, span: Span) -> R<Ty> {
        if of == Ty::VOID {
            return Err(self.error(codes::BAD_TYPE, span, "an array cannot be of `void`"));
        }
        let Some(size) = size else { return Ok(self.tys.intern(TyKind::Unsized(of))) };
        let size_span = self.ast[size].span;
        let n = self.constant_int(size)?;
        if n < 1 {
            return Err(self.error(codes::BAD_ARRAY_SIZE, size_span, format!("an array cannot have {n} elements")));
        }
        let total = (n as u64).saturating_mul(self.leaf_count(of));
        match u32::try_from(n) {
            Ok(n) if total <= MAX_COMPONENTS => Ok(self.tys.array(of, n)),
            _ => Err(self.error(codes::TYPE_TOO_LARGE, size_span, "the array is too large")),
        }
    }

    /// The order that modifiers give to the matrices of a type.
    pub(crate) fn with_order(&mut self, ty: Ty, mods: Mods) -> Ty {
        let order = if mods.contains(Mods::ROW_MAJOR) {
            MatrixOrder::RowMajor
        } else if mods.contains(Mods::COLUMN_MAJOR) {
            MatrixOrder::ColumnMajor
        } else {
            return ty;
        };
        self.set_order(ty, order)
    }

    fn set_order(&mut self, ty: Ty, order: MatrixOrder) -> Ty {
        match self.tys.kind(ty) {
            TyKind::Matrix(e, r, c, _) => self.tys.intern(TyKind::Matrix(e, r, c, order)),
            TyKind::Array(of, n) => {
                let of = self.set_order(of, order);
                self.tys.array(of, n)
            }
            TyKind::Unsized(of) => {
                let of = self.set_order(of, order);
                self.tys.intern(TyKind::Unsized(of))
            }
            _ => ty,
        }
    }

    fn matrix_order(&self, mods: Mods) -> MatrixOrder {
        if mods.contains(Mods::PACK_ROW_MAJOR) {
            MatrixOrder::RowMajor
        } else if mods.contains(Mods::PACK_COLUMN_MAJOR) {
            MatrixOrder::ColumnMajor
        } else {
            self.opts.matrix_order
        }
    }

    fn numeric_type(&mut self, numeric: NumericType, mods: Mods, span: Span) -> R<Ty> {
        let (kind, shape) = match numeric {
            NumericType::Scalar(ScalarKind::Void) => return Ok(Ty::VOID),
            NumericType::Scalar(ScalarKind::String) => return Ok(Ty::STRING),
            NumericType::Scalar(kind) => (kind, Shape::Scalar),
            NumericType::Vector(kind, n) => (kind, Shape::Vector(n)),
            NumericType::Matrix(kind, r, c) => (kind, Shape::Matrix(r, c)),
        };
        let elem = self.scalar_element(kind, span)?;
        Ok(match shape {
            Shape::Matrix(r, c) => {
                let order = self.matrix_order(mods);
                self.tys.intern(TyKind::Matrix(elem, r, c, order))
            }
            _ => self.tys.numeric(elem, shape),
        })
    }

    /// What a scalar of the language is computed in.
    fn scalar_element(&mut self, kind: ScalarKind, span: Span) -> R<Elem> {
        use ScalarKind as K;
        let native = self.opts.native_16bit;
        Ok(match kind {
            K::Void | K::String => Elem::Int,
            K::Bool => Elem::Bool,
            K::Int => Elem::Int,
            K::Uint => Elem::Uint,
            K::Float => Elem::Float,
            K::Double => Elem::Double,
            K::Int64 => Elem::Int64,
            K::Uint64 => Elem::Uint64,
            K::Int8x4Packed => Elem::PackedInt8,
            K::Uint8x4Packed => Elem::PackedUint8,
            K::Half | K::Min16Float | K::Min10Float if native => Elem::Float16,
            K::Min16Int | K::Min12Int if native => Elem::Int16,
            K::Min16Uint if native => Elem::Uint16,
            K::Half => Elem::Half,
            K::Min16Float => Elem::Min16Float,
            K::Min10Float => Elem::Min10Float,
            K::Min16Int => Elem::Min16Int,
            K::Min12Int => Elem::Min12Int,
            K::Min16Uint => Elem::Min16Uint,
            K::Int16 | K::Uint16 | K::Float16 if !native => {
                let message = "16-bit types need the option `-enable-16bit-types`";
                return Err(self.error(codes::NEEDS_OPTION, span, message));
            }
            K::Int16 => Elem::Int16,
            K::Uint16 => Elem::Uint16,
            K::Float16 => Elem::Float16,
        })
    }

    pub(crate) fn type_arg(&mut self, arg: &TemplateArg) -> R<Ty> {
        match arg.kind {
            TemplateArgKind::Type(ty) => self.resolve(ty),
            TemplateArgKind::Expr(_) => {
                Err(self.error(codes::TEMPLATE_ARGUMENTS, arg.span, "expected a type as template argument"))
            }
        }
    }

    fn dimension_arg(&mut self, arg: &TemplateArg) -> R<u8> {
        let TemplateArgKind::Expr(expr) = arg.kind else {
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, arg.span, "expected a number as template argument"));
        };
        match self.constant_int(expr)? {
            n @ 1..=4 => Ok(n as u8),
            n => Err(self.error(codes::BAD_TYPE, arg.span, format!("{n} is no number of components; 1 to 4 are"))),
        }
    }

    fn object_type(&mut self, kind: ObjectKind, args: ast::Slice<TemplateArg>, mods: Mods, span: Span) -> R<Ty> {
        use ObjectKind as O;
        let args: Vec<TemplateArg> = self.ast.iter(args).collect();
        match kind {
            O::Vector | O::Matrix => return self.vector_type(kind, &args, mods, span),
            O::Sampler => return Ok(self.tys.intern(TyKind::Object(O::SamplerState, Ty::VOID))),
            O::RayDesc => return Ok(self.ray_desc()),
            O::RayQuery => return self.ray_query_type(&args, span),
            O::SpirvOpaqueType | O::SpirvType => return self.spirv_named_type(kind, &args, span),
            O::SpirvConstant => return self.spirv_constant(&args, span),
            O::SpirvLiteral => return self.spirv_literal(&args, span),
            O::SpirvResult => {
                return match &args[..] {
                    [of] => self.type_arg(of),
                    _ => Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "`vk::ext_result_id` takes one type")),
                };
            }
            O::BufferPointer => return self.buffer_pointer(&args, span),
            O::LegacyTexture => return Ok(self.tys.intern(TyKind::Object(O::Texture2D, Ty::FLOAT4))),
            _ => {}
        }
        if is_unsupported(kind) {
            if self.s.func.is_some() {
                self.error(codes::UNSUPPORTED_TYPE, span, format!("`{}` is not supported", kind.text()));
            }
            let arg = match args.first() {
                Some(TemplateArg { kind: TemplateArgKind::Type(ty), .. }) => self.resolve(*ty)?,
                _ => Ty::VOID,
            };
            return Ok(self.tys.intern(TyKind::Object(kind, arg)));
        }
        let takes = takes_argument(kind);
        let arg = match (args.first(), takes) {
            (Some(arg), true) => self.type_arg(arg)?,
            (None, true) if defaults_to_float4(kind) => Ty::FLOAT4,
            (None, true) => {
                let message = format!("`{}` needs the type of its elements", kind.text());
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
            }
            (Some(_), false) => {
                let message = format!("`{}` takes no template arguments", kind.text());
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
            }
            (None, false) => Ty::VOID,
        };
        if let Some(TemplateArg { kind: TemplateArgKind::Expr(samples), .. }) = args.get(1) {
            self.constant_int(*samples)?;
        }
        self.check_object_arg(kind, arg, span)?;
        Ok(self.tys.intern(TyKind::Object(kind, arg)))
    }

    /// `RayDesc`, a structure of the language.
    pub(crate) fn ray_desc(&mut self) -> Ty {
        if let Some(ty) = self.s.ray_desc {
            return ty;
        }
        let root = self.root_scope();
        let ty = self.new_struct(kw::RAY_DESC, root, None, Span::NONE);
        let Some(s) = self.tys.as_struct(ty) else { return ty };
        let float3 = self.tys.vector(Elem::Float, 3);
        let fields = [(kw::ORIGIN, float3), (kw::T_MIN, Ty::FLOAT), (kw::DIRECTION, float3), (kw::T_MAX, Ty::FLOAT)];
        let scope = crate::sema::ScopeId(self.tys.def(s).scope);
        for (i, (name, ty)) in fields.into_iter().enumerate() {
            let slot = i as u32;
            self.tys.structs[s.0 as usize].fields.push(crate::ty::Field {
                name: Some(name),
                ty,
                bits: None,
                slot,
                var: None,
                decl: None,
                offset: None,
                span: Span::NONE,
            });
            self.scope_mut(scope).names.insert(name, Sym::Field(s, slot));
        }
        self.tys.structs[s.0 as usize].complete = true;
        self.s.ray_desc = Some(ty);
        ty
    }

    fn check_object_arg(&mut self, kind: ObjectKind, arg: Ty, span: Span) -> R<()> {
        use ObjectKind as O;
        let shown = self.show(arg);
        if let Some(s) = self.tys.as_struct(self.tys.innermost(arg))
            && !self.tys.def(s).complete
        {
            let message = format!("`{shown}` is not defined here");
            return Err(self.error(codes::INCOMPLETE_TYPE, span, message));
        }
        if self.holds_ray_query(arg) {
            let message = format!("`{}` cannot hold `{shown}`: a ray query lives in variables", kind.text());
            return Err(self.error(codes::BAD_TYPE, span, message));
        }
        if self.tys.has_spirv(arg) {
            let message = format!("`{}` cannot hold `{shown}`, which has no bytes", kind.text());
            return Err(self.error(codes::BAD_TYPE, span, message));
        }
        let bad = match kind {
            O::ConstantBuffer | O::TextureBuffer => {
                (!matches!(self.tys.kind(arg), TyKind::Struct(_))).then_some("a structure")
            }
            O::StructuredBuffer
            | O::RwStructuredBuffer
            | O::RasterizerOrderedStructuredBuffer
            | O::AppendStructuredBuffer
            | O::ConsumeStructuredBuffer => {
                (arg == Ty::VOID || self.tys.has_objects(arg) || matches!(self.tys.kind(arg), TyKind::Unsized(_)))
                    .then_some("numbers and structures of numbers")
            }
            _ if takes_argument(kind) => match self.tys.as_numeric(arg) {
                Some((elem, Shape::Scalar | Shape::Vector(_))) if !self.is_enum(arg) => {
                    let count = self.tys.shape(arg).map_or(1, Shape::count);
                    (elem.bytes() * count > 16 && elem.bits() == 64).then_some("at most four 32-bit quantities")
                }
                _ => Some("a scalar or vector"),
            },
            _ => None,
        };
        match bad {
            None => Ok(()),
            Some(want) => {
                let message = format!("`{}` holds {want}, not `{shown}`", kind.text());
                Err(self.error(codes::BAD_TYPE, span, message))
            }
        }
    }

    fn vector_type(&mut self, kind: ObjectKind, args: &[TemplateArg], mods: Mods, span: Span) -> R<Ty> {
        let is_matrix = kind == ObjectKind::Matrix;
        let most = if is_matrix { 3 } else { 2 };
        if args.len() > most {
            let message = format!("`{}` takes {most} template arguments", kind.text());
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        }
        let elem = match args.first() {
            Some(arg) => {
                let ty = self.type_arg(arg)?;
                match self.tys.kind(ty) {
                    TyKind::Scalar(elem) => elem,
                    _ => {
                        let shown = self.show(ty);
                        let message = format!("a {} cannot have components of type `{shown}`", kind.text());
                        return Err(self.error(codes::BAD_TYPE, arg.span, message));
                    }
                }
            }
            None => Elem::Float,
        };
        let mut dims = [4u8; 2];
        for (dim, arg) in dims.iter_mut().zip(args.iter().skip(1)) {
            *dim = self.dimension_arg(arg)?;
        }
        Ok(match is_matrix {
            true => {
                let order = self.matrix_order(mods);
                self.tys.intern(TyKind::Matrix(elem, dims[0], dims[1], order))
            }
            false => self.tys.vector(elem, dims[0]),
        })
    }

    /// The type a symbol means, with template arguments where it takes some.
    pub(crate) fn type_of_symbol(
        &mut self,
        sym: Sym,
        name: Name,
        args: Option<ast::Slice<TemplateArg>>,
        span: Span,
    ) -> R<Ty> {
        match sym {
            Sym::Type(ty) => match args {
                // Inside a template its name means the instance; with arguments it means the template.
                Some(args) => match self.tys.as_struct(ty).and_then(|s| self.s.instance_of.get(&s)) {
                    Some((template, _)) => {
                        let template = *template;
                        self.instantiate_struct(template, args, span)
                    }
                    None => {
                        let message = format!("`{}` is no template", self.text(name));
                        Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message))
                    }
                },
                None => Ok(ty),
            },
            Sym::StructTemplate(t) => self.instantiate_struct(t, args.unwrap_or(ast::Slice::EMPTY), span),
            Sym::AliasTemplate(t) => self.instantiate_alias(t, args.unwrap_or(ast::Slice::EMPTY), span),
            Sym::Object(kind) => self.object_type(kind, args.unwrap_or(ast::Slice::EMPTY), Mods::empty(), span),
            _ => {
                let message = format!("`{}` is no type", self.text(name));
                Err(self.error(codes::WRONG_KIND_OF_NAME, span, message))
            }
        }
    }

    /// Whether a type can be that of a variable.
    pub(crate) fn check_object_type(&mut self, ty: Ty, span: Span) -> R<()> {
        match self.tys.kind(self.tys.innermost(ty)) {
            TyKind::Void => Err(self.error(codes::BAD_TYPE, span, "a variable cannot be of type `void`")),
            _ if self.tys.innermost(ty) != ty && self.is_spirv_pointer(self.tys.innermost(ty)) => {
                let message = "a pointer of SPIR-V is bound once, to a name or a parameter";
                Err(self.error(codes::BAD_TYPE, span, message))
            }
            TyKind::Struct(s) if !self.tys.def(s).complete => {
                let shown = self.show(ty);
                Err(self.error(codes::INCOMPLETE_TYPE, span, format!("`{shown}` is not defined here")))
            }
            _ => Ok(()),
        }
    }

    /// Runs without leaving instructions behind; what it makes must not be used as a value.
    pub(crate) fn discarded<T>(&mut self, f: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        let mark = self.b.mark();
        let result = f(self);
        self.b.rewind(mark);
        result
    }

    /// The value of a constant expression, and its type.
    pub(crate) fn constant(&mut self, expr: ast::ExprId) -> R<(oneshader_ir::Const, Ty)> {
        let span = self.ast[expr].span;
        self.s.constant += 1;
        let result = self.discarded(|cx| {
            let e = cx.expr(expr)?;
            if let crate::value::Expr::Place(place) = &e
                && let (Some(c), Base::Memory(_), true) = (place.known, &place.base, place.steps.is_empty())
            {
                return Ok(Some((c, place.ty)));
            }
            let value = cx.rvalue(e, span)?;
            Ok(cx.known(value.v).map(|c| (c, value.ty)))
        });
        self.s.constant -= 1;
        match result? {
            Some(known) => Ok(known),
            None => Err(self.error(codes::NOT_CONSTANT, span, "expected a constant expression")),
        }
    }

    /// The value of a constant integer expression (truth values as 0 and 1).
    pub(crate) fn constant_int(&mut self, expr: ast::ExprId) -> R<i64> {
        let span = self.ast[expr].span;
        let (c, ty) = self.constant(expr)?;
        let v = self.b.constant(c);
        match self.known_int(crate::value::Value { v, ty }) {
            Some(n) => Ok(n),
            None => Err(self.error(codes::NOT_CONSTANT, span, "expected an integer constant")),
        }
    }
}

/// Types of stages and features that are not compiled.
pub(crate) fn is_unsupported(kind: ObjectKind) -> bool {
    use ObjectKind as O;
    matches!(
        kind,
        O::InputPatch
            | O::OutputPatch
            | O::PointStream
            | O::LineStream
            | O::TriangleStream
            | O::BuiltInTriangleIntersectionAttributes
            | O::StateObjectConfig
            | O::GlobalRootSignature
            | O::LocalRootSignature
            | O::SubobjectToExportsAssociation
            | O::RaytracingShaderConfig
            | O::RaytracingPipelineConfig
            | O::RaytracingPipelineConfig1
            | O::TriangleHitGroup
            | O::ProceduralPrimitiveHitGroup
            | O::FeedbackTexture2D
            | O::FeedbackTexture2DArray
            | O::NodeObject
    )
}

fn takes_argument(kind: ObjectKind) -> bool {
    use ObjectKind as O;
    !matches!(
        kind,
        O::ByteAddressBuffer
            | O::RwByteAddressBuffer
            | O::RasterizerOrderedByteAddressBuffer
            | O::SamplerState
            | O::SamplerComparisonState
            | O::RaytracingAccelerationStructure
    )
}

fn defaults_to_float4(kind: ObjectKind) -> bool {
    use ObjectKind as O;
    let texture = !matches!(
        kind,
        O::Buffer
            | O::RwBuffer
            | O::RasterizerOrderedBuffer
            | O::ConstantBuffer
            | O::TextureBuffer
            | O::StructuredBuffer
            | O::RwStructuredBuffer
            | O::RasterizerOrderedStructuredBuffer
            | O::AppendStructuredBuffer
            | O::ConsumeStructuredBuffer
    );
    let writes = is_read_write(kind);
    kind == O::Buffer || texture && (!writes || texture_shape(kind).3 == oneshader_ir::Access::ReadWrite)
}
