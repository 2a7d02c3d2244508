#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/engine/openings.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/kept/unopened_caches.hpp"

namespace headrace::detail {

namespace {

class concatenate_iterator final : public operator_iterator {
public:
  concatenate_iterator(engine& shared, dataset_ptr node, place at)
    : operator_iterator(shared, *node),
      self_(std::move(node)),
      at_(std::move(at)),
      caches_(shared, node_, at_),
      openings_(shared, node_) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (true) {
      if (!input_) {
        if (next_ == node_.inputs.size())
          return std::nullopt;
        auto opened = engine_.make_input(self_, at_, next_);
        if (!opened)
          return last_failure(opened.status());
        input_ = *std::move(opened);
        ++next_;
        if (auto failed = openings_.add(input_.get()); !failed.ok())
          return last_failure(failed);
      }
      if (auto out = input_->next(wanted))
        return out;
      input_.reset();
    }
  }
  // Saves as a number the index of the input to open next. As parts: the present input, if it is
  // open; the caches below the inputs that are not open yet; the inputs that were opened after this
  // position.
  void save_to(position& to) const override {
    to.numbers = {next_};
    to.parts = {input_ ? input_->save() : nullptr};
    caches_.save_to(to, next_);
    openings_.save_to(to);
  }
  status restore_from(position_reader& from) override {
    next_ = from.number(node_.inputs.size());
    const auto open = from.part();
    caches_.restore(from, next_);
    openings_.restore(from);
    if (!open || next_ == 0)
      return {};
    HEADRACE_ASSIGN(input_, engine_.make_input(self_, at_, next_ - 1));
    return input_->restore(*open);
  }

private:
  dataset_ptr self_;
  place at_;
  const unopened_caches caches_;
  openings openings_;
  std::unique_ptr<iterator> input_;
  size_t next_ = 0;
};

opened open_concatenate(engine& shared, const dataset_ptr& node, const place& at) {
  return std::unique_ptr<iterator>{std::make_unique<concatenate_iterator>(shared, node, at)};
}

void encode_concatenate(const dataset_node&, node_writer& to) {
  auto out = to.out.initConcatenate();
  out.setFirst(to.input(0));
  out.setSecond(to.input(1));
}

result<dataset_ptr> decode_concatenate(node_reader& from) {
  const auto in = from.in.getConcatenate();
  HEADRACE_ASSIGN(auto first, from.input(in.getFirst()));
  HEADRACE_ASSIGN(auto second, from.input(in.getSecond()));
  return make_concatenate(std::move(first), std::move(second));
}

dataset_ptr cardinality_of_concatenate(const dataset_ptr& x) {
  return cardinality_by_inputs(x, [](const expr& a, const expr& b) {
    return where(a < 0 || b < 0, constant(infinite_cardinality), a + b);
  });
}

} // namespace

constinit const operator_record concatenate_record{
  .name = "concatenate",
  .arm = schema::Dataset::CONCATENATE,
  .encode = encode_concatenate,
  .decode = decode_concatenate,
  .open = open_concatenate,
  .rows = {.apart = true},
  .cardinality = cardinality_of_concatenate,
  .pieces = {piece_rule::apart},
};

} // namespace headrace::detail
