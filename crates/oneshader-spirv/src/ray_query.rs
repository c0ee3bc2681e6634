//! Ray queries (`SPV_KHR_ray_query`), row by row as the table of their operations says.

use crate::cx::Cx;
use crate::func::Fx;
use oneshader_ir::ray_query::{RayMethod, RayType};
use oneshader_ir::{InstData, Intrinsic};
use spirv::Op;

impl Cx<'_> {
    /// `OpTypeRayQueryKHR`, under DXC's name.
    pub fn ray_query_type(&mut self) -> u32 {
        self.opaque_type(Op::TypeRayQueryKHR, "rayQueryKHR")
    }

    /// `OpTypeAccelerationStructureKHR`, under DXC's name.
    pub fn acceleration_structure_type(&mut self) -> u32 {
        self.opaque_type(Op::TypeAccelerationStructureKHR, "accelerationStructureNV")
    }

    fn opaque_type(&mut self, op: Op, name: &str) -> u32 {
        let known = self.unique.contains_key(&[op as u32, u32::MAX][..]);
        let id = self.unique_type(op, &[]);
        if !known {
            self.name(id, name);
        }
        id
    }
}

impl Fx<'_, '_> {
    /// Lowers an operation of a ray query; `None` when it has no result.
    pub fn ray_query(&mut self, data: &InstData, method: &RayMethod) -> Option<u32> {
        let op = Op::from_u32(u32::from(method.spirv))?;
        let mut operands = vec![self.pointer(data.args[0])?.id];
        for (&arg, &operand) in data.args[1..].iter().zip(method.operands) {
            operands.push(match operand {
                RayType::Structure => self.handle(arg)?.image?,
                _ => self.use_id(arg),
            });
        }
        if let Some(hit) = method.hit {
            operands.push(self.cx.u32(hit as u32));
        }
        if method.result == RayType::Void {
            self.effect(op, &operands);
            return None;
        }
        let ty = self.cx.ty(data.ty);
        let result = self.op(op, ty, &operands);
        Some(match method.intrinsic {
            // The instruction tells the opposite: whether the candidate is opaque.
            Intrinsic::RayCandidateProceduralNonOpaque => self.op(Op::LogicalNot, ty, &[result]),
            _ => result,
        })
    }
}
