# Compiler settings that every target of this build shares. Nothing here is exported to a user of the package.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # each check builds the tree three times: compile time counts
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)  # compiling a static library need not wait for those below it

find_program(CORELANE_CCACHE ccache)
if(CORELANE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need the sloppiness; see the ccache manual, "Precompiled headers". Paths below the base are hashed
  # as relative ones, so that another clone of the same commit finds what this one compiled. Which headers a file has
  # the compiler tells anyway (-MD), so a miss costs no preprocessing beforehand.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${CORELANE_CCACHE})
endif()

find_program(CORELANE_MOLD mold)
if(CORELANE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
if(CORELANE_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CORELANE_BUILD_FUZZERS needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-16")
  endif()
  set(instrument -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_compile_options(${instrument} -fno-omit-frame-pointer -O1 -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # said of the instrumentation itself
  add_link_options(${instrument})
endif()
if(CORELANE_SANITIZE)
  # Only what these builds are for: stack traces, assertions that a release leaves out, and a short build. Optimising what
  # AddressSanitizer has instrumented takes half of its compile time; folders whose tests compute much ask for -O1.
  set(optimisation -O1)
  if(CORELANE_SANITIZE MATCHES address)
    set(optimisation -O0)
  endif()
  add_compile_options(-fsanitize=${CORELANE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${optimisation} -g1
                      -UNDEBUG -D_GLIBCXX_ASSERTIONS
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # said of the instrumentation itself
  add_link_options(-fsanitize=${CORELANE_SANITIZE})
  if(CORELANE_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # It compares addresses of type information, which g++ made for the libraries of Debian and clang makes for us.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  # For what touches no raw bytes (the IDL compiler, the tests' own code): a third of the time that a file takes is the
  # question, at each access, whether the pointer is aligned. A null one ends in AddressSanitizer's hands.
  if(CORELANE_SANITIZE MATCHES undefined)
    set(CORELANE_NO_RAW_BYTES -fno-sanitize=alignment,null)
  endif()
  if(CORELANE_SANITIZE MATCHES thread)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)  # fences in the standard library; the sanitizer warns that it does not model them
  endif()
endif()
