//! The state of the preprocessor and the loop over files.

use std::sync::Arc;

use oneshader_diag::{Diagnostic, DiagnosticBag, Expansion, FileId, SourceMap, Span, codes};
use rustc_hash::FxHashMap;

use super::expand::Context;
use super::macros::Macros;
use super::{IncludeLoader, IncludeRequest, Options, Packing, Preprocessed, predefined};
use crate::lex::{Flags, Lexer, Token, TokenKind, Trouble};
use crate::name::{Interner, Name};

/// An open `#if`.
pub(super) struct Conditional {
    pub span: Span,
    /// Whether a group of it was taken.
    pub taken: bool,
    pub seen_else: bool,
    /// Whether it may be the include guard of its file.
    pub guard: Option<Name>,
}

/// A file being read.
pub(super) struct FileState {
    pub id: FileId,
    pub text: Arc<str>,
    pub pos: usize,
    /// Where its first token begins, once read.
    pub first: Option<u32>,
    /// The include guard, and where its `#endif` ended.
    pub guard: Option<(Name, usize)>,
    pub conditionals: Vec<Conditional>,
}

/// What is known of a file from reading it once.
#[derive(Clone, Copy, Default)]
pub(super) struct FileFacts {
    pub once: bool,
    pub guard: Option<Name>,
    pub listed: bool,
}

pub(super) struct Pp<'a> {
    pub options: &'a Options,
    loader: &'a dyn IncludeLoader,
    pub names: &'a mut Interner,
    pub map: &'a mut SourceMap,
    pub bag: &'a mut DiagnosticBag,

    pub file: FileState,
    /// The files that include `file`, outermost first.
    pub stack: Vec<FileState>,
    pub facts: FxHashMap<FileId, FileFacts>,
    by_key: FxHashMap<Arc<str>, FileId>,
    by_request: FxHashMap<(FileId, bool, String), Option<FileId>>,
    /// Where the next `#elif`, `#else` or `#endif` is, by file and position of the skipped group.
    pub skips: FxHashMap<(FileId, usize), usize>,
    bytes: u64,

    pub macros: Macros,
    pub contexts: Vec<Context>,
    /// Contexts below belong to someone else: see `expand_list`.
    pub floor: usize,
    /// Whether what follows the contexts may not be read.
    pub isolated: bool,
    pub depth: u32,
    pub spare: Vec<Vec<Token>>,
    /// The outermost macro invocation: the span of tokens out of macro bodies.
    pub call: Span,
    pub calls: Vec<(Span, u32)>,
    pub expanded: u64,
    pub exhausted: bool,
    pub counter: u32,
    /// Whether the end of a line is a token.
    pub in_directive: bool,
    /// Whether an `#if` is being evaluated, where `defined` keeps its operand.
    pub in_condition: bool,
    pub in_arguments: bool,

    pub out: Vec<Token>,
    pub packing: Vec<(u32, Packing)>,
    pub pragmas: Vec<(u32, Span)>,
    pub includes: Vec<FileId>,
}

impl<'a> Pp<'a> {
    pub fn new(
        options: &'a Options,
        loader: &'a dyn IncludeLoader,
        names: &'a mut Interner,
        map: &'a mut SourceMap,
        bag: &'a mut DiagnosticBag,
    ) -> Self {
        Pp {
            options,
            loader,
            names,
            map,
            bag,
            file: FileState::new(FileId::NONE, "".into()),
            stack: Vec::new(),
            facts: FxHashMap::default(),
            by_key: FxHashMap::default(),
            by_request: FxHashMap::default(),
            skips: FxHashMap::default(),
            bytes: 0,
            macros: Macros::default(),
            contexts: Vec::new(),
            floor: 0,
            isolated: false,
            depth: 0,
            spare: Vec::new(),
            call: Span::NONE,
            calls: Vec::new(),
            expanded: 0,
            exhausted: false,
            counter: 0,
            in_directive: false,
            in_condition: false,
            in_arguments: false,
            out: Vec::new(),
            packing: Vec::new(),
            pragmas: Vec::new(),
            includes: Vec::new(),
        }
    }

    /// Reads the predefined macros, then the main file.
    pub fn run(mut self, main: FileId) -> Preprocessed {
        self.define_builtins();
        for (name, text) in [
            ("<built-in>", predefined::builtin_text(self.options)),
            ("<command line>", predefined::command_line_text(self.options)),
        ] {
            if !text.is_empty() {
                let id = self.map.add(name, text);
                self.read_file(id);
            }
        }
        self.out.clear();
        if let Some(file) = self.map.file(main) {
            let name = file.name().clone();
            self.by_key.insert(name, main);
            self.out.reserve(file.text().len() / 4);
        }
        self.read_file(main);
        let span = Span::new(main, self.file.text.len() as u32, self.file.text.len() as u32);
        self.out.push(Token { kind: TokenKind::Eof, flags: Flags::LINE_START, value: 0, span });
        self.keep_expansions();
        Preprocessed { main, tokens: self.out, packing: self.packing, pragmas: self.pragmas, includes: self.includes }
    }

    /// Tells the source map which places are macro invocations.
    fn keep_expansions(&mut self) {
        let macros = self.macros.defs.iter().map(|def| (self.names.text(def.name), def.name_span));
        let calls = std::mem::take(&mut self.calls);
        self.map.set_expansions(Expansion::list(macros, calls));
    }

    fn read_file(&mut self, id: FileId) {
        if !self.enter(id) {
            return;
        }
        loop {
            let token = self.lex();
            match token.kind {
                TokenKind::Ident => match self.macros.find(token.value) {
                    None => self.emit(token),
                    Some(_) => self.expand_from_file(token),
                },
                TokenKind::Hash if token.flags.contains(Flags::LINE_START) => self.directive(token),
                TokenKind::Eof => {
                    if !self.leave() {
                        return;
                    }
                }
                _ => self.emit(token),
            }
        }
    }

    /// Begins to read a file. Answers false if a budget forbids it.
    pub fn enter(&mut self, id: FileId) -> bool {
        let Some(text) = self.map.file(id).map(|f| f.text().clone()) else { return false };
        self.bytes += text.len().max(4096) as u64;
        if self.bytes > self.options.limits.bytes || text.len() > i32::MAX as usize {
            if !self.exhausted {
                self.exhausted = true;
                let place = Span::new(self.file.id, self.file.pos as u32, self.file.pos as u32);
                let message = format!("more than {} bytes of source are read", self.options.limits.bytes);
                self.bag.report(codes::TOKEN_LIMIT, place, message);
            }
            self.drop_rest();
            return false;
        }
        let old = std::mem::replace(&mut self.file, FileState::new(id, text));
        self.stack.push(old);
        true
    }

    /// Ends the current file. Answers false if it was the outermost one.
    fn leave(&mut self) -> bool {
        for conditional in self.file.conditionals.drain(..) {
            let message = "this conditional has no `#endif` in its file";
            self.bag.report(codes::UNBALANCED_CONDITIONAL, conditional.span, message);
        }
        if let Some((guard, end)) = self.file.guard
            && Lexer::new(&self.file.text, end, false).next(self.names).kind == TokenKind::Eof
        {
            self.facts.entry(self.file.id).or_default().guard = Some(guard);
        }
        // The bottom of the stack is the empty state the preprocessor was made with.
        if self.stack.len() <= 1 {
            self.stack.clear();
            return false;
        }
        match self.stack.pop() {
            Some(file) => {
                self.file = file;
                true
            }
            None => false,
        }
    }

    /// The next raw token of the current file.
    pub fn lex(&mut self) -> Token {
        let mut lexer = Lexer::new(&self.file.text, self.file.pos, self.in_directive);
        let mut raw = lexer.next(self.names);
        self.file.pos = lexer.pos;
        if self.file.first.is_none() {
            self.file.first = Some(raw.lo);
            raw.flags |= Flags::LINE_START;
        }
        let span = Span::new(self.file.id, raw.lo, raw.hi);
        if raw.trouble != Trouble::None {
            self.lex_trouble(raw.trouble, span);
        }
        Token { kind: raw.kind, flags: raw.flags, value: raw.value, span }
    }

    #[cold]
    fn lex_trouble(&mut self, trouble: Trouble, span: Span) {
        let (code, message) = match trouble {
            Trouble::UnterminatedComment => (codes::UNTERMINATED_COMMENT, "a `/*` comment before this has no `*/`"),
            _ => (codes::UNTERMINATED_LITERAL, "the literal does not end on its line"),
        };
        self.bag.report(code, span, message);
    }

    /// Appends to the output.
    pub fn emit(&mut self, token: Token) {
        if self.out.len() < self.options.limits.tokens as usize {
            return self.out.push(token);
        }
        if !self.exhausted {
            self.exhausted = true;
            let message = format!("the preprocessed source has more than {} tokens", self.options.limits.tokens);
            self.bag.report(codes::TOKEN_LIMIT, token.span, message);
        }
        self.drop_rest();
    }

    /// Drops the rest of every open file.
    fn drop_rest(&mut self) {
        for file in self.stack.iter_mut().chain([&mut self.file]) {
            file.pos = file.text.len();
            file.conditionals.clear();
        }
    }

    /// Finds an included file; reports one that cannot be read.
    pub fn find_include(&mut self, path: &str, angled: bool, at: Span) -> Option<FileId> {
        let path = path.replace('\\', "/");
        let request = (self.file.id, angled, path);
        if let Some(found) = self.by_request.get(&request) {
            return *found;
        }
        let name = |id: FileId| self.map.file(id).map(|f| f.name().clone());
        let includers: Vec<Arc<str>> =
            std::iter::once(self.file.id).chain(self.stack.iter().rev().map(|f| f.id)).filter_map(name).collect();
        let includers: Vec<&str> = includers.iter().map(|name| &**name).collect();
        let found = match self.loader.load(&IncludeRequest { path: &request.2, angled, includers: &includers }) {
            Ok(Some(found)) => {
                let id = match self.by_key.get(&found.key) {
                    Some(id) => *id,
                    None => {
                        let id = self.map.add(found.name, found.text);
                        self.by_key.insert(found.key, id);
                        id
                    }
                };
                Some(id)
            }
            Ok(None) => super::headers::find(&request.2).map(|text| match self.by_key.get(&*request.2) {
                Some(id) => *id,
                None => {
                    let name: Arc<str> = request.2.as_str().into();
                    let id = self.map.add(name.clone(), Arc::<str>::from(text));
                    self.by_key.insert(name, id);
                    id
                }
            }),
            Err(reason) => {
                self.bag.report(codes::UNREADABLE_FILE, at, reason);
                None
            }
        };
        self.by_request.insert(request, found);
        found
    }

    /// Includes a file that was found.
    pub fn include(&mut self, id: FileId, at: Span) {
        let facts = self.facts.entry(id).or_default();
        if !facts.listed {
            facts.listed = true;
            self.includes.push(id);
        }
        if facts.once || facts.guard.is_some_and(|guard| self.macros.is_defined(guard)) {
            return;
        }
        // The stack also holds the empty state at its bottom.
        if self.stack.len() > self.options.limits.include_depth as usize {
            let message = format!("includes are nested deeper than {}", self.options.limits.include_depth);
            let help = "add `#pragma once` or an include guard";
            return self.bag.push(Diagnostic::new(codes::INCLUDE_TOO_DEEP, at, message).help(help));
        }
        self.enter(id);
    }
}

impl FileState {
    fn new(id: FileId, text: Arc<str>) -> Self {
        let pos = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        FileState { id, text, pos, first: None, guard: None, conditionals: Vec::new() }
    }
}
