/* Software Metal classes for GCC's Objective-C runtime: enough of Metal for rig-metal's `apple` module to run on Linux.
 *
 * They record what is encoded and run it on a thread of the queue, with kernels that are C functions. They check what
 * Metal's validation checks and some of what Metal leaves to the program: residency, fences between encoders, barriers
 * in indirect command buffers, ended encoders. A broken rule of memory or order fails the command buffer; a broken rule
 * of the API aborts, as Metal's validation does. Faults happen when the mol_ functions say so.
 */
#ifndef MOL_H
#define MOL_H

#import <Foundation/Foundation.h>
#include <pthread.h>
#include <stdint.h>

enum { MOL_BUFFERS = 31 };

typedef struct MolSize {
  uintptr_t width, height, depth;
} MolSize;

/* A dispatch as a kernel sees it; the same as rig-metal's CLaunch. */
typedef struct MolLaunch {
  uint32_t groups[3], threads[3];
  void *buffers[MOL_BUFFERS];
  uint64_t bytes[MOL_BUFFERS];
  uint32_t threadgroup[MOL_BUFFERS];
} MolLaunch;

typedef int (*MolKernel)(const MolLaunch *);

/* What a device does wrong, and what of it lives. Under `lock`. */
typedef struct MolPlan {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t command_buffer, encoder, buffer, icb; /* calls until all fail; negative: none does */
  struct {
    uint64_t good;
    int code;
    char *reason;
  } fail[16];
  int fails;
  uint32_t never;
  uint32_t slow_us, slow_icb_us;
  uint32_t reverse;
  int paused;
  int64_t buffers, pipelines, icbs; /* live */
} MolPlan;

@class MolQueue;

@interface MolDevice : NSObject {
@public
  MolPlan plan;
  int family; /* of Apple's, 0 for a Mac family */
  NSMutableDictionary *kernels;
  NSMutableArray *queues; /* of NSValue, not retained */
}
@end

@interface MolResidencySet : NSObject {
@public
  NSMutableSet *added, *resident; /* of NSValue, not retained */
}
- (void)addAllocation:(id)allocation;
- (void)removeAllocation:(id)allocation;
- (void)commit;
- (void)requestResidency;
- (BOOL)holds:(id)allocation;
@end

@interface MolFence : NSObject
@end

@interface MolBuffer : NSObject {
@public
  MolDevice *device;
  void *memory;
  uintptr_t length;
}
- (id)initWithDevice:(MolDevice *)d length:(uintptr_t)n;
@end

@interface MolLibrary : NSObject {
@public
  MolDevice *device;
  NSMutableSet *names;
}
@end

@interface MolFunction : NSObject {
@public
  NSString *name;
}
@end

@interface MolPipeline : NSObject {
@public
  MolDevice *device;
  MolKernel kernel;
  uintptr_t threads;
  BOOL indirect;
}
@end

@interface MolIndirectCommand : NSObject {
@public
  MolPipeline *pipeline;
  MolBuffer *buffer;
  uintptr_t offset;
  MolSize groups, size;
  BOOL barrier;
  int *running; /* the buffer's count of runs in flight */
  BOOL *broken; /* a change came while one was */
}
@end

@interface MolIndirectBuffer : NSObject {
@public
  MolDevice *device;
  NSMutableArray *commands;
  int running;
  BOOL broken;
}
@end

typedef enum MolKind { MOL_PIPELINE, MOL_BUFFER, MOL_THREADGROUP, MOL_DISPATCH, MOL_EXECUTE, MOL_WAIT, MOL_UPDATE } MolKind;

/* A recorded command; `object` is retained until the command buffer has run. */
typedef struct MolCommand {
  MolKind kind;
  id object;
  uintptr_t a, b; /* offset or length, and index; or range */
  MolSize groups, threads;
} MolCommand;

@interface MolCommandBuffer : NSObject {
@public
  MolQueue *queue;
  MolCommand *commands;
  size_t count, room;
  id encoder; /* the open one, not retained */
  void *handlers[4];
  int handler_count;
  intptr_t status;
  NSError *error;
  double start, end;
  BOOL committed;
}
- (void)push:(MolCommand)command;
- (void)forget;
@end

@interface MolEncoder : NSObject {
@public
  MolCommandBuffer *buffer;
}
@end

@interface MolQueue : NSObject {
@public
  MolDevice *device;
  uintptr_t capacity, outstanding;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  NSMutableArray *jobs, *sets, *stuck, *held;
  BOOL stopping;
}
- (id)initWithDevice:(MolDevice *)d capacity:(uintptr_t)n;
- (void)enqueue:(MolCommandBuffer *)buffer;
- (void)created;
- (void)gone;
@end

/* Whether the n-th call fails; counts down. */
BOOL mol_fails(MolDevice *device, int64_t *countdown);
void mol_count(MolDevice *device, int64_t *what, int by);
void mol_abort(const char *reason);
/* Runs a command buffer's commands; nil or why it fails. */
NSError *mol_execute(MolCommandBuffer *buffer);
NSError *mol_error(int code, NSString *reason);
void mol_call_block(void *block, id argument);
void *mol_copy_block(void *block);
void mol_release_block(void *block);

#endif
