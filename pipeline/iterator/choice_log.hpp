#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::detail {

struct position;
using position_ptr = std::shared_ptr<const position>;

/// A log of the choices of an operator that depended on time, as numbers, and of the iterators that
/// the operator opened, as their positions before the first rows. A restored operator repeats the
/// choices, so that the rows that follow a position are always the same. The log keeps the entries
/// after its oldest mark, but no more than some 64 MiB. Thread-safe.
class choice_log {
  struct state;
  class pin;

public:
  /// A place in the log.
  class mark {
    friend class choice_log;
    explicit mark(std::shared_ptr<const pin> at) : at_(std::move(at)) {}
    std::shared_ptr<const pin> at_;
  };
  struct choices {
    std::vector<uint64_t> numbers;
    std::vector<position_ptr> opened; ///< null: an iterator that could not be opened
    bool incomplete = false;          ///< the log no longer has all choices after the mark
  };

  choice_log();
  void add(uint64_t number);
  void add(position_ptr opened);
  mark now() const;

  /// Reads logs while their operators run. When the reader gets the first mark of a log, it records
  /// where that log ends; it reads the choices after any mark of the log only up to this end.
  class reader {
  public:
    choices after(const mark& from);

  private:
    /// The end of each log, recorded at the first of its marks: the number of the log's last chunk
    /// (a part of the log that is freed as a whole), and the count of all numbers that were added
    /// to the log until then.
    std::unordered_map<const state*, std::pair<uint64_t, uint64_t>> ends_;
  };

private:
  std::shared_ptr<state> state_;
};

} // namespace headrace::detail
