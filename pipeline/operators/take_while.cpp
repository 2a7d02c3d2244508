#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class take_while_iterator final : public operator_iterator {
public:
  take_while_iterator(engine& shared, const dataset_node& node, const place& at,
                      std::shared_ptr<const compiled_function> body,
                      std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      row_(at.row),
      body_(std::move(body)),
      input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto in = input_->next(wanted);
    if (!in)
      return in;
    auto more = body_->run(*in, row_ ? &row_->names : nullptr, kernel_calls_);
    in->errors = std::move(more.errors); // those of the input among them
    const auto rows = rows_before_false(more.columns[0], *in);
    if (rows == in->rows)
      return in;
    end();
    input_.reset(); // lets go of files and threads before the last rows are used
    if (rows == 0)
      return std::nullopt;
    return in->slice(0, rows);
  }
  // Parts: the input. Nothing is held.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  // Rows that failed end nothing: their errors are for the reader.
  static size_t rows_before_false(const column& goes_on, const block& rows) {
    if (goes_on.total_values() != static_cast<int64_t>(rows.rows))
      return rows.rows; // all failed
    const auto* yes = goes_on.values<bool>().data();
    for (size_t i = 0; i < rows.rows; ++i)
      if (!yes[i] && !rows.error_at(i))
        return i;
    return rows.rows;
  }

  std::shared_ptr<const function_row> row_;
  std::shared_ptr<const compiled_function> body_;
  std::unique_ptr<iterator> input_;
};

} // namespace

opened open_take_while(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto body, shared.compiled(node->body));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<take_while_iterator>(shared, *node, at, std::move(body), std::move(input))};
}

} // namespace headrace::detail
