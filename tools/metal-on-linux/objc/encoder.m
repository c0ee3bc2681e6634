/* Encoders, and how what they recorded runs. */
#import "mol.h"
#include <string.h>

@implementation MolEncoder
- (MolCommandBuffer *)open {
  if (buffer == nil)
    mol_abort("a command after endEncoding");
  return buffer;
}
- (void)setComputePipelineState:(MolPipeline *)p {
  MolCommand c = {.kind = MOL_PIPELINE, .object = p};
  [[self open] push:c];
}
- (void)setBuffer:(MolBuffer *)b offset:(uintptr_t)o atIndex:(uintptr_t)i {
  MolCommand c = {.kind = MOL_BUFFER, .object = b, .a = o, .b = i};
  if (i >= MOL_BUFFERS)
    mol_abort("a buffer index above 30");
  if (b != nil && o >= b->length)
    mol_abort("an offset outside its buffer");
  [[self open] push:c];
}
- (void)setThreadgroupMemoryLength:(uintptr_t)n atIndex:(uintptr_t)i {
  MolCommand c = {.kind = MOL_THREADGROUP, .a = n, .b = i};
  if (n % 16 != 0 || i >= MOL_BUFFERS)
    mol_abort("a threadgroup memory length that is not a multiple of 16, or an index above 30");
  [[self open] push:c];
}
- (void)dispatchThreadgroups:(MolSize)g threadsPerThreadgroup:(MolSize)t {
  MolCommand c = {.kind = MOL_DISPATCH, .groups = g, .threads = t};
  [[self open] push:c];
}
- (void)executeCommandsInBuffer:(MolIndirectBuffer *)b withRange:(NSRange)r {
  MolCommand c = {.kind = MOL_EXECUTE, .object = b, .a = r.location, .b = r.length};
  if (r.location + r.length > [b->commands count])
    mol_abort("a range outside its indirect command buffer");
  [[self open] push:c];
}
- (void)waitForFence:(MolFence *)f {
  MolCommand c = {.kind = MOL_WAIT, .object = f};
  [[self open] push:c];
}
- (void)updateFence:(MolFence *)f {
  MolCommand c = {.kind = MOL_UPDATE, .object = f};
  [[self open] push:c];
}
- (void)endEncoding {
  [self open]->encoder = nil;
  [buffer release];
  buffer = nil;
}
- (void)dealloc {
  if (buffer != nil)
    mol_abort("an encoder released before endEncoding");
  [super dealloc];
}
@end

typedef struct State {
  MolQueue *queue;
  MolPipeline *pipeline;
  MolBuffer *buffers[MOL_BUFFERS];
  uintptr_t offsets[MOL_BUFFERS];
  uint32_t threadgroup[MOL_BUFFERS];
  BOOL waited;
  NSMutableSet *touched; /* of NSValue */
} State;

static BOOL is_resident(MolQueue *q, id allocation) {
  NSUInteger i;
  BOOL yes = NO;
  pthread_mutex_lock(&q->lock);
  for (i = 0; i < [q->sets count] && !yes; i++)
    yes = [[q->sets objectAtIndex:i] holds:allocation];
  pthread_mutex_unlock(&q->lock);
  return yes;
}

static NSError *launch(State *s, MolPipeline *p, MolSize g, MolSize t) {
  MolLaunch l;
  int i;
  if (!s->waited)
    return mol_error(1, @"a dispatch that does not wait for the fence of earlier work");
  if (p == nil)
    return mol_error(9, @"a dispatch without a pipeline");
  if (t.width * t.height * t.depth > p->threads)
    return mol_error(9, @"more threads per threadgroup than the pipeline allows");
  memset(&l, 0, sizeof l);
  l.groups[0] = (uint32_t)g.width, l.groups[1] = (uint32_t)g.height, l.groups[2] = (uint32_t)g.depth;
  l.threads[0] = (uint32_t)t.width, l.threads[1] = (uint32_t)t.height, l.threads[2] = (uint32_t)t.depth;
  memcpy(l.threadgroup, s->threadgroup, sizeof l.threadgroup);
  for (i = 0; i < MOL_BUFFERS; i++) {
    MolBuffer *b = s->buffers[i];
    if (b == nil)
      continue;
    if (!is_resident(s->queue, b))
      return mol_error(3, @"a buffer that is not resident");
    l.buffers[i] = (char *)b->memory + s->offsets[i];
    l.bytes[i] = b->length - s->offsets[i];
  }
  if (g.width == 0 || g.height == 0 || g.depth == 0)
    return nil;
  return p->kernel(&l) == 0 ? nil : mol_error(3, @"a kernel failed");
}

static NSError *execute(State *s, MolIndirectBuffer *b, uintptr_t first, uintptr_t count) {
  MolDevice *device = s->queue->device;
  uintptr_t i;
  if (!is_resident(s->queue, b))
    return mol_error(3, @"an indirect command buffer that is not resident");
  if (b->broken)
    return mol_error(9, @"an indirect command was changed while its buffer was in flight");
  for (i = first; i < first + count; i++) {
    MolIndirectCommand *c = [b->commands objectAtIndex:i];
    State alone = *s;
    NSError *error;
    if (!c->barrier)
      return mol_error(1, @"an indirect command that may overlap the one before");
    /* The defect of M1 and M2 (families 7 and 8). */
    if ((device->family == 7 || device->family == 8) &&
        ![s->touched containsObject:[NSValue valueWithPointer:c->pipeline]])
      return mol_error(3, @"a pipeline of an indirect command is not resident");
    memset(alone.buffers, 0, sizeof alone.buffers);
    memset(alone.threadgroup, 0, sizeof alone.threadgroup);
    alone.buffers[0] = c->buffer;
    alone.offsets[0] = c->offset;
    error = launch(&alone, c->pipeline, c->groups, c->size);
    if (error != nil)
      return error;
  }
  return nil;
}

NSError *mol_execute(MolCommandBuffer *b) {
  State s;
  NSError *error = nil;
  BOOL updated = NO;
  size_t i;
  memset(&s, 0, sizeof s);
  s.queue = b->queue;
  s.touched = [NSMutableSet set];
  for (i = 0; i < b->count && error == nil; i++) {
    MolCommand *c = &b->commands[i];
    updated = NO;
    switch (c->kind) {
    case MOL_PIPELINE:
      s.pipeline = c->object;
      break;
    case MOL_BUFFER:
      s.buffers[c->b] = c->object;
      s.offsets[c->b] = c->a;
      break;
    case MOL_THREADGROUP:
      s.threadgroup[c->b] = (uint32_t)c->a;
      break;
    case MOL_DISPATCH:
      if (s.pipeline != nil)
        [s.touched addObject:[NSValue valueWithPointer:s.pipeline]];
      error = launch(&s, s.pipeline, c->groups, c->threads);
      break;
    case MOL_EXECUTE:
      error = execute(&s, c->object, c->a, c->b);
      break;
    case MOL_WAIT:
      s.waited = YES;
      break;
    case MOL_UPDATE:
      updated = YES;
      break;
    }
  }
  if (error == nil && !updated)
    error = mol_error(1, @"a command buffer that does not update the fence for later work");
  return error;
}
