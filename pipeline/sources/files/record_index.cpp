#include "headrace/pipeline/sources/files/record_index.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/files/tfrecord_format.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/runtime/base/crc32c.hpp"
#include "headrace/runtime/base/read_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <headrace/schemas/record_index.capnp.h>
#include <unistd.h>

namespace headrace::detail {

namespace {

namespace fs = std::filesystem;

constexpr uint16_t current_version = 1;
constexpr size_t most_stored_bytes = size_t{1} << 28;
constexpr std::string_view suffix = ".index";

std::vector<fs::path> places_for(const std::string& path) {
  const auto whole = fs::absolute(path);
  std::vector<fs::path> out{whole.parent_path()
                            / ("." + whole.filename().string() + std::string{suffix})};
  fs::path cache;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder)
    cache = folder;
  else if (const char* home = std::getenv("HOME"); home && *home)
    cache = fs::path{home} / ".cache";
  const auto text = whole.string();
  if (!cache.empty())
    out.push_back(cache / "headrace"
                  / (fingerprint(buffer::copy_of(text.data(), text.size())) + ".index"));
  return out;
}

// Empty if the index is missing, damaged, or made for another file.
std::vector<uint64_t> load(const fs::path& from, const random_file& file) {
  const auto bytes = read_text(from.string());
  if (bytes.empty())
    return {};
  auto out = read_message<schema::RecordIndex>(
    buffer::copy_of(bytes.data(), bytes.size()),
    [&](schema::RecordIndex::Reader index) -> result<std::vector<uint64_t>> {
      const auto data = index.getOffsets();
      const auto* begin = reinterpret_cast<const std::byte*>(data.begin());
      if (index.getVersion() != current_version || index.getFileBytes() != file.bytes()
          || index.getModifiedNs() != file.modified_ns()
          || index.getChecksum() != crc32c(begin, data.size()))
        return data_loss("another file's");
      std::vector<uint64_t> offsets(data.size() / sizeof(uint64_t));
      if (!offsets.empty())
        std::memcpy(offsets.data(), begin, offsets.size() * sizeof(uint64_t));
      return offsets;
    });
  return out ? *std::move(out) : std::vector<uint64_t>{};
}

// False: the index cannot be written to this file.
bool store(const fs::path& to, const random_file& file, const std::vector<uint64_t>& offsets) {
  const auto size = offsets.size() * sizeof(uint64_t);
  if (size > most_stored_bytes)
    return true; // an index of this size is not stored: it is built each time
  ::capnp::MallocMessageBuilder message;
  auto index = message.initRoot<schema::RecordIndex>();
  index.setVersion(current_version);
  index.setFileBytes(file.bytes());
  index.setModifiedNs(file.modified_ns());
  const auto* bytes = reinterpret_cast<const std::byte*>(offsets.data());
  index.setChecksum(crc32c(bytes, size));
  index.setOffsets(kj::arrayPtr(reinterpret_cast<const kj::byte*>(bytes), size));
  const auto record = canonical_bytes<schema::RecordIndex>(message);
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  // The index is written to a file with another name, which is then renamed, so that other
  // processes see the whole index or none.
  auto part = to;
  part += "." + std::to_string(::getpid());
  bool written = false;
  {
    std::ofstream out{part, std::ios::binary};
    out.write(reinterpret_cast<const char*>(record.data()),
              static_cast<std::streamsize>(record.size()));
    written = static_cast<bool>(out.flush());
  }
  if (written)
    fs::rename(part, to, failed);
  if (written && !failed)
    return true;
  fs::remove(part, failed);
  return false;
}

result<std::vector<uint64_t>> build(const random_file& file) {
  std::vector<uint64_t> out;
  std::vector<std::byte> window(size_t{1} << 18);
  uint64_t begin = 0; // the offset of the window
  size_t size = 0;
  for (uint64_t at = 0; at < file.bytes();) {
    if (at < begin || at + tfrecord_header > begin + size) {
      begin = at;
      size = std::min<uint64_t>(window.size(), file.bytes() - at);
      HEADRACE_TRY(file.read(at, std::span{window}.first(size)));
      if (size < tfrecord_header)
        return data_loss(fmt::format(
          "'{}' ends in the middle of the length of the record at offset {}", file.path(), at));
    }
    const auto length = tfrecord_length(window.data() + (at - begin));
    if (!length)
      return data_loss(
        fmt::format("'{}': the length of the record at offset {} does not match its checksum",
                    file.path(), at));
    const auto left = file.bytes() - at;
    if (*length > left || tfrecord_header + *length + tfrecord_footer > left)
      return data_loss(fmt::format("'{}' ends in the middle of the data of the record at offset {}",
                                   file.path(), at));
    out.push_back(at);
    at += tfrecord_header + *length + tfrecord_footer;
  }
  out.push_back(file.bytes());
  return out;
}

bool fits(const std::vector<uint64_t>& offsets, const random_file& file) {
  if (offsets.empty() || offsets.back() != file.bytes())
    return false;
  const auto too_short = [](uint64_t begin, uint64_t end) {
    return end < begin || end - begin < tfrecord_header + tfrecord_footer;
  };
  return std::ranges::adjacent_find(offsets, too_short) == offsets.end();
}

} // namespace

bool is_record_index(std::string_view name) noexcept {
  if (!name.starts_with('.'))
    return false;
  // While it is written, the number of the process follows the suffix.
  const auto end = name.find_last_not_of("0123456789");
  if (end + 1 < name.size() && name[end] == '.')
    name = name.substr(0, end);
  return name.ends_with(suffix);
}

result<std::vector<uint64_t>> record_offsets(const std::string& path) {
  HEADRACE_ASSIGN(const auto file, random_file::open(path));
  const auto places = places_for(path);
  for (const auto& place : places)
    if (auto known = load(place, *file); fits(known, *file))
      return known;
  HEADRACE_ASSIGN(auto out, build(*file));
  for (const auto& place : places)
    if (store(place, *file, out))
      break;
  return out;
}

} // namespace headrace::detail
