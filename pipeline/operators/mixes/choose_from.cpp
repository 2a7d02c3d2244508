#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/mixes/merged_inputs.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The rows of the first input are choices: each is the number of the other input from which the
/// next row is taken. A choice that is an error row, or that is not the number of an input, becomes
/// an error row.
class choose_from_iterator final : public operator_iterator {
public:
  choose_from_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> choices,
                       std::vector<std::unique_ptr<iterator>> inputs)
    : operator_iterator(shared, node), choices_(std::move(choices)), inputs_(std::move(inputs)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (inputs_.taken() < wanted.rows && inputs_.open() != 0) {
      if (at_ == chosen_.rows && !read_choices(wanted.rows - inputs_.taken()))
        break;
      if (!choose(wanted))
        break;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    if (inputs_.taken() == 0) {
      inputs_.close();
      return std::nullopt;
    }
    return inputs_.finish(kernel_calls_);
  }
  // Saves the points of the choices and of the inputs, at the first rows that are not used.
  void save_to(position& to) const override {
    put(to, choices_.point(choices_.rows() - (chosen_.rows - at_)));
    inputs_.save_to(to);
  }
  status restore_from(position_reader& from) override {
    HEADRACE_TRY(choices_.restore(from));
    return inputs_.restore(from);
  }

private:
  bool read_choices(size_t rows) {
    choices_.release_before(choices_.rows());
    auto more = choices_.next({rows, limits{}.bytes});
    at_ = 0;
    chosen_ = std::move(more).value_or(block{});
    return chosen_.rows != 0;
  }

  // Uses one choice. False: the dataset has ended.
  bool choose(const limits& wanted) {
    if (const auto* why = chosen_.error_at(at_)) {
      fail(*why);
      return true;
    }
    const auto choices = chosen_.columns[0].values<int64_t>();
    const auto choice = choices[at_];
    if (choice < 0 || static_cast<uint64_t>(choice) >= inputs_.size()) {
      fail(invalid_argument(fmt::format(
        "choose_from_datasets: the choice is {}; it must be 0 or more and less than {}, the number "
        "of datasets",
        choice, inputs_.size())));
      return true;
    }
    const auto which = static_cast<size_t>(choice);
    if (!inputs_.has(which)) {
      const auto rest =
        choices.subspan(at_, std::min(chosen_.rows - at_, wanted.rows - inputs_.taken()));
      const auto needed = static_cast<size_t>(std::count(rest.begin(), rest.end(), choice));
      if (!inputs_.read(which, {needed, wanted.bytes})) {
        if (node_.as<choose_from_parameters>().stop_on_empty)
          return false;
        ++at_;
        return true;
      }
    }
    inputs_.take(which);
    ++at_;
    return true;
  }

  void fail(const status& why) {
    auto row = failure(why);
    if (!chosen_.origins.empty())
      append_origins(row.origins, chosen_.origins, at_, 1);
    inputs_.add(std::move(row));
    ++at_;
  }

  held_input choices_;
  merged_inputs inputs_;
  block chosen_; ///< choices; those from `at_` on are not used yet
  size_t at_ = 0;
};

opened open_choose_from(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto choices, shared.make_input(node, at));
  std::vector<std::unique_ptr<iterator>> inputs;
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    HEADRACE_ASSIGN(auto input, shared.make_input(node, at, i));
    inputs.push_back(std::move(input));
  }
  return std::unique_ptr<iterator>{
    std::make_unique<choose_from_iterator>(shared, *node, std::move(choices), std::move(inputs))};
}

void encode_choose_from(const dataset_node& node, node_writer& to) {
  auto out = to.out.initChooseFrom();
  out.setChoices(to.input(0));
  to.inputs(out.initInputs(static_cast<unsigned>(node.inputs.size() - 1)), 1);
  out.setStopOnEmpty(node.as<choose_from_parameters>().stop_on_empty);
}

result<dataset_ptr> decode_choose_from(node_reader& from) {
  const auto in = from.in.getChooseFrom();
  HEADRACE_ASSIGN(auto choices, from.input(in.getChoices()));
  HEADRACE_ASSIGN(auto rows, from.inputs(in.getInputs()));
  return make_choose_from(std::move(choices), std::move(rows), in.getStopOnEmpty());
}

} // namespace

constinit const operator_record choose_from_record{
  .name = "choose_from_datasets",
  .arm = schema::Dataset::CHOOSE_FROM,
  .encode = encode_choose_from,
  .decode = decode_choose_from,
  .open = open_choose_from,
  .rows = {.apart = true, .mixed = true},
  .whole_input = 0, // the choices, which are not elements of the result
};

} // namespace headrace::detail
