#include "headrace/pipeline/functions/representation/loop.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

namespace headrace::detail {

namespace {

/// Copies a loop's expressions so that they use nothing but the loop's own variables, constants and
/// the row's seed. Values from outside of the loop become captures.
class capturing {
public:
  capturing(std::shared_ptr<const loop_scope> scope, size_t variables)
    : scope_(std::move(scope)), variables_(variables) {}

  /// Returns the copy of `root`. There is no recursion, because chains of nodes may be long.
  expr_ptr closed(const expr_ptr& root) {
    find_inside(root);
    // Operands are visited in their order, which is the order of the captures.
    std::vector<std::pair<const expr_ptr*, size_t>> open{{&root, 0}};
    while (!open.empty()) {
      auto& [at, next] = open.back();
      const auto& x = *at;
      const bool is_known = copies_.contains(x.get());
      if (!is_known && inside_.at(x.get()) && next < operands_of(*x).size()) {
        const auto& input = x->inputs[next++];
        open.emplace_back(&input, 0);
        continue;
      }
      open.pop_back();
      if (is_known)
        continue;
      copies_.emplace(x.get(), copy_of(x));
      kept_.push_back(x); // so that its address, a key of `copies_`, is not used again
    }
    return copies_.at(root.get());
  }
  std::vector<expr_ptr> captures() const {
    auto out = captures_;
    if (seed_)
      out.push_back(seed_);
    return out;
  }
  bool has_seeds() const noexcept { return seed_ != nullptr; }

private:
  /// @pre the operands that the copy needs have been copied
  expr_ptr copy_of(const expr_ptr& x) {
    if (x->op == expr_op::constant)
      return x;
    if (x->op == expr_op::row_seed) {
      seed_ = x;
      return x;
    }
    if (x->op == expr_op::loop_variable && x->scope == scope_)
      return make_loop_variable(nullptr, x->attrs.index, x->spec);
    if (!inside_.at(x.get())) {
      captures_.push_back(x);
      return make_loop_variable(nullptr, static_cast<int64_t>(variables_ + captures_.size() - 1),
                                x->spec);
    }
    auto copy = *x;
    for (size_t i = 0; i < operands_of(*x).size(); ++i)
      copy.inputs[i] = copies_.at(x->inputs[i].get());
    return std::make_shared<const expr_node>(std::move(copy));
  }

  /// Finds whether `root`, and each node that `root` needs, belongs inside the loop.
  void find_inside(const expr_ptr& root) {
    std::vector<const expr_ptr*> open{&root};
    while (!open.empty()) {
      const auto& x = *open.back();
      const auto known = open.size();
      for (const auto& input : operands_of(*x))
        if (!inside_.contains(input.get()))
          open.push_back(&input);
      if (open.size() > known)
        continue;
      open.pop_back();
      inside_.emplace(x.get(), belongs_inside(*x));
    }
  }

  /// True if `x` differs from step to step, or is or needs a loop that was opened inside this one.
  /// Such an inner loop stays inside even if it is the same in all steps: it could run forever for
  /// elements that never reach this step. A loop that was opened before this one is captured. @pre
  /// `inside_` contains the operands of `x`
  bool belongs_inside(const expr_node& x) const {
    return x.op == expr_op::row_seed || (x.op == expr_op::loop_variable && x.scope == scope_)
           || (x.op == expr_op::while_loop && opened_later(x))
           || std::ranges::any_of(operands_of(x),
                                  [&](const auto& input) { return inside_.at(input.get()); });
  }

  /// True if `loop` was opened after this loop. A loop of a decoded graph has no scope; it was not
  /// traced inside another loop.
  bool opened_later(const expr_node& loop) const {
    return loop.scope && static_cast<const loop_scope&>(*loop.scope).number > scope_->number;
  }

  std::shared_ptr<const loop_scope> scope_;
  size_t variables_;
  std::vector<expr_ptr> captures_, kept_;
  expr_ptr seed_;
  std::unordered_map<const expr_node*, expr_ptr> copies_;
  std::unordered_map<const expr_node*, bool> inside_;
};

status check_step(size_t i, const tensor_spec& before, const tensor_spec& after) {
  if (before.type == after.type && before.dims.accepts(after.dims))
    return {};
  return invalid_argument(fmt::format(
    "variable {} is {} before a step and {} after it; {}", i, to_string(before), to_string(after),
    before.type != after.type ? "cast one" : "give a shape invariant that allows both"));
}

} // namespace

loop_scope::loop_scope()
  : number([] {
      static std::atomic<uint64_t> opened{0};
      return ++opened;
    }()) {}

loop_parts parts_of(const expr_node& loop) {
  const std::span<const expr_ptr> all{loop.inputs};
  const auto n = static_cast<size_t>(loop.attrs.dims[0]);
  const auto m = static_cast<size_t>(loop.attrs.dims[1]);
  return {all.first(n),           all.subspan(n, m),  all.subspan(n + m, 1),
          all.subspan(n + m + 1), loop.attrs.dims[2], loop.attrs.flag};
}

std::span<const expr_ptr> operands_of(const expr_node& node) {
  const std::span<const expr_ptr> all{node.inputs};
  if (node.op != expr_op::while_loop)
    return all;
  return all.first(static_cast<size_t>(node.attrs.dims[0] + node.attrs.dims[1]));
}

expr_ptr make_loop_variable(std::shared_ptr<const function_scope> scope, int64_t index,
                            tensor_spec spec) {
  expr_node node;
  node.op = expr_op::loop_variable;
  node.attrs.index = index;
  node.attrs.dims.assign(spec.dims.dims().begin(), spec.dims.dims().end());
  node.attrs.flag = !spec.dims.has_rank();
  node.spec = std::move(spec);
  node.scope = std::move(scope);
  return std::make_shared<const expr_node>(std::move(node));
}

result<std::vector<expr_ptr>> make_loop(const std::shared_ptr<const loop_scope>& scope,
                                        const std::vector<expr_ptr>& variables,
                                        std::vector<expr_ptr> first, const expr_ptr& condition,
                                        const std::vector<expr_ptr>& after, int64_t most_steps) {
  if (after.size() != variables.size() || first.size() != variables.size())
    return invalid_argument(fmt::format("while_loop: a step gives {} tensors for {} variables",
                                        after.size(), variables.size()));
  for (size_t i = 0; i < variables.size(); ++i) {
    for (const auto& x : {first[i], after[i]})
      if (auto why = check_step(i, variables[i]->spec, x->spec); !why.ok())
        return why.with_context("while_loop");
    if (!variables[i]->spec.dims.has_rank())
      return invalid_argument(fmt::format(
        "while_loop: variable {} has an unknown rank; use ensure_shape, or a shape invariant with "
        "a rank",
        i));
  }
  capturing inside{scope, variables.size()};
  std::vector<expr_ptr> steps{inside.closed(condition)};
  for (const auto& x : after) steps.push_back(inside.closed(x));
  const auto captures = inside.captures();
  auto inputs = std::move(first);
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  inputs.insert(inputs.end(), steps.begin(), steps.end());
  std::vector<expr_ptr> out;
  for (size_t i = 0; i < variables.size(); ++i) {
    expr_attrs attrs;
    attrs.index = static_cast<int64_t>(i);
    attrs.flag = inside.has_seeds();
    attrs.dims = {static_cast<int64_t>(variables.size()), static_cast<int64_t>(captures.size()),
                  most_steps};
    HEADRACE_ASSIGN(const auto x, make_expr(expr_op::while_loop, inputs, std::move(attrs)));
    auto with_scope = std::make_shared<expr_node>(*x);
    with_scope->scope = scope;
    out.push_back(std::move(with_scope));
  }
  return out;
}

} // namespace headrace::detail
