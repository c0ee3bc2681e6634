//! `switch`.

use oneshader_diag::{Diagnostic, Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{Merge, SwitchCase, TerminatorKind};
use rustc_hash::FxHashMap;

use crate::ast::{Attribute, ExprId, Slice, StmtId, StmtKind};
use crate::cx::Cx;
use crate::sema::Jump;
use crate::ty::{Elem, Ty};
use crate::value::{R, Value};

impl Cx<'_> {
    pub(crate) fn switch_statement(&mut self, attributes: Slice<Attribute>, on: ExprId, body: StmtId, span: Span) {
        let hint = self.hint(attributes);
        let on_span = self.ast[on].span;
        let selector = match self.value(on).and_then(|v| self.selector(v, on_span)) {
            Ok(selector) => selector,
            // The cases are checked all the same.
            Err(_) => self.int(0, Elem::Int),
        };
        self.at(span);
        let mut list: Vec<StmtId> = Vec::new();
        match self.ast[body].kind {
            StmtKind::Block(inner) => self.open_blocks(inner, &mut list),
            _ => list.push(body),
        }
        let merge = self.b.create_block();
        // A block for each run of labels.
        let mut blocks: Vec<Option<ir::Block>> = Vec::with_capacity(list.len());
        let mut cases: Vec<SwitchCase> = Vec::new();
        let mut seen: FxHashMap<u64, Span> = FxHashMap::default();
        let mut default: Option<(ir::Block, Span)> = None;
        let mut run: Option<ir::Block> = None;
        for stmt in &list {
            let node = self.ast[*stmt];
            if !matches!(node.kind, StmtKind::Case(_) | StmtKind::Default) {
                run = None;
                blocks.push(None);
                continue;
            }
            let fresh = run.is_none();
            let block = match run {
                Some(block) => block,
                None => self.b.create_block(),
            };
            run = Some(block);
            blocks.push(fresh.then_some(block));
            match node.kind {
                StmtKind::Case(value) => {
                    let Ok(value) = self.case_value(value, selector.ty) else { continue };
                    let value_span = node.span;
                    if let Some(before) = seen.insert(value, value_span) {
                        let d = Diagnostic::new(codes::DUPLICATE_CASE, value_span, "the case stands twice")
                            .label(before, "first here");
                        self.report(d);
                        continue;
                    }
                    cases.push(SwitchCase { value, target: block });
                }
                _ => {
                    if let Some((_, before)) = default {
                        let d = Diagnostic::new(codes::DUPLICATE_CASE, node.span, "`default` stands twice")
                            .label(before, "first here");
                        self.report(d);
                    } else {
                        default = Some((block, node.span));
                    }
                }
            }
        }
        self.at(span);
        self.b.set_merge(Merge::Selection(merge), hint);
        let to = default.map_or(merge, |(block, _)| block);
        self.b.switch(selector.v, to, cases);
        let cont = self.s.body.jumps.last().and_then(|j| j.cont);
        self.s.body.jumps.push(Jump { brk: merge, cont, broke: false, is_switch: true, continued: false });
        self.in_block(|cx| {
            for (stmt, block) in list.iter().zip(blocks) {
                match (cx.ast[*stmt].kind, block) {
                    (StmtKind::Case(_) | StmtKind::Default, Some(block)) => {
                        // Falls through when control comes here.
                        cx.at(cx.ast[*stmt].span);
                        cx.go_on(block);
                        cx.b.switch_to(block);
                    }
                    (StmtKind::Case(_) | StmtKind::Default, None) => {}
                    _ => cx.statement(*stmt),
                }
            }
        });
        self.at(span);
        let fell = self.go_on(merge);
        let broke = self.s.body.jumps.pop().is_some_and(|j| j.broke);
        self.b.switch_to(merge);
        if !fell && !broke && default.is_some() {
            self.b.terminate(TerminatorKind::Unreachable);
        }
    }

    /// The statements of a block; blocks inside that have labels are opened, since control may enter them there.
    fn open_blocks(&self, block: Slice<StmtId>, out: &mut Vec<StmtId>) {
        for stmt in self.ast.iter(block) {
            match self.ast[stmt].kind {
                StmtKind::Block(inner) if self.has_labels(inner) => self.open_blocks(inner, out),
                _ => out.push(stmt),
            }
        }
    }

    /// Whether a block has labels of its own. Blocks nest no deeper than the parser lets them.
    fn has_labels(&self, block: Slice<StmtId>) -> bool {
        self.ast.iter(block).any(|stmt| match self.ast[stmt].kind {
            StmtKind::Case(_) | StmtKind::Default => true,
            StmtKind::Block(inner) => self.has_labels(inner),
            _ => false,
        })
    }

    fn selector(&mut self, value: Value, span: Span) -> R<Value> {
        match self.tys.as_numeric(value.ty) {
            Some((elem, shape)) if !elem.is_float() && shape.count() == 1 => {
                let elem = match elem {
                    Elem::Bool | Elem::LitInt => Elem::Int,
                    other => other,
                };
                let ty = self.tys.scalar(elem);
                Ok(self.convert_numeric(value, ty))
            }
            Some((elem, shape)) if elem.is_float() && shape.count() == 1 => self.convert(value, Ty::INT, span),
            _ => {
                let message = format!("a `switch` takes an integer, not `{}`", self.show(value.ty));
                Err(self.error(codes::BAD_CONDITION, span, message))
            }
        }
    }

    /// The bits of a case in the selector's type.
    fn case_value(&mut self, value: ExprId, ty: Ty) -> R<u64> {
        let n = self.constant_int(value)?;
        let elem = self.tys.elem(ty).unwrap_or(Elem::Int);
        let c = self.int(n, elem);
        Ok(self.known(c.v).and_then(|c| self.b.module.consts.bits(c)).unwrap_or(0))
    }
}
