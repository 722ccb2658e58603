# Functions that make one static library and one test program for each folder. A folder holds only its own files, so the
# lists of files are globs. To add a file, no edit is needed here (CONFIGURE_DEPENDS checks the globs again at each build).
#
#   corelane_library(DEPENDS orb/base orb/os LINK Boost::headers PRIVATE hwloc::hwloc)
#     Makes the library corelane::<folder> of the current source folder. DEPENDS names folders. COMPUTES: sanitized builds
#     are optimized, too, for folders whose tests simulate hours of virtual time. WITHOUT: sources that are left out.
#   corelane_test(FOLDER orb/cdr [DEPENDS ...] [LINK ...] [DEFINES ...] [CONCURRENT | LABEL ...])
#     Makes a Catch2 program of tests/<folder>/*_test.cpp. Registers every file as one test of CTest, with the label
#     `unit`. Folders that start threads have the label `concurrent`: the thread sanitizer's build runs those. With another
#     LABEL every test case is one test.
#   corelane_test_folder(orb/cdr unit corelane_cdr_test ...)
#     Says for `./dev test orb/cdr` that the tests with names "orb/cdr: ..." and this label need these targets.
#     corelane_test() does so by itself. corelane_write_test_folders() writes all that was said to tests/folders.txt.
#   corelane_unit_tests, corelane_concurrent_tests
#     Targets that build the programs of both labels, and those of the label `concurrent`.
add_custom_target(corelane_unit_tests)
add_custom_target(corelane_concurrent_tests)

# Sets `out` to the target name of a folder: orb/cdr -> corelane_cdr, idl/front -> corelane_idl_front.
function(corelane_target_of folder out)
  string(REGEX REPLACE "^orb/" "" name "${folder}")
  string(REPLACE "/" "_" name "${name}")
  set(${out} corelane_${name} PARENT_SCOPE)
endfunction()

# Precompiles common headers of the standard library once for all folders below the same top folder. Only for sanitized
# trees: in an optimized tree with a precompiled <string>, g++ 12 warns wrongly about "text" + std::string (GCC bug 105651).
# A file must still include the headers that it uses; tests/lint checks this.
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

# Compiles several files of a folder together, as one joint file. Most of a compiler's work for one file is to read headers
# and to compile their inline functions. The other files of the folder need the same headers.
# This code writes the joint files itself instead of using CMake's UNITY_BUILD, for two reasons. They name their parts by
# paths from the root, so that the compiler cache serves other clones. They also share the files evenly.
# As with UNITY_BUILD, a target with UNITY_BUILD OFF is left unchanged, and a UNITY_GROUP gets its own joint files. A file
# with its own compile options is compiled alone. In a project that contains Corelane, nothing is joined.
option(CORELANE_JOIN "Compile the files of a folder several at a time" ON)
set(corelane_joint_size 24)
function(corelane_join target)
  if(CORELANE_JOIN AND PROJECT_SOURCE_DIR STREQUAL corelane_SOURCE_DIR)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL corelane_join_now ${target})")  # once the target has all sources
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

# Shares the files evenly among as few joint files in the folder as possible. Sets `out` to the names of the joint files.
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

# Writes a file that includes the others. A file outside the root, such as a generated one in a build folder beside it, is
# named by its absolute path. If the root is reached through a symbolic link, `..` would be the parent of the link's target.
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
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)  # writes the file only if it changes
endfunction()

# Sets `out` to the rooms of a folder: its subfolders, without those that are separate targets.
function(corelane_rooms folder out)
  file(GLOB found LIST_DIRECTORIES true CONFIGURE_DEPENDS ${folder}/*)
  set(rooms "")
  foreach(path IN LISTS found)
    if(IS_DIRECTORY ${path} AND NOT EXISTS ${path}/CMakeLists.txt)
      list(APPEND rooms ${path})
    endif()
  endforeach()
  set(${out} "${rooms}" PARENT_SCOPE)
endfunction()

function(corelane_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "COMPUTES" "" "DEPENDS;LINK;PRIVATE;WITHOUT")
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  corelane_target_of(${folder} target)
  corelane_rooms(${CMAKE_CURRENT_SOURCE_DIR} rooms)
  list(TRANSFORM rooms APPEND /*.cpp OUTPUT_VARIABLE room_sources)
  list(FILTER rooms EXCLUDE REGEX "/detail$")  # the headers of `detail` are not installed
  list(TRANSFORM rooms APPEND /*.h OUTPUT_VARIABLE room_headers)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp ${room_sources})
  foreach(source IN LISTS arg_WITHOUT)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS *.h ${room_headers})
  # Each header must compile alone. If there is a foo.cpp, it includes foo.h first (tests/lint checks this), so compiling
  # foo.cpp shows it. The target all_verify_interface_header_sets compiles the other headers.
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
    target_compile_options(${target} PRIVATE -O1)  # no precompiled header was made with this option
  elseif(CORELANE_SANITIZE)
    corelane_precompile(${target} ${folder})
  endif()
endfunction()

function(corelane_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CONCURRENT" "FOLDER;TIMEOUT;LABEL" "DEPENDS;LINK;DEFINES;PROPERTIES")
  corelane_rooms(${PROJECT_SOURCE_DIR}/${arg_FOLDER} rooms)  # of the tested folder
  list(TRANSFORM rooms REPLACE "^${PROJECT_SOURCE_DIR}/(.*)$" "${PROJECT_SOURCE_DIR}/tests/\\1/*_test.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${arg_FOLDER}/*_test.cpp ${rooms})
  if(NOT sources)
    return()
  endif()
  corelane_target_of(${arg_FOLDER} library)
  set(target ${library}_test)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)  # detects a hang; sanitizers on a busy machine are slow
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
  corelane_test_folder(${arg_FOLDER} ${label} ${target})
  if(arg_LABEL)
    catch_discover_tests(${target} TEST_PREFIX "${arg_FOLDER}: " EXTRA_ARGS --warn NoTests
      PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${label} SKIP_REGULAR_EXPRESSION "SKIPPED: " ${arg_PROPERTIES})
  else()
    corelane_add_sources(${target} "${arg_FOLDER}" "${sources}" TIMEOUT ${arg_TIMEOUT} LABELS ${label} ${arg_PROPERTIES})
  endif()
endfunction()

function(corelane_test_folder folder label)
  list(JOIN ARGN " " targets)
  set_property(GLOBAL APPEND_STRING PROPERTY CORELANE_TEST_FOLDERS "${folder} ${label} ${targets}\n")
endfunction()

function(corelane_write_test_folders)
  get_property(lines GLOBAL PROPERTY CORELANE_TEST_FOLDERS)
  file(WRITE ${PROJECT_BINARY_DIR}/tests/folders.txt "${lines}")
  corelane_check_test_names(${CMAKE_CURRENT_SOURCE_DIR} "\n${lines}")
endfunction()

# Ends the configuration if `./dev test FOLDER` would miss a test of the directory or of one below it.
function(corelane_check_test_names directory lines)
  get_property(tests DIRECTORY ${directory} PROPERTY TESTS)
  foreach(test IN LISTS tests)
    string(REGEX REPLACE ": .*" "" folder "${test}")
    string(FIND "${lines}" "\n${folder} " found)
    if(found EQUAL -1)
      message(FATAL_ERROR "`./dev test FOLDER` would miss the test \"${test}\" of ${directory}: let its name begin with its folder and "
                          "\": \", and say with corelane_test_folder(${folder} ...) which targets it needs")
    endif()
  endforeach()
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS below)
    corelane_check_test_names(${subdirectory} "${lines}")
  endforeach()
endfunction()

# Registers the test cases of a program. To start a program takes longer than most cases, so those of one source file are one
# test of CTest and share a process. This also shows what a case leaves behind. One more test has the cases of suites in
# headers. tests/report.py counts the cases.
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
