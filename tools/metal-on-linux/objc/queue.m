/* Queues, their thread, and command buffers. */
#import "mol.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return ((double)t.tv_sec * 1e9 + (double)t.tv_nsec) / 1e9;
}

@implementation MolCommandBuffer
- (void)push:(MolCommand)command {
  if (count == room) {
    room = room == 0 ? 16 : room * 2;
    commands = realloc(commands, room * sizeof *commands);
    if (commands == NULL)
      mol_abort("out of memory");
  }
  [command.object retain];
  if (command.kind == MOL_EXECUTE)
    __atomic_add_fetch(&((MolIndirectBuffer *)command.object)->running, 1, __ATOMIC_SEQ_CST);
  commands[count++] = command;
}
- (void)forget {
  size_t i;
  for (i = 0; i < count; i++) {
    if (commands[i].kind == MOL_EXECUTE)
      __atomic_sub_fetch(&((MolIndirectBuffer *)commands[i].object)->running, 1, __ATOMIC_SEQ_CST);
    [commands[i].object release];
  }
  count = 0;
}
- (id)computeCommandEncoderWithDispatchType:(uintptr_t)type {
  MolEncoder *e;
  if (type != 0)
    mol_abort("an encoder that is not serial");
  if (encoder != nil || committed)
    mol_abort("a second encoder, or one of a committed command buffer");
  if (mol_fails(queue->device, &queue->device->plan.encoder))
    return nil;
  e = [[MolEncoder alloc] init];
  e->buffer = [self retain];
  encoder = e;
  return [e autorelease];
}
- (void)addCompletedHandler:(void *)block {
  if (committed || handler_count == 4)
    mol_abort("a handler added too late, or too many");
  handlers[handler_count++] = mol_copy_block(block);
}
- (void)commit {
  if (encoder != nil)
    mol_abort("a commit before endEncoding");
  if (committed)
    mol_abort("a second commit");
  committed = YES;
  [queue enqueue:self];
}
- (intptr_t)status {
  return status;
}
- (NSError *)error {
  return error;
}
- (double)GPUStartTime {
  return start;
}
- (double)GPUEndTime {
  return end;
}
- (void)dealloc {
  int i;
  for (i = 0; i < handler_count; i++)
    mol_release_block(handlers[i]);
  [self forget];
  free(commands);
  if (!committed)
    [queue gone];
  [queue release];
  [error release];
  [super dealloc];
}
@end

static void complete(MolCommandBuffer *b) {
  int i;
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  for (i = 0; i < b->handler_count; i++)
    mol_call_block(b->handlers[i], b);
  [pool release];
}

/* Tells a completion, or holds it back. */
static void deliver(MolQueue *q, MolCommandBuffer *b, BOOL last) {
  MolPlan *plan = &q->device->plan;
  NSMutableArray *now = [NSMutableArray array];
  NSUInteger i;
  pthread_mutex_lock(&plan->lock);
  if (plan->never > 0) {
    plan->never -= 1;
    [q->stuck addObject:b];
  } else if (plan->reverse < 2) {
    [now addObject:b];
  } else {
    [q->held addObject:b];
    if ([q->held count] >= plan->reverse || last) {
      [now setArray:q->held];
      [q->held removeAllObjects];
    }
  }
  pthread_mutex_unlock(&plan->lock);
  for (i = [now count]; i > 0; i--)
    complete([now objectAtIndex:i - 1]);
}

/* What is to become of the command buffer that begins. */
static NSError *planned(MolQueue *q, uint32_t *slow_us) {
  MolPlan *plan = &q->device->plan;
  NSError *error = nil;
  pthread_mutex_lock(&plan->lock);
  while (plan->paused)
    pthread_cond_wait(&plan->changed, &plan->lock);
  *slow_us = plan->slow_us;
  if (plan->fails > 0 && plan->fail[0].good-- == 0) {
    error = mol_error(plan->fail[0].code, [NSString stringWithUTF8String:plan->fail[0].reason]);
    free(plan->fail[0].reason);
    plan->fails -= 1;
    memmove(plan->fail, plan->fail + 1, sizeof plan->fail[0] * (size_t)plan->fails);
  }
  pthread_mutex_unlock(&plan->lock);
  return error;
}

static void run(MolQueue *q, MolCommandBuffer *b, BOOL last) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  uint32_t slow_us;
  NSError *error = planned(q, &slow_us);
  b->start = seconds();
  if (error == nil)
    error = mol_execute(b);
  if (slow_us > 0)
    usleep(slow_us);
  b->end = seconds();
  b->error = [error retain];
  b->status = error == nil ? 4 : 5;
  [b forget];
  [q gone];
  deliver(q, b, last);
  [pool release];
}

/* The queue's thread. It holds the device, not the queue, which stops it when it goes. */
static void *work(void *arg) {
  MolQueue *q = arg;
  NSAutoreleasePool *pool;
  GSRegisterCurrentThread();
  pthread_mutex_lock(&q->lock);
  while (!q->stopping || [q->jobs count] > 0) {
    MolCommandBuffer *b;
    BOOL last;
    if ([q->jobs count] == 0) {
      pthread_cond_wait(&q->changed, &q->lock);
      continue;
    }
    b = [[q->jobs objectAtIndex:0] retain];
    [q->jobs removeObjectAtIndex:0];
    last = [q->jobs count] == 0;
    pthread_mutex_unlock(&q->lock);
    run(q, b, last);
    [b release]; /* may be the last reference to the queue's owner; the queue itself is freed by this thread */
    pthread_mutex_lock(&q->lock);
  }
  pthread_mutex_unlock(&q->lock);
  pool = [[NSAutoreleasePool alloc] init];
  [q->jobs release];
  [q->sets release];
  [q->stuck release];
  [q->held release];
  [q->device release];
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->changed);
  [pool release];
  NSDeallocateObject(q);
  GSUnregisterCurrentThread();
  return NULL;
}

@implementation MolQueue
- (id)initWithDevice:(MolDevice *)d capacity:(uintptr_t)n {
  pthread_t thread;
  if ((self = [super init]) == nil)
    return nil;
  device = [d retain];
  capacity = n;
  jobs = [[NSMutableArray alloc] init];
  sets = [[NSMutableArray alloc] init];
  stuck = [[NSMutableArray alloc] init];
  held = [[NSMutableArray alloc] init];
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&changed, NULL);
  pthread_mutex_lock(&d->plan.lock);
  [d->queues addObject:[NSValue valueWithPointer:self]];
  pthread_mutex_unlock(&d->plan.lock);
  if (pthread_create(&thread, NULL, work, self) != 0)
    mol_abort("no thread");
  pthread_detach(thread);
  return self;
}
- (void)addResidencySet:(MolResidencySet *)set {
  pthread_mutex_lock(&lock);
  [sets addObject:set];
  pthread_mutex_unlock(&lock);
}
/* Blocks while the queue is full, as Metal does. */
- (id)commandBuffer {
  MolCommandBuffer *b;
  if (mol_fails(device, &device->plan.command_buffer))
    return nil;
  [self created];
  b = [[MolCommandBuffer alloc] init];
  b->queue = [self retain];
  return [b autorelease];
}
- (void)created {
  pthread_mutex_lock(&lock);
  while (outstanding >= capacity)
    pthread_cond_wait(&changed, &lock);
  outstanding += 1;
  pthread_mutex_unlock(&lock);
}
- (void)gone {
  pthread_mutex_lock(&lock);
  outstanding -= 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}
- (void)enqueue:(MolCommandBuffer *)b {
  pthread_mutex_lock(&lock);
  [jobs addObject:b];
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}
/* Every command buffer retains its queue, so none is in flight. The thread frees the rest. */
- (void)dealloc {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pthread_mutex_lock(&device->plan.lock);
  [device->queues removeObject:[NSValue valueWithPointer:self]];
  pthread_mutex_unlock(&device->plan.lock);
  [pool release];
  pthread_mutex_lock(&lock);
  stopping = YES;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (0) /* the thread does it; the compiler asks where */
    [super dealloc];
}
@end

/* The controls. */

MolDevice *mol_create_device(int family) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  MolDevice *d = [[MolDevice alloc] init];
  d->family = family;
  d->kernels = [[NSMutableDictionary alloc] init];
  d->queues = [[NSMutableArray alloc] init];
  pthread_mutex_init(&d->plan.lock, NULL);
  pthread_cond_init(&d->plan.changed, NULL);
  d->plan.command_buffer = d->plan.encoder = d->plan.buffer = d->plan.icb = -1;
  [pool release];
  return d;
}

MolDevice *MTLCreateSystemDefaultDevice(void) { return mol_create_device(9); }

void mol_register(MolDevice *d, const char *name, MolKernel kernel, uint32_t threads) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  NSArray *value = [NSArray arrayWithObjects:[NSValue valueWithPointer:(void *)kernel],
                                             [NSNumber numberWithUnsignedInt:threads], nil];
  pthread_mutex_lock(&d->plan.lock);
  [d->kernels setObject:value forKey:[NSString stringWithUTF8String:name]];
  pthread_mutex_unlock(&d->plan.lock);
  [pool release];
}

/* Sets a number of the plan by name; -1 lifts a countdown. */
int mol_set(MolDevice *d, const char *name, int64_t value) {
  MolPlan *p = &d->plan;
  int known = 1;
  pthread_mutex_lock(&p->lock);
  if (strcmp(name, "command_buffer") == 0)
    p->command_buffer = value;
  else if (strcmp(name, "encoder") == 0)
    p->encoder = value;
  else if (strcmp(name, "buffer") == 0)
    p->buffer = value;
  else if (strcmp(name, "icb") == 0)
    p->icb = value;
  else if (strcmp(name, "never") == 0)
    p->never = (uint32_t)value;
  else if (strcmp(name, "slow_us") == 0)
    p->slow_us = (uint32_t)value;
  else if (strcmp(name, "slow_icb_us") == 0)
    p->slow_icb_us = (uint32_t)value;
  else if (strcmp(name, "reverse") == 0)
    p->reverse = (uint32_t)value;
  else if (strcmp(name, "paused") == 0)
    p->paused = value != 0;
  else
    known = 0;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
  return known;
}

void mol_fail_after(MolDevice *d, uint64_t good, int code, const char *reason) {
  MolPlan *p = &d->plan;
  pthread_mutex_lock(&p->lock);
  if (p->fails == 16)
    mol_abort("too many planned failures");
  p->fail[p->fails].good = good;
  p->fail[p->fails].code = code;
  p->fail[p->fails].reason = strdup(reason);
  p->fails += 1;
  pthread_mutex_unlock(&p->lock);
}

void mol_release_stuck(MolDevice *d) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  NSMutableArray *stuck = [NSMutableArray array];
  NSUInteger i;
  pthread_mutex_lock(&d->plan.lock);
  for (i = 0; i < [d->queues count]; i++) {
    MolQueue *q = [[d->queues objectAtIndex:i] pointerValue];
    [stuck addObjectsFromArray:q->stuck];
    [q->stuck removeAllObjects];
  }
  pthread_mutex_unlock(&d->plan.lock);
  for (i = 0; i < [stuck count]; i++)
    complete([stuck objectAtIndex:i]);
  [pool release];
}

/* Live buffers, pipelines and indirect command buffers, and committed command buffers that have not begun. */
void mol_look(MolDevice *d, uint64_t out[4]) {
  NSUInteger i;
  pthread_mutex_lock(&d->plan.lock);
  out[0] = (uint64_t)d->plan.buffers;
  out[1] = (uint64_t)d->plan.pipelines;
  out[2] = (uint64_t)d->plan.icbs;
  out[3] = 0;
  for (i = 0; i < [d->queues count]; i++) {
    MolQueue *q = [[d->queues objectAtIndex:i] pointerValue];
    pthread_mutex_lock(&q->lock);
    out[3] += [q->jobs count];
    pthread_mutex_unlock(&q->lock);
  }
  pthread_mutex_unlock(&d->plan.lock);
}
