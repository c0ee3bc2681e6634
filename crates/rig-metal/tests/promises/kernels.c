/* The tests' kernels as C functions. Each finds an argument structure at buffer 0. */
#include <stdint.h>
#include <stddef.h>

struct launch {
  uint32_t groups[3], threads[3];
  void *buffers[31];
  uint64_t bytes[31];
  uint32_t threadgroup[31];
};

struct args {
  uint64_t out; /* device address of words */
  uint32_t tag;
  uint32_t unused;
};

/* out[0] += tag */
int k_add(const struct launch *l) {
  const struct args *a = l->buffers[0];
  if (a == NULL)
    return 1;
  *(uint32_t *)(uintptr_t)a->out += a->tag;
  return 0;
}

/* Appends tag: out[0] counts, out[1...] are the tags. */
int k_log(const struct launch *l) {
  const struct args *a = l->buffers[0];
  uint32_t *out;
  if (a == NULL)
    return 1;
  out = (uint32_t *)(uintptr_t)a->out;
  out[0] += 1;
  out[out[0]] = a->tag;
  return 0;
}

/* out[0] += the number of threads in the grid */
int k_grid(const struct launch *l) {
  const struct args *a = l->buffers[0];
  uint32_t n = 1;
  int i;
  if (a == NULL)
    return 1;
  for (i = 0; i < 3; i++)
    n *= l->groups[i] * l->threads[i];
  *(uint32_t *)(uintptr_t)a->out += n;
  return 0;
}

/* out[0] = the length of threadgroup memory argument 0 */
int k_local(const struct launch *l) {
  const struct args *a = l->buffers[0];
  if (a == NULL)
    return 1;
  *(uint32_t *)(uintptr_t)a->out = l->threadgroup[0];
  return 0;
}
