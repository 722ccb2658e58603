# Finds hwloc and makes the target hwloc::hwloc. It is installed with the package, because Debian's hwloc has no CMake files.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
find_library(Hwloc_LIBRARY hwloc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR)
if(Hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES IMPORTED_LOCATION ${Hwloc_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${Hwloc_INCLUDE_DIR})
endif()
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)
