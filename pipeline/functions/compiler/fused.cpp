#include "headrace/pipeline/functions/compiler/fused.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

using kernels::tile_form;

/// The most bytes of a temporary (a *register*). They are so few that several registers stay in the
/// first-level cache.
constexpr size_t tile_bytes = 8192;

dtype operand_type(const expr_node& node) {
  return node.inputs[node.op == expr_op::where ? 1 : 0]->spec.type;
}

bool divides(expr_op op) {
  return op == expr_op::divide || op == expr_op::modulo || op == expr_op::floor_divide
         || op == expr_op::floor_modulo;
}

bool is_constant_without(const expr_node& node, kernels::find_bad_fn bad) {
  if (node.op != expr_op::constant)
    return false;
  const auto& value = node.attrs.value;
  const auto n = static_cast<size_t>(value.total_values());
  return bad(value.value_buffer().data(), 0, n) == n;
}

/// The test that a node needs before it computes (null: none), and the index of the operand to be
/// tested.
std::pair<kernels::find_bad_fn, int> check_of(const expr_node& node) {
  const auto type = operand_type(node);
  if (node.op == expr_op::cast)
    return {kernels::find_unfit(type, node.spec.type), 0};
  kernels::find_bad_fn bad = nullptr;
  if (divides(node.op) && is_integer(type))
    bad = kernels::find_zero(type);
  else if (node.op == expr_op::power && is_integer(type))
    bad = kernels::find_negative(type);
  if (bad == nullptr || is_constant_without(*node.inputs[1], bad))
    return {nullptr, 1};
  return {bad, 1};
}

status bad_value(const expr_node& node, const void* values, size_t at) {
  if (divides(node.op))
    return invalid_argument("integer division by zero");
  if (node.op == expr_op::power)
    return invalid_argument("an integer to a negative power; cast to a float first");
  return visit_plain(operand_type(node), [&]<class T>(T) {
    if constexpr (is_complex(dtype_of<T>)) {
      return internal_error("complex");
    } else {
      const auto value = static_cast<const T*>(values)[at];
      const auto text = std::is_integral_v<T> ? fmt::format("{}", +value)
                                              : fmt::format("{}", static_cast<double>(value));
      return invalid_argument(fmt::format("{} does not fit {}", text, to_string(node.spec.type)));
    }
  });
}

} // namespace

bool is_fusable(const expr_node& node) noexcept {
  if (node.op < expr_op::add || node.op > expr_op::cast)
    return false;
  for (const auto& in : node.inputs)
    if (in->spec.type == dtype::string)
      return false;
  return true;
}

bool is_checked(const expr_node& node) noexcept { return check_of(node).first != nullptr; }

fused_pass::fused_pass(std::vector<step> steps, size_t inputs)
  : steps_(std::move(steps)), inputs_(inputs) {
  std::vector<size_t> last_use(steps_.size()), uses(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i)
    for (auto from : steps_[i].operands)
      if (from < 0) {
        last_use[static_cast<size_t>(-1 - from)] = i;
        ++uses[static_cast<size_t>(-1 - from)];
      }
  std::vector<int> free_registers;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const auto& node = *steps_[i].node;
    kernel k;
    k.type = node.spec.type;
    k.uses = uses[i];
    for (const auto form : {tile_form::vectors, tile_form::right_scalar, tile_form::left_scalar})
      k.forms[static_cast<size_t>(form)] =
        kernels::find_tile(node.op, operand_type(node), form, node.spec.type);
    std::tie(k.check, k.checked) = check_of(node);
    const auto size = size_of(k.type);
    widest_ = std::max({widest_, size, size_of(operand_type(node))});
    // Operands that are used for the last time free their register before the result takes one, so
    // the result may replace an operand in place. Kernels can do so only if the sizes of the values
    // are equal, so the result takes only a register with values of its size.
    std::vector<int> ending;
    for (auto from : steps_[i].operands)
      if (from < 0 && last_use[static_cast<size_t>(-1 - from)] == i) {
        const auto reg = kernels_[static_cast<size_t>(-1 - from)].reg;
        if (reg >= 0 && std::find(ending.begin(), ending.end(), reg) == ending.end())
          ending.push_back(reg);
      }
    free_registers.insert(free_registers.end(), ending.begin(), ending.end());
    if (steps_[i].kept) {
      k.output = static_cast<int>(outputs_++);
    } else {
      const auto fits = std::find_if(free_registers.rbegin(), free_registers.rend(), [&](int reg) {
        return register_sizes_[static_cast<size_t>(reg)] == size;
      });
      if (fits != free_registers.rend()) {
        k.reg = *fits;
        free_registers.erase(std::next(fits).base());
      } else {
        k.reg = static_cast<int>(register_sizes_.size());
        register_sizes_.push_back(size);
      }
    }
    kernels_.push_back(k);
  }
}

struct fused_pass::tile_state {
  std::vector<planned> plan;
  size_t tile = 0;
  std::vector<operand_reader> readers;
  std::vector<std::byte*> staged; ///< for each input: memory for a tile; null: read in place
  std::vector<bool> steady;       ///< for each input: the staged values are the same in all tiles
  std::vector<std::byte*> registers;
  std::vector<std::byte*> outputs;
  std::vector<const void*> inputs; ///< the inputs of this tile
  std::vector<std::byte> repaired; ///< a copy of a checked operand with 0 for bad values
  mutable_buffer scratch;
};

std::vector<fused_pass::planned> fused_pass::plan(const alignment& to) const {
  const auto is_scalar = [&](int operand) {
    return operand >= 0
           && to.operands[static_cast<size_t>(operand)].how == aligned_operand::mode::single;
  };
  const auto has_scalar_right = [&](const step& s) {
    return s.operands.size() == 2 && is_scalar(s.operands[1]);
  };
  std::vector<planned> out;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const auto& s = steps_[i];
    const auto& k = kernels_[i];
    planned p;
    p.step = i;
    p.count = static_cast<int>(s.operands.size());
    std::copy(s.operands.begin(), s.operands.end(), p.operands);
    const auto form = [&](tile_form f) { return k.forms[static_cast<size_t>(f)]; };
    p.fn = form(tile_form::vectors);
    if (p.count == 2 && is_scalar(p.operands[1]) && form(tile_form::right_scalar) != nullptr)
      p.fn = form(tile_form::right_scalar);
    else if (p.count == 2 && is_scalar(p.operands[0]) && form(tile_form::left_scalar) != nullptr)
      p.fn = form(tile_form::left_scalar);
    // For `x * 2 + 1`, one kernel for both operations needs half the loads and stores of two
    // kernels.
    if (!out.empty() && out.back().step == i - 1 && out.back().count == 2
        && p.operands[0] == -static_cast<int>(i) && !steps_[i - 1].kept && kernels_[i - 1].uses == 1
        && has_scalar_right(steps_[i - 1]) && has_scalar_right(s)) {
      const auto& before = *steps_[i - 1].node;
      if (const auto both = operand_type(before) == operand_type(*s.node)
                              ? kernels::find_pair_tile(before.op, s.node->op, k.type)
                              : nullptr) {
        p.fn = both;
        p.count = 3;
        p.operands[2] = p.operands[1];
        p.operands[1] = out.back().operands[1];
        p.operands[0] = out.back().operands[0];
        out.pop_back();
      }
    }
    out.push_back(p);
  }
  return out;
}

std::vector<column> fused_pass::run(const op_call& call) const {
  const auto to = align(call);
  const auto total = static_cast<size_t>(to.total);
  tile_state state;
  state.plan = plan(to);
  state.tile = std::max<size_t>(1, std::min(tile_bytes / widest_, total));
  for (size_t i = 0; i < inputs_; ++i) {
    state.readers.emplace_back(to, i, *call.inputs[i].data);
    // If the values of an input repeat with a period, the tile is cut to whole periods: then all
    // tiles have the same values of this input, and these are loaded once.
    if (const auto period = static_cast<size_t>(state.readers[i].period());
        period > 1 && period <= state.tile && state.tile < total)
      state.tile -= state.tile % period;
  }
  const auto padded = [&](size_t value_size) {
    return (state.tile * value_size + 63) & ~size_t{63};
  };
  size_t bytes = 0;
  for (auto size : register_sizes_) bytes += padded(size);
  for (size_t i = 0; i < inputs_; ++i)
    if (!state.readers[i].in_place())
      bytes += padded(size_of(call.inputs[i].data->type()));
  state.scratch = mutable_buffer{bytes};
  auto* next = state.scratch.data();
  const auto take = [&](size_t value_size) {
    return std::exchange(next, next + padded(value_size));
  };
  for (auto size : register_sizes_) state.registers.push_back(take(size));
  for (size_t i = 0; i < inputs_; ++i) {
    const auto& data = *call.inputs[i].data;
    const bool in_place = state.readers[i].in_place();
    state.staged.push_back(in_place ? nullptr : take(size_of(data.type())));
    state.inputs.push_back(nullptr);
    const auto period = static_cast<size_t>(state.readers[i].period());
    state.steady.push_back(period != 0 && state.tile % period == 0);
    if (state.steady[i])
      state.readers[i].load(state.staged[i], 0, state.tile);
  }
  std::vector<mutable_buffer> results;
  for (const auto& k : kernels_)
    if (k.output >= 0) {
      results.emplace_back(total * size_of(k.type));
      state.outputs.push_back(results.back().data());
    }
  for (size_t first = 0; first < total; first += state.tile)
    run_tile(call, to, state, static_cast<int64_t>(first), std::min(state.tile, total - first));
  std::vector<column> out;
  for (const auto& k : kernels_)
    if (k.output >= 0)
      out.push_back(
        to.make(k.type, call.rows, std::move(results[static_cast<size_t>(k.output)]).freeze()));
  return out;
}

void fused_pass::run_tile(const op_call& call, const alignment& to, tile_state& state,
                          int64_t first, size_t n) const {
  for (size_t i = 0; i < inputs_; ++i) {
    const auto& data = *call.inputs[i].data;
    if (state.staged[i] == nullptr) {
      state.inputs[i] =
        data.value_buffer().data() + static_cast<size_t>(first) * size_of(data.type());
      continue;
    }
    if (!state.steady[i])
      state.readers[i].load(state.staged[i], first, n);
    state.inputs[i] = state.staged[i];
  }
  const auto place = [&](const kernel& k) {
    return k.reg >= 0 ? state.registers[static_cast<size_t>(k.reg)]
                      : state.outputs[static_cast<size_t>(k.output)]
                          + static_cast<size_t>(first) * size_of(k.type);
  };
  for (const auto& p : state.plan) {
    const auto& k = kernels_[p.step];
    const void* from[3] = {};
    for (int j = 0; j < p.count; ++j) {
      const auto at = p.operands[j];
      from[j] = at >= 0 ? state.inputs[static_cast<size_t>(at)]
                        : place(kernels_[static_cast<size_t>(-1 - at)]);
    }
    if (k.check != nullptr) {
      check_tile(call, to, state, k, *steps_[p.step].node, from[k.checked], first, n);
      if (!state.repaired.empty())
        from[k.checked] = state.repaired.data();
    }
    p.fn(place(k), from[0], from[1], from[2], n);
    if (k.check != nullptr)
      state.repaired.clear();
  }
}

void fused_pass::check_tile(const op_call& call, const alignment& to, tile_state& state,
                            const kernel& k, const expr_node& node, const void* values,
                            int64_t first, size_t n) const {
  auto bad = k.check(values, 0, n);
  if (bad == n)
    return;
  const auto size = size_of(node.inputs[static_cast<size_t>(k.checked)]->spec.type);
  const auto* bytes = static_cast<const std::byte*>(values);
  state.repaired.assign(bytes, bytes + n * size);
  size_t row = 0;
  for (; bad < n; bad = k.check(values, bad + 1, n)) {
    std::memset(state.repaired.data() + bad * size, 0, size);
    const auto value = first + static_cast<int64_t>(bad);
    if (to.dense)
      row = static_cast<size_t>(value / to.row_values);
    else
      while (to.first_value(row + 1) <= value) ++row;
    if (call.skips(row) || (!call.errors.empty() && call.errors.back().row == row))
      continue;
    call.fail(row, bad_value(node, values, bad));
  }
}

} // namespace headrace::detail
