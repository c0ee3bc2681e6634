// Runs the threads of a compute dispatch on one processor: one threadgroup at a time, a fiber per thread.
//
// Linked with the compiled kernel into a program of its own, which reads the dispatch from its standard input and
// writes what became of it to its standard output; src/run/wire.rs is the other end of both. Every access of the kernel
// to memory calls one of the functions named __asan_*, which know the bounds of every buffer.
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_REGIONS = 256, MAX_BINDINGS = 64, MAX_DEPTH = 64, MAX_GLOBALS = 1024, PAYLOAD = 64, MAX_WIDTH = 64 };
// Each region has a window of addresses to itself, its bytes in the middle: an access that misses it by less than half
// a window is known for what it is.
#define WINDOW_BITS 36
#define HALF_WINDOW ((int64_t)1 << (WINDOW_BITS - 1))
#define STACK_SIZE ((size_t)1 << 18)

typedef struct { uint32_t line, column, step; } Frame;
enum State { READY, AT_COLLECTIVE, AT_BARRIER, DONE };
// What the kernel's entry function is given; src/run/glue.rs names the places.
typedef struct { uint32_t grid_pos[3], local_pos[3], group_pos[3], group_size[3], groups[3], local_index, grid_size[3], dispatch_size[3], width; } Context;
typedef struct {
  void *sp;
  enum State state;
  Context context;
  // Where the thread is: frames of the loops and calls around it, and the collective or barrier it waits at.
  uint32_t depth;
  Frame frames[MAX_DEPTH];
  Frame site;
  uint64_t active; // lanes of the last collective
  uint32_t size;
  unsigned char pending[PAYLOAD], current[PAYLOAD];
} Thread;

extern void __msl_entry(const uint64_t *buffers, const uint64_t *threadgroup, const void *samplers, const uint32_t *context);
extern const char __msl_entry_name[];

static struct { uint64_t size; unsigned char *bytes; } regions[MAX_REGIONS];
static uint32_t region_count;
static uintptr_t windows;
static uint64_t buffers[MAX_BINDINGS], threadgroup_memory[MAX_BINDINGS];
static Thread *threads, *self;
static uint32_t thread_count, width = 32;
static char *stacks;
static void *scheduler_sp;
static char notes[4096];

// ---- faults ----------------------------------------------------------------------------------------------------

enum Fault { BOUNDS = 1, VARIABLE = 2, NOWHERE = 3, DIVISION = 4, STACK = 5, TRAP = 6, INPUT = 7, DEADLOCK = 8 };

static void put(const void *p, size_t n) {
  const char *c = p;
  while (n > 0) {
    ssize_t k = write(STDOUT_FILENO, c, n);
    if (k <= 0) _exit(9);
    c += k;
    n -= (size_t)k;
  }
}

// Reports a fault and ends the program. Used from signal handlers: nothing here allocates.
static void fault(enum Fault kind, uint32_t region, int64_t offset, uint32_t size, uint32_t is_write, const char *name) {
  uint32_t length = (uint32_t)strlen(name), position[3] = {0, 0, 0};
  if (self) memcpy(position, self->context.grid_pos, sizeof position);
  uint32_t head[3] = {1, kind, region};
  put(head, sizeof head);
  put(&offset, sizeof offset);
  uint32_t rest[6] = {size, is_write, position[0], position[1], position[2], length};
  put(rest, sizeof rest);
  put(name, length);
  _exit(0);
}

static void on_signal(int number, siginfo_t *info, void *unused) {
  (void)unused;
  uintptr_t at = (uintptr_t)info->si_addr;
  if (number == SIGFPE) fault(DIVISION, 0, 0, 0, 0, "");
  if (number == SIGSEGV || number == SIGBUS) {
    int in_stacks = stacks && at - (uintptr_t)stacks < thread_count * STACK_SIZE;
    fault(in_stacks ? STACK : NOWHERE, 0, (int64_t)at, 0, 0, "");
  }
  fault(TRAP, 0, number, 0, 0, "");
}

// ---- input ------------------------------------------------------------------------------------------------

static unsigned char *input;
static size_t input_size, input_at;

static void take(void *out, size_t n) {
  if (n > input_size - input_at) fault(INPUT, 0, 0, 0, 0, "the dispatch is cut short");
  memcpy(out, input + input_at, n);
  input_at += n;
}
static uint32_t take32(void) { uint32_t v; take(&v, sizeof v); return v; }
static uint64_t take64(void) { uint64_t v; take(&v, sizeof v); return v; }

static void read_input(void) {
  size_t room = 1 << 16;
  input = malloc(room);
  for (;;) {
    ssize_t n = input ? read(STDIN_FILENO, input + input_size, room - input_size) : -1;
    if (n < 0) fault(INPUT, 0, 0, 0, 0, "the dispatch cannot be read");
    if (n == 0) return;
    input_size += (size_t)n;
    if (input_size == room) input = realloc(input, room *= 2);
  }
}

// ---- memory ----------------------------------------------------------------------------------------------------

// The layout in which the compiler describes a variable of the kernel.
typedef struct { uintptr_t start, size, padded, name, module, has_init, location, indicator; } Global;
static struct { uintptr_t start, size, padded; const char *name; } globals[MAX_GLOBALS];
static uint32_t global_count;

void __asan_register_globals(const Global *list, uintptr_t count) {
  for (uintptr_t i = 0; i < count && global_count < MAX_GLOBALS; ++i, ++global_count) {
    globals[global_count].start = list[i].start;
    globals[global_count].size = list[i].size;
    globals[global_count].padded = list[i].padded;
    globals[global_count].name = (const char *)list[i].name;
  }
}
void __asan_unregister_globals(const Global *list, uintptr_t count) { (void)list, (void)count; }
void __asan_handle_no_return(void) {}

// Where the linker puts variables that can be written.
extern char data_start[] __attribute__((weak)), _end[];

// A threadgroup variable is a static variable of the entry function, which the compiler calls `entry::variable`.
static const char *local_name(const char *name) {
  size_t n = strlen(__msl_entry_name);
  return strncmp(name, __msl_entry_name, n) == 0 && strncmp(name + n, "::", 2) == 0 ? name + n + 2 : NULL;
}
static int is_threadgroup(uint32_t i) {
  return local_name(globals[i].name) && globals[i].start >= (uintptr_t)data_start && globals[i].start < (uintptr_t)_end;
}

__attribute__((noinline)) static void check_elsewhere(uintptr_t at, size_t size, uint32_t is_write) {
  if (self) {
    uintptr_t stack = (uintptr_t)stacks + (uintptr_t)(self - threads) * STACK_SIZE;
    if (at - stack < STACK_SIZE) return;
  }
  for (uint32_t i = 0; i < global_count; ++i) {
    uintptr_t offset = at - globals[i].start;
    if (offset >= globals[i].padded) continue;
    if (offset + size > globals[i].size) {
      const char *name = globals[i].name;
      fault(VARIABLE, (uint32_t)globals[i].size, (int64_t)offset, (uint32_t)size, is_write, local_name(name) ? local_name(name) : name);
    }
    return;
  }
  if (at < 65536) fault(NOWHERE, 0, (int64_t)at, (uint32_t)size, is_write, "");
}

static inline void check(uintptr_t at, size_t size, uint32_t is_write) {
  uintptr_t distance = at - windows;
  uint32_t region = (uint32_t)(distance >> WINDOW_BITS);
  if (distance >> WINDOW_BITS >= region_count) {
    check_elsewhere(at, size, is_write);
    return;
  }
  int64_t offset = (int64_t)(distance & (((uintptr_t)1 << WINDOW_BITS) - 1)) - HALF_WINDOW;
  if (offset < 0 || (uint64_t)offset + size > regions[region].size) fault(BOUNDS, region, offset, (uint32_t)size, is_write, "");
}

#define ACCESS(n) \
  void __asan_load##n##_noabort(uintptr_t at) { check(at, n, 0); } \
  void __asan_store##n##_noabort(uintptr_t at) { check(at, n, 1); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __asan_loadN_noabort(uintptr_t at, uintptr_t n) { check(at, n, 0); }
void __asan_storeN_noabort(uintptr_t at, uintptr_t n) { check(at, n, 1); }
void *__asan_memcpy(void *to, const void *from, size_t n) {
  if (n) check((uintptr_t)from, n, 0), check((uintptr_t)to, n, 1);
  return memmove(to, from, n);
}
void *__asan_memmove(void *to, const void *from, size_t n) { return __asan_memcpy(to, from, n); }
void *__asan_memset(void *to, int value, size_t n) {
  if (n) check((uintptr_t)to, n, 1);
  return memset(to, value, n);
}

// ---- fibers ----------------------------------------------------------------------------------------------------

// Saves the callee-saved registers on the stack, its pointer at *save, and goes on where `load` was saved.
void __msl_switch(void **save, void *load);
#if defined(__x86_64__)
__asm__(".text\n.globl __msl_switch\n.type __msl_switch, @function\n__msl_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n");
enum { SAVED_WORDS = 7, RETURN_WORD = 6 };
#elif defined(__aarch64__)
__asm__(".text\n.globl __msl_switch\n__msl_switch:\n"
        "  sub sp, sp, #160\n  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n  add sp, sp, #160\n  ret\n");
enum { SAVED_WORDS = 20, RETURN_WORD = 11 };
#else
#error "no fibers for this processor"
#endif

static void wait_as(enum State state) {
  self->state = state;
  __msl_switch(&self->sp, scheduler_sp);
}

static const void *sampler_table(void); // textures.c

static void thread_main(void) {
  __msl_entry(buffers, threadgroup_memory, sampler_table(), (const uint32_t *)&self->context);
  for (;;) wait_as(DONE);
}

static void start(Thread *t) {
  uintptr_t top = (uintptr_t)stacks + (uintptr_t)(t - threads + 1) * STACK_SIZE;
  uintptr_t *words = (uintptr_t *)(top - 64) - SAVED_WORDS;
  // As after a call: the stack pointer is 8 past a multiple of 16 where the function begins (x86-64).
  if (RETURN_WORD == 6) --words;
  memset(words, 0, SAVED_WORDS * sizeof *words);
  words[RETURN_WORD] = (uintptr_t)thread_main;
  t->sp = words;
  t->state = READY;
  t->depth = 0;
  t->active = 0;
}

// ---- what the headers call -----------------------------------------------------------------------------------------

uint32_t __msl_lane(void) { return self->context.local_index % width; }
uint32_t __msl_simd_width(void) { return width; }

void __msl_enter(uint32_t line, uint32_t column) {
  if (self->depth < MAX_DEPTH) self->frames[self->depth] = (Frame){line, column, 0};
  ++self->depth;
}
void __msl_leave(void) { --self->depth; }
static uint32_t *step(void) {
  static uint32_t none;
  return self->depth > 0 && self->depth <= MAX_DEPTH ? &self->frames[self->depth - 1].step : &none;
}
// An odd step is in the body of a loop, an even one in its head.
void __msl_body(void) { uint32_t *s = step(); *s += *s % 2 ? 2 : 1; }
void __msl_head(void) { uint32_t *s = step(); *s += *s % 2; }

void __msl_collective(uint32_t line, uint32_t column, const void *value, uint32_t size, uint32_t quad) {
  self->size = size < PAYLOAD ? size : PAYLOAD;
  memcpy(self->pending, value, self->size);
  self->site = (Frame){line, column, quad};
  wait_as(AT_COLLECTIVE);
}
int __msl_fetch(int lane, void *out, uint32_t size) {
  if (lane < 0 || lane >= (int)width || !(self->active >> lane & 1)) return 0;
  const Thread *other = &threads[self->context.local_index / width * width + (uint32_t)lane];
  memcpy(out, other->current, size < PAYLOAD ? size : PAYLOAD);
  return 1;
}
void __msl_barrier(uint32_t line, uint32_t column) {
  self->site = (Frame){line, column, 0};
  wait_as(AT_BARRIER);
}

// Functions that need more than float to be rounded well.
static double reduce_pi(float x) { return x - 2.0 * floor(x / 2.0); }
float __msl_sinpi(float x) { return isfinite(x) ? (x == truncf(x) ? copysignf(0.0f, x) : (float)sin(reduce_pi(x) * M_PI)) : NAN; }
float __msl_cospi(float x) { return isfinite(x) ? (x - floorf(x) == 0.5f ? 0.0f : (float)cos(reduce_pi(x) * M_PI)) : NAN; }
float __msl_tanpi(float x) { return isfinite(x) ? (x == truncf(x) ? copysignf(0.0f, x) : (float)tan(reduce_pi(x) * M_PI)) : NAN; }
float __msl_exp10(float x) { return (float)pow(10.0, x); }
// The product of halves is exact in double, and the sum nearly so: one rounding that matters.
float __msl_fma_half(float x, float y, float z) { return (float)(_Float16)((double)x * y + z); }

// ---- scheduling ------------------------------------------------------------------------------------------------

static int compare_frames(const Frame *a, const Frame *b) {
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->step == b->step ? 0 : a->step < b->step ? -1 : 1;
}

// The order in which the program reaches places: outer loops and calls first, the collective itself last.
static int compare_places(const Thread *a, const Thread *b) {
  uint32_t da = a->depth < MAX_DEPTH ? a->depth : MAX_DEPTH, db = b->depth < MAX_DEPTH ? b->depth : MAX_DEPTH;
  for (uint32_t i = 0;; ++i) {
    const Frame *fa = i < da ? &a->frames[i] : &a->site, *fb = i < db ? &b->frames[i] : &b->site;
    int order = compare_frames(fa, fb);
    if (order) return order;
    if (i >= da || i >= db) return 0;
  }
}

// Lets the lanes at the earliest place go on together. Lanes that will come to a later place have to wait for them.
static int release(Thread *lanes, uint32_t count) {
  const Thread *first = NULL;
  for (uint32_t i = 0; i < count; ++i)
    if (lanes[i].state == AT_COLLECTIVE && (!first || compare_places(&lanes[i], first) < 0)) first = &lanes[i];
  if (!first) return 0;
  uint64_t active = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (lanes[i].state == AT_COLLECTIVE && compare_places(&lanes[i], first) == 0) active |= (uint64_t)1 << i;
  for (uint32_t i = 0; i < count; ++i) {
    if (!(active >> i & 1)) continue;
    lanes[i].active = active;
    lanes[i].state = READY;
    memcpy(lanes[i].current, lanes[i].pending, lanes[i].size);
  }
  return 1;
}

static void note(const char *text) {
  if (!strstr(notes, text) && strlen(notes) + strlen(text) + 2 < sizeof notes) strcat(strcat(notes, text), "\n");
}

static void run_group(void) {
  for (uint32_t i = 0; i < thread_count; ++i) start(&threads[i]);
  for (;;) {
    for (uint32_t base = 0; base < thread_count; base += width) {
      uint32_t count = thread_count - base < width ? thread_count - base : width;
      do {
        for (uint32_t i = 0; i < count; ++i) {
          if (threads[base + i].state != READY) continue;
          self = &threads[base + i];
          __msl_switch(&scheduler_sp, self->sp);
          self = NULL;
        }
      } while (release(&threads[base], count));
    }
    uint32_t waiting = 0, done = 0;
    const Thread *first = NULL;
    for (uint32_t i = 0; i < thread_count; ++i) {
      const Thread *t = &threads[i];
      done += t->state == DONE;
      if (t->state != AT_BARRIER) continue;
      ++waiting;
      if (!first) first = t;
      else if (compare_frames(&t->site, &first->site)) {
        char text[128];
        snprintf(text, sizeof text, "threads of a threadgroup wait at different barriers (lines %u and %u)", first->site.line, t->site.line);
        note(text);
      }
    }
    if (waiting == 0) return;
    if (done) {
      char text[128];
      snprintf(text, sizeof text, "a barrier (line %u) is not reached by every thread of a threadgroup", first->site.line);
      note(text);
    }
    for (uint32_t i = 0; i < thread_count; ++i)
      if (threads[i].state == AT_BARRIER) threads[i].state = READY;
  }
}
