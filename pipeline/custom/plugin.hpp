#pragma once

#include "headrace/pipeline/custom/function_registry.hpp"

#include <string_view>

#define HEADRACE_TEXT_(x) #x
#define HEADRACE_TEXT(x) HEADRACE_TEXT_(x)

namespace headrace {

/// The version that a plug-in and the process that loads it must have in common: a number that
/// changes with the types of blocks and with this header, and the compiler's C++ ABI.
inline constexpr std::string_view plugin_abi = "headrace plug-in 1, c++ abi " HEADRACE_TEXT(
  __GXX_ABI_VERSION) ", strings " HEADRACE_TEXT(_GLIBCXX_USE_CXX11_ABI);

} // namespace headrace

/// Makes a shared library a plug-in, if it is used once in the library: `HEADRACE_PLUGIN(functions)
/// { return functions.add("name", ...); }`. If the returned status is not ok, the plug-in cannot be
/// loaded. See docs/plugins.md.
#define HEADRACE_PLUGIN(registry)                                                                  \
  static headrace::status headrace_add_functions(headrace::function_registry& registry);           \
  extern "C" __attribute__((visibility("default"))) const char* const headrace_plugin_abi =        \
    headrace::plugin_abi.data();                                                                   \
  extern "C" __attribute__((visibility("default"))) void headrace_plugin_functions(                \
    headrace::function_registry& to, headrace::status& how) {                                      \
    how = headrace_add_functions(to);                                                              \
  }                                                                                                \
  static headrace::status headrace_add_functions(headrace::function_registry& registry)
