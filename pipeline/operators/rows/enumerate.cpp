#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Error rows are numbered, too.
class enumerate_iterator final : public operator_iterator {
public:
  enumerate_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      next_(static_cast<uint64_t>(node.as<enumerate_parameters>().start)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = input_->next(wanted);
    if (!out)
      return out;
    mutable_buffer numbers{out->rows * sizeof(uint64_t)};
    auto to = numbers.as<uint64_t>();
    for (size_t i = 0; i < out->rows; ++i) to[i] = next_ + i;
    next_ += out->rows;
    ++kernel_calls_;
    out->columns.insert(out->columns.begin(),
                        column::dense(dtype::int64, {}, out->rows, std::move(numbers).freeze()));
    return out;
  }
  // Saves as numbers: the number of the next row; as parts: the input.
  void save_to(position& to) const override {
    to.numbers = {next_};
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    next_ = from.number();
    return from.restore(*input_);
  }

private:
  std::unique_ptr<iterator> input_;
  uint64_t next_;
};

void encode_enumerate(const dataset_node& node, node_writer& to) {
  to.over_input(to.out.initEnumerate()).setStart(node.as<enumerate_parameters>().start);
}

result<dataset_ptr> decode_enumerate(node_reader& from) {
  const auto in = from.in.getEnumerate();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_enumerate(std::move(rows), in.getStart());
}

} // namespace

constinit const operator_record enumerate_record{
  .name = "enumerate",
  .arm = schema::Dataset::ENUMERATE,
  .encode = encode_enumerate,
  .decode = decode_enumerate,
  .open = open_over_input<enumerate_iterator>,
  .rows = row_for_row,
  .cardinality = cardinality_of_input,
};

} // namespace headrace::detail
