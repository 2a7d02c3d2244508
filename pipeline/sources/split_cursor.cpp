#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

split_cursor::split_cursor(engine& shared, const place& at, uint64_t total)
  : engine_(shared), total_(total) {
  if (at.in_function())
    return; // a function's datasets are read whole
  counted_ = true;
  source_ = at.first_source;
  pass_ = shared.start_pass(source_);
  provided_ = shared.context().splits != nullptr;
}

result<std::optional<split_range>> split_cursor::ask() {
  if (provided_)
    return engine_.next_splits(source_, pass_, total_);
  if (asked_ != 0 || total_ == 0)
    return std::optional<split_range>{};
  return std::optional{split_range{0, total_}};
}

result<std::optional<split_range>> split_cursor::here() {
  for (; provided_ && repeat_ != 0; --repeat_) HEADRACE_TRY(ask().status());
  while (now_.count == 0) {
    HEADRACE_ASSIGN(auto range, ask());
    if (!range)
      return range;
    ++asked_;
    if (range->first < total_)
      now_ = {range->first, std::min(range->count, total_ - range->first)};
  }
  return std::optional{now_};
}

// Numbers: pass, answers that were had, first split not passed yet, how many such.
void split_cursor::save_to(position& to, bool reading) const {
  to.numbers = {pass_, asked_, now_.first, now_.count};
  if (counted_ && (reading || now_.count != 0 || (asked_ == 0 && !provided_)))
    to.reads = split_place{source_, pass_, now_.first - reading};
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
