#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/files/file_watch.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/saving/save_steps.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"
#include "headrace/pipeline/storage/saved_reader.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace headrace::detail {

namespace {

namespace {

/// Reads saved elements. A split is one saved block.
class load_iterator final : public operator_iterator {
public:
  /// Reads the blocks `[first, first + count)` of `from`.
  load_iterator(engine& shared, const dataset_node& node, const place& at, saved_reader from,
                uint64_t first, uint64_t count)
    : operator_iterator(shared, node),
      from_(std::move(from)),
      first_(first),
      splits_(shared, at, count,
              make_listing({fmt::format("'{}' as saved under the id {:016x}",
                                        node.as<load_parameters>().folder, from_.manifest().id)})) {
  }

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (row_ == held_.rows) {
      auto more = splits_.here();
      if (!more)
        return last_failure(more.status());
      if (!*more)
        return std::nullopt;
      number_ = (*more)->first;
      splits_.pass(1);
      if (auto failed = hold(0); !failed.ok()) {
        splits_.close();
        auto out = last_failure(failed.with_context("load"));
        if (splits_.provided())
          out.origins = {splits_.from(number_, 1, 0)};
        return out;
      }
    }
    const auto rows = std::min(wanted.rows, held_.rows - row_);
    auto out = held_.slice(row_, rows);
    if (splits_.provided())
      out.origins = {splits_.from(number_, rows, 0)};
    row_ += rows;
    return out;
  }
  // Saves as numbers: the numbers of `splits_`; whether a block is held of which rows are left, the
  // number of this block, and the number of its rows that were returned; and the id of the saved
  // dataset.
  void save_to(position& to) const override {
    const bool open = row_ < held_.rows;
    splits_.save_to(to, open);
    for (uint64_t x : {uint64_t{open}, number_, uint64_t{row_}, from_.manifest().id})
      to.numbers.push_back(x);
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    const bool open = from.flag();
    number_ = from.number(splits_.total());
    const auto row = from.number();
    if (from.number() != from_.manifest().id && from.fits())
      return data_loss("the saved elements are not those of when the position was saved");
    if (!open || !from.fits())
      return {};
    if (number_ == splits_.total() || row >= from_.rows_of(first_ + number_)) {
      from.refuse();
      return {};
    }
    return hold(row);
  }

private:
  status hold(uint64_t row) {
    HEADRACE_ASSIGN(held_, from_.read(first_ + number_));
    ++kernel_calls_;
    row_ = row;
    return {};
  }

  saved_reader from_;
  uint64_t first_;
  split_cursor splits_;
  uint64_t number_ = 0; ///< the number of the held block, counted from `first_`
  block held_;
  size_t row_ = 0; ///< the next row of the held block
};

/// Waits until a piece is written; returns its folder.
result<std::string> await_piece(const dataset_node& node, uint64_t number,
                                const std::stop_token& stop) {
  const auto& whole = node.as<load_parameters>().folder;
  const std::chrono::nanoseconds longest{node.as<load_parameters>().piece_wait_ns};
  const auto folder = piece_folder(whole, number);
  HEADRACE_ASSIGN(const auto plan, find_save_plan(whole));
  if (!plan)
    return not_found(fmt::format("no service writes into '{}' (any more)", whole));
  for (file_watch watch{longest, stop};;) {
    // The piece is looked for after the state of the save: if the save was finished by then, all of
    // its pieces had been written, and a missing piece is an error.
    HEADRACE_ASSIGN(const auto all, find_saved(whole));
    const auto failed = noted_save_failure(whole);
    HEADRACE_ASSIGN(const auto piece, find_piece(whole, *plan, number));
    if (piece)
      return folder;
    if (all)
      return data_loss(fmt::format("'{}' is saved, and its piece {} is not there", whole, number));
    HEADRACE_TRY(failed.with_context(fmt::format("'{}'", whole)));
    if (watch.over())
      return deadline_exceeded(
        fmt::format("piece {} of '{}' was not written within {:g} s (stall_timeout)", number, whole,
                    in_seconds(longest)));
    HEADRACE_TRY(watch.pause());
  }
}

opened open_piece(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
  const auto number = values[0].values<int64_t>()[0];
  if (number < 0)
    return invalid_argument(
      fmt::format("load: piece {} of '{}'", number, node->as<load_parameters>().folder));
  auto folder = await_piece(*node, static_cast<uint64_t>(number), shared.context().stop);
  if (!folder)
    return folder.status().with_context("load");
  auto from = saved_reader::open(*std::move(folder), node->spec);
  if (!from)
    return from.status().with_context("load");
  const auto blocks = from->blocks();
  return std::unique_ptr<iterator>{
    std::make_unique<load_iterator>(shared, *node, at, *std::move(from), 0, blocks)};
}

} // namespace

opened open_load(engine& shared, const dataset_ptr& node, const place& at) {
  const auto& own = node->as<load_parameters>();
  if (own.piece_wait_ns != 0)
    return open_piece(shared, node, at);
  auto from = saved_reader::open(own.folder, node->spec);
  if (!from)
    return from.status().with_context("load");
  const bool known = own.blocks >= 0;
  if (known
      && (from->blocks() != static_cast<uint64_t>(own.blocks)
          || (node->cardinality >= 0
              && from->manifest().rows() != static_cast<uint64_t>(node->cardinality))))
    return failed_precondition(fmt::format(
      "load: '{}' has {} elements in {} blocks, which is not what it had when the dataset was "
      "made; make it again",
      own.folder, from->manifest().rows(), from->blocks()));
  uint64_t first = 0, end = from->blocks();
  if (!node->tensors.empty()) {
    HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
    const auto shard = values[0].values<int64_t>()[0];
    const auto shards = from->manifest().shards.size();
    if (shard < 0 || static_cast<uint64_t>(shard) >= shards)
      return invalid_argument(
        fmt::format("load: shard {} of '{}', which has {}", shard, own.folder, shards));
    first = from->first_block(static_cast<size_t>(shard));
    end = from->first_block(static_cast<size_t>(shard) + 1);
  }
  return std::unique_ptr<iterator>{
    std::make_unique<load_iterator>(shared, *node, at, *std::move(from), first, end - first)};
}

void encode_load(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<load_parameters>();
  auto out = to.out.initLoad();
  out.setFolder(text_of(own.folder));
  encode(node.spec, out.initSpec());
  out.setBlocks(own.blocks);
  out.setCardinality(node.cardinality);
  out.setShard(node.tensors.empty() ? 0 : to.tensor(0) + 1);
  out.setPieceWaitNs(own.piece_wait_ns);
}

result<dataset_ptr> decode_load(node_reader& from) {
  const auto in = from.in.getLoad();
  HEADRACE_ASSIGN(auto spec, decode(in.getSpec()));
  expr_ptr shard;
  if (in.getShard() != 0) {
    HEADRACE_ASSIGN(shard, from.tensor(in.getShard() - 1));
  }
  if (in.getPieceWaitNs() != 0)
    return make_load_piece(string_of(in.getFolder()), std::move(spec), std::move(shard),
                           in.getPieceWaitNs());
  return make_load(string_of(in.getFolder()), std::move(spec), in.getBlocks(), in.getCardinality(),
                   std::move(shard));
}

std::optional<uint64_t> splits_of_blocks(const dataset_node& node) {
  const auto& [folder, blocks, piece_wait_ns] = node.as<load_parameters>();
  return blocks < 0 || piece_wait_ns != 0 ? std::nullopt
                                          : std::optional{static_cast<uint64_t>(blocks)};
}

std::string shown_load(const dataset_node& node) { return node.as<load_parameters>().folder; }

} // namespace

constinit const operator_record load_record{
  .name = "load",
  .arm = schema::Dataset::LOAD,
  .encode = encode_load,
  .decode = decode_load,
  .open = open_load,
  .rows = source_rows,
  .source = {.files = file_use::others, .splits = splits_of_blocks},
  .shown = shown_load,
};

} // namespace headrace::detail
