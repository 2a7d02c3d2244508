#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::detail {

struct position;
using position_ptr = std::shared_ptr<const position>;

/// The choices of an operator that depended on time, as numbers, and the positions of the iterators
/// that it opened, before their first rows. A restored operator repeats the choices, so that the
/// rows that follow a position are always the same ones. What follows the oldest mark is kept.
/// Thread-safe.
class choice_log {
  struct chunk;
  struct state;

public:
  /// A place in the log.
  class mark {
    friend class choice_log;
    mark(std::shared_ptr<const state> log, std::shared_ptr<const chunk> first, uint64_t at);

    std::shared_ptr<const state> log_;
    std::shared_ptr<const chunk> first_;
    uint64_t at_; ///< the number of numbers before the mark, from the begin of the log
  };
  struct choices {
    std::vector<uint64_t> numbers;
    std::vector<position_ptr> opened; ///< null: an iterator that could not be opened
    bool incomplete = false;          ///< more than is kept was added since the mark
  };

  choice_log();
  void add(uint64_t number);
  void add(position_ptr opened);
  mark now() const;

  /// Reads logs while their operators run. The choices after all marks of one log end at the same
  /// place.
  class reader {
  public:
    choices after(const mark& from);

  private:
    std::unordered_map<const state*, std::pair<const chunk*, uint64_t>> ends_;
  };

private:
  std::shared_ptr<state> state_;
};

} // namespace headrace::detail
