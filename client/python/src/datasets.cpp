#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "nested.hpp"
#include "reading.hpp"
#include "values.hpp"

#include <algorithm>

namespace headrace::python {

namespace {

using graph = const dataset&;
using e = const expr&;

dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

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

/// Is every element read from a job that has a name, which others may read from too?
bool reads_shared_job(const dataset_node& x) {
  if (x.op == dataset_op::distribute)
    return !x.service.job_name.empty();
  return !x.inputs.empty() && std::all_of(x.inputs.begin(), x.inputs.end(), [](const auto& input) {
    return reads_shared_job(*input);
  });
}

/// Of `(name, dtype, default or None)`, where the default is a constant tensor.
std::vector<field_format> fields_of(const nb::list& given) {
  std::vector<field_format> out;
  for (auto part : given) {
    auto one = nb::borrow<nb::sequence>(part);
    auto made =
      field(nb::cast<std::string>(one[0]), parse_dtype(nb::cast<std::string>(one[1])).value());
    if (nb::object missing = one[2]; !missing.is_none())
      made.missing = nb::cast<expr>(missing).node()->attrs.value;
    out.push_back(std::move(made));
  }
  return out;
}

} // namespace

/// One line an operator: headrace/_dataset gives them their public names and arguments.
void bind_datasets(nb::module_& m) {
  using seed = std::optional<uint64_t>;
  nb::class_<dataset>(m, "Graph")
    .def("spec", [](graph x, const nb::callable& leaf) { return to_python(x.spec(), leaf); })
    .def("spec_text", [](graph x) { return to_string(x.spec()); })
    .def("cardinality", &dataset::cardinality)
    .def("reads_shared_job", [](graph x) { return reads_shared_job(*x.node()); })
    .def("fingerprint", [](graph x) { return fingerprint(x.node()).value(); })
    .def("encode",
         [](graph x) {
           auto bytes = encode_graph(x.node()).value();
           return nb::bytes(bytes.data(), bytes.size());
         })
    .def("restore",
         [](graph x, nb::bytes record) {
           return new reading{x.node(), buffer::copy_of(record.data(), record.size())};
         })
    .def(
      "read",
      [](graph x, seed s) {
        return new reading{x.node(), s};
      },
      nb::arg("seed").none());

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
  m.def("text_lines", [](e files, std::string compression) {
    return checked(make_text_lines(files.node(), std::move(compression)));
  });
  m.def("tfrecord", [](e files, std::string compression) {
    return checked(make_tfrecord(files.node(), std::move(compression)));
  });
  m.def(
    "list_files",
    [](e patterns, bool shuffle, seed s) {
      return checked(make_list_files(patterns.node(), shuffle, s));
    },
    nb::arg("patterns"), nb::arg("shuffle"), nb::arg("seed").none());

  m.def("fixed_length",
        [](e files, int64_t record, int64_t header, int64_t footer, std::string compression) {
          return checked(make_fixed_length(
            files.node(), {.record_bytes = record, .header_bytes = header, .footer_bytes = footer},
            std::move(compression)));
        });
  m.def("csv",
        [](e files, const nb::list& columns, bool header, const std::string& delimiter, bool quotes,
           std::string na_value, std::vector<int64_t> select, std::string compression) {
          return checked(
            make_csv(files.node(), fields_of(columns),
                     {header, delimiter.at(0), quotes, std::move(na_value), std::move(select)},
                     std::move(compression)));
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
  m.def("batch", [](graph in, int64_t size, bool drop_remainder) {
    return checked(make_batch(in.node(), size, drop_remainder));
  });
  m.def(
    "shuffle",
    [](graph in, int64_t size, seed s, bool reshuffle) {
      return checked(make_shuffle(in.node(), size, s, reshuffle));
    },
    nb::arg("input"), nb::arg("size"), nb::arg("seed").none(), nb::arg("reshuffle"));
  m.def("repeat", [](graph in, int64_t n) { return checked(make_repeat(in.node(), n)); });
  m.def("take", [](graph in, int64_t n) { return checked(make_take(in.node(), n)); });
  m.def("skip", [](graph in, int64_t n) { return checked(make_skip(in.node(), n)); });
  m.def("prefetch", [](graph in, int64_t n) { return checked(make_prefetch(in.node(), n)); });
  m.def("enumerate", [](graph in, int64_t n) { return checked(make_enumerate(in.node(), n)); });
  m.def("concatenate",
        [](graph a, graph b) { return checked(make_concatenate(a.node(), b.node())); });
  m.def("zip",
        [](const std::vector<dataset>& inputs) { return checked(make_zip(nodes_of(inputs))); });
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
  m.def("sleep", [](graph in, int64_t microseconds) {
    return checked(make_sleep(in.node(), microseconds));
  });
  m.def("unbatch", [](graph in) { return checked(make_unbatch(in.node())); });
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
  m.def("choose_from", [](graph choices, const std::vector<dataset>& inputs, bool stop_on_empty) {
    return checked(make_choose_from(choices.node(), nodes_of(inputs), stop_on_empty));
  });
  m.def(
    "options",
    [](graph in, std::optional<bool> deterministic, std::optional<bool> autotune,
       std::optional<int64_t> threads, std::optional<int64_t> memory,
       std::optional<std::string> compression) {
      return checked(make_options(in.node(), {.deterministic = deterministic,
                                              .autotune = autotune,
                                              .threads = threads,
                                              .memory = memory,
                                              .compression = std::move(compression)}));
    },
    nb::arg("input"), nb::arg("deterministic").none(), nb::arg("autotune").none(),
    nb::arg("threads").none(), nb::arg("memory").none(), nb::arg("compression").none());
}

} // namespace headrace::python
