#include "headrace/client/dataset.hpp"

#include "headrace/client/internal/checked.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

namespace headrace {
using namespace detail;

using detail::checked;
using detail::shared;

namespace {

std::vector<expr_ptr> nodes_of(const expr_structure& tensors) {
  std::vector<expr_ptr> out;
  for (const auto& leaf : tensors.leaves()) out.push_back(leaf.node());
  return out;
}

std::vector<dataset_ptr> graphs_of(const std::vector<dataset>& inputs) {
  std::vector<dataset_ptr> out;
  for (const auto& input : inputs) out.push_back(input.node());
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
  return checked(make_text_lines(files.node(), options.compression));
}
dataset dataset::text_lines(const std::vector<std::string>& files, file_options options) {
  return checked(make_text_lines(names(files), options.compression));
}
dataset dataset::tfrecord(expr files, file_options options) {
  return checked(make_tfrecord(files.node(), options.compression));
}
dataset dataset::tfrecord(const std::vector<std::string>& files, file_options options) {
  return checked(make_tfrecord(names(files), options.compression));
}
dataset dataset::list_files(const std::vector<std::string>& patterns, list_files_options options) {
  return checked(make_list_files(names(patterns), options.shuffle, options.seed));
}
dataset dataset::fixed_length(expr files, record_layout layout, file_options options) {
  return checked(make_fixed_length(files.node(), layout, options.compression));
}
dataset dataset::fixed_length(const std::vector<std::string>& files, record_layout layout,
                              file_options options) {
  return fixed_length(expr{names(files)}, layout, std::move(options));
}
dataset dataset::csv(expr files, std::vector<field_format> columns, csv_format format,
                     file_options options) {
  return checked(
    make_csv(files.node(), std::move(columns), std::move(format), options.compression));
}
dataset dataset::csv(const std::vector<std::string>& files, std::vector<field_format> columns,
                     csv_format format, file_options options) {
  return csv(expr{names(files)}, std::move(columns), std::move(format), std::move(options));
}
dataset dataset::json_lines(expr files, std::vector<field_format> fields, file_options options) {
  return checked(make_json_lines(files.node(), std::move(fields), options.compression));
}
dataset dataset::json_lines(const std::vector<std::string>& files, std::vector<field_format> fields,
                            file_options options) {
  return json_lines(expr{names(files)}, std::move(fields), std::move(options));
}
dataset dataset::sqlite(const expr& file, const expr& query, std::vector<field_format> columns) {
  return checked(make_sql("sqlite", file.node(), query.node(), std::move(columns)));
}
dataset dataset::tar_samples(expr files, std::vector<std::string> extensions, tar_options options) {
  return checked(make_tar_samples(files.node(), std::move(extensions), options.skip_incomplete));
}
dataset dataset::tar_samples(const std::vector<std::string>& files,
                             std::vector<std::string> extensions, tar_options options) {
  return tar_samples(expr{names(files)}, std::move(extensions), options);
}
dataset dataset::counter(int64_t start, int64_t step) { return checked(make_counter(start, step)); }
dataset dataset::random(random_options options) {
  return checked(make_random(options.seed, options.reseed_each_iteration));
}
dataset dataset::from_generator(std::string function, element_spec spec, int64_t count) {
  return checked(make_generator({.name = std::move(function)}, std::move(spec), count));
}
dataset dataset::zip(const std::vector<dataset>& inputs) {
  return checked(make_zip(graphs_of(inputs)));
}

dataset dataset::mapped(function f, parallel_calls parallel) const {
  return checked(make_map(node_, shared(std::move(f)), parallel.calls, parallel.deterministic));
}
dataset dataset::filtered(function f, parallel_calls parallel) const {
  return checked(make_filter(node_, shared(std::move(f)), parallel.calls, parallel.deterministic));
}
dataset dataset::map(const named_call& f, parallel_calls parallel) const {
  function out;
  out.argument = spec();
  out.named.name = f.name;
  out.declared = f.gives;
  out.deterministic = f.deterministic;
  return mapped(std::move(out), parallel);
}
dataset dataset::flat_mapped(function f) const {
  return checked(make_flat_map(node_, shared(std::move(f))));
}
dataset dataset::interleaved(function f, interleave_options options) const {
  return checked(make_interleave(node_, shared(std::move(f)), options.cycle_length,
                                 options.block_length, options.parallel_calls,
                                 options.deterministic));
}
dataset dataset::batch(int64_t size, batch_options options) const {
  return checked(make_batch(node_, size, options.drop_remainder));
}
dataset dataset::shuffle(int64_t buffer_size, shuffle_options options) const {
  return checked(make_shuffle(node_, buffer_size, options.seed, options.reshuffle_each_iteration));
}
dataset dataset::shuffle(const expr& buffer_size, shuffle_options options) const {
  return checked(make_shuffle(node_, cast<int64_t>(buffer_size).node(), options.seed,
                              options.reshuffle_each_iteration));
}
dataset dataset::batch(const expr& size, batch_options options) const {
  return checked(make_batch(node_, cast<int64_t>(size).node(), options.drop_remainder));
}
dataset dataset::repeat(int64_t count) const { return checked(make_repeat(node_, count)); }
dataset dataset::repeat(const expr& count) const {
  return checked(make_repeat(node_, cast<int64_t>(count).node()));
}
dataset dataset::take(int64_t count) const { return checked(make_take(node_, count)); }
dataset dataset::take(const expr& count) const {
  return checked(make_take(node_, cast<int64_t>(count).node()));
}
dataset dataset::skip(int64_t count) const { return checked(make_skip(node_, count)); }
dataset dataset::skip(const expr& count) const {
  return checked(make_skip(node_, cast<int64_t>(count).node()));
}
dataset dataset::prefetch(int64_t count) const { return checked(make_prefetch(node_, count)); }
dataset dataset::enumerate(int64_t start) const { return checked(make_enumerate(node_, start)); }
dataset dataset::concatenate(const dataset& after) const {
  return checked(make_concatenate(node_, after.node()));
}
dataset dataset::sample_from_datasets(const std::vector<dataset>& inputs, sample_options options) {
  return checked(make_sample_from(graphs_of(inputs), std::move(options.weights), options.seed,
                                  options.stop_on_empty, options.rerandomize_each_iteration));
}
dataset dataset::sample_from_datasets(const std::vector<dataset>& inputs, const dataset& weights,
                                      sample_options options) {
  constexpr auto name = "sample_from_datasets";
  if (!options.weights.empty())
    throw error{invalid_argument(fmt::format("{}: there are weights twice", name))};
  const auto& known = weights.spec();
  if (known.components.size() != 1 || known.components[0].type == dtype::string)
    throw error{invalid_argument(
      fmt::format("{}: the weights are {}; vectors of one number a dataset are needed", name,
                  to_string(known)))};
  const auto draws =
    random({.seed = options.seed, .reseed_each_iteration = options.rerandomize_each_iteration});
  const auto one_each = shape{static_cast<int64_t>(inputs.size())};
  const auto choose = [&](const expr& draw, const expr& given) {
    const auto sound =
      debugging::assert_non_negative(ensure_shape(cast<double>(given), one_each),
                                     fmt::format("{}: weights must be 0 or more", name));
    return headrace::random::stateless_categorical(log(sound), 1,
                                                   stack({draw, constant(int64_t{0})}))[0];
  };
  return choose_from_datasets(inputs, zip({draws, weights}).map(choose),
                              {.stop_on_empty = options.stop_on_empty});
}
dataset dataset::choose_from_datasets(const std::vector<dataset>& inputs, const dataset& choices,
                                      choose_options options) {
  return checked(make_choose_from(choices.node(), graphs_of(inputs), options.stop_on_empty));
}
dataset dataset::taken_while(function f) const {
  return checked(make_take_while(node_, shared(std::move(f))));
}
dataset dataset::scanned(const expr_structure& initial_state, function f) const {
  return checked(make_scan(node_, nodes_of(initial_state), shared(std::move(f))));
}
dataset dataset::shard(int64_t shards, int64_t index) const {
  return checked(make_shard(node_, shards, index));
}
dataset dataset::unique() const { return checked(make_unique_elements(node_)); }
dataset dataset::ignore_errors() const { return checked(make_ignore_errors(node_)); }
dataset dataset::assert_cardinality(int64_t count) const {
  return checked(make_assert_cardinality(node_, count));
}
dataset dataset::sleep(std::chrono::microseconds pause) const {
  return checked(make_sleep(node_, pause.count()));
}
dataset dataset::sleep(const expr& microseconds) const {
  return checked(make_sleep(node_, cast<int64_t>(microseconds).node()));
}
dataset dataset::unbatch() const { return checked(make_unbatch(node_)); }
element dataset::get_single_element() const {
  auto elements = iterate();
  auto only = elements.next().value();
  if (!only)
    throw error{invalid_argument("get_single_element: the dataset has no element")};
  if (elements.next().value())
    throw error{invalid_argument("get_single_element: the dataset has more than one element")};
  return *std::move(only);
}

dataset dataset::global_shuffle(shuffle_options options) const {
  return checked(make_global_shuffle(node_, options.seed, options.reshuffle_each_iteration));
}
dataset dataset::with_options(graph_options options) const {
  return checked(make_options(node_, options));
}

element_cursor dataset::begin() const {
  return element_cursor{std::make_shared<dataset_iterator>(iterate())};
}

} // namespace headrace
