// MSL 6.19: logging (Metal 3.2). Format strings are __constant in this mode.
#pragma once
#ifndef assert
#define assert(x) ((void)0)
#endif
#if __METAL_VERSION__ >= 320
namespace metal {
struct os_log {
  constexpr os_log() = default;
  constexpr os_log(__constant const char*, __constant const char*) {}
#define LEVEL(name) template<class... A> void name(__constant const char*, A...) const {}
  LEVEL(log) LEVEL(log_debug) LEVEL(log_info) LEVEL(log_error) LEVEL(log_fault)
#undef LEVEL
};
constant os_log os_log_default = {};
} // namespace metal
#endif
