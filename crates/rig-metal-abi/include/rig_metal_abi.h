/* What compiled code needs from a Metal device: the agreement between a Metal driver and compiled code, for C.
 *
 * The crate rig-metal-abi says the same to Rust and is the fuller text; a test compares the two.
 */
#ifndef RIG_METAL_ABI_H
#define RIG_METAL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fill: encodes work for the device's queue.
 *
 * queue  points to a word that holds the open compute command encoder, an id<MTLComputeCommandEncoder>. Valid only
 *        during the call. After a split the word holds the new encoder: read it again.
 * arg    is the argument the work was given.
 * v      is the value the work completes on the device's timeline.
 *
 * The encoder is serial, runs after the device's earlier work with every allocation of the device resident, and may
 * hold commands of earlier work: set all state your commands read. Encode into it only; do not end it, make no other
 * encoder or command buffer, order and signal nothing. Stop at the first split that fails and return its failure;
 * return 0 otherwise. A failure loses the device.
 */
typedef int rig_metal_fill(void *queue, void *arg, uint64_t v);

/* Ends the open command buffer of a fill and starts a new one, whose encoder it stores at queue. Waits while the
 * device's queue is full.
 *
 * Unless NULL, *start and *end get the times at which the committed command buffer (commands of earlier work in it
 * included) started and ended on the GPU, in nanoseconds of the host's clock (CLOCK_UPTIME_RAW on Apple systems, the
 * monotonic clock elsewhere), before v is reached; they must live until then.
 *
 * Returns 0, or a failure if Metal makes no command buffer or encoder or the device is lost. Only a fill, during its
 * call, may call it.
 */
typedef int rig_metal_split(void *queue, uint64_t *start, uint64_t *end);

/* A dispatch that an indirect command buffer records. */
typedef struct rig_metal_dispatch {
  uintptr_t pipeline; /* an MTLComputePipelineState of an image loaded on the device */
  int64_t offset;     /* of its arguments in the argument buffer, bound as kernel buffer 0: bytes from the MTLBuffer's
                         first byte, a multiple of the record's align and of the argument structure's alignment */
  int64_t groups[3];  /* threadgroups per grid, each at least 1 */
  int64_t threads[3]; /* threads per threadgroup, each at least 1 */
} rig_metal_dispatch;

/* What C sees of an indirect command buffer. A fill may change a command before its first run of handle, and only
 * while no earlier work that runs handle is in flight. Valid while the submission that runs it keeps its value. */
typedef struct rig_metal_icb {
  void *handle;          /* the MTLIndirectCommandBuffer */
  void *const *commands; /* the MTLIndirectComputeCommand of each dispatch, in order */
  size_t count;
} rig_metal_icb;

/* What C sees of the record. */
typedef struct rig_metal_record {
  size_t align; /* the device's minimum constant buffer offset alignment in bytes, at least 1 */
  rig_metal_split *split;
} rig_metal_record;

#ifdef __cplusplus
}
#endif

#endif
