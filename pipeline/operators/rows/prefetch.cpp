#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/read_ahead.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class prefetch_iterator final : public operator_iterator {
public:
  prefetch_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      ahead_(std::move(input), bounds(node.as<prefetch_parameters>().elements, shared, counters()),
             shared.context().stop) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (counters())
      sample_queue(ahead_.blocks());
    auto out = ahead_.next(wanted);
    if (!out && engine_.stopped())
      return last_failure(cancelled("the iteration was stopped"));
    return out;
  }
  // Saves the point of the input from which to continue (`resume_point`).
  void save_to(position& to) const override { put(to, ahead_.point()); }
  status restore_from(position_reader& from) override { return ahead_.restore(from); }

private:
  // If the user has set no number of elements, a prefetch holds at most 16 MiB. If the user has set
  // one, the bytes of these elements are limited only by the graph's budget.
  static read_ahead::options bounds(int64_t elements, const engine& shared, op_counters* counts) {
    read_ahead::options out;
    out.budget = shared.budget();
    out.counters = counts;
    if (elements < 0) {
      if (shared.options().autotune.value_or(true))
        out.first_bytes = size_t{1} << 20;
      return out;
    }
    out.rows = static_cast<size_t>(elements);
    out.bytes = out.budget->most();
    return out;
  }

  read_ahead ahead_;
};

opened open_prefetch(engine& shared, const dataset_ptr& node, const place& at) {
  if (node->as<prefetch_parameters>().elements == 0)
    return shared.make_input(node, at);
  return open_over_input<prefetch_iterator>(shared, node, at);
}

void encode_prefetch(const dataset_node& node, node_writer& to) {
  to.over_input(to.out.initPrefetch()).setElements(node.as<prefetch_parameters>().elements);
}

result<dataset_ptr> decode_prefetch(node_reader& from) {
  const auto in = from.in.getPrefetch();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_prefetch(std::move(rows), in.getElements());
}

std::string shown_prefetch(const dataset_node& node) {
  return std::to_string(node.as<prefetch_parameters>().elements);
}

} // namespace

constinit const operator_record prefetch_record{
  .name = "prefetch",
  .arm = schema::Dataset::PREFETCH,
  .encode = encode_prefetch,
  .decode = decode_prefetch,
  .open = open_prefetch,
  .rows = {.one_to_one = true, .apart = true, .divides_as_input = true, .untouched = true},
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::aligned},
  .shown = shown_prefetch,
};

} // namespace headrace::detail
