#include "headrace/pipeline/operators/kept/unopened_caches.hpp"

namespace headrace::detail {

namespace {

// A position that stores a kept pass: its identity as numbers, and its beginning as the only part.
position_ptr position_of(const kept_pass& pass) {
  auto out = std::make_shared<position>();
  out->op = dataset_op::cache;
  out->numbers = {pass.from.seed, pass.from.repetition, pass.from.path, pass.from.iteration};
  if (pass.from.order != 0)
    out->numbers.push_back(pass.from.order);
  out->parts = {pass.begin};
  return out;
}

std::optional<kept_pass> pass_at(const position& at) {
  if (at.op != dataset_op::cache)
    return {};
  position_reader from{at};
  kept_pass out;
  for (auto* n : {&out.from.seed, &out.from.repetition, &out.from.path, &out.from.iteration})
    *n = from.number();
  if (from.has_number())
    out.from.order = from.number();
  out.begin = from.part();
  return out.begin && from.finish().ok() ? std::optional{std::move(out)} : std::nullopt;
}

} // namespace

unopened_caches::unopened_caches(engine& shared, const dataset_node& node, const place& at)
  : engine_(shared) {
  for (size_t i = 0; i < node.inputs.size(); ++i)
    for (auto& holds : shared.caches_below(node, at, i)) caches_.push_back({i, std::move(holds)});
}

void unopened_caches::save_to(position& to, size_t first) const {
  for (const auto& x : caches_)
    if (x.input >= first) {
      const auto pass = engine_.pass_of(*x.holds);
      to.parts.push_back(pass ? position_of(*pass) : nullptr);
    }
}

void unopened_caches::restore(position_reader& from, size_t first) const {
  for (const auto& x : caches_)
    if (x.input >= first) {
      const auto at = from.part();
      auto pass = at ? pass_at(*at) : std::nullopt;
      if (at && !pass)
        from.refuse();
      engine_.set_pass_of(*x.holds, std::move(pass));
    }
}

} // namespace headrace::detail
