#include "headrace/client/dataset.hpp"

#include "headrace/client/internal/checked.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

namespace headrace {
using namespace detail;

using detail::checked;
using detail::shared;

namespace {

std::vector<std::optional<column>> constants(std::string_view op, const std::vector<expr>& xs) {
  std::vector<std::optional<column>> out;
  for (const auto& x : xs) {
    const auto* value = constant_of(x.node());
    if (!value)
      throw error{invalid_argument(std::string{op} + ": a padding value is not a constant")};
    out.emplace_back(*value);
  }
  return out;
}

} // namespace

dataset dataset::padded_batch(int64_t size, padded_batch_options options) const {
  return checked(make_padded_batch(node_, size, std::move(options.padded_shapes),
                                   constants("padded_batch", options.padding_values),
                                   options.drop_remainder));
}
dataset dataset::padded_batch(const expr& size, padded_batch_options options) const {
  return checked(
    make_padded_batch(node_, cast<int64_t>(size).node(), std::move(options.padded_shapes),
                      constants("padded_batch", options.padding_values), options.drop_remainder));
}
dataset dataset::ragged_batch(int64_t size, batch_options options) const {
  return checked(make_ragged_batch(node_, size, options.drop_remainder));
}
dataset dataset::ragged_batch(const expr& size, batch_options options) const {
  return checked(make_ragged_batch(node_, cast<int64_t>(size).node(), options.drop_remainder));
}
dataset dataset::elements_of(const expr_structure& datasets) {
  return dataset{headrace::elements_of(datasets)};
}
dataset dataset::window(int64_t size, window_options options) const {
  return checked(make_window(node_, size, options.shift == 0 ? size : options.shift, options.stride,
                             options.drop_remainder));
}

element_spec dataset::groups() const { return grouped_spec(spec()); }
dataset dataset::grouped(function key, function reduce, int64_t size) const {
  return checked(
    make_group_by_window(node_, shared(std::move(key)), shared(std::move(reduce)), size));
}
dataset dataset::grouped(function key, function reduce, function size) const {
  return checked(make_group_by_window(node_, shared(std::move(key)), shared(std::move(reduce)),
                                      shared(std::move(size))));
}
dataset dataset::bucketed(function length, bucket_options options) const {
  return checked(make_bucket_by_sequence_length(
    node_, shared(std::move(length)),
    {.boundaries = std::move(options.boundaries),
     .batch_sizes = std::move(options.batch_sizes),
     .padded_shapes = std::move(options.padded_shapes),
     .padding_values = constants("bucket_by_sequence_length", options.padding_values),
     .pad_to_boundary = options.pad_to_bucket_boundary,
     .no_padding = options.no_padding,
     .drop_remainder = options.drop_remainder}));
}
dataset dataset::resampled(function class_of, std::vector<double> target_dist,
                           resample_options options) const {
  return checked(make_rejection_resample(node_, shared(std::move(class_of)), std::move(target_dist),
                                         std::move(options.initial_dist), options.seed));
}

dataset dataset::folded(const expr_structure& initial_state, function f) const {
  std::vector<expr_ptr> state;
  for (const auto& leaf : initial_state.leaves()) state.push_back(leaf.node());
  return checked(make_reduce(node_, std::move(state), shared(std::move(f))));
}

} // namespace headrace
