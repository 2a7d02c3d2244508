#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/sources/memory/source_rows.hpp"
#include "headrace/pipeline/sources/random_access.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

namespace {

/// The rows of columns in memory. A split is one row.
class slices_iterator final : public operator_iterator {
public:
  slices_iterator(engine& shared, const dataset_node& node, const place& at, block rows)
    : operator_iterator(shared, node),
      rows_(std::move(rows)),
      row_bytes_(rows_.rows == 0 ? 1 : std::max<size_t>(1, rows_.bytes() / rows_.rows)),
      splits_(shared, at, rows_.rows) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    const auto now = **more;
    const auto most = std::max<size_t>(1, wanted.bytes / row_bytes_);
    const auto rows = std::min<size_t>({wanted.rows, most, now.count});
    auto out = rows_.slice(now.first, rows);
    if (splits_.provided())
      out.origins = {splits_.from(now.first, rows, rows == 1 ? 0 : 1)};
    splits_.pass(rows);
    return out;
  }
  void save_to(position& to) const override { splits_.save_to(to); }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    return {};
  }

private:
  block rows_;
  size_t row_bytes_;
  split_cursor splits_;
};

class held_block final : public random_access {
public:
  explicit held_block(block rows)
    : rows_(std::move(rows)),
      row_bytes_(rows_.rows == 0 ? 1 : std::max<size_t>(1, rows_.bytes() / rows_.rows)) {}
  uint64_t rows() const noexcept override { return rows_.rows; }
  block read(std::span<const uint64_t> which, size_t bytes, uint64_t& kernel_calls) override {
    const auto most = std::max<size_t>(1, bytes / row_bytes_);
    std::vector<row_run> runs;
    for (auto row : which.first(std::min(which.size(), most)))
      append_run(runs, {0, static_cast<uint32_t>(row), 1});
    const block* piece = &rows_;
    return gather_rows({&piece, 1}, runs, kernel_calls);
  }

private:
  block rows_;
  size_t row_bytes_;
};

opened open_slices(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto rows, rows_of_tensors(*node, std::move(values)));
  return std::unique_ptr<iterator>{
    std::make_unique<slices_iterator>(shared, *node, at, std::move(rows))};
}

result<std::unique_ptr<random_access>> open_any_slice(engine& shared, const dataset_ptr& node,
                                                      const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto rows, rows_of_tensors(*node, std::move(values)));
  return std::unique_ptr<random_access>{std::make_unique<held_block>(std::move(rows))};
}

void encode_from_tensors(const dataset_node&, node_writer& to) {
  to.arranged_tensors(to.out.initFromTensors());
}

void encode_from_tensor_slices(const dataset_node&, node_writer& to) {
  to.arranged_tensors(to.out.initFromTensorSlices());
}

void encode_elements_of(const dataset_node&, node_writer& to) {
  to.arranged_tensors(to.out.initElementsOf());
}

/// Decodes an operator that the schema describes by tensors and their structure. `make`: the maker
/// of this operator.
template <class In>
result<dataset_ptr> decode_tensors(node_reader& from, const In& in,
                                   result<dataset_ptr> (*make)(std::vector<expr_ptr>, structure)) {
  HEADRACE_ASSIGN(auto tensors, from.tensors(in.getTensors()));
  HEADRACE_ASSIGN(auto layout, decode(in.getLayout()));
  return make(std::move(tensors), std::move(layout));
}

result<dataset_ptr> decode_from_tensors(node_reader& from) {
  return decode_tensors(from, from.in.getFromTensors(), make_from_tensors);
}

result<dataset_ptr> decode_from_tensor_slices(node_reader& from) {
  return decode_tensors(from, from.in.getFromTensorSlices(), make_from_tensor_slices);
}

result<dataset_ptr> decode_elements_of(node_reader& from) {
  return decode_tensors(from, from.in.getElementsOf(), make_elements_of);
}

dataset_ptr cardinality_of_slices(const dataset_ptr& x) {
  return one_number(shape_of(expr{x->tensors[0]})[0]);
}

} // namespace

constinit const operator_record from_tensors_record{
  .name = "from_tensors",
  .arm = schema::Dataset::FROM_TENSORS,
  .encode = encode_from_tensors,
  .decode = decode_from_tensors,
  .open = open_slices,
  .rows = source_rows,
  .source = {.splits_are_rows = always, .splits = splits_of_rows, .open_any_order = open_any_slice},
};

constinit const operator_record from_tensor_slices_record{
  .name = "from_tensor_slices",
  .arm = schema::Dataset::FROM_TENSOR_SLICES,
  .encode = encode_from_tensor_slices,
  .decode = decode_from_tensor_slices,
  .open = open_slices,
  .rows = source_rows,
  .cardinality = cardinality_of_slices,
  .source = {.splits_are_rows = always, .splits = splits_of_rows, .open_any_order = open_any_slice},
};

constinit const operator_record elements_of_record{
  .name = "elements_of",
  .arm = schema::Dataset::ELEMENTS_OF,
  .encode = encode_elements_of,
  .decode = decode_elements_of,
  .open = open_slices,
  .rows = source_rows,
  .cardinality = counted_elements,
  .source = {.splits = splits_of_rows},
};

} // namespace headrace::detail
