#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace headrace::detail {

namespace {

using std::chrono::microseconds;

class sleep_iterator final : public operator_iterator {
public:
  sleep_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      pause_(node.as<sleep_parameters>().microseconds) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = input_->next({std::min(wanted.rows, rows_at_once()), wanted.bytes});
    if (out && !pause(pause_ * static_cast<int64_t>(out->rows)))
      return last_failure(cancelled("the iteration was stopped"));
    return out;
  }
  // Parts: the input. Nothing is held.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  /// How many elements have one common pause: so few that the difference cannot be noticed.
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

void encode_sleep(const dataset_node& node, node_writer& to) {
  to.over_input(to.out.initSleep()).setMicroseconds(node.as<sleep_parameters>().microseconds);
}

result<dataset_ptr> decode_sleep(node_reader& from) {
  const auto in = from.in.getSleep();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_sleep(std::move(rows), in.getMicroseconds());
}

} // namespace

constinit const operator_record sleep_record{
  .name = "sleep",
  .arm = schema::Dataset::SLEEP,
  .encode = encode_sleep,
  .decode = decode_sleep,
  .open = open_over_input<sleep_iterator>,
  .rows = row_for_row,
  .pieces = {piece_rule::aligned},
};

} // namespace headrace::detail
