/* Fills in C: they encode dispatches, split with times and run an indirect command buffer.
 *
 * Build with -DRIG_ENCODE_SOFT for the soft device or -DRIG_ENCODE_OBJC for an Objective-C runtime; the include paths
 * are crates/rig-metal-abi/include and crates/rig-metal/include. The tests build and run this file both ways.
 */
#include "rig_metal_abi.h"
#include "rig_metal_encode.h"

/* What the fills are given as arg. The submission keeps everything it names. */
struct fill_arg {
  rig_metal_record record;
  rig_metal_icb icb;
  void *pipeline;
  void *arguments; /* the argument buffer */
  uint64_t offset; /* of the arguments in it: the rig buffer's offset plus that in the buffer */
  uint64_t value;  /* out: the value the last run completes */
  uint64_t start, end; /* out: times of the last command buffer that a split committed */
  uint32_t splits;     /* for fill_splits */
  uint32_t ran;        /* out: counts runs */
};

/* One dispatch. A fill sets all state its commands read: the encoder may hold the commands of earlier work. */
static void encode(void *queue, const struct fill_arg *a) {
  const rig_size one = {1, 1, 1};
  rig_set_pipeline(queue, a->pipeline);
  rig_set_buffer(queue, a->arguments, a->offset, 0);
  rig_dispatch(queue, one, one);
}

int fill_dispatch(void *queue, void *arg, uint64_t v) {
  struct fill_arg *a = arg;
  a->value = v;
  a->ran += 1;
  encode(queue, a);
  return 0;
}

/* Dispatches on both sides of each split, and wants the times of the command buffers it commits. It stops at the first
 * split that fails. */
int fill_splits(void *queue, void *arg, uint64_t v) {
  struct fill_arg *a = arg;
  uint32_t i;
  a->value = v;
  encode(queue, a);
  for (i = 0; i < a->splits; i++) {
    int failure = a->record.split(queue, &a->start, &a->end);
    if (failure != 0)
      return failure;
    encode(queue, a);
  }
  return 0;
}

/* Wants no times. */
int fill_split_without_times(void *queue, void *arg, uint64_t v) {
  struct fill_arg *a = arg;
  int failure;
  a->value = v;
  encode(queue, a);
  failure = a->record.split(queue, NULL, NULL);
  if (failure != 0)
    return failure;
  encode(queue, a);
  return 0;
}

/* Runs a whole indirect command buffer. */
int fill_icb(void *queue, void *arg, uint64_t v) {
  struct fill_arg *a = arg;
  a->value = v;
  if (a->icb.count != 0)
    rig_execute(queue, a->icb.handle, 0, a->icb.count);
  return 0;
}

/* Changes the first command's threadgroups to v of them before it runs the buffer, so that no two runs are alike. */
int fill_changed_icb(void *queue, void *arg, uint64_t v) {
  struct fill_arg *a = arg;
  const rig_size one = {1, 1, 1};
  rig_size groups = {1, 1, 1};
  groups.x = (uintptr_t)v;
  a->value = v;
  rig_set_command(queue, a->icb.commands[0], groups, one);
  rig_execute(queue, a->icb.handle, 0, a->icb.count);
  return 0;
}

int fill_fails(void *queue, void *arg, uint64_t v) {
  (void)queue;
  (void)arg;
  (void)v;
  return 42;
}
