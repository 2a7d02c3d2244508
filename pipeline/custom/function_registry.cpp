#include "headrace/pipeline/custom/function_registry.hpp"

#include "headrace/pipeline/custom/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace {

namespace {

status check_argument(const element_spec& takes, const block& rows) {
  bool fits = rows.columns.size() == takes.components.size();
  for (size_t i = 0; fits && i < rows.columns.size(); ++i) {
    const auto& c = rows.columns[i];
    fits = c.type() == takes.components[i].type
           && (!c.is_dense() || rows.rows == rows.errors.size()
               || takes.components[i].dims.accepts(c.row_shape()));
  }
  if (fits)
    return {};
  std::string got;
  for (const auto& c : rows.columns)
    got += (got.empty() ? "" : ", ") + std::string{to_string(c.type())}
           + (c.is_dense() ? to_string(c.row_shape()) : "[of different shapes]");
  return invalid_argument(fmt::format("it takes {}, but was given {}", to_string(takes), got));
}

/// The status of a row whose function failed. `out_of_range` is replaced: it stands for the end of
/// a dataset, so a user's loop would end at the row as if there were no more elements.
status of_row(const status& how) {
  return how.code() == status_code::out_of_range ? invalid_argument(how.message()) : how;
}

named_function over_rows(std::string name, element_function f) {
  auto takes = std::make_shared<const element_spec>(f.takes);
  return [name = std::move(name), f = std::move(f), takes](const block& in) -> result<block> {
    if (auto wrong = check_argument(*takes, in); !wrong.ok())
      return wrong.with_context(name);
    const auto rows = std::make_shared<const block>(in);
    detail::row_table to{f.gives.components, {.rows = in.rows, .bytes = SIZE_MAX}};
    for (size_t i = 0; i < in.rows; ++i) {
      if (const auto* before = in.error_at(i)) {
        to.fail_row(*before);
        continue;
      }
      element_output out{f.gives, to};
      auto how = f.call(element{rows, takes, i}, out);
      if (how.ok())
        how = out.complete();
      if (how.ok())
        to.end_row();
      else
        to.fail_row(of_row(how).with_context(name));
    }
    return to.finish();
  };
}

std::string owner_of(const std::string& file) {
  return file.empty() ? "the program" : "plug-in '" + file + "'";
}

} // namespace

status function_registry::add(std::string name, named_function f) {
  if (name.empty() || !f)
    return invalid_argument("a function without a name, or a name without a function");
  if (const auto there = functions_.find(name); there != functions_.end())
    return already_exists(fmt::format("function '{}' of {} is there already, from {}", name,
                                      owner_of(loading_), owner_of(there->second.from)));
  functions_.emplace(std::move(name), entry{std::move(f), loading_});
  return {};
}

status function_registry::add(std::string name, element_function f) {
  for (const auto& spec : f.gives.components)
    if (!spec.dims.has_rank())
      return invalid_argument(
        fmt::format("function '{}' gives a tensor of unknown rank; its extents may be unknown, but "
                    "not their number",
                    name));
  auto call = over_rows(name, std::move(f));
  return add(std::move(name), std::move(call));
}

status function_registry::load_plugin(const std::string& file) {
  // For a name without a slash the system would search its own folders.
  const auto path = file.find('/') == std::string::npos ? "./" + file : file;
  if (::access(path.c_str(), R_OK) != 0)
    return not_found(fmt::format("plug-in '{}': there is no such file that can be read", file));
  auto* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failed_precondition(fmt::format("plug-in '{}' cannot be loaded: {}", file, ::dlerror()));
  const auto* abi = static_cast<const char* const*>(::dlsym(library, "headrace_plugin_abi"));
  const auto begin = reinterpret_cast<void (*)(function_registry&, status&)>(
    ::dlsym(library, "headrace_plugin_functions"));
  if (!abi || !begin) {
    ::dlclose(library);
    return failed_precondition(
      fmt::format("'{}' is no headrace plug-in: it does not say HEADRACE_PLUGIN", file));
  }
  if (std::string_view{*abi} != plugin_abi) {
    auto why = failed_precondition(fmt::format(
      "plug-in '{}' was built for '{}', this is '{}': build it with the headers and the compiler "
      "of this headrace",
      file, *abi, plugin_abi));
    ::dlclose(library);
    return why;
  }
  loading_ = file;
  status how;
  try {
    begin(*this, how);
  } catch (const std::exception& e) {
    how = {status_code::unknown, e.what()};
  }
  loading_.clear();
  return how.with_context(fmt::format("plug-in '{}'", file));
}

result<named_function> function_registry::find(const function_reference& what) const {
  if (const auto there = functions_.find(what.name); there != functions_.end())
    return there->second.call;
  std::string known;
  for (const auto& [other, x] : functions_)
    known += fmt::format("{}'{}' ({})", known.empty() ? "" : ", ", other, owner_of(x.from));
  return not_found(fmt::format("no function is registered as '{}' in this process; there are: {}",
                               to_string(what), known.empty() ? "none" : known));
}

function_finder function_registry::finder(std::shared_ptr<const function_registry> functions) {
  return [functions = std::move(functions)](const function_reference& what) {
    return functions->find(what).value();
  };
}

} // namespace headrace
