// Annotations that say which mutex guards what. clang checks them at compile time (-Wthread-safety, which the sanitizer
// builds use); for other compilers they are empty. CONTRIBUTING.md shows how to annotate a class.
//
//   CORELANE_GUARDED_BY(mutex)      on a field: a thread that reads or writes it holds the mutex
//   CORELANE_PT_GUARDED_BY(mutex)   on a pointer: the same for what it points to
//   CORELANE_REQUIRES(mutex)        on a function: the caller holds the mutex
//   CORELANE_EXCLUDES(mutex)        on a function: the caller does not hold the mutex
//   CORELANE_NO_THREAD_SAFETY_ANALYSIS   on a function whose body is not checked; a comment beside it says why
//
// The rest is for types that are mutexes or locks (orb/os/mutex.h, orb/os/lock.h).
#pragma once

#ifdef __clang__
#define CORELANE_THREAD_SAFETY(...) __attribute__((__VA_ARGS__))
#else
#define CORELANE_THREAD_SAFETY(...)
#endif

#define CORELANE_GUARDED_BY(...) CORELANE_THREAD_SAFETY(guarded_by(__VA_ARGS__))
#define CORELANE_PT_GUARDED_BY(...) CORELANE_THREAD_SAFETY(pt_guarded_by(__VA_ARGS__))
#define CORELANE_REQUIRES(...) CORELANE_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define CORELANE_EXCLUDES(...) CORELANE_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define CORELANE_NO_THREAD_SAFETY_ANALYSIS CORELANE_THREAD_SAFETY(no_thread_safety_analysis)

#define CORELANE_CAPABILITY(name) CORELANE_THREAD_SAFETY(capability(name))
#define CORELANE_SCOPED_CAPABILITY CORELANE_THREAD_SAFETY(scoped_lockable)
#define CORELANE_ACQUIRE(...) CORELANE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define CORELANE_TRY_ACQUIRE(...) CORELANE_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define CORELANE_RELEASE(...) CORELANE_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define CORELANE_ACQUIRE_SHARED(...) CORELANE_THREAD_SAFETY(acquire_shared_capability(__VA_ARGS__))
#define CORELANE_RELEASE_SHARED(...) CORELANE_THREAD_SAFETY(release_shared_capability(__VA_ARGS__))
