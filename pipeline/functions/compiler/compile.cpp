#include "headrace/pipeline/functions/compiler/compile.hpp"

#include "headrace/pipeline/functions/compiler/bands.hpp"
#include "headrace/pipeline/functions/compiler/evaluation.hpp"
#include "headrace/pipeline/functions/compiler/image_parts.hpp"
#include "headrace/pipeline/functions/operations/images.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/loop.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

namespace headrace::detail {

namespace {

template <class T>
void put(std::string& key, const T& x) {
  key.append(reinterpret_cast<const char*>(&x), sizeof(x));
}
void put(std::string& key, std::string_view text) {
  put(key, text.size());
  key.append(text);
}
void put(std::string& key, const shape& dims) {
  put(key, dims.has_rank());
  put(key, dims.dims().size());
  for (auto dim : dims.dims()) put(key, dim);
}
void put(std::string& key, const std::vector<int64_t>& xs) {
  put(key, xs.size());
  for (auto x : xs) put(key, x);
}

/// Nodes with equal keys compute the same value.
std::string key_of(const expr_node& node, const std::vector<size_t>& inputs) {
  std::string key;
  put(key, node.op);
  put(key, inputs.size());
  for (auto i : inputs) put(key, i);
  put(key, node.spec.type);
  put(key, node.spec.dims);
  put(key, node.scope.get());
  const auto& attrs = node.attrs;
  put(key, attrs.index);
  put(key, attrs.flag);
  put(key, attrs.axes);
  put(key, attrs.dims);
  put(key, attrs.slices.size());
  for (const auto& s : attrs.slices) {
    put(key, s.what);
    put(key, s.start);
    put(key, s.stop);
    put(key, s.step);
    put(key, static_cast<uint8_t>(s.has_start * 2 + s.has_stop));
  }
  put(key, std::string_view{attrs.text});
  put(key, attrs.features.size());
  for (const auto& f : attrs.features) {
    put(key, std::string_view{f.name});
    put(key, f.type);
    put(key, f.dims);
    put(key,
        static_cast<uint8_t>(f.in_lists * 8 + f.sequence * 4 + f.variable * 2 + f.has_default));
    put(key, std::string_view{f.index_name});
    put(key, f.size);
    put(key, f.default_value.value_buffer().data());
  }
  put(key, attrs.numbers.size());
  for (auto number : attrs.numbers) put(key, number);
  put(key, attrs.texts.size());
  for (const auto& text : attrs.texts) put(key, std::string_view{text});
  // Inputs that are not operands, such as the condition of a loop, have no number here, because
  // they are compiled into plans of their own. So their addresses are compared.
  for (const auto& part : std::span{node.inputs}.subspan(inputs.size())) put(key, part.get());
  if (node.op == expr_op::resize_image)
    if (const auto* decode = decoder_of(node))
      put(key, std::string_view{key_of(*decode, inputs)});
  if (node.op != expr_op::constant)
    return key;
  const auto& value = attrs.value;
  const auto& bytes = value.value_buffer();
  // Large constants and strings are not compared: each such node has a key of its own.
  if (!value.is_string() && bytes.size() <= 64)
    put(key, std::string_view{reinterpret_cast<const char*>(bytes.data()), value.bytes()});
  else
    put(key, &node);
  return key;
}

class compiler {
public:
  compiler(program::plan& out, const function_scope* scope) : plan_(out) { out.scope = scope; }

  void add(const std::vector<expr_ptr>& tensors) {
    for (const auto& tensor : with_parts_of_images(tensors)) plan_.results.push_back(visit(tensor));
    fold();
    guard();
    guard_loops();
    level();
    schedule();
    join_bands(plan_);
    release();
  }

private:
  using kind = program::plan::kind;

  /// Adds the values that `root` needs, then the value of `root`, and returns the number of the
  /// value of `root`. There is no recursion, because chains of nodes may be long.
  size_t visit(const expr_ptr& root) {
    std::vector<const expr_ptr*> open{&root};
    while (!open.empty()) {
      const auto& node = *open.back();
      if (known_.contains(node.get())) {
        open.pop_back();
        continue;
      }
      bool ready = true;
      // The condition of a `cond` is computed before the branches, because it decides for which
      // rows each branch is computed.
      if (node->op == expr_op::cond && !known_.contains(node->inputs[0].get())) {
        open.push_back(&node->inputs[0]);
        continue;
      }
      for (const auto& in : operands_of(*node))
        if (!known_.contains(in.get())) {
          open.push_back(&in);
          ready = false;
        }
      if (!ready)
        continue;
      open.pop_back();
      known_.emplace(node.get(), make_item(node));
    }
    return known_.at(root.get());
  }

  size_t make_item(const expr_ptr& node) {
    std::vector<size_t> inputs;
    for (const auto& in : operands_of(*node)) inputs.push_back(known_.at(in.get()));
    if (node->op == expr_op::cast && node->spec.type == node->inputs[0]->spec.type)
      return inputs[0];
    auto [at, fresh] = by_key_.emplace(key_of(*node, inputs), plan_.items.size());
    if (!fresh)
      return at->second;
    program::plan::item item;
    item.node = node;
    item.what = kind_of(*node);
    item.uniform = item.what == kind::constant || item.what == kind::capture;
    if (item.what == kind::op || item.what == kind::fused || item.what == kind::parse
        || item.what == kind::loop) {
      item.uniform = true;
      for (auto i : inputs) item.uniform = item.uniform && plan_.items[i].uniform;
      item.uniform = item.uniform && node->op != expr_op::row_seed;
    }
    item.inputs = std::move(inputs);
    if (item.what == kind::constant)
      item.ready = {node->attrs.value, true, {}};
    plan_.items.push_back(std::move(item));
    return at->second;
  }

  kind kind_of(const expr_node& node) const {
    switch (node.op) {
    case expr_op::constant: return kind::constant;
    case expr_op::row_seed:
    case expr_op::loop_variable: return kind::parameter;
    case expr_op::while_loop: return kind::loop;
    case expr_op::parameter:
      return node.scope.get() == plan_.scope ? kind::parameter : kind::capture;
    default:
      if (const auto* f = find_library_function(node.op); f && f->run_all)
        return kind::parse;
      return is_fusable(node) ? kind::fused : kind::op;
    }
  }

  /// Computes nodes that depend on constants alone.
  void fold() {
    for (auto& item : plan_.items) {
      if (item.inputs.empty() || item.what == kind::parse || item.what == kind::loop)
        continue;
      bool constant = true;
      for (auto i : item.inputs) constant = constant && plan_.items[i].what == kind::constant;
      if (!constant)
        continue;
      item.ready = evaluate_constant(item.node, item.inputs, plan_);
      item.what = kind::constant;
    }
  }

  /// Finds the values that are needed only in rows in which a `cond` chooses the branch that uses
  /// them, and sets their guards. A value with several uses is skipped in a row only if none
  /// of its uses needs the row.
  void guard() {
    using guards = std::vector<std::pair<size_t, bool>>;
    std::vector<std::optional<guards>> used(plan_.items.size());
    for (auto i : plan_.results) used[i].emplace();
    for (auto i = plan_.items.size(); i-- > 0;) {
      auto& item = plan_.items[i];
      if (used[i])
        item.guards = *used[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        auto there = item.guards;
        if (item.node->op == expr_op::cond && k > 0)
          there.emplace_back(item.inputs[0], k == 1);
        std::sort(there.begin(), there.end());
        auto& known = used[item.inputs[k]];
        if (!known) {
          known = std::move(there);
          continue;
        }
        guards both;
        std::set_intersection(known->begin(), known->end(), there.begin(), there.end(),
                              std::back_inserter(both));
        known = std::move(both);
      }
      // Some values are computed for all rows: constants; the results of elementwise functions,
      // which cost less than finding the rows; uniform values, which have one row for all rows; and
      // the features that one call parses together, wherever each is used. A uniform loop keeps its
      // guards: if no row needs its value, it must not run, because it might never end.
      if (item.what == kind::constant || item.what == kind::fused || item.what == kind::parse
          || (item.uniform && item.what != kind::loop))
        item.guards.clear();
    }
  }

  /// A key that is equal for all results of one loop, and for all features that one call parses.
  std::string key_of_all_results(const program::plan::item& item) const {
    auto whole = *item.node;
    whole.attrs.index = 0;
    whole.spec = {};
    return key_of(whole, item.inputs);
  }

  /// Gives all results of a loop the guards that they have in common. The results are computed
  /// together, so a row is skipped only if no result needs it. Equal guards also give them one
  /// place in the order of the steps (see `level`), so no result is read before the loop has run.
  void guard_loops() {
    std::map<std::string, std::vector<size_t>> loops;
    for (size_t i = 0; i < plan_.items.size(); ++i)
      if (plan_.items[i].what == kind::loop)
        loops[key_of_all_results(plan_.items[i])].push_back(i);
    for (const auto& [key, results] : loops) {
      auto common = plan_.items[results.front()].guards;
      for (auto i : results)
        std::erase_if(common, [&](const auto& guard) {
          return !std::ranges::binary_search(plan_.items[i].guards, guard);
        });
      for (auto i : results) plan_.items[i].guards = common;
    }
  }

  /// True if the two items can belong to one fused pass: both are fused, with equal shapes of a
  /// known rank, both or neither are uniform, and neither is checked (see `is_checked`).
  bool fuses(const program::plan::item& a, const program::plan::item& b) const {
    return a.what == kind::fused && b.what == kind::fused && a.uniform == b.uniform
           && a.node->spec.dims == b.node->spec.dims && a.node->spec.dims.has_rank()
           && !is_checked(*a.node) && !is_checked(*b.node);
  }
  /// Computes levels (items of lower levels are computed first) and groups (the fused items of a
  /// group become one pass). The level of an item is the lowest one that is higher than the levels
  /// of its guards and of the inputs with which it cannot share a pass, and not lower than the
  /// levels of its other inputs. All items of a group have one level, so no item depends on another
  /// item of the group through an item outside of the group, which would have a higher level.
  void level() {
    levels_.resize(plan_.items.size());
    group_.resize(plan_.items.size());
    std::iota(group_.begin(), group_.end(), size_t{0});
    for (size_t i = 0; i < plan_.items.size(); ++i) {
      const auto& item = plan_.items[i];
      if (item.what == kind::constant)
        continue;
      for (auto in : item.inputs)
        levels_[i] = std::max(levels_[i], levels_[in] + (fuses(plan_.items[in], item) ? 0 : 1));
      for (auto [decides, wanted] : item.guards)
        levels_[i] = std::max(levels_[i], levels_[decides] + 1);
    }
    for (size_t i = 0; i < plan_.items.size(); ++i)
      for (auto in : plan_.items[i].inputs)
        if (plan_.items[i].what == kind::fused && levels_[in] == levels_[i]
            && fuses(plan_.items[in], plan_.items[i]))
          group_[root(i)] = root(in);
  }
  size_t root(size_t i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }

  void schedule() {
    std::map<std::pair<size_t, size_t>, program::plan::step> steps; // by level, then group
    std::map<std::string, std::pair<size_t, size_t>> parses;
    for (size_t i = 0; i < plan_.items.size(); ++i) {
      const auto& item = plan_.items[i];
      if (item.what == kind::constant)
        continue;
      std::pair<size_t, size_t> at{levels_[i], root(i)};
      if (item.what == kind::parse || item.what == kind::loop) {
        at = parses.emplace(key_of_all_results(item), at).first->second;
      }
      auto& step = steps[at];
      step.what = item.what;
      if (step.nodes.empty()) {
        step.guards = item.guards;
      } else {
        std::erase_if(step.guards, [&](const auto& g) {
          return std::find(item.guards.begin(), item.guards.end(), g) == item.guards.end();
        });
      }
      step.nodes.push_back(i);
    }
    std::vector<bool> read_outside(plan_.items.size());
    for (auto i : plan_.results) read_outside[i] = true;
    for (size_t i = 0; i < plan_.items.size(); ++i)
      for (auto in : plan_.items[i].inputs)
        if (root(in) != root(i))
          read_outside[in] = true;
    for (auto& [at, step] : steps) {
      collect_inputs(step);
      if (step.what == kind::fused)
        make_pass(step, read_outside);
      if (step.what == kind::loop)
        make_loop_plans(step);
      plan_.steps.push_back(std::move(step));
    }
  }

  void collect_inputs(program::plan::step& step) const {
    for (auto i : step.nodes)
      for (auto in : plan_.items[i].inputs)
        if (std::find(step.nodes.begin(), step.nodes.end(), in) == step.nodes.end()
            && std::find(step.inputs.begin(), step.inputs.end(), in) == step.inputs.end())
          step.inputs.push_back(in);
  }

  void make_pass(program::plan::step& step, const std::vector<bool>& read_outside) const {
    std::vector<fused_pass::step> functions;
    step.alike = true;
    for (auto in : step.inputs)
      step.alike = step.alike && plan_.items[in].node->spec.dims.is_static();
    for (auto i : step.nodes) {
      const auto& item = plan_.items[i];
      fused_pass::step function;
      function.node = item.node.get();
      function.kept = read_outside[i];
      for (auto in : item.inputs) {
        const auto inside = std::find(step.nodes.begin(), step.nodes.end(), in);
        const auto outside = std::find(step.inputs.begin(), step.inputs.end(), in);
        function.operands.push_back(inside != step.nodes.end()
                                      ? -1 - static_cast<int>(inside - step.nodes.begin())
                                      : static_cast<int>(outside - step.inputs.begin()));
      }
      if (function.kept)
        step.kept.push_back(i);
      functions.push_back(std::move(function));
      std::vector<int> own(item.inputs.size());
      std::iota(own.begin(), own.end(), 0);
      step.single.emplace_back(
        std::vector<fused_pass::step>{{item.node.get(), std::move(own), true}}, item.inputs.size());
    }
    step.pass.emplace(std::move(functions), step.inputs.size());
  }

  void make_loop_plans(program::plan::step& step) const {
    const auto loop = parts_of(*plan_.items[step.nodes.front()].node);
    const auto planned = [](std::span<const expr_ptr> tensors) {
      auto plan = std::make_shared<program::plan>();
      compiler{*plan, nullptr}.add({tensors.begin(), tensors.end()});
      return plan;
    };
    step.condition = planned(loop.condition);
    step.after = planned(loop.after);
  }

  /// Finds the step after which each value can be freed.
  void release() {
    std::vector<size_t> last(plan_.items.size(), plan_.steps.size());
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      for (auto i : plan_.steps[s].inputs) last[i] = s;
    // Guards are not counted as reads of their conditions: the `cond`, a later step, is counted.
    for (auto i : plan_.results) last[i] = plan_.steps.size();
    for (size_t i = 0; i < last.size(); ++i)
      if (last[i] < plan_.steps.size() && plan_.items[i].what != kind::constant)
        plan_.steps[last[i]].done.push_back(i);
  }

  program::plan& plan_;
  std::unordered_map<const expr_node*, size_t> known_;
  std::unordered_map<std::string, size_t> by_key_;
  std::vector<size_t> levels_, group_;
};

} // namespace

program compile(const std::vector<expr_ptr>& tensors, const function_scope* scope) {
  auto plan = std::make_shared<program::plan>();
  compiler{*plan, scope}.add(tensors);
  program out;
  out.plan_ = std::move(plan);
  return out;
}

program compile(const function& f) {
  auto plan = std::make_shared<program::plan>();
  compiler{*plan, f.scope.get()}.add(f.tensors);
  plan->parameters = f.argument.components.size();
  program out;
  out.plan_ = std::move(plan);
  return out;
}

} // namespace headrace::detail
