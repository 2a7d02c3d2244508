#include "headrace/pipeline/sources/files/record_files.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/sources/make_listing.hpp"
#include "headrace/runtime/base/crc32c.hpp"
#include "headrace/runtime/base/file_error.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>

namespace headrace::detail {

record_files::record_files(const column& names, const record_layout& layout, std::stop_token stop)
  : layout_(layout), stop_(std::move(stop)) {
  for (size_t i = 0; i < static_cast<size_t>(names.total_values()) && bad_.ok(); ++i)
    bad_ = add(std::string{names.string(i)});
  if (!bad_.ok())
    ++size_;
}

status record_files::add(std::string path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return file_error(path, "open", errno);
  if (S_ISDIR(info.st_mode))
    return file_error(path, "read", EISDIR);
  if (!S_ISREG(info.st_mode))
    return failed_precondition(fmt::format("'{}' is no regular file", path));
  const auto bytes = static_cast<uint64_t>(info.st_size);
  HEADRACE_TRY(check_size(path, bytes, layout_));
  const auto frame = static_cast<uint64_t>(layout_.header_bytes + layout_.footer_bytes);
  const auto records = (bytes - frame) / static_cast<uint64_t>(layout_.record_bytes);
  if (records != 0)
    files_.push_back({std::move(path), size_, records});
  size_ += records;
  return {};
}

std::shared_ptr<const split_listing> record_files::listing() const {
  std::vector<std::string> entries;
  for (const auto& f : files_)
    entries.push_back(fmt::format("'{}' with {} records", f.path, f.records));
  if (!bad_.ok())
    entries.push_back("no more, as " + bad_.message());
  return make_listing(std::move(entries));
}

uint64_t record_files::digest_before(uint64_t record) const noexcept {
  uint64_t out = 0;
  for (const auto& f : files_) {
    if (f.first > record)
      break;
    out = mix(out, crc32c(reinterpret_cast<const std::byte*>(f.path.data()), f.path.size()));
    out = mix(out, f.first);
  }
  return out;
}

size_t record_files::find(uint64_t record) const noexcept {
  const auto after = std::upper_bound(files_.begin(), files_.end(), record,
                                      [](uint64_t r, const file& f) { return r < f.first; });
  return static_cast<size_t>(after - files_.begin()) - 1;
}

uint64_t record_files::run(uint64_t first, uint64_t count) const noexcept {
  if (!bad_.ok() && first + 1 == size_)
    return 1;
  const auto& f = files_[find(first)];
  return std::min(count, f.first + f.records - first);
}

status record_files::open(size_t index) {
  if (open_ == index)
    return {};
  HEADRACE_ASSIGN(file_, random_file::open(files_[index].path, stop_));
  open_ = index;
  return {};
}

result<buffer> record_files::read(uint64_t first, uint64_t count) {
  if (!bad_.ok() && first + 1 == size_)
    return bad_;
  const auto index = find(first);
  HEADRACE_TRY(open(index));
  const auto& f = files_[index];
  const auto record = static_cast<uint64_t>(layout_.record_bytes);
  mutable_buffer out{static_cast<size_t>(count * record)};
  const auto at = static_cast<uint64_t>(layout_.header_bytes) + (first - f.first) * record;
  HEADRACE_ASSIGN(const auto done, file_->read_some(at, {out.data(), out.size()}));
  if (done < out.size())
    return data_loss(fmt::format("'{}' ends at offset {} now; it was longer", f.path, at + done));
  return std::move(out).freeze();
}

status check_size(const std::string& path, uint64_t bytes, const record_layout& layout,
                  const char* unpacked) {
  const auto frame = static_cast<uint64_t>(layout.header_bytes + layout.footer_bytes);
  const auto record = static_cast<uint64_t>(layout.record_bytes);
  if (bytes < frame)
    return invalid_argument(
      fmt::format("'{}' has {} bytes{}; header ({}) and footer ({}) alone take {}", path, bytes,
                  unpacked, layout.header_bytes, layout.footer_bytes, frame));
  if (const auto left = (bytes - frame) % record; left != 0)
    return invalid_argument(fmt::format(
      "'{}' has {} bytes{}; without header ({}) and footer ({}) they are {} records of {} bytes "
      "and {} bytes more",
      path, bytes, unpacked, layout.header_bytes, layout.footer_bytes, (bytes - frame) / record,
      record, left));
  return {};
}

} // namespace headrace::detail
