#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/types/element.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace headrace {

/// The options for an iteration in this process.
struct iterate_options {
  /// The seed for operators that have none of their own. Unset: a random seed, which all iterations
  /// of one dataset object share.
  std::optional<uint64_t> seed;
  /// The number of this iteration over the dataset, from 0: operators that reshuffle have another
  /// order in each iteration. Unset: the next number.
  std::optional<uint64_t> repetition;
  /// Finds the functions that the graph calls by name. Empty: the graph calls no functions by name.
  function_finder find_function;
  /// Called with a message if elements of a service are missing or may have been delivered twice
  /// and this is not an error, for instance because workers were lost. It is called on a reading
  /// thread, at the end of a repetition, or for some causes during the repetition. Unset: the
  /// message goes to standard error.
  std::function<void(const std::string&)> warn;
  /// The counters of the operators that run in this process; see `measured_by`. Empty: nothing is
  /// counted.
  counters_of counters = {};
  /// A stop ends the iteration: a call that waits or comes later throws `cancelled`, unless it can
  /// return elements that have arrived.
  std::stop_token stop = {};
};

/// One iteration over a dataset. Not thread-safe. The destructor stops everything that runs for it.
class dataset_iterator {
public:
  dataset_iterator(dataset_ptr graph, iterate_options options);
  /// Continues from the record of another iterator; see `dataset::restore`.
  dataset_iterator(dataset_ptr graph, const buffer& record, iterate_options options);
  dataset_iterator(dataset_iterator&&) noexcept;
  dataset_iterator& operator=(dataset_iterator&&) noexcept;
  ~dataset_iterator();

  /// The next element, nothing at the end, or the error of the next element; after an error `next`
  /// continues with the following element.
  result<std::optional<element>> next();
  /// The elements that are ready (at least one), in columns; nothing at the end. This is the
  /// fastest way to read. Error rows are listed in `block::errors`.
  std::optional<block> next_block();
  /// The position after the elements that were returned: a small record for `dataset::restore`, to
  /// be kept in a file, for example with a model's weights. Returns `unimplemented` if elements
  /// come from a service.
  result<buffer> save() const;
  /// The number of this iteration over its dataset; see `iterate_options`.
  uint64_t repetition() const noexcept;
  /// The number of failed elements that `ignore_errors` has left out so far, including those that
  /// were read ahead; elements that a restored iterator reads again are counted again. For elements
  /// that workers left out, the number is in the service's status.
  uint64_t ignored() const noexcept;
  /// Takes the next element if it is ready; never blocks. False: no element is ready, and `at` is
  /// unchanged. `failed` is set to the error of the element, or to null if it did not fail.
  bool take(element& at, const status*& failed);
  /// True if the whole dataset is read from a service, so that `next` only waits for elements.
  bool only_waits() const noexcept;
  enum class outcome { ready, nothing_yet, over };
  /// Waits until an element is ready, or the end has come, for at most `limit`. The element is not
  /// taken: it may still go to another consumer of the job, so that `take` may return false.
  /// @pre only_waits()
  outcome wait(duration limit);
  /// Ends the iteration early: a `next` that waits in another thread returns. May be called from
  /// any thread while the iterator lives.
  void stop() noexcept;

private:
  friend class element_cursor;
  class impl;
  /// Moves `at` to the next element; returns false at the end. Throws `error` for a failed element.
  bool advance(element& at);
  std::unique_ptr<impl> impl_;
};

/// Adapts an iteration to range-for.
class element_cursor {
public:
  using value_type = element;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  explicit element_cursor(std::shared_ptr<dataset_iterator> from) : from_(std::move(from)) {
    ++*this;
  }
  const element& operator*() const noexcept { return at_; }
  const element* operator->() const noexcept { return &at_; }
  element_cursor& operator++() {
    more_ = from_->advance(at_);
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const element_cursor& x, std::default_sentinel_t) noexcept {
    return !x.more_;
  }

private:
  std::shared_ptr<dataset_iterator> from_;
  element at_;
  bool more_ = false;
};

} // namespace headrace
