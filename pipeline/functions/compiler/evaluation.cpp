#include "headrace/pipeline/functions/compiler/evaluation.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

using plan_kind = program::plan::kind;

bool by_row(const row_error& a, const row_error& b) { return a.row < b.row; }

} // namespace

void merge(std::vector<row_error>& into, const std::vector<row_error>& more) {
  if (more.empty())
    return;
  std::vector<row_error> both;
  both.reserve(into.size() + more.size());
  // The merge is stable: of two errors of one row, the error that was in `into` stays.
  std::merge(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(both), by_row);
  both.erase(std::unique(both.begin(), both.end(),
                         [](const row_error& a, const row_error& b) { return a.row == b.row; }),
             both.end());
  into = std::move(both);
}

std::vector<row_error> spread(const value& x, size_t rows, bool uniform) {
  if (!x.uniform || uniform || x.errors.empty())
    return x.errors;
  std::vector<row_error> out;
  for (size_t r = 0; r < rows; ++r) out.push_back({static_cast<uint32_t>(r), x.errors.front().why});
  return out;
}

void append_row(column_builder& out, const value& from, size_t r, size_t rank) {
  const auto row = from.uniform ? 0 : r;
  const auto& data = from.data;
  const auto first = data.first_value(row), last = data.first_value(row + 1);
  if (data.is_string()) {
    for (auto v = first; v < last; ++v) out.add_string(data.string(static_cast<size_t>(v)));
  } else if (first != last) {
    const auto size = size_of(data.type());
    const auto n = static_cast<size_t>(last - first);
    std::memcpy(out.extend(n), data.value_buffer().data() + static_cast<size_t>(first) * size,
                n * size);
  }
  const auto dims = data.shape_of(row);
  std::vector<int64_t> padded(rank - dims.rank(), 1);
  padded.insert(padded.end(), dims.dims().begin(), dims.dims().end());
  out.end_row(shape{std::move(padded)});
}

namespace {

/// True if the condition of a `where` or `cond` chooses the branch for `wanted` (true: the first
/// branch) for at least one value of row `r`.
bool chooses(const value& condition, size_t r, bool wanted) {
  const auto& data = condition.data;
  const auto row = condition.uniform ? 0 : r;
  const auto flags = data.values<bool>();
  for (auto i = data.first_value(row); i < data.first_value(row + 1); ++i)
    if (flags[static_cast<size_t>(i)] == wanted)
      return true;
  return false;
}

void keep_chosen(std::vector<row_error>& errors, const value& condition, bool wanted) {
  std::erase_if(errors, [&](const row_error& e) { return !chooses(condition, e.row, wanted); });
}

/// The errors that a function takes over from its inputs: all, except those of a branch of `where`
/// or `cond` in rows in which the branch is not chosen.
std::vector<row_error> inherited(const expr_node& node, std::span<const value* const> inputs,
                                 size_t rows, bool uniform) {
  std::vector<row_error> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->errors.empty())
      continue;
    auto errors = spread(*inputs[i], rows, uniform);
    if ((node.op == expr_op::where || node.op == expr_op::cond) && i > 0)
      keep_chosen(errors, *inputs[0], i == 1);
    merge(out, errors);
  }
  return out;
}

/// If a branch of `where` failed in a row, it has no shape in that row that could be broadcast, so
/// the other branch is used in its place. (A branch with a static shape has this shape also in the
/// rows in which it failed, and is not replaced.)
void mend_branches(const expr_node& node, std::vector<column>& mended,
                   std::vector<operand>& operands, std::span<const value* const> inputs,
                   size_t rows) {
  mended.reserve(2);
  for (size_t i = 1; i <= 2; ++i) {
    const auto& branch = *inputs[i];
    const auto& other = *inputs[3 - i];
    if (branch.errors.empty() || node.inputs[i]->spec.dims.is_static())
      continue;
    const auto rank = std::max(branch.data.rank(), other.data.rank());
    column_builder out{branch.data.type(), rows};
    size_t next = 0;
    for (size_t r = 0; r < rows; ++r) {
      const auto row = branch.uniform ? 0 : r;
      while (next < branch.errors.size() && branch.errors[next].row < row) ++next;
      const bool bad = next < branch.errors.size() && branch.errors[next].row == row;
      append_row(out, bad ? other : branch, r, rank);
    }
    mended.push_back(std::move(out).finish());
    operands[i] = {&mended.back(), false};
  }
}

} // namespace

call_result call_with(const expr_node& node, std::span<const value* const> inputs, size_t rows,
                      bool uniform, const std::vector<uint8_t>& failed_before,
                      const std::function<std::vector<column>(const op_call&)>& f) {
  call_result out;
  out.errors = inherited(node, inputs, rows, uniform);
  std::vector<uint8_t> skip;
  if (!uniform)
    skip = failed_before;
  if (!out.errors.empty()) {
    skip.resize(rows);
    for (const auto& e : out.errors) skip[e.row] = 1;
  }
  std::vector<operand> operands;
  for (const auto* in : inputs) operands.push_back({&in->data, in->uniform && !uniform});
  std::vector<column> mended;
  if (node.op == expr_op::where)
    mend_branches(node, mended, operands, inputs, rows);
  std::vector<row_error> fresh;
  out.columns = f(op_call{node, operands, rows, skip.empty() ? nullptr : skip.data(), fresh});
  if (!std::is_sorted(fresh.begin(), fresh.end(), by_row))
    std::stable_sort(fresh.begin(), fresh.end(), by_row);
  merge(out.errors, fresh);
  return out;
}

namespace {

call_result run_node(const expr_node& node, std::span<const value* const> inputs, size_t rows,
                     bool uniform, const std::vector<uint8_t>& failed_before,
                     const fused_pass* pass) {
  return call_with(node, inputs, rows, uniform, failed_before, [&](const op_call& call) {
    return pass ? pass->run(call) : std::vector<column>{find_library_function(node.op)->run(call)};
  });
}

} // namespace

value evaluate_constant(const expr_ptr& node, const std::vector<size_t>& inputs,
                        const program::plan& plan) {
  std::vector<const value*> values;
  for (auto i : inputs) values.push_back(&plan.items[i].ready);
  std::optional<fused_pass> pass;
  if (is_fusable(*node)) {
    std::vector<int> own;
    for (size_t i = 0; i < inputs.size(); ++i) own.push_back(static_cast<int>(i));
    pass.emplace(std::vector<fused_pass::step>{{node.get(), std::move(own), true}}, inputs.size());
  }
  auto made = run_node(*node, values, 1, true, {}, pass ? &*pass : nullptr);
  return {std::move(made.columns.front()), true, std::move(made.errors)};
}

namespace {

std::vector<row_error> all_rows_outside(size_t rows) {
  std::vector<row_error> out;
  const auto why = internal_error(
    "a variable of a loop, or what is computed from it, is used outside of the loop");
  for (size_t r = 0; r < rows; ++r) out.push_back({static_cast<uint32_t>(r), why});
  return out;
}

} // namespace

void evaluation::load_base() {
  if (!in_.errors.empty()) {
    failed_before_.resize(in_.rows);
    for (const auto& e : in_.errors) failed_before_[e.row] = 1;
  }
  for (size_t i = 0; i < plan_.items.size(); ++i) {
    const auto& item = plan_.items[i];
    const bool seeds = item.node->op == expr_op::row_seed;
    const auto index = seeds ? plan_.parameters : static_cast<size_t>(item.node->attrs.index);
    if (item.node->op == expr_op::loop_variable || (seeds && !variables_.empty())) {
      // A variable that is used outside of its loop has no value.
      const auto place = seeds ? variables_.size() - 1 : index;
      if (place < variables_.size())
        values_[i] = variables_[place];
      else
        values_[i] = {column_of_nothing(item.node->spec, in_.rows), false,
                      all_rows_outside(in_.rows)};
      continue;
    }
    if (seeds && (index == 0 || index >= in_.columns.size())) {
      values_[i].data = column_of_nothing(item.node->spec, in_.rows);
      const auto why = failed_precondition("random.element_seed: there are seeds for the elements "
                                           "of map, filter, take_while and scan only");
      for (size_t r = 0; r < in_.rows; ++r)
        values_[i].errors.push_back({static_cast<uint32_t>(r), why});
      continue;
    }
    if (item.what == plan_kind::parameter && index < in_.columns.size()) {
      values_[i].data = in_.columns[index];
      continue;
    }
    if (item.what != plan_kind::capture && item.what != plan_kind::parameter)
      continue;
    values_[i].uniform = item.uniform;
    const auto* scope = item.uniform ? outer_ : nullptr;
    while (scope != nullptr && scope->scope != item.node->scope.get()) scope = scope->outer;
    if (scope != nullptr && index < scope->values.size())
      values_[i].data = scope->values[index];
    else {
      const auto rows = item.uniform ? 1 : in_.rows;
      values_[i].data = column_of_nothing(item.node->spec, rows);
      const auto why = internal_error("a parameter of a function that is not running is read");
      for (size_t r = 0; r < rows; ++r)
        values_[i].errors.push_back({static_cast<uint32_t>(r), why});
    }
  }
}

std::vector<const value*> evaluation::run_values() {
  load_base();
  for (const auto& step : plan_.steps) {
    run_step(step);
    for (auto i : step.done) values_[i] = {};
  }
  std::vector<const value*> out;
  for (auto i : plan_.results) out.push_back(&at(i));
  return out;
}

block evaluation::run() {
  block out;
  out.rows = in_.rows;
  out.origins = in_.origins;
  out.errors = in_.errors;
  for (const auto* result : run_values()) {
    merge(out.errors, spread(*result, in_.rows, false));
    out.columns.push_back(result->uniform ? repeat_row(result->data, in_.rows) : result->data);
  }
  return out;
}

void evaluation::run_step(const program::plan::step& step) {
  switch (step.what) {
  case plan_kind::op: run_single(step, 0, nullptr); break;
  case plan_kind::fused: run_pass(step); break;
  case plan_kind::loop: run_loop(step); break;
  case plan_kind::bands: run_bands(step); break;
  case plan_kind::parse: {
    const auto& item = plan_.items[step.nodes.front()];
    std::vector<const value*> inputs;
    for (auto in : item.inputs) inputs.push_back(&at(in));
    const auto* function = find_library_function(item.node->op);
    std::vector<uint8_t> own;
    auto made = call_with(*item.node, inputs, item.uniform ? 1 : in_.rows, item.uniform,
                          skipped(step, own), function->run_all);
    ++counter_.calls;
    for (auto i : step.nodes) {
      const auto feature = static_cast<size_t>(plan_.items[i].node->attrs.index);
      values_[i] = {made.columns[feature], item.uniform, made.errors};
    }
    break;
  }
  default: break;
  }
}

const std::vector<uint8_t>& evaluation::skipped(const program::plan::step& step,
                                                std::vector<uint8_t>& own) const {
  if (step.guards.empty())
    return failed_before_;
  own = failed_before_;
  own.resize(in_.rows);
  for (auto [decides, wanted] : step.guards)
    for (size_t r = 0; r < in_.rows; ++r)
      if (own[r] == 0 && !chooses(at(decides), r, wanted))
        own[r] = 1;
  return own;
}

void evaluation::run_single(const program::plan::step& step, size_t node, const fused_pass* pass) {
  const auto i = step.nodes[node];
  const auto& item = plan_.items[i];
  std::vector<const value*> inputs;
  for (auto in : item.inputs) inputs.push_back(&at(in));
  std::vector<uint8_t> own;
  auto made = run_node(*item.node, inputs, item.uniform ? 1 : in_.rows, item.uniform,
                       skipped(step, own), pass);
  ++counter_.calls;
  values_[i] = {std::move(made.columns.front()), item.uniform, std::move(made.errors)};
}

bool evaluation::shapes_alike(const program::plan::step& step) const {
  const column* first = nullptr;
  for (auto i : step.inputs) {
    const auto& x = at(i);
    if (!x.errors.empty())
      return false;
    if (step.alike || plan_.items[i].node->spec.dims.is_scalar())
      continue;
    if (x.data.is_dense()) {
      if (first == nullptr)
        first = &x.data;
      else if (!first->is_dense() || first->row_shape() != x.data.row_shape())
        return false;
    } else if (first == nullptr) {
      first = &x.data;
    } else if (first->is_dense() || first->rank() != x.data.rank()
               || first->row_dim_buffer().data() != x.data.row_dim_buffer().data()) {
      return false;
    }
  }
  return true;
}

void evaluation::run_pass(const program::plan::step& step) {
  if (step.nodes.size() == 1 || !shapes_alike(step)) {
    for (size_t n = 0; n < step.nodes.size(); ++n) run_single(step, n, &step.single[n]);
    return;
  }
  const auto& item = plan_.items[step.nodes.back()];
  std::vector<operand> operands;
  for (auto i : step.inputs) operands.push_back({&at(i).data, at(i).uniform && !item.uniform});
  std::vector<row_error> none;
  const op_call call{*item.node, operands, item.uniform ? 1 : in_.rows, nullptr, none};
  auto columns = step.pass->run(call);
  counter_.calls += step.nodes.size();
  for (size_t k = 0; k < step.kept.size(); ++k)
    values_[step.kept[k]] = {std::move(columns[k]), item.uniform, {}};
}

} // namespace headrace::detail

namespace headrace::detail {

block program::run(const block& in, const environment* outer, kernel_counter& counter) const {
  return evaluation{*plan_, in, outer, counter}.run();
}

result<std::vector<column>> program::run_once(const environment* outer) const {
  block none;
  none.rows = 1;
  kernel_counter counter;
  auto out = run(none, outer, counter);
  if (!out.errors.empty())
    return out.errors.front().why;
  return std::move(out.columns);
}

} // namespace headrace::detail
