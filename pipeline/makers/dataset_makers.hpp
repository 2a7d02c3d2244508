#pragma once

#include "headrace/pipeline/makers/number_argument.hpp"

#include <span>
#include <string_view>

/// Checked makers of all operators, and of some datasets that consist of several operators: the
/// only way to make a `dataset_node`, except for changed copies (graph/rewrite.hpp). Each maker
/// infers spec and cardinality. Errors are `invalid_argument`, with the operator, the argument and
/// a valid value, or `failed_precondition` if the input of `make_assert_cardinality` is known to
/// have another cardinality than expected.
namespace headrace::detail {

/// Constant expressions: an int64 scalar, and a vector of strings.
expr_ptr scalar_constant(int64_t x);
expr_ptr string_constant(std::span<const std::string> xs);

// -- sources: arguments may also be expressions of an enclosing function's parameters -------------

/// The int64 numbers from `start` in steps of `step`, before `stop`. A constant step of zero is
/// refused; a step that is computed as zero results in an error row when the graph runs.
result<dataset_ptr> make_range(expr_ptr start, expr_ptr stop, expr_ptr step);
result<dataset_ptr> make_range(int64_t start, int64_t stop, int64_t step = 1);
/// One element: these tensors, with the structure `layout`.
result<dataset_ptr> make_from_tensors(std::vector<expr_ptr> tensors, structure layout = {});
/// The rows of these tensors along axis 0, side by side. The tensors must have a rank of 1 or more,
/// and the same extent of axis 0.
result<dataset_ptr> make_from_tensor_slices(std::vector<expr_ptr> tensors, structure layout = {});
/// The lines of these files (a string scalar or vector), without their ends (`\n`) and without any
/// carriage returns.
result<dataset_ptr> make_text_lines(expr_ptr files,
                                    file_compression compression = file_compression::none);
/// The records of these TFRecord files.
result<dataset_ptr> make_tfrecord(expr_ptr files,
                                  file_compression compression = file_compression::none);
/// The names of the files that match these globs, sorted, or shuffled by `seed` (unset: derived
/// from the seed of the run).
result<dataset_ptr> make_list_files(expr_ptr patterns, bool shuffle = false,
                                    std::optional<uint64_t> seed = {});
/// The fixed-length records of these files, as strings. A file whose size does not fit the layout
/// is an error. If the files are not compressed, a split is a record, not a file.
result<dataset_ptr> make_fixed_length(expr_ptr files, record_layout layout,
                                      file_compression compression = file_compression::none);
/// The rows of the tables in these files. The components are scalars, with names if all `columns`
/// have names, else in a tuple. `columns[i]` is the table's column `format.select[i]`. Without a
/// selection it is the table's column with the same name, if there is a header and all `columns`
/// have names; otherwise it is the table's column i, and the table must have as many columns as
/// `columns`. A row that cannot be converted becomes an error row.
result<dataset_ptr> make_csv(expr_ptr files, std::vector<field_format> columns,
                             csv_format format = {},
                             file_compression compression = file_compression::none);
/// The JSON objects in these files, one on each line. `fields` are the keys of the object that are
/// read; other keys are ignored. Arrays, of any depth, become tensors. A line that cannot be
/// converted becomes an error row.
result<dataset_ptr> make_json_lines(expr_ptr files, std::vector<field_format> fields,
                                    file_compression compression = file_compression::none);
/// The rows of the result of `query`. `driver`: "sqlite", with a file name as `data_source`; the
/// file is not changed. The components are scalars, with names if all `columns` have names, else in
/// a tuple.
result<dataset_ptr> make_sql(std::string driver, expr_ptr data_source, expr_ptr query,
                             std::vector<field_format> columns);
/// The samples of tar files in WebDataset's layout: consecutive members whose names are equal up to
/// the first dot after the last slash are one sample; the text after that dot is the extension. The
/// components are strings: `__key__`, then the member for each of the `extensions`. An extension
/// may consist of several alternatives: "jpg;jpeg". A sample that lacks the member for an extension
/// becomes an error row, or is left out if `skip_incomplete` is set. Compression is detected.
result<dataset_ptr> make_tar_samples(expr_ptr files, std::vector<std::string> extensions,
                                     bool skip_incomplete = false);
/// The int64 numbers from `start` in steps of `step`, without end; sums wrap around.
result<dataset_ptr> make_counter(int64_t start = 0, int64_t step = 1);
/// Random int64 numbers in [0, 2^32), without end.
result<dataset_ptr> make_random(std::optional<uint64_t> seed = {},
                                bool reseed_each_iteration = false);
/// The rows that the function makes of row numbers, which begin with 0: it gets an int64 column of
/// ascending numbers, and makes one row for each number; fewer rows end the dataset. A call may
/// begin with any number, and numbers may be requested again.
/// `count`: the number of rows; -1: the rows end when the function makes fewer than requested.
/// Without `deterministic`, another run of the function may make other rows, so one run makes all
/// rows of a pass, which are one split then.
result<dataset_ptr> make_generator(function_reference function, element_spec spec,
                                   int64_t count = -1, bool deterministic = true);
/// The elements of these datasets, which are parameters of a function (of spec `dataset(...)`),
/// side by side, with the structure `layout`. The shortest dataset determines the number of
/// elements.
result<dataset_ptr> make_elements_of(std::vector<expr_ptr> datasets, structure layout = {});
/// The elements that are saved in `folder`: the elements of one shard or, if `shard` is null, of
/// all shards, one after another. `blocks`, `cardinality`: the numbers in the folder's manifest;
/// with a shard they may be unknown (-1, `unknown_cardinality`). An iteration reads the present
/// content of the folder, and fails if the content has another spec or other numbers.
result<dataset_ptr> make_load(std::string folder, element_spec spec, int64_t blocks,
                              int64_t cardinality, expr_ptr shard = nullptr);
/// One piece of a folder into which workers write together (pipeline/saving). The source waits for
/// the piece: `deadline_exceeded` if it is not complete within `wait_ns` (at least 1) nanoseconds.
/// `piece`: its number, an int64 scalar.
result<dataset_ptr> make_load_piece(std::string folder, element_spec spec, expr_ptr piece,
                                    int64_t wait_ns);

// -- operators ----------------------------------------------------------------

/// `parallel`: the number of concurrent calls; 0: the function runs on the thread that pulls the
/// iterator, or, if `may_spread` and rows are costly, on all cores; -1: the number is tuned while
/// the graph runs. `deterministic`: true if the calls keep the order; unset: the graph's options
/// decide.
result<dataset_ptr> make_map(dataset_ptr input, function_ptr body, int64_t parallel = 0,
                             std::optional<bool> deterministic = {});
/// The result of `body` is one bool scalar; the other parameters are those of a map.
result<dataset_ptr> make_filter(dataset_ptr input, function_ptr body, int64_t parallel = 0,
                                std::optional<bool> deterministic = {});
/// The result of `body` is a dataset.
result<dataset_ptr> make_flat_map(dataset_ptr input, function_ptr body);
/// The result of `body` is a dataset; `cycle` of these are open at a time and give `length` rows in
/// turn.
result<dataset_ptr> make_interleave(dataset_ptr input, function_ptr body, int64_t cycle,
                                    int64_t length = 1, int64_t parallel = 0,
                                    std::optional<bool> deterministic = {});
result<dataset_ptr> make_batch(dataset_ptr input, const number_argument& size,
                               bool drop_remainder = false);
result<dataset_ptr> make_shuffle(dataset_ptr input, const number_argument& buffer_size,
                                 std::optional<uint64_t> seed = {},
                                 bool reshuffle_each_iteration = true);
/// A count below 0, also if it is computed: without end.
result<dataset_ptr> make_repeat(dataset_ptr input, const number_argument& count = -1);
/// A count below 0, also if it is computed: all elements.
result<dataset_ptr> make_take(dataset_ptr input, const number_argument& count);
/// A count below 0, also if it is computed: all elements are skipped.
result<dataset_ptr> make_skip(dataset_ptr input, const number_argument& count);
/// `elements`: the most elements that are held; 0: the operator has no effect; -1: the bound is
/// chosen while the graph runs.
result<dataset_ptr> make_prefetch(dataset_ptr input, int64_t elements = -1);
result<dataset_ptr> make_enumerate(dataset_ptr input, int64_t start = 0);
/// There must be at least one input.
result<dataset_ptr> make_zip(std::vector<dataset_ptr> inputs);
/// Structures and dtypes must be equal; if shapes differ, the result has the most precise shape
/// that accepts both.
result<dataset_ptr> make_concatenate(dataset_ptr first, dataset_ptr second);
/// Sets options of the graph; see `graph_options`.
result<dataset_ptr> make_options(dataset_ptr input, graph_options options);
/// All rows of `source` in one random order. With `reshuffle_each_iteration`, iterations have
/// different orders, and so have passes. The source must be one whose rows can be read in any
/// order: a range, from_tensors, from_tensor_slices, tfrecord or fixed_length (the last two without
/// compression).
result<dataset_ptr> make_global_shuffle(dataset_ptr source, std::optional<uint64_t> seed = {},
                                        bool reshuffle_each_iteration = true);
/// `input` runs in a service, which returns its elements. With `service.dataset_id` there is no
/// input, and `spec` is the spec of the registered dataset.
result<dataset_ptr> make_distribute(dataset_ptr input, service_options service);
result<dataset_ptr> make_distribute(element_spec spec, int64_t cardinality,
                                    service_options service);
/// The elements before the first one for which `body` returns false.
result<dataset_ptr> make_take_while(dataset_ptr input, function_ptr body);
/// The elements whose number is `index` modulo `shards`, where `run` consecutive elements count as
/// one. If `shards` is `shard_hint`, each worker gives its part under `sharding_policy::hint`, and
/// the graph cannot run under other policies.
result<dataset_ptr> make_shard(dataset_ptr input, int64_t shards, int64_t index, int64_t run = 1);
/// The elements that are not equal, bit by bit, to an earlier element. The operator keeps all
/// elements that it has returned in memory.
result<dataset_ptr> make_unique_elements(dataset_ptr input);
/// Leaves out error rows. Errors of the run are not left out: `cancelled`, `unavailable`, and
/// errors with `status::ends_run`.
result<dataset_ptr> make_ignore_errors(dataset_ptr input);
/// Fails at the end, or at the first surplus element, if the number of elements is not `count`. If
/// `count` is -1, the input must have no end: the dataset fails if it ends.
result<dataset_ptr> make_assert_cardinality(dataset_ptr input, int64_t count);
/// Pauses for this time, up to a day, before each element: for experiments with slow pipelines.
result<dataset_ptr> make_sleep(dataset_ptr input, const number_argument& microseconds);
/// `body` maps (state, element) to (new state, output). An error row leaves the state
/// unchanged.
result<dataset_ptr> make_scan(dataset_ptr input, std::vector<expr_ptr> initial_state,
                              function_ptr body);
/// The rows of each element along axis 0, whose extent must be equal in all components.
result<dataset_ptr> make_unbatch(dataset_ptr input);
/// As `make_batch`, for elements of different shapes: each is padded at the end of each axis to the
/// padded shape, in which the largest extent of the batch replaces an unknown one. There is one
/// shape and one value for each component; by default the input's shapes, and zeros or empty
/// strings. `unknown_extent`, an int64 scalar, replaces all unknown extents of padded shapes.
result<dataset_ptr> make_padded_batch(dataset_ptr input, const number_argument& size,
                                      std::vector<shape> padded_shapes = {},
                                      std::vector<std::optional<column>> padding_values = {},
                                      bool drop_remainder = false,
                                      expr_ptr unknown_extent = nullptr);
/// The number of axes that become ragged axes in a ragged batch: all up to the last unknown extent.
size_t ragged_axes(const shape& dims) noexcept;
/// As `make_batch`, for elements of different shapes: a component with unknown extents becomes a
/// ragged tensor (`structure::ragged`) with `ragged_axes` ragged axes.
result<dataset_ptr> make_ragged_batch(dataset_ptr input, const number_argument& size,
                                      bool drop_remainder = false);
/// Windows of the input: each has `size` elements, which are `stride` apart, and a window begins
/// every `shift` elements. The last windows have fewer elements, or are left out with
/// `drop_remainder`. Each component of a window is a dataset of its own. These datasets exist only
/// inside the graph: `make_elements_of` in a function reads them.
result<dataset_ptr> make_window(dataset_ptr input, int64_t size, int64_t shift, int64_t stride = 1,
                                bool drop_remainder = false);
/// The spec of the argument of `reduce` in `make_group_by_window`: (key, a dataset for each
/// component of `element`).
element_spec grouped_spec(const element_spec& element);
/// Collects elements with the same key (an int64 scalar that `key` returns) until there are `size`,
/// returns the elements of the dataset `reduce(key, elements)`, and begins a new group. At the end
/// the incomplete groups follow, in the order of their keys. Keeps the elements of all open groups.
result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         int64_t size);
/// As above with a size for each key: an int64 scalar that `size`, a function of the key, returns.
result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         function_ptr size);
/// Collects the elements of a dataset of (key, element) in groups of `size` elements with the same
/// key; if `size` is 0, the input is a dataset of (key, size of the group, element). The result has
/// one element (key, dataset of the group's elements) for each group.
result<dataset_ptr> make_groups(dataset_ptr input, int64_t size, bool drop_remainder = false);

struct bucket_format {
  /// The lengths that separate the buckets, ascending: bucket i contains the lengths from boundary
  /// i - 1 on, and below boundary i.
  std::vector<int64_t> boundaries;
  std::vector<int64_t> batch_sizes; ///< one for each bucket: one more than boundaries
  std::vector<shape> padded_shapes; ///< as for `make_padded_batch`
  std::vector<std::optional<column>> padding_values;
  /// Pads to the longest length of the bucket, not of the batch; an element that is too long for
  /// the last boundary is an error.
  bool pad_to_boundary = false;
  bool no_padding = false; ///< the elements of a batch have equal shapes, so they are not padded
  bool drop_remainder = false;
};
/// Batches of elements of similar length. `length` returns the length of an element, an integer
/// scalar.
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
/// The only element; an error if there is no element, or more than one.
result<dataset_ptr> make_single_element(dataset_ptr input);
/// One element: the last element of the input, or `otherwise` if the input has no elements. If
/// there are error rows, the element is an error row with the error of the first.
result<dataset_ptr> make_last_element(dataset_ptr input, std::vector<expr_ptr> otherwise);
/// One element: the state after all elements, where `body(state, element)` returns the next state.
result<dataset_ptr> make_reduce(dataset_ptr input, std::vector<expr_ptr> initial_state,
                                function_ptr body);
/// The elements of the inputs, drawn at random by weights (empty: equal ones) until all inputs have
/// ended; `stop_on_empty`: until an input that is drawn has ended.
result<dataset_ptr> make_sample_from(std::vector<dataset_ptr> inputs,
                                     std::vector<double> weights = {},
                                     std::optional<uint64_t> seed = {}, bool stop_on_empty = false,
                                     bool rerandomize_each_iteration = false);
/// The elements of the inputs, in the order of `choices`, int64 scalars, until the choices or all
/// inputs have ended, or, with `stop_on_empty`, an input that is chosen has ended.
result<dataset_ptr> make_choose_from(dataset_ptr choices, std::vector<dataset_ptr> inputs,
                                     bool stop_on_empty = true);
/// Keeps the elements of a complete pass without errors for later passes and iterations: in
/// `folder` or, if it is empty, in memory. More than `most_bytes` bytes (0: unlimited) in memory
/// are an error. A cache inside a function keeps nothing, and only passes elements on.
result<dataset_ptr> make_cache(dataset_ptr input, std::string folder = {}, int64_t most_bytes = 0);
/// As a cache in `folder`, with a subfolder for each different input. `shard` returns the number of
/// the file into which an element is written, an int64 scalar; null: there is one file. When the
/// snapshot is complete, its elements are those of `reader`, a dataset that reads the files (see
/// `make_saved_shards`); null: the files are read one after another.
result<dataset_ptr> make_snapshot(dataset_ptr input, std::string folder,
                                  saved_compression compression = saved_compression::snappy,
                                  function_ptr shard = nullptr, dataset_ptr reader = nullptr);
/// The numbers, from 0, of the shards that a folder of saved elements has when the source is
/// opened.
result<dataset_ptr> make_saved_shards(std::string folder);

/// The elements of the input, which are measured under the name `tag`: the time for each element,
/// or with `bytes` its size. See explain/statistics.hpp.
result<dataset_ptr> make_stats(dataset_ptr input, std::string tag, bool bytes);
/// One element, the number of records (int64): all string scalars of `input` are written into one
/// TFRecord file. When it is complete, the file gets its name, and replaces an earlier file.
/// `path`: a string scalar. If a record is an error row, so is the element, and no file is left.
result<dataset_ptr> make_write_tfrecord(dataset_ptr input, expr_ptr path,
                                        file_compression how = file_compression::none);
/// `invalid_argument` if the graph writes TFRecord files. The check is for graphs that run in a
/// service, where workers would overwrite each other's files.
status check_writes_nothing(const dataset_ptr& graph);

/// `invalid_argument` if the elements contain datasets, which cannot leave a graph.
status check_gives_tensors(const dataset_node& graph);

} // namespace headrace::detail
