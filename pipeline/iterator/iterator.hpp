#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/iterator/position.hpp"

#include <chrono>

namespace headrace {

/// Runs one operator of a graph. Not thread-safe; one thread at a time may call it, not always the
/// same.
///
/// Rows come in the order, number and with the errors that an element-by-element evaluation gives,
/// whatever limits are asked: block borders mean nothing. An operator reads no more input rows than
/// it needs for the rows it was asked for, so that a slow second element never holds back a first.
class iterator {
public:
  virtual ~iterator() = default;
  /// 1 to `wanted.rows` rows, or nullopt: the end (and nullopt again afterwards). Failures are rows
  /// with errors; a source's failure is its last row.
  virtual std::optional<block> next(const limits& wanted) = 0;
  /// Where it stands after the rows that it gave: small, whatever it holds. Cheap enough to be
  /// taken once a block.
  virtual position_ptr save() const = 0;
  /// Goes on where an iterator of an equal graph stood, with the same seed, in this or another
  /// process: its rows are those that the saved one had still to give. Reads again what was held.
  /// `data_loss` if the position does not fit, other errors if the data is not there any more; this
  /// iterator is of no use then. @pre `next` was not called
  virtual status restore(const position& from) = 0;
};

/// Makes the iterator of a checked graph. Fails if the context lacks what the graph needs (a named
/// function, a service).
result<std::unique_ptr<iterator>> make_iterator(const dataset_ptr& graph,
                                                const iterator_context& context);

/// Chooses how many rows to ask for: 1, 2, 4 ... while a block costs less than `most_time` and
/// `most_bytes`, so that the first element is not held back and later ones cost little each.
class block_ramp {
public:
  struct options {
    size_t most_rows = 1 << 16;
    size_t most_bytes = 256 * 1024;
    std::chrono::nanoseconds most_time = std::chrono::milliseconds{2};
  };
  block_ramp() = default;
  explicit block_ramp(options limits) : limits_(limits) {}
  limits next() const noexcept { return {rows_, limits_.most_bytes}; }
  /// What the last call gave and took.
  void record(size_t rows, size_t bytes, std::chrono::nanoseconds took) noexcept;

private:
  options limits_;
  size_t rows_ = 1;
};

} // namespace headrace
