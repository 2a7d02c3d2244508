#pragma once

#include "headrace/pipeline/makers/number_argument.hpp"

#include <span>
#include <string_view>

/// One checked maker an operator: the only way to a `dataset_node`. Each infers spec and
/// cardinality and answers `invalid_argument` naming the operator, the argument and what would be
/// right.
namespace headrace {

/// Expressions that hold these numbers and strings.
expr_ptr scalar_constant(int64_t x);
expr_ptr string_constant(std::span<const std::string> xs);

// -- sources: arguments may also be expressions of an enclosing function's parameters -------------

/// The int64 numbers from `start` in steps of `step`, before `stop`. Constant zero steps are
/// refused; others are an error row when it runs.
result<dataset_ptr> make_range(expr_ptr start, expr_ptr stop, expr_ptr step);
result<dataset_ptr> make_range(int64_t start, int64_t stop, int64_t step = 1);
/// One element: these tensors, arranged as `layout`.
result<dataset_ptr> make_from_tensors(std::vector<expr_ptr> tensors, structure layout = {});
/// The rows of these tensors along axis 0, side by side. They need a rank of 1 or more and one
/// extent there.
result<dataset_ptr> make_from_tensor_slices(std::vector<expr_ptr> tensors, structure layout = {});
/// The lines of these files (a string scalar or vector), without their ends (`\n` or `\r\n`).
result<dataset_ptr> make_text_lines(expr_ptr files,
                                    file_compression compression = file_compression::none);
/// The records of these TFRecord files.
result<dataset_ptr> make_tfrecord(expr_ptr files,
                                  file_compression compression = file_compression::none);
/// The names of the files that match these globs, sorted, or shuffled by `seed` (unset: drawn for
/// each run).
result<dataset_ptr> make_list_files(expr_ptr patterns, bool shuffle = false,
                                    std::optional<uint64_t> seed = {});
/// The fixed-length records of these files, as strings. A file whose size does not fit the layout
/// is an error. Without compression, records are read in any order.
result<dataset_ptr> make_fixed_length(expr_ptr files, record_layout layout,
                                      file_compression compression = file_compression::none);
/// The rows of tables in these files: scalars, named if all `columns` have names, else a tuple.
/// Column i is `format.select[i]`; without a selection the one with its name, if there is a header
/// and all have names, else column i of as many as there are. A row that does not fit is an error
/// in its place.
result<dataset_ptr> make_csv(expr_ptr files, std::vector<field_format> columns,
                             csv_format format = {},
                             file_compression compression = file_compression::none);
/// One JSON object a line; `fields` are its keys, the others are passed over. Arrays, of any depth,
/// are tensors. A line that does not fit is an error in its place.
result<dataset_ptr> make_json_lines(expr_ptr files, std::vector<field_format> fields,
                                    file_compression compression = file_compression::none);
/// The rows that `query` gives. `driver`: "sqlite", with a file name as `data_source`, which is not
/// written to. Scalars, named if all `columns` have names, else a tuple.
result<dataset_ptr> make_sql(std::string driver, expr_ptr data_source, expr_ptr query,
                             std::vector<field_format> columns);
/// The samples of tar files in WebDataset's layout: neighbouring members whose names are equal up
/// to the first dot of the last part are one sample; what follows the dot is the extension. Gives
/// strings: `__key__`, then the members of `extensions`, each of which may name several
/// alternatives: "jpg;jpeg". Samples without one are errors, or left out. Compression is
/// recognised.
result<dataset_ptr> make_tar_samples(expr_ptr files, std::vector<std::string> extensions,
                                     bool skip_incomplete = false);
/// The int64 numbers from `start` in steps of `step`, without end; sums wrap.
result<dataset_ptr> make_counter(int64_t start = 0, int64_t step = 1);
/// Random int64 numbers in [0, 2^32), without end.
result<dataset_ptr> make_random(std::optional<uint64_t> seed = {},
                                bool reseed_each_iteration = false);
/// The rows that the function makes of row numbers (an int64 column of
/// ascending numbers from 0): one for each, or fewer, then there are no more. Rows may be asked for
/// in any order, and again. `count`: how many there are; -1: the function tells. Not
/// `deterministic`: another run of the function may give others, so that one run gives all rows of
/// a pass, which are one split then.
result<dataset_ptr> make_generator(function_reference function, element_spec spec,
                                   int64_t count = -1, bool deterministic = true);
/// The elements of these datasets, which are parameters of a function (of spec `dataset(...)`),
/// side by side, arranged as `layout`: as many as the shortest has.
result<dataset_ptr> make_elements_of(std::vector<expr_ptr> datasets, structure layout = {});
/// The elements saved in `folder`, of one shard or (`shard` null) of all, one after another.
/// `blocks`: as its manifest says. Iterations read the folder as it is then, and fail if its
/// elements are not of `spec`.
result<dataset_ptr> make_load(std::string folder, element_spec spec, int64_t blocks,
                              int64_t cardinality, expr_ptr shard = nullptr);
/// One piece of a folder that workers write into together (pipeline/saving), as soon as it is
/// there: `deadline_exceeded` if it is not within `wait_ns` (at least 1) nanoseconds. `piece`: its
/// number, an int64 scalar.
result<dataset_ptr> make_load_piece(std::string folder, element_spec spec, expr_ptr piece,
                                    int64_t wait_ns);

// -- operators ----------------------------------------------------------------

/// `parallel`: calls at a time; 0: in the caller; -1: tuned while it runs. `deterministic`: true if
/// they keep the order; unset: the graph's options decide.
result<dataset_ptr> make_map(dataset_ptr input, function_ptr body, int64_t parallel = 0,
                             std::optional<bool> deterministic = {});
/// `body` gives one bool scalar; the others as for a map.
result<dataset_ptr> make_filter(dataset_ptr input, function_ptr body, int64_t parallel = 0,
                                std::optional<bool> deterministic = {});
/// `body` gives a dataset.
result<dataset_ptr> make_flat_map(dataset_ptr input, function_ptr body);
/// `body` gives a dataset; `cycle` of them are open at a time and give `length` rows in turn.
result<dataset_ptr> make_interleave(dataset_ptr input, function_ptr body, int64_t cycle,
                                    int64_t length = 1, int64_t parallel = 0,
                                    std::optional<bool> deterministic = {});
result<dataset_ptr> make_batch(dataset_ptr input, const number_argument& size,
                               bool drop_remainder = false);
result<dataset_ptr> make_shuffle(dataset_ptr input, const number_argument& buffer_size,
                                 std::optional<uint64_t> seed = {},
                                 bool reshuffle_each_iteration = true);
/// `count` -1: for ever; so is a computed one below 0.
result<dataset_ptr> make_repeat(dataset_ptr input, const number_argument& count = -1);
/// `count` -1: all; so is a computed one below 0.
result<dataset_ptr> make_take(dataset_ptr input, const number_argument& count);
/// `count` -1: all; so is a computed one below 0.
result<dataset_ptr> make_skip(dataset_ptr input, const number_argument& count);
/// `elements` -1: chosen when it runs.
result<dataset_ptr> make_prefetch(dataset_ptr input, int64_t elements = -1);
result<dataset_ptr> make_enumerate(dataset_ptr input, int64_t start = 0);
/// One input or more.
result<dataset_ptr> make_zip(std::vector<dataset_ptr> inputs);
/// Layouts and dtypes must agree; where shapes differ the result's is the widest needed.
result<dataset_ptr> make_concatenate(dataset_ptr first, dataset_ptr second);
/// Says how the graph runs; see `graph_options`.
result<dataset_ptr> make_options(dataset_ptr input, graph_options options);
/// All rows of `source` in one random order: another one in each iteration, if it reshuffles. The
/// source is one whose rows can be read in any order: a range, from_tensors, from_tensor_slices,
/// tfrecord or fixed_length (the last two without compression).
result<dataset_ptr> make_global_shuffle(dataset_ptr source, std::optional<uint64_t> seed = {},
                                        bool reshuffle_each_iteration = true);
/// `input` runs in a service, and its elements come back. With `service.dataset_id` there is no
/// input, and `spec` is that of the registered dataset.
result<dataset_ptr> make_distribute(dataset_ptr input, service_options service);
result<dataset_ptr> make_distribute(element_spec spec, int64_t cardinality,
                                    service_options service);
/// The elements up to the first one for which `body` gives false.
result<dataset_ptr> make_take_while(dataset_ptr input, function_ptr body);
/// The elements whose number is `index` modulo `shards`; `run` elements in a row count as one.
/// `shard_hint` as `shards` stands for each
/// worker's part under `sharding_policy::hint`, and cannot run under other policies.
result<dataset_ptr> make_shard(dataset_ptr input, int64_t shards, int64_t index, int64_t run = 1);
/// Each element once: the first of those that are equal, bit by bit. Holds all it gave.
result<dataset_ptr> make_unique_elements(dataset_ptr input);
/// Leaves out elements that failed, but for `cancelled` and `unavailable`, which are failures of
/// the run.
result<dataset_ptr> make_ignore_errors(dataset_ptr input);
/// Fails at the end, or at the first element too many, if there are not `count` elements; -1:
/// infinitely many.
result<dataset_ptr> make_assert_cardinality(dataset_ptr input, int64_t count);
/// Pauses for so long, up to a day, before each element: for trying out how slow pipelines behave.
result<dataset_ptr> make_sleep(dataset_ptr input, const number_argument& microseconds);
/// `body` takes (state, element) and gives (new state, output). An element that failed leaves the
/// state alone.
result<dataset_ptr> make_scan(dataset_ptr input, std::vector<expr_ptr> initial_state,
                              function_ptr body);
/// The rows of each element along axis 0, which must be equally many in all components.
result<dataset_ptr> make_unbatch(dataset_ptr input);
/// As `make_batch`, for elements of different shapes: each is padded at its ends to the padded
/// shape; an unknown extent is the largest of the batch. There is one shape and one value for each
/// component; by default the shapes of the input, and zeros or empty strings. `unknown_extent`, an
/// int64 scalar, replaces unknown extents of padded shapes.
result<dataset_ptr> make_padded_batch(dataset_ptr input, const number_argument& size,
                                      std::vector<shape> padded_shapes = {},
                                      std::vector<std::optional<column>> padding_values = {},
                                      bool drop_remainder = false,
                                      expr_ptr unknown_extent = nullptr);
/// As `make_batch`, for elements of different shapes: a component with unknown extents becomes a
/// ragged tensor (`structure::ragged`), of all its axes up to the last unknown one: `ragged_axes`.
size_t ragged_axes(const shape& dims) noexcept;
result<dataset_ptr> make_ragged_batch(dataset_ptr input, const number_argument& size,
                                      bool drop_remainder = false);
/// Datasets of `size` elements, `stride` apart, which begin every `shift` elements. The last ones
/// are smaller, or left out. Each component becomes a dataset of its own. They live inside the
/// graph: a function's `make_elements_of` reads them.
result<dataset_ptr> make_window(dataset_ptr input, int64_t size, int64_t shift, int64_t stride = 1,
                                bool drop_remainder = false);
/// The argument of the function `reduce` of `make_group_by_window`: (key, datasets of `element`'s
/// components).
element_spec grouped_spec(const element_spec& element);
/// Gathers elements of one key (an int64 scalar that `key` gives) until there are `size`, gives
/// what the dataset of `reduce(key, elements)` gives, and begins anew. At the end come the smaller
/// groups, in the order of their keys. Holds the elements of all groups that are open.
result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         int64_t size);
/// As above with a size for each key: an int64 scalar that `size`, a function of the key, gives.
result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         function_ptr size);
/// The groups of a dataset of (key, element), or of (key, size, element) if `size` is 0; see
/// `dataset_op::group_by_window`.
result<dataset_ptr> make_groups(dataset_ptr input, int64_t size, bool drop_remainder = false);

struct bucket_format {
  /// Lengths that divide the buckets, ascending: bucket i has those from boundary i - 1 on, and
  /// below boundary i.
  std::vector<int64_t> boundaries;
  std::vector<int64_t> batch_sizes; ///< one a bucket: one more than boundaries
  std::vector<shape> padded_shapes; ///< as for `make_padded_batch`
  std::vector<std::optional<column>> padding_values;
  /// Pads to the longest length of the bucket, not of the batch; an element too long for the last
  /// boundary is an error.
  bool pad_to_boundary = false;
  bool no_padding = false; ///< the elements of a batch are of one shape without
  bool drop_remainder = false;
};
/// Batches of elements of about one length: an integer scalar that `length` gives.
result<dataset_ptr> make_bucket_by_sequence_length(dataset_ptr input, function_ptr length,
                                                   bucket_format format);
/// Resamples a dataset by leaving out elements, so that the classes occur in the proportions of
/// `target`. The class of an element is an integer scalar in [0, n) that `class_of` returns. The
/// elements of the new dataset are pairs (class, element). `initial` holds the proportions in the
/// input; if it is empty, they are estimated from the elements so far. With a seed, each run has
/// the same elements.
result<dataset_ptr> make_rejection_resample(dataset_ptr input, function_ptr class_of,
                                            std::vector<double> target,
                                            std::vector<double> initial = {},
                                            std::optional<uint64_t> seed = {});
/// The only element; an error if there is none, or more than one.
result<dataset_ptr> make_single_element(dataset_ptr input);
/// The last element, or these tensors if there is none; the first one that failed, if one did.
result<dataset_ptr> make_last_element(dataset_ptr input, std::vector<expr_ptr> otherwise);
/// One element: the state after all elements, where `body(state, element)` gives the next state.
result<dataset_ptr> make_reduce(dataset_ptr input, std::vector<expr_ptr> initial_state,
                                function_ptr body);
/// The elements of the inputs, drawn at random by weights (empty: all alike) until all ended; or
/// until one that is drawn ended.
result<dataset_ptr> make_sample_from(std::vector<dataset_ptr> inputs,
                                     std::vector<double> weights = {},
                                     std::optional<uint64_t> seed = {}, bool stop_on_empty = false,
                                     bool rerandomize_each_iteration = false);
/// The elements of the inputs, in the order of `choices`, int64 scalars, until those or all inputs
/// ended; or until one that is chosen ended, if it should stop then.
result<dataset_ptr> make_choose_from(dataset_ptr choices, std::vector<dataset_ptr> inputs,
                                     bool stop_on_empty = true);
/// Keeps the elements for later iterations, once a whole pass over them had no error: in memory,
/// where more than `most_bytes` (0: any) are an error, or saved in `folder`. In a function it
/// passes elements on.
result<dataset_ptr> make_cache(dataset_ptr input, std::string folder = {}, int64_t most_bytes = 0);
/// As a cache in `folder`, in a folder of its own for each different input. `shard` gives the
/// number of the file to write an element to, an int64 scalar; null: one file. `reader` gives the
/// elements once the snapshot is whole, as of `make_saved_shards`; null: one file after another.
result<dataset_ptr> make_snapshot(dataset_ptr input, std::string folder,
                                  saved_compression compression = saved_compression::snappy,
                                  function_ptr shard = nullptr, dataset_ptr reader = nullptr);
/// The numbers of the shards in a folder of saved elements, from 0, when it is read.
result<dataset_ptr> make_saved_shards(std::string folder);

/// The same elements, of which it is measured, under the name `tag`, how long each took, or with
/// `bytes` how large it is: see explain/statistics.hpp.
result<dataset_ptr> make_stats(dataset_ptr input, std::string tag, bool bytes);
/// One element, the number of records (int64): all string scalars of `input` are written into one
/// TFRecord file, which has its name once it is whole, and the place of an earlier one. `path`: a
/// string scalar. A failed record fails the element, and leaves no file.
result<dataset_ptr> make_write_tfrecord(dataset_ptr input, expr_ptr path,
                                        file_compression how = file_compression::none);
/// `invalid_argument` if the graph writes files that are not its own, for a service: its workers
/// would write over each other's.
status check_writes_nothing(const dataset_ptr& graph);

/// `invalid_argument` if the elements hold datasets, which cannot leave a graph.
status check_gives_tensors(const dataset_node& graph);

} // namespace headrace
