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

/// What the iterators of one graph share. Not for users.
namespace headrace::detail {

/// The row of an enclosing function for which an inner dataset runs.
struct function_row {
  std::shared_ptr<const function_row> outer;
  /// The function's argument, one row each; `names.values` points there.
  std::vector<column> values;
  environment names;
  /// The arguments of the sources in the function's dataset, one row each.
  std::unordered_map<const dataset_node*, std::vector<column>> arguments;
};

/// Where in a graph an iterator stands.
struct place {
  /// Number of the first source at or below it, outside of functions.
  uint32_t first_source = 0;
  /// Tells places apart, the same in every process: what unset seeds derive from.
  uint64_t path = 0;
  /// Tells the passes of the repeats around it apart.
  uint64_t iteration = 0;
  std::shared_ptr<const function_row> row; ///< null outside of functions
  /// Each run reads all that is below, also where others are shared out: it decides, as the choices
  /// of choose_from_datasets do, and gives nothing itself. It has no numbered sources.
  bool whole = false;

  bool in_function() const noexcept { return row != nullptr; }
  const environment* names() const noexcept { return row ? &row->names : nullptr; }
};

/// The function of an operator, ready to run over blocks.
class compiled_function {
public:
  /// `stop` ends the function's loops.
  compiled_function(dataset_op of, const function& f, std::stop_token stop = {})
    : of_(of), program_(compile(f)), specs_(f.result().components), stop_(std::move(stop)) {}
  compiled_function(dataset_op of, named_function f, std::vector<tensor_spec> specs)
    : of_(of), named_(std::move(f)), specs_(std::move(specs)) {}

  /// As `program::run`; a failure of a named function as a whole, or one that throws, fails all
  /// rows. What fails here names the operator first.
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

/// Makes iterators and keeps what they share. Thread-safe; outlives them.
class engine : public std::enable_shared_from_this<engine> {
public:
  engine(const iterator_context& context, const graph_options& options,
         const clock& time = clock::system())
    : engine(context, options, {}, time) {}
  /// `plan`: of the graph, where its splits are shared.
  engine(const iterator_context& context, const graph_options& options, split_plan plan,
         const clock& time = clock::system())
    : context_(context),
      options_(options),
      plan_(std::move(plan)),
      tuner_(tuner_for(options)),
      budget_(std::make_shared<byte_budget>(bytes_of(options))),
      time_(time) {}

  const iterator_context& context() const noexcept { return context_; }
  /// Does this parallel operator keep the order of its input?
  bool ordered(const dataset_node& node) const noexcept {
    return node.calls.deterministic.value_or(options_.deterministic.value_or(true));
  }
  const graph_options& options() const noexcept { return options_; }
  /// From which what has no seed of its own draws.
  uint64_t seed() const noexcept { return options_.seed.value_or(context_.seed); }
  /// As many calls at a time as the node says, or as the graph's tuner chooses, who begins with
  /// `calls` if it can.
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

  /// The function of an operator, compiled once.
  result<std::shared_ptr<const compiled_function>> compiled(const dataset_node& node);
  /// The C++ function of that name; `not_found` otherwise.
  result<named_function> find_function(const function_reference& what) const;
  /// Expressions, compiled once: the arguments of source `node`, seen from `scope`.
  program arguments_of(const dataset_node& node, const function_scope* scope);
  /// The values of a source's arguments, one row each.
  result<std::vector<column>> arguments(const dataset_ptr& node, const place& at);
  /// The number that a parameter of the node stands for there.
  result<int64_t> number_of(const dataset_ptr& node, const place& at, known_number known);

  /// Are the splits of sources at this place shared with other runs?
  bool shares_splits(const place& at) const noexcept {
    return context_.splits != nullptr && !at.in_function() && !at.whole;
  }
  /// What the cache in memory `node` holds; null of one that keeps its elements in a folder.
  std::shared_ptr<memory_cache> memory_of(const dataset_node& node, const place& at) const;
  /// What the caches in memory hold that stand below input `index` of an operator at `at`, each
  /// once; none in functions, where nothing is kept.
  std::vector<std::shared_ptr<memory_cache>> caches_below(const dataset_node& node, const place& at,
                                                          size_t index);
  /// The pass that a cache gives from now on: the one that it gave where this run goes on, else the
  /// one that it holds. nullopt: the next one that is read.
  std::optional<kept_pass> pass_of(const memory_cache& cache);
  /// This run goes on where the cache gave that pass; nullopt: where it had none yet.
  void set_pass_of(const memory_cache& cache, std::optional<kept_pass> pass);

  /// How often this source was started before; counts this time.
  uint64_t start_pass(uint32_t source);
  /// The source is in this pass.
  void set_pass(uint32_t source, uint64_t pass);
  /// A source that was started for `pass` asks for splits now: in which pass it is. A later one
  /// where another source that advances with it has gone on to that.
  uint64_t begin_shared_pass(uint32_t source, uint64_t pass);
  /// The source goes on with a later pass at once, as all up to that one are over; and so do those
  /// that advance with it. False: how many passes it has is not known, so that it must count them.
  bool skip_to_pass(uint32_t source, uint64_t pass);
  /// The pass that was begun is over.
  void end_shared_pass(uint32_t source, bool alone);
  /// Passes over these sources that were begun here, and of which other runs may have had a part:
  /// what was found in them says nothing of the source.
  uint64_t partial_passes(uint32_t first_source, size_t sources);
  size_t sources_below(const dataset_node& node);
  /// A service has come to the end of what it gave to somebody, here or elsewhere.
  void note_shared_elements() noexcept { shared_elements_.fetch_add(1); }
  /// How often that was.
  uint64_t shared_elements() const noexcept { return shared_elements_.load(); }
  /// Asks the context's split provider. @pre there is one
  result<split_answer> next_splits(uint32_t source, uint64_t pass, uint64_t total,
                                   const std::shared_ptr<const split_listing>& listing);
  /// As `split_provider::close`. @pre there is a provider
  void close_splits(uint32_t source, uint64_t pass, split_range unread);
  /// The key of the random numbers of an operator.
  uint64_t random_key(const dataset_node& node, const place& at) const;

private:
  const std::vector<std::shared_ptr<memory_cache>>& caches_from(const dataset_node& node,
                                                                bool whole);

  /// The passes of a source whose splits are shared.
  struct shared_passes {
    uint64_t begun = 0;
    uint64_t whole = 0; ///< of them, those that were over and had been read here alone
    uint64_t from = 0;  ///< passes before are over for all
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
  /// A source may stand in functions one inside of the other.
  std::map<std::pair<const dataset_node*, const function_scope*>, program> arguments_;
  std::unordered_map<const dataset_node*, size_t> sources_;
  std::unordered_map<uint32_t, uint64_t> passes_;
  std::unordered_map<uint32_t, shared_passes> shared_;
  std::unordered_map<const dataset_node*, std::shared_ptr<call_log>> calls_;
  /// Of nodes, and whether they are read whole.
  std::map<std::pair<const dataset_node*, bool>, std::vector<std::shared_ptr<memory_cache>>>
    caches_;
  /// What caches gave where this run goes on; they may hold nothing in this process.
  std::unordered_map<const memory_cache*, kept_pass> passes_of_;
};

/// What every iterator does: counts, ends once and for all, and stops when asked to.
class operator_iterator : public iterator {
public:
  operator_iterator(engine& shared, const dataset_node& node);
  std::optional<block> next(const limits& wanted) final;
  position_ptr save() const final;
  status restore(const position& from) final;

protected:
  /// 1 to `wanted.rows` rows (at least 1 is wanted), or nullopt at the end.
  virtual std::optional<block> produce(const limits& wanted) = 0;
  /// Appends numbers and parts that say where it stands. Not called after the end.
  virtual void save_to(position& to) const = 0;
  /// Takes over what `save_to` of an equal operator wrote, reading the same numbers and parts. Must
  /// bear any others: whether all fitted is checked by the caller, but what is used as an index or
  /// a size must be bounded here.
  virtual status restore_from(position_reader& from) = 0;

  /// A row that failed, of this operator's spec.
  block failure(const status& why) const;
  /// The same, and there is nothing after it.
  block last_failure(const status& why) {
    ended_ = true;
    return failure(why);
  }
  void end() noexcept { ended_ = true; }

  /// Somebody looks at how full the queues are: of this operator, so full. No-op if nobody does.
  void sample_queue(size_t blocks) noexcept {
    if (!counters_)
      return;
    ++counters_->samples;
    counters_->queued += blocks;
  }
  op_counters* counters() const noexcept { return counters_; }

  engine& engine_;
  const dataset_node& node_;
  uint64_t kernel_calls_ = 0; ///< since the last block that was given

private:
  std::optional<block> counted(const limits& wanted);

  op_counters* counters_ = nullptr;
  bool ended_ = false;
};

} // namespace headrace::detail
