//! Ray queries: an object of Metal's `intersection_query` (Metal 2.4, MSL specification 6.18), asked through its methods as
//! the table of operations spells them.

use super::body::Body;
use super::effects;
use super::memory::Place;
use crate::ast::{Expr, Infix, Stmt};
use crate::runtime::Helper;
use oneshader_ir::ray_query::{RayMethod, flag};
use oneshader_ir::{Inst, InstData, Intrinsic, TerminatorKind, Value};

/// The type of acceleration structures: those of instances, which are Direct3D's top level.
pub(crate) const STRUCTURE: &str = "raytracing::instance_acceleration_structure";
/// The type of a query that need not know its flags.
pub(crate) const QUERY: &str = "raytracing::intersection_query<raytracing::instancing, raytracing::triangle_data>";

/// The bits of an instance's mask that Direct3D looks at.
const MASK: u32 = 0xff;

impl Body<'_, '_> {
    /// An operation of a ray query.
    pub(super) fn ray_query(&mut self, inst: Inst, data: &InstData, method: &RayMethod) {
        let place = self.place(data.args[0]);
        match method.intrinsic {
            Intrinsic::RayTrace => return self.trace(data, place),
            Intrinsic::RayFlags => {
                let name = self.name("flags");
                let flags = self.member(place.expr, name);
                let flags = self.reading(flags, place.effect);
                return self.define(inst, flags);
            }
            _ => {}
        }
        let Some(name) = method.metal else { return };
        let args: Vec<Expr> = data.args[1..].iter().map(|&a| self.value(a)).collect();
        let object = self.query_object(place);
        let call = self.method(object, name, &args);
        match method.intrinsic {
            Intrinsic::RayProceed => self.proceed(inst, data, place, call),
            Intrinsic::RayAbort | Intrinsic::RayCommitTriangle | Intrinsic::RayCommitProcedural => {
                self.mark_line(data.span);
                self.flush(place.effect, false);
                self.out.push(Stmt::Do(call));
            }
            _ => {
                let call = self.reading(call, place.effect);
                let value = match method.intrinsic {
                    // Metal counts what is no hit as 0 for candidates too.
                    Intrinsic::RayCandidateType => {
                        let procedural = self.text("raytracing::intersection_type::bounding_box");
                        let is = self.infix(Infix::Eq, call, procedural);
                        self.call("uint", &[is])
                    }
                    Intrinsic::RayCommittedStatus => self.call("uint", &[call]),
                    _ => call,
                };
                self.define(inst, value);
            }
        }
    }

    /// Metal's object of a query.
    fn query_object(&mut self, place: Place) -> Expr {
        if !self.cx.raised.reads_ray_flags {
            return place.expr;
        }
        let name = self.name("query");
        self.member(place.expr, name)
    }

    /// `query.reset(ray(...), structure, mask, parameters)`.
    fn trace(&mut self, data: &InstData, place: Place) {
        let [_, structure, flags, mask, origin, least, direction, greatest] = data.args[..] else { return };
        let ray = self.values(&[origin, direction, least, greatest]);
        let ray = self.call("raytracing::ray", &ray);
        let structure = self.handle(structure);
        let mask = self.ray_mask(mask);
        let flag_bits = self.known_bits(flags);
        let flags = self.value(flags);
        let mut args = vec![ray, structure, mask];
        // A query's own flags alone change what is found.
        let meant = !flag::SKIP_CLOSEST_HIT_SHADER;
        if flag_bits.is_none_or(|bits| bits & meant != 0) {
            let name = self.cx.need(Helper::RayParameters);
            args.push(self.call(name, &[flags]));
        }
        let object = self.query_object(place);
        let call = self.method(object, "reset", &args);
        self.mark_line(data.span);
        self.flush(place.effect, false);
        if self.cx.raised.reads_ray_flags {
            let name = self.name("flags");
            let kept = self.member(place.expr, name);
            self.out.push(Stmt::Assign(kept, flags));
        }
        self.out.push(Stmt::Do(call));
    }

    /// Direct3D looks at the low eight bits of the mask, Metal at all.
    fn ray_mask(&mut self, mask: Value) -> Expr {
        match self.known_bits(mask) {
            Some(bits) => self.uint(bits & MASK),
            None => {
                let (mask, low) = (self.value(mask), self.text("0xffu"));
                self.infix(Infix::And, mask, low)
            }
        }
    }

    fn known_bits(&self, value: Value) -> Option<u32> {
        let c = self.function.as_const(value)?;
        self.cx.raised.module.consts.bits(c).map(|bits| bits as u32)
    }

    /// `query.next()`: written into the condition that follows at once and asks for nothing else, else a statement.
    fn proceed(&mut self, inst: Inst, data: &InstData, place: Place, call: Expr) {
        self.mark_line(data.span);
        self.flush(place.effect, false);
        let used = data.result.filter(|&r| self.use_count(r) > 0);
        match used {
            Some(result) if self.is_condition_at_once(result) => {
                let call = self.reading(call, effects::STEP | place.effect);
                self.define(inst, call);
            }
            Some(result) => self.set_result(result, call),
            None => self.out.push(Stmt::Do(call)),
        }
    }

    /// Whether the instruction being written is the last of its block and its result decides alone where to go on.
    fn is_condition_at_once(&self, result: Value) -> bool {
        let Some((block, index)) = self.place_in_block() else { return false };
        let block = &self.function.blocks[block];
        let decides = matches!(block.term.kind, TerminatorKind::CondBranch { cond, .. } if cond == result);
        decides && self.use_count(result) == 1 && index + 1 == block.insts.len()
    }
}
