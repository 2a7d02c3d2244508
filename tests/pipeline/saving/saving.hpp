#pragma once

#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/saving/save_steps.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

/// Functions that save a dataset in pieces, in one process, and that read the folder.
namespace headrace::detail::test::saving {

inline iterator_context surroundings() {
  iterator_context out;
  out.find_function = find_function;
  return out;
}

inline save_terms terms_of(const dataset_ptr& graph, uint32_t workers = 1) {
  return {fingerprint(graph).value(), saved_compression::snappy, workers};
}

inline opened_save open(const std::string& folder, const dataset_ptr& graph, uint32_t workers = 1) {
  return open_save(folder, graph, terms_of(graph, workers), surroundings()).value();
}

inline result<saved_amount> write(const std::string& folder, const dataset_ptr& graph,
                                  const save_plan& plan, uint64_t number,
                                  const iterator_context& from = surroundings()) {
  return write_piece(folder, graph, plan, number, UINT64_MAX, from);
}

/// Executes the steps of a save one after another, and returns the first error.
inline status save(const std::string& folder, const dataset_ptr& graph, uint32_t workers = 1) {
  HEADRACE_ASSIGN(const auto opened,
                  open_save(folder, graph, terms_of(graph, workers), surroundings()));
  for (uint64_t i = 0; i < opened.plan.pieces(); ++i)
    HEADRACE_TRY(write(folder, graph, opened.plan, i).status());
  return finish_save(folder, opened.plan).status();
}

inline dataset_ptr loaded(const std::string& folder) {
  const auto there = read_saved(folder).value();
  return make_load(folder, there.spec, static_cast<int64_t>(there.blocks()),
                   static_cast<int64_t>(there.rows()))
    .value();
}

inline std::vector<std::string> sorted(std::vector<std::string> rows) {
  std::ranges::sort(rows);
  return rows;
}

/// The sorted names of the files in the folder; none if the folder does not exist.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  if (std::filesystem::exists(folder))
    for (const auto& one : std::filesystem::directory_iterator{folder})
      out.push_back(one.path().filename());
  return sorted(std::move(out));
}

} // namespace headrace::detail::test::saving
