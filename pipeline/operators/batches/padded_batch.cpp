#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/batches/batch_iterator.hpp"
#include "headrace/pipeline/operators/batches/pad_rows.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// A batch with an error row is one error row, as for `batch`.
class padded_batch_iterator final : public batch_iterator {
public:
  /// `extent` replaces the unknown extents of the padded shapes. If it is `shape::unknown`, they
  /// stay unknown, and each batch has its largest extents.
  padded_batch_iterator(engine& shared, const dataset_node& node, batch_size size, int64_t extent,
                        std::unique_ptr<iterator> input)
    : batch_iterator(shared, node, size, std::move(input)),
      fields_(node.as<padded_batch_parameters>().fields) {
    for (auto& field : fields_) {
      std::vector<int64_t> dims{field.spec.dims.dims().begin(), field.spec.dims.dims().end()};
      std::replace(dims.begin(), dims.end(), shape::unknown, extent);
      field.spec.dims = shape{std::move(dims)};
    }
  }

private:
  block batched(const block& rows, size_t size) override {
    failed_batches failed{rows, size};
    std::vector<column> columns;
    for (size_t i = 0; i < rows.columns.size(); ++i)
      columns.push_back(pad_rows(rows.columns[i], size, fields_[i], i, failed, kernel_calls_));
    auto out = batches_without_columns(rows, size, failed);
    out.columns = std::move(columns);
    return out;
  }

  std::vector<field_format> fields_;
};

opened open_padded_batch(engine& shared, const dataset_ptr& node, const place& at) {
  const auto& own = node->as<padded_batch_parameters>();
  HEADRACE_ASSIGN(const auto size, size_at(shared, node, at, own.batch));
  int64_t extent = shape::unknown;
  if (own.extent_given) {
    HEADRACE_ASSIGN(const auto given, shared.arguments(node, at));
    extent = given[0].values<int64_t>()[0];
    if (extent < 0)
      return invalid_argument(fmt::format("padded_batch: a padded extent of {}", extent));
  }
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<padded_batch_iterator>(shared, *node, size, extent, std::move(input))};
}

void encode_padded_batch(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<padded_batch_parameters>();
  auto out = to.over_input(to.out.initPaddedBatch());
  out.setSize(own.batch.rows.value_or(0));
  out.setComputed(!own.batch.rows);
  out.setDropRemainder(own.batch.drop_remainder);
  encode(own.fields, out.initComponents(static_cast<unsigned>(own.fields.size())));
  to.tensors(out.initExtent(to.tensors()));
}

result<dataset_ptr> decode_padded_batch(node_reader& from) {
  const auto in = from.in.getPaddedBatch();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto components, decode(in.getComponents()));
  std::vector<shape> shapes;
  std::vector<std::optional<column>> values;
  for (auto& x : components) {
    shapes.push_back(std::move(x.spec.dims));
    values.push_back(std::move(x.missing));
  }
  HEADRACE_ASSIGN(auto tensors, from.tensors(in.getExtent()));
  number_argument size{in.getSize()};
  if (in.getComputed()) {
    if (tensors.empty())
      return data_loss("padded_batch: its computed size is missing");
    size = tensors.back();
    tensors.pop_back();
  }
  return make_padded_batch(std::move(rows), size, std::move(shapes), std::move(values),
                           in.getDropRemainder(), tensors.empty() ? nullptr : tensors[0]);
}

int64_t rows_of_padded_batch(const dataset_node& node) {
  return known_rows(node.as<padded_batch_parameters>().batch);
}
std::string shown_padded_batch(const dataset_node& node) {
  return shown_number(node.as<padded_batch_parameters>().batch.rows);
}

dataset_ptr cardinality_of_padded_batch(const dataset_ptr& x) {
  return number_of_batches(x, x->as<padded_batch_parameters>().batch);
}

} // namespace

constinit const operator_record padded_batch_record{
  .name = "padded_batch",
  .arm = schema::Dataset::PADDED_BATCH,
  .encode = encode_padded_batch,
  .decode = decode_padded_batch,
  .open = open_padded_batch,
  .cardinality = cardinality_of_padded_batch,
  .pieces = {piece_rule::together, taken_together, rows_of_padded_batch},
  .shown = shown_padded_batch,
};

} // namespace headrace::detail
