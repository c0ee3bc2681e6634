/* How a fill in C encodes, for the three systems behind the same agreement. Define one before including this:
 *
 *   RIG_ENCODE_SOFT   the soft device: the queue's word holds a struct rig_soft_encoder
 *   RIG_ENCODE_OBJC   an Objective-C runtime: the word holds an id<MTLComputeCommandEncoder>. On Apple systems through
 *                     objc_msgSend; elsewhere through the message lookup of GCC's libobjc
 *
 * Nothing here is part of the agreement (rig_metal_abi.h); it only spells Metal's messages for C.
 */
#ifndef RIG_METAL_ENCODE_H
#define RIG_METAL_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* A size in threads or threadgroups: MTLSize. */
typedef struct rig_size {
  uintptr_t x, y, z;
} rig_size;

#if defined(RIG_ENCODE_SOFT)

/* The soft device's encoder: a table of functions, so that a fill links nothing. Handles are those of buffers,
 * pipelines, indirect command buffers and their commands. */
typedef struct rig_soft_encoder rig_soft_encoder;
struct rig_soft_operations {
  void (*set_pipeline)(rig_soft_encoder *, void *pipeline);
  void (*set_buffer)(rig_soft_encoder *, void *buffer, uint64_t offset, uint32_t index);
  void (*set_threadgroup_memory)(rig_soft_encoder *, uint64_t bytes, uint32_t index);
  void (*dispatch)(rig_soft_encoder *, rig_size groups, rig_size threads);
  void (*execute)(rig_soft_encoder *, void *icb, uint64_t first, uint64_t count);
  void (*set_command)(rig_soft_encoder *, void *command, rig_size groups, rig_size threads);
};
struct rig_soft_encoder {
  const struct rig_soft_operations *operations;
};

static inline rig_soft_encoder *rig_encoder_(void *queue) { return *(rig_soft_encoder **)queue; }
static inline void rig_set_pipeline(void *queue, void *pipeline) {
  rig_encoder_(queue)->operations->set_pipeline(rig_encoder_(queue), pipeline);
}
static inline void rig_set_buffer(void *queue, void *buffer, uint64_t offset, uint32_t index) {
  rig_encoder_(queue)->operations->set_buffer(rig_encoder_(queue), buffer, offset, index);
}
static inline void rig_set_threadgroup_memory(void *queue, uint64_t bytes, uint32_t index) {
  rig_encoder_(queue)->operations->set_threadgroup_memory(rig_encoder_(queue), bytes, index);
}
static inline void rig_dispatch(void *queue, rig_size groups, rig_size threads) {
  rig_encoder_(queue)->operations->dispatch(rig_encoder_(queue), groups, threads);
}
static inline void rig_execute(void *queue, void *icb, uint64_t first, uint64_t count) {
  rig_encoder_(queue)->operations->execute(rig_encoder_(queue), icb, first, count);
}
static inline void rig_set_command(void *queue, void *command, rig_size groups, rig_size threads) {
  rig_encoder_(queue)->operations->set_command(rig_encoder_(queue), command, groups, threads);
}

#elif defined(RIG_ENCODE_OBJC)

/* NSRange. */
typedef struct rig_range_ {
  uintptr_t location, length;
} rig_range_;

#if defined(__APPLE__)
#include <objc/message.h>
#include <objc/runtime.h>
#define RIG_SELECTOR_(name) sel_registerName(name)
#define RIG_METHOD_(object, selector) ((void)(object), (void)(selector), (void (*)(void))objc_msgSend)
#else
#include <objc/message.h>
#include <objc/runtime.h>
#define RIG_SELECTOR_(name) sel_registerName(name)
#define RIG_METHOD_(object, selector) ((void (*)(void))objc_msg_lookup(object, selector))
#endif

static inline id rig_encoder_(void *queue) { return *(id *)queue; }
static inline void rig_set_pipeline(void *queue, void *pipeline) {
  id e = rig_encoder_(queue);
  SEL s = RIG_SELECTOR_("setComputePipelineState:");
  ((void (*)(id, SEL, id))RIG_METHOD_(e, s))(e, s, (id)pipeline);
}
static inline void rig_set_buffer(void *queue, void *buffer, uint64_t offset, uint32_t index) {
  id e = rig_encoder_(queue);
  SEL s = RIG_SELECTOR_("setBuffer:offset:atIndex:");
  ((void (*)(id, SEL, id, uintptr_t, uintptr_t))RIG_METHOD_(e, s))(e, s, (id)buffer, (uintptr_t)offset, index);
}
static inline void rig_set_threadgroup_memory(void *queue, uint64_t bytes, uint32_t index) {
  id e = rig_encoder_(queue);
  SEL s = RIG_SELECTOR_("setThreadgroupMemoryLength:atIndex:");
  ((void (*)(id, SEL, uintptr_t, uintptr_t))RIG_METHOD_(e, s))(e, s, (uintptr_t)bytes, index);
}
static inline void rig_dispatch(void *queue, rig_size groups, rig_size threads) {
  id e = rig_encoder_(queue);
  SEL s = RIG_SELECTOR_("dispatchThreadgroups:threadsPerThreadgroup:");
  ((void (*)(id, SEL, rig_size, rig_size))RIG_METHOD_(e, s))(e, s, groups, threads);
}
static inline void rig_execute(void *queue, void *icb, uint64_t first, uint64_t count) {
  id e = rig_encoder_(queue);
  SEL s = RIG_SELECTOR_("executeCommandsInBuffer:withRange:");
  rig_range_ range = {(uintptr_t)first, (uintptr_t)count};
  ((void (*)(id, SEL, id, rig_range_))RIG_METHOD_(e, s))(e, s, (id)icb, range);
}
static inline void rig_set_command(void *queue, void *command, rig_size groups, rig_size threads) {
  SEL s = RIG_SELECTOR_("concurrentDispatchThreadgroups:threadsPerThreadgroup:");
  (void)queue;
  ((void (*)(id, SEL, rig_size, rig_size))RIG_METHOD_((id)command, s))((id)command, s, groups, threads);
}

#else
#error "define RIG_ENCODE_SOFT or RIG_ENCODE_OBJC"
#endif

#endif
