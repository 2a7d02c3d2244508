#include "headrace/pipeline/storage/saved_writer.hpp"

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/storage/row_packer.hpp"
#include "headrace/pipeline/storage/stored_record.hpp"
#include "headrace/pipeline/storage/writing_mark.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace headrace::detail {

namespace {

namespace fs = std::filesystem;

constexpr size_t bytes_a_record = size_t{512} << 10;
// The number of shards is limited, because each has an open file.
constexpr size_t most_shards = 512;

class folder_writer final : public saved_writer {
public:
  folder_writer(std::string folder, element_spec spec, options how)
    : folder_(std::move(folder)), how_(how) {
    manifest_.id = how.id != 0 ? how.id : number_;
    manifest_.spec = std::move(spec);
    manifest_.compression = how.compression;
  }
  ~folder_writer() override {
    for (const auto& file : named_) remove(file);
  }

  status make_folder() {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    if (failed)
      return file_error(folder_, "make the folder", failed.value());
    HEADRACE_TRY(is_nobody_elses());
    HEADRACE_ASSIGN(mark_, writing_mark::make(folder_, number_));
    remove_abandoned(folder_);
    return {};
  }

  status write(const block& rows, uint64_t shard) override {
    if (state_.ok())
      state_ = append(rows, shard);
    return state_;
  }

  uint64_t rows() const noexcept override { return rows_; }

  result<saved_manifest> finish() override {
    HEADRACE_TRY(state_);
    state_ = failed_precondition(fmt::format("what is saved in '{}' is finished already", folder_));
    for (auto& [number, shard] : shards_) {
      if (!shard.packer.empty())
        HEADRACE_TRY(flush(shard));
      HEADRACE_TRY(close(shard));
    }
    HEADRACE_TRY(is_nobody_elses());
    HEADRACE_ASSIGN(auto before, find_saved(folder_));
    if (before && !how_.replace)
      return *std::move(before);
    if (const auto done = write_saved(folder_, manifest_, how_.replace); !done.ok())
      return done.code() == status_code::already_exists ? read_saved(folder_) : done;
    named_.clear();
    if (before)
      for (const auto& old : before->shards) remove(old.file);
    mark_ = {};
    return manifest_;
  }

private:
  status is_nobody_elses() const {
    std::error_code failed;
    return fs::exists(fs::path{folder_} / "saving.headrace", failed)
             ? already_exists(fmt::format("into '{}' the workers of a service write, or have "
                                          "written; name another folder, or remove that one",
                                          folder_))
             : status{};
  }

  struct open_shard {
    tfrecord_writer file;
    row_packer packer{bytes_a_record};
    saved_manifest::shard entry;
  };

  status append(const block& rows, uint64_t shard) {
    if (!rows.errors.empty())
      return rows.errors[0].why;
    if (rows.rows == 0)
      return {};
    auto at = shards_.find(shard);
    if (at == shards_.end()) {
      if (shards_.size() == most_shards)
        return invalid_argument(
          fmt::format("more than {} shards; each has an open file", most_shards));
      // If the size of files is limited, a shard may have several files, so the files are numbered.
      // Otherwise the name of a file contains the number of its shard.
      const auto name = fmt::format("{}-{:05}.rows", writing_mark::prefix(number_),
                                    how_.most_file_bytes == UINT64_MAX ? shard : files_++);
      HEADRACE_ASSIGN(auto file, tfrecord_writer::open(folder_ + "/" + name));
      at =
        shards_.emplace(shard, open_shard{.file = std::move(file), .entry = {name, 0, {}}}).first;
    }
    at->second.packer.add(rows);
    rows_ += rows.rows;
    if (!at->second.packer.full())
      return {};
    HEADRACE_TRY(flush(at->second));
    if (at->second.file.bytes() < how_.most_file_bytes)
      return {};
    HEADRACE_TRY(close(at->second));
    shards_.erase(at);
    return {};
  }

  /// Completes the file of a shard.
  status close(open_shard& shard) {
    HEADRACE_TRY(shard.file.finish());
    shard.entry.bytes = shard.file.bytes();
    named_.push_back(shard.entry.file);
    manifest_.shards.push_back(std::move(shard.entry));
    return {};
  }

  status flush(open_shard& shard) const {
    uint64_t kernel_calls = 0;
    const auto rows = shard.packer.take(kernel_calls);
    const auto record = encode_rows(rows, how_.compression);
    shard.entry.blocks.push_back({shard.file.bytes(), static_cast<uint32_t>(rows.rows)});
    return shard.file.write({reinterpret_cast<const char*>(record.data()), record.size()});
  }

  void remove(const std::string& file) const {
    std::error_code ignored; // another process may have removed the file
    fs::remove(fs::path{folder_} / file, ignored);
  }

  std::string folder_;
  options how_;
  /// The number of this writer, with which the names of its files begin.
  const uint64_t number_ = random_id();
  writing_mark mark_; ///< its file is removed after the files in `named_`
  saved_manifest manifest_;
  std::map<uint64_t, open_shard> shards_;
  std::vector<std::string> named_; ///< files that have their final names and are in no manifest
  status state_;
  uint64_t rows_ = 0, files_ = 0;
};

} // namespace

result<std::unique_ptr<saved_writer>> saved_writer::open(std::string folder, element_spec spec,
                                                         options how) {
  auto out = std::make_unique<folder_writer>(std::move(folder), std::move(spec), how);
  HEADRACE_TRY(out->make_folder());
  return std::unique_ptr<saved_writer>{std::move(out)};
}

} // namespace headrace::detail
