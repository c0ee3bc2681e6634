// MSL 6.11: graphics functions; MSL 6.12: pull-model interpolation; MSL 2.18: interpolants; MSL 5.1.4: tessellation.
#pragma once
namespace metal {
METAL_FUNC void discard_fragment() {}
METAL_FUNC float2 get_sample_position(uint) { return float2(0.5f); }
METAL_FUNC uint get_num_samples() { return 1; }
namespace interpolation { struct perspective {}; struct no_perspective {}; }
template<typename T, class P> struct interpolant {
  static_assert(__msl::is_flt<typename __msl::shape<T>::e>::v && (__msl::same<P, interpolation::perspective>::v || __msl::same<P, interpolation::no_perspective>::v), "invalid interpolant type");
  T interpolate_at_center() const;
  T interpolate_at_centroid() const;
  T interpolate_at_offset(float2 offset) const;
  T interpolate_at_sample(uint sample) const;
};
template<typename T> struct patch_control_point {
  size_t size() const;
  T operator[](size_t) const;
};
struct MTLQuadTessellationFactorsHalf { half edgeTessellationFactor[4]; half insideTessellationFactor[2]; };
struct MTLTriangleTessellationFactorsHalf { half edgeTessellationFactor[3]; half insideTessellationFactor; };
} // namespace metal
using metal::MTLQuadTessellationFactorsHalf;
using metal::MTLTriangleTessellationFactorsHalf;
