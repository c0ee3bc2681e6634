// The program's beginning and end: reads the dispatch, runs its threadgroups, writes the answer. Part of the program that
// runtime.c begins.

static uint32_t add_region(uint64_t size) {
  if (region_count == MAX_REGIONS) fault(INPUT, 0, 0, 0, 0, "too many buffers");
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (size + page - 1) / page * page;
  unsigned char *bytes = (unsigned char *)(windows + ((uintptr_t)region_count << WINDOW_BITS) + (uintptr_t)HALF_WINDOW);
  if (size > (uint64_t)HALF_WINDOW || (mapped && mprotect(bytes, mapped, PROT_READ | PROT_WRITE)))
    fault(INPUT, 0, 0, 0, 0, "a buffer is too large");
  regions[region_count].size = size;
  regions[region_count].bytes = bytes;
  return region_count++;
}

// From here on denormal numbers of 32 bits are taken for zero and never made.
static void flush_denormals(void) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | (uint64_t)1 << 24));
#endif
}

int main(void) {
  static char signal_stack[65536];
  stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&alternate, NULL);
  const int signals[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) sigaction(signals[i], &action, NULL);

  void *space = mmap(NULL, (size_t)MAX_REGIONS << WINDOW_BITS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) fault(INPUT, 0, 0, 0, 0, "no address space for buffers");
  windows = (uintptr_t)space;

  read_input();
  uint32_t groups[3], size[3], grid[3];
  width = take32();
  if (width < 4 || width > MAX_WIDTH || width & (width - 1)) fault(INPUT, 0, 0, 0, 0, "the SIMD-group width must be 4, 8, 16, 32 or 64");
  if (take32()) flush_denormals();
  take(groups, sizeof groups);
  take(size, sizeof size);
  take(grid, sizeof grid);
  uint32_t given = take32();
  for (uint32_t i = 0; i < given; ++i) {
    uint64_t bytes = take64();
    take(regions[add_region(bytes)].bytes, bytes);
  }
  for (uint32_t count = take32(); count > 0; --count) {
    uint32_t index = take32(), region = take32();
    uint64_t offset = take64();
    if (index >= MAX_BINDINGS || region >= given) fault(INPUT, 0, 0, 0, 0, "a binding is out of range");
    buffers[index] = (uint64_t)(uintptr_t)regions[region].bytes + offset;
  }
  uint32_t first_shared = region_count;
  for (uint32_t count = take32(); count > 0; --count) {
    uint32_t index = take32(), region = add_region(take32());
    if (index >= MAX_BINDINGS) fault(INPUT, 0, 0, 0, 0, "a binding is out of range");
    threadgroup_memory[index] = (uint64_t)(uintptr_t)regions[region].bytes;
  }
  for (uint32_t count = take32(); count > 0; --count) {
    uint32_t region = take32();
    uint64_t at = take64();
    uint32_t target = take32();
    uint64_t address = take64();
    if (region >= given || target >= given || at > regions[region].size || regions[region].size - at < 8)
      fault(INPUT, 0, 0, 0, 0, "an address is written outside a buffer");
    address += (uint64_t)(uintptr_t)regions[target].bytes;
    memcpy(regions[region].bytes + at, &address, sizeof address);
  }

  take_textures();

  uint64_t most = (uint64_t)size[0] * size[1] * size[2];
  if (most == 0 || most > 4096) fault(INPUT, 0, 0, 0, 0, "a threadgroup must have 1 to 4096 threads");
  threads = calloc(most, sizeof *threads);
  stacks = mmap(NULL, most * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!threads || stacks == MAP_FAILED) fault(INPUT, 0, 0, 0, 0, "no memory for threads");
  // The lowest page of each stack stays out of reach, so that a stack that grows too far is noticed.
  for (uint64_t i = 0; i < most; ++i) mprotect(stacks + i * STACK_SIZE, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);

  uint32_t g[3];
  for (g[2] = 0; g[2] < groups[2]; ++g[2])
    for (g[1] = 0; g[1] < groups[1]; ++g[1])
      for (g[0] = 0; g[0] < groups[0]; ++g[0]) {
        // Threadgroups at the edge of the grid may be smaller (MSL 5.2.3.6).
        uint32_t here[3];
        for (int k = 0; k < 3; ++k) here[k] = grid[k] - g[k] * size[k] < size[k] ? grid[k] - g[k] * size[k] : size[k];
        thread_count = here[0] * here[1] * here[2];
        for (uint32_t i = 0; i < thread_count; ++i) {
          Context *c = &threads[i].context;
          c->local_pos[0] = i % here[0], c->local_pos[1] = i / here[0] % here[1], c->local_pos[2] = i / (here[0] * here[1]);
          for (int k = 0; k < 3; ++k) {
            c->group_pos[k] = g[k], c->group_size[k] = here[k], c->groups[k] = groups[k], c->grid_size[k] = grid[k];
            c->dispatch_size[k] = size[k], c->grid_pos[k] = g[k] * size[k] + c->local_pos[k];
          }
          c->local_index = i, c->width = width;
        }
        // Threadgroup memory begins with no value: one that looks like nothing.
        for (uint32_t i = first_shared; i < region_count; ++i) memset(regions[i].bytes, 0xaa, regions[i].size);
        for (uint32_t i = 0; i < global_count; ++i)
          if (is_threadgroup(i)) memset((void *)globals[i].start, 0xaa, globals[i].size);
        run_group();
      }

  uint32_t head = 0, length = (uint32_t)strlen(notes);
  put(&head, sizeof head);
  for (uint32_t i = 0; i < given; ++i) put(regions[i].bytes, regions[i].size);
  put_textures();
  put(&length, sizeof length);
  put(notes, length);
  return 0;
}
