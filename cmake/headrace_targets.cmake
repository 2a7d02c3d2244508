# Functions and settings with which the CMakeLists.txt of the folders define their targets.

find_program(CCACHE ccache)
if(CCACHE)
  # Without these options, ccache caches no objects that were compiled with a precompiled header. It
  # does not cache the precompiled header itself if cmake has just written the header's source.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# By default GCC collects garbage after each 128 MiB, which takes a twentieth of a build's time.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Sources include headers by their installed names, such as "headrace/pipeline/types/block.hpp". In
# the build tree, a link to each top-level folder makes these names valid.
set(HEADRACE_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${HEADRACE_INCLUDE_DIR}/headrace/schemas)
foreach(folder runtime pipeline actors client)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder}
       ${HEADRACE_INCLUDE_DIR}/headrace/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/client/headrace.hpp
     ${HEADRACE_INCLUDE_DIR}/headrace/headrace.hpp SYMBOLIC)

add_library(headrace_options INTERFACE)
target_include_directories(headrace_options INTERFACE ${HEADRACE_INCLUDE_DIR})
# -ffp-contract=off: otherwise results would differ on CPUs with fused multiply-add.
target_compile_options(headrace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -ffp-contract=off -fno-math-errno)
target_link_libraries(headrace_options INTERFACE Threads::Threads)
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_options INTERFACE
    -fsanitize=${HEADRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # The check `vptr` reads memory through pipes, so it reports valid objects when tests use up all descriptors.
    -fno-sanitize=vptr
    # With sanitizers, GCC 12 warns that variables may be uninitialised although they are initialised.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(headrace_options INTERFACE -fsanitize=${HEADRACE_SANITIZE})
endif()

# Most of the time of a build is the parsing of headers, which several sources of a target share.
# `./run check` runs clang-tidy without this option, and so finds includes that a source lacks.
option(HEADRACE_SHARED_PARSING "Precompile headers of other projects, compile sources in groups" ON)
set(HEADRACE_GROUP_SIZE 5 CACHE STRING "The most sources of a folder that are compiled as one")

# headrace_group(target): compiles up to HEADRACE_GROUP_SIZE sources of a folder as one. Names in the unnamed
# namespaces of a folder must differ; `./run check` verifies it by compiling each folder of the libraries and
# of grouped tests as one source. A new source changes only the groups of its own folder.
function(headrace_group target)
  if(NOT HEADRACE_SHARED_PARSING)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(REPLACE / _ folder "${folder}")
    math(EXPR group "0${count_${folder}} / ${HEADRACE_GROUP_SIZE}")
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # In a group, GCC would warn of each `impl` that has fields of types in an unnamed namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# The headers that most sources of pipelines include.
set(HEADRACE_PIPELINE_HEADERS <algorithm> <atomic> <chrono> <complex> <cstring> <functional> <map>
  <memory> <mutex> <optional> <span> <string> <thread> <variant> <vector> <fmt/format.h>)
# These headers, and those that most sources of runtime, actors and client include, but few sources of pipelines.
set(HEADRACE_ACTOR_HEADERS ${HEADRACE_PIPELINE_HEADERS} <set>
  <capnp/generated-header-support.h> <capnp/message.h> <capnp/serialize.h> <caf/all.hpp>)
# headrace_precompile(target header...): precompiles the given headers of other projects, so that they are
# parsed once for all sources of the target. Does nothing if HEADRACE_SHARED_PARSING is off.
function(headrace_precompile target)
  if(HEADRACE_SHARED_PARSING)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# headrace_layer(name [DEPENDS targets...] [EXCLUDE regexes...]): a static library of every .cpp file in
# the folder of the calling CMakeLists.txt and below, except those whose path matches a regex.
function(headrace_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(pattern ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE headrace_options ${ARG_DEPENDS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC headrace_options ${ARG_DEPENDS})
  headrace_group(${name})
endfunction()

# headrace_test(folder DEPENDS targets... [PRECOMPILE headers...] [TIMEOUT seconds] [GROUPED] [ALONE]): one
# test program from all .cpp files of tests/<folder>; each test case is a ctest entry, <folder>.<suite>.<case>.
# PRECOMPILE: further headers for headrace_precompile. GROUPED: calls headrace_group. ALONE: while a test of this
# folder runs, no other test runs, because these tests keep the machine busy with processes of their own.
function(headrace_test folder)
  cmake_parse_arguments(ARG "GROUPED;ALONE" "TIMEOUT" "DEPENDS;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder}_test)
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} headrace_test_paths
    GTest::gtest GTest::gmock GTest::gtest_main)
  # Tests are compiled without optimisation, because compiling them is half of the work of a build, and each runs once.
  # The libraries that they test are optimised.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  headrace_precompile(${name} <gmock/gmock.h> <gtest/gtest.h> ${ARG_PRECOMPILE})
  if(ARG_GROUPED)
    headrace_group(${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${folder}. NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_ALONE})
endfunction()
