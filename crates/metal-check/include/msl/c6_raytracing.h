// MSL 2.17, 6.18: ray tracing; MSL 2.16: function tables. Declared only. What a tag brings is there with the tag alone, and
// a query is no value: it cannot be copied.
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
enum class winding { clockwise, counterclockwise };
namespace raytracing {
struct instancing; struct triangle_data; struct world_space_data; struct primitive_motion; struct instance_motion; struct extended_limits;
#if __METAL_VERSION__ >= 310
struct curve_data;
template<uint N> struct max_levels;
#endif
namespace __rt {
template<typename T, typename U> struct same { static constexpr bool value = false; };
template<typename T> struct same<T, T> { static constexpr bool value = true; };
template<typename T, typename... Tags> struct has { static constexpr bool value = false; };
template<typename T, typename U, typename... Tags> struct has<T, U, Tags...> {
  static constexpr bool value = same<T, U>::value || has<T, Tags...>::value;
};
template<typename T> struct tag { static constexpr bool value = false; };
template<> struct tag<instancing> { static constexpr bool value = true; };
template<> struct tag<triangle_data> { static constexpr bool value = true; };
template<> struct tag<world_space_data> { static constexpr bool value = true; };
template<> struct tag<primitive_motion> { static constexpr bool value = true; };
template<> struct tag<instance_motion> { static constexpr bool value = true; };
template<> struct tag<extended_limits> { static constexpr bool value = true; };
#if __METAL_VERSION__ >= 310
template<> struct tag<curve_data> { static constexpr bool value = true; };
template<uint N> struct tag<max_levels<N>> { static constexpr bool value = true; };
#endif
template<typename... Tags> struct tags { static constexpr bool value = true; };
template<typename T, typename... Tags> struct tags<T, Tags...> { static constexpr bool value = tag<T>::value && tags<Tags...>::value; };
} // namespace __rt
#if __METAL_VERSION__ >= 310
#if __METAL_VERSION__ >= 310
enum class intersection_type { none, triangle, bounding_box, curve };
enum class geometry_type { none, triangle, bounding_box, curve, all };
enum class geometry_cull_mode { none, triangle, bounding_box, curve };
#else
enum class intersection_type { none, triangle, bounding_box };
enum class geometry_type { none, triangle, bounding_box, all };
enum class geometry_cull_mode { none, triangle, bounding_box };
#endif
#else
enum class intersection_type { none, triangle, bounding_box };
enum class geometry_type { none, triangle, bounding_box, all };
enum class geometry_cull_mode { none, triangle, bounding_box };
#endif
enum class forced_opacity { none, opaque, non_opaque };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class triangle_cull_mode { none, front, back };
struct ray {
  packed_float3 origin; float min_distance; packed_float3 direction; float max_distance;
  ray(float3 o = float3(0.0f), float3 d = float3(0.0f), float lo = 0.0f, float hi = __builtin_inff())
      : origin(o), min_distance(lo), direction(d), max_distance(hi) {}
};
template<typename... Tags> struct acceleration_structure {
  static_assert(__rt::tags<Tags...>::value, "no tag of acceleration structures");
  ulong __h = 0;
};
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
namespace __rt {
#define OF_HIT(type, name) type get_candidate_##name() const; type get_committed_##name() const;
// Without instances: the structure alone.
template<bool Instances> struct query_of {
  template<typename... A> void reset(ray, acceleration_structure<A...>, intersection_params = intersection_params()) {
    static_assert(!has<instancing, A...>::value, "a query without instancing searches a primitive acceleration structure");
  }
};
template<> struct query_of<true> {
  template<typename... A> void reset(ray, acceleration_structure<A...>, intersection_params) { check<A...>(); }
  template<typename... A>
  void reset(ray, acceleration_structure<A...>, uint = ~0u, intersection_params = intersection_params()) { check<A...>(); }
  OF_HIT(uint, instance_id) OF_HIT(uint, user_instance_id)
  OF_HIT(float4x3, object_to_world_transform) OF_HIT(float4x3, world_to_object_transform)
 private:
  template<typename... A> static void check() {
    static_assert(has<instancing, A...>::value, "a query with instancing searches an instance acceleration structure");
  }
};
template<bool Triangles> struct query_triangles {};
template<> struct query_triangles<true> {
  OF_HIT(float2, triangle_barycentric_coord)
  bool is_candidate_triangle_front_facing() const;
  bool is_committed_triangle_front_facing() const;
};
} // namespace __rt
template<typename... Tags> struct intersection_query
    : __rt::query_of<__rt::has<instancing, Tags...>::value>, __rt::query_triangles<__rt::has<triangle_data, Tags...>::value> {
  static_assert(__rt::tags<Tags...>::value, "no tag of intersection queries");
  intersection_query() = default;
  template<typename... A, typename... Rest>
  explicit intersection_query(ray r, acceleration_structure<A...> a, Rest... rest) { this->reset(r, a, rest...); }
  intersection_query(const thread intersection_query&) = delete;
  void operator=(const thread intersection_query&) = delete;
  bool next();
  void abort();
  intersection_type get_candidate_intersection_type() const;
  intersection_type get_committed_intersection_type() const;
  void commit_triangle_intersection();
  void commit_bounding_box_intersection(float distance);
  bool is_candidate_non_opaque_bounding_box() const;
  float get_ray_min_distance() const;
  float3 get_world_space_ray_origin() const;
  float3 get_world_space_ray_direction() const;
  float get_candidate_triangle_distance() const;
  float get_committed_distance() const;
  intersection_params get_intersection_params() const;
  OF_HIT(uint, primitive_id) OF_HIT(uint, geometry_id) OF_HIT(float3, ray_origin) OF_HIT(float3, ray_direction)
#if __METAL_VERSION__ >= 300
  OF_HIT(const device void*, primitive_data)
#endif
#if __METAL_VERSION__ >= 310
  void commit_curve_intersection();
#endif
};
#undef OF_HIT
} // namespace raytracing
} // namespace metal
