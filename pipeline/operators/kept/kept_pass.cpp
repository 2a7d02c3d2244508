#include "headrace/pipeline/operators/kept/kept_pass.hpp"

#include "headrace/pipeline/storage/shard_rows.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {
constexpr size_t bytes_a_block = size_t{128} << 10;
}

memory_sink::memory_sink(std::shared_ptr<memory_cache> to, const pass_place& pass,
                         position_ptr begin, size_t most_bytes)
  : to_(std::move(to)),
    most_bytes_(most_bytes),
    packer_(bytes_a_block),
    rows_(std::make_shared<kept_rows>(kept_rows{{pass, std::move(begin)}, {}})) {}

status memory_sink::keep(const block& rows, uint64_t& kernel_calls) {
  bytes_ += rows.bytes();
  if (most_bytes_ != 0 && bytes_ > most_bytes_)
    return resource_exhausted(fmt::format(
      "the elements take more than the {} bytes that most_bytes allows; cache them in a folder, or "
      "allow more",
      most_bytes_));
  packer_.add(rows);
  if (packer_.full())
    rows_->blocks.push_back(packer_.take(kernel_calls));
  return {};
}

status memory_sink::finish(uint64_t& kernel_calls) {
  if (!packer_.empty())
    rows_->blocks.push_back(packer_.take(kernel_calls));
  to_->publish(std::move(rows_));
  return {};
}

status folder_sink::keep(const block& rows, uint64_t& kernel_calls) {
  if (!shard_of_)
    return to_->write(rows);
  const auto shards = shard_of_->run(rows, nullptr, kernel_calls);
  if (!shards.errors.empty())
    return shards.errors[0].why.with_context("shard_func");
  return write_sharded(*to_, rows, shards.columns[0], kernel_calls);
}

status folder_sink::finish(uint64_t&) { return to_->finish().status(); }

std::optional<block> kept_cursor::next(const limits& wanted) {
  if (block_ == from_->blocks.size())
    return std::nullopt;
  const auto& now = from_->blocks[block_];
  const auto rows = std::min(wanted.rows, now.rows - row_);
  auto out = now.slice(row_, rows);
  row_ += rows;
  given_ += rows;
  if (row_ == now.rows) {
    ++block_;
    row_ = 0;
  }
  return out;
}

status kept_cursor::skip(uint64_t rows) {
  while (rows != 0) {
    const auto passed = next({static_cast<size_t>(std::min<uint64_t>(rows, SIZE_MAX))});
    if (!passed)
      return data_loss("the data is not what it was when the position was saved");
    rows -= passed->rows;
  }
  return {};
}

result<std::optional<block>> saved_cursor::next(const limits& wanted) {
  if (block_ == from_.blocks())
    return std::optional<headrace::block>{};
  if (!held_) {
    HEADRACE_ASSIGN(held_, from_.read(block_));
  }
  const auto rows = std::min<uint64_t>(wanted.rows, held_->rows - row_);
  auto out = held_->slice(row_, rows);
  row_ += rows;
  if (row_ == held_->rows) {
    ++block_;
    row_ = 0;
    held_.reset();
  }
  return std::optional{std::move(out)};
}

status saved_cursor::go_to(uint64_t id, uint64_t block, uint64_t row) {
  const bool fits = id == from_.manifest().id && block <= from_.blocks()
                    && (block == from_.blocks() ? row == 0 : row < from_.rows_of(block));
  if (!fits)
    return data_loss("the saved elements are not those of when the position was saved");
  block_ = block;
  row_ = row;
  return {};
}

} // namespace headrace::detail
