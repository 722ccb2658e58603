// Tells which sanitizer this translation unit is compiled with. g++ defines a macro, clang a feature.
//   CORELANE_ADDRESS_SANITIZER, CORELANE_THREAD_SANITIZER   0 or 1
#pragma once

#if defined(__has_feature)
#define CORELANE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define CORELANE_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CORELANE_HAS_FEATURE(address_sanitizer)
#define CORELANE_ADDRESS_SANITIZER 1
#else
#define CORELANE_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || CORELANE_HAS_FEATURE(thread_sanitizer)
#define CORELANE_THREAD_SANITIZER 1
#else
#define CORELANE_THREAD_SANITIZER 0
#endif

#undef CORELANE_HAS_FEATURE
