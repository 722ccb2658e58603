# Other ORBs, for tests and benchmarks. Programs that use them never link Corelane.
#
#   CORELANE_OMNIORB                       whether omniORB and its IDL compiler were found
#   corelane_omniorb_idl(TARGET <library> FILES a.idl b.idl [STRIP] [OPTIONS -Wbshortcut])
#     Builds the static library <library> from what omniidl generates (a.hh, aSK.cc, and aDynSK.cc for Any), with omniORB's
#     flags. STRIP: first runs `corelane-idl -E --strip-annotations` on the files, because omniidl rejects annotations.
find_package(PkgConfig QUIET)
set(CORELANE_OMNIORB FALSE)
if(PkgConfig_FOUND)
  pkg_check_modules(OMNIORB QUIET IMPORTED_TARGET omniDynamic4 omniORB4)
  find_program(CORELANE_OMNIIDL omniidl)
  mark_as_advanced(CORELANE_OMNIIDL)
  if(TARGET PkgConfig::OMNIORB AND CORELANE_OMNIIDL)
    set(CORELANE_OMNIORB TRUE)
  endif()
endif()

function(corelane_omniorb_idl)
  cmake_parse_arguments(PARSE_ARGV 0 arg "STRIP" "TARGET" "FILES;OPTIONS")
  set(out_dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_omniidl)
  file(MAKE_DIRECTORY ${out_dir})
  set(sources "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE source)
    cmake_path(GET source STEM LAST_ONLY stem)
    if(arg_STRIP)
      set(stripped ${out_dir}/${stem}.idl)
      add_custom_command(
        OUTPUT ${stripped}
        COMMAND corelane-idl -E --strip-annotations ${source} > ${stripped}
        DEPENDS corelane-idl ${source}
        COMMENT "IDL ${stem}.idl without annotations"
        VERBATIM)
      set(source ${stripped})
    endif()
    add_custom_command(
      OUTPUT ${out_dir}/${stem}.hh ${out_dir}/${stem}SK.cc ${out_dir}/${stem}DynSK.cc
      COMMAND ${CORELANE_OMNIIDL} -bcxx -Wba ${arg_OPTIONS} -C${out_dir} ${source}
      DEPENDS ${source}
      COMMENT "omniidl ${stem}.idl"
      VERBATIM)
    list(APPEND sources ${out_dir}/${stem}SK.cc ${out_dir}/${stem}DynSK.cc ${out_dir}/${stem}.hh)
  endforeach()
  add_library(${arg_TARGET} STATIC ${sources})
  target_compile_options(${arg_TARGET} PRIVATE -w)
  target_include_directories(${arg_TARGET} SYSTEM PUBLIC ${out_dir})
  target_link_libraries(${arg_TARGET} PUBLIC PkgConfig::OMNIORB)
endfunction()
