#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/files/file_reader.hpp"
#include "headrace/pipeline/sources/files/record_files.hpp"
#include "headrace/pipeline/sources/random_access.hpp"

namespace headrace::detail {

namespace {

/// A split is one record.
class record_iterator final : public operator_iterator {
public:
  record_iterator(engine& shared, const dataset_node& node, const place& at, const column& files)
    : operator_iterator(shared, node),
      files_(files, node.as<fixed_length_parameters>().layout, shared.context().stop),
      splits_(shared, at, files_.size(), shared.shares_splits(at) ? files_.listing() : nullptr) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    const auto first = (*more)->first;
    const auto size = static_cast<size_t>(node_.as<fixed_length_parameters>().layout.record_bytes);
    const auto most = std::max<uint64_t>(1, wanted.bytes / size);
    const auto rows = static_cast<size_t>(
      files_.run(first, std::min<uint64_t>({wanted.rows, most, (*more)->count})));
    auto bytes = files_.read(first, rows);
    block out;
    if (bytes) {
      mutable_buffer borders{(rows + 1) * sizeof(int64_t)};
      for (size_t i = 0; i <= rows; ++i) borders.as<int64_t>()[i] = static_cast<int64_t>(i * size);
      out.rows = rows;
      out.columns.push_back(column::strings({}, rows, std::move(borders).freeze(), *bytes));
      ++kernel_calls_;
    } else {
      out = last_failure(bytes.status().with_context(to_string(node_.op)));
    }
    if (splits_.provided())
      out.origins = {splits_.from(first, out.rows, out.rows == 1 ? 0 : 1)};
    splits_.pass(out.rows);
    if (!bytes)
      splits_.close();
    return out;
  }
  // Saves as numbers: the numbers of `splits_`, and a digest of the files before the next record,
  // from which the numbers of records are counted.
  void save_to(position& to) const override {
    splits_.save_to(to);
    to.numbers.push_back(files_.digest_before(splits_.next()));
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    const bool saved = from.fits() && from.has_number(); // older builds saved no digest
    if (saved && from.number() != files_.digest_before(splits_.next()))
      return failed_precondition("a file has more or fewer records than when the position was "
                                 "saved, and the numbers of later records depend on it");
    return {};
  }

private:
  record_files files_;
  split_cursor splits_;
};

/// Reads compressed files. They can only be read from their beginning, so a split is one file.
class record_reader final : public file_reader {
public:
  using file_reader::file_reader;

protected:
  result<bool> append_rows(byte_window& from, const std::string& path, string_rows& to) override {
    const auto& layout = node_.as<fixed_length_parameters>().layout;
    const auto header = static_cast<size_t>(layout.header_bytes);
    const auto record = static_cast<size_t>(layout.record_bytes);
    const auto footer = static_cast<size_t>(layout.footer_bytes);
    if (from.offset() == 0 && header != 0) {
      HEADRACE_ASSIGN(const bool there, have(from, header));
      if (!there)
        return check_size(path, from.bytes().size(), layout, " unpacked");
      from.use(header);
    }
    while (!to.full()) {
      HEADRACE_ASSIGN(const bool there, have(from, record + footer));
      if (!there) {
        const auto left = from.bytes().size();
        HEADRACE_TRY(check_size(path, from.offset() + left, layout, " unpacked"));
        from.use(left);
        return false;
      }
      to.append(from.bytes().data(), record);
      from.use(record);
    }
    return true;
  }

private:
  static result<bool> have(byte_window& from, size_t size) {
    while (from.bytes().size() < size) {
      HEADRACE_ASSIGN(const bool more, from.more());
      if (!more)
        return false;
    }
    return true;
  }
};

opened open_fixed_length(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  if (compression_of_files(*node) == file_compression::none)
    return std::unique_ptr<iterator>{
      std::make_unique<record_iterator>(shared, *node, at, values[0])};
  return std::unique_ptr<iterator>{
    std::make_unique<record_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_fixed_length(const dataset_node& node, node_writer& to) {
  const auto& layout = node.as<fixed_length_parameters>().layout;
  auto out = to.out.initFixedLength();
  to.files(out.initFiles());
  out.setRecordBytes(layout.record_bytes);
  out.setHeaderBytes(layout.header_bytes);
  out.setFooterBytes(layout.footer_bytes);
}

result<dataset_ptr> decode_fixed_length(node_reader& from) {
  const auto in = from.in.getFixedLength();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getFiles().getNames()));
  HEADRACE_ASSIGN(const auto packing, from.compression_of(dataset_op::fixed_length, in.getFiles()));
  return make_fixed_length(
    std::move(names), {in.getRecordBytes(), in.getHeaderBytes(), in.getFooterBytes()}, packing);
}

// In files that are not compressed, the offsets of records follow from their numbers.
bool splits_are_records(const dataset_node& node) {
  return compression_of_files(node) == file_compression::none;
}

std::optional<uint64_t> splits_of_fixed_length(const dataset_node& node) {
  return splits_are_records(node) ? splits_of_rows(node) : splits_of_files(node);
}

result<std::unique_ptr<random_access>> open_any_record(engine& shared, const dataset_ptr& node,
                                                       const place& at) {
  HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
  return open_fixed_length_records(*node, values[0]);
}

} // namespace

constinit const operator_record fixed_length_record{
  .name = "fixed_length",
  .arm = schema::Dataset::FIXED_LENGTH,
  .encode = encode_fixed_length,
  .decode = decode_fixed_length,
  .open = open_fixed_length,
  .position_version = 2,
  .rows = source_rows,
  .source = {.files = file_use::named,
             .splits_are_rows = splits_are_records,
             .splits = splits_of_fixed_length,
             .open_any_order = open_any_record},
};

} // namespace headrace::detail
