/* Devices and what they make. */
#import "mol.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mol_abort(const char *reason) {
  fprintf(stderr, "metal-on-linux: %s\n", reason);
  abort();
}

NSError *mol_error(int code, NSString *reason) {
  NSDictionary *info = [NSDictionary dictionaryWithObject:reason forKey:NSLocalizedDescriptionKey];
  return [NSError errorWithDomain:@"MTLCommandBufferErrorDomain" code:code userInfo:info];
}

BOOL mol_fails(MolDevice *device, int64_t *countdown) {
  BOOL fails;
  pthread_mutex_lock(&device->plan.lock);
  fails = *countdown == 0;
  if (*countdown > 0)
    *countdown -= 1;
  pthread_mutex_unlock(&device->plan.lock);
  return fails;
}

void mol_count(MolDevice *device, int64_t *what, int by) {
  pthread_mutex_lock(&device->plan.lock);
  *what += by;
  pthread_mutex_unlock(&device->plan.lock);
}

@interface MTLResidencySetDescriptor : NSObject
@end
@implementation MTLResidencySetDescriptor
@end

@interface MTLFunctionConstantValues : NSObject
@end
@implementation MTLFunctionConstantValues
- (void)setConstantValue:(const void *)value type:(uintptr_t)type atIndex:(uintptr_t)index {
  (void)value;
  (void)type;
  (void)index;
}
@end

@interface MTLComputePipelineDescriptor : NSObject {
@public
  MolFunction *function;
  BOOL indirect;
}
@end
@implementation MTLComputePipelineDescriptor
- (void)setLabel:(NSString *)label {
  (void)label;
}
- (void)setComputeFunction:(MolFunction *)f {
  [f retain];
  [function release];
  function = f;
}
- (void)setSupportIndirectCommandBuffers:(BOOL)yes {
  indirect = yes;
}
- (void)dealloc {
  [function release];
  [super dealloc];
}
@end

@interface MTLIndirectCommandBufferDescriptor : NSObject {
@public
  uintptr_t types, buffers;
  BOOL inherits;
}
@end
@implementation MTLIndirectCommandBufferDescriptor
- (void)setCommandTypes:(uintptr_t)t {
  types = t;
}
- (void)setInheritPipelineState:(BOOL)yes {
  inherits |= yes;
}
- (void)setInheritBuffers:(BOOL)yes {
  inherits |= yes;
}
- (void)setMaxKernelBufferBindCount:(uintptr_t)n {
  buffers = n;
}
@end

@implementation MolFence
@end

@implementation MolBuffer
- (id)initWithDevice:(MolDevice *)d length:(uintptr_t)n {
  if ((self = [super init]) == nil)
    return nil;
  if (posix_memalign(&memory, 256, n) != 0) {
    [self release];
    return nil;
  }
  memset(memory, 0, n);
  length = n;
  device = [d retain];
  mol_count(device, &device->plan.buffers, 1);
  return self;
}
- (uintptr_t)length {
  return length;
}
- (void *)contents {
  return memory;
}
- (uint64_t)gpuAddress {
  return (uint64_t)(uintptr_t)memory;
}
- (void)dealloc {
  if (device != nil)
    mol_count(device, &device->plan.buffers, -1);
  [device release];
  free(memory);
  [super dealloc];
}
@end

@implementation MolFunction
- (void)dealloc {
  [name release];
  [super dealloc];
}
@end

@implementation MolLibrary
- (id)newFunctionWithName:(NSString *)n constantValues:(id)values error:(NSError **)error {
  MolFunction *f;
  if (values == nil)
    mol_abort("a function without constant values");
  if (![names containsObject:n]) {
    *error = mol_error(1, [NSString stringWithFormat:@"no function `%@`", n]);
    return nil;
  }
  f = [[MolFunction alloc] init];
  f->name = [n retain];
  return f;
}
- (void)dealloc {
  [device release];
  [names release];
  [super dealloc];
}
@end

@implementation MolPipeline
- (uintptr_t)maxTotalThreadsPerThreadgroup {
  return threads;
}
- (void)dealloc {
  mol_count(device, &device->plan.pipelines, -1);
  [device release];
  [super dealloc];
}
@end

@implementation MolDevice
- (NSString *)name {
  return @"Metal on Linux";
}
- (BOOL)supportsFamily:(intptr_t)f {
  return family > 0 ? f >= 1001 && f <= 1000 + family : f == 2002;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return (uint64_t)1 << 30;
}
- (MolSize)maxThreadsPerThreadgroup {
  MolSize s = {1024, 1024, 1024};
  return s;
}
- (id)newCommandQueueWithMaxCommandBufferCount:(uintptr_t)n {
  return [[MolQueue alloc] initWithDevice:self capacity:n];
}
- (id)newFence {
  return [[MolFence alloc] init];
}
- (id)newBufferWithLength:(uintptr_t)n options:(uintptr_t)options {
  if (options != 0)
    mol_abort("buffers are of shared storage");
  if (mol_fails(self, &plan.buffer))
    return nil;
  return [[MolBuffer alloc] initWithDevice:self length:n];
}
- (id)newResidencySetWithDescriptor:(id)descriptor error:(NSError **)error {
  (void)descriptor;
  (void)error;
  return [[MolResidencySet alloc] init];
}

/* The source's entries: every NAME of `kernel void NAME(`. */
- (id)newLibraryWithSource:(NSString *)source options:(id)options error:(NSError **)error {
  NSArray *parts = [source componentsSeparatedByString:@"kernel void "];
  MolLibrary *library;
  NSUInteger i;
  (void)options;
  if ([parts count] < 2) {
    *error = mol_error(1, @"the source has no kernel");
    return nil;
  }
  library = [[MolLibrary alloc] init];
  library->device = [self retain];
  library->names = [[NSMutableSet alloc] init];
  for (i = 1; i < [parts count]; i++) {
    NSString *part = [parts objectAtIndex:i];
    [library->names addObject:[part substringToIndex:[part rangeOfString:@"("].location]];
  }
  return library;
}
- (id)newLibraryWithData:(NSData *)data error:(NSError **)error {
  NSString *text = [[[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] autorelease];
  if (![text hasPrefix:@"MTLB"]) {
    *error = mol_error(1, @"not a metallib");
    return nil;
  }
  return [self newLibraryWithSource:text options:nil error:error];
}
- (id)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)d
                                    options:(uintptr_t)options
                                 reflection:(void *)reflection
                                      error:(NSError **)error {
  NSArray *kernel;
  MolPipeline *p;
  (void)options;
  (void)reflection;
  pthread_mutex_lock(&plan.lock);
  kernel = [[[kernels objectForKey:d->function->name] retain] autorelease];
  pthread_mutex_unlock(&plan.lock);
  if (kernel == nil) {
    *error = mol_error(1, @"the function is not registered");
    return nil;
  }
  p = [[MolPipeline alloc] init];
  p->device = [self retain];
  p->kernel = (MolKernel)[[kernel objectAtIndex:0] pointerValue];
  p->threads = [[kernel objectAtIndex:1] unsignedIntValue];
  p->indirect = d->indirect;
  mol_count(self, &plan.pipelines, 1);
  return p;
}
- (id)newIndirectCommandBufferWithDescriptor:(MTLIndirectCommandBufferDescriptor *)d
                             maxCommandCount:(uintptr_t)n
                                     options:(uintptr_t)options {
  MolIndirectBuffer *b;
  uintptr_t i;
  if (n == 0 || options != 0 || d->types != 1 << 5 || d->inherits || d->buffers != 1)
    mol_abort("an indirect command buffer that is not of compute commands with one buffer");
  if (plan.slow_icb_us > 0)
    usleep(plan.slow_icb_us);
  if (mol_fails(self, &plan.icb))
    return nil;
  b = [[MolIndirectBuffer alloc] init];
  b->device = [self retain];
  b->commands = [[NSMutableArray alloc] init];
  for (i = 0; i < n; i++) {
    MolIndirectCommand *c = [[MolIndirectCommand alloc] init];
    c->running = &b->running;
    c->broken = &b->broken;
    [b->commands addObject:c];
    [c release];
  }
  mol_count(self, &plan.icbs, 1);
  return b;
}
- (void)dealloc {
  [kernels release];
  [queues release];
  [super dealloc];
}
@end

@implementation MolIndirectCommand
- (void)setComputePipelineState:(MolPipeline *)p {
  if (!p->indirect)
    mol_abort("a pipeline without supportIndirectCommandBuffers in an indirect command");
  [p retain];
  [pipeline release];
  pipeline = p;
}
- (void)setKernelBuffer:(MolBuffer *)b offset:(uintptr_t)o atIndex:(uintptr_t)i {
  if (i != 0)
    mol_abort("a kernel buffer outside the bind count");
  /* Metal does not retain it: whoever records a command keeps its buffer. */
  buffer = b;
  offset = o;
}
- (void)concurrentDispatchThreadgroups:(MolSize)g threadsPerThreadgroup:(MolSize)t {
  if (__atomic_load_n(running, __ATOMIC_SEQ_CST) > 0)
    *broken = YES;
  groups = g;
  size = t;
}
- (void)setBarrier {
  barrier = YES;
}
- (void)dealloc {
  [pipeline release];
  [super dealloc];
}
@end

@implementation MolIndirectBuffer
- (uintptr_t)size {
  return [commands count];
}
- (id)indirectComputeCommandAtIndex:(uintptr_t)i {
  return [[[commands objectAtIndex:i] retain] autorelease];
}
- (void)dealloc {
  [commands release];
  mol_count(device, &device->plan.icbs, -1);
  [device release];
  [super dealloc];
}
@end

@implementation MolResidencySet
- (id)init {
  if ((self = [super init]) != nil) {
    added = [[NSMutableSet alloc] init];
    resident = [[NSMutableSet alloc] init];
  }
  return self;
}
- (void)addAllocation:(id)a {
  [added addObject:[NSValue valueWithPointer:a]];
}
- (void)removeAllocation:(id)a {
  [added removeObject:[NSValue valueWithPointer:a]];
}
- (void)commit {
  @synchronized(self) {
    [resident setSet:added];
  }
}
- (void)requestResidency {
}
- (BOOL)holds:(id)a {
  BOOL yes;
  @synchronized(self) {
    yes = [resident containsObject:[NSValue valueWithPointer:a]];
  }
  return yes;
}
- (void)dealloc {
  [added release];
  [resident release];
  [super dealloc];
}
@end
