#include "headrace/pipeline/operators/mixes/merged_inputs.hpp"

namespace headrace::detail {

merged_inputs::merged_inputs(std::vector<std::unique_ptr<iterator>> inputs) : open_(inputs.size()) {
  for (auto& input : inputs) inputs_.push_back({held_input{std::move(input)}, {}, 0, none, false});
}

bool merged_inputs::read(size_t input, const limits& wanted) {
  auto& x = inputs_[input];
  if (x.ended)
    return false;
  x.from.release_before(x.from.rows());
  auto more = x.from.next(wanted);
  x.at = 0;
  x.piece = none;
  x.rows = more ? *std::move(more) : block{};
  x.ended = x.rows.rows == 0;
  open_ -= x.ended;
  return !x.ended;
}

void merged_inputs::take(size_t input) {
  auto& x = inputs_[input];
  if (x.piece == none) {
    x.piece = static_cast<uint32_t>(pieces_.size());
    pieces_.push_back(x.rows);
  }
  append_run(runs_, {x.piece, static_cast<uint32_t>(x.at++), 1});
  ++taken_;
}

void merged_inputs::add(block row) {
  append_run(runs_, {static_cast<uint32_t>(pieces_.size()), 0, 1});
  pieces_.push_back(std::move(row));
  ++taken_;
}

block merged_inputs::finish(uint64_t& kernel_calls) {
  std::vector<const block*> views;
  for (const auto& piece : pieces_) views.push_back(&piece);
  auto out = gather_rows(views, runs_, kernel_calls);
  pieces_.clear();
  runs_.clear();
  taken_ = 0;
  for (auto& x : inputs_) x.piece = none;
  return out;
}

void merged_inputs::save_to(position& to) const {
  for (const auto& x : inputs_) put(to, x.from.point(x.from.rows() - (x.rows.rows - x.at)));
}

status merged_inputs::restore(position_reader& from) {
  for (auto& x : inputs_) HEADRACE_TRY(x.from.restore(from));
  return {};
}

} // namespace headrace::detail
