//! Names of the text: HLSL's, escaped where Metal means something else by them, and unique.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// Words with a meaning in C++ or Metal: no name of any kind may be one.
const KEYWORDS: &str = "\
alignas alignof and and_eq asm atomic_bool atomic_float atomic_int atomic_uint atomic_ulong auto bitand bitor bool break \
case catch char char16_t char32_t class compl const const_cast constant constexpr continue decltype default delete depth2d \
depth2d_array depth2d_ms depth2d_ms_array depthcube depthcube_array device do double dynamic_cast else enum explicit export \
extern false float for fragment friend goto half if inline int interpolant kernel long main metal mutable namespace new \
noexcept not not_eq nullptr object_data operator or or_eq private protected ptrdiff_t public quad ray_data raytracing register \
reinterpret_cast return sampler short signed size_t sizeof static static_assert static_cast struct switch template texture \
texture1d texture1d_array texture2d texture2d_array texture2d_ms texture2d_ms_array texture3d texture_buffer texturecube \
texturecube_array this thread thread_local threadgroup threadgroup_imageblock throw true try typedef typeid typename uchar \
uint ulong union unsigned ushort using vertex virtual void volatile wchar_t while xor xor_eq vec matrix array array_ref \
packed_float2 packed_float3 packed_float4 packed_half2 packed_half3 packed_half4 bfloat simd_vote mesh object visible \
stitchable intersection assert constexpr_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t access address \
coord filter mip_filter min_filter mag_filter compare_func component mem_flags memory_order thread_scope NULL NAN INFINITY \
HUGE_VALF MAXFLOAT INT_MAX INT_MIN UINT_MAX FLT_MAX FLT_MIN FLT_EPSILON HALF_MAX M_PI_F M_E_F";

/// Functions of Metal's library that the text may call: a variable of the same name would hide them.
const FUNCTIONS: &str = "\
abs absdiff acos acosh addsat all any as_type asin asinh atan atan2 atanh bias ceil clamp clz copysign cos cosh cospi cross \
ctz determinant dfdx dfdy discard_fragment distance distance_squared divide dot exp exp10 exp2 extract_bits fabs \
faceforward fast fdim floor fma fmax fmax3 fmedian3 fmin fmin3 fmod fract frexp fwidth gradient2d gradient3d gradientcube \
ilogb insert_bits is_function_constant_defined isfinite isinf isnan isnormal isordered isunordered ldexp length \
length_squared level log log10 log2 mad24 madhi madsat max max3 median3 min min3 min_lod_clamp mix modf mul24 mulhi \
nextafter normalize popcount pow powr precise quad_all quad_any quad_shuffle quad_shuffle_xor reflect refract reverse_bits \
rhadd rint rotate round rsqrt saturate select sign signbit simd_all simd_and simd_any simd_ballot simd_broadcast_first \
simd_is_first simd_is_helper_thread simd_max simd_min simd_or simd_prefix_exclusive_product simd_prefix_exclusive_sum \
simd_product simd_shuffle simd_sum simd_xor simdgroup_barrier sin sincos sinh sinpi smoothstep sparse_color sqrt step \
sub_sat subsat tan tanh tanpi threadgroup_barrier transpose trunc atomic_load_explicit atomic_store_explicit \
atomic_exchange_explicit atomic_compare_exchange_weak_explicit atomic_fetch_add_explicit atomic_fetch_and_explicit \
atomic_fetch_max_explicit atomic_fetch_min_explicit atomic_fetch_or_explicit atomic_fetch_sub_explicit \
atomic_fetch_xor_explicit atomic_max_explicit atomic_min_explicit atomic_thread_fence unpack pack unpack_matrix pack_matrix \
in out args";

/// Macros of Metal's library, and types that it has outside of any namespace: no name of any kind may be one either.
const MACROS: &str = "\
BFLT_DECIMAL_DIG BFLT_DIG BFLT_EPSILON BFLT_MANT_DIG BFLT_MAX BFLT_MAX_10_EXP BFLT_MAX_EXP BFLT_MIN BFLT_MIN_10_EXP \
BFLT_MIN_EXP BFLT_RADIX CHAR_BIT CHAR_MAX CHAR_MIN FLT_DECIMAL_DIG FLT_DIG FLT_MANT_DIG FLT_MAX_10_EXP FLT_MAX_EXP \
FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FP_ILOGB0 FP_ILOGBNAN HALF_DECIMAL_DIG HALF_DIG HALF_EPSILON HALF_MANT_DIG \
HALF_MAX_10_EXP HALF_MAX_EXP HALF_MIN HALF_MIN_10_EXP HALF_MIN_EXP HALF_RADIX HUGE_VALBF HUGE_VALH LONG_MAX LONG_MIN \
MAXBFLOAT MAXHALF M_1_PI_BF M_1_PI_F M_1_PI_H M_2_PI_BF M_2_PI_F M_2_PI_H M_2_SQRTPI_BF M_2_SQRTPI_F M_2_SQRTPI_H \
M_E_BF M_E_H M_LN10_BF M_LN10_F M_LN10_H M_LN2_BF M_LN2_F M_LN2_H M_LOG10E_BF M_LOG10E_F M_LOG10E_H M_LOG2E_BF \
M_LOG2E_F M_LOG2E_H M_PI_2_BF M_PI_2_F M_PI_2_H M_PI_4_BF M_PI_4_F M_PI_4_H M_PI_BF M_PI_H M_SQRT1_2_BF M_SQRT1_2_F \
M_SQRT1_2_H M_SQRT2_BF M_SQRT2_F M_SQRT2_H SCHAR_MAX SCHAR_MIN SHRT_MAX SHRT_MIN UCHAR_MAX ULONG_MAX USHRT_MAX \
coherent complex imaginary intptr_t llong nullptr_t uintptr_t ullong";

/// Further names in namespace `metal`, which the text uses whole: a type, function or constant of the file with such a name
/// would be ambiguous. Variables and members may have them.
const LIBRARY: &str = "\
atomic bezier bezier_derivative bezier_second_derivative bool_constant border_color bspline bspline_derivative \
bspline_second_derivative catmull_rom catmull_rom_derivative catmull_rom_second_derivative command_buffer \
compute_command compute_pipeline_state conditional conditional_t conjunction denorm_absent denorm_indeterminate \
denorm_present disjunction divides enable_if enable_if_t false_type float_denorm_style float_round_style \
get_num_samples get_sample_position hadd hermite hermite_derivative hermite_second_derivative imageblock \
imageblock_data_rate imageblock_layout imageblock_layout_explicit imageblock_layout_implicit imageblock_layout_t \
imageblock_slice initializer_list integer_sequence integral_constant interpolation lod_clamp log_type log_type_debug \
log_type_default log_type_error log_type_fault log_type_info make_array_ref make_filled_matrix \
make_filled_simdgroup_matrix make_uniform max_anisotropy memory_coherence memory_coherence_device \
memory_coherence_threadgroup memory_order_relaxed memory_order_seq_cst mesh_grid_properties minus move multiplies \
numeric_limits os_log pack_float_to_snorm2x16 pack_float_to_snorm4x8 pack_float_to_srgb_unorm4x8 \
pack_float_to_unorm10a2 pack_float_to_unorm2x16 pack_float_to_unorm4x8 pack_float_to_unorm565 pack_half_to_snorm2x16 \
pack_half_to_snorm4x8 pack_half_to_srgb_unorm4x8 pack_half_to_unorm10a2 pack_half_to_unorm2x16 pack_half_to_unorm4x8 \
pack_half_to_unorm565 patch_control_point plus primitive_type quad_active_threads_mask quad_and quad_ballot \
quad_broadcast quad_broadcast_first quad_is_first quad_is_helper_thread quad_max quad_min quad_or \
quad_prefix_exclusive_product quad_prefix_exclusive_sum quad_prefix_inclusive_product quad_prefix_inclusive_sum \
quad_product quad_shuffle_and_fill_down quad_shuffle_and_fill_up quad_shuffle_down quad_shuffle_rotate_down \
quad_shuffle_rotate_up quad_shuffle_up quad_sum quad_xor r16snorm r16unorm r8snorm r8unorm r_address \
rasterization_rate_map_data rasterization_rate_map_decoder reduction render_command render_pipeline_state rg11b10f \
rg16snorm rg16unorm rg8snorm rg8unorm rgb10a2 rgb9e5 rgba16snorm rgba16unorm rgba8snorm rgba8unorm round_indeterminate \
round_to_nearest round_toward_infinity round_toward_neg_infinity round_toward_zero s_address simd_active_threads_mask \
simd_broadcast simd_prefix_inclusive_product simd_prefix_inclusive_sum simd_shuffle_and_fill_down \
simd_shuffle_and_fill_up simd_shuffle_down simd_shuffle_rotate_down simd_shuffle_rotate_up simd_shuffle_up \
simd_shuffle_xor simdgroup_bfloat8x8 simdgroup_float8x8 simdgroup_half8x8 simdgroup_load simdgroup_matrix \
simdgroup_multiply simdgroup_multiply_accumulate simdgroup_store srgba8unorm t_address thread_scope_device \
thread_scope_simdgroup thread_scope_thread thread_scope_threadgroup topology true_type underlying_type \
underlying_type_t uniform unpack_snorm2x16_to_float unpack_snorm2x16_to_half unpack_snorm4x8_to_float \
unpack_snorm4x8_to_half unpack_unorm10a2_to_float unpack_unorm10a2_to_half unpack_unorm2x16_to_float \
unpack_unorm2x16_to_half unpack_unorm4x8_srgb_to_float unpack_unorm4x8_srgb_to_half unpack_unorm4x8_to_float \
unpack_unorm4x8_to_half unpack_unorm565_to_float unpack_unorm565_to_half vec_elements visible_function_table winding";

static KEYWORD_SET: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| KEYWORDS.split_whitespace().chain(MACROS.split_whitespace()).collect());
static LIBRARY_SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| LIBRARY.split_whitespace().collect());
static FUNCTION_SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| FUNCTIONS.split_whitespace().collect());

/// Whether `text` is a numeric type's name: `float3`, `packed_uint2`, `half4x4`.
fn is_numeric_type(text: &str) -> bool {
    let text = text.strip_prefix("packed_").unwrap_or(text);
    const SCALARS: [&str; 16] = [
        "float", "half", "bool", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong", "bfloat",
        "double", "llong", "ullong", "quad",
    ];
    SCALARS.iter().any(|base| {
        let Some(rest) = text.strip_prefix(base) else { return false };
        matches!(rest.as_bytes(), [] | [b'2'..=b'4' | b'8'] | b"16" | [b'2'..=b'4', b'x', b'2'..=b'4'])
    })
}

/// Whether Metal reserves `text`.
pub(crate) fn is_keyword(text: &str) -> bool {
    KEYWORD_SET.contains(text) || text.starts_with("METAL_") || is_numeric_type(text)
}

/// The name an entry point has in the Metal text: its HLSL name, with `0` appended when Metal reserves it.
pub(crate) fn entry_function_name(name: &str) -> String {
    let mut text = clean(name);
    if is_keyword(&text) || text == "main" {
        text.push('0');
    }
    text
}

/// `name` with characters that C++ does not know replaced. Names that begin with an underscore and a capital letter or
/// hold two underscores are the compiler's in C++.
fn clean(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 1);
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(c),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'v');
    }
    if out.starts_with('_') && !out[1..].starts_with(|c: char| c.is_ascii_lowercase()) {
        out.insert(0, 'v');
    }
    if out.is_empty() {
        out.push('v');
    }
    out
}

/// The names of one scope. Names of the file are fixed before those of functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    taken: FxHashMap<String, u32>,
}

/// The names of one function, which must differ from the file's too.
pub(crate) struct Inner<'a> {
    pub outer: &'a Scope,
    pub own: &'a mut Scope,
}

impl Inner<'_> {
    /// A name for a variable like `wanted`, which may be a type's: `Camera` becomes `camera` then.
    pub(crate) fn variable(&mut self, wanted: &str) -> String {
        let name = clean(wanted);
        let taken = |name: &str| self.outer.contains(name) || self.own.contains(name);
        if taken(&name) && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let lower = name[..1].to_ascii_lowercase() + &name[1..];
            if !taken(&lower) {
                return self.unique(&lower);
            }
        }
        self.unique(&name)
    }

    fn unique(&mut self, wanted: &str) -> String {
        loop {
            let name = self.own.unique(wanted);
            if !self.outer.contains(&name) {
                return name;
            }
        }
    }
}

impl Scope {
    /// Takes a name as it is.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.entry(name.to_owned()).or_insert(0);
    }

    /// Frees a name that nothing has.
    pub(crate) fn release(&mut self, name: &str) {
        self.taken.remove(name);
    }

    /// A name like `wanted` that is free, which it no longer is.
    pub(crate) fn unique(&mut self, wanted: &str) -> String {
        let mut name = clean(wanted);
        if is_keyword(&name) || FUNCTION_SET.contains(name.as_str()) {
            name.push('_');
        }
        if !self.taken.contains_key(&name) {
            self.taken.insert(name.clone(), 0);
            return name;
        }
        let separator = if name.ends_with('_') { "" } else { "_" };
        loop {
            let count = self.taken.entry(name.clone()).or_insert(0);
            *count += 1;
            let candidate = format!("{name}{separator}{count}");
            if !self.taken.contains_key(&candidate) {
                self.taken.insert(candidate.clone(), 0);
                return candidate;
            }
        }
    }

    /// A name like `wanted` for a type, function or constant of the file.
    pub(crate) fn unique_in_file(&mut self, wanted: &str) -> String {
        match LIBRARY_SET.contains(clean(wanted).as_str()) {
            true => self.unique(&format!("{wanted}_")),
            false => self.unique(wanted),
        }
    }

    /// A name like `wanted` for a member of a structure, free among the others.
    pub(crate) fn member(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut count = 0;
        while self.taken.contains_key(&name) {
            count += 1;
            name = format!("{wanted}_{count}");
        }
        self.taken.insert(name.clone(), 0);
        name
    }

    /// Whether a name is taken.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }
}

/// `name` as the name of a member of a structure, where only keywords are in the way.
pub(crate) fn member(name: &str) -> String {
    let mut text = clean(name);
    if is_keyword(&text) {
        text.push('_');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_points_keep_their_names_but_for_reserved_words() {
        assert_eq!(entry_function_name("main"), "main0");
        assert_eq!(entry_function_name("fragment"), "fragment0");
        assert_eq!(entry_function_name("half3"), "half30");
        assert_eq!(entry_function_name("PSMain"), "PSMain");
        assert_eq!(entry_function_name("saturate"), "saturate");
    }

    #[test]
    fn names_are_escaped_and_unique() {
        let mut scope = Scope::default();
        let mut own = Scope::default();
        scope.reserve("Camera");
        let mut inner = Inner { outer: &scope, own: &mut own };
        assert_eq!(inner.variable("Camera"), "camera");
        assert_eq!(inner.variable("Camera"), "Camera_1");
        assert_eq!(scope.unique("step"), "step_");
        assert_eq!(scope.unique("step"), "step_1");
        assert_eq!(scope.unique("complex"), "complex_");
        assert_eq!(scope.unique("HALF_EPSILON"), "HALF_EPSILON_");
        assert_eq!(scope.unique("winding"), "winding");
        assert_eq!(scope.unique_in_file("winding"), "winding_");
        assert_eq!(scope.unique_in_file("hermite"), "hermite_");
        assert_eq!(scope.unique("x"), "x");
        assert_eq!(scope.unique("x"), "x_1");
        assert_eq!(scope.unique("x_1"), "x_1_1");
        assert_eq!(scope.unique("a.b[0]"), "a_b_0_");
        assert_eq!(scope.unique("__x"), "_x");
        assert_eq!(scope.unique("_X"), "v_X");
        assert_eq!(scope.unique(""), "v");
    }

    #[test]
    fn numeric_types_are_reserved() {
        for name in ["float", "float3", "half4x4", "packed_uint3", "ulong2", "bool4", "float8", "half16", "double3"] {
            assert!(is_keyword(name), "{name}");
        }
        for name in ["float5", "float3x5", "floats", "int_2", "half_vector"] {
            assert!(!is_keyword(name), "{name}");
        }
    }
}
