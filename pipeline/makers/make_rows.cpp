#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

result<dataset_ptr> make_counter(int64_t start, int64_t step) {
  auto node = node_of(dataset_op::counter);
  node.parameters = counter_parameters{start, step};
  node.spec = tensor_spec{dtype::int64, {}};
  node.cardinality = infinite_cardinality;
  return finish(std::move(node));
}

result<dataset_ptr> make_random(std::optional<uint64_t> seed, bool reseed_each_iteration) {
  auto node = node_of(dataset_op::random);
  node.parameters = random_parameters{seed, reseed_each_iteration};
  node.spec = tensor_spec{dtype::int64, {}};
  node.cardinality = infinite_cardinality;
  return finish(std::move(node));
}

result<dataset_ptr> make_generator(function_reference function, element_spec spec, int64_t count,
                                   bool deterministic) {
  constexpr auto op = dataset_op::generator;
  if (function.empty())
    return refused(op, "the function has no name");
  if (count < -1)
    return refused(op,
                   fmt::format("count is {}; it must be -1 (the function tells) or more", count));
  if (has_datasets(spec))
    return refused(op, fmt::format("the spec is {}; the function gives tensors", to_string(spec)));
  auto node = node_of(op);
  node.parameters = generator_parameters{std::move(function), count, deterministic};
  node.spec = std::move(spec);
  node.cardinality = count < 0 ? unknown_cardinality : count;
  return finish(std::move(node));
}

} // namespace headrace::detail
