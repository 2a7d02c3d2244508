#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/batches/packed_column.hpp"
#include "headrace/pipeline/operators/rows/function_iterator.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// An error row leaves the state unchanged, and so does a row for which the function fails.
class scan_iterator final : public function_iterator {
public:
  scan_iterator(engine& shared, const dataset_node& node, const place& at,
                std::shared_ptr<const compiled_function> body, std::vector<column> state,
                std::unique_ptr<iterator> input)
    : function_iterator(shared, node, at, std::move(body), std::move(input)),
      state_(std::move(state)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto in = input_->next(wanted);
    if (!in)
      return in;
    std::vector<block> pieces;
    for (size_t i = 0; i < in->rows; ++i) pieces.push_back(step(in->slice(i, 1)));
    std::vector<const block*> views;
    std::vector<row_run> runs;
    for (const auto& piece : pieces) {
      runs.push_back({static_cast<uint32_t>(views.size()), 0, 1});
      views.push_back(&piece);
    }
    return gather_rows(views, runs, kernel_calls_);
  }
  // Saves as numbers: the state; as parts: the input.
  void save_to(position& to) const override {
    for (const auto& c : state_) put(to, c);
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    for (size_t i = 0; i < state_.size(); ++i) {
      auto c = read_column(from, node_.body->argument.components[i]);
      if (!c) {
        from.refuse();
        return {};
      }
      state_[i] = *std::move(c);
    }
    return from.restore(*input_);
  }

private:
  block step(block element) {
    auto failed = [&](const status& why) {
      auto out = failure(why);
      out.origins = element.origins;
      return out;
    };
    if (!element.errors.empty())
      return failed(element.errors[0].why);
    block both;
    both.rows = 1;
    both.columns = state_;
    both.columns.insert(both.columns.end(), element.columns.begin(), element.columns.end());
    both.origins = element.origins;
    auto out = call(both);
    if (!out.errors.empty())
      return failed(out.errors[0].why);
    for (size_t i = 0; i < state_.size(); ++i)
      if (const auto& announced = node_.body->argument.components[i].dims;
          !announced.accepts(out.columns[i].shape_of(0)))
        return failed(invalid_argument(
          fmt::format("scan: component {} of the new state is of shape {}; it must be of {}", i,
                      to_string(out.columns[i].shape_of(0)), to_string(announced))));
    const auto states = static_cast<std::ptrdiff_t>(state_.size());
    state_.assign(out.columns.begin(), out.columns.begin() + states);
    out.columns.erase(out.columns.begin(), out.columns.begin() + states);
    return out;
  }

  std::vector<column> state_; ///< one column for each component of the state, with one row
};

opened open_scan(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto state, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto with, open_function(shared, node, at));
  return std::unique_ptr<iterator>{std::make_unique<scan_iterator>(
    shared, *node, at, std::move(with.body), std::move(state), std::move(with.input))};
}

void encode_scan(const dataset_node&, node_writer& to) {
  auto out = to.with_body(to.out.initScan());
  to.tensors(out.initInitialState(to.tensors()));
}

result<dataset_ptr> decode_scan(node_reader& from) {
  const auto in = from.in.getScan();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  HEADRACE_ASSIGN(auto state, from.tensors(in.getInitialState()));
  return make_scan(std::move(rows), std::move(state), std::move(f));
}

} // namespace

constinit const operator_record scan_record{
  .name = "scan",
  .arm = schema::Dataset::SCAN,
  .encode = encode_scan,
  .decode = decode_scan,
  .open = open_scan,
  .cardinality = cardinality_of_input,
};

} // namespace headrace::detail
