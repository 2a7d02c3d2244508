#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/engine/openings.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/kept/unopened_caches.hpp"

#include <deque>

namespace headrace::detail {

namespace {

/// True for a source of known length whose rows are in memory, or are computed from their numbers.
bool has_rows_at_once(const dataset_node& node) {
  if (node.cardinality < 0)
    return false;
  return node.op == dataset_op::range || node.op == dataset_op::from_tensors
         || node.op == dataset_op::from_tensor_slices;
}

class repeat_iterator final : public operator_iterator {
public:
  repeat_iterator(engine& shared, dataset_ptr node, place at, int64_t count)
    : operator_iterator(shared, *node),
      count_(count),
      self_(std::move(node)),
      at_(std::move(at)),
      caches_(shared, node_, at_),
      openings_(shared, *node_.inputs[0]),
      at_once_(has_rows_at_once(*node_.inputs[0]) && !shared.shares_splits(at_)) {}

protected:
  // The rows of several passes over a few rows in memory are joined to one block: a block for each
  // pass would cost more than its rows.
  std::optional<block> produce(const limits& wanted) override {
    auto first = next_block(wanted);
    if (!first || !at_once_ || static_cast<size_t>(node_.inputs[0]->cardinality) > wanted.rows / 2)
      return first;
    std::deque<block> pieces;
    std::vector<row_run> runs;
    size_t rows = 0, bytes = 0;
    for (auto more = std::move(first); more;) {
      runs.push_back({static_cast<uint32_t>(runs.size()), 0, static_cast<uint32_t>(more->rows)});
      rows += more->rows;
      bytes += more->bytes();
      const bool failed = !more->errors.empty();
      pieces.push_back(*std::move(more));
      if (failed || rows >= wanted.rows || bytes >= wanted.bytes)
        break;
      more = next_block({wanted.rows - rows, wanted.bytes - bytes});
    }
    std::vector<const block*> views;
    for (const auto& piece : pieces) views.push_back(&piece);
    return gather_rows(views, runs, kernel_calls_);
  }

  // Saves as numbers: the number of passes that were begun, and whether the last one has returned
  // no rows so far; as parts: the input of the last pass, if it is open, the caches that later
  // passes read, and the first positions of passes that were opened after the position
  // (`openings`).
  void save_to(position& to) const override {
    to.numbers = {static_cast<uint64_t>(passes_), empty_};
    to.parts = {input_ ? input_->save() : nullptr};
    if (passes_ != count_)
      caches_.save_to(to);
    openings_.save_to(to);
  }
  status restore_from(position_reader& from) override {
    passes_ =
      static_cast<int64_t>(from.number(static_cast<uint64_t>(count_ < 0 ? INT64_MAX : count_)));
    empty_ = from.flag();
    const auto at = from.part();
    if (passes_ != count_)
      caches_.restore(from);
    openings_.restore(from);
    if (!at || passes_ == 0)
      return {};
    --passes_; // the last pass is opened again
    HEADRACE_ASSIGN(input_, open());
    ++passes_;
    return input_->restore(*at);
  }

private:
  /// The next rows of the current pass, or of the next pass that has rows.
  std::optional<block> next_block(const limits& wanted) {
    while (true) {
      if (!input_) {
        if (count_ >= 0 && passes_ == count_)
          return std::nullopt;
        auto opened = open();
        if (!opened)
          return last_failure(opened.status());
        input_ = *std::move(opened);
        ++passes_;
        if (auto failed = openings_.add(input_.get()); !failed.ok())
          return last_failure(failed);
        empty_ = true;
        partial_ = partial_passes();
        shared_elements_ = engine_.shared_elements();
      }
      if (auto out = input_->next(wanted)) {
        empty_ = false;
        return out;
      }
      input_.reset();
      // If the last pass was empty and all further passes would be empty, too, the operator ends
      // here: if it went on, it could start empty passes without end.
      if (empty_ && (node_.inputs[0]->cardinality == 0 || (count_ < 0 && was_whole())))
        return std::nullopt;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
  }

  opened open() {
    auto inside = at_;
    if (passes_ != 0) // the first pass is the same as without a repeat
      inside.iteration = mix(at_.iteration, static_cast<uint64_t>(passes_));
    return engine_.make_input(self_, inside);
  }

  uint64_t partial_passes() {
    return engine_.shares_splits(at_)
             ? engine_.partial_passes(at_.first_source, engine_.sources_below(*node_.inputs[0]))
             : 0;
  }
  /// True if the last pass read all rows of the input: no other run read a part of them.
  bool was_whole() {
    if (partial_passes() != partial_)
      return false;
    const bool shared = engine_.shares_splits(at_);
    if (!reads_service(*node_.inputs[0], !shared))
      return true;
    // The pass read jobs that other runs may read, too: it was whole if these jobs gave no element
    // to any reader.
    return !shared && engine_.shared_elements() == shared_elements_;
  }

  const int64_t count_; ///< negative: without end
  dataset_ptr self_;
  place at_;
  const unopened_caches caches_;
  openings openings_;
  const bool at_once_; ///< the rows of each pass are available without waiting
  std::unique_ptr<iterator> input_;
  int64_t passes_ = 0;
  bool empty_ = true;
  uint64_t partial_ = 0;         ///< `partial_passes()` when the last pass was begun
  uint64_t shared_elements_ = 0; ///< `engine::shared_elements()` when the last pass was begun
};

opened open_repeat(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto count,
                  shared.number_of(node, at, node->as<repeat_parameters>().count));
  return std::unique_ptr<iterator>{std::make_unique<repeat_iterator>(shared, node, at, count)};
}

void encode_repeat(const dataset_node& node, node_writer& to) {
  auto out = to.over_input(to.out.initRepeat());
  out.setCount(node.as<repeat_parameters>().count.value_or(0));
  to.computed(out);
}

result<dataset_ptr> decode_repeat(node_reader& from) {
  const auto in = from.in.getRepeat();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto count, from.number(in.getCount(), in.getComputed()));
  return make_repeat(std::move(rows), count);
}

std::string shown_repeat(const dataset_node& node) {
  return shown_number(node.as<repeat_parameters>().count);
}

known_number passes_of_repeat(const dataset_node& node) {
  return node.as<repeat_parameters>().count;
}

dataset_ptr cardinality_of_repeat(const dataset_ptr& x) {
  const auto count = number_of(*x, x->as<repeat_parameters>().count);
  return cardinality_by_input(x, [&](const expr& n) {
    return where(n < 0 || count < 0,
                 where(n == 0 || count == 0, constant(int64_t{0}), constant(infinite_cardinality)),
                 n * count);
  });
}

} // namespace

constinit const operator_record repeat_record{
  .name = "repeat",
  .arm = schema::Dataset::REPEAT,
  .encode = encode_repeat,
  .decode = decode_repeat,
  .open = open_repeat,
  .rows = {.apart = true, .divides_as_input = true},
  .cardinality = cardinality_of_repeat,
  .passes = passes_of_repeat,
  .pieces = {piece_rule::apart},
  .shown = shown_repeat,
};

} // namespace headrace::detail
