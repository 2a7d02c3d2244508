#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace headrace::detail {

namespace {

using std::chrono::microseconds;

class sleep_iterator final : public operator_iterator {
public:
  sleep_iterator(engine& shared, const dataset_node& node, microseconds pause,
                 std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)), pause_(pause) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = input_->next({std::min(wanted.rows, rows_at_once()), wanted.bytes});
    if (out && !pause(pause_ * static_cast<int64_t>(out->rows)))
      return last_failure(cancelled("the iteration was stopped"));
    return out;
  }
  // The position of the input is saved as a part of this one. The operator holds no rows.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  /// The number of elements that have one common pause instead of a pause each: as many (at
  /// least one) as pause for one millisecond together, which is not noticeable.
  size_t rows_at_once() const {
    constexpr microseconds unnoticed{1000};
    return pause_.count() == 0
             ? SIZE_MAX
             : std::max<size_t>(1, static_cast<size_t>(unnoticed.count() / pause_.count()));
  }

  /// False: the iteration was stopped.
  bool pause(microseconds how_long) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock{mutex};
    const auto stop = engine_.context().stop;
    never.wait_for(lock, stop, how_long, [] { return false; });
    return !stop.stop_requested();
  }

  std::unique_ptr<iterator> input_;
  const microseconds pause_;
};

opened open_sleep(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto pause,
                  shared.number_of(node, at, node->as<sleep_parameters>().microseconds));
  HEADRACE_TRY(check_pause(pause));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<sleep_iterator>(shared, *node, microseconds{pause}, std::move(input))};
}

void encode_sleep(const dataset_node& node, node_writer& to) {
  auto out = to.over_input(to.out.initSleep());
  out.setMicroseconds(node.as<sleep_parameters>().microseconds.value_or(0));
  to.computed(out);
}

result<dataset_ptr> decode_sleep(node_reader& from) {
  const auto in = from.in.getSleep();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto pause, from.number(in.getMicroseconds(), in.getComputed()));
  return make_sleep(std::move(rows), pause);
}

} // namespace

constinit const operator_record sleep_record{
  .name = "sleep",
  .arm = schema::Dataset::SLEEP,
  .encode = encode_sleep,
  .decode = decode_sleep,
  .open = open_sleep,
  .rows = row_for_row,
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::aligned},
};

} // namespace headrace::detail
