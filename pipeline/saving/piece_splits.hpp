#pragma once

#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/saving/save_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace headrace::detail {

/// Gives a run the splits of one piece, and none of any other source or pass.
class piece_splits final : public split_provider {
public:
  /// @pre `piece.of`. Both outlive it.
  piece_splits(const split_plan& sources, const save_plan::piece& piece)
    : sources_(sources), piece_(piece) {}

  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> /*total*/,
                            const std::shared_ptr<const split_listing>& listing) override {
    std::lock_guard lock{mutex_};
    const auto& of = *piece_.of;
    if (sources_.sources[source].group != of.group || pass != of.pass)
      return split_answer{pass_over{}};
    if (of.digest != 0 && (!listing || listing->digest != of.digest))
      return failed_precondition(
        fmt::format("{} does not find here what the worker found that began the save: all workers "
                    "must see the same "
                    "files, and these must stay as they are until the save is over",
                    to_string(sources_.sources[source].op)));
    if (!given_.insert(source).second)
      return split_answer{pass_over{}};
    return split_answer{piece_.splits};
  }

private:
  const split_plan& sources_;
  const save_plan::piece piece_;
  std::mutex mutex_;
  std::set<uint32_t> given_;
};

/// Gives a run no splits at all, and notes which passes it asks for.
class pass_finder final : public split_provider {
public:
  struct found {
    uint32_t group = 0;
    uint64_t pass = 0;
    std::optional<uint64_t> total; ///< splits; nullopt: the source cannot tell
    uint64_t digest = 0;           ///< of its listing; 0: it has none
    bool rows = false;             ///< a split is a row
  };

  /// `sources` outlives it.
  explicit pass_finder(const split_plan& sources) : sources_(sources) {}

  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                            const std::shared_ptr<const split_listing>& listing) override {
    std::lock_guard lock{mutex_};
    const auto& about = sources_.sources[source];
    auto at = std::ranges::find_if(
      passes_, [&](const found& x) { return x.group == about.group && x.pass == pass; });
    if (at == passes_.end())
      passes_.push_back(
        {about.group, pass, total, listing ? listing->digest : 0, splits_are_rows(about.op)});
    else if (total && at->total)
      at->total = std::min(*at->total, *total); // a zip ends with its shortest input
    return split_answer{pass_over{}};
  }
  std::vector<found>& passes() noexcept { return passes_; }

private:
  static bool splits_are_rows(dataset_op op) noexcept {
    dataset_node like;
    like.op = op;
    return headrace::splits_are_rows(like);
  }

  const split_plan& sources_;
  std::mutex mutex_;
  std::vector<found> passes_; ///< in the order in which they were asked for
};

} // namespace headrace::detail
