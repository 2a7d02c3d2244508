#pragma once

#include "headrace/actors/store/fact_store.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/journal/journal.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace headrace::detail {

/// Keeps facts in a stream of a journal, and also in memory, for writers that take over while the
/// process runs. Thread-safe.
template <class Record>
class durable_store final : public fact_store<Record> {
public:
  using fact = typename Record::fact;
  using stored = typename fact_store<Record>::stored;
  /// When the facts since the last stored state take more bytes than this, and more than that state
  /// takes, the journal stores the present state in their place.
  static constexpr size_t least_compaction = size_t{1} << 20;

  /// Continues with the journal's content. Errors are those of the journal and of `record_codec`.
  static result<std::shared_ptr<durable_store>> open(std::shared_ptr<journal> in, uint64_t stream,
                                                     Record empty) {
    using codec = record_codec<Record>;
    HEADRACE_ASSIGN(auto kept, in->recover(stream));
    if (kept.state) {
      HEADRACE_ASSIGN(empty, codec::read_state(*kept.state, std::move(empty)));
    }
    size_t bytes = 0;
    for (const auto& group : kept.records) {
      HEADRACE_ASSIGN(const auto facts, codec::read_facts(group));
      for (const auto& x : facts) empty.apply(x);
      bytes += group.size();
    }
    auto out = std::make_shared<durable_store>(std::move(in), stream, std::move(empty));
    out->written_ = bytes;
    out->state_bytes_ = kept.state ? kept.state->size() : 0;
    return out;
  }
  /// Use `open` instead.
  durable_store(std::shared_ptr<journal> in, uint64_t stream, Record record)
    : journal_(std::move(in)), stream_(stream), kept_(std::move(record)) {}

  typename fact_store<Record>::tenure take_over() override {
    std::lock_guard lock{mutex_};
    return kept_.take_over();
  }
  std::optional<status> append(uint64_t writer, std::vector<fact> group, stored then) override {
    std::lock_guard lock{mutex_};
    if (!kept_.may_append(writer))
      return aborted("another writer has taken over");
    if (group.empty() && *waiting_ == 0)
      return status{};
    auto bytes = record_codec<Record>::write_facts(group);
    written_ += bytes.size();
    kept_.append(std::move(group));
    ++*waiting_;
    journal_->append(stream_, std::move(bytes),
                     [waiting = waiting_, then = std::move(then)](const status& how) {
                       --*waiting;
                       then(how);
                     });
    if (written_ > std::max(least_compaction, state_bytes_)) {
      auto state = record_codec<Record>::write_state(kept_.settle());
      state_bytes_ = state.size();
      written_ = 0;
      journal_->settle(stream_, std::move(state));
    }
    return {};
  }
  Record record() const override {
    std::lock_guard lock{mutex_};
    return kept_.record();
  }

private:
  std::shared_ptr<journal> journal_;
  const uint64_t stream_;
  mutable std::mutex mutex_;
  appended_facts<Record> kept_;
  /// The number of groups that are not stored yet. It is shared with the journal's callbacks, which
  /// may be called after this object is destroyed.
  std::shared_ptr<std::atomic<size_t>> waiting_ = std::make_shared<std::atomic<size_t>>(0);
  size_t written_ = 0; ///< bytes of facts since the last state
  size_t state_bytes_ = 0;
};

} // namespace headrace::detail
