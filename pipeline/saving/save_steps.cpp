#include "headrace/pipeline/saving/save_steps.hpp"

#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/pipeline/saving/piece_splits.hpp"
#include "headrace/pipeline/saving/piecewise.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "headrace/pipeline/storage/writing_mark.hpp"
#include "headrace/runtime/base/file_error.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/work_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace headrace::detail {

namespace {

saved_amount amount_of(const saved_manifest& what) {
  saved_amount out{what.rows(), 0};
  for (const auto& shard : what.shards) out.bytes += shard.bytes;
  return out;
}

/// Reads a dataset to its end, and calls `take` with each block. Ends with the error of the first
/// error row.
template <class Take>
status read_all(const dataset_ptr& graph, const iterator_context& context, Take take) {
  HEADRACE_ASSIGN(auto source, make_iterator(graph, context));
  block_ramp ramp;
  for (;;) {
    const work_timer timer;
    auto rows = source->next(ramp.next());
    if (context.stop.stop_requested())
      return cancelled("the save was stopped");
    if (!rows)
      return {};
    ramp.record(rows->rows, rows->bytes(), timer.took());
    if (!rows->errors.empty())
      return rows->errors[0].why;
    HEADRACE_TRY(take(*rows));
  }
}

/// Runs the dataset over the splits of a provider; null: all splits.
template <class Take>
status run_over(split_provider* splits, uint64_t seed, const dataset_ptr& graph,
                const iterator_context& from, Take take) {
  auto context = from;
  run_caches caches;
  context.caches = &caches;
  context.splits = splits;
  context.seed = seed;
  return read_all(graph, context, take);
}

/// The number of splits in a pass over the group of source `leader`, which has reported `told`
/// splits. The source with the fewest splits determines it, because a zip ends with that source.
/// Empty if the number is determined only at the end of the pass.
std::optional<uint64_t> splits_of_pass(const split_plan& plan, uint32_t leader, uint64_t told) {
  auto out = told;
  for (const auto& one : plan.sources)
    if (one.group == plan.sources[leader].group && one.splits)
      out = std::min(out, *one.splits);
  return out == endless_rows ? std::nullopt : std::optional{out};
}

/// The plan of the pieces, without an id.
result<save_plan> divide(const dataset_ptr& graph, const save_terms& terms,
                         const iterator_context& from) {
  save_plan out;
  out.fingerprint = terms.fingerprint;
  out.spec = graph->spec;
  out.compression = terms.compression;
  out.seed = random_id();
  const auto how = piecewise_of(graph);
  out.whole_because = how.whole_because;
  if (!out.divided())
    return out;
  // A run that is given no splits requests the splits of each pass of each source in order, and
  // `finder` records these requests.
  const auto sources = plan_splits(graph);
  pass_finder finder{sources, most_save_pieces};
  HEADRACE_TRY(run_over(&finder, out.seed, graph, from, [](const block&) { return status{}; }));
  for (const auto& pass : finder.passes()) {
    const auto splits = splits_of_pass(sources, pass.source, pass.splits);
    if (!splits) {
      out.whole_because = fmt::format("{} says only at its end how many elements it has",
                                      to_string(sources.sources[pass.source].op));
      out.sections.clear();
      return out;
    }
    if (*splits == 0)
      continue;
    const auto& source = how.sources[pass.source];
    out.sections.push_back({sources.sources[pass.source].group, pass.pass, *splits,
                            splits_a_piece(*splits, {.rows = source.rows,
                                                     .multiple = source.multiple,
                                                     .workers = terms.workers,
                                                     .passes = finder.passes().size()}),
                            pass.digest});
  }
  return out;
}

status same_save(const std::string& folder, const save_plan& found, const save_terms& terms) {
  if (found.fingerprint != terms.fingerprint)
    return already_exists(fmt::format(
      "'{}' holds another dataset, or is being written with one (fingerprint {:.12}, this one "
      "has {:.12}); name another folder, or remove that one",
      folder, found.fingerprint, terms.fingerprint));
  if (found.compression != terms.compression)
    return already_exists(
      fmt::format("'{}' holds this dataset with compression {}, and not {}; name that one, or "
                  "another folder",
                  folder, to_string(found.compression), to_string(terms.compression)));
  return {};
}

status same_saved(const std::string& folder, const saved_manifest& saved, const save_plan& plan) {
  return saved.id == plan.id ? status{}
                             : already_exists(fmt::format(
                               "'{}' holds another dataset than the one that workers wrote "
                               "there; name another folder, or remove that one",
                               folder));
}

/// Fails if the file of a shard of `folder` does not exist, or has another size; the error advises
/// to remove `remove`.
status is_there(const std::string& folder, const saved_manifest::shard& shard,
                const std::string& remove) {
  std::error_code missing;
  if (std::filesystem::file_size(folder + "/" + shard.file, missing) == shard.bytes && !missing)
    return {};
  return data_loss(
    fmt::format("'{}/{}' is not there with its {} bytes; remove '{}', and ask for the save again",
                folder, shard.file, shard.bytes, remove));
}

status make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return failed ? file_error(folder, "make the folder", failed.value()) : status{};
}

result<save_plan> plan_of(const std::string& folder, const dataset_ptr& graph,
                          const save_terms& terms, const iterator_context& from) {
  HEADRACE_ASSIGN(auto found, find_save_plan(folder));
  if (!found) {
    HEADRACE_ASSIGN(const auto saved, find_saved(folder));
    if (saved)
      return already_exists(
        fmt::format("'{}' holds a dataset that was saved by itself; name another "
                    "folder, or remove that one",
                    folder));
    HEADRACE_ASSIGN(auto made, divide(graph, terms, from));
    made.id = random_id();
    const auto written = write_save_plan(folder, made);
    if (written.ok())
      return made;
    if (written.code() != status_code::already_exists)
      return written;
    HEADRACE_ASSIGN(found, find_save_plan(folder));
    if (!found)
      return aborted(fmt::format("'{}' is being removed", folder));
  }
  HEADRACE_TRY(same_save(folder, *found, terms));
  return *std::move(found);
}

} // namespace

result<opened_save> open_save(const std::string& folder, const dataset_ptr& graph,
                              const save_terms& terms, const iterator_context& from) {
  if (graph->cardinality == infinite_cardinality)
    return invalid_argument("the dataset never ends; take(n) of it first");
  HEADRACE_TRY(make_folder(folder));
  opened_save out;
  HEADRACE_ASSIGN(out.plan, plan_of(folder, graph, terms, from));
  HEADRACE_ASSIGN(const auto saved, find_saved(folder));
  if (saved)
    HEADRACE_TRY(same_saved(folder, *saved, out.plan));
  out.there.resize(out.plan.pieces(), saved.has_value());
  if (saved) {
    for (const auto& shard : saved->shards) HEADRACE_TRY(is_there(folder, shard, folder));
    out.whole = true;
    out.amount = amount_of(*saved);
    return out;
  }
  forget_save_failure(folder);
  for (size_t i = 0; i < out.there.size(); ++i) {
    HEADRACE_ASSIGN(const auto piece, find_piece(folder, out.plan, i));
    if (!piece)
      continue;
    out.there[i] = true;
    out.amount += amount_of(*piece);
  }
  return out;
}

result<saved_amount> write_piece(const std::string& folder, const dataset_ptr& graph,
                                 const save_plan& plan, uint64_t number, uint64_t most_file_bytes,
                                 const iterator_context& from) {
  HEADRACE_ASSIGN(const auto there, find_piece(folder, plan, number));
  if (there)
    return amount_of(*there);
  HEADRACE_ASSIGN(auto writer, saved_writer::open(
                                 piece_folder(folder, number), plan.spec,
                                 {plan.compression, false, most_file_bytes, plan.id_of(number)}));
  const auto write = [&](const block& rows) { return writer->write(rows); };
  const auto piece = plan.piece_of(number);
  if (piece.of == nullptr) {
    HEADRACE_TRY(run_over(nullptr, plan.seed, graph, from, write));
  } else {
    const auto sources = plan_splits(graph);
    piece_splits splits{sources, piece};
    HEADRACE_TRY(run_over(&splits, plan.seed, graph, from, write));
    HEADRACE_TRY(splits.complete());
  }
  // The folder may have been removed in the meantime, and another save begun in it.
  HEADRACE_TRY(read_save_plan(folder, plan.id).status());
  HEADRACE_ASSIGN(const auto done, writer->finish());
  return amount_of(done);
}

void note_failed_plan(const std::string& folder, const status& why) {
  const auto plan = find_save_plan(folder);
  const auto saved = find_saved(folder);
  // A failure to write the note is ignored.
  if (plan && !*plan && saved && !*saved)
    static_cast<void>(note_save_failure(folder, 0, why));
}

result<std::optional<saved_manifest>> find_piece(const std::string& folder, const save_plan& plan,
                                                 uint64_t number) {
  const auto at = piece_folder(folder, number);
  const auto way_out = fmt::format("remove '{}', and ask for the save again", at);
  auto found = find_saved(at);
  if (!found)
    return status{found.status().code(), fmt::format("{}; {}", found.status().message(), way_out)};
  if (*found && (*found)->id != plan.id_of(number))
    return failed_precondition(
      fmt::format("'{}' holds a piece of another save, or another piece; {}", at, way_out));
  return found;
}

result<saved_amount> finish_save(const std::string& folder, const save_plan& plan) {
  saved_manifest all{
    .id = plan.id, .spec = plan.spec, .compression = plan.compression, .shards = {}};
  for (uint64_t i = 0; i < plan.pieces(); ++i) {
    const auto at = piece_folder(folder, i);
    HEADRACE_ASSIGN(auto piece, find_piece(folder, plan, i));
    if (!piece)
      return failed_precondition(fmt::format("piece {} is not in '{}'", i, at));
    remove_abandoned(at);
    for (auto& shard : piece->shards) {
      HEADRACE_TRY(is_there(at, shard, at));
      shard.file = at.substr(folder.size() + 1) + "/" + shard.file;
      all.shards.push_back(std::move(shard));
    }
  }
  const auto written = write_saved(folder, all, false);
  if (written.code() == status_code::already_exists) {
    HEADRACE_ASSIGN(const auto saved, read_saved(folder));
    HEADRACE_TRY(same_saved(folder, saved, plan));
  } else {
    HEADRACE_TRY(written);
  }
  // There may be a note of a worker that failed before another worker succeeded.
  forget_save_failure(folder);
  return amount_of(all);
}

result<save_plan> read_save_plan(const std::string& folder, uint64_t id) {
  HEADRACE_ASSIGN(auto found, find_save_plan(folder));
  if (!found)
    return failed_precondition(fmt::format(
      "'{}' has no 'saving.headrace', which another worker wrote there: all workers must "
      "see the same files under this path",
      folder));
  if (found->id != id)
    return failed_precondition(fmt::format(
      "'{}' is not what was written there when the save began: all workers must see the same files "
      "under this path, and nobody may remove or replace them meanwhile",
      folder + "/saving.headrace"));
  return *std::move(found);
}

} // namespace headrace::detail
