//! Interned names and the words the language knows.
//!
//! A [`Name`] is an index. The words of [`kw`] have the same index in every interner, so they can be matched as
//! constants. Each name has a [`Class`], found once when it is first seen: keywords, numeric types (`float3x4`) and
//! object types (`Texture2D`) are recognised without comparing text again.

use std::sync::LazyLock;

use crate::builtin::{self, NumericType, ObjectKind};

/// An interned identifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Name(pub u32);

/// What the language makes of a word before any declaration is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A plain identifier.
    Ident,
    /// A keyword: never an identifier.
    Keyword,
    /// A word that is a modifier in front of a declaration and may be an identifier elsewhere (`sample`, `point`).
    Contextual,
    /// A word of C++ or of HLSL's grammar that has no meaning and may not be used (`new`, `goto`).
    Reserved,
    /// A scalar, vector or matrix type by its short name.
    Numeric(NumericType),
    /// An object type, or `vector` and `matrix`.
    Object(ObjectKind),
}

macro_rules! words {
    ($($class:ident { $($konst:ident $text:literal),* $(,)? })*) => {
        /// The words with fixed indices.
        #[allow(missing_docs)]
        pub mod kw {
            use super::Name;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(u32)]
            enum Index { $($($konst,)*)* COUNT }
            $($(pub const $konst: Name = Name(Index::$konst as u32);)*)*
            /// How many there are.
            pub const COUNT: u32 = Index::COUNT as u32;
        }
        const WORDS: &[(&str, Class)] = &[$($(($text, Class::$class),)*)*];
    };
}

words! {
    Keyword {
        IF "if", ELSE "else", FOR "for", WHILE "while", DO "do", SWITCH "switch", CASE "case", DEFAULT "default",
        BREAK "break", CONTINUE "continue", DISCARD "discard", RETURN "return",
        STRUCT "struct", CLASS "class", INTERFACE "interface", ENUM "enum", UNION "union", NAMESPACE "namespace",
        USING "using", TYPEDEF "typedef", TEMPLATE "template", TYPENAME "typename", OPERATOR "operator",
        CBUFFER "cbuffer", TBUFFER "tbuffer", THIS "this", SIZEOF "sizeof", TRUE "true", FALSE "false",
        STATIC "static", EXTERN "extern", CONST "const", VOLATILE "volatile", UNIFORM "uniform", INLINE "inline",
        GROUPSHARED "groupshared", SHARED "shared", IN "in", OUT "out", INOUT "inout", ROW_MAJOR "row_major",
        COLUMN_MAJOR "column_major", NOINTERPOLATION "nointerpolation", LINEAR "linear", CENTROID "centroid",
        NOPERSPECTIVE "noperspective", SNORM "snorm", UNORM "unorm", EXPORT "export", UNSIGNED "unsigned",
        SIGNED "signed", STATIC_ASSERT "_Static_assert", CPP_STATIC_ASSERT "static_assert", DECLTYPE "decltype", GNU_DECLTYPE "__decltype",
        CONSTEXPR "constexpr",
    }
    Contextual {
        PRECISE "precise", SAMPLE "sample", GLOBALLYCOHERENT "globallycoherent", REORDERCOHERENT "reordercoherent",
        CENTER "center", POINT "point", LINE "line", LINEADJ "lineadj", TRIANGLE "triangle",
        TRIANGLEADJ "triangleadj", INDICES "indices", VERTICES "vertices", PRIMITIVES "primitives",
        PAYLOAD "payload",
    }
    Reserved {
        AUTO "auto", CATCH "catch", CHAR "char", CONST_CAST "const_cast", DELETE "delete",
        DYNAMIC_CAST "dynamic_cast", EXPLICIT "explicit", FRIEND "friend", GOTO "goto", LONG "long",
        MUTABLE "mutable", NEW "new", PRIVATE "private", PROTECTED "protected", PUBLIC "public",
        REINTERPRET_CAST "reinterpret_cast", SHORT "short", STATIC_CAST "static_cast", THROW "throw", TRY "try",
        VIRTUAL "virtual", ASM "asm", NULLPTR "nullptr", REGISTER_STORAGE "__register",
    }
    Ident {
        REGISTER "register", PACKOFFSET "packoffset", TECHNIQUE "technique", TECHNIQUE_UPPER "Technique",
        TECHNIQUE10 "technique10", TECHNIQUE11 "technique11", FXGROUP "fxgroup", PASS "pass",
        SAMPLER_STATE "sampler_state", STATEBLOCK "stateblock", STATEBLOCK_STATE "stateblock_state",
        BLEND_STATE "BlendState", DEPTH_STENCIL_STATE "DepthStencilState", RASTERIZER_STATE "RasterizerState",
        PIXELFRAGMENT "pixelfragment", VERTEXFRAGMENT "vertexfragment", COMPILE "compile",
        COMPILE_FRAGMENT "compile_fragment", VECTOR "vector", MATRIX "matrix", STRING "string",
        LOAD "Load", STORE "Store", LOAD2 "Load2", LOAD3 "Load3", LOAD4 "Load4", VK "vk", SHADER "shader",
        NUMTHREADS "numthreads", MAIN "main", SELECT "select", SV_PREFIX "SV_", BINDING "binding",
        PUSH_CONSTANT "push_constant", CONSTANT_ID "constant_id", LOCATION "location", INDEX "index",
        COUNTER_BINDING "counter_binding", UNROLL "unroll", LOOP "loop", BRANCH "branch", FLATTEN "flatten",
        FASTOPT "fastopt", ALLOW_UAV_CONDITION "allow_uav_condition", FORCECASE "forcecase", CALL "call",
        EARLYDEPTHSTENCIL "earlydepthstencil", WAVESIZE "WaveSize", ROOTSIGNATURE "RootSignature",
        DEFINED "defined", VA_ARGS "__VA_ARGS__", VA_OPT "__VA_OPT__", HAS_INCLUDE "__has_include",
        INCLUDE "include", DEFINE "define", UNDEF "undef", IFDEF "ifdef", IFNDEF "ifndef", ELIF "elif",
        ELIFDEF "elifdef", ELIFNDEF "elifndef", ENDIF "endif", ERROR "error", WARNING "warning", PRAGMA "pragma",
        ONCE "once", PACK_MATRIX "pack_matrix", DEF "def", MESSAGE "message", DXC "dxc", PRAGMA_OPERATOR "_Pragma",
        FILE_MACRO "__FILE__", LINE_MACRO "__LINE__", COUNTER_MACRO "__COUNTER__", DISABLE "disable",
        SPIRV_TYPE "SpirvType", SPIRV_OPAQUE_TYPE "SpirvOpaqueType", INTEGRAL_CONSTANT "integral_constant",
        LITERAL "Literal", BUFFER_POINTER "BufferPointer", HIT_OBJECT "HitObject",
        SAMPLED_TEXTURE_1D "SampledTexture1D", SAMPLED_TEXTURE_1D_ARRAY "SampledTexture1DArray",
        SAMPLED_TEXTURE_2D "SampledTexture2D", SAMPLED_TEXTURE_2D_ARRAY "SampledTexture2DArray",
        SAMPLED_TEXTURE_2D_MS "SampledTexture2DMS", SAMPLED_TEXTURE_2D_MS_ARRAY "SampledTexture2DMSArray",
        SAMPLED_TEXTURE_3D "SampledTexture3D", SAMPLED_TEXTURE_CUBE "SampledTextureCUBE",
        SAMPLED_TEXTURE_CUBE_ARRAY "SampledTextureCUBEArray",
        NAMESPACE_DX "dx", NAMESPACE_HLSL "hlsl", READ "read", WRITE "write", SPACE "space",
        RAY_DESC "RayDesc", ORIGIN "Origin", T_MIN "TMin", DIRECTION "Direction", T_MAX "TMax",
    }
}

/// Owns the text of names.
#[derive(Clone, Debug)]
pub struct Interner {
    /// All texts, one after the other.
    text: String,
    /// Where each name's text ends in `text`; it begins where the one before ends.
    ends: Vec<u32>,
    classes: Vec<Class>,
    /// Full hashes, so that growing the table hashes nothing again.
    hashes: Vec<u32>,
    /// Open addressing by hash: 0 is free, else index + 1. The size is a power of two, at most half full.
    table: Vec<u32>,
}

static BASE: LazyLock<Interner> = LazyLock::new(|| {
    let mut names = Interner {
        text: String::with_capacity(1 << 14),
        ends: Vec::with_capacity(1024),
        classes: Vec::with_capacity(1024),
        hashes: Vec::with_capacity(1024),
        table: vec![0; 4096],
    };
    for (text, class) in WORDS {
        let name = names.intern(text);
        // `vector` and the like are listed for their constant and classified by the table of types.
        if *class != Class::Ident {
            names.classes[name.0 as usize] = *class;
        }
    }
    // With these known, a name not seen before can be no other type of the language than a vector or matrix.
    for text in builtin::words() {
        let name = names.intern(text);
        if names.class(name) == Class::Ident {
            names.classes[name.0 as usize] = builtin::classify(text);
        }
    }
    names
});

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

fn hash(text: &[u8]) -> u32 {
    // FxHash's step over eight bytes at a time: identifiers are short and trusted to no one but this table, whose
    // worst case is bounded by the token budget.
    const K: u64 = 0xf135_7aea_2e62_a9c5;
    let mut state = text.len() as u64;
    let mut chunks = text.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
        state = (state.rotate_left(5) ^ word).wrapping_mul(K);
    }
    let tail = chunks.remainder().iter().fold(0u64, |word, b| word << 8 | u64::from(*b));
    state = (state.rotate_left(5) ^ tail).wrapping_mul(K);
    (state >> 32) as u32
}

impl Interner {
    /// An interner that knows the words of [`kw`].
    pub fn new() -> Self {
        BASE.clone()
    }

    /// The name of a text.
    pub fn intern(&mut self, text: &str) -> Name {
        let hash = hash(text.as_bytes());
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(index) = self.table[at].checked_sub(1) {
            if self.hashes[index as usize] == hash && self.text(Name(index)) == text {
                return Name(index);
            }
            at = (at + 1) & mask;
        }
        self.insert(text, hash, at)
    }

    #[cold]
    fn insert(&mut self, text: &str, hash: u32, at: usize) -> Name {
        let index = self.ends.len() as u32;
        self.table[at] = index + 1;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.classes.push(builtin::classify_new(text));
        self.hashes.push(hash);
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        Name(index)
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        self.table = vec![0; mask + 1];
        for (index, hash) in self.hashes.iter().enumerate() {
            let mut at = *hash as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = index as u32 + 1;
        }
    }

    /// The name of a text, if it was seen.
    pub fn get(&self, text: &str) -> Option<Name> {
        let hash = hash(text.as_bytes());
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(index) = self.table[at].checked_sub(1) {
            if self.hashes[index as usize] == hash && self.text(Name(index)) == text {
                return Some(Name(index));
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// The text of a name; empty for a name of another interner.
    pub fn text(&self, name: Name) -> &str {
        let index = name.0 as usize;
        let Some(&end) = self.ends.get(index) else { return "" };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start as usize..end as usize]
    }

    /// What the language makes of a name.
    pub fn class(&self, name: Name) -> Class {
        self.classes.get(name.0 as usize).copied().unwrap_or(Class::Ident)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never: the words of the language are always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names and their texts, in order of first sight.
    pub fn iter(&self) -> impl Iterator<Item = (Name, &str)> {
        (0..self.len() as u32).map(|i| (Name(i), self.text(Name(i))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::ScalarKind;

    #[test]
    fn words_have_fixed_indices_and_no_duplicates() {
        let mut names = Interner::new();
        assert!(names.len() as u32 >= kw::COUNT);
        assert_eq!(names.text(kw::IF), "if");
        assert_eq!(names.intern("while"), kw::WHILE);
        assert_eq!(names.class(kw::SAMPLE), Class::Contextual);
        assert_eq!(names.class(kw::VECTOR), Class::Object(ObjectKind::Vector));
        for (i, (text, _)) in WORDS.iter().enumerate() {
            assert_eq!(names.get(text), Some(Name(i as u32)), "{text}");
        }
    }

    #[test]
    fn interns_and_classifies() {
        let mut names = Interner::new();
        let a = names.intern("albedo");
        assert_eq!(names.intern("albedo"), a);
        assert_eq!(names.text(a), "albedo");
        assert_eq!(names.get("albedo2"), None);
        let t = names.intern("float3x4");
        assert_eq!(names.class(t), Class::Numeric(NumericType::Matrix(ScalarKind::Float, 3, 4)));
        let t = names.intern("uint16_t");
        assert_eq!(names.class(t), Class::Numeric(NumericType::Scalar(ScalarKind::Uint16)));
        let t = names.intern("RWTexture2D");
        assert_eq!(names.class(t), Class::Object(ObjectKind::RwTexture2D));
        let all: Vec<Name> = (0..20_000).map(|i| names.intern(&format!("n{i}"))).collect();
        for (i, name) in all.iter().enumerate() {
            assert_eq!(names.text(*name), format!("n{i}"));
            assert_eq!(names.get(&format!("n{i}")), Some(*name));
        }
    }
}
