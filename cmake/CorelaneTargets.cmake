# One static library and one test program per folder. Folders hold nothing but their own files, so the lists are globs:
# adding a file needs no edit here (CONFIGURE_DEPENDS re-checks them at each build).
#
#   corelane_library(DEPENDS orb/base orb/os LINK Boost::headers PRIVATE hwloc::hwloc)
#     makes corelane::<folder> of the current source folder; DEPENDS names folders. With COMPUTES a sanitized build is
#     optimised too: for folders whose tests run through hours of virtual time.
#   corelane_test(FOLDER orb/cdr [DEPENDS ...] [LINK ...] [DEFINES ...] [CONCURRENT | LABEL ...])
#     makes a Catch2 program of tests/<folder>/*_test.cpp and registers every test case (in sanitized trees: every file), with the label `unit`, or
#     `concurrent` for folders that start threads: the thread sanitizer's build runs those.
#   corelane_unit_tests, corelane_concurrent_tests
#     the programs of both labels, and of the second one.
add_custom_target(corelane_unit_tests)
add_custom_target(corelane_concurrent_tests)

# The target name of a folder: orb/cdr -> corelane_cdr, idl/front -> corelane_idl_front.
function(corelane_target_of folder out)
  string(REGEX REPLACE "^orb/" "" name "${folder}")
  string(REPLACE "/" "_" name "${name}")
  set(${out} corelane_${name} PARENT_SCOPE)
endfunction()

# The usual headers of the standard library, compiled once for all folders below the same top. For sanitized trees alone: in
# an optimised one g++ 12 says of "text" + std::string, when <string> was precompiled, what is not so (GCC bug 105651).
# What a file uses of these headers it includes all the same; tests/lint sees to it.
function(corelane_precompile target folder)
  string(REGEX REPLACE "/.*" "" top ${folder})
  set(shared corelane_precompiled_${top})
  if(NOT TARGET ${shared})
    add_library(${shared} OBJECT ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
    target_compile_features(${shared} PUBLIC cxx_std_20)
    target_precompile_headers(${shared} PRIVATE <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <mutex>
                                                <optional> <span> <string> <thread> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# Files of a folder are compiled several at a time: most of what a compiler does for one of them is to read headers and to
# translate their inline functions, which those beside it need, too. The joint files are written here and not by CMake's
# UNITY_BUILD, so that they name their parts by paths from the root (the compiler cache serves other clones) and share them
# evenly. As there, a target with UNITY_BUILD OFF is left as it is and a UNITY_GROUP keeps to itself; files with options of
# their own stay alone. Targets of a project that has Corelane as a part of it are its own.
option(CORELANE_JOIN "Compile the files of a folder several at a time" ON)
set(corelane_joint_size 24)
function(corelane_join target)
  if(CORELANE_JOIN AND PROJECT_SOURCE_DIR STREQUAL corelane_SOURCE_DIR)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL corelane_join_now ${target})")  # when its sources are complete
  endif()
endfunction()

function(corelane_join_now target)
  get_target_property(unity ${target} UNITY_BUILD)
  if(unity STREQUAL "OFF")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(groups "")
  set(remaining "")
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(group ${source} UNITY_GROUP)
    if(source MATCHES "\\.(cpp|cc)$" AND NOT options)
      list(APPEND groups ${group})
      list(APPEND parts_${group} ${source})
    else()
      list(APPEND remaining ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    string(REPLACE "NOTFOUND" "joint" name ${group})
    corelane_share(${CMAKE_CURRENT_BINARY_DIR}/${target}_${name} joint_files ${parts_${group}})
    list(APPEND remaining ${joint_files})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${remaining}")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# Shares the files among as few joint ones in the folder as may be, evenly, and gives their names.
function(corelane_share folder out)
  list(LENGTH ARGN count)
  math(EXPR units "(${count} + ${corelane_joint_size} - 1) / ${corelane_joint_size}")
  math(EXPR last "${units} - 1")
  foreach(unit RANGE ${last})
    math(EXPR begin "${unit} * ${count} / ${units}")
    math(EXPR length "(${unit} + 1) * ${count} / ${units} - ${begin}")
    list(SUBLIST ARGN ${begin} ${length} parts)
    corelane_write_joint(${folder}/${unit}.cpp ${parts})
    list(APPEND joint_files ${folder}/${unit}.cpp)
  endforeach()
  set(${out} ${joint_files} PARENT_SCOPE)
endfunction()

# Writes a file that includes the others. What lies outside the root, as what a build beside it generates, has its whole
# path: where the root is reached through a symbolic link, `..` is the parent of what the link names.
function(corelane_write_joint file)
  set(text "")
  foreach(path IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH path)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${path} NORMALIZE inside)
    if(inside)
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    endif()
    string(APPEND text "#include \"${path}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)  # written when it changes
endfunction()

# The rooms of a folder: its folders but those that are targets of their own, and `detail`, whose headers are not installed.
function(corelane_rooms folder out)
  file(GLOB found LIST_DIRECTORIES true CONFIGURE_DEPENDS ${folder}/*)
  set(rooms "")
  foreach(path IN LISTS found)
    if(IS_DIRECTORY ${path} AND NOT EXISTS ${path}/CMakeLists.txt AND NOT path MATCHES "/detail$")
      list(APPEND rooms ${path})
    endif()
  endforeach()
  set(${out} "${rooms}" PARENT_SCOPE)
endfunction()

function(corelane_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "COMPUTES" "" "DEPENDS;LINK;PRIVATE")
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  corelane_target_of(${folder} target)
  corelane_rooms(${CMAKE_CURRENT_SOURCE_DIR} rooms)
  list(TRANSFORM rooms APPEND /*.cpp OUTPUT_VARIABLE room_sources)
  list(TRANSFORM rooms APPEND /*.h OUTPUT_VARIABLE room_headers)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp ${room_sources})
  file(GLOB headers CONFIGURE_DEPENDS *.h ${room_headers})
  # A header stands alone. Where foo.cpp includes foo.h first (tests/lint sees to it), compiling foo.cpp shows it; the
  # others are compiled by themselves, by the target all_verify_interface_header_sets.
  string(REGEX REPLACE "\\.cpp(;|$)" ".h\\1" shown "${sources}")
  set(alone ${headers})
  list(REMOVE_ITEM alone ${shown})
  list(REMOVE_ITEM headers ${alone})
  if(NOT sources)
    set(sources ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  endif()

  add_library(${target} STATIC ${sources})
  corelane_join(${target})
  string(REGEX REPLACE "^corelane_" "" short ${target})
  add_library(corelane::${short} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${short} VERIFY_INTERFACE_HEADER_SETS ON
                                             INTERFACE_HEADER_SETS_TO_VERIFY alone)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers}
                                  FILE_SET alone TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${alone})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/corelane>)
  foreach(dependency IN LISTS arg_DEPENDS)
    corelane_target_of(${dependency} library)
    if(NOT TARGET ${library})
      message(FATAL_ERROR "${folder} depends on ${dependency}, which is no folder of a lower layer")
    endif()
    target_link_libraries(${target} PUBLIC ${library})
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY CORELANE_LIBRARIES ${target})
  if(CORELANE_SANITIZE AND arg_COMPUTES)
    target_compile_options(${target} PRIVATE -O1)  # nothing precompiled fits this
  elseif(CORELANE_SANITIZE)
    corelane_precompile(${target} ${folder})
  endif()
endfunction()

function(corelane_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CONCURRENT" "FOLDER;TIMEOUT;LABEL" "DEPENDS;LINK;DEFINES;PROPERTIES")
  corelane_rooms(${PROJECT_SOURCE_DIR}/${arg_FOLDER} rooms)  # of what is tested
  list(TRANSFORM rooms REPLACE "^${PROJECT_SOURCE_DIR}/(.*)$" "${PROJECT_SOURCE_DIR}/tests/\\1/*_test.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}/*_test.cpp ${rooms})
  if(NOT sources)
    return()
  endif()
  corelane_target_of(${arg_FOLDER} library)
  set(target ${library}_test)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)  # a hang, not slowness: sanitizers on a busy machine are slow
  endif()
  add_executable(${target} ${sources})
  corelane_join(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  target_precompile_headers(${target} REUSE_FROM corelane_catch_main)
  target_link_libraries(${target} PRIVATE corelane_catch_main ${arg_LINK})
  if(TARGET ${library})
    target_link_libraries(${target} PRIVATE ${library})
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    corelane_target_of(${dependency} name)
    target_link_libraries(${target} PRIVATE ${name})
  endforeach()
  set(label unit)
  if(arg_LABEL)
    set(label ${arg_LABEL})
  elseif(arg_CONCURRENT)
    set(label concurrent)
    add_dependencies(corelane_unit_tests ${target})
    add_dependencies(corelane_concurrent_tests ${target})
  else()
    add_dependencies(corelane_unit_tests ${target})
  endif()
  if(CORELANE_SANITIZE)
    corelane_add_sources(${target} "${arg_FOLDER}" "${sources}" TIMEOUT ${arg_TIMEOUT} LABELS ${label} ${arg_PROPERTIES})
  else()
    catch_discover_tests(${target} TEST_PREFIX "${arg_FOLDER}: " EXTRA_ARGS --warn NoTests
      PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${label} SKIP_REGULAR_EXPRESSION "SKIPPED: " ${arg_PROPERTIES})
  endif()
endfunction()

# A sanitized program is slow to start, so there the cases of a source file are one test of CTest and share a process: which
# also shows what a case leaves behind. One test more has the cases of suites in headers. tests/report.py counts the cases.
function(corelane_add_sources target folder sources)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    list(APPEND stems ${stem})
    string(APPEND others "~[#${stem}]")
    file(STRINGS ${source} own REGEX "^ *(TEST_CASE|TEMPLATE_TEST_CASE|TEMPLATE_LIST_TEST_CASE|SCENARIO)\\(" LIMIT_COUNT 1)
    if(own)
      list(APPEND with_cases ${stem})
    endif()
  endforeach()
  foreach(stem IN LISTS stems ITEMS suites)
    set(cases "[#${stem}]")
    if(stem STREQUAL suites)
      set(cases ${others})
    elseif(stem IN_LIST with_cases)
      list(APPEND cases --warn NoTests)
    endif()
    add_test(NAME "${folder}: ${stem}" COMMAND ${target} --filenames-as-tags ${cases})
    set_tests_properties("${folder}: ${stem}" PROPERTIES ${ARGN})
  endforeach()
endfunction()
