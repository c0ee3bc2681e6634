//! Expected numbers are those of DXC's documentation (`SPIR-V.rst`, the table of "Memory layout rules") and of the
//! decorations DXC gives the same declarations.

use super::*;
use crate::{Member, Scalar, StructType};

const ALL: [LayoutOptions; 4] = [LayoutOptions::VULKAN, LayoutOptions::DX, LayoutOptions::GL, LayoutOptions::SCALAR];

struct Ctx {
    m: IrModule,
    layouts: Layouts,
}

enum T {
    F,
    V(u8),
    D(u8),
    H(u8),
    B,
    M(u8, u8),
    Row(u8, u8),
    A(Box<T>, u32),
    S(Type),
}
use T::*;

fn arr(t: T, n: u32) -> T {
    A(Box::new(t), n)
}

impl Ctx {
    fn new() -> Self {
        Self { m: IrModule::new(), layouts: Layouts::new() }
    }
    fn ty(&mut self, t: &T) -> Type {
        let types = &mut self.m.types;
        match t {
            F => types.scalar(Scalar::F32),
            V(n) => types.vector(Scalar::F32, *n),
            D(n) => types.vector(Scalar::F64, *n),
            H(n) => types.vector(Scalar::F16, *n),
            B => types.bool(),
            M(r, c) | Row(r, c) => types.matrix(Scalar::F32, *r, *c),
            A(t, n) => {
                let elem = self.ty(t);
                self.m.types.array(elem, *n)
            }
            S(ty) => *ty,
        }
    }
    fn strukt(&mut self, members: &[(T, Option<u32>)]) -> Type {
        let name = self.m.names.intern("S");
        let members = members
            .iter()
            .enumerate()
            .map(|(i, (t, offset))| {
                let mut inner = t;
                while let A(t, _) = inner {
                    inner = t;
                }
                let order = if matches!(inner, Row(..)) { MatrixOrder::RowMajor } else { MatrixOrder::ColumnMajor };
                let name = self.m.names.intern(&format!("m{i}"));
                Member { name, ty: self.ty(t), order, offset: *offset, span: Span::NONE }
            })
            .collect();
        self.m.types.add_struct(StructType { name, members })
    }
    fn plain(&mut self, members: Vec<T>) -> Type {
        self.strukt(&members.into_iter().map(|t| (t, None)).collect::<Vec<_>>())
    }
    fn get(&mut self, ty: Type, rule: LayoutRule) -> Layout {
        let id = self.layouts.compute(&self.m.types, ty, rule, MatrixOrder::ColumnMajor).unwrap();
        self.layouts.get(id).clone()
    }
    fn offsets(&mut self, ty: Type, rule: LayoutRule) -> Vec<u32> {
        match self.get(ty, rule).kind {
            LayoutKind::Struct(members) => members.iter().map(|m| m.offset).collect(),
            _ => panic!("not a structure"),
        }
    }
}

#[test]
fn the_table_of_the_documentation() {
    let cx = &mut Ctx::new();
    let s = cx.plain(vec![V(3)]);
    let t = cx.plain(vec![F, V(3), S(s), M(2, 3), Row(2, 3), arr(F, 3), arr(V(2), 2)]);
    let uniform: [&[u32]; 4] = [
        &[0, 4, 16, 32, 80, 112, 160],
        &[0, 4, 16, 32, 80, 112, 160],
        &[0, 16, 32, 48, 96, 128, 176],
        &[0, 4, 16, 28, 52, 76, 88],
    ];
    let storage: [&[u32]; 4] = [
        &[0, 4, 16, 32, 64, 96, 112],
        &[0, 4, 16, 28, 52, 76, 88],
        &[0, 16, 32, 48, 80, 112, 128],
        &[0, 4, 16, 28, 52, 76, 88],
    ];
    for (i, options) in ALL.iter().enumerate() {
        assert_eq!(cx.offsets(t, options.constant), uniform[i], "uniform, {}", options.constant.name());
        assert_eq!(cx.offsets(t, options.storage), storage[i], "storage, {}", options.storage.name());
    }
}

#[test]
fn nested_structures_as_dxc_decorates_them() {
    let cx = &mut Ctx::new();
    // struct P { float a; float3 b; float2x2 m; float c[2]; };
    // struct E { float v; P p[2]; float w; float3 x; }; cbuffer C { E e; float after; }
    let p = cx.plain(vec![F, V(3), M(2, 2), arr(F, 2)]);
    let e = cx.plain(vec![F, arr(S(p), 2), F, V(3)]);
    let c = cx.plain(vec![S(e), F]);
    type Row = (LayoutRule, [u32; 4], u32, [u32; 4], u32);
    let rows: [Row; 4] = [
        (LayoutRule::RelaxedStd140, [0, 4, 16, 48], 80, [0, 16, 176, 180], 192),
        (LayoutRule::DxConstantBuffer, [0, 4, 16, 48], 80, [0, 16, 164, 176], 188),
        (LayoutRule::Std140, [0, 16, 32, 64], 96, [0, 16, 208, 224], 240),
        (LayoutRule::Scalar, [0, 4, 16, 32], 40, [0, 4, 84, 88], 100),
    ];
    for (rule, p_offsets, stride, e_offsets, after) in rows {
        assert_eq!(cx.offsets(p, rule), p_offsets, "{}", rule.name());
        assert_eq!(cx.offsets(e, rule), e_offsets, "{}", rule.name());
        assert_eq!(cx.offsets(c, rule)[1], after, "{}", rule.name());
        let LayoutKind::Struct(members) = cx.get(e, rule).kind else { panic!() };
        let LayoutKind::Array { stride: found, .. } = cx.layouts.get(members[1].layout).kind else { panic!() };
        assert_eq!(found, stride, "{}", rule.name());
    }
    // The same as push constants: the storage rules.
    assert_eq!(cx.offsets(p, LayoutOptions::VULKAN.storage), [0, 4, 16, 32]);
    assert_eq!(cx.offsets(p, LayoutOptions::GL.storage), [0, 16, 32, 48]);
}

#[test]
fn wide_and_narrow_scalars_as_dxc_decorates_them() {
    let cx = &mut Ctx::new();
    // cbuffer C { float a; In s; float b; float2x3 m; float c; row_major float3x2 n; float d; float e[3]; float f;
    //             double2 g; float h; double3 gg; float2 k[2]; float2 kk; float3 z; }
    let inner = cx.plain(vec![V(3), arr(F, 2)]);
    let c =
        cx.plain(vec![F, S(inner), F, M(2, 3), F, Row(3, 2), F, arr(F, 3), F, D(2), F, D(3), arr(V(2), 2), V(2), V(3)]);
    let std140 = [0, 16, 64, 80, 128, 144, 192, 208, 256, 272, 288, 320, 352, 384, 400];
    assert_eq!(cx.offsets(c, LayoutRule::Std140), std140);
    assert_eq!(cx.offsets(c, LayoutRule::RelaxedStd140), std140);
    let scalar = [0, 4, 24, 28, 52, 56, 80, 84, 96, 104, 120, 128, 152, 168, 176];
    assert_eq!(cx.offsets(c, LayoutRule::Scalar), scalar);
    // struct D { float a; double b; float3 c; half hh; half3 h3; float4x3 m; float q; };
    let d = cx.plain(vec![F, D(1), V(3), H(1), H(3), M(4, 3), F]);
    assert_eq!(cx.offsets(d, LayoutRule::RelaxedStd430), [0, 8, 16, 28, 32, 48, 96]);
    assert_eq!(cx.get(d, LayoutRule::RelaxedStd430).stride(), 112);
    assert_eq!(cx.offsets(d, LayoutRule::Scalar), [0, 8, 16, 28, 30, 36, 84]);
    assert_eq!(cx.get(d, LayoutRule::Scalar).stride(), 88);
}

#[test]
fn elements_of_structured_buffers() {
    let cx = &mut Ctx::new();
    let v3 = cx.ty(&V(3));
    let m23 = cx.ty(&M(2, 3));
    let b = cx.ty(&B);
    let stride = |cx: &mut Ctx, ty, rule, order| {
        let id = cx.layouts.compute(&cx.m.types, ty, rule, order).unwrap();
        let layout = cx.layouts.get(id);
        let lines = match layout.kind {
            LayoutKind::Matrix { stride, .. } => stride,
            _ => 0,
        };
        (layout.stride(), lines)
    };
    use LayoutRule::{DxStructured, RelaxedStd430};
    use MatrixOrder::{ColumnMajor, RowMajor};
    assert_eq!(stride(cx, v3, RelaxedStd430, ColumnMajor), (16, 0));
    assert_eq!(stride(cx, v3, DxStructured, ColumnMajor), (12, 0));
    assert_eq!(stride(cx, m23, RelaxedStd430, ColumnMajor), (24, 8));
    assert_eq!(stride(cx, m23, RelaxedStd430, RowMajor), (32, 16));
    assert_eq!(stride(cx, m23, DxStructured, ColumnMajor), (24, 8));
    assert_eq!(stride(cx, m23, DxStructured, RowMajor), (24, 12));
    assert_eq!(stride(cx, b, RelaxedStd430, ColumnMajor), (4, 0));
}

#[test]
fn stated_offsets() {
    let cx = &mut Ctx::new();
    // packoffset(c1.y), then the next free place, then an earlier one.
    let ok = cx.strukt(&[(F, Some(20)), (F, None), (V(4), Some(0))]);
    assert_eq!(cx.offsets(ok, LayoutRule::DxConstantBuffer), [20, 24, 0]);
    assert_eq!(cx.get(ok, LayoutRule::RelaxedStd140).size, 32);
    let overlap = cx.strukt(&[(V(4), Some(0)), (F, Some(12))]);
    let error = cx.layouts.compute(&cx.m.types, overlap, LayoutRule::DxConstantBuffer, MatrixOrder::ColumnMajor);
    assert!(matches!(error, Err(LayoutError::Overlap { first: 0, second: 1, .. })), "{error:?}");
    let odd = cx.strukt(&[(F, Some(2))]);
    let error = cx.layouts.compute(&cx.m.types, odd, LayoutRule::Scalar, MatrixOrder::ColumnMajor);
    assert!(matches!(error, Err(LayoutError::Misaligned { member: 0, align: 4, .. })), "{error:?}");
}

#[test]
fn refuses_what_has_no_bytes() {
    let cx = &mut Ctx::new();
    let sampler = cx.m.types.intern(TypeKind::Resource(ResourceType::Sampler { comparison: false }));
    let with = cx.plain(vec![F, S(sampler)]);
    let rule = LayoutRule::Scalar;
    let order = MatrixOrder::ColumnMajor;
    assert_eq!(cx.layouts.compute(&cx.m.types, with, rule, order), Err(LayoutError::NotData(sampler)));
    let huge = cx.ty(&arr(arr(F, 1 << 20), 1 << 20));
    assert_eq!(cx.layouts.compute(&cx.m.types, huge, rule, order), Err(LayoutError::TooLarge(huge)));
}

#[test]
fn renders_a_table() {
    let cx = &mut Ctx::new();
    let inner = cx.plain(vec![V(3)]);
    let block = cx.plain(vec![F, Row(2, 3), arr(S(inner), 2), B]);
    let id = cx.layouts.compute(&cx.m.types, block, LayoutRule::DxConstantBuffer, MatrixOrder::ColumnMajor).unwrap();
    let expected = "\
Camera: 80 bytes, aligned to 16 (DX constant buffer)
  offset    size  field
       0       4  float m0
       4      12  (padding)
      16      28  float2x3 m1, rows 16 apart
      44       4  (padding)
      48      28  S m2[2], stride 16
      48      12    float3 m0
      76       4  bool m3
";
    assert_eq!(render(&cx.m, &cx.layouts, "Camera", id), expected);
}
