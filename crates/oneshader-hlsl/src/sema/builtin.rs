//! Where names that nobody declared become built-in functions.

use oneshader_diag::Span;

use crate::builtins::{self, BuiltinId};
use crate::cx::Cx;
use crate::value::{Arg, Expr, R, TemplateValue};

impl Cx<'_> {
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
