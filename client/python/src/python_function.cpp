#include "python_function.hpp"

#include "element_writer.hpp"
#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "nested.hpp"
#include "pool_answer.hpp"
#include "waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace headrace::detail::python {

namespace {

/// The status for an exception. An exception of `headrace.errors` has a code and a message; for any
/// other exception the code is `unknown`.
status status_of(const nb::python_error& e) {
  const auto why = e.value();
  if (!nb::hasattr(why, "error_code") || !nb::hasattr(why, "message"))
    return {status_code::unknown, e.what()};
  const auto code = nb::cast<int>(why.attr("error_code"));
  if (code < 1 || code > static_cast<int>(status_code::unauthenticated))
    return {status_code::unknown, e.what()};
  return {static_cast<status_code>(code), nb::cast<std::string>(why.attr("message"))};
}

/// The spec in a nest of tuples and dicts with leaves `[dtype name, dims]`.
element_spec spec_from_python(nb::handle nest) {
  std::vector<nb::object> leaves;
  element_spec out;
  out.layout = layout_of(nest, leaves);
  for (const auto& leaf : leaves) out.components.push_back(tensor_spec_from_python(leaf));
  return out;
}

struct function_of_rows {
  /// Takes a list of rows. Returns a list of `Answer` (headrace/_processes/child.py), which
  /// together contain the results for all rows, in the order of the rows.
  std::shared_ptr<nb::object> run;
  element_spec argument;
  std::vector<tensor_spec> declared;
  bool generates = false; ///< the function may give fewer rows than requested, and then has ended

  /// @pre the GIL is held
  block operator()(const block& in) const;

private:
  void check_argument(const block& in) const;
};

/// Reads the results for rows, one after another, from a list of answers of the pool's processes.
class all_answers {
public:
  all_answers(nb::list parts, const std::vector<tensor_spec>& declared)
    : parts_(std::move(parts)), declared_(declared) {}

  size_t rows() const {
    size_t out = 0;
    for (auto part : parts_) out += nb::cast<uint32_t>(part.attr("rows"));
    return out;
  }
  /// See `pool_answer::next`.
  status next(std::vector<detail::column_builder>& to) {
    while (left_ == 0) {
      if (at_ == nb::len(parts_))
        return internal_error("a row of a Python function was not answered");
      const nb::object part = parts_[at_++];
      left_ = nb::cast<size_t>(part.attr("rows"));
      nb::object content = part.attr("content");
      read_.reset();
      if (PyUnicode_Check(content.ptr())) {
        why_ = nb::cast<std::string>(content);
        continue;
      }
      const auto bytes = nb::borrow<nb::bytes>(content);
      read_.emplace(std::string_view{bytes.c_str(), bytes.size()}, declared_);
    }
    --left_;
    return read_ ? read_->next(to) : status{status_code::unknown, why_};
  }

private:
  nb::list parts_;
  const std::vector<tensor_spec>& declared_;
  size_t at_ = 0;   ///< index of the next part
  size_t left_ = 0; ///< rows left in the part that is read
  std::optional<pool_answer> read_;
  std::string why_; ///< the error of all rows of the part, if `read_` is empty
};

/// Compares the function's argument with the block, because the graph may contain a wrong spec.
void function_of_rows::check_argument(const block& in) const {
  const auto& said = argument.components;
  bool fits = said.size() == in.columns.size();
  for (size_t i = 0; fits && i < said.size(); ++i)
    fits = said[i].type == in.columns[i].type() && !in.columns[i].is_nested();
  if (!fits)
    throw error{invalid_argument(
      fmt::format("the Python function takes {}, and elements are others", to_string(argument)))};
}

block function_of_rows::operator()(const block& in) const {
  check_argument(in);
  element_writer writer{argument};
  writer.hold({std::make_shared<const block>(in), nullptr, 0});
  nb::list rows;
  for (size_t i = 0; i < in.rows; ++i)
    if (!in.error_at(i))
      rows.append(writer.row(i));
  all_answers results{nb::borrow<nb::list>((*run)(rows)), declared};

  block out;
  out.rows = generates ? std::min(in.rows, results.rows()) : in.rows;
  std::vector<detail::column_builder> columns;
  for (const auto& spec : declared) columns.emplace_back(spec.type, in.rows);
  for (size_t i = 0; i < out.rows; ++i) {
    const auto* before = in.error_at(i);
    auto why = before ? *before : results.next(columns);
    if (why)
      continue;
    out.errors.push_back({static_cast<uint32_t>(i), std::move(why)});
    for (size_t c = 0; c < columns.size(); ++c)
      columns[c].end_row_of_nothing(detail::shape_of_nothing(declared[c], 0));
  }
  for (auto& c : columns) out.columns.push_back(std::move(c).finish());
  return out;
}

/// The functions of this process's plug-ins. A running graph uses those that were loaded when it
/// began.
class loaded_plugins {
public:
  status load(const std::string& file) {
    std::lock_guard lock{mutex_};
    auto more = std::make_shared<function_registry>(*functions_);
    HEADRACE_TRY(more->load_plugin(file));
    functions_ = std::move(more);
    return {};
  }
  named_function find(const function_reference& what) {
    std::unique_lock lock{mutex_};
    const auto functions = functions_;
    lock.unlock();
    return functions->find(what).value();
  }

private:
  std::mutex mutex_;
  std::shared_ptr<const function_registry> functions_ = std::make_shared<function_registry>();
};

loaded_plugins& plugins() {
  static loaded_plugins all;
  return all;
}

/// The name of all functions that are Python programs.
constexpr const char* python_name = "python";

nb::bytes bytes_of(const std::string& x) { return nb::bytes{x.data(), x.size()}; }

function_reference made_by_python(std::string label, const nb::bytes& program, nb::object origin) {
  return {python_name,
          std::move(label),
          {program.c_str(), program.size()},
          origin.is_none() ? nullptr : kept(std::move(origin))};
}

nb::object origin_of(const function_reference& what) {
  const auto origin = std::static_pointer_cast<const nb::object>(what.origin);
  return origin ? *origin : nb::none();
}

/// Finds a function for one run of a graph, such as an iteration. `reading`: the number of the run.
named_function find(const function_reference& what, const nb::object* pool, uint64_t reading) {
  if (what.name != python_name)
    return plugins().find(what);
  const visit here;
  if (!here)
    return {};
  std::optional<function_of_rows> f;
  try {
    auto found =
      nb::cast<nb::tuple>(nb::module_::import_("headrace._processes.python")
                            .attr("_find")(what.label, bytes_of(what.program),
                                           pool ? *pool : nb::none(), origin_of(what), reading));
    f.emplace(function_of_rows{kept(nb::borrow(found[0])), spec_from_python(found[1]),
                               spec_from_python(found[2]).components, nb::cast<bool>(found[3])});
  } catch (const nb::python_error& e) {
    // The engine and the service do not handle Python's exceptions.
    throw error{status_of(e)};
  }
  return [f = *std::move(f)](const block& in) -> result<block> {
    std::optional<result<block>> out;
    if (const visit here; here) {
      try {
        out = f(in);
      } catch (const error& e) {
        out = e.why();
      } catch (const nb::python_error& e) {
        out = status_of(e);
      } catch (const std::exception& e) {
        out = status{status_code::unknown, e.what()};
      }
    }
    // The call may have been interrupted by the interpreter's exit.
    if (!out || visit::are_refused())
      return cancelled("the interpreter is about to end");
    return *std::move(out);
  };
}

void collect_programs(const dataset_node& x, std::set<std::string>& out,
                      std::unordered_set<const dataset_node*>& seen) {
  if (!seen.insert(&x).second)
    return;
  const auto add = [&](const function_reference& f) {
    if (f.name == python_name)
      out.insert(f.program);
  };
  if (const auto* generator = x.find<generator_parameters>())
    add(generator->function);
  if (x.body)
    add(x.body->named);
  for (const auto& input : x.inputs) collect_programs(*input, out, seen);
  if (x.body && x.body->dataset)
    collect_programs(*x.body->dataset, out, seen);
}

function calling(function_reference named, const dataset& input, nb::handle declared,
                 bool deterministic) {
  function out;
  out.scope = std::make_shared<const function_scope>();
  out.argument = input.spec();
  out.named = std::move(named);
  out.deterministic = deterministic;
  out.declared = spec_from_python(declared);
  out.layout = out.declared.layout;
  return out;
}

} // namespace

std::set<std::string> python_programs(const dataset_node& graph) {
  std::set<std::string> out;
  std::unordered_set<const dataset_node*> seen;
  collect_programs(graph, out, seen);
  return out;
}

function_finder python_functions(nb::object pool) {
  std::shared_ptr<nb::object> own;
  if (!pool.is_none())
    own = kept(std::move(pool));
  static std::atomic<uint64_t> readings{0};
  return [own, reading = ++readings](const function_reference& what) {
    return find(what, own.get(), reading);
  };
}

void bind_python_functions(nb::module_& m) {
  m.def(
    "python_function",
    [](const dataset& input, std::string label, const nb::bytes& program, nb::handle declared,
       bool deterministic, nb::object origin) {
      return calling(made_by_python(std::move(label), program, std::move(origin)), input, declared,
                     deterministic);
    },
    nb::arg("input"), nb::arg("label"), nb::arg("program"), nb::arg("declared"),
    nb::arg("deterministic"), nb::arg("origin") = nb::none());
  m.def("named_function",
        [](const dataset& input, std::string name, nb::handle declared, bool deterministic) {
          return calling({.name = std::move(name)}, input, declared, deterministic);
        });
  m.def(
    "load_plugin",
    [](const std::string& file) {
      if (auto failed = plugins().load(file); !failed.ok())
        throw error{std::move(failed)};
    },
    nb::arg("file"));
  m.def(
    "generator",
    [](std::string label, const nb::bytes& program, nb::handle declared, bool deterministic,
       nb::object origin) {
      return dataset{make_generator(made_by_python(std::move(label), program, std::move(origin)),
                                    spec_from_python(declared), -1, deterministic)
                       .value()};
    },
    nb::arg("label"), nb::arg("program"), nb::arg("declared"), nb::arg("deterministic"),
    nb::arg("origin") = nb::none());
}

} // namespace headrace::detail::python
