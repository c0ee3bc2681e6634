//! Choosing among overloads: each argument's conversion has a score, the least sum wins (`rank.rs`).

use oneshader_diag::{Code, Diagnostic, Span, codes};

use crate::ast::{DeclKind, TypeKind};
use crate::cx::Cx;
use crate::rank::SCORE_MAX;
use crate::sema::{Candidate, Direction, FnId};
use crate::ty::Ty;
use crate::value::{Arg, Reported, TemplateValue};

/// Why no overload was chosen.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// None fits.
    None,
    /// Several fit equally well.
    Ambiguous(Vec<FnId>),
}

/// An overload that fits and how well.
struct Viable {
    fun: FnId,
    score: u64,
    /// Instances of templates give way to functions; among them, the one with more of its pattern fixed wins.
    rank: u32,
}

impl Cx<'_> {
    /// The best of the candidates for arguments, with its score.
    pub(crate) fn choose(
        &mut self,
        candidates: &[Candidate],
        given: Option<&[TemplateValue]>,
        args: &[Arg],
        span: Span,
    ) -> Result<(FnId, u64), Failure> {
        let types: Vec<Ty> = args.iter().map(|a| self.type_of(&a.expr)).collect();
        let mut best: Vec<Viable> = Vec::new();
        for candidate in candidates {
            let (fun, rank) = match *candidate {
                Candidate::Fun(fun) if given.is_none() => (fun, 0),
                Candidate::Fun(_) => continue,
                Candidate::Template(t) => match self.function_instance(t, given.unwrap_or(&[]), &types, span) {
                    Some(fun) => (fun, 1 + self.openness(t)),
                    None => continue,
                },
            };
            let Some(score) = self.call_score(fun, &types) else { continue };
            let found = Viable { fun, score, rank };
            match best.first() {
                Some(b) if (b.score, b.rank) < (found.score, found.rank) => {}
                Some(b) if (b.score, b.rank) == (found.score, found.rank) => best.push(found),
                _ => best = vec![found],
            }
        }
        match &best[..] {
            [] => Err(Failure::None),
            [only] => Ok((only.fun, only.score)),
            several => {
                // Of a method and its `const` twin either will do.
                let twins = several.len() == 2
                    && self.s.funs[several[0].fun.0 as usize].is_const
                        != self.s.funs[several[1].fun.0 as usize].is_const;
                if twins {
                    let i = usize::from(self.s.funs[several[0].fun.0 as usize].is_const);
                    return Ok((several[i].fun, several[i].score));
                }
                Err(Failure::Ambiguous(several.iter().map(|v| v.fun).collect()))
            }
        }
    }

    /// How many parameters of a template are of a bare template parameter's type.
    fn openness(&self, template: u32) -> u32 {
        let t = &self.s.fun_templates[template as usize];
        let names: Vec<_> = self.ast[self.ast[t.params].params].iter().filter_map(|p| p.name).collect();
        let open = self.ast[self.ast[t.func].params].iter().filter(|d| {
            let DeclKind::Var(var) = self.ast[**d].kind else { return false };
            match self.ast[self.ast[var].ty].kind {
                TypeKind::Path(path) => match &self.ast[self.ast[path].segments] {
                    [only] => only.args.is_none() && names.contains(&only.name),
                    _ => false,
                },
                _ => false,
            }
        });
        open.count() as u32
    }

    /// The score of a call; `None` when the arguments do not fit.
    fn call_score(&mut self, fun: FnId, args: &[Ty]) -> Option<u64> {
        let params: Vec<(Ty, Direction, bool)> =
            self.s.funs[fun.0 as usize].params.iter().map(|p| (p.ty, p.dir, p.default.is_some())).collect();
        let least = params.iter().position(|p| p.2).unwrap_or(params.len());
        if args.len() > params.len() || args.len() < least {
            return None;
        }
        let mut total: u64 = 0;
        for ((ty, dir, _), arg) in params.iter().zip(args) {
            if *dir != Direction::Out {
                total = total.saturating_add(self.conversion_score(*arg, *ty)?);
            }
            if *dir != Direction::In {
                // What is written has as many components as what is there, or one.
                if let (Some(a), Some(b)) = (self.tys.shape(*arg), self.tys.shape(*ty))
                    && a.count() != b.count()
                    && a.count() != 1
                    && b.count() != 1
                {
                    return None;
                }
                total = total.saturating_add(self.conversion_score(*ty, *arg)?);
            }
        }
        (total != SCORE_MAX).then_some(total)
    }

    /// Reports a call that no or several overloads fit.
    pub(crate) fn no_overload(
        &mut self,
        name: &str,
        candidates: &[Candidate],
        failure: &Failure,
        args: &[Arg],
        span: Span,
    ) -> Reported {
        let shown: Vec<String> = args.iter().map(|a| self.show(self.type_of(&a.expr))).collect();
        let shown = shown.join(", ");
        let limits = [codes::TEMPLATE_DEPTH, codes::INSTANCE_LIMIT];
        let limited = self.diags.last().is_some_and(|(_, d)| limits.contains(&d.code));
        if limited || args.iter().any(|a| self.type_of(&a.expr) == Ty::ERROR) {
            return Reported(());
        }
        let (code, message): (Code, String) = match failure {
            Failure::None => (codes::NO_MATCHING_FUNCTION, format!("no `{name}` takes ({shown})")),
            Failure::Ambiguous(_) => (codes::AMBIGUOUS_CALL, format!("several `{name}` take ({shown}) equally well")),
        };
        let mut d = Diagnostic::new(code, span, message);
        const MOST: usize = 6;
        match failure {
            Failure::None => {
                for candidate in candidates.iter().take(MOST) {
                    d = match *candidate {
                        Candidate::Fun(fun) => {
                            let (at, text) = (self.s.funs[fun.0 as usize].span, self.show_signature(fun));
                            d.label(at, format!("candidate: {text}"))
                        }
                        Candidate::Template(t) => {
                            let at = self.ast[self.s.fun_templates[t as usize].func].name_span;
                            d.label(at, "candidate: this template")
                        }
                    };
                }
                if candidates.len() > MOST {
                    d = d.note(format!("and {} more candidates", candidates.len() - MOST));
                }
            }
            Failure::Ambiguous(funs) => {
                for fun in funs.iter().take(MOST) {
                    let (at, text) = (self.s.funs[fun.0 as usize].span, self.show_signature(*fun));
                    d = d.label(at, format!("candidate: {text}"));
                }
            }
        }
        self.report(d)
    }

    /// A function's name and parameters as a person writes them.
    pub(crate) fn show_signature(&self, fun: FnId) -> String {
        let f = &self.s.funs[fun.0 as usize];
        let params: Vec<String> = f
            .params
            .iter()
            .map(|p| {
                let dir = match p.dir {
                    Direction::In => "",
                    Direction::Out => "out ",
                    Direction::InOut => "inout ",
                };
                format!("{dir}{}", self.show(p.ty))
            })
            .collect();
        format!("{}({})", self.show_function_name(f.name), params.join(", "))
    }
}
