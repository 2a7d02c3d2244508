#pragma once

#include "headrace/actors/protocol/split_question.hpp"
#include "headrace/actors/task/split_dealer.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail::test {

/// The elements of a dataset of the world: `splits` splits of one source, each of `rows` elements.
/// An element is identified by its number.
struct world_dataset {
  uint64_t splits = 100;
  uint64_t rows = 1;

  uint64_t elements() const noexcept { return splits * rows; }
};

/// The elements `index`, `index + shards` ... of a dataset.
struct world_shard {
  uint64_t shards = 1;
  uint64_t index = 0;

  uint64_t size(uint64_t elements) const noexcept {
    return elements / shards + (index < elements % shards ? 1 : 0);
  }
};

/// A block of int64 scalars with the splits that they come from.
inline block numbered(const world_dataset& what, uint64_t first, uint64_t count, uint64_t base,
                      const world_shard& of = {}) {
  std::vector<int64_t> xs(count);
  block out;
  for (uint64_t i = 0; i < count; ++i) {
    const auto x = of.index + (first + i) * of.shards;
    xs[i] = static_cast<int64_t>(base + x);
    append_origin(out.origins, {.rows = 1, .split = x / what.rows});
  }
  out.rows = count;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

/// Does the work of a runner's thread in steps, without a thread: reads the splits that the task
/// was leased (DYNAMIC), all elements (OFF) or the elements of the task's shard (a static policy),
/// and drops the elements that earlier runners gave.
class simulated_runner {
public:
  struct over {};
  struct waits {}; ///< the runner waits for splits, or for room for its rows
  using outcome = std::variant<block, split_question, waits, over>;

  simulated_runner(world_dataset what, uint64_t run, bool leases, split_log replay, bool leaving,
                   uint64_t skip, const split_plan& plan, uint64_t base, world_shard shard = {})
    : what_(what), run_(run), skip_(skip), base_(base), shard_(shard) {
    if (leases)
      dealer_.emplace(plan, std::move(replay), leaving);
    else
      queue_.push_back({0, shard_.size(what_.elements())});
    if (!queue_.empty() && queue_.front().second == 0)
      queue_.clear();
  }

  uint64_t run() const noexcept { return run_; }
  bool ended() const noexcept { return ended_; }

  /// Makes up to `most` elements.
  outcome step(uint64_t most) {
    if (ended_ || asked_ || outstanding_ > most_outstanding)
      return waits{};
    while (queue_.empty()) {
      if (!dealer_ || refused_)
        return end();
      const auto next = dealer_->next(0, 0);
      if (const auto* question = std::get_if<split_question>(&next)) {
        asked_ = *question;
        return *question;
      }
      if (std::holds_alternative<pass_over>(next))
        return end();
      const auto& splits = std::get<split_range>(next);
      const auto last = std::min(splits.first + splits.count, what_.splits);
      if (splits.first < last)
        queue_.push_back({splits.first * what_.rows, last * what_.rows});
    }
    auto& [first, last] = queue_.front();
    const auto count = std::min(last - first, most);
    auto rows = numbered(what_, first, count, base_, shard_);
    first += count;
    given_ += count;
    if (const auto row = first % what_.rows; first == last || row != 0)
      done_ = {.split = (first - 1) / what_.rows, .through = row == 0};
    else
      done_ = {.split = first / what_.rows};
    if (first == last)
      queue_.pop_front();
    if (const auto dropped = std::min<uint64_t>(skip_, count); dropped != 0) {
      skip_ -= dropped;
      if (dropped == count)
        return step(most);
      rows = rows.slice(dropped, count - dropped);
    }
    outstanding_ += rows.bytes();
    return rows;
  }
  void give(const split_question& which, const result<lease_answer>& what) {
    if (asked_ != which)
      return;
    if (what)
      dealer_->answered(*asked_, *what);
    else
      refused_ = true;
    asked_.reset();
  }
  /// `given`: the number of rows that the runner has made, including the rows that it dropped.
  /// `done`: the splits that are done once these rows are handed out.
  uint64_t given() const noexcept { return given_; }
  const splits_done& done() const noexcept { return done_; }
  void taken(size_t bytes) { outstanding_ -= std::min(bytes, outstanding_); }
  /// True if every source was read to its end.
  bool exhausted() const { return !dealer_ || dealer_->exhausted(); }
  std::vector<unread_splits> leave() {
    asked_.reset();
    return dealer_ ? dealer_->leave() : std::vector<unread_splits>{};
  }

private:
  static constexpr size_t most_outstanding = 1024;
  over end() {
    ended_ = true;
    return {};
  }

  world_dataset what_;
  uint64_t run_;
  uint64_t skip_;
  uint64_t base_; ///< added to each element, so that the elements of two tasks differ
  world_shard shard_;
  std::optional<split_dealer> dealer_;
  std::deque<std::pair<uint64_t, uint64_t>> queue_; ///< elements [first, last)
  std::optional<split_question> asked_;
  size_t outstanding_ = 0;
  uint64_t given_ = 0;
  splits_done done_;
  bool ended_ = false;
  bool refused_ = false; ///< a question was answered with an error, which ends the source
};

} // namespace headrace::detail::test
