#include "headrace/pipeline/sources/split_cursor.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"

namespace headrace::detail {

split_cursor::split_cursor(engine& shared, const place& at, uint64_t total,
                           std::shared_ptr<const split_listing> listing)
  : engine_(shared), iteration_(at.iteration), total_(total), listing_(std::move(listing)) {
  if (at.in_function() || at.whole)
    return; // such a source has no number, and reads all of its splits
  counted_ = true;
  source_ = at.first_source;
  pass_ = shared.start_pass(source_);
  provided_ = shared.context().splits != nullptr;
}

void split_cursor::close() {
  if (!provided_ || std::exchange(over_, true) || !begun_)
    return;
  engine_.close_splits(source_, pass_, now_);
  now_ = {};
}

uint64_t split_cursor::pass_key() const noexcept {
  if (!provided_)
    return iteration_;
  return pass_ == 0 ? 0 : mix(0x9a55, pass_);
}

result<split_answer> split_cursor::ask() {
  if (!provided_) {
    if (asked_ != 0 || total_ == 0)
      return split_answer{};
    return split_answer{split_range{0, total_}};
  }
  if (!std::exchange(begun_, true)) {
    const auto pass = engine_.begin_shared_pass(source_, pass_);
    // After a restore, the pass whose number the position contains is continued.
    if (repeat_ == 0)
      pass_ = pass;
  }
  return engine_.next_splits(source_, pass_, total_, listing_);
}

result<std::optional<split_range>> split_cursor::here() {
  for (; provided_ && repeat_ != 0; --repeat_) HEADRACE_TRY(ask().status());
  while (now_.count == 0) {
    if (over_)
      return std::optional<split_range>{};
    HEADRACE_ASSIGN(const auto answer, ask());
    if (answer) {
      ++asked_;
      if (answer->first < total_)
        now_ = {answer->first, std::min(answer->count, total_ - answer->first)};
      continue;
    }
    const auto& how = answer.over;
    if (provided_ && asked_ == 0 && how.running > pass_
        && engine_.skip_to_pass(source_, how.running)) {
      pass_ = how.running;
      continue;
    }
    over_ = true;
    if (provided_)
      engine_.end_shared_pass(source_, how.alone);
  }
  return std::optional{now_};
}

// Saves as numbers: the pass, the number of answers so far, the first split that was not passed,
// and the number of such splits.
void split_cursor::save_to(position& to, bool reading) const {
  to.numbers = {pass_, asked_, now_.first, now_.count};
  if (!counted_ || !provided_)
    return;
  // Only splits that a provider gave are recorded as done.
  splits_done done{.source = source_, .pass = pass_};
  if (passed_ && (reading || now_.count == 0)) {
    done.split = *passed_;
    done.through = !reading;
  } else if (now_.count != 0) {
    done.split = now_.first;
  }
  to.done = done;
}

void split_cursor::restore_from(position_reader& from) {
  pass_ = from.number();
  asked_ = from.number();
  now_.first = from.number(total_);
  now_.count = from.number(total_ - now_.first);
  repeat_ = asked_;
  if (counted_)
    engine_.set_pass(source_, pass_);
}

} // namespace headrace::detail
