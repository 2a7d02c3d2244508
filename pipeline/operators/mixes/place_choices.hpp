#pragma once

#include "headrace/pipeline/iterator/choice_log.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>
#include <optional>

namespace headrace::detail {

/// The choices of an interleave whose order may change. A choice is to open a dataset at a place,
/// or to take rows of the dataset that is open at a place. The class writes new choices into a log,
/// and has the choices that a restored interleave must repeat.
class place_choices {
public:
  struct choice {
    size_t place = 0;
    size_t rows = 0; ///< 0: a dataset was opened
  };

  /// The next choice that has to be repeated; null: there is none.
  const choice* next() const { return again_.empty() ? nullptr : &again_.front(); }
  /// Records that the next choice was repeated. If the choice is to take rows, `rows` of them were
  /// taken, and the choice stays until all were taken.
  void repeated(size_t rows = 0) {
    auto& first = again_.front();
    first.rows -= rows;
    if (first.rows == 0)
      again_.pop_front();
  }

  /// Notes a new choice. Consecutive choices to take rows of one place become one choice.
  void note(const choice& made, choice_log& to) {
    if (made.rows != 0 && noted_ && noted_->rows != 0 && noted_->place == made.place) {
      noted_->rows += made.rows;
      return;
    }
    write(to);
    noted_ = made;
  }
  /// Writes the last choice into the log. Must be called before a position is saved.
  void write(choice_log& to) {
    if (noted_)
      to.add(as_number(*noted_));
    noted_.reset();
  }

  void save_to(position& to) const {
    for (const auto& x : again_) to.numbers.push_back(as_number(x));
  }
  /// Reads all numbers that are left as choices to repeat. `places`: the number of places that
  /// exist at the position; `most`: the most places. A choice is valid for a place that exists, and
  /// a choice to open a dataset also for the next new place.
  void restore(position_reader& from, size_t places, size_t most) {
    while (from.has_number()) {
      const auto number = from.number();
      const choice made{number >> 32, number & UINT32_MAX};
      again_.push_back(made);
      if (made.rows == 0 && made.place == places && places != most)
        ++places;
      if (made.place >= places)
        from.refuse();
    }
  }

private:
  static uint64_t as_number(const choice& x) {
    return static_cast<uint64_t>(x.place) << 32 | x.rows;
  }

  std::deque<choice> again_;
  std::optional<choice> noted_; ///< the last choice, which is not in the log yet
};

} // namespace headrace::detail
