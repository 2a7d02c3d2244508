#include "headrace/client/internal/save.hpp"

#include "headrace/client/internal/checked.hpp"
#include "headrace/pipeline/composed/sorted_fields.hpp"
#include "headrace/pipeline/files/file_watch.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/saving/save_plan.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "headrace/pipeline/storage/shard_rows.hpp"

#include <fmt/format.h>

#include <chrono>

namespace headrace {
using namespace detail;

using detail::checked;

namespace {

/// Waits until the folder has a plan or a saved dataset. Returns the plan; nullopt: there is only a
/// saved dataset. The plan is returned even if all its pieces are complete, so that `load` makes
/// the same dataset before and after the completion, and positions in the dataset stay valid.
result<std::optional<save_plan>> await_saved(const std::string& folder,
                                             const load_options& options) {
  for (detail::file_watch watch{options.stall_timeout, options.stop};;) {
    HEADRACE_ASSIGN(auto plan, find_save_plan(folder));
    if (plan)
      return plan;
    HEADRACE_ASSIGN(const auto saved, find_saved(folder));
    if (saved)
      return std::optional<save_plan>{};
    HEADRACE_TRY(noted_save_failure(folder).with_context(fmt::format("'{}'", folder)));
    if (watch.over())
      return deadline_exceeded(
        fmt::format("nobody saved a dataset in '{}', or began to, within {:g} s (stall_timeout)",
                    folder, in_seconds(options.stall_timeout)));
    HEADRACE_TRY(watch.pause());
  }
}

dataset loaded(result<dataset_ptr> made) {
  return checked(make_sorted_fields(checked(std::move(made)).node()));
}

dataset load_from(const std::string& folder, expr_ptr shard) {
  auto found = read_saved(folder);
  if (!found)
    throw error{found.status().with_context("load")};
  return loaded(make_load(folder, found->spec, static_cast<int64_t>(found->blocks()),
                          static_cast<int64_t>(found->rows()), std::move(shard)));
}

/// Writes the elements of an iteration; `write` is called with a block without error rows. A stop
/// throws `cancelled`, and nothing is saved.
template <class Write>
void save_all(dataset_iterator from, saved_writer& to, const std::stop_token& stop, Write write) {
  while (auto rows = from.next_block()) {
    auto failed = rows->errors.empty() ? write(*std::move(rows)) : rows->errors[0].why;
    if (!failed.ok())
      throw error{failed.with_context("save")};
    if (stop.stop_requested())
      break;
  }
  if (stop.stop_requested())
    throw error{cancelled("save: it was stopped")};
  if (auto done = to.finish(); !done)
    throw error{done.status().with_context("save")};
}

std::unique_ptr<saved_writer> writer_for(const std::string& folder, const element_spec& spec,
                                         const save_options& options) {
  if (folder.empty())
    throw error{invalid_argument("save: path is empty; it must name a folder")};
  auto out = saved_writer::open(folder, spec, {options.compression, true});
  if (!out)
    throw error{out.status().with_context("save")};
  return *std::move(out);
}

/// A dataset of pairs (element, shard).
dataset with_shards(const dataset& what, function shard) {
  if (shard.dataset || shard.result() != element_spec{tensor_spec{dtype::int64, {}}})
    throw error{
      invalid_argument("save: shard_func must give one int64 scalar, the number of a shard")};
  std::vector<expr_ptr> tensors;
  for (size_t i = 0; i < what.spec().components.size(); ++i)
    tensors.push_back(
      make_parameter(shard.scope, static_cast<int64_t>(i), shard.argument.components[i]));
  tensors.push_back(shard.tensors[0]);
  shard.layout = structure::tuple({what.spec().layout, {}});
  shard.tensors = std::move(tensors);
  return checked(make_map(what.node(), std::make_shared<const function>(std::move(shard))));
}

} // namespace

dataset dataset::load(const std::string& folder) { return load_from(folder, nullptr); }
dataset dataset::load(const std::string& folder, const expr& shard) {
  return load_from(folder, shard.node());
}
dataset dataset::load_piece(const std::string& folder, const expr& piece,
                            const load_options& options) {
  auto plan = find_save_plan(folder).value();
  if (!plan)
    throw error{not_found(fmt::format("load: no service writes into '{}'", folder))};
  return loaded(make_load_piece(folder, plan->spec, piece.node(), options.stall_timeout.count()));
}

dataset dataset::load(const std::string& folder, const load_options& options) {
  if (!options.wait)
    return load(folder);
  if (options.stall_timeout <= duration{0})
    throw error{invalid_argument("load: stall_timeout must be more than 0")};
  const auto plan = await_saved(folder, options);
  if (!plan)
    throw error{plan.status().with_context("load")};
  if (!*plan)
    return load(folder);
  return range(static_cast<int64_t>((*plan)->pieces())).flat_map([&](const expr& piece) {
    return load_piece(folder, piece, options);
  });
}

int64_t dataset::saved_shards(const std::string& folder) {
  return static_cast<int64_t>(read_saved(folder).value().shards.size());
}

dataset dataset::cache(cache_options options) const {
  return checked(make_cache(node_, std::move(options.folder), options.most_bytes));
}
dataset dataset::latency_stats(std::string tag) const {
  return checked(make_stats(node_, std::move(tag), false));
}
dataset dataset::bytes_produced_stats(std::string tag) const {
  return checked(make_stats(node_, std::move(tag), true));
}
dataset dataset::written_to_tfrecord(const expr& path, file_options options) const {
  return checked(make_write_tfrecord(node_, path.node(), options.compression));
}
dataset dataset::snapshot(const std::string& folder, save_options options) const {
  return checked(make_snapshot(node_, folder, options.compression));
}
dataset dataset::snapshot_in(const std::string& folder, function shard,
                             const save_options& options) const {
  return checked(make_snapshot(node_, folder, options.compression,
                               std::make_shared<const function>(std::move(shard))));
}

void dataset::save(const std::string& folder, save_options options) const {
  save_elements(*this, folder, std::nullopt, options, {});
}
void dataset::save_in(const std::string& folder, function shard,
                      const save_options& options) const {
  save_elements(*this, folder, std::move(shard), options, {});
}

namespace detail {

void save_elements(const dataset& what, const std::string& folder, std::optional<function> shard,
                   const save_options& options, const iterate_options& reading) {
  if (what.cardinality() == infinite_cardinality)
    throw error{invalid_argument("save: the dataset never ends; take(n) of it first")};
  if (!shard) {
    auto to = writer_for(folder, what.spec(), options);
    save_all(what.iterate(reading), *to, reading.stop,
             [&](const block& rows) { return to->write(rows); });
    return;
  }
  const auto numbered = with_shards(what, *std::move(shard));
  auto to = writer_for(folder, what.spec(), options);
  uint64_t kernel_calls = 0;
  save_all(what.counted_together(numbered.node()).iterate(reading), *to, reading.stop,
           [&](block rows) {
             const auto shards = std::move(rows.columns.back());
             rows.columns.pop_back();
             return detail::write_sharded(*to, rows, shards, kernel_calls);
           });
}

} // namespace detail

} // namespace headrace
