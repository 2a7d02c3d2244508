#include "headrace/pipeline/composed/cardinality_dataset.hpp"

#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

#include <functional>

namespace headrace::detail {

namespace {

expr number(int64_t x) { return expr{scalar_constant(x)}; }

dataset_ptr one_element(const expr& n) { return make_from_tensors({n.node()}).value(); }

/// The numeric parameter `known` of the operator `x`. If it is unset, its value is the last tensor
/// of the operator, an expression (see `known_number`).
expr number_of(const dataset_node& x, const known_number& known) {
  return known ? number(*known) : expr{x.tensors.back()};
}

dataset_ptr changed(dataset_ptr counts, const std::function<expr(expr)>& f) {
  auto spec = counts->spec;
  return make_map(std::move(counts), std::make_shared<const function>(trace(spec, f))).value();
}

/// Applies `f` to a count that is finite. A count that is infinite, and so below 0, is returned
/// unchanged.
dataset_ptr of_finite(dataset_ptr counts, const std::function<expr(expr)>& f) {
  return changed(std::move(counts), [&](const expr& n) { return where(n < 0, n, f(n)); });
}

dataset_ptr batches(dataset_ptr counts, const expr& size, bool drop_remainder) {
  return of_finite(std::move(counts), [&](const expr& n) {
    return drop_remainder ? n / size : (n + size - 1) / size;
  });
}

/// The cardinality of a dataset in a function's argument: the dataset's elements are read and
/// counted.
dataset_ptr counted(const dataset_ptr& x) {
  const std::function<expr(expr_structure)> nothing = [](const expr_structure&) {
    return number(0);
  };
  const std::function<expr(expr, expr)> one_more = [](const expr& n, const expr&) { return n + 1; };
  auto rows = make_map(x, std::make_shared<const function>(trace(x->spec, nothing))).value();
  const auto state = element_spec::tuple({rows->spec, rows->spec});
  return make_reduce(std::move(rows), {scalar_constant(0)},
                     std::make_shared<const function>(trace(state, one_more)))
    .value();
}

dataset_ptr cardinality_of(const dataset_ptr& node);

/// The cardinalities of all inputs, combined into one number by `f`.
dataset_ptr joined(const dataset_node& x, const std::function<expr(expr, expr)>& f) {
  std::vector<dataset_ptr> counts;
  for (const auto& input : x.inputs) counts.push_back(cardinality_of(input));
  auto together = make_zip(std::move(counts)).value();
  const auto spec = together->spec;
  const std::function<expr(expr_structure)> all = [&](const expr_structure& parts) {
    auto out = parts.child(0).single();
    for (size_t i = 1; i < x.inputs.size(); ++i) out = f(out, parts.child(i).single());
    return out;
  };
  return make_map(std::move(together), std::make_shared<const function>(trace(spec, all))).value();
}

[[noreturn]] void refuse(const dataset_node& x) {
  throw error{invalid_argument(
    fmt::format("cardinality: how many elements {} gives is not known before they are read: count "
                "them with reduce, or say it before with assert_cardinality",
                to_string(x.op)))};
}

dataset_ptr cardinality_of(const dataset_ptr& node) {
  const auto& x = *node;
  if (x.cardinality != unknown_cardinality)
    return one_element(number(x.cardinality));
  const auto input = [&] { return cardinality_of(x.inputs[0]); };
  switch (x.op) {
  case dataset_op::range: {
    const expr start{x.tensors[0]}, stop{x.tensors[1]}, step{x.tensors[2]};
    return one_element(maximum(-floor_div(start - stop, step), 0));
  }
  case dataset_op::from_tensor_slices: return one_element(shape_of(expr{x.tensors[0]})[0]);
  case dataset_op::elements_of: return counted(node);
  case dataset_op::map:
  case dataset_op::shuffle:
  case dataset_op::prefetch:
  case dataset_op::enumerate:
  case dataset_op::scan:
  case dataset_op::options:
  case dataset_op::sleep:
  case dataset_op::stats:
  case dataset_op::cache: return input();
  case dataset_op::flat_map:
  case dataset_op::interleave:
    if (!x.body->dataset || x.body->dataset->cardinality != 1)
      refuse(x);
    return input();
  case dataset_op::batch:
  case dataset_op::ragged_batch: {
    const auto& how = x.as<batch_parameters>();
    return batches(input(), number_of(x, how.rows), how.drop_remainder);
  }
  case dataset_op::padded_batch: {
    const auto& how = x.as<padded_batch_parameters>().batch;
    return batches(input(), number_of(x, how.rows), how.drop_remainder);
  }
  case dataset_op::window: {
    const auto how = x.as<window_parameters>();
    const auto span = (how.size - 1) * how.stride + 1;
    return of_finite(input(), [&](const expr& n) {
      const auto first = n - (how.drop_remainder ? span : 1);
      return where(first < 0, number(0), first / number(how.shift) + 1);
    });
  }
  case dataset_op::take: {
    const auto count = number_of(x, x.as<take_parameters>().count);
    return changed(input(), [&](const expr& n) {
      return where(count < 0, n, where(n < 0, count, minimum(n, count)));
    });
  }
  case dataset_op::skip: {
    const auto count = number_of(x, x.as<skip_parameters>().count);
    return of_finite(
      input(), [&](const expr& n) { return where(count < 0, number(0), maximum(n - count, 0)); });
  }
  case dataset_op::repeat: {
    const auto count = number_of(x, x.as<repeat_parameters>().count);
    return changed(input(), [&](const expr& n) {
      return where(n < 0 || count < 0,
                   where(n == 0 || count == 0, number(0), number(infinite_cardinality)), n * count);
    });
  }
  case dataset_op::shard: {
    const auto how = x.as<shard_parameters>();
    if (how.shards < 1 || how.run != 1)
      refuse(x);
    return of_finite(input(), [&](const expr& n) {
      return (n + number(how.shards - 1 - how.index)) / number(how.shards);
    });
  }
  case dataset_op::zip:
    return joined(x, [](const expr& a, const expr& b) {
      return where(a < 0, b, where(b < 0, a, minimum(a, b)));
    });
  case dataset_op::concatenate:
    return joined(x, [](const expr& a, const expr& b) {
      return where(a < 0 || b < 0, number(infinite_cardinality), a + b);
    });
  default: refuse(x);
  }
}

} // namespace

result<dataset_ptr> make_cardinality(const dataset_ptr& x) {
  try {
    return cardinality_of(x);
  } catch (const error& e) {
    return e.why();
  }
}

} // namespace headrace::detail
