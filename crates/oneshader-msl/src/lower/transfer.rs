//! Functions that move whole structures and arrays between a buffer and a value: `unpack` and `pack`, one overload for each
//! memory type and address space.

use super::body::{Body, Detached};
use super::cx::Cx;
use crate::ast::{self, Expr, Infix, Prefix, Stmt, VarKind};
use crate::raise::memory::{Mem, MemKind, MemMember};
use oneshader_diag::Span;
use oneshader_ir::{MatrixOrder, Type, TypeKind};

/// A function to write.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    /// Declarator of the memory parameter: equal ones are one function.
    key: String,
    pub function: ast::Function,
}

/// The matrix whose rows are the lines in memory of a matrix `ty`, and the type of a line.
fn stored(cx: &mut Cx, ty: Type, order: MatrixOrder) -> (Type, Type) {
    let TypeKind::Matrix { elem, rows, cols } = cx.types.kind(ty) else { return (ty, ty) };
    let (rows, cols) = if order == MatrixOrder::RowMajor { (rows, cols) } else { (cols, rows) };
    (cx.types.matrix(elem, rows, cols), cx.types.vector(elem, cols))
}

/// The declaration of a reference to memory.
fn reference(cx: &Cx, mem: Mem, space: &str) -> String {
    let data = &cx.memory.mems[mem];
    match data.suffix.is_empty() {
        true => format!("{space} {}& memory", data.base),
        false => format!("{space} {} (&memory){}", data.base, data.suffix),
    }
}

impl Body<'_, '_> {
    /// The value of a structure or array in memory.
    pub(super) fn unpack(&mut self, place: Expr, mem: Mem, space: &'static str) -> Expr {
        // Reading needs no right to write; one overload serves both.
        let space = match space {
            "device" => "const device",
            "coherent device" => "const coherent device",
            _ => space,
        };
        let name = ensure(self.cx, mem, space, false);
        let value = self.call(name, &[place]);
        match self.cx.memory.mems[mem].kind {
            MemKind::Matrix { order: MatrixOrder::ColumnMajor, .. } => self.call("transpose", &[value]),
            _ => value,
        }
    }

    /// A call that writes a structure or array to memory.
    pub(super) fn pack(&mut self, place: Expr, mem: Mem, value: Expr, space: &'static str) -> Expr {
        let name = ensure(self.cx, mem, space, true);
        let value = match self.cx.memory.mems[mem].kind {
            MemKind::Matrix { order: MatrixOrder::ColumnMajor, .. } => self.call("transpose", &[value]),
            _ => value,
        };
        self.call(name, &[place, value])
    }

    /// A member of a structure in memory.
    pub(super) fn memory_member(&mut self, object: Expr, member: &MemMember, space: &str) -> Expr {
        let expr = if member.empty {
            self.prefix(Prefix::AddressOf, object)
        } else {
            let name = self.name(&member.name);
            self.member(object, name)
        };
        if !member.raw {
            return expr;
        }
        let data = &self.cx.memory.mems[member.mem];
        let pointer = match data.suffix.is_empty() {
            true => format!("{space} {}*", data.base),
            false => format!("{space} {} (*){}", data.base, data.suffix),
        };
        let address = self.cast(&pointer, expr);
        self.prefix(Prefix::Deref, address)
    }

    fn write_unpack(&mut self, mem: Mem, space: &'static str, memory: Expr) {
        let data = self.cx.memory.mems[mem].clone();
        match data.kind {
            MemKind::Struct(members) => {
                let mut parts = Vec::new();
                for member in &members {
                    let place = self.memory_member(memory, member, space);
                    parts.push(self.load_mem(place, member.mem, space, Span::NONE));
                }
                let value = self.init(data.ty, &parts);
                self.out.push(Stmt::Return(Some(value)));
            }
            MemKind::Array { elem, len, wrapped } => {
                let ty = self.cx.value_type(data.ty);
                let result = self.var("value", ty, VarKind::Memory);
                self.out.push(Stmt::Declare(result, None));
                let result = self.var_expr(result);
                self.for_each(len, |s, index| {
                    let from = s.element(memory, index, wrapped);
                    let value = s.load_mem(from, elem, space, Span::NONE);
                    let to = s.index(result, index);
                    s.out.push(Stmt::Assign(to, value));
                });
                self.out.push(Stmt::Return(Some(result)));
            }
            MemKind::Matrix { order, lines, .. } => {
                let (stored, line_ty) = stored(self.cx, data.ty, order);
                let parts: Vec<Expr> = (0..lines)
                    .map(|i| {
                        let i = self.number(i64::from(i));
                        let line = self.line(memory, mem, i);
                        self.load_vector(line, line_ty)
                    })
                    .collect();
                let value = self.construct(stored, &parts);
                self.out.push(Stmt::Return(Some(value)));
            }
            _ => {}
        }
    }

    fn write_pack(&mut self, mem: Mem, space: &'static str, memory: Expr, value: Expr) {
        let data = self.cx.memory.mems[mem].clone();
        match data.kind {
            MemKind::Struct(members) => {
                let TypeKind::Struct(id) = self.cx.types.kind(data.ty) else { return };
                for (i, member) in members.iter().enumerate() {
                    let place = self.memory_member(memory, member, space);
                    let name = self.cx.member_name(id, i);
                    let part = self.member(value, name);
                    self.store_mem(place, member.mem, part, space, Span::NONE);
                }
            }
            MemKind::Array { elem, len, wrapped } => {
                self.for_each(len, |s, index| {
                    let to = s.element(memory, index, wrapped);
                    let part = s.index(value, index);
                    s.store_mem(to, elem, part, space, Span::NONE);
                });
            }
            MemKind::Matrix { lines, .. } => {
                for i in 0..lines {
                    let at = self.number(i64::from(i));
                    let to = self.line(memory, mem, at);
                    let from = self.index(value, at);
                    self.out.push(Stmt::Assign(to, from));
                }
            }
            _ => {}
        }
    }

    fn element(&mut self, array: Expr, index: Expr, wrapped: bool) -> Expr {
        let expr = self.index(array, index);
        if wrapped {
            let name = self.name("value");
            self.member(expr, name)
        } else {
            expr
        }
    }

    fn for_each(&mut self, len: u32, f: impl FnOnce(&mut Self, Expr)) {
        let uint = self.name("uint");
        let var = self.var("i", uint, VarKind::Phi);
        let index = self.var_expr(var);
        let (zero, one, end) = (self.uint(0), self.uint(1), self.uint(len));
        let cond = self.infix(Infix::Lt, index, end);
        let next = self.infix(Infix::Add, index, one);
        let body = self.capture(|s| f(s, index));
        self.out.push(Stmt::For {
            init: Some(Box::new(Stmt::Declare(var, Some(zero)))),
            cond: Some(cond),
            step: vec![Stmt::Set(var, next)],
            body,
        });
    }
}

fn ensure(cx: &mut Cx, mem: Mem, space: &'static str, store: bool) -> &'static str {
    let reference = reference(cx, mem, space);
    // The same memory as an array of the lines.
    let name = match (&cx.memory.mems[mem].kind, store) {
        (MemKind::Matrix { .. }, false) => "unpack_matrix",
        (MemKind::Matrix { .. }, true) => "pack_matrix",
        (_, false) => "unpack",
        (_, true) => "pack",
    };
    let key = format!("{name} {reference}");
    if cx.transfers.iter().any(|t| t.key == key) {
        return name;
    }
    let mut ty: Type = cx.memory.mems[mem].ty;
    if let MemKind::Matrix { order, .. } = cx.memory.mems[mem].kind {
        ty = stored(cx, ty, order).0;
    }
    let value_ty = cx.value_type(ty);
    let value_ty = cx.names.get(value_ty).to_owned();
    let detached = Detached::new(&cx.raised.module);
    let mut body = detached.body(cx);
    let memory = body.text("memory");
    if store {
        let value = body.text("value");
        body.write_pack(mem, space, memory, value);
    } else {
        body.write_unpack(mem, space, memory);
    }
    let (mut arena, mut list) = (std::mem::take(&mut body.arena), std::mem::take(&mut body.out));
    crate::shape::shape(&mut arena, &mut list);
    crate::scope::declare(&mut arena, &mut list);
    let mut params = vec![ast::Param { declaration: reference, attribute: String::new() }];
    if store {
        params.push(ast::Param { declaration: format!("{value_ty} value"), attribute: String::new() });
    }
    let function = ast::Function {
        prefix: "static inline".to_owned(),
        result: if store { "void".to_owned() } else { value_ty },
        name: name.to_owned(),
        params,
        arena,
        body: list,
    };
    cx.transfers.push(Transfer { key, function });
    name
}
