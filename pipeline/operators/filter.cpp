#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/seeded_rows.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class filter_iterator final : public operator_iterator {
public:
  filter_iterator(engine& shared, const dataset_node& node, const place& at,
                  std::shared_ptr<const compiled_function> body, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      row_(at.row),
      body_(std::move(body)),
      input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (auto in = input_->next(wanted)) {
      auto kept = body_->run(*in, row_ ? &row_->names : nullptr, kernel_calls_);
      in->errors = std::move(kept.errors);              // those of the input among them
      in->columns.resize(node_.spec.components.size()); // without seeds
      if (auto runs = chosen(kept.columns[0], *in); !runs.empty()) {
        const block* piece = &*in;
        return gather_rows({&piece, 1}, runs, kernel_calls_);
      }
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    return std::nullopt;
  }
  // Parts: the input. Nothing is held.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  // Rows that failed are kept: their errors are for the reader.
  static std::vector<row_run> chosen(const column& keep, const block& rows) {
    std::vector<row_run> runs;
    auto error = rows.errors.begin();
    const bool readable = keep.total_values() == static_cast<int64_t>(rows.rows);
    const auto* yes = readable ? keep.values<bool>().data() : nullptr;
    for (uint32_t i = 0; i < rows.rows; ++i) {
      const bool failed = error != rows.errors.end() && error->row == i;
      if (failed)
        ++error;
      if (failed || (yes && yes[i]))
        append_run(runs, {0, i, 1});
    }
    return runs;
  }

  std::shared_ptr<const function_row> row_;
  std::shared_ptr<const compiled_function> body_;
  std::unique_ptr<iterator> input_;
};

} // namespace

opened open_filter(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto body, shared.compiled(node->body));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  input = with_row_seeds(shared, *node, at, std::move(input));
  return std::unique_ptr<iterator>{
    std::make_unique<filter_iterator>(shared, *node, at, std::move(body), std::move(input))};
}

} // namespace headrace::detail
