#include "headrace/client/explain.hpp"
#include "headrace/client/internal/save.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/saving/save_plan.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "nested.hpp"
#include "python_function.hpp"
#include "waiting.hpp"

namespace headrace::detail::python {

namespace {

using graph = const dataset&;

dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

iterate_options with_python(std::optional<uint64_t> seed = {}) {
  return {.seed = seed, .find_function = python_functions()};
}

} // namespace

/// Adds the functions for caches, snapshots and saved datasets, and `explain`, to the module.
void bind_storage(nb::module_& m) {
  m.def("cache", [](graph in, std::string folder, int64_t most_bytes) {
    return checked(make_cache(in.node(), std::move(folder), most_bytes));
  });
  m.def(
    "snapshot",
    [](graph in, std::string folder, const std::string& compression, const function* shard,
       const dataset* reader) {
      return checked(
        make_snapshot(in.node(), std::move(folder), saved_compression_of(compression).value(),
                      shard ? std::make_shared<const function>(*shard) : function_ptr{},
                      reader ? reader->node() : dataset_ptr{}));
    },
    nb::arg("input"), nb::arg("folder"), nb::arg("compression"), nb::arg("shard").none(),
    nb::arg("reader").none());
  m.def("saved_shards",
        [](std::string folder) { return checked(make_saved_shards(std::move(folder))); });
  // A dataset of one shard of the dataset that is saved in the folder. Its spec is that of `like`,
  // because the folder need not exist yet.
  m.def("load_shard", [](std::string folder, graph like, const expr& shard) {
    return checked(
      make_load(std::move(folder), like.spec(), -1, unknown_cardinality, shard.node()));
  });
  m.def(
    "save",
    [](graph in, std::string folder, const std::string& compression, const function* shard,
       std::optional<uint64_t> seed) {
      enter_threads();
      const auto how = saved_compression_of(compression).value();
      auto by = shard ? std::optional{*shard} : std::nullopt;
      interruptibly([=, in = in, reading = with_python(seed)](std::stop_token stop) mutable {
        reading.stop = std::move(stop);
        save_elements(in, folder, by, {how}, reading);
        return true;
      });
    },
    nb::arg("input"), nb::arg("folder"), nb::arg("compression"), nb::arg("shard").none(),
    nb::arg("seed").none());
  m.def(
    "load",
    [](const std::string& folder, const expr* shard) {
      return shard ? dataset::load(folder, *shard) : dataset::load(folder);
    },
    nb::arg("folder"), nb::arg("shard").none());
  m.def("load_piece", [](const std::string& folder, const expr& piece, double stall_timeout) {
    return dataset::load_piece(folder, piece,
                               {.wait = true, .stall_timeout = seconds(stall_timeout), .stop = {}});
  });
  m.def("load_waiting", [](const std::string& folder, double stall_timeout) {
    return interruptibly([=](std::stop_token stop) {
      return dataset::load(
        folder, {.wait = true, .stall_timeout = seconds(stall_timeout), .stop = std::move(stop)});
    });
  });
  // Returns (compression, number of shards) of the dataset that is saved in the folder; None if
  // there is no saved dataset.
  m.def("saved", [](const std::string& folder) -> nb::object {
    auto found = find_saved(folder).value();
    if (!found)
      return nb::none();
    return nb::make_tuple(std::string{to_string(found->compression)}, found->shards.size());
  });
  // Returns (compression, number of pieces) of the dataset that workers write into the folder; None
  // if the folder contains no plan of a save.
  m.def("saving", [](const std::string& folder) -> nb::object {
    auto found = find_save_plan(folder).value();
    if (!found)
      return nb::none();
    return nb::make_tuple(std::string{to_string(found->compression)}, found->pieces());
  });
  m.def(
    "explain",
    [](graph in, double seconds, std::optional<uint64_t> rows) {
      enter_threads();
      explain_options how;
      how.most_time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>{seconds});
      if (rows)
        how.most_rows = *rows;
      return interruptibly([=, in = in, reading = with_python()](std::stop_token stop) mutable {
        reading.stop = std::move(stop);
        return to_text(explain(in, how, reading));
      });
    },
    nb::arg("input"), nb::arg("seconds"), nb::arg("rows").none());
}

} // namespace headrace::detail::python
