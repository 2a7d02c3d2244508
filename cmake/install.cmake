# `cmake --install` installs the command, the libraries, and the headers that programs include. Programs find them with
# pkg-config: c++ -std=c++20 program.cpp $(pkg-config --cflags --libs headrace); or with find_package(headrace)
include(GNUInstallDirs)

set(libraries headrace headrace_actors headrace_pipeline headrace_runtime headrace_schemas headrace_base)
install(TARGETS ${libraries} ARCHIVE)
install(CODE "
  set(HEADRACE_SOURCE_DIR \"${CMAKE_SOURCE_DIR}\")
  set(HEADRACE_HEADERS \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/headrace\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake\")")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_file(${CMAKE_CURRENT_LIST_DIR}/headrace.pc.in ${CMAKE_BINARY_DIR}/headrace.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/headrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/headraceConfig.cmake.in
  ${CMAKE_BINARY_DIR}/headraceConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/headraceConfig.cmake ${CMAKE_BINARY_DIR}/headraceConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
