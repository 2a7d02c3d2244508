#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

class write_tfrecord_iterator final : public operator_iterator {
public:
  write_tfrecord_iterator(engine& shared, const dataset_node& node, std::string path,
                          std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), path_(std::move(path)), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits&) override {
    end();
    const auto written = write();
    if (!written)
      return failure(written.status().with_context(fmt::format("write_tfrecord '{}'", path_)));
    block out;
    out.rows = 1;
    const auto records = static_cast<int64_t>(*written);
    out.columns = {column::of_scalars(std::span{&records, 1})};
    return out;
  }
  // Saves the position of the input, of which no row was read: after `produce` the operator has
  // ended, and this function is not called.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  result<uint64_t> write() {
    HEADRACE_ASSIGN(auto writer, tfrecord_writer::open(path_, {compression_of_files(node_)}));
    block_ramp ramp;
    while (auto more = input_->next(ramp.next())) {
      if (engine_.stopped())
        return cancelled("the iteration was stopped");
      if (!more->errors.empty())
        return more->errors[0].why;
      for (size_t i = 0; i < more->rows; ++i)
        HEADRACE_TRY(writer.write(more->columns[0].string(i)));
      ramp.record(more->rows, more->bytes(), {});
    }
    HEADRACE_TRY(writer.finish());
    return writer.records();
  }

  std::string path_;
  std::unique_ptr<iterator> input_;
};

opened open_write_tfrecord(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{std::make_unique<write_tfrecord_iterator>(
    shared, *node, std::string{values[0].string(0)}, std::move(input))};
}

void encode_write_tfrecord(const dataset_node&, node_writer& to) {
  auto out = to.over_input(to.out.initWriteTfrecord());
  to.files(out.initFile());
}

result<dataset_ptr> decode_write_tfrecord(node_reader& from) {
  const auto in = from.in.getWriteTfrecord();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto path, from.tensor(in.getFile().getNames()));
  HEADRACE_ASSIGN(const auto how, from.compression_of(dataset_op::write_tfrecord, in.getFile()));
  return make_write_tfrecord(std::move(rows), std::move(path), how);
}

} // namespace

constinit const operator_record write_tfrecord_record{
  .name = "write_tfrecord",
  .arm = schema::Dataset::WRITE_TFRECORD,
  .encode = encode_write_tfrecord,
  .decode = decode_write_tfrecord,
  .open = open_write_tfrecord,
};

} // namespace headrace::detail
