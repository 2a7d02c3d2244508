#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/function_iterator.hpp"

namespace headrace::detail {

namespace {

class take_while_iterator final : public function_iterator {
public:
  using function_iterator::function_iterator;

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto in = input_->next(wanted);
    if (!in)
      return in;
    auto more = call(*in);
    in->errors = std::move(more.errors);              // includes the errors of the input
    in->columns.resize(node_.spec.components.size()); // removes the column of seeds
    const auto rows = rows_before_false(more.columns[0], *in);
    if (rows == in->rows)
      return in;
    end();
    input_.reset(); // files and threads are released before the last rows are used
    if (rows == 0)
      return std::nullopt;
    return in->slice(0, rows);
  }

private:
  // The number of rows before the first one for which the function returned false. Error rows do
  // not end the dataset, so that their errors reach the user.
  static size_t rows_before_false(const column& goes_on, const block& rows) {
    if (goes_on.total_values() != static_cast<int64_t>(rows.rows))
      return rows.rows; // all rows failed
    const auto* yes = goes_on.values<bool>().data();
    for (size_t i = 0; i < rows.rows; ++i)
      if (!yes[i] && !rows.error_at(i))
        return i;
    return rows.rows;
  }
};

opened open_take_while(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto with, open_function(shared, node, at));
  return open_over_function<take_while_iterator>(shared, node, at, std::move(with));
}

void encode_take_while(const dataset_node&, node_writer& to) {
  to.with_body(to.out.initTakeWhile());
}

result<dataset_ptr> decode_take_while(node_reader& from) {
  const auto in = from.in.getTakeWhile();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  return make_take_while(std::move(rows), std::move(f));
}

} // namespace

constinit const operator_record take_while_record{
  .name = "take_while",
  .arm = schema::Dataset::TAKE_WHILE,
  .encode = encode_take_while,
  .decode = decode_take_while,
  .open = open_take_while,
  .draws_order = draws_in_function,
};

} // namespace headrace::detail
