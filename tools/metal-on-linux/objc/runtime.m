/* What objc2 and block2 expect of a runtime and GCC's libobjc lacks: reference counting by function, autorelease pools
 * by function, and blocks. */
#import "mol.h"
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t registered;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *unused) {
  (void)unused;
  GSUnregisterCurrentThread();
}

static void make_key(void) { pthread_key_create(&registered, thread_ends); }

/* GNUstep keeps a thread's pools with its NSThread; threads that others made have none until they are registered. */
static void enter_thread(void) {
  pthread_once(&once, make_key);
  if (pthread_getspecific(registered) == NULL) {
    GSRegisterCurrentThread();
    pthread_setspecific(registered, (void *)1);
  }
}

void *objc_autoreleasePoolPush(void) {
  enter_thread();
  return [[NSAutoreleasePool alloc] init];
}

void objc_autoreleasePoolPop(void *pool) { [(NSAutoreleasePool *)pool release]; }

id objc_retain(id object) { return [object retain]; }
void objc_release(id object) { [object release]; }
id objc_autorelease(id object) { return [object autorelease]; }
id objc_autoreleaseReturnValue(id object) { return [object autorelease]; }
id objc_retainAutorelease(id object) { return [[object retain] autorelease]; }
id objc_retainAutoreleaseReturnValue(id object) { return [[object retain] autorelease]; }
id objc_retainAutoreleasedReturnValue(id object) { return [object retain]; }

/* libobjc's headers define this one inline. */
#undef object_getClass
const void *mol_object_getClass(id object) __asm__("object_getClass");
const void *mol_object_getClass(id object) { return object != nil ? object->class_pointer : Nil; }

/* Blocks, as clang's Block ABI specification lays them out. */
typedef struct Block {
  void *isa;
  int flags; /* 1 << 25: has copy and dispose helpers; 1 << 28: global; 1 << 24: on the heap; 0xfffe: count times two */
  int reserved;
  void (*invoke)(void *, id);
  struct {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *);
  } * descriptor;
} Block;

enum { HELPERS = 1 << 25, GLOBAL = 1 << 28, HEAP = 1 << 24, ONE = 2, COUNT = 0xfffe };

void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32], *_NSConcreteMallocBlock[32];

void *_Block_copy(const void *block) {
  Block *b = (Block *)block, *copy;
  if (b == NULL || (b->flags & GLOBAL))
    return b;
  if (b->flags & HEAP) {
    __atomic_add_fetch(&b->flags, ONE, __ATOMIC_RELAXED);
    return b;
  }
  copy = malloc(b->descriptor->size);
  if (copy == NULL)
    return NULL;
  memcpy(copy, b, b->descriptor->size);
  copy->flags = (b->flags & ~COUNT) | HEAP | ONE;
  copy->isa = _NSConcreteMallocBlock;
  if (copy->flags & HELPERS)
    copy->descriptor->copy(copy, b);
  return copy;
}

void _Block_release(const void *block) {
  Block *b = (Block *)block;
  if (b == NULL || !(b->flags & HEAP))
    return;
  if ((__atomic_sub_fetch(&b->flags, ONE, __ATOMIC_ACQ_REL) & COUNT) != 0)
    return;
  if (b->flags & HELPERS)
    b->descriptor->dispose(b);
  free(b);
}

void _Block_object_assign(void *to, const void *object, int flags) {
  (void)flags;
  *(const void **)to = object;
}
void _Block_object_dispose(const void *object, int flags) {
  (void)object;
  (void)flags;
}

void mol_call_block(void *block, id argument) { ((Block *)block)->invoke(block, argument); }
void *mol_copy_block(void *block) { return _Block_copy(block); }
void mol_release_block(void *block) { _Block_release(block); }

/* libdispatch's data object: an NSData that copies. */
void *dispatch_data_create(const void *bytes, size_t size, void *queue, const void *destructor) {
  (void)queue;
  (void)destructor;
  enter_thread();
  return [[NSData alloc] initWithBytes:bytes length:size];
}
