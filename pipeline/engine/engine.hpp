#pragma once

#include "headrace/pipeline/engine/byte_budget.hpp"
#include "headrace/pipeline/engine/call_gate.hpp"
#include "headrace/pipeline/functions/representation/program.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <stop_token>
#include <unordered_map>

/// The data that the iterators of one graph share. Not for users.
namespace headrace::detail {

/// The input row from which a function made the dataset that is being read. `outer`: the row from
/// which the enclosing function made its dataset; null: there is no enclosing function.
struct function_row {
  std::shared_ptr<const function_row> outer;
  /// The function's argument: a column of one row for each component. `names.values` refers to
  /// these.
  std::vector<column> values;
  environment names;
  /// The computed arguments of each source in the function's dataset: a column of one row for each.
  std::unordered_map<const dataset_node*, std::vector<column>> arguments;
};

/// The place of an iterator in a graph.
struct place {
  /// The number of the first source at or below the iterator. Sources in functions have no numbers.
  uint32_t first_source = 0;
  /// Identifies the place. Unset seeds are derived from it, so it is the same in every process.
  uint64_t path = 0;
  /// Identifies the present pass of each `repeat` above the iterator.
  uint64_t iteration = 0;
  std::shared_ptr<const function_row> row; ///< null outside of functions
  /// True: each run reads all rows below this place, even if the splits of other sources are shared
  /// with other runs. This holds for rows that only select other rows (the choices of
  /// choose_from_datasets), and for rows that were kept before (the rows of a snapshot). The
  /// sources below such a place have no numbers.
  bool whole = false;

  bool in_function() const noexcept { return row != nullptr; }
  const environment* names() const noexcept { return row ? &row->names : nullptr; }
};

/// The compiled function of an operator, for blocks of rows.
class compiled_function {
public:
  /// `stop` ends the loops of the function.
  compiled_function(dataset_op of, const function& f, std::stop_token stop = {})
    : of_(of), program_(compile(f)), specs_(f.result().components), stop_(std::move(stop)) {}
  compiled_function(dataset_op of, named_function f, std::vector<tensor_spec> specs)
    : of_(of), named_(std::move(f)), specs_(std::move(specs)) {}

  /// As `program::run`. If a named function fails as a whole, or throws, all rows fail. Errors
  /// begin with the name of the operator.
  block run(const block& in, const environment* outer, uint64_t& kernel_calls) const;

private:
  block run_unnamed(const block& in, const environment* outer, uint64_t& kernel_calls) const;
  block run_named(const block& in) const;

  dataset_op of_;

  program program_;
  named_function named_;
  std::vector<tensor_spec> specs_;
  std::stop_token stop_;
};

/// Makes iterators, and owns the data that they share. Thread-safe; outlives the iterators.
class engine : public std::enable_shared_from_this<engine> {
public:
  engine(const iterator_context& context, const graph_options& options,
         const clock& time = clock::system())
    : engine(context, options, {}, time) {}
  /// `plan`: the plan of the graph's splits, if these are shared with other runs.
  engine(const iterator_context& context, const graph_options& options, split_plan plan,
         const clock& time = clock::system())
    : context_(context),
      options_(options),
      plan_(std::move(plan)),
      tuner_(tuner_for(options)),
      budget_(std::make_shared<byte_budget>(bytes_of(options))),
      time_(time) {}

  const iterator_context& context() const noexcept { return context_; }
  /// True if this parallel operator keeps the order of its input.
  bool ordered(const dataset_node& node) const noexcept {
    return node.calls.deterministic.value_or(options_.deterministic.value_or(true));
  }
  /// True if the order of the rows of this part of the graph depends on time.
  bool reorders(const dataset_node& part);
  const graph_options& options() const noexcept { return options_; }
  /// The seed from which nodes without a seed of their own derive theirs.
  uint64_t seed() const noexcept { return options_.seed.value_or(context_.seed); }
  /// The gate for the number of concurrent calls that the node sets, or that the graph's tuner
  /// chooses; the tuner begins with `calls` if its budget admits that.
  std::shared_ptr<call_gate> gate_of(const dataset_node& node, size_t calls = 1) {
    auto log = calls_of(node);
    return node.calls.count > 0
             ? std::make_shared<call_gate>(static_cast<size_t>(node.calls.count), std::move(log))
             : std::make_shared<call_gate>(tuner_, std::move(log), calls);
  }
  /// The log that the call gates of a node write.
  std::shared_ptr<call_log> calls_of(const dataset_node& node) {
    std::lock_guard lock{mutex_};
    auto& known = calls_[&node];
    if (!known) {
      known = std::make_shared<call_log>();
      if (auto* counts = context_.counters ? context_.counters(node) : nullptr)
        known->now = &counts->calls;
    }
    return known;
  }
  /// The memory limit for all operators of this graph that read ahead.
  const std::shared_ptr<byte_budget>& budget() const noexcept { return budget_; }
  /// The clock by which the numbers of concurrent calls are chosen.
  const clock& time() const noexcept { return time_; }
  bool stopped() const noexcept { return context_.stop.stop_requested(); }

  result<std::unique_ptr<iterator>> make(const dataset_ptr& node, const place& at);
  /// The iterator of input `index` of an operator at `at`.
  result<std::unique_ptr<iterator>> make_input(const dataset_ptr& node, const place& at,
                                               size_t index = 0);

  /// The function of an operator. It is compiled once.
  result<std::shared_ptr<const compiled_function>> compiled(const dataset_node& node);
  /// The function to which `what` refers; `not_found` if this process does not have it.
  result<named_function> find_function(const function_reference& what) const;
  /// The compiled expressions of the arguments of source `node`, in the function `scope`. They are
  /// compiled once.
  program arguments_of(const dataset_node& node, const function_scope* scope);
  /// The values of the node's `tensors` at that place, one row each.
  result<std::vector<column>> arguments(const dataset_ptr& node, const place& at);
  /// The value of a numeric parameter of the node at that place.
  result<int64_t> number_of(const dataset_ptr& node, const place& at, known_number known);

  /// True if the splits of sources at this place are shared with other runs.
  bool shares_splits(const place& at) const noexcept {
    return context_.splits != nullptr && !at.in_function() && !at.whole;
  }
  /// The memory of the cache `node`; null for other nodes, and for a cache that keeps its elements
  /// in a folder.
  std::shared_ptr<memory_cache> memory_of(const dataset_node& node, const place& at) const;
  /// The memories of the caches below input `index` of an operator at `at`, each once; none inside
  /// functions, where nothing is kept.
  std::vector<std::shared_ptr<memory_cache>> caches_below(const dataset_node& node, const place& at,
                                                          size_t index);
  /// The pass that a cache returns from now on: the pass that it returned before the restored
  /// position, or else the pass that it keeps. nullopt: there is neither, so the cache keeps and
  /// returns the pass that is read next.
  std::optional<kept_pass> pass_of(const memory_cache& cache);
  /// Sets the pass that the cache returned before the restored position; nullopt: it had returned
  /// none.
  void set_pass_of(const memory_cache& cache, std::optional<kept_pass> pass);

  /// Returns the number of earlier passes of this source, and counts the pass that begins.
  uint64_t start_pass(uint32_t source);
  /// Sets the present pass of the source.
  void set_pass(uint32_t source, uint64_t pass);
  /// To be called when a source that was started for `pass` is about to request splits. Returns the
  /// pass whose splits the source must request: `pass`, or a later pass to which a source of its
  /// group has skipped.
  uint64_t begin_shared_pass(uint32_t source, uint64_t pass);
  /// Makes the source, and the other sources of its group, continue with the later pass `pass`,
  /// without the passes between. To be called when all passes before `pass` are over. Passes are
  /// skipped only if the plan contains the number of the source's passes; otherwise this function
  /// changes nothing, and returns false.
  bool skip_to_pass(uint32_t source, uint64_t pass);
  /// Records that the present pass of the source is over. `alone`: no other run had splits of it.
  void end_shared_pass(uint32_t source, bool alone);
  /// The number of passes over these sources that began in this run and of which other runs may
  /// have had a part. If such a pass gave no rows to this run, its source need not be empty.
  uint64_t partial_passes(uint32_t first_source, size_t sources);
  size_t sources_below(const dataset_node& node);
  /// Records that this run has read a repetition of a service to its end, and that the repetition
  /// gave elements to readers, perhaps only to those of other runs.
  void note_shared_elements() noexcept { shared_elements_.fetch_add(1); }
  /// The number of calls of `note_shared_elements`.
  uint64_t shared_elements() const noexcept { return shared_elements_.load(); }
  /// Requests splits from the context's split provider. @pre there is one
  result<split_answer> next_splits(uint32_t source, uint64_t pass, uint64_t total,
                                   const std::shared_ptr<const split_listing>& listing);
  /// As `split_provider::close`. @pre there is a provider
  void close_splits(uint32_t source, uint64_t pass, split_range unread);
  /// The key for the random numbers of a node: from its own seed, or else from `seed()` and the
  /// place.
  uint64_t random_key(const dataset_node& node, const place& at) const;

private:
  const std::vector<std::shared_ptr<memory_cache>>& caches_from(const dataset_node& node,
                                                                bool whole);

  /// The passes of a source whose splits are shared.
  struct shared_passes {
    uint64_t begun = 0;
    uint64_t whole = 0; ///< passes that are over, and of which no other run had splits
    uint64_t from = 0;  ///< passes before this one are over for all runs
  };

  std::atomic<uint64_t> shared_elements_{0};
  const iterator_context& context_;
  const graph_options options_;
  const split_plan plan_;
  const std::shared_ptr<call_tuner> tuner_;
  const std::shared_ptr<byte_budget> budget_;
  const clock& time_;
  std::mutex mutex_;
  std::unordered_map<const dataset_node*, std::shared_ptr<const compiled_function>> functions_;
  /// The key contains the scope: a source that nested functions share is compiled for each of them.
  std::map<std::pair<const dataset_node*, const function_scope*>, program> arguments_;
  std::unordered_map<const dataset_node*, size_t> sources_;
  std::unordered_map<const dataset_node*, bool> reorders_;
  std::unordered_map<uint32_t, uint64_t> passes_;
  std::unordered_map<uint32_t, shared_passes> shared_;
  std::unordered_map<const dataset_node*, std::shared_ptr<call_log>> calls_;
  /// The memories of the caches at and below a node. The key is the node, and whether each run
  /// reads all of its rows (`place::whole`).
  std::map<std::pair<const dataset_node*, bool>, std::vector<std::shared_ptr<memory_cache>>>
    caches_;
  /// The passes that caches returned before the restored position. The caches of this process need
  /// not contain these passes.
  std::unordered_map<const memory_cache*, kept_pass> passes_of_;
};

/// The base of the iterators of all operators. It measures the operator, returns no more rows after
/// the end, and fails as cancelled when a stop was requested.
class operator_iterator : public iterator {
public:
  operator_iterator(engine& shared, const dataset_node& node);
  std::optional<block> next(const limits& wanted) final;
  position_ptr save() const final;
  status restore(const position& from) final;

protected:
  /// Returns 1 to `wanted.rows` rows (`wanted.rows` is at least 1), or nullopt at the end.
  virtual std::optional<block> produce(const limits& wanted) = 0;
  /// Appends the numbers and parts of the operator's position. Not called after the end.
  virtual void save_to(position& to) const = 0;
  /// Restores the state that `save_to` of an equal operator wrote, and reads the same numbers and
  /// parts. It must accept any values: the caller checks whether all of them were valid, but values
  /// that are used as indices or sizes must be bounded here.
  virtual status restore_from(position_reader& from) = 0;

  /// An error row with this operator's spec.
  block failure(const status& why) const;
  /// As `failure`; no rows follow it.
  block last_failure(const status& why) {
    ended_ = true;
    return failure(why);
  }
  void end() noexcept { ended_ = true; }

  /// Records for the counters, if there are any, how many blocks the queues of this operator have.
  void sample_queue(size_t blocks) noexcept {
    if (!counters_)
      return;
    ++counters_->samples;
    counters_->queued += blocks;
  }
  op_counters* counters() const noexcept { return counters_; }

  engine& engine_;
  const dataset_node& node_;
  uint64_t kernel_calls_ = 0; ///< the number of kernel calls since the last block that was returned

private:
  std::optional<block> counted(const limits& wanted);

  op_counters* counters_ = nullptr;
  bool ended_ = false;
};

} // namespace headrace::detail
