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
#include <string>

namespace headrace {

/// How to run a dataset here.
struct iterate_options {
  /// For operators that were given no seed; unset: drawn, once for a dataset.
  std::optional<uint64_t> seed;
  /// Which iteration over the dataset it is, from 0: what reshuffles has another order in each.
  /// Unset: the next one.
  std::optional<uint64_t> repetition;
  /// Finds the functions that the graph calls by name; without it there are none.
  std::function<named_function(const std::string&)> find_function;
  /// Is given, in a sentence, what should be known of a pass that ended well although elements are
  /// missing, because workers of a service were lost. Called once a pass, on a thread that reads.
  /// Unset: a line on the standard error.
  std::function<void(const std::string&)> warn;
};

/// One pass over a dataset. Not thread-safe. Destroying it stops what runs for it.
class dataset_iterator {
public:
  dataset_iterator(dataset_ptr graph, iterate_options options);
  /// Goes on where the iterator stood that gave `record`; see `dataset::restore`.
  dataset_iterator(dataset_ptr graph, const buffer& record, iterate_options options);
  dataset_iterator(dataset_iterator&&) noexcept;
  dataset_iterator& operator=(dataset_iterator&&) noexcept;
  ~dataset_iterator();

  /// The next element, nothing at the end, or why the next element failed: the one after that is
  /// still to come.
  result<std::optional<element>> next();
  /// As many elements as are at hand (one at least), in columns: the fast way. Nothing at the end.
  /// Failed elements are listed in `block::errors`.
  std::optional<block> next_block();
  /// Where it stands, after the elements that were given: a small record for `dataset::restore`, to
  /// be kept in a file, beside a model's weights for example. `unimplemented` if elements come from
  /// a service.
  result<buffer> save() const;
  /// Which iteration over its dataset it is; see `iterate_options`.
  uint64_t repetition() const noexcept;
  /// How many failed elements `ignore_errors` has left out so far, of those read ahead, too; what a
  /// restored iterator has to read again counts again. What a service leaves out its status shows.
  uint64_t ignored() const noexcept;
  /// As `next`, if the next element is at hand; never blocks. False: it is not, `at` is left alone.
  /// `failed` is set if that element failed, else null.
  bool take(element& at, const status*& failed);
  /// Is the whole dataset read from a service, so that `next` does nothing but wait for elements?
  bool only_waits() const noexcept;
  enum class outcome { element, nothing_yet, over };
  /// As `take`, but waits for an element, no longer than `limit`. @pre only_waits()
  outcome take_within(duration limit, element& at, const status*& failed);
  /// Ends the iteration early: a `next` that waits in another thread returns. Any thread may call
  /// it while the iterator lives.
  void stop() noexcept;

private:
  friend class element_cursor;
  class impl;
  /// Moves `at` to the next element; false at the end. Throws `error` for a failed one.
  bool advance(element& at);
  std::unique_ptr<impl> impl_;
};

/// Makes a range-for of an iteration.
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
