#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/iterator/position.hpp"

#include <chrono>

namespace headrace::detail {

/// Runs one operator of a graph. Not thread-safe: one thread at a time may call it, but different
/// threads may do so one after the other.
///
/// Whatever limits are passed, order, number and errors of the rows are the same as if elements
/// were evaluated one by one: the borders of blocks have no meaning. An operator reads no more
/// input rows than it needs for the requested rows, so that a slow second element never delays the
/// first.
class iterator {
public:
  virtual ~iterator() = default;
  /// Returns 1 to `wanted.rows` rows, or nullopt at the end (and again in later calls). Failures
  /// are error rows; the failure of a source is its last row.
  virtual std::optional<block> next(const limits& wanted) = 0;
  /// The position after the rows that were returned. It is small, whatever number of rows the
  /// operator holds, and cheap enough to be taken once for each block.
  virtual position_ptr save() const = 0;
  /// Continues from a position of an iterator of an equal graph with the same seed, in this or
  /// another process: returns the rows that the saved iterator had not returned yet. Rows that it
  /// held are read again. `data_loss` if the position does not match, `failed_precondition` if it
  /// has another `operator_record::position_version`, other errors if data is missing; the iterator
  /// must not be used after an error. @pre `next` was not called
  virtual status restore(const position& from) = 0;
};

/// Makes the iterator of a checked graph. Fails if the context lacks something that the graph
/// needs, such as a named function or a service.
result<std::unique_ptr<iterator>> make_iterator(const dataset_ptr& graph,
                                                const iterator_context& context);

/// Chooses the number of rows to request: 1, 2, 4 and so on, until a block takes half of
/// `most_time` or `most_bytes`, and then the number with which a block takes all of the time or
/// bytes. So the first element arrives soon, and the cost of later ones is small.
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
  /// Records the rows and bytes that the last call of the iterator's `next` returned, and the time
  /// that the call took.
  void record(size_t rows, size_t bytes, std::chrono::nanoseconds took) noexcept;

private:
  options limits_;
  size_t rows_ = 1;
};

} // namespace headrace::detail
