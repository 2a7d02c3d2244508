#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class ignore_errors_iterator final : public operator_iterator {
public:
  ignore_errors_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next(wanted)) {
      if (in->errors.empty())
        return in;
      std::vector<row_run> runs;
      uint32_t next = 0;
      uint64_t left_out = 0;
      for (const auto& failed : in->errors) {
        if (of_the_run(failed.why))
          continue;
        append_run(runs, {0, next, failed.row - next});
        next = failed.row + 1;
        ++left_out;
      }
      if (const auto& tell = engine_.context().ignored; tell && left_out != 0)
        tell(left_out);
      if (auto* counted = counters())
        counted->ignored += left_out;
      append_run(runs, {0, next, static_cast<uint32_t>(in->rows) - next});
      if (!runs.empty()) {
        const block* piece = &*in;
        return gather_rows({&piece, 1}, runs, kernel_calls_);
      }
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    return std::nullopt;
  }
  // The position of the input is saved as a part of this one. The operator holds no rows.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  // True for errors that end an iteration early. They are not ignored, because the iteration would
  // then seem complete.
  static bool of_the_run(const status& why) {
    return why.ends_run() || why.code() == status_code::cancelled
           || why.code() == status_code::unavailable;
  }

  std::unique_ptr<iterator> input_;
};

void encode_ignore_errors(const dataset_node&, node_writer& to) {
  to.over_input(to.out.initIgnoreErrors());
}

result<dataset_ptr> decode_ignore_errors(node_reader& from) {
  HEADRACE_ASSIGN(auto rows, from.input(from.in.getIgnoreErrors().getInput()));
  return make_ignore_errors(std::move(rows));
}

} // namespace

constinit const operator_record ignore_errors_record{
  .name = "ignore_errors",
  .arm = schema::Dataset::IGNORE_ERRORS,
  .encode = encode_ignore_errors,
  .decode = decode_ignore_errors,
  .open = open_over_input<ignore_errors_iterator>,
  .rows = {.apart = true},
  .pieces = {piece_rule::apart},
};

} // namespace headrace::detail
