# Rules for `cmake --install`. It installs the libraries with their headers (include/corelane), the IDL compiler, the IDL
# that the compiler embeds (share/corelane/idl), and the command `corelane`. It also installs README.md, docs/, examples/,
# a CMake package and a pkg-config file. tests/package builds programs against them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Umbrella targets: what a client links, what a server links, and what a server links that binds its name.
add_library(corelane_client INTERFACE)
target_link_libraries(corelane_client INTERFACE corelane_corba)
add_library(corelane_server INTERFACE)
target_link_libraries(corelane_server INTERFACE corelane_corba corelane_poa)
add_library(corelane_registration INTERFACE)  # corelane::naming::Registration: a name that is removed with its server
target_link_libraries(corelane_registration INTERFACE corelane_services_nameserver_client)
foreach(umbrella client server registration)
  add_library(corelane::${umbrella} ALIAS corelane_${umbrella})
  set_target_properties(corelane_${umbrella} PROPERTIES EXPORT_NAME ${umbrella})
endforeach()

get_property(corelane_libraries GLOBAL PROPERTY CORELANE_LIBRARIES)
list(REMOVE_ITEM corelane_libraries corelane_idl_tool)  # the code of a program, like the libraries of services
list(FILTER corelane_libraries EXCLUDE REGEX "^corelane_services_")
install(TARGETS ${corelane_libraries} EXPORT corelaneTargets FILE_SET HEADERS DESTINATION include/corelane
                                                             FILE_SET alone DESTINATION include/corelane)
install(TARGETS corelane_client corelane_server corelane_registration corelane_idl corelane-idl EXPORT corelaneTargets)
# The naming libraries: stubs with generated headers, registration of servers, and channels by name.
set_target_properties(corelane_naming PROPERTIES EXPORT_NAME naming)
target_include_directories(corelane_naming INTERFACE $<INSTALL_INTERFACE:include/corelane>)
install(TARGETS corelane_naming EXPORT corelaneTargets)
install(TARGETS corelane_services_nameserver_client corelane_services_nameserver_broker EXPORT corelaneTargets
        FILE_SET HEADERS DESTINATION include/corelane
        FILE_SET alone DESTINATION include/corelane)
install(DIRECTORY ${PROJECT_BINARY_DIR}/services/nameserver/corelane_naming_idl/ DESTINATION include/corelane FILES_MATCHING PATTERN *.h)
install(TARGETS corelane-tool corelane-nameserver corelane-eval-node)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/idl/include/corelane DESTINATION share/corelane/idl FILES_MATCHING PATTERN *.idl)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/services/nameserver/idl/ DESTINATION share/corelane/idl FILES_MATCHING PATTERN *.idl)
# These have the same paths as in the source tree, so that links between them work.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.json)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/corelane)
install(EXPORT corelaneTargets NAMESPACE corelane:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/corelaneConfig.cmake.in ${PROJECT_BINARY_DIR}/corelaneConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/corelaneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/corelaneConfig.cmake ${PROJECT_BINARY_DIR}/corelaneConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/CorelaneIdl.cmake ${CMAKE_CURRENT_LIST_DIR}/FindHwloc.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindACE.cmake
        DESTINATION ${package_folder})

# For builds without CMake: lists the static libraries in link order, that is, the layers from top to bottom.
set(corelane_link_line "")
foreach(library IN LISTS corelane_libraries)
  if(NOT library MATCHES "^corelane_idl_")
    list(PREPEND corelane_link_line -l${library})
  endif()
endforeach()
list(PREPEND corelane_link_line -lcorelane_services_nameserver_client -lcorelane_services_nameserver_broker -lcorelane_naming)
list(JOIN corelane_link_line " " CORELANE_LINK_LINE)
set(CORELANE_REQUIRES_ACE "")
if(CORELANE_ACE)
  set(CORELANE_REQUIRES_ACE " ACE")
endif()
file(RELATIVE_PATH CORELANE_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/corelane.pc.in ${PROJECT_BINARY_DIR}/corelane.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/corelane.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
