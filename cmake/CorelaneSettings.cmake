# Compiler settings that all targets of this build share. They do not apply to users of the package.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # compile time matters: `dev test` builds the tree three times
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)  # compiling a static library need not wait for the libraries that it links

find_program(CORELANE_CCACHE ccache)
if(CORELANE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # CCACHE_SLOPPINESS: precompiled headers need it; see the ccache manual, "Precompiled headers".
  # CCACHE_BASEDIR: ccache hashes paths below it as relative paths. So another clone of the same commit finds what this
  # clone compiled.
  # CCACHE_DEPEND: the compiler lists a file's headers in any case (-MD), so a cache miss needs no preprocessing first.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${CORELANE_CCACHE})
endif()

find_program(CORELANE_MOLD mold)
if(CORELANE_MOLD)
  # GNU ld groups functions that run in each call ([[gnu::hot]]) by default; mold does so with this option.
  add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(CORELANE_LOCK_CHECKS -Wthread-safety)  # checks the annotations of orb/base/thread_safety.h
endif()
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror ${CORELANE_LOCK_CHECKS})
if(CORELANE_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CORELANE_BUILD_FUZZERS needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-16")
  endif()
  set(instrument -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_compile_options(${instrument} -fno-omit-frame-pointer -O1 -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ warns about its own instrumentation
  add_link_options(${instrument})
endif()
if(CORELANE_SANITIZE)
  # These builds need stack traces, the assertions that a release omits, and a short build time. To optimize code that
  # AddressSanitizer has instrumented would double the compile time. Folders whose tests compute much ask for -O1.
  set(optimisation -O1)
  if(CORELANE_SANITIZE MATCHES address)
    set(optimisation -O0)
  endif()
  add_compile_options(-fsanitize=${CORELANE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${optimisation} -g1
                      -UNDEBUG -D_GLIBCXX_ASSERTIONS
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # g++ warns about its own instrumentation
  add_link_options(-fsanitize=${CORELANE_SANITIZE})
  if(CORELANE_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # This check compares addresses of type information. They differ where g++ compiled Debian's libraries and clang compiles
    # this build.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  # For code that handles no raw bytes (the IDL compiler, the tests' own code). The check of alignment at each access takes
  # a third of a file's compile time. AddressSanitizer still finds an access through a null pointer.
  if(CORELANE_SANITIZE MATCHES undefined)
    set(CORELANE_NO_RAW_BYTES -fno-sanitize=alignment,null)
  endif()
  if(CORELANE_SANITIZE MATCHES thread)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)  # the sanitizer warns that it does not model fences, which the standard library uses
  endif()
endif()
