//! Functions of our own that the text may need: HLSL's operations where Metal has no function or leaves cases undefined.
//! Each is written into the text only when it is called.

use std::collections::BTreeSet;

macro_rules! helpers {
    ($($(#[doc = $doc:literal])* $id:ident = $name:literal, [$($need:ident),*], $text:expr;)*) => {
        /// A function of our own.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(crate) enum Helper {
            $($(#[doc = $doc])* $id,)*
        }

        impl Helper {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Name in the text.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            const fn text(self) -> &'static str {
                match self { $(Self::$id => $text,)* }
            }

            const fn needs(self) -> &'static [Self] {
                match self { $(Self::$id => &[$(Self::$need),*],)* }
            }
        }
    };
}

/// Unsigned `a op b`, all ones where `b` is 0.
macro_rules! divided {
    ($name:literal, $op:literal) => {
        concat!(
            "template <typename T>\ninline T ",
            $name,
            "(T a, T b)\n{\n    const auto zero = b == T(0);\n    return select(T(a ",
            $op,
            " select(b, T(1), zero)), T(~0ul), zero);\n}\n"
        )
    };
}

/// Signed `a op b`, with 1 for `b` where that is undefined.
macro_rules! divided_signed {
    ($name:literal, $op:literal, $least:literal) => {
        concat!(
            "template <typename T>\ninline T ",
            $name,
            "(T a, T b)\n{\n    const auto undefined = (b == T(0)) || (a == T(",
            $least,
            ") && b == T(-1));\n    return T(a ",
            $op,
            " select(b, T(1), undefined));\n}\n"
        )
    };
}

/// `op` over the lanes of a partition before this one, from `first` on.
macro_rules! multi_prefix {
    ($name:literal, $first:literal, $op:literal) => {
        concat!(
            "template <typename T>\ninline T ",
            $name,
            "(T x, uint4 partition, uint lane)
{
    const ulong members = ulong(partition.x) | (ulong(partition.y) << 32);
    T result = ",
            $first,
            ";
    for (ulong rest = ulong(simd_vote::vote_t(simd_active_threads_mask())); rest != 0ul; rest &= rest - 1ul) {
        const uint other = uint(ctz(rest));
        const T value = simd_shuffle(x, ushort(other));
        if (other < lane && ((members >> other) & 1ul) != 0ul) {
            result = result ",
            $op,
            " value;
        }
    }
    return result;
}
"
        )
    };
}

/// 64-bit integers of the active lanes put together: `first`, then `next` for each.
macro_rules! over_lanes {
    ($name:literal, $params:literal, $first:literal, $next:literal) => {
        concat!(
            "template <typename T>\ninline T ",
            $name,
            "(T x",
            $params,
            ")
{
    T result = ",
            $first,
            ";
    for (ulong rest = ulong(simd_vote::vote_t(simd_active_threads_mask())); rest != 0ul; rest &= rest - 1ul) {
        const T other = as_type<T>(simd_shuffle(as_type<uint2>(x), ushort(ctz(rest))));
        result = ",
            $next,
            ";
    }
    return result;
}
"
        )
    };
}

helpers! {
    /// An entry of a table of handles.
    Descriptor = "Descriptor", [], "\
template <typename T>
struct Descriptor {
    T value;
};
";
    /// Makes an invocation's writes visible to its reads, of a texture that is an element of an array.
    TextureFence = "texture_fence", [], "\
template <typename T>
inline void texture_fence(T texture)
{
    texture.fence();
}
";
    /// An array without a structure around it, which a ray query must not be a member of.
    PlainArray = "plain_array", [], "\
template <typename T, size_t N>
using plain_array = T[N];
";
    /// Unsigned division: by zero gives all ones.
    UDiv = "divide", [], divided!("divide", "/");
    /// Unsigned remainder: by zero gives all ones.
    UMod = "remainder", [], divided!("remainder", "%");
    /// Signed division: defined for zero and for the least number by -1, which wraps.
    IDiv = "divide_signed", [], divided_signed!("divide_signed", "/", "-2147483647 - 1");
    /// Signed remainder likewise.
    IMod = "remainder_signed", [], divided_signed!("remainder_signed", "%", "-2147483647 - 1");
    /// Signed division of 64 bits.
    LDiv = "divide_long", [], divided_signed!("divide_long", "/", "-9223372036854775807l - 1l");
    /// A status and texels, from what a sparse function gives (MSL specification 6.12).
    Sparse = "sparse_texel", [], "\
template <typename S, typename T>
inline S sparse_texel(sparse_color<T> color)
{
    return S{uint(color.resident()), color.value()};
}
";
    /// The same of a depth texture, which has one component.
    SparseDepth = "sparse_depth", [], "\
template <typename S, typename T>
inline S sparse_depth(sparse_color<T> color)
{
    return S{uint(color.resident()), vec<T, 4>(color.value(), T(0), T(0), T(1))};
}
";
    /// Signed remainder of 64 bits.
    LMod = "remainder_long", [], divided_signed!("remainder_long", "%", "-9223372036854775807l - 1l");
    /// Float to int: saturates, NaN gives 0.
    ToInt = "to_int", [], "\
template <typename I, typename F>
inline I to_int(F x)
{
    const I inside = I(clamp(x, F(-2147483648.0f), F(2147483520.0f)));
    return select(select(inside, I(2147483647), x >= F(2147483648.0f)), I(0), isnan(x));
}
";
    /// Float to uint: saturates, NaN gives 0.
    ToUint = "to_uint", [], "\
template <typename U, typename F>
inline U to_uint(F x)
{
    const U inside = U(clamp(x, F(0.0f), F(4294967040.0f)));
    return select(inside, U(4294967295u), x >= F(4294967296.0f));
}
";
    /// Float to long: saturates, NaN gives 0.
    ToLong = "to_long", [], "\
template <typename I, typename F>
inline I to_long(F x)
{
    const I inside = I(clamp(x, F(-9223372036854775808.0f), F(9223371487098961920.0f)));
    return select(select(inside, I(9223372036854775807l), x >= F(9223372036854775808.0f)), I(0), isnan(x));
}
";
    /// Float to ulong: saturates, NaN gives 0.
    ToUlong = "to_ulong", [], "\
template <typename U, typename F>
inline U to_ulong(F x)
{
    const U inside = U(clamp(x, F(0.0f), F(18446742974197923840.0f)));
    return select(inside, U(18446744073709551615ul), x >= F(18446744073709551616.0f));
}
";
    /// Float to short or ushort between two bounds; NaN gives 0.
    ToShort = "to_short", [], "\
template <typename I, typename F>
inline I to_short(F x, F low, F high)
{
    return select(I(clamp(x, low, high)), I(0), isnan(x));
}
";
    /// Fraction: of an infinity HLSL gives NaN, `fract` 0.
    Fraction = "fraction", [], "\
template <typename T>
inline T fraction(T x)
{
    return select(fract(x), T(NAN), isinf(x));
}
";
    /// Position of the highest one; all ones when there is none.
    FirstBitHigh = "first_bit_high", [], "\
template <typename T>
inline T first_bit_high(T x)
{
    return T(31u) - clz(x);
}
";
    /// The same for signed numbers: the highest bit that differs from the sign.
    FirstBitHighSigned = "first_bit_high_signed", [], "\
template <typename U, typename I>
inline U first_bit_high_signed(I x)
{
    return U(31u) - clz(U(select(x, ~x, x < I(0))));
}
";
    /// Position of the highest one of 64 bits.
    FirstBitHigh64 = "first_bit_high_64", [], "\
inline uint first_bit_high_64(ulong x)
{
    return 63u - uint(clz(x));
}
";
    /// Position of the lowest one; all ones when there is none.
    FirstBitLow = "first_bit_low", [], "\
template <typename T>
inline T first_bit_low(T x)
{
    return select(ctz(x), T(0xffffffffu), x == T(0u));
}
";
    /// Position of the lowest one of 64 bits.
    FirstBitLow64 = "first_bit_low_64", [], "\
inline uint first_bit_low_64(ulong x)
{
    return x == 0ul ? 0xffffffffu : uint(ctz(x));
}
";
    /// Mantissa of `frexp`.
    FrexpMantissa = "frexp_mantissa", [], "\
template <typename F, typename I>
inline F frexp_mantissa(F x, I exponent)
{
    return frexp(x, exponent);
}
";
    /// Exponent of `frexp`.
    FrexpExponent = "frexp_exponent", [], "\
template <typename I, typename F>
inline I frexp_exponent(F x)
{
    I exponent = I(0);
    frexp(x, exponent);
    return exponent;
}
";
    /// Compare-exchange that fails only when the values differ.
    CompareExchange = "compare_exchange", [], "\
template <typename A, typename T>
inline T compare_exchange(A object, T expected, T desired)
{
    T old = expected;
    while (!atomic_compare_exchange_weak_explicit(object, &old, desired, memory_order_relaxed, memory_order_relaxed)) {
        if (old != expected) {
            break;
        }
    }
    return old;
}
";
    /// The lanes where a condition holds, as HLSL's four words.
    Ballot = "wave_ballot", [], "\
inline uint4 wave_ballot(bool condition)
{
    const ulong votes = ulong(simd_vote::vote_t(simd_ballot(condition)));
    return uint4(uint(votes), uint(votes >> 32), 0u, 0u);
}
";
    /// Sum over the lanes of a partition before this one.
    MultiSum = "wave_multi_prefix_sum", [], multi_prefix!("wave_multi_prefix_sum", "T(0)", "+");
    /// Product likewise.
    MultiProduct = "wave_multi_prefix_product", [], multi_prefix!("wave_multi_prefix_product", "T(1)", "*");
    /// Bitwise and likewise.
    MultiAnd = "wave_multi_prefix_and", [], multi_prefix!("wave_multi_prefix_and", "T(~0u)", "&");
    /// Bitwise or likewise.
    MultiOr = "wave_multi_prefix_or", [], multi_prefix!("wave_multi_prefix_or", "T(0)", "|");
    /// Bitwise exclusive or likewise.
    MultiXor = "wave_multi_prefix_xor", [], multi_prefix!("wave_multi_prefix_xor", "T(0)", "^");
    /// The active lanes that hold the same value: the lanes of one value leave the loop together.
    Match = "wave_match", [Ballot], "\
template <typename T>
inline uint4 wave_match(T x)
{
    while (true) {
        const bool same = all(x == simd_broadcast_first(x));
        const uint4 lanes = wave_ballot(same);
        if (same) {
            return lanes;
        }
    }
}
";
    /// Derivatives over a quad of threads, as Direct3D defines the coarse ones: the first lane's with its neighbours.
    QuadDdx = "quad_ddx", [], "\
template <typename T>
inline T quad_ddx(T x)
{
    return quad_broadcast(x, ushort(1)) - quad_broadcast(x, ushort(0));
}
";
    /// Down the quad likewise.
    QuadDdy = "quad_ddy", [], "\
template <typename T>
inline T quad_ddy(T x)
{
    return quad_broadcast(x, ushort(2)) - quad_broadcast(x, ushort(0));
}
";
    /// The fine ones: of the lane's own row.
    QuadDdxFine = "quad_ddx_fine", [], "\
template <typename T>
inline T quad_ddx_fine(T x, uint lane)
{
    return quad_shuffle(x, ushort((lane & 2u) + 1u)) - quad_shuffle(x, ushort(lane & 2u));
}
";
    /// Of the lane's own column.
    QuadDdyFine = "quad_ddy_fine", [], "\
template <typename T>
inline T quad_ddy_fine(T x, uint lane)
{
    return quad_shuffle(x, ushort((lane & 1u) + 2u)) - quad_shuffle(x, ushort(lane & 1u));
}
";
    /// The sum of the magnitudes of both.
    QuadFwidth = "quad_fwidth", [QuadDdx, QuadDdy], "\
template <typename T>
inline T quad_fwidth(T x)
{
    return abs(quad_ddx(x)) + abs(quad_ddy(x));
}
";
    /// Level of detail of a texture of some size for the derivatives of a coordinate.
    LevelOfDetail = "level_of_detail", [], "\
template <typename T>
inline float level_of_detail(T dx, T dy, T size)
{
    return log2(max(length(dx * size), length(dy * size)));
}
";
    /// The same of a cube: the derivatives of the place on the face that the direction goes through.
    CubeLevelOfDetail = "cube_level_of_detail", [], "\
inline float cube_level_of_detail(float3 at, float3 dx, float3 dy, float size)
{
    const float3 way = abs(at);
    if (way.x >= max(way.y, way.z)) {
        at = at.yzx;
        dx = dx.yzx;
        dy = dy.yzx;
    } else if (way.y >= way.z) {
        at = at.zxy;
        dx = dx.zxy;
        dy = dy.zxy;
    }
    const float2 across = (dx.xy * at.z - at.xy * dx.z) / (at.z * at.z);
    const float2 down = (dy.xy * at.z - at.xy * dy.z) / (at.z * at.z);
    return log2(0.5f * size * max(length(across), length(down)));
}
";
    /// Place in the threadgroup of a lane of a quad, `size` quads standing in a row and in a column.
    PlaceInQuads = "place_in_quads", [], "\
inline uint3 place_in_quads(uint quad, uint lane, uint2 size)
{
    const uint2 corner = 2u * uint2(quad % size.x, quad / size.x % size.y);
    return uint3(corner + uint2(lane & 1u, lane >> 1u), quad / (size.x * size.y));
}
";
    /// Sum of 64-bit integers over the active lanes.
    WideSum = "wave_sum_wide", [], over_lanes!("wave_sum_wide", "", "T(0)", "result + other");
    /// Product likewise.
    WideProduct = "wave_product_wide", [], over_lanes!("wave_product_wide", "", "T(1)", "result * other");
    /// The least likewise.
    WideMin = "wave_min_wide", [], over_lanes!("wave_min_wide", "", "x", "min(result, other)");
    /// The greatest likewise.
    WideMax = "wave_max_wide", [], over_lanes!("wave_max_wide", "", "x", "max(result, other)");
    /// Sum over the active lanes before this one.
    WidePrefixSum = "wave_prefix_sum_wide", [], over_lanes!("wave_prefix_sum_wide", ", uint lane", "T(0)", "ctz(rest) < lane ? result + other : result");
    /// Product likewise.
    WidePrefixProduct = "wave_prefix_product_wide", [], over_lanes!("wave_prefix_product_wide", ", uint lane", "T(1)", "ctz(rest) < lane ? result * other : result");
    /// Product of matrices component by component.
    MatrixMultiply = "multiply_components", [], "\
template <typename T, int R, int C>
inline matrix<T, R, C> multiply_components(matrix<T, R, C> a, matrix<T, R, C> b)
{
    for (int i = 0; i < R; ++i) {
        a[i] *= b[i];
    }
    return a;
}
";
    /// What Metal is told of a search, from `RAY_FLAG` (DirectX Raytracing specification, "Ray flags").
    RayParameters = "ray_parameters", [], "\
inline raytracing::intersection_params ray_parameters(uint flags)
{
    raytracing::intersection_params parameters;
    if ((flags & 0x1u) != 0u) {
        parameters.force_opacity(raytracing::forced_opacity::opaque);
    }
    if ((flags & 0x2u) != 0u) {
        parameters.force_opacity(raytracing::forced_opacity::non_opaque);
    }
    if ((flags & 0x4u) != 0u) {
        parameters.accept_any_intersection(true);
    }
    if ((flags & 0x10u) != 0u) {
        parameters.set_triangle_cull_mode(raytracing::triangle_cull_mode::back);
    }
    if ((flags & 0x20u) != 0u) {
        parameters.set_triangle_cull_mode(raytracing::triangle_cull_mode::front);
    }
    if ((flags & 0x40u) != 0u) {
        parameters.set_opacity_cull_mode(raytracing::opacity_cull_mode::opaque);
    }
    if ((flags & 0x80u) != 0u) {
        parameters.set_opacity_cull_mode(raytracing::opacity_cull_mode::non_opaque);
    }
    if ((flags & 0x100u) != 0u) {
        parameters.set_geometry_cull_mode(raytracing::geometry_cull_mode::triangle);
    }
    if ((flags & 0x200u) != 0u) {
        parameters.set_geometry_cull_mode(raytracing::geometry_cull_mode::bounding_box);
    }
    return parameters;
}
";
    /// A query that knows its flags.
    RayQuery = "ray_query", [], "\
struct ray_query {
    raytracing::intersection_query<raytracing::instancing, raytracing::triangle_data> query;
    uint flags;
};
";
    /// Quotient of matrices component by component.
    MatrixDivide = "divide_components", [], "\
template <typename T, int R, int C>
inline matrix<T, R, C> divide_components(matrix<T, R, C> a, matrix<T, R, C> b)
{
    for (int i = 0; i < R; ++i) {
        a[i] /= b[i];
    }
    return a;
}
";
}

/// The helper functions one text needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runtime {
    used: BTreeSet<Helper>,
}

impl Runtime {
    pub(crate) fn need(&mut self, helper: Helper) {
        if self.used.insert(helper) {
            helper.needs().iter().for_each(|&h| self.need(h));
        }
    }

    /// Appends the functions, in the order of the table.
    pub(crate) fn write(&self, out: &mut String) {
        for helper in &self.used {
            out.push_str(helper.text());
            out.push('\n');
        }
    }
}
