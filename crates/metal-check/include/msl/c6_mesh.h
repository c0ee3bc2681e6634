// MSL 2.20, 6.14: meshes (Metal 3.0).
#pragma once
#if __METAL_VERSION__ >= 300
namespace metal {
enum class topology { point, line, triangle };
namespace __msl {
struct mesh_base {
  void set_index(uint, uchar) const;
  void set_indices(uint, uchar4) const;
  void set_indices(uint, uchar2) const;
  void set_primitive_count(uint) const;
};
} // namespace __msl
template<class V, class P, uint NV, uint NP, topology T> struct mesh : __msl::mesh_base {
  void set_vertex(uint, V) const;
  void set_primitive(uint, P) const;
};
template<class V, uint NV, uint NP, topology T> struct mesh<V, void, NV, NP, T> : __msl::mesh_base {
  void set_vertex(uint, V) const;
};
struct mesh_grid_properties { void set_threadgroups_per_grid(uint3) const; };
} // namespace metal
#endif
