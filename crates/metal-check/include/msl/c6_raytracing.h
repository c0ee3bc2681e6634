// MSL 2.17, 6.18: ray tracing; MSL 2.16: function tables. Declared only.
#pragma once
namespace metal {
template<typename F> struct visible_function_table;
template<typename R, typename... A> struct visible_function_table<R(A...)> {
  struct function { R operator()(A...) const; };
  ulong __h = 0;
  uint size() const;
  bool empty() const;
  function operator[](size_t) const;
};
namespace raytracing {
struct instancing; struct triangle_data; struct world_space_data; struct primitive_motion; struct instance_motion; struct extended_limits;
#if __METAL_VERSION__ >= 310
struct curve_data;
template<uint N> struct max_levels;
#endif
enum class intersection_type { none, triangle, bounding_box, curve };
enum class geometry_type { none, triangle, bounding_box, curve, all };
enum class geometry_cull_mode { none, triangle, bounding_box, curve };
enum class forced_opacity { none, opaque, non_opaque };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class triangle_cull_mode { none, front, back };
enum class winding { clockwise, counterclockwise };
struct ray {
  packed_float3 origin; float min_distance; packed_float3 direction; float max_distance;
  ray(float3 o = float3(0.0f), float3 d = float3(0.0f), float lo = 0.0f, float hi = __builtin_inff())
      : origin(o), min_distance(lo), direction(d), max_distance(hi) {}
};
template<typename... Tags> struct acceleration_structure { ulong __h = 0; };
template<typename... Tags> METAL_FUNC bool is_null_acceleration_structure(acceleration_structure<Tags...> a) { return a.__h == 0; }
typedef acceleration_structure<> primitive_acceleration_structure;
typedef acceleration_structure<instancing> instance_acceleration_structure;
template<typename... Tags> struct intersection_function_table { ulong __h = 0; uint size() const; };
struct intersection_params {
  void set_triangle_front_facing_winding(winding);
  void set_triangle_cull_mode(triangle_cull_mode);
  void set_geometry_cull_mode(geometry_cull_mode);
  void set_opacity_cull_mode(opacity_cull_mode);
  void force_opacity(forced_opacity);
  void assume_geometry_type(geometry_type);
  void assume_identity_transforms(bool);
  void accept_any_intersection(bool);
};
template<typename... Tags> struct intersection_result {
  intersection_type type; float distance; uint primitive_id; uint geometry_id; uint instance_id; uint user_instance_id;
  float2 triangle_barycentric_coord; bool triangle_front_facing; float4x3 world_to_object_transform, object_to_world_transform;
  const device void* primitive_data;
};
template<typename... Tags> struct intersector : intersection_params {
  typedef intersection_result<Tags...> result_type;
  template<typename... A> result_type intersect(ray, A...) const;
};
template<typename... Tags> struct intersection_query {
  intersection_query() = default;
  template<typename... A> explicit intersection_query(ray, A...);
  template<typename... A> void reset(ray, A...);
  bool next();
  void abort();
  intersection_type get_candidate_intersection_type() const;
  intersection_type get_committed_intersection_type() const;
  void commit_triangle_intersection();
  void commit_bounding_box_intersection(float distance);
  bool is_candidate_non_opaque_bounding_box() const;
  bool is_candidate_triangle_front_facing() const;
  bool is_committed_triangle_front_facing() const;
  float get_ray_min_distance() const;
  float3 get_world_space_ray_origin() const;
  float3 get_world_space_ray_direction() const;
  float get_candidate_triangle_distance() const;
  float get_committed_distance() const;
#define OF_HIT(type, name) type get_candidate_##name() const; type get_committed_##name() const;
  OF_HIT(uint, primitive_id) OF_HIT(uint, geometry_id) OF_HIT(uint, instance_id) OF_HIT(uint, user_instance_id)
  OF_HIT(float2, triangle_barycentric_coord) OF_HIT(float3, ray_origin)
  OF_HIT(float3, ray_direction) OF_HIT(float4x3, object_to_world_transform) OF_HIT(float4x3, world_to_object_transform)
#undef OF_HIT
};
} // namespace raytracing
} // namespace metal
