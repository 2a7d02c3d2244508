#include "headrace/client/dataset_iterator.hpp"

#include "headrace/actors/stream/handout.hpp"
#include "headrace/client/internal/service_source.hpp"
#include "headrace/pipeline/codec/position_codec.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <atomic>
#include <cstdio>
#include <fmt/format.h>
#include <stop_token>

namespace headrace {
using namespace detail;

/// Elements come either from a local iterator, block after block, or, if the whole graph is a
/// `distribute`, directly from the service. In the latter case each element counts as handed out
/// when the trainer gets it, not before.
class dataset_iterator::impl {
public:
  impl(const dataset_ptr& graph, const iterate_options& options)
    : graph_(graph),
      spec_(std::make_shared<const element_spec>(graph->spec)),
      stop_with_(options.stop, [this] { stop_.request_stop(); }) {
    context_.stop = stop_.get_token();
    context_.seed = options.seed ? *options.seed : random_id();
    context_.repetition = options.repetition.value_or(0);
    context_.find_function = options.find_function;
    context_.counters = options.counters;
    context_.ignored = [this](uint64_t more) { ignored_ += more; };
    const auto warn = options.warn ? options.warn : write_warning;
    context_.distribute = [token = context_.stop, warn](
                            const dataset_node& node) -> result<std::unique_ptr<element_source>> {
      auto opened = service_source::open(node, token, warn);
      if (!opened)
        return opened.status();
      return std::unique_ptr<element_source>{*std::move(opened)};
    };
    if (graph->op == dataset_op::distribute) {
      service_ = service_source::open(*graph, context_.stop, warn).value();
      return;
    }
    local_ = make_iterator(graph, context_).value();
  }
  impl(const dataset_ptr& graph, const buffer& record, const iterate_options& options)
    : impl(graph, options) {
    if (service_)
      throw error{cannot_save()};
    const auto from = decode_iteration(record, fingerprint(graph).value()).value();
    context_.seed = from.seed;
    context_.repetition = from.repetition;
    local_ = make_iterator(graph, context_).value();
    if (auto failed = local_->restore(*from.point.at); !failed.ok())
      throw error{failed.with_context("restore")};
    if (auto failed = drop_rows(from.point.skip); !failed.ok())
      throw error{failed.with_context("restore")};
  }
  ~impl() { stop_.request_stop(); }

  result<buffer> save() const {
    if (service_)
      return cannot_save();
    // The restored iterator must read the rows again that this one has read and not returned yet.
    const bool holds = row_ + 1 < rows_;
    auto point = holds ? resume_point{before_, row_ + 1} : resume_point{local_->save(), 0};
    HEADRACE_ASSIGN(auto graph, fingerprint(graph_));
    return encode_iteration({.graph = std::move(graph),
                             .seed = context_.seed,
                             .repetition = context_.repetition,
                             .point = std::move(point)});
  }

  std::optional<block> next_block() {
    if (service_) {
      held_ = nullptr; // `service_` first returns the remaining rows of this block
      rows_ = row_ = 0;
      return service_->next({.rows = SIZE_MAX, .bytes = SIZE_MAX});
    }
    if (row_ + 1 < rows_) {
      auto rest = held_->slice(row_ + 1, rows_ - row_ - 1);
      row_ = rows_ = 0;
      return rest;
    }
    return fetch();
  }

  /// Moves `at` to the next element; returns false at the end. `failed` is set to the error of the
  /// element, or to null if it did not fail.
  bool advance(element& at, const status*& failed) {
    if (service_) {
      int64_t row;
      while (!held_ || (row = service_->rows().claim()) < 0)
        if (held_ = nullptr; !hold(at, service_->peek()))
          return false;
      row_ = static_cast<size_t>(row);
    } else if (row_ + 1 < rows_) {
      ++row_;
    } else {
      auto fresh = fetch();
      if (!hold(at, fresh ? std::make_shared<const block>(*std::move(fresh)) : nullptr))
        return false;
    }
    at.set_row(row_);
    failed = held_->errors.empty() ? nullptr : held_->error_at(row_);
    return true;
  }

  /// As `advance` if the held block has a further element; else returns false.
  bool take(element& at, const status*& failed) {
    if (!held_)
      return false;
    if (service_) {
      const auto row = service_->rows().claim();
      if (row < 0)
        return false;
      row_ = static_cast<size_t>(row);
    } else if (row_ + 1 < rows_) {
      ++row_;
    } else {
      return false;
    }
    at = current();
    failed = held_->errors.empty() ? nullptr : held_->error_at(row_);
    return true;
  }

  bool only_waits() const noexcept { return service_ != nullptr; }
  outcome wait(duration limit) {
    if (held_ && service_->rows().has_row())
      return outcome::ready;
    held_ = nullptr;
    auto fresh = service_->peek_within(limit);
    if (!fresh)
      return outcome::nothing_yet;
    element unused;
    return hold(unused, *std::move(fresh)) ? outcome::ready : outcome::over;
  }

  uint64_t repetition() const noexcept { return context_.repetition; }
  uint64_t ignored() const noexcept { return ignored_; }

  void stop() noexcept { stop_.request_stop(); }

  /// The element that was returned last.
  element current() const { return {held_, spec_, row_}; }

private:
  static void write_warning(const std::string& what) {
    std::fprintf(stderr, "headrace: warning: %s\n", what.c_str());
  }

  static status cannot_save() {
    return unimplemented(
      "distribute: what a service gives has no positions that can be saved; save "
      "those of datasets that are read without it");
  }

  status drop_rows(uint64_t rows) {
    while (rows != 0) {
      const auto dropped = local_->next({.rows = rows});
      if (!dropped)
        return data_loss(fmt::format("the data ended {} elements before the saved position", rows));
      rows -= dropped->rows;
    }
    return {};
  }

  std::optional<block> fetch() {
    before_ = local_->save();
    const auto begin = clock::system().now();
    auto out = local_->next(ramp_.next());
    if (out)
      ramp_.record(out->rows, out->bytes(), clock::system().now() - begin);
    return out;
  }

  bool hold(element& at, std::shared_ptr<const block> rows) {
    held_ = std::move(rows);
    row_ = 0;
    rows_ = held_ ? held_->rows : 0;
    if (!held_)
      return false;
    at = element{held_, spec_, 0};
    return true;
  }

  dataset_ptr graph_;
  std::shared_ptr<const element_spec> spec_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> stop_with_;
  std::atomic<uint64_t> ignored_ = 0;
  iterator_context context_;
  std::unique_ptr<iterator> local_;
  std::unique_ptr<service_source> service_;
  position_ptr before_; ///< the position of `local_` before it returned `held_`
  block_ramp ramp_;
  std::shared_ptr<const block> held_;
  size_t row_ = 0;  ///< the row of the element that was returned last
  size_t rows_ = 0; ///< the number of rows in `held_`
};

dataset_iterator::dataset_iterator(dataset_ptr graph, iterate_options options)
  : impl_(std::make_unique<impl>(std::move(graph), options)) {}
dataset_iterator::dataset_iterator(dataset_ptr graph, const buffer& record, iterate_options options)
  : impl_(std::make_unique<impl>(std::move(graph), record, options)) {}
dataset_iterator::dataset_iterator(dataset_iterator&&) noexcept = default;
dataset_iterator& dataset_iterator::operator=(dataset_iterator&&) noexcept = default;
dataset_iterator::~dataset_iterator() = default;

result<std::optional<element>> dataset_iterator::next() {
  element out;
  const status* failed = nullptr;
  if (!impl_->advance(out, failed))
    return std::optional<element>{};
  if (failed)
    return *failed;
  return std::optional{impl_->current()};
}

bool dataset_iterator::advance(element& at) {
  const status* failed = nullptr;
  if (!impl_->advance(at, failed))
    return false;
  if (failed)
    throw error{*failed};
  return true;
}

bool dataset_iterator::take(element& at, const status*& failed) { return impl_->take(at, failed); }
bool dataset_iterator::only_waits() const noexcept { return impl_->only_waits(); }
dataset_iterator::outcome dataset_iterator::wait(duration limit) { return impl_->wait(limit); }
uint64_t dataset_iterator::repetition() const noexcept { return impl_->repetition(); }
uint64_t dataset_iterator::ignored() const noexcept { return impl_->ignored(); }
void dataset_iterator::stop() noexcept { impl_->stop(); }

result<buffer> dataset_iterator::save() const { return impl_->save(); }

std::optional<block> dataset_iterator::next_block() { return impl_->next_block(); }

} // namespace headrace
