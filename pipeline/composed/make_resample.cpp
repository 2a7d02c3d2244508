#include "headrace/pipeline/composed/composed_functions.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr std::string_view name = "rejection_resample";

status refuse(const std::string& what) {
  return invalid_argument(fmt::format("{}: {}", name, what));
}

/// The weights, scaled so that their sum is 1.
result<std::vector<double>> shares(std::string_view argument, std::vector<double> weights) {
  double sum = 0;
  for (auto x : weights) {
    if (!(x >= 0) || !std::isfinite(x))
      return refuse(fmt::format("{} has a share of {}; shares must be 0 or more", argument, x));
    sum += x;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    return refuse(fmt::format("one of the shares of {} must be more than 0", argument));
  for (auto& x : weights) x /= sum;
  return weights;
}

/// For each class, the probability with which an element of the class is kept.
result<std::vector<double>> acceptance(const std::vector<double>& target,
                                       const std::vector<double>& initial) {
  if (initial.size() != target.size())
    return refuse(fmt::format("initial_dist has {} classes, target_dist {}; give as many",
                              initial.size(), target.size()));
  std::vector<double> out;
  for (size_t i = 0; i < target.size(); ++i) {
    if (initial[i] == 0 && target[i] != 0)
      return refuse(fmt::format("class {} is to have a share of {}, but initial_dist says that "
                                "there are none of it",
                                i, target[i]));
    out.push_back(target[i] == 0 ? 0 : target[i] / initial[i]);
  }
  const auto most = *std::max_element(out.begin(), out.end());
  for (auto& x : out) x /= most;
  return out;
}

function_ptr traced(const element_spec& argument, std::function<expr_structure(expr_structure)> f) {
  return std::make_shared<const function>(trace(argument, std::move(f)));
}

/// A dataset with an element (probability, (class, element)) for each element (class, element) of
/// `classed`. The probability is that with which the element is kept.
result<dataset_ptr> with_acceptance(const dataset_ptr& classed, const std::vector<double>& target,
                                    const std::vector<double>& initial) {
  const auto class_of = [](const expr_structure& x) { return cast<int64_t>(x.child(0).single()); };
  if (!initial.empty()) {
    HEADRACE_ASSIGN(const auto keep, acceptance(target, initial));
    return make_map(classed, traced(classed->spec, [&](expr_structure x) {
                      return expr_structure::tuple({gather(constant(keep), class_of(x)), x});
                    }));
  }
  // The count of each class begins with this number, so that the first few elements do not alone
  // determine the estimated distribution.
  constexpr double before = 10;
  const auto counts = constant(std::vector<double>(target.size(), before));
  auto f = traced(element_spec::tuple({counts.spec(), classed->spec}), [&](expr_structure in) {
    const auto x = in.child(1);
    const auto which = class_of(x);
    const auto seen =
      in[0] + one_hot(which, static_cast<int64_t>(target.size()), constant(1.0), constant(0.0));
    const auto ratio = constant(target) / seen;
    const auto keep = gather(ratio, which) / reduce_max(ratio);
    return expr_structure::tuple({seen, expr_structure::tuple({keep, x})});
  });
  return make_scan(classed, {counts.node()}, std::move(f));
}

} // namespace

result<dataset_ptr> make_rejection_resample(dataset_ptr input, function_ptr class_of,
                                            std::vector<double> target, std::vector<double> initial,
                                            std::optional<uint64_t> seed) try {
  if (!input)
    return refuse("there is no input dataset");
  if (auto ok = check_traced(dataset_op::map, "class_func", class_of); !ok.ok())
    return ok.with_context(name);
  HEADRACE_TRY(integer_of(name, "class_func", *class_of).status());
  HEADRACE_ASSIGN(target, shares("target_dist", std::move(target)));
  if (!initial.empty()) {
    HEADRACE_ASSIGN(initial, shares("initial_dist", std::move(initial)));
  }
  HEADRACE_ASSIGN(auto rows,
                  make_map(input, with_element(*class_of, {expr{class_of->tensors[0]}})));
  HEADRACE_ASSIGN(rows, with_acceptance(rows, target, initial));
  // The random number for an element is made of `seed` and the element's number, or, if there is no
  // `seed`, of `random::element_seed`.
  HEADRACE_ASSIGN(rows, make_enumerate(rows));
  const auto draw = [&](const expr_structure& x) -> expr_structure {
    const auto key =
      seed ? stack({constant(static_cast<int64_t>(*seed)), x[0]}) : random::element_seed(1);
    return random::stateless_uniform({}, key, constant(0.0), constant(1.0)) < x.child(1)[0];
  };
  HEADRACE_ASSIGN(rows, make_filter(rows, traced(rows->spec, draw)));
  return make_map(rows,
                  traced(rows->spec, [](const expr_structure& x) { return x.child(1).child(1); }));
} catch (const error& e) {
  return e.why().with_context(name);
}

} // namespace headrace::detail
