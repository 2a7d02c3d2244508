#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph/rewrite.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "nested.hpp"
#include "python_function.hpp"
#include "reading.hpp"
#include "statistics.hpp"
#include "values.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <unordered_set>

namespace headrace::detail::python {

namespace {

using graph = const dataset&;
using e = const expr&;

dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

/// An int, or a tensor that depends on an element.
number_argument number_of(nb::handle x) {
  if (nb::isinstance<expr>(x))
    return cast<int64_t>(nb::cast<expr>(x)).node();
  return nb::cast<int64_t>(x);
}

function_ptr shared(const function& f) { return std::make_shared<const function>(f); }

std::vector<expr_ptr> nodes_of(const expr_structure& tensors) {
  std::vector<expr_ptr> out;
  for (const auto& leaf : tensors.leaves()) out.push_back(leaf.node());
  return out;
}

std::vector<dataset_ptr> nodes_of(const std::vector<dataset>& inputs) {
  std::vector<dataset_ptr> out;
  for (const auto& input : inputs) out.push_back(input.node());
  return out;
}

/// The value of a constant tensor.
column constant_value(nb::handle x) { return nb::cast<expr>(x).node()->attrs.value; }

/// The fields in a list of `(name, dtype, default or None)` or `(name, dtype, default or None,
/// dims)`, where the default is a constant tensor.
std::vector<field_format> fields_of(const nb::list& given) {
  std::vector<field_format> out;
  for (auto part : given) {
    auto one = nb::borrow<nb::sequence>(part);
    const auto type = parse_dtype(nb::cast<std::string>(one[1])).value();
    auto dims = nb::len(one) > 3 ? shape_from_python(one[3]) : shape{};
    auto made = field(nb::cast<std::string>(one[0]), tensor_spec{type, std::move(dims)});
    if (nb::object missing = one[2]; !missing.is_none())
      made.missing = constant_value(missing);
    out.push_back(std::move(made));
  }
  return out;
}

std::vector<shape> shapes_of(const nb::list& given) {
  std::vector<shape> out;
  for (auto dims : given) out.push_back(shape_from_python(dims));
  return out;
}

/// The padding values in a list of constant tensors; None stands for zeros or empty strings.
std::vector<std::optional<column>> fills_of(const nb::list& given) {
  std::vector<std::optional<column>> out;
  for (auto x : given) {
    if (x.is_none())
      out.emplace_back();
    else
      out.emplace_back(constant_value(x));
  }
  return out;
}

using scopes = std::unordered_set<const function_scope*>;

void find_parameters(const expr_node& x, scopes& out, std::unordered_set<const void*>& seen) {
  if (!seen.insert(&x).second)
    return;
  if (x.op == expr_op::parameter)
    out.insert(x.scope.get());
  for (const auto& input : x.inputs) find_parameters(*input, out, seen);
}

/// Collects functions, each as its `scope`, which identifies it: in `used` the functions whose
/// parameters the graph uses, and in `bound` the functions that are part of the graph.
void find_scopes(const dataset_node& x, scopes& used, scopes& bound,
                 std::unordered_set<const void*>& seen) {
  if (!seen.insert(&x).second)
    return;
  for (const auto& input : x.inputs) find_scopes(*input, used, bound, seen);
  for (const auto& tensor : x.tensors) find_parameters(*tensor, used, seen);
  if (!x.body)
    return;
  bound.insert(x.body->scope.get());
  for (const auto& tensor : x.body->tensors) find_parameters(*tensor, used, seen);
  if (x.body->dataset)
    find_scopes(*x.body->dataset, used, bound, seen);
}

/// True if the graph depends on the argument of a function that is being traced.
bool is_inside_function(const dataset_node& x) {
  scopes used, bound;
  std::unordered_set<const void*> seen;
  find_scopes(x, used, bound, seen);
  return std::any_of(used.begin(), used.end(),
                     [&](const auto* scope) { return !bound.contains(scope); });
}

} // namespace

/// Binds each operator. The public names and arguments of operators are in headrace/_dataset.
void bind_datasets(nb::module_& m) {
  using seed = std::optional<uint64_t>;
  nb::class_<dataset>(m, "Graph")
    .def("spec", [](graph x, const nb::callable& leaf) { return to_python(x.spec(), leaf); })
    .def("spec_text", [](graph x) { return to_string(x.spec()); })
    .def("cardinality", &dataset::cardinality)
    .def("is_inside_function", [](graph x) { return is_inside_function(*x.node()); })
    .def("reads_shared_job", [](graph x) { return reads_shared_job(*x.node()); })
    .def("order",
         [](graph x) {
           const auto facts = order_of(*x.node());
           return std::tuple{facts.drawn, facts.reorders, facts.service};
         })
    .def("python_programs",
         [](graph x) {
           nb::list out;
           for (const auto& program : python_programs(*x.node()))
             out.append(nb::bytes{program.data(), program.size()});
           return out;
         })
    .def("fingerprint", [](graph x) { return fingerprint(x.node()).value(); })
    .def("encode",
         [](graph x) {
           auto bytes = encode_graph(x.node()).value();
           return nb::bytes(bytes.data(), bytes.size());
         })
    .def(
      "restore",
      [](graph x, nb::bytes record, nb::handle measured) {
        return new reading{x, buffer::copy_of(record.data(), record.size()),
                           counters_in(measured, x)};
      },
      nb::arg("record"), nb::arg("measured") = nb::none())
    // Begins the dataset's next iteration. `seed` None stands for the dataset's own seed.
    .def(
      "read",
      [](graph x, seed s, nb::handle measured) {
        return new reading{x, s, {}, counters_in(measured, x)};
      },
      nb::arg("seed") = nb::none(), nb::arg("measured") = nb::none())
    .def(
      "read_as",
      [](graph x, seed s, uint64_t repetition, nb::handle measured) {
        return new reading{x, s, repetition, counters_in(measured, x)};
      },
      nb::arg("seed").none(), nb::arg("repetition"), nb::arg("measured") = nb::none())
    // True if the graph has a node of `latency_stats` or `bytes_produced_stats`.
    .def("measures", [](graph x) {
      return any_node(x.node(), [](const dataset_node& n) { return n.op == dataset_op::stats; });
    });

  m.def("decode_graph", [](nb::bytes encoded) {
    return checked(decode_graph(buffer::copy_of(encoded.data(), encoded.size())));
  });

  // sources
  m.def("range", [](e start, e stop, e step) {
    return checked(make_range(start.node(), stop.node(), step.node()));
  });
  m.def("from_tensors", [](nb::handle x) {
    auto all = structure_of(x);
    return checked(make_from_tensors(nodes_of(all), all.layout()));
  });
  m.def("from_tensor_slices", [](nb::handle x) {
    auto all = structure_of(x);
    return checked(make_from_tensor_slices(nodes_of(all), all.layout()));
  });
  m.def("text_lines", [](e files, const std::string& compression) {
    return checked(make_text_lines(files.node(), file_compression_of(compression).value()));
  });
  m.def("tfrecord", [](e files, const std::string& compression) {
    return checked(make_tfrecord(files.node(), file_compression_of(compression).value()));
  });
  m.def(
    "list_files",
    [](e patterns, bool shuffle, seed s) {
      return checked(make_list_files(patterns.node(), shuffle, s));
    },
    nb::arg("patterns"), nb::arg("shuffle"), nb::arg("seed").none());

  m.def("fixed_length", [](e files, int64_t record, int64_t header, int64_t footer,
                           const std::string& compression) {
    return checked(make_fixed_length(
      files.node(), {.record_bytes = record, .header_bytes = header, .footer_bytes = footer},
      file_compression_of(compression).value()));
  });
  m.def("csv",
        [](e files, const nb::list& columns, bool header, const std::string& delimiter, bool quotes,
           std::string na_value, std::vector<int64_t> select, const std::string& compression) {
          return checked(
            make_csv(files.node(), fields_of(columns),
                     {header, delimiter.at(0), quotes, std::move(na_value), std::move(select)},
                     file_compression_of(compression).value()));
        });
  m.def("json_lines", [](e files, const nb::list& fields, const std::string& compression) {
    return checked(
      make_json_lines(files.node(), fields_of(fields), file_compression_of(compression).value()));
  });
  m.def("tar_samples", [](e files, std::vector<std::string> extensions, bool skip_incomplete) {
    return checked(make_tar_samples(files.node(), std::move(extensions), skip_incomplete));
  });
  m.def("sql", [](std::string driver, e source, e query, const nb::list& columns) {
    return checked(make_sql(std::move(driver), source.node(), query.node(), fields_of(columns)));
  });
  m.def("counter", [](int64_t start, int64_t step) { return checked(make_counter(start, step)); });
  m.def(
    "random", [](seed s, bool reseed) { return checked(make_random(s, reseed)); },
    nb::arg("seed").none(), nb::arg("reseed"));

  // operators
  m.def(
    "map",
    [](graph in, const function& f, int64_t parallel, std::optional<bool> deterministic) {
      return checked(make_map(in.node(), shared(f), parallel, deterministic));
    },
    nb::arg("input"), nb::arg("function"), nb::arg("parallel"), nb::arg("deterministic").none());
  m.def("filter",
        [](graph in, const function& f) { return checked(make_filter(in.node(), shared(f))); });
  m.def("flat_map",
        [](graph in, const function& f) { return checked(make_flat_map(in.node(), shared(f))); });
  m.def(
    "interleave",
    [](graph in, const function& f, int64_t cycle, int64_t length, int64_t parallel,
       std::optional<bool> deterministic) {
      return checked(make_interleave(in.node(), shared(f), cycle, length, parallel, deterministic));
    },
    nb::arg("input"), nb::arg("function"), nb::arg("cycle"), nb::arg("length"), nb::arg("parallel"),
    nb::arg("deterministic").none());
  m.def("batch", [](graph in, nb::handle size, bool drop_remainder) {
    return checked(make_batch(in.node(), number_of(size), drop_remainder));
  });
  m.def(
    "shuffle",
    [](graph in, nb::handle size, seed s, bool reshuffle) {
      return checked(make_shuffle(in.node(), number_of(size), s, reshuffle));
    },
    nb::arg("input"), nb::arg("size"), nb::arg("seed").none(), nb::arg("reshuffle"));
  m.def("repeat",
        [](graph in, nb::handle n) { return checked(make_repeat(in.node(), number_of(n))); });
  m.def("take", [](graph in, nb::handle n) { return checked(make_take(in.node(), number_of(n))); });
  m.def("skip", [](graph in, nb::handle n) { return checked(make_skip(in.node(), number_of(n))); });
  m.def("prefetch", [](graph in, int64_t n) { return checked(make_prefetch(in.node(), n)); });
  m.def("enumerate", [](graph in, int64_t n) { return checked(make_enumerate(in.node(), n)); });
  m.def("concatenate",
        [](graph a, graph b) { return checked(make_concatenate(a.node(), b.node())); });
  m.def("zip",
        [](const std::vector<dataset>& inputs) { return checked(make_zip(nodes_of(inputs))); });
  // Arranges the components of `in` in the tuples and dicts of `nest`.
  m.def("arranged", [](graph in, nb::handle nest) {
    std::vector<nb::object> leaves;
    auto f = std::make_shared<function>();
    f->scope = std::make_shared<const function_scope>();
    f->argument = in.spec();
    f->layout = layout_of(nest, leaves);
    for (const auto& part : f->argument.components)
      f->tensors.push_back(make_parameter(f->scope, static_cast<int64_t>(f->tensors.size()), part));
    return checked(make_map(in.node(), std::move(f)));
  });
  m.def("stats", [](graph in, std::string tag, bool bytes) {
    return checked(make_stats(in.node(), std::move(tag), bytes));
  });
  m.def("take_while",
        [](graph in, const function& f) { return checked(make_take_while(in.node(), shared(f))); });
  m.def("scan", [](graph in, nb::handle initial, const function& f) {
    return checked(make_scan(in.node(), nodes_of(structure_of(initial)), shared(f)));
  });
  m.def("shard", [](graph in, int64_t shards, int64_t index) {
    return checked(make_shard(in.node(), shards, index));
  });
  m.def("unique", [](graph in) { return checked(make_unique_elements(in.node())); });
  m.def("ignore_errors", [](graph in) { return checked(make_ignore_errors(in.node())); });
  m.def("assert_cardinality",
        [](graph in, int64_t n) { return checked(make_assert_cardinality(in.node(), n)); });
  m.def("sleep", [](graph in, nb::handle microseconds) {
    return checked(make_sleep(in.node(), number_of(microseconds)));
  });
  m.def("unbatch", [](graph in) { return checked(make_unbatch(in.node())); });
  m.def("padded_batch",
        [](graph in, nb::handle size, const nb::list& shapes, const nb::list& fills, bool drop) {
          return checked(make_padded_batch(in.node(), number_of(size), shapes_of(shapes),
                                           fills_of(fills), drop));
        });
  m.def("ragged_batch", [](graph in, nb::handle size, bool drop) {
    return checked(make_ragged_batch(in.node(), number_of(size), drop));
  });
  m.def("window", [](graph in, int64_t size, int64_t shift, int64_t stride, bool drop) {
    return checked(make_window(in.node(), size, shift, stride, drop));
  });
  m.def("group_by_window", [](graph in, const function& key, const function& reduce, int64_t size) {
    return checked(make_group_by_window(in.node(), shared(key), shared(reduce), size));
  });
  m.def("group_by_window_func", [](graph in, const function& key, const function& reduce,
                                   const function& size) {
    return checked(make_group_by_window(in.node(), shared(key), shared(reduce), shared(size)));
  });
  m.def("bucket_by_sequence_length",
        [](graph in, const function& length, std::vector<int64_t> boundaries,
           std::vector<int64_t> batch_sizes, const nb::list& shapes, const nb::list& fills,
           bool pad_to_boundary, bool no_padding, bool drop_remainder) {
          return checked(make_bucket_by_sequence_length(in.node(), shared(length),
                                                        {.boundaries = std::move(boundaries),
                                                         .batch_sizes = std::move(batch_sizes),
                                                         .padded_shapes = shapes_of(shapes),
                                                         .padding_values = fills_of(fills),
                                                         .pad_to_boundary = pad_to_boundary,
                                                         .no_padding = no_padding,
                                                         .drop_remainder = drop_remainder}));
        });
  m.def(
    "rejection_resample",
    [](graph in, const function& class_of, std::vector<double> target, std::vector<double> initial,
       seed s) {
      return checked(make_rejection_resample(in.node(), shared(class_of), std::move(target),
                                             std::move(initial), s));
    },
    nb::arg("input"), nb::arg("class_of"), nb::arg("target"), nb::arg("initial"),
    nb::arg("seed").none());
  m.def("last_element", [](graph in, nb::handle otherwise, graph of) {
    return of.counted_together(
      make_last_element(in.node(), nodes_of(structure_of(otherwise))).value());
  });
  // A dataset of one int64 element, the cardinality of `in`, which may depend on the argument of a
  // function. Throws `error` if the cardinality is known only after the elements are read.
  m.def("cardinality", [](graph in) { return checked(make_cardinality(in.node())); });
  m.def("single_element",
        [](graph in) { return in.counted_together(make_single_element(in.node()).value()); });
  m.def(
    "global_shuffle",
    [](graph in, seed s, bool reshuffle) {
      return checked(make_global_shuffle(in.node(), s, reshuffle));
    },
    nb::arg("input"), nb::arg("seed").none(), nb::arg("reshuffle"));
  m.def(
    "sample_from",
    [](const std::vector<dataset>& inputs, std::vector<double> weights, seed s, bool stop_on_empty,
       bool rerandomize) {
      return checked(
        make_sample_from(nodes_of(inputs), std::move(weights), s, stop_on_empty, rerandomize));
    },
    nb::arg("inputs"), nb::arg("weights"), nb::arg("seed").none(), nb::arg("stop_on_empty"),
    nb::arg("rerandomize"));
  m.def(
    "sample_from_by",
    [](const std::vector<dataset>& inputs, graph weights, seed s, bool stop_on_empty,
       bool rerandomize) {
      return dataset::sample_from_datasets(inputs, weights,
                                           {.weights = {},
                                            .seed = s,
                                            .stop_on_empty = stop_on_empty,
                                            .rerandomize_each_iteration = rerandomize});
    },
    nb::arg("inputs"), nb::arg("weights"), nb::arg("seed").none(), nb::arg("stop_on_empty"),
    nb::arg("rerandomize"));
  m.def("choose_from", [](graph choices, const std::vector<dataset>& inputs, bool stop_on_empty) {
    return checked(make_choose_from(choices.node(), nodes_of(inputs), stop_on_empty));
  });
  m.def(
    "options",
    [](graph in, std::optional<bool> deterministic, std::optional<bool> autotune,
       std::optional<int64_t> threads, std::optional<int64_t> memory,
       const std::optional<std::string>& packing, seed drawn_from) {
      std::optional<compression> how;
      if (packing)
        how = compression_of(*packing).value();
      return checked(make_options(in.node(), {.deterministic = deterministic,
                                              .autotune = autotune,
                                              .threads = threads,
                                              .memory = memory,
                                              .compression = how,
                                              .seed = drawn_from}));
    },
    nb::arg("input"), nb::arg("deterministic").none(), nb::arg("autotune").none(),
    nb::arg("threads").none(), nb::arg("memory").none(), nb::arg("compression").none(),
    nb::arg("seed") = nb::none());
}

} // namespace headrace::detail::python
