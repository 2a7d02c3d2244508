#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class single_element_iterator final : public operator_iterator {
public:
  single_element_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits&) override {
    end();
    auto only = input_->next({.rows = 1});
    if (!only)
      return failure(invalid_argument("get_single_element: the dataset has no element"));
    if (input_->next({.rows = 1}))
      return failure(invalid_argument("get_single_element: the dataset has more than one element"));
    return only;
  }
  // No row of the input was read so far: the first `produce` ends the operator, and the position of
  // an operator that has ended is not saved by this function.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  std::unique_ptr<iterator> input_;
};

class last_element_iterator final : public operator_iterator {
public:
  last_element_iterator(engine& shared, const dataset_node& node, std::vector<column> otherwise,
                        std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {
    last_.rows = 1;
    last_.columns = std::move(otherwise);
  }

protected:
  std::optional<block> produce(const limits&) override {
    constexpr size_t most = 1024;
    size_t rows = 1;
    while (auto more = input_->next({.rows = rows})) {
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      const auto which = more->errors.empty() ? more->rows - 1 : more->errors[0].row;
      last_ = more->slice(which, 1);
      if (!last_.errors.empty())
        break;
      rows = std::min(rows * 2, most);
    }
    end();
    return std::move(last_);
  }
  // No row of the input was read so far: the first `produce` ends the operator, and the position of
  // an operator that has ended is not saved by this function.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  std::unique_ptr<iterator> input_;
  block last_;
};

opened open_last_element(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto otherwise, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<last_element_iterator>(shared, *node, std::move(otherwise), std::move(input))};
}

void encode_single_element(const dataset_node&, node_writer& to) {
  to.over_input(to.out.initSingleElement());
}

result<dataset_ptr> decode_single_element(node_reader& from) {
  HEADRACE_ASSIGN(auto rows, from.input(from.in.getSingleElement().getInput()));
  return make_single_element(std::move(rows));
}

void encode_last_element(const dataset_node&, node_writer& to) {
  auto out = to.over_input(to.out.initLastElement());
  to.tensors(out.initTensors(to.tensors()));
}

result<dataset_ptr> decode_last_element(node_reader& from) {
  const auto in = from.in.getLastElement();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto otherwise, from.tensors(in.getTensors()));
  return make_last_element(std::move(rows), std::move(otherwise));
}

} // namespace

constinit const operator_record single_element_record{
  .name = "get_single_element",
  .arm = schema::Dataset::SINGLE_ELEMENT,
  .encode = encode_single_element,
  .decode = decode_single_element,
  .open = open_over_input<single_element_iterator>,
};

constinit const operator_record last_element_record{
  .name = "reduce",
  .arm = schema::Dataset::LAST_ELEMENT,
  .encode = encode_last_element,
  .decode = decode_last_element,
  .open = open_last_element,
};

} // namespace headrace::detail
