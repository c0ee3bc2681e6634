// MSL 2.11, 6.13: imageblocks.
#pragma once
namespace metal {
struct imageblock_layout_explicit {};
struct imageblock_layout_implicit {};
enum class imageblock_data_rate { color, sample };
template<typename T, typename L = imageblock_layout_explicit> struct imageblock {
  ushort get_width() const;
  ushort get_height() const;
  ushort get_num_samples() const;
  ushort get_num_colors(ushort2) const;
  ushort get_color_coverage_mask(ushort2, ushort) const;
  threadgroup_imageblock T* data(ushort2) const;
  T read(ushort2) const;
  void write(T, ushort2) const;
};
} // namespace metal
