#include "headrace/client/dataset.hpp"

#include "headrace/pipeline/graph/build.hpp"

namespace headrace {

namespace {

dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

function_ptr shared(function f) { return std::make_shared<const function>(std::move(f)); }

std::vector<expr_ptr> nodes_of(const expr_structure& tensors) {
  std::vector<expr_ptr> out;
  for (const auto& leaf : tensors.leaves()) out.push_back(leaf.node());
  return out;
}

expr_ptr names(const std::vector<std::string>& files) { return string_constant(files); }

} // namespace

dataset dataset::range(int64_t stop) { return range(0, stop); }
dataset dataset::range(int64_t start, int64_t stop, int64_t step) {
  return checked(make_range(start, stop, step));
}
dataset dataset::range(const expr& stop) { return range(expr{int64_t{0}}, stop); }
dataset dataset::range(const expr& start, const expr& stop, const expr& step) {
  return checked(make_range(start.node(), stop.node(), step.node()));
}
dataset dataset::from_tensors(const expr_structure& tensors) {
  return checked(make_from_tensors(nodes_of(tensors), tensors.layout()));
}
dataset dataset::from_tensor_slices(const expr_structure& tensors) {
  return checked(make_from_tensor_slices(nodes_of(tensors), tensors.layout()));
}
dataset dataset::text_lines(expr files, file_options options) {
  return checked(make_text_lines(files.node(), std::move(options.compression)));
}
dataset dataset::text_lines(const std::vector<std::string>& files, file_options options) {
  return checked(make_text_lines(names(files), std::move(options.compression)));
}
dataset dataset::tfrecord(expr files, file_options options) {
  return checked(make_tfrecord(files.node(), std::move(options.compression)));
}
dataset dataset::tfrecord(const std::vector<std::string>& files, file_options options) {
  return checked(make_tfrecord(names(files), std::move(options.compression)));
}
dataset dataset::list_files(const std::vector<std::string>& patterns, list_files_options options) {
  return checked(make_list_files(names(patterns), options.shuffle, options.seed));
}
dataset dataset::zip(const std::vector<dataset>& inputs) {
  std::vector<dataset_ptr> nodes;
  for (const auto& input : inputs) nodes.push_back(input.node());
  return checked(make_zip(std::move(nodes)));
}

dataset dataset::mapped(function f, parallel_calls parallel) const {
  return checked(make_map(node_, shared(std::move(f)), parallel.calls));
}
dataset dataset::filtered(function f) const {
  return checked(make_filter(node_, shared(std::move(f))));
}
dataset dataset::flat_mapped(function f) const {
  return checked(make_flat_map(node_, shared(std::move(f))));
}
dataset dataset::interleaved(function f, interleave_options options) const {
  return checked(make_interleave(node_, shared(std::move(f)), options.cycle_length,
                                 options.block_length, options.parallel_calls));
}
dataset dataset::batch(int64_t size, batch_options options) const {
  return checked(make_batch(node_, size, options.drop_remainder));
}
dataset dataset::shuffle(int64_t buffer_size, shuffle_options options) const {
  return checked(make_shuffle(node_, buffer_size, options.seed, options.reshuffle_each_iteration));
}
dataset dataset::repeat(int64_t count) const { return checked(make_repeat(node_, count)); }
dataset dataset::take(int64_t count) const { return checked(make_take(node_, count)); }
dataset dataset::skip(int64_t count) const { return checked(make_skip(node_, count)); }
dataset dataset::prefetch(int64_t count) const { return checked(make_prefetch(node_, count)); }
dataset dataset::enumerate(int64_t start) const { return checked(make_enumerate(node_, start)); }
dataset dataset::concatenate(const dataset& after) const {
  return checked(make_concatenate(node_, after.node()));
}

element_cursor dataset::begin() const {
  return element_cursor{std::make_shared<dataset_iterator>(iterate())};
}

} // namespace headrace
