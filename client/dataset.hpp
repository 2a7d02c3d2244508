#pragma once

#include "headrace/client/dataset_iterator.hpp"
#include "headrace/client/dataset_options.hpp"
#include "headrace/client/iteration_count.hpp"
#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

#include <concepts>
#include <string>
#include <vector>

namespace headrace {

/// A description of elements: a source, and operators on it. It is immutable and cheap to copy. The
/// operators run while it is iterated: in this process, or on workers if they are before
/// `distribute`. For a wrong argument, functions throw `error`, which names operator and argument.
class dataset {
public:
  /// Makes a dataset of a checked graph.
  explicit dataset(dataset_ptr node)
    : node_(std::move(node)), iterations_(std::make_shared<detail::iteration_count>()) {}

  // -- sources ----------------------------------------------------------------

  /// The int64 scalars 0, 1, ... `stop - 1`.
  static dataset range(int64_t stop);
  static dataset range(int64_t start, int64_t stop, int64_t step = 1);
  /// As above, with expressions, which may depend on parameters of a function that is being traced.
  static dataset range(const expr& stop);
  static dataset range(const expr& start, const expr& stop, const expr& step = expr{int64_t{1}});
  /// One element, made of this tensor or of these tensors.
  static dataset from_tensors(const expr_structure& tensors);
  /// The rows of these tensors along the first axis, whose extent must be the same in all of them.
  static dataset from_tensor_slices(const expr_structure& tensors);
  /// Lines of text files, without `\n` or `\r\n`. `files`: a string scalar or vector.
  static dataset text_lines(expr files, file_options options = {});
  static dataset text_lines(const std::vector<std::string>& files, file_options options = {});
  /// Records of TFRecord files; checksums are verified.
  static dataset tfrecord(expr files, file_options options = {});
  static dataset tfrecord(const std::vector<std::string>& files, file_options options = {});
  /// Names of the files that match any of these globs.
  static dataset list_files(const std::vector<std::string>& patterns,
                            list_files_options options = {});
  /// The fixed-length records, as strings, of files that may have a header and a footer.
  static dataset fixed_length(const std::vector<std::string>& files, record_layout layout,
                              file_options options = {});
  static dataset fixed_length(expr files, record_layout layout, file_options options = {});
  /// The rows of CSV files. `make_csv` documents which columns are read; `field` makes the
  /// description of a column.
  static dataset csv(const std::vector<std::string>& files, std::vector<field_format> columns,
                     csv_format format = {}, file_options options = {});
  static dataset csv(expr files, std::vector<field_format> columns, csv_format format = {},
                     file_options options = {});
  /// JSON objects, one on each line; `fields` are the keys that are read.
  static dataset json_lines(const std::vector<std::string>& files, std::vector<field_format> fields,
                            file_options options = {});
  static dataset json_lines(expr files, std::vector<field_format> fields,
                            file_options options = {});
  /// The rows of a query on a SQLite file.
  static dataset sqlite(const expr& file, const expr& query, std::vector<field_format> columns);
  /// The samples of tar files in WebDataset's layout. An element consists of the key of a sample
  /// and its members with these extensions.
  static dataset tar_samples(const std::vector<std::string>& files,
                             std::vector<std::string> extensions, tar_options options = {});
  static dataset tar_samples(expr files, std::vector<std::string> extensions,
                             tar_options options = {});
  /// The numbers `start`, `start + step` and so on, without end.
  static dataset counter(int64_t start = 0, int64_t step = 1);
  /// Random numbers in [0, 2^32) without end, which are the same everywhere for a given seed.
  static dataset random(random_options options = {});
  /// The rows that a C++ function returns for row numbers. `function`: the name under which it is
  /// registered; see `make_generator`.
  static dataset from_generator(std::string function, element_spec spec, int64_t count = -1);
  /// The elements of several datasets, combined as by `zip`. `datasets`: parameters of a function
  /// that is being traced; the value of each is a dataset, as in the functions of `window`.
  static dataset elements_of(const expr_structure& datasets);
  /// The elements that `save` wrote into a folder, shard after shard. This call reads the folder's
  /// manifest; the folder must have the same content where the elements are read.
  static dataset load(const std::string& folder);
  /// As above; with `options.wait`, workers may still be writing the folder (see `load_options`).
  static dataset load(const std::string& folder, const load_options& options);
  /// The elements of one piece of a folder into which a service writes. Reading them waits until
  /// the piece is complete.
  static dataset load_piece(const std::string& folder, const expr& piece,
                            const load_options& options);
  /// The elements of one shard of a saved dataset. `shard`: its number, from 0, which may be a
  /// parameter of a function that is being traced.
  static dataset load(const std::string& folder, const expr& shard);
  /// The number of shards of a saved dataset.
  static int64_t saved_shards(const std::string& folder);
  /// Tuples of one element of each input. The dataset ends with the shortest input.
  static dataset zip(const std::vector<dataset>& inputs);
  /// Elements of the inputs, drawn at random, until all have ended.
  static dataset sample_from_datasets(const std::vector<dataset>& inputs,
                                      sample_options options = {});
  /// As above, with weights that change: each element of `weights` is a vector for one draw, with
  /// one number for each input. The dataset also ends when `weights` ends.
  static dataset sample_from_datasets(const std::vector<dataset>& inputs, const dataset& weights,
                                      sample_options options = {});
  /// Elements of the inputs in the order of `choices`, whose elements are int64 indices of inputs.
  static dataset choose_from_datasets(const std::vector<dataset>& inputs, const dataset& choices,
                                      choose_options options = {});

  // -- operators ----------------------------------------------------------------

  /// The results of `f` for each element. See `trace` for the arguments and results of `f`.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, named_call>) dataset
    map(F&& f, parallel_calls parallel = {})
  const { return mapped(trace(spec(), std::forward<F>(f)), parallel); }
  dataset map(const named_call& f, parallel_calls parallel = {}) const;
  /// The elements for which `f` is true.
  template <class F>
  dataset filter(F&& f, parallel_calls parallel = {}) const {
    return filtered(trace(spec(), std::forward<F>(f)), parallel);
  }
  /// The elements of the datasets that `f` makes of the elements, one dataset after another.
  template <class F>
  dataset flat_map(F&& f) const {
    return flat_mapped(trace(spec(), std::forward<F>(f)));
  }
  /// As `flat_map`, but the elements come in turn from several of these datasets at a time.
  template <class F>
  dataset interleave(F&& f, interleave_options options = {}) const {
    return interleaved(trace(spec(), std::forward<F>(f)), options);
  }
  /// `size` elements stacked into one.
  dataset batch(int64_t size, batch_options options = {}) const;
  /// As above, with `size` as an expression: an integer scalar that may depend on the parameter of
  /// a function that makes the dataset, as in `flat_map([](expr n) { return
  /// dataset::range(9).batch(n); })`.
  dataset batch(const expr& size, batch_options options = {}) const;
  /// A random order: each element is drawn from a buffer of `buffer_size` elements. The order
  /// differs between iterations (those over a dataset and those over its copies are numbered
  /// together; see `shuffle_options`), and between the passes of a `repeat`.
  dataset shuffle(int64_t buffer_size, shuffle_options options = {}) const;
  dataset shuffle(const expr& buffer_size, shuffle_options options = {}) const;
  /// The elements, `count` times; -1: without end.
  dataset repeat(int64_t count = -1) const;
  dataset repeat(const expr& count) const; ///< below 0: without end
  /// The first `count` elements; -1: all.
  dataset take(int64_t count) const;
  dataset take(const expr& count) const; ///< below 0: all
  /// All elements except the first `count`; -1: skips all, so that the dataset is empty.
  dataset skip(int64_t count) const;
  dataset skip(const expr& count) const; ///< below 0: skips all
  /// Keeps up to `count` elements ready, which another thread makes; -1: headrace chooses the
  /// number.
  dataset prefetch(int64_t count = -1) const;
  /// Pairs (number, element), with numbers from `start` on.
  dataset enumerate(int64_t start = 0) const;
  dataset concatenate(const dataset& after) const;
  /// The elements before the first one for which `f` is false.
  template <class F>
  dataset take_while(F&& f) const {
    return taken_while(trace(spec(), std::forward<F>(f)));
  }
  /// `f(state, element)` returns (new state, output), a std::pair; the elements are the outputs.
  /// The state always has the shape and dtype of `initial_state`. A failed element, or one for
  /// which `f` fails, leaves the state unchanged.
  template <class F>
  dataset scan(const expr_structure& initial_state, F&& f) const {
    return scanned(initial_state,
                   trace(element_spec::tuple({initial_state.spec(), spec()}), std::forward<F>(f)));
  }
  /// The elements whose number is `index` modulo `shards`. If `shards` is `shard_hint`: each
  /// worker's own part, under `sharding_policy::hint`.
  dataset shard(int64_t shards, int64_t index) const;
  /// Each distinct element once. The operator keeps all of them in memory.
  dataset unique() const;
  /// Leaves out failed elements. `dataset_iterator::ignored` returns the number of those that were
  /// left out; if workers run this operator, the number is in `task_status::ignored`.
  dataset ignore_errors() const;
  /// Fails if the number of elements is not exactly `count`, or, for `infinite_cardinality`, if the
  /// dataset ends.
  dataset assert_cardinality(int64_t count) const;
  /// Pauses before each element, in the process that runs the pipeline, to simulate a slow
  /// pipeline.
  dataset sleep(std::chrono::microseconds pause) const;
  dataset sleep(const expr& microseconds) const;
  /// The rows of each element along the first axis.
  dataset unbatch() const;
  /// `size` elements stacked into one, each padded at its ends to one shape.
  dataset padded_batch(int64_t size, padded_batch_options options = {}) const;
  dataset padded_batch(const expr& size, padded_batch_options options = {}) const;
  /// `size` elements combined into one, in which each component of unknown extents is a `ragged`
  /// tensor: values and row lengths. See `ragged_view` for how to read it.
  dataset ragged_batch(int64_t size, batch_options options = {}) const;
  dataset ragged_batch(const expr& size, batch_options options = {}) const;
  /// Datasets of up to `size` elements. Functions, such as that of `flat_map` (`[](const dataset&
  /// w) { return w.batch(3); }`), read these datasets by parameters of type `dataset`. A structure
  /// of components becomes a structure of datasets.
  dataset window(int64_t size, window_options options = {}) const;
  /// Collects the elements for which `key` returns the same number. When there are `size` of them,
  /// they are passed as a dataset to `reduce(key, elements)`, such as `[](expr key, const dataset&
  /// xs) { return xs.batch(8); }`; the elements of its result are given, and a new group begins.
  /// Incomplete groups follow at the end, in the order of their keys.
  template <class Key, class Reduce>
  dataset group_by_window(Key&& key, Reduce&& reduce, int64_t size) const {
    return grouped(trace(spec(), std::forward<Key>(key)),
                   trace(groups(), std::forward<Reduce>(reduce)), size);
  }
  /// As above, with sizes that `size`, a function of the key, returns.
  template <class Key, class Reduce, std::invocable<expr> Size>
  dataset group_by_window(Key&& key, Reduce&& reduce, Size&& size) const {
    return grouped(trace(spec(), std::forward<Key>(key)),
                   trace(groups(), std::forward<Reduce>(reduce)),
                   trace(tensor_spec{dtype::int64, {}}, std::forward<Size>(size)));
  }
  /// Batches of elements of similar length. `length` returns the length of an element.
  template <class Length>
  dataset bucket_by_sequence_length(Length&& length, bucket_options options) const {
    return bucketed(trace(spec(), std::forward<Length>(length)), std::move(options));
  }
  /// Pairs (class, element) for some of the elements, so that the classes (numbers from 0 on, which
  /// `class_of` returns) have the proportions in `target_dist`.
  template <class ClassOf>
  dataset rejection_resample(ClassOf&& class_of, std::vector<double> target_dist,
                             resample_options options = {}) const {
    return resampled(trace(spec(), std::forward<ClassOf>(class_of)), std::move(target_dist),
                     std::move(options));
  }
  /// A dataset with the same elements. The first iteration that reads all elements without an error
  /// keeps them, and later iterations of this dataset return the kept elements. They are kept in
  /// memory, for this process, or in a folder.
  dataset cache(cache_options options = {}) const;
  /// As `cache` with a folder inside `folder`. The name of the inner folder depends on the
  /// pipeline, so that each pipeline has a folder of its own.
  dataset snapshot(const std::string& folder,
                   save_options options = {saved_compression::snappy}) const;
  /// As above; `shard` returns the number of the file for an element.
  template <class F>
  dataset snapshot(const std::string& folder, F&& shard,
                   save_options options = {saved_compression::snappy}) const {
    return snapshot_in(folder, trace(spec(), std::forward<F>(shard)), options);
  }
  /// All elements in one random order, with little memory. The dataset must be a `range`,
  /// `from_tensors`, `from_tensor_slices`, or an uncompressed `fixed_length` or `tfrecord` (whose
  /// records are found by an index, which is built once and kept beside the file). The order is the
  /// same for any number of workers.
  dataset global_shuffle(shuffle_options options = {}) const;
  /// Sets options for the graph of this dataset; see `graph_options`. They are part of the dataset.
  dataset with_options(graph_options options) const;
  /// Returns `transform(*this)`, so that transformations can be chained.
  template <std::invocable<const dataset&> F>
  auto apply(F&& transform) const {
    return std::forward<F>(transform)(*this);
  }

  // -- use ------------------------------------------------------------------------

  const element_spec& spec() const noexcept { return node_->spec; }
  /// The number of elements, `infinite_cardinality` or `unknown_cardinality`.
  int64_t cardinality() const noexcept { return node_->cardinality; }
  /// Starts an iteration. Throws `error` if it cannot be started.
  dataset_iterator iterate(iterate_options options = {}) const {
    return {node_, next_iteration(std::move(options))};
  }
  /// Continues from the record of an iterator of an equal dataset (see `dataset_iterator::save`),
  /// in this process or another: gives the remaining elements, in the same order. `options.seed` is
  /// ignored, because the record has the seed. Throws `error` if the record is damaged or belongs
  /// to another dataset, or if data that it needs is missing. The iteration keeps its number, and
  /// later ones have higher numbers.
  dataset_iterator restore(const buffer& record, iterate_options options = {}) const {
    dataset_iterator out{node_, record, std::move(options)};
    go_past(out);
    return out;
  }
  /// A dataset of one element: the state after the last element, where `f(state, element)` returns
  /// the next state. In a function: `[](const dataset& w) { return w.fold(int64_t{0}, add); }`.
  template <class F>
  dataset fold(const expr_structure& initial_state, F&& f) const {
    return folded(initial_state,
                  trace(element_spec::tuple({initial_state.spec(), spec()}), std::forward<F>(f)));
  }
  /// The element of `fold`. Reads the dataset at once; throws `error` for a failed element.
  template <class F>
  element reduce(const expr_structure& initial_state, F&& f) const {
    return counted_together(fold(initial_state, std::forward<F>(f)).node()).get_single_element();
  }
  /// Writes all elements into a folder, for `load`. Earlier content of the folder is replaced when
  /// all elements are written. Reads the dataset at once; throws `error` for a failed element, or
  /// if the elements cannot be written.
  void save(const std::string& folder, save_options options = {}) const;
  /// As above, into several files: `shard` returns the number of the file for an element.
  template <class F>
  void save(const std::string& folder, F&& shard, save_options options = {}) const {
    save_in(folder, trace(spec(), std::forward<F>(shard)), options);
  }
  /// A dataset with the same elements. In iterations with `iterate_options::counters`, the time for
  /// each element (`latency_stats`) or its size (`bytes_produced_stats`) is measured under the name
  /// `tag`; see statistics.hpp.
  dataset latency_stats(std::string tag) const;
  dataset bytes_produced_stats(std::string tag) const;
  /// A dataset of one element: when that element is read, the elements of this dataset, which must
  /// be string scalars, are written into a TFRecord file, and the element is the number of records.
  /// It is for use in functions, where `path` may depend on a parameter; `write_tfrecord` writes a
  /// file at once.
  dataset written_to_tfrecord(const expr& path, file_options options = {}) const;
  /// The only element. Throws `error` if it failed, if there is none, or if there are more.
  element get_single_element() const;
  /// Starts an iteration, for range-for. The iteration throws `error` at the first failed element.
  element_cursor begin() const;
  std::default_sentinel_t end() const noexcept { return {}; }

  const dataset_ptr& node() const noexcept { return node_; }
  /// The given options. An unset `seed` is set to the dataset's own, and an unset `repetition` to
  /// the next number, which is used up. For callers that make the iterator themselves.
  iterate_options next_iteration(iterate_options options = {}) const {
    if (!options.seed)
      options.seed = iterations_->seed();
    if (!options.repetition)
      options.repetition = iterations_->next();
    return options;
  }
  /// Ensures that later iterations get higher numbers than the iteration `one`.
  void go_past(const dataset_iterator& one) const { iterations_->go_past(one.repetition()); }
  /// A dataset with the graph `node`, which has operators added to this dataset. An iteration over
  /// either dataset also counts as an iteration over the other, and gets the next number.
  dataset counted_together(dataset_ptr node) const { return {std::move(node), iterations_}; }

private:
  dataset(dataset_ptr node, std::shared_ptr<detail::iteration_count> iterations)
    : node_(std::move(node)), iterations_(std::move(iterations)) {}
  dataset mapped(detail::function f, parallel_calls parallel) const;
  dataset filtered(detail::function f, parallel_calls parallel) const;
  dataset flat_mapped(detail::function f) const;
  dataset interleaved(detail::function f, interleave_options options) const;
  dataset taken_while(detail::function f) const;
  dataset scanned(const expr_structure& initial_state, detail::function f) const;
  element_spec groups() const;
  dataset grouped(detail::function key, detail::function reduce, int64_t size) const;
  dataset grouped(detail::function key, detail::function reduce, detail::function size) const;
  dataset bucketed(detail::function length, bucket_options options) const;
  dataset resampled(detail::function class_of, std::vector<double> target_dist,
                    resample_options options) const;
  dataset folded(const expr_structure& initial_state, detail::function f) const;
  dataset snapshot_in(const std::string& folder, detail::function shard,
                      const save_options& options) const;
  void save_in(const std::string& folder, detail::function shard,
               const save_options& options) const;

  dataset_ptr node_;
  std::shared_ptr<detail::iteration_count> iterations_; ///< shared with copies
};

} // namespace headrace
