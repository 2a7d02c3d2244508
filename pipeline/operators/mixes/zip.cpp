#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// Merges two lists of errors, which are in ascending order of rows. If both lists have an error
/// for one row, the error in `a` is kept.
std::vector<row_error> merge_errors(const std::vector<row_error>& a,
                                    const std::vector<row_error>& b) {
  std::vector<row_error> out;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out),
             [](const row_error& x, const row_error& y) { return x.row < y.row; });
  out.erase(std::unique(out.begin(), out.end(),
                        [](const row_error& x, const row_error& y) { return x.row == y.row; }),
            out.end());
  return out;
}

class zip_iterator final : public operator_iterator {
public:
  zip_iterator(engine& shared, const dataset_node& node,
               std::vector<std::unique_ptr<iterator>> inputs)
    : operator_iterator(shared, node),
      inputs_(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end())),
      held_(inputs_.size()) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto rows = wanted.rows;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (held_[i].rows == 0) {
        auto more = inputs_[i].next({rows, wanted.bytes});
        if (!more) {
          // The inputs are destroyed now, so that they give back their unread splits at once, not
          // only when the whole pipeline ends.
          inputs_.clear();
          return std::nullopt;
        }
        held_[i] = *std::move(more);
      }
      rows = std::min(rows, held_[i].rows);
    }
    block out;
    out.rows = rows;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto& rest = held_[i];
      auto part = rest.slice(0, rows);
      rest = part.rows == rest.rows ? block{} : rest.slice(rows, rest.rows - rows);
      inputs_[i].release_before(inputs_[i].rows() - rest.rows);
      out.columns.insert(out.columns.end(), part.columns.begin(), part.columns.end());
      if (!part.errors.empty())
        out.errors = merge_errors(out.errors, part.errors);
      if (out.origins.empty())
        out.origins = std::move(part.origins);
    }
    return out;
  }
  // Saves for each input the point of the first held row.
  void save_to(position& to) const override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      put(to, inputs_[i].point(inputs_[i].rows() - held_[i].rows));
  }
  status restore_from(position_reader& from) override {
    for (auto& input : inputs_) HEADRACE_TRY(input.restore(from));
    return {};
  }

private:
  std::vector<held_input> inputs_;
  std::vector<block> held_; ///< for each input: rows that were read and not returned yet
};

opened open_zip(engine& shared, const dataset_ptr& node, const place& at) {
  std::vector<std::unique_ptr<iterator>> inputs;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    HEADRACE_ASSIGN(auto input, shared.make_input(node, at, i));
    inputs.push_back(std::move(input));
  }
  return std::unique_ptr<iterator>{
    std::make_unique<zip_iterator>(shared, *node, std::move(inputs))};
}

void encode_zip(const dataset_node& node, node_writer& to) {
  to.inputs(to.out.initZip().initInputs(static_cast<unsigned>(node.inputs.size())));
}

result<dataset_ptr> decode_zip(node_reader& from) {
  HEADRACE_ASSIGN(auto rows, from.inputs(from.in.getZip().getInputs()));
  return make_zip(std::move(rows));
}

dataset_ptr cardinality_of_zip(const dataset_ptr& x) {
  return cardinality_by_inputs(x, [](const expr& a, const expr& b) {
    return where(a < 0, b, where(b < 0, a, minimum(a, b)));
  });
}

} // namespace

constinit const operator_record zip_record{
  .name = "zip",
  .arm = schema::Dataset::ZIP,
  .encode = encode_zip,
  .decode = decode_zip,
  .open = open_zip,
  .rows = {.one_to_one = true},
  .cardinality = cardinality_of_zip,
  .pieces = {piece_rule::side_by_side,
             "pairs elements by their places, which are known only when all are read"},
};

} // namespace headrace::detail
