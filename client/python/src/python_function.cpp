#include "python_function.hpp"

#include "element_writer.hpp"
#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/pipeline/functions/value.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "nested.hpp"
#include "values.hpp"
#include "waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace headrace::python {

namespace {

/// A nest of `[dtype name, dims]`.
element_spec spec_from_python(nb::handle nest) {
  std::vector<nb::object> leaves;
  element_spec out;
  out.layout = layout_of(nest, leaves);
  for (const auto& leaf : leaves) out.components.push_back(tensor_spec_from_python(leaf));
  return out;
}

struct function_of_rows {
  std::shared_ptr<nb::object> run; ///< rows -> for each an array a component, or a str: why not
  element_spec argument;
  std::vector<tensor_spec> declared;
  bool generates = false; ///< may give fewer rows: then there are no more

  /// @pre the GIL is held
  block operator()(const block& in) const;
};

void append(detail::column_builder& to, const column& one) {
  const auto values = static_cast<size_t>(one.total_values());
  if (one.is_string())
    for (size_t i = 0; i < values; ++i) to.add_string(one.string(i));
  else if (values != 0)
    std::memcpy(to.extend(values), one.value_buffer().data(), values * size_of(one.type()));
  to.end_row(one.row_shape());
}

block function_of_rows::operator()(const block& in) const {
  element_writer writer{argument};
  writer.hold({std::make_shared<const block>(in), nullptr, 0});
  nb::list rows;
  for (size_t i = 0; i < in.rows; ++i)
    if (!in.error_at(i))
      rows.append(writer.row(i));
  auto results = nb::borrow<nb::list>((*run)(rows));

  block out;
  out.rows = generates ? std::min(in.rows, nb::len(results)) : in.rows;
  std::vector<detail::column_builder> columns;
  for (const auto& spec : declared) columns.emplace_back(spec.type, in.rows);
  size_t next = 0;
  for (size_t i = 0; i < out.rows; ++i) {
    status why;
    nb::object values;
    if (const auto* before = in.error_at(i)) {
      why = *before;
    } else {
      values = nb::borrow(results[next++]);
      if (PyUnicode_Check(values.ptr()))
        why = status{status_code::unknown, nb::cast<std::string>(values)};
    }
    if (!why) {
      out.errors.push_back({static_cast<uint32_t>(i), std::move(why)});
      for (size_t c = 0; c < columns.size(); ++c)
        columns[c].end_row_of_nothing(detail::shape_of_nothing(declared[c], 0));
      continue;
    }
    auto arrays = nb::borrow<nb::list>(values);
    for (size_t c = 0; c < columns.size(); ++c) append(columns[c], column_of(arrays[c]));
  }
  for (auto& c : columns) out.columns.push_back(std::move(c).finish());
  return out;
}

/// The functions of the plug-ins of this process. Graphs that run see those that were there.
class loaded_plugins {
public:
  status load(const std::string& file) {
    std::lock_guard lock{mutex_};
    auto more = std::make_shared<function_registry>(*functions_);
    HEADRACE_TRY(more->load_plugin(file));
    functions_ = std::move(more);
    return {};
  }
  named_function find(const std::string& name) {
    std::unique_lock lock{mutex_};
    const auto functions = functions_;
    lock.unlock();
    return functions->find(name).value();
  }

private:
  std::mutex mutex_;
  std::shared_ptr<const function_registry> functions_ = std::make_shared<function_registry>();
};

loaded_plugins& plugins() {
  static loaded_plugins all;
  return all;
}

named_function find(const std::string& name, const nb::object* pool) {
  if (!name.starts_with("python:"))
    return plugins().find(name);
  const visit here;
  if (!here)
    return {};
  auto found = nb::cast<nb::tuple>(
    nb::module_::import_("headrace._python").attr("_find")(name, pool ? *pool : nb::none()));
  function_of_rows f{kept(nb::borrow(found[0])), spec_from_python(found[1]),
                     spec_from_python(found[2]).components, nb::cast<bool>(found[3])};
  return [f = std::move(f)](const block& in) -> result<block> {
    std::optional<result<block>> out;
    if (const visit here; here) {
      try {
        out = f(in);
      } catch (const std::exception& e) {
        out = status{status_code::unknown, e.what()};
      }
    }
    // What was running may have been cut short.
    if (!out || visit::are_refused())
      return cancelled("the interpreter is about to end");
    return *std::move(out);
  };
}

} // namespace

std::function<named_function(const std::string&)> python_functions(nb::object pool) {
  std::shared_ptr<nb::object> own;
  if (!pool.is_none())
    own = kept(std::move(pool));
  return [own](const std::string& name) { return find(name, own.get()); };
}

void bind_python_functions(nb::module_& m) {
  m.def("python_function",
        [](const dataset& input, const std::string& name, nb::handle declared, bool deterministic) {
          function out;
          out.scope = std::make_shared<const function_scope>();
          out.argument = input.spec();
          out.named = name;
          out.deterministic = deterministic;
          out.declared = spec_from_python(declared);
          out.layout = out.declared.layout;
          return out;
        });
  m.def(
    "load_plugin",
    [](const std::string& file) {
      if (auto failed = plugins().load(file); !failed.ok())
        throw error{std::move(failed)};
    },
    nb::arg("file"));
  m.def("generator", [](const std::string& name, nb::handle declared, bool deterministic) {
    return dataset{make_generator(name, spec_from_python(declared), -1, deterministic).value()};
  });
}

} // namespace headrace::python
