//! Entry points: the body of the function with its parameters from stage inputs and its results to stage outputs.

use oneshader_diag::{Diagnostic, Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{EntryPoint, Stage};

use crate::ast::{self, Attribute, DeclId, DeclKind, FunctionName, Mods, Slice};
use crate::cx::Cx;
use crate::sema::scope::ScopeKind;
use crate::sema::signature::{Io, Origin, Semantic, Signature, Way};
use crate::sema::{Direction, FnId, Fun, Param, Storage, Var};
use crate::ty::{Ty, TyKind};
use crate::value::{Base, Expr, Place, R, Value};

/// Bit of the key of an entry point's body among functions.
pub(crate) const ENTRY_KEY: u32 = 1 << 31;

/// An entry point that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Which of the requests it answers; `None` when there are none.
    pub request: Option<usize>,
}

/// What an entry point stores before it returns.
#[derive(Debug)]
pub(crate) struct Outputs {
    pub signature: Signature,
    /// Of the result.
    pub result: Option<(Ty, Io)>,
    /// Of `out` parameters.
    pub params: Vec<(Place, Io)>,
}

impl Cx<'_> {
    /// Lowers a function as an entry point when it is asked for as one. Whether it was.
    pub(crate) fn lower_as_entry(&mut self, id: FnId, decl: DeclId) -> bool {
        let fun = self.s.funs[id.0 as usize].clone();
        let FunctionName::Ident(name) = fun.name else { return false };
        if self.scope(fun.scope).kind != ScopeKind::Namespace {
            return false;
        }
        let attributes = self.ast[decl].attributes;
        let text = self.text(name).to_owned();
        let opts = self.opts;
        if opts.entries.is_empty() {
            let Some(a) = self.attribute(attributes, None, "shader") else { return false };
            let Ok(stage) = self.attribute_stage(a) else { return true };
            self.s.entries.push(Found { request: None });
            self.lower_entry(id, &fun, stage, attributes);
            return true;
        }
        let requests: Vec<usize> =
            opts.entries.iter().enumerate().filter(|(_, e)| e.name == text).map(|(i, _)| i).collect();
        for &request in &requests {
            let stage = match opts.entries[request].stage {
                Some(stage) => stage,
                None => {
                    let Some(a) = self.attribute(attributes, None, "shader") else {
                        let message = format!("`{text}` has no `[shader(\"...\")]` that states its stage");
                        self.error(codes::ENTRY_POINT, fun.span, message);
                        self.s.entries.push(Found { request: Some(request) });
                        continue;
                    };
                    self.s.entries.push(Found { request: Some(request) });
                    match self.attribute_stage(a) {
                        Ok(stage) => stage,
                        Err(_) => continue,
                    }
                }
            };
            self.s.entries.push(Found { request: Some(request) });
            // Of overloads of one name the last one counts.
            let ir_name = self.ir_name(name);
            self.b.module.entry_points.retain(|e| e.name != ir_name || e.stage != stage);
            self.lower_entry(id, &fun, stage, attributes);
        }
        !requests.is_empty()
    }

    /// The stage of `[shader("...")]`.
    fn attribute_stage(&mut self, a: Attribute) -> R<Stage> {
        let text = self.attribute_string(a)?.to_owned();
        match text.as_str() {
            "vertex" => Ok(Stage::Vertex),
            "pixel" | "fragment" => Ok(Stage::Pixel),
            "compute" => Ok(Stage::Compute),
            _ => Err(self.error(codes::UNSUPPORTED_STAGE, a.span, format!("{text} shaders are not compiled"))),
        }
    }

    /// Reports requested entry points that were not found.
    pub(crate) fn report_missing_entries(&mut self) {
        let opts = self.opts;
        for (i, request) in opts.entries.iter().enumerate() {
            if self.s.entries.iter().any(|f| f.request == Some(i)) {
                continue;
            }
            let message = format!("there is no function `{}` to compile", request.name);
            let mut d = Diagnostic::new(codes::ENTRY_POINT, Span::NONE, message);
            let names: Vec<String> = self
                .s
                .funs
                .iter()
                .filter(|f| f.this.is_none() && f.body.is_some())
                .filter(|f| self.scope(f.scope).kind == ScopeKind::Namespace)
                .map(|f| self.show_function_name(f.name))
                .collect();
            if let Some(near) = crate::sema::scope::near(&request.name, names.iter().map(String::as_str)) {
                d = d.help(format!("did you mean `{near}`?"));
            }
            self.report(d);
        }
        if opts.entries.is_empty() && self.s.entries.is_empty() {
            let message = "no function has `[shader(\"...\")]`, and none was asked for";
            self.error(codes::ENTRY_POINT, Span::NONE, message);
        }
    }

    fn lower_entry(&mut self, id: FnId, fun: &Fun, stage: Stage, attributes: Slice<Attribute>) {
        let Some((_, node)) = fun.body else { return };
        let node = self.ast[node];
        let Some(body) = node.body else { return };
        let FunctionName::Ident(name) = fun.name else { return };
        let ir_name = self.ir_name(name);
        let void = self.b.module.types.void();
        let idle = self.b.begin(ir::Function::new(ir_name, void, fun.span));
        let outer = self.enter_function(id.0 | ENTRY_KEY, fun.env, fun.precise);
        self.s.body.ret = Some(fun.ret);
        self.s.chain = 0;
        let mut inputs = Signature::new(stage, Way::In);
        let mut outputs = Signature::new(stage, Way::Out);
        let scope = self.new_scope(Some(fun.scope), ScopeKind::Block);
        let result = self.in_scope(scope, |cx| cx.entry_parameters(fun, &node, &mut inputs, &mut outputs));
        let depth = outputs.depth;
        let output_globals = outputs.globals.clone();
        if let Ok((result, params)) = result {
            self.s.body.outputs = Some(std::rc::Rc::new(Outputs { signature: outputs, result, params }));
            self.in_scope(scope, |cx| {
                cx.entry_attributes(attributes);
                cx.body_block(body);
            });
            if self.b.is_open() {
                self.end_of_entry(fun);
            }
        }
        self.leave_function(outer);
        let function = self.b.end(idle);
        let func = self.b.module.functions.push(function);
        let threads = self.threads(stage, attributes, fun.span);
        let wave_size = self.wave_size(attributes);
        let early_depth_stencil = self.attribute(attributes, None, "earlydepthstencil").is_some();
        let spirv_modes = self.spirv_modes(stage, attributes);
        self.b.module.entry_points.push(EntryPoint {
            name: ir_name,
            stage,
            func,
            inputs: inputs.globals,
            outputs: output_globals,
            threads,
            wave_size,
            early_depth_stencil,
            depth,
            spirv_modes,
            span: fun.span,
        });
    }

    fn end_of_entry(&mut self, fun: &Fun) {
        let span = fun.span;
        self.at(span);
        let value = match fun.ret {
            Ty::VOID => None,
            ret => {
                let message = format!("not every path returns a `{}`", self.show(ret));
                let d =
                    Diagnostic::new(codes::MISSING_RETURN, span, message).severity(oneshader_diag::Severity::Warning);
                self.report(d);
                Some(self.undef(ret))
            }
        };
        if let Some(outputs) = self.s.body.outputs.clone() {
            let _ = self.store_outputs(&outputs, value, span);
        }
        self.b.ret(None);
    }

    /// Declares the parameters of an entry point; gives the trees of its outputs.
    #[allow(clippy::type_complexity)]
    fn entry_parameters(
        &mut self,
        fun: &Fun,
        node: &ast::Function,
        inputs: &mut Signature,
        outputs: &mut Signature,
    ) -> R<(Option<(Ty, Io)>, Vec<(Place, Io)>)> {
        // Trees first: the arrays of distances are as long as all their parts.
        let mut trees: Vec<(Param, Option<Io>, Option<Io>)> = Vec::new();
        let mut failed = false;
        for param in &fun.params {
            let DeclKind::Var(var) = self.ast[param.decl].kind else { continue };
            let var = self.ast[var];
            if let TyKind::Object(..) = self.tys.kind(self.tys.innermost(param.ty)) {
                let message = "resources as parameters of an entry point are not supported; declare them at file scope";
                self.unsupported(param.span, message);
                failed = true;
                continue;
            }
            if var.mods.contains(Mods::UNIFORM) {
                trees.push((param.clone(), None, None));
                continue;
            }
            let semantic = self.field_semantic(&var);
            let origin = Origin {
                mods: self.mods(&var),
                attributes: self.ast[param.decl].attributes,
                part: 0,
                span: param.span,
            };
            // A structure's fields carry the path alone; a plain parameter its own name.
            let path = match (self.tys.as_struct(param.ty), param.name) {
                (None, Some(name)) => self.text(name).to_owned(),
                _ => String::new(),
            };
            let tree = |cx: &mut Self, sig: &mut Signature| {
                let mut semantic: Option<Semantic> = semantic;
                cx.signature(sig, param.ty, &mut semantic, &path, origin)
            };
            let input = (param.dir != Direction::Out).then(|| tree(self, inputs));
            let output = (param.dir != Direction::In).then(|| tree(self, outputs));
            trees.push((param.clone(), input, output));
        }
        let result = match fun.ret {
            Ty::VOID => None,
            ret => {
                let mut semantic = self.semantic(node.annotations).map(|(name, span)| self.make_semantic(name, span));
                let decl = fun.body.map(|b| b.0);
                let attributes = decl.map_or(Slice::EMPTY, |d| self.ast[d].attributes);
                let mods = self.ast[node.result].mods | node.mods;
                let origin = Origin { mods, attributes, part: 0, span: fun.span };
                let io = self.signature(outputs, ret, &mut semantic, "", origin);
                Some((ret, io))
            }
        };
        self.finish_distances(inputs, fun.span);
        self.finish_distances(outputs, fun.span);
        let mut out_params = Vec::new();
        for (param, input, output) in trees {
            if input.is_none() && output.is_none() {
                self.uniform_parameter(&param);
                continue;
            }
            self.at(param.span);
            let text = param.name.map(|n| self.text(n).to_owned()).unwrap_or_default();
            let place = self.new_local(&text, param.ty);
            if let Some(io) = &input
                && let Ok(value) = self.read_io(inputs, param.ty, io, param.span)
            {
                self.store_exact(&place, Value { v: value.v, ty: param.ty }, param.span)?;
                if let Some(root) = self.whole_local(&place) {
                    self.s.body.inputs.push((root, io.clone()));
                }
            }
            if let (Some(name), Some(root)) = (param.name, self.whole_local(&place)) {
                self.add_var(Var {
                    name,
                    ty: param.ty,
                    storage: Storage::Local(root),
                    readonly: None,
                    known: None,
                    span: param.span,
                });
            }
            if let Some(io) = output {
                out_params.push((place, io));
            }
        }
        match failed {
            true => Err(crate::value::Reported(())),
            false => Ok((result, out_params)),
        }
    }

    /// A `uniform` parameter is a loose uniform.
    fn uniform_parameter(&mut self, param: &Param) {
        if let DeclKind::Var(var) = self.ast[param.decl].kind {
            self.declare_uniform(param.decl, var, param.ty);
        }
    }

    /// Stores the result and the `out` parameters of an entry point.
    pub(crate) fn store_outputs(&mut self, outputs: &Outputs, value: Option<Value>, span: Span) -> R<()> {
        if let (Some((_, io)), Some(value)) = (&outputs.result, value) {
            self.write_io(&outputs.signature, value, io, span)?;
        }
        for (place, io) in &outputs.params {
            let value = self.load(place, span)?;
            self.write_io(&outputs.signature, value, io, span)?;
        }
        Ok(())
    }

    /// The address of the stage input that an expression names: a parameter of the entry point, or a field of one.
    pub(crate) fn input_address(&mut self, expr: &Expr) -> Option<ir::Value> {
        let Expr::Place(place) = expr else { return None };
        let Base::Memory(memory) = &place.base else { return None };
        if !place.steps.is_empty() {
            return None;
        }
        if memory.indices.is_empty()
            && let ir::ValueDef::Global(global) = self.b.func.values[memory.root].def
        {
            return (self.b.module.globals[global].space == ir::AddressSpace::Input).then_some(memory.root);
        }
        let (_, io) = self.s.body.inputs.iter().find(|(root, _)| *root == memory.root)?;
        let mut io = io;
        for index in &memory.indices {
            let Io::Parts(parts) = io else { return None };
            let c = self.b.func.as_const(*index)?;
            io = parts.get(self.b.module.consts.bits(c)? as usize)?;
        }
        match io {
            Io::Leaf { global, .. } => {
                let global = *global;
                let want = self.ir(place.ty);
                (self.b.module.globals[global].ty == want).then(|| self.b.global(global))
            }
            _ => None,
        }
    }

    fn threads(&mut self, stage: Stage, attributes: Slice<Attribute>, span: Span) -> [u32; 3] {
        if stage != Stage::Compute {
            return [1; 3];
        }
        let Some(a) = self.attribute(attributes, None, "numthreads") else {
            self.error(codes::BAD_NUMTHREADS, span, "a compute shader needs `[numthreads(x, y, z)]`");
            return [1; 3];
        };
        let Ok(n) = self.attribute_ints(a, 3, 3) else { return [1; 3] };
        let fits = n.iter().zip([1024, 1024, 64]).all(|(n, most)| (1..=most).contains(n));
        if !fits || n.iter().product::<i64>() > 1024 {
            let message = format!("a thread group of {} x {} x {} is not possible", n[0], n[1], n[2]);
            self.error(codes::BAD_NUMTHREADS, a.span, message);
            return [1; 3];
        }
        [n[0] as u32, n[1] as u32, n[2] as u32]
    }

    fn wave_size(&mut self, attributes: Slice<Attribute>) -> Option<(u32, u32, u32)> {
        let a = self.attribute(attributes, None, "WaveSize")?;
        let n = self.attribute_ints(a, 1, 3).ok()?;
        let ok = n.iter().all(|n| matches!(n, 4 | 8 | 16 | 32 | 64 | 128));
        let (least, most) = (n[0], n.get(1).copied().unwrap_or(n[0]));
        let preferred = n.get(2).copied().unwrap_or(0);
        if !ok || least > most || preferred != 0 && !(least..=most).contains(&preferred) {
            self.error(codes::BAD_ATTRIBUTE_USE, a.span, "a wave has 4, 8, 16, 32, 64 or 128 lanes");
            return None;
        }
        Some((least as u32, most as u32, preferred as u32))
    }
}
