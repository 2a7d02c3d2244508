#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/memory/numbers.hpp"
#include "headrace/pipeline/sources/memory/source_rows.hpp"
#include "headrace/pipeline/sources/random_access.hpp"

namespace headrace::detail {

namespace {

/// The numbers of a range, each computed from its index.
class numbers final : public random_access {
public:
  numbers(int64_t start, int64_t step, uint64_t rows)
    : start_(static_cast<uint64_t>(start)), step_(static_cast<uint64_t>(step)), rows_(rows) {}
  uint64_t rows() const noexcept override { return rows_; }
  block read(std::span<const uint64_t> which, size_t, uint64_t& kernel_calls) override {
    mutable_buffer values{which.size() * sizeof(uint64_t)};
    auto to = values.as<uint64_t>();
    for (size_t i = 0; i < which.size(); ++i) to[i] = start_ + which[i] * step_;
    ++kernel_calls;
    block out;
    out.rows = which.size();
    out.columns.push_back(column::dense(dtype::int64, {}, out.rows, std::move(values).freeze()));
    return out;
  }

private:
  uint64_t start_, step_; ///< unsigned: sums wrap
  uint64_t rows_;
};

opened open_range(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  const auto number = [&](size_t i) { return values[i].values<int64_t>()[0]; };
  if (number(2) == 0)
    return invalid_argument("range: step is 0; it must be another number");
  // Unsigned: sums wrap.
  const auto start = static_cast<uint64_t>(number(0)), step = static_cast<uint64_t>(number(2));
  return open_numbers(
    shared, *node, at, numbers_in(number(0), number(1), number(2)),
    [start, step](uint64_t row) { return static_cast<int64_t>(start + row * step); });
}

result<std::unique_ptr<random_access>> open_any_number(engine& shared, const dataset_ptr& node,
                                                       const place& at) {
  HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
  const auto number = [&](size_t i) { return values[i].values<int64_t>()[0]; };
  if (number(2) == 0)
    return invalid_argument("range: step is 0; it must be another number");
  return std::unique_ptr<random_access>{
    std::make_unique<numbers>(number(0), number(2), numbers_in(number(0), number(1), number(2)))};
}

void encode_range(const dataset_node&, node_writer& to) {
  auto out = to.out.initRange();
  out.setStart(to.tensor(0));
  out.setStop(to.tensor(1));
  out.setStep(to.tensor(2));
}

result<dataset_ptr> decode_range(node_reader& from) {
  const auto in = from.in.getRange();
  HEADRACE_ASSIGN(auto start, from.tensor(in.getStart()));
  HEADRACE_ASSIGN(auto stop, from.tensor(in.getStop()));
  HEADRACE_ASSIGN(auto step, from.tensor(in.getStep()));
  return make_range(std::move(start), std::move(stop), std::move(step));
}

dataset_ptr cardinality_of_range(const dataset_ptr& x) {
  const expr start{x->tensors[0]}, stop{x->tensors[1]}, step{x->tensors[2]};
  return one_number(maximum(-floor_div(start - stop, step), 0));
}

} // namespace

constinit const operator_record range_record{
  .name = "range",
  .arm = schema::Dataset::RANGE,
  .encode = encode_range,
  .decode = decode_range,
  .open = open_range,
  .rows = source_rows,
  .cardinality = cardinality_of_range,
  .source = {.splits_are_rows = always,
             .splits = splits_of_rows,
             .open_any_order = open_any_number},
};

} // namespace headrace::detail
