//! Where the samples of a multisampled texture are.

use oneshader_ir as ir;
use oneshader_ir::{BinaryOp, Op, TextureOp, TextureOperands};

use super::methods::Method;
use crate::cx::Cx;
use crate::ty::{Elem, Ty};
use crate::value::{Base, Expr, R, Value};

/// Direct3D's standard patterns of 2, 4, 8 and 16 samples, one behind the other, in sixteenths of a pixel from its centre
/// (Direct3D 11.3 functional specification, 19.2.4 "Specification of Sample Positions"). The pattern of n begins at n - 2.
const PATTERNS: [(i8, i8); 30] = [
    (4, 4),
    (-4, -4),
    (-2, -6),
    (6, -2),
    (-6, 2),
    (2, 6),
    (1, -3),
    (-1, 3),
    (5, 1),
    (-3, -5),
    (-5, 5),
    (-7, -1),
    (3, 7),
    (7, -7),
    (1, 1),
    (-1, -3),
    (-3, 2),
    (4, -1),
    (-5, -2),
    (2, 5),
    (5, 3),
    (3, -5),
    (-2, 6),
    (0, -7),
    (-4, -6),
    (-6, 4),
    (-8, 0),
    (7, -4),
    (6, 7),
    (-7, -8),
];

impl Cx<'_> {
    /// `GetSamplePosition`: the place in the standard pattern of as many samples as the texture has; the centre for other
    /// numbers of samples, and for samples it does not have.
    pub(super) fn sample_position(&mut self, m: Method<'_>) -> R<Expr> {
        let [index] = m.args else { return Err(self.bad_method(m, "the number of a sample")) };
        let index = self.arg(index, Ty::UINT)?;
        self.at(m.span);
        let uint = self.ir(Ty::UINT);
        let v = self.b.value(Op::Texture(TextureOp::Samples, TextureOperands::empty()), uint, &[m.object.v]);
        let count = Value { v, ty: Ty::UINT };
        let mut known = None;
        for n in [2, 4, 8, 16] {
            let n = self.int(n, Elem::Uint);
            let this = self.binary(BinaryOp::Eq, count, n);
            known = Some(match known {
                Some(before) => self.binary(BinaryOp::Or, before, this),
                None => this,
            });
        }
        let inside = self.binary(BinaryOp::Lt, index, count);
        let known = known.map_or(inside, |known| self.binary(BinaryOp::And, known, inside));
        let two = self.int(2, Elem::Uint);
        let start = self.binary(BinaryOp::Sub, count, two);
        let at = self.binary(BinaryOp::Add, start, index);
        let centre = self.int(PATTERNS.len() as i64, Elem::Uint);
        let at = self.select(known, at, centre);
        let table = self.pattern_table();
        let Base::Memory(memory) = &table.base else { return Ok(Expr::Void) };
        let address = self.b.access(memory.root, &[at.v]);
        let ty = self.tys.vector(Elem::Float, 2);
        Ok(Expr::Value(Value { v: self.b.load(address), ty }))
    }

    /// A local array of the patterns, the centre behind them.
    fn pattern_table(&mut self) -> crate::value::Place {
        let pair = self.tys.vector(Elem::Float, 2);
        let ty = self.tys.array(pair, PATTERNS.len() as u32 + 1);
        let (pair, array) = (self.ir(pair), self.ir(ty));
        let parts: Vec<ir::Const> = PATTERNS
            .iter()
            .chain(&[(0, 0)])
            .map(|&(x, y)| {
                let module = &mut *self.b.module;
                let xy = [x, y].map(|c| module.consts.f32(&mut module.types, f32::from(c) / 16.0));
                module.consts.composite(&module.types, pair, &xy)
            })
            .collect();
        let all = self.b.module.consts.composite(&self.b.module.types, array, &parts);
        let v = self.b.constant(all);
        self.spill(Value { v, ty }, "positions")
    }
}
