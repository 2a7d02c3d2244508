#pragma once

#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/saving/save_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace headrace::detail {

/// True for the first source of a group: a zip, which makes groups, reads it before the others.
inline bool leads_group(const split_plan& plan, uint32_t source) noexcept {
  const auto group = plan.sources[source].group;
  return std::none_of(plan.sources.begin(), plan.sources.begin() + source,
                      [&](const auto& other) { return other.group == group; });
}

/// Gives a run the splits of one piece, and no splits of other groups of sources or of other
/// passes.
class piece_splits final : public split_provider {
public:
  /// @pre `piece.of` is set. `sources` and `*piece.of` outlive this object.
  piece_splits(const split_plan& sources, const save_plan::piece& piece)
    : sources_(sources), piece_(piece) {}

  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> /*total*/,
                            const std::shared_ptr<const split_listing>& listing) override {
    std::lock_guard lock{mutex_};
    const auto& of = *piece_.of;
    if (sources_.sources[source].group != of.group || pass != of.pass)
      return split_answer{pass_over{}};
    const bool leads = leads_group(sources_, source);
    if (leads && of.digest != 0 && (!listing || listing->digest != of.digest))
      return failed_precondition(
               fmt::format("{} does not find here what the worker found that began the save: all "
                           "workers must see the same files, and these must stay as they are until "
                           "the save is over",
                           to_string(sources_.sources[source].op)))
        .that_ends_run();
    if (!given_.insert(source).second)
      return split_answer{pass_over{}};
    return split_answer{piece_.splits};
  }

  /// Records that a source ended before its splits were used up.
  void close(uint32_t source, uint64_t /*pass*/, split_range /*unread*/) override {
    std::lock_guard lock{mutex_};
    // Under a zip this is normal for the longer sources.
    if (!sources_.sources[source].zipped)
      failed_.insert(source);
  }

  /// To be called after the run. Not ok: a source could not be opened, or ended early with an error
  /// in a piece that is not the last one of the pass, and an `ignore_errors` hides this. A run of
  /// the whole dataset would read nothing of the source after the error, but the later pieces do,
  /// so the pieces would not be equal to that run.
  status complete() {
    std::lock_guard lock{mutex_};
    const auto failed = [&](uint32_t source, std::string_view how) {
      return failed_precondition(fmt::format(
        "{} {}, which ignore_errors hides: in one process nothing would be read after that; see "
        "without ignore_errors what failed",
        to_string(sources_.sources[source].op), how));
    };
    const auto& of = *piece_.of;
    const bool last = piece_.splits.first + piece_.splits.count == of.splits;
    if (!failed_.empty() && !last)
      return failed(*failed_.begin(), "ended early with an error");
    for (uint32_t i = 0; i < sources_.sources.size(); ++i)
      if (sources_.sources[i].group == of.group && leads_group(sources_, i) && !given_.contains(i))
        return failed(i, "could not be opened here");
    return {};
  }

private:
  const split_plan& sources_;
  const save_plan::piece piece_;
  std::mutex mutex_;
  std::set<uint32_t> given_, failed_;
};

/// Gives a run no splits, and records the passes for which it requests splits.
class pass_finder final : public split_provider {
public:
  struct found {
    uint32_t source = 0; ///< the first source of its group
    uint64_t pass = 0;
    uint64_t splits = 0; ///< the number of splits that the source reports
    uint64_t digest = 0; ///< the digest of its listing; 0: it has none
  };

  /// `sources` outlives this object. After more than `most` passes the run ends with an error.
  pass_finder(const split_plan& sources, size_t most) : sources_(sources), most_(most) {}

  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                            const std::shared_ptr<const split_listing>& listing) override {
    std::lock_guard lock{mutex_};
    if (!leads_group(sources_, source))
      return split_answer{pass_over{}};
    if (passes_.size() == most_)
      return invalid_argument(fmt::format("it has more than {} passes over its sources; save what "
                                          "is repeated, and repeat what is loaded",
                                          most_))
        .that_ends_run();
    passes_.push_back({source, pass, total.value_or(UINT64_MAX), listing ? listing->digest : 0});
    return split_answer{pass_over{}};
  }
  const std::vector<found>& passes() const noexcept { return passes_; }

private:
  const split_plan& sources_;
  const size_t most_;
  std::mutex mutex_;
  std::vector<found> passes_; ///< the passes in the order of the requests
};

} // namespace headrace::detail
