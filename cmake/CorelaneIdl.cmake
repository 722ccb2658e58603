# corelane_idl_generate(TARGET <library> FILES a.idl b.idl [INCLUDES dir ...] [ROOT dir] [OPTIONS option ...])
#   Compiles IDL into the static library <library>: fooC.h/.cpp (client) and fooS.h/.cpp (servant) for each foo.idl,
#   at the path of foo.idl relative to ROOT (default: the current source folder), under the build folder. With the option
#   --ami it also generates fooAmiC.h, fooAmiC.cpp, fooAmiS.h and fooAmiS.cpp.
#   A call of another form, or a file that does not exist, ends the configuration with the reason. An IDL file that does not
#   exist yet is accepted if a rule of the same folder generates it.
function(corelane_idl_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;ROOT" "FILES;INCLUDES;OPTIONS")
  if(NOT arg_ROOT)
    set(arg_ROOT ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  corelane_check_idl_call()
  set(out_dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_idl)
  set(include_options ${arg_OPTIONS} -I ${arg_ROOT})
  foreach(dir IN LISTS arg_INCLUDES)
    list(APPEND include_options -I ${dir})
  endforeach()
  set(generated "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${arg_ROOT} OUTPUT_VARIABLE source)
    file(RELATIVE_PATH stem ${arg_ROOT} ${source})
    string(REGEX REPLACE "\\.idl$" "" stem ${stem})
    cmake_path(GET stem PARENT_PATH folder)
    file(MAKE_DIRECTORY ${out_dir}/${folder})
    set(outputs "")
    set(stems ${stem})
    if("--ami" IN_LIST arg_OPTIONS)
      list(APPEND stems ${stem}Ami)
    endif()
    foreach(name IN LISTS stems)
      list(APPEND outputs ${out_dir}/${name}C.h ${out_dir}/${name}C.cpp ${out_dir}/${name}S.h ${out_dir}/${name}S.cpp)
    endforeach()
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND corelane::corelane-idl ${include_options} --output-dir ${out_dir} --depfile ${out_dir}/${stem}.d ${source}
      DEPENDS corelane::corelane-idl ${source}
      DEPFILE ${out_dir}/${stem}.d
      COMMENT "IDL ${stem}.idl"
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  add_library(${arg_TARGET} STATIC ${generated})
  target_include_directories(${arg_TARGET} PUBLIC $<BUILD_INTERFACE:${out_dir}>)
  target_link_libraries(${arg_TARGET} PUBLIC corelane::corba)
  if(COMMAND corelane_join)
    corelane_join(${arg_TARGET})  # only in Corelane's own build
  endif()
endfunction()

# Ends the configuration if the arguments of the calling function are wrong.
macro(corelane_check_idl_call)
  set(form "corelane_idl_generate(TARGET plant FILES plant.idl)")
  if(arg_UNPARSED_ARGUMENTS)
    list(GET arg_UNPARSED_ARGUMENTS 0 first)
    message(FATAL_ERROR "corelane_idl_generate: ${first} stands behind no keyword (TARGET, FILES, ROOT, INCLUDES, OPTIONS); "
                        "write ${form}")
  elseif(NOT arg_TARGET)
    message(FATAL_ERROR "corelane_idl_generate: TARGET, the library that is to be made, is missing; write ${form}")
  elseif(NOT arg_FILES)
    message(FATAL_ERROR "corelane_idl_generate: FILES, the IDL files of ${arg_TARGET}, is missing or empty; write ${form}")
  elseif(TARGET ${arg_TARGET})
    message(FATAL_ERROR "corelane_idl_generate: there is a target ${arg_TARGET} already; TARGET is the name of a library that "
                        "is made, such as ${arg_TARGET}_idl, which others link: target_link_libraries(${arg_TARGET} PRIVATE "
                        "${arg_TARGET}_idl)")
  endif()
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${arg_ROOT} OUTPUT_VARIABLE source)
    get_source_file_property(is_generated ${source} GENERATED)
    if(NOT EXISTS ${source} AND NOT is_generated)
      message(FATAL_ERROR "corelane_idl_generate(TARGET ${arg_TARGET} ...): there is no file ${source}; names in FILES are "
                          "relative to ROOT, ${arg_ROOT}")
    elseif(NOT source MATCHES "\\.idl$")
      message(FATAL_ERROR "corelane_idl_generate(TARGET ${arg_TARGET} ...): ${source} is no IDL file: its name does not end in "
                          ".idl")
    endif()
  endforeach()
endmacro()
