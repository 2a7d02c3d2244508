#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/files/tfrecord_format.hpp"
#include "headrace/pipeline/sources/files/file_reader.hpp"
#include "headrace/pipeline/sources/files/record_files.hpp"
#include "headrace/pipeline/sources/files/record_index.hpp"
#include "headrace/pipeline/sources/make_listing.hpp"
#include "headrace/pipeline/sources/random_access.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace headrace::detail {

namespace {

/// The records of files, numbered over all files.
class indexed_files : public random_access {
public:
  explicit indexed_files(const dataset_node& node) : node_(node) {}

  status add(std::string path, uint64_t records) {
    firsts_.push_back(rows_);
    paths_.push_back(std::move(path));
    rows_ += records;
    return {};
  }
  uint64_t rows() const noexcept override { return rows_; }
  std::shared_ptr<const split_listing> listing() const override {
    std::vector<std::string> entries;
    for (size_t i = 0; i < paths_.size(); ++i)
      entries.push_back(
        fmt::format("'{}' with {} records", paths_[i],
                    (i + 1 < firsts_.size() ? firsts_[i + 1] : rows_) - firsts_[i]));
    return make_listing(std::move(entries));
  }

  block read(std::span<const uint64_t> numbers, size_t bytes, uint64_t& kernel_calls) override {
    string_rows out{{.rows = numbers.size(), .bytes = bytes}};
    std::vector<row_error> errors;
    for (size_t i = 0; i < numbers.size() && !out.full(); ++i)
      if (auto failed = append(numbers[i], out); !failed.ok()) {
        errors.push_back({static_cast<uint32_t>(i), failed.with_context(to_string(node_.op))});
        out.append(nullptr, 0);
      }
    ++kernel_calls;
    auto rows = out.finish();
    rows.errors = std::move(errors);
    return rows;
  }

protected:
  /// Reads record `index` of file number `file` into `record_`; returns the part of `record_` with
  /// the record's data.
  virtual result<std::span<const std::byte>> read_record(const random_file& from, size_t file,
                                                         uint64_t index) = 0;

  std::span<std::byte> room(size_t size) {
    if (record_.size() < size)
      record_.resize(size);
    return std::span{record_}.first(size);
  }

private:
  status append(uint64_t number, string_rows& to) {
    const auto file =
      static_cast<size_t>(std::ranges::upper_bound(firsts_, number) - firsts_.begin()) - 1;
    HEADRACE_ASSIGN(const auto* from, open(file));
    HEADRACE_ASSIGN(const auto data, read_record(*from, file, number - firsts_[file]));
    to.append(data.data(), data.size());
    return {};
  }

  result<const random_file*> open(size_t file) {
    constexpr size_t most_open = 128;
    auto& known = open_[file];
    if (known)
      return known.get();
    HEADRACE_ASSIGN(auto opened, random_file::open(paths_[file]));
    if (open_.size() > most_open)
      std::erase_if(open_, [&](const auto& x) { return x.first != file; });
    auto& to = open_[file];
    to = std::move(opened);
    return to.get();
  }

  const dataset_node& node_;
  uint64_t rows_ = 0;
  std::vector<uint64_t> firsts_; ///< the number of the first record of each file
  std::vector<std::string> paths_;
  std::unordered_map<size_t, std::unique_ptr<const random_file>> open_;
  std::vector<std::byte> record_;
};

class tfrecord_files final : public indexed_files {
public:
  using indexed_files::indexed_files;
  status add_file(std::string path) {
    HEADRACE_ASSIGN(auto offsets, record_offsets(path));
    const auto records = offsets.size() - 1;
    offsets_.push_back(std::move(offsets));
    return add(std::move(path), records);
  }

protected:
  result<std::span<const std::byte>> read_record(const random_file& from, size_t file,
                                                 uint64_t index) override {
    const auto begin = offsets_[file][index];
    const auto bytes = room(offsets_[file][index + 1] - begin);
    HEADRACE_TRY(from.read(begin, bytes));
    const auto data =
      bytes.subspan(tfrecord_header, bytes.size() - tfrecord_header - tfrecord_footer);
    if (tfrecord_length(bytes.data()) != data.size()
        || !tfrecord_matches(data.data(), data.size(), data.data() + data.size()))
      return data_loss(fmt::format("'{}': the record at offset {} does not match its checksum",
                                   from.path(), begin));
    return std::span<const std::byte>{data};
  }

private:
  std::vector<std::vector<uint64_t>> offsets_;
};

/// Records of fixed length need no index.
class fixed_length_files final : public random_access {
public:
  fixed_length_files(const dataset_node& node, const column& files)
    : node_(node), records_(files, node.as<fixed_length_parameters>().layout) {}
  uint64_t rows() const noexcept override { return records_.size(); }
  std::shared_ptr<const split_listing> listing() const override { return records_.listing(); }
  block read(std::span<const uint64_t> numbers, size_t bytes, uint64_t& kernel_calls) override {
    string_rows out{{.rows = numbers.size(), .bytes = bytes}};
    std::vector<row_error> errors;
    for (size_t i = 0; i < numbers.size() && !out.full(); ++i) {
      const auto record = records_.read(numbers[i], 1);
      if (!record)
        errors.push_back(
          {static_cast<uint32_t>(i), record.status().with_context(to_string(node_.op))});
      out.append(record ? record->data() : nullptr, record ? record->size() : 0);
    }
    ++kernel_calls;
    auto rows = out.finish();
    rows.errors = std::move(errors);
    return rows;
  }

private:
  const dataset_node& node_;
  record_files records_;
};

} // namespace

result<std::unique_ptr<random_access>> open_fixed_length_records(const dataset_node& node,
                                                                 const column& files) {
  return std::unique_ptr<random_access>{std::make_unique<fixed_length_files>(node, files)};
}

result<std::unique_ptr<random_access>> open_indexed_tfrecords(const dataset_node& node,
                                                              const column& files) {
  auto out = std::make_unique<tfrecord_files>(node);
  for (size_t i = 0; i < static_cast<size_t>(files.total_values()); ++i)
    HEADRACE_TRY(out->add_file(std::string{files.string(i)}));
  return std::unique_ptr<random_access>{std::move(out)};
}

} // namespace headrace::detail
