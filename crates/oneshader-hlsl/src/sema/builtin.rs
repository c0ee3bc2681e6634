//! Where names that nobody declared become built-in functions.

use oneshader_diag::Span;

use crate::builtins::{self, BuiltinId};
use crate::cx::Cx;
use crate::name::Name;
use crate::value::{Arg, Expr, R, Reported, TemplateValue};

/// Names of the language that belong to stages and features that are not compiled.
const UNSUPPORTED: &[&str] = &[
    "AcceptHitAndEndSearch",
    "AllocateRayQuery",
    "Barrier",
    "CallShader",
    "DispatchMesh",
    "DispatchRaysDimensions",
    "DispatchRaysIndex",
    "GeometryIndex",
    "GetRemainingRecursionLevels",
    "GetRenderTargetSampleCount",
    "GetRenderTargetSamplePosition",
    "HitKind",
    "IgnoreHit",
    "InstanceID",
    "InstanceIndex",
    "ObjectRayDirection",
    "ObjectRayOrigin",
    "ObjectToWorld",
    "ObjectToWorld3x4",
    "ObjectToWorld4x3",
    "PrimitiveIndex",
    "Process2DQuadTessFactorsAvg",
    "ProcessIsolineTessFactors",
    "ProcessTriTessFactorsAvg",
    "RayFlags",
    "RayTCurrent",
    "RayTMin",
    "ReportHit",
    "SetMeshOutputCounts",
    "TraceRay",
    "WorldRayDirection",
    "WorldRayOrigin",
    "WorldToObject",
    "WorldToObject3x4",
    "WorldToObject4x3",
    "abort",
    "errorf",
];

impl Cx<'_> {
    /// Reports a name of the language that is not compiled.
    pub(crate) fn unsupported_name(&mut self, name: Name, span: Span) -> Option<Reported> {
        let text = self.text(name);
        if !UNSUPPORTED.contains(&text) {
            return None;
        }
        let message = format!("`{text}` is not supported");
        Some(self.unsupported(span, message))
    }

    /// The built-in function of a name.
    pub(crate) fn find_builtin(&self, text: &str) -> Option<BuiltinId> {
        builtins::lookup(text)
    }

    /// Calls a built-in function that was found.
    pub(crate) fn call_builtin_named(
        &mut self,
        id: Option<BuiltinId>,
        args: &[Arg],
        given: Option<&[TemplateValue]>,
        span: Span,
    ) -> R<Expr> {
        match id {
            Some(id) => self.call_builtin(id, args, given.unwrap_or(&[]), span),
            None => Err(crate::value::Reported(())),
        }
    }
}
