#include "headrace/pipeline/operators/rows/block_order.hpp"

#include <algorithm>
#include <vector>

namespace headrace::detail {

namespace {

// Choices are logged as numbers. `read_choice`: a block of `rows` rows was read. `block_choice`:
// the first rows of the block with this number were returned.
constexpr uint64_t read_choice(uint64_t rows) { return 2 * rows; }
constexpr uint64_t block_choice(uint64_t number) { return 2 * number + 1; }

} // namespace

void block_order::note_read(uint64_t rows) {
  if (!planned_.empty())
    planned_.pop_front();
  else if (!kept_)
    log_.add(read_choice(rows));
  ++number_;
}

void block_order::note_choice(uint64_t number, uint64_t given) {
  if (!is_fixed() && given == 0)
    log_.add(block_choice(number));
}

void block_order::note_end() {
  if (!order_.empty())
    order_.pop_front();
}

void block_order::forget() {
  planned_.clear();
  order_.clear();
}

// Saves as numbers: the number of blocks that are read again, and for each of these blocks the
// number of its rows, and of the rows of its result that were returned. If the order is that of the
// input, blocks after the last one of which rows were returned are not saved. Otherwise the number
// of the first block and the choices after the position are also saved.
void block_order::save_to(position& to, std::vector<read_block> blocks) const {
  const auto first = number_ - blocks.size();
  blocks.insert(blocks.end(), planned_.begin(), planned_.end());
  if (kept_)
    while (!blocks.empty() && blocks.back().given == 0) blocks.pop_back();
  to.numbers.push_back(blocks.size());
  for (const auto& x : blocks) to.numbers.insert(to.numbers.end(), {x.rows, x.given});
  if (kept_)
    return;
  to.numbers.push_back(first);
  for (auto number : order_)
    if (blocks[number - first].given == 0)
      to.numbers.push_back(block_choice(number));
  to.later = log_.now();
}

void block_order::restore(position_reader& from) {
  for (auto left = from.number(); left != 0 && from.fits(); --left) {
    const auto rows = from.number(UINT32_MAX);
    planned_.push_back({rows, from.number()});
  }
  if (!kept_)
    restore_choices(from);
  if (std::ranges::any_of(planned_, [](const auto& x) { return x.rows == 0; }))
    from.refuse();
}

// In the restored order, a block of which only some rows were returned comes first, and then the
// blocks in the order of the choices. Blocks that were read after all of these are not restored.
void block_order::restore_choices(position_reader& from) {
  for (size_t i = 0; i < planned_.size(); ++i)
    if (planned_[i].given != 0 && planned_[i].given != all)
      order_.push_back(i);
  if (!from.has_number()) // positions of older builds have no choices
    return;
  number_ = from.number(UINT64_MAX / 4);
  for (auto& number : order_) number += number_;
  while (from.has_number()) {
    const auto choice = from.number();
    if (choice % 2 == 0 && choice > read_choice(UINT32_MAX))
      return from.refuse();
    if (choice % 2 == 0)
      planned_.push_back({choice / 2, 0});
    else
      order_.push_back(choice / 2);
  }
  std::vector<bool> chosen(planned_.size());
  for (auto number : order_) {
    const auto i = number - number_;
    if (number < number_ || i >= planned_.size() || planned_[i].given == all || chosen[i])
      return from.refuse();
    chosen[i] = true;
  }
  while (!planned_.empty() && planned_.back().given == 0 && !chosen[planned_.size() - 1])
    planned_.pop_back();
}

} // namespace headrace::detail
