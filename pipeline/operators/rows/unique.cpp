#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <string>
#include <unordered_set>

namespace headrace::detail {

namespace {

template <class T>
void append(std::string& to, const T& x) {
  to.append(reinterpret_cast<const char*>(&x), sizeof(T));
}

/// A key that is equal for two rows only if their values are equal.
std::string key_of(const block& rows, size_t row) {
  std::string out;
  for (const auto& c : rows.columns) {
    const auto first = static_cast<size_t>(c.first_value(row));
    const auto last = static_cast<size_t>(c.first_value(row + 1));
    const auto dims = c.shape_of(row);
    out.push_back(static_cast<char>(dims.rank()));
    for (auto extent : dims.dims()) append(out, extent);
    if (!c.is_string()) {
      const auto size = size_of(c.type());
      out.append(reinterpret_cast<const char*>(c.value_buffer().data()) + first * size,
                 (last - first) * size);
      continue;
    }
    for (auto i = first; i < last; ++i) {
      append(out, c.string(i).size());
      out += c.string(i);
    }
  }
  return out;
}

/// Error rows are always returned.
class unique_iterator final : public operator_iterator {
public:
  unique_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!begin_)
      begin_ = input_->save();
    while (auto in = input_->next(wanted)) {
      read_ += in->rows;
      const auto runs = new_rows(*in);
      if (!runs.empty()) {
        const block* piece = &*in;
        return gather_rows({&piece, 1}, runs, kernel_calls_);
      }
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    return std::nullopt;
  }
  // Saves as numbers: the number of rows read; as parts: the position of the input before its first
  // row, from which these rows are read again.
  void save_to(position& to) const override {
    to.numbers = {read_};
    to.parts = {begin_ ? begin_ : input_->save()};
  }
  status restore_from(position_reader& from) override {
    constexpr uint64_t most = 4096;
    const auto rows = from.number();
    HEADRACE_TRY(from.restore(*input_));
    begin_ = input_->save();
    while (read_ < rows) {
      auto in = input_->next({static_cast<size_t>(std::min(most, rows - read_)), limits{}.bytes});
      if (!in)
        return data_loss("the data is not what it was when the position was saved");
      read_ += in->rows;
      new_rows(*in);
    }
    return {};
  }

private:
  std::vector<row_run> new_rows(const block& rows) {
    std::vector<row_run> runs;
    for (uint32_t i = 0; i < rows.rows; ++i)
      if (rows.error_at(i) || seen_.insert(key_of(rows, i)).second)
        append_run(runs, {0, i, 1});
    return runs;
  }

  std::unique_ptr<iterator> input_;
  position_ptr begin_; ///< the position of the input before the first row; null at first
  uint64_t read_ = 0;
  std::unordered_set<std::string> seen_;
};

void encode_unique(const dataset_node&, node_writer& to) { to.over_input(to.out.initUnique()); }

result<dataset_ptr> decode_unique(node_reader& from) {
  HEADRACE_ASSIGN(auto rows, from.input(from.in.getUnique().getInput()));
  return make_unique_elements(std::move(rows));
}

} // namespace

constinit const operator_record unique_record{
  .name = "unique",
  .arm = schema::Dataset::UNIQUE,
  .encode = encode_unique,
  .decode = decode_unique,
  .open = open_over_input<unique_iterator>,
};

} // namespace headrace::detail
