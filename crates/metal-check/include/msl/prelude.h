// Metal's words (MSL chapters 1 and 4) on top of clang's "C++ for OpenCL". Included before the text that is checked.
#pragma once
#if !defined(__OPENCL_CPP_VERSION__)
#error "these headers need clang -x clcpp -cl-std=clc++2021"
#endif
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#undef __OPENCL_C_VERSION__
#undef __OPENCL_CPP_VERSION__
#define __METAL__ 1
#if __METAL_VERSION__ >= 310
#define __HAVE_BFLOAT__ 1
#endif

// Words of OpenCL that are ordinary identifiers in Metal. `private` is also an access specifier, so it stays.
#define global       msl_id_global
#define local        msl_id_local
#define generic      msl_id_generic
#define pipe         msl_id_pipe
#define uniform      msl_id_uniform
#define read_only    msl_id_read_only
#define read_write   msl_id_read_write
#define write_only   msl_id_write_only
#define image1d_t    msl_id_image1d_t
#define image2d_t    msl_id_image2d_t
#define image3d_t    msl_id_image3d_t
#define sampler_t    msl_id_sampler_t
#define event_t      msl_id_event_t
#define queue_t      msl_id_queue_t
#define atomic_int   msl_id_atomic_int
#define atomic_uint  msl_id_atomic_uint
#define atomic_long  msl_id_atomic_long
#define atomic_ulong msl_id_atomic_ulong
#define atomic_float msl_id_atomic_float
#define atomic_double msl_id_atomic_double
#define atomic_half  msl_id_atomic_half
#define atomic_flag  msl_id_atomic_flag
#define memory_order msl_id_memory_order
#define memory_scope msl_id_memory_scope

// Address spaces (MSL chapter 4). `this` and implicit copies are generic here; every space but __constant converts to
// generic and to nothing else, so `constant` is a const __global, and `device` a target space. It is target space 0 so
// that the executor's bounds checks see the accesses.
#define device      __attribute__((address_space(0)))
#define constant    const __global
#define thread      __private
#define threadgroup __local
#define object_data __local
#define ray_data    __private
#define threadgroup_imageblock __local

// Function qualifiers (MSL 5.1).
#define kernel      __kernel
#define vertex
#define fragment
#define METAL_FUNC  inline __attribute__((always_inline))
#define METAL_CONST_ARG(x)
#define METAL_VALID_ARGS(...)
#define METAL_ENABLE_IF(...)
#if __METAL_VERSION__ >= 320
#define coherent
#endif

// Scalar types (MSL 2.1).
typedef unsigned char  uchar;
typedef unsigned short ushort;
typedef unsigned int   uint;
typedef unsigned long  ulong;
typedef __SIZE_TYPE__    size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__  intptr_t;
typedef char   int8_t;
typedef uchar  uint8_t;
typedef short  int16_t;
typedef ushort uint16_t;
typedef int    int32_t;
typedef uint   uint32_t;
typedef long   int64_t;
typedef ulong  uint64_t;
#if __METAL_VERSION__ >= 310
typedef __bf16 bfloat;
#endif
