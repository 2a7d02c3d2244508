#include "headrace/pipeline/storage/saved_manifest.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/storage/stored_record.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>
#include <headrace/schemas/saved.capnp.h>

namespace headrace::detail {

namespace {

constexpr uint16_t current_version = 1;

std::string path_in(const std::string& folder) { return folder + "/dataset.headrace"; }

/// True if `name` has the form of the name of a file in the folder, or of `pieces/<number>/<name>`,
/// a file in the folder of a piece.
bool names_file(std::string_view name) {
  constexpr std::string_view pieces = "pieces/";
  if (name.starts_with(pieces)) {
    name.remove_prefix(pieces.size());
    const auto digits = name.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || name[digits] != '/')
      return false;
    name.remove_prefix(digits + 1);
  }
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

result<saved_manifest> decode(schema::SavedDataset::Reader in) {
  if (in.getVersion() != current_version)
    return invalid_argument(fmt::format("it is of version {}; this build reads version {}",
                                        in.getVersion(), current_version));
  saved_manifest out;
  out.id = in.getId();
  HEADRACE_ASSIGN(out.spec, detail::decode(in.getSpec()));
  if (in.getCompression() > schema::SavedDataset::Compression::GZIP)
    return invalid_argument("it is compressed in a way that this build does not know");
  out.compression = static_cast<saved_compression>(in.getCompression());
  for (auto shard : in.getShards()) {
    auto& to = out.shards.emplace_back();
    to.file = string_of(shard.getFile());
    if (!names_file(to.file))
      return data_loss(fmt::format("'{}' is no name of a file in its folder", to.file));
    to.bytes = shard.getBytes();
    for (auto one : shard.getBlocks()) {
      if (one.getRows() == 0 || one.getOffset() >= to.bytes)
        return data_loss(fmt::format("a block of {} rows at offset {} of '{}', which has {} bytes",
                                     one.getRows(), one.getOffset(), to.file, to.bytes));
      to.blocks.push_back({one.getOffset(), one.getRows()});
    }
  }
  return out;
}

} // namespace

uint64_t saved_manifest::rows() const noexcept {
  uint64_t out = 0;
  for (const auto& shard : shards)
    for (const auto& one : shard.blocks) out += one.rows;
  return out;
}

uint64_t saved_manifest::blocks() const noexcept {
  uint64_t out = 0;
  for (const auto& shard : shards) out += shard.blocks.size();
  return out;
}

result<std::optional<saved_manifest>> find_saved(const std::string& folder) {
  const auto path = path_in(folder);
  auto file = random_file::open(path);
  if (!file) {
    if (file.status().code() == status_code::not_found)
      return std::optional<saved_manifest>{};
    return file.status();
  }
  HEADRACE_ASSIGN(const auto bytes, read_stored_record(**file, 0, (*file)->bytes()));
  auto out = read_message<schema::SavedDataset>(
    bytes, [](schema::SavedDataset::Reader in) { return decode(in); });
  if (!out)
    return out.status().with_context(fmt::format("'{}'", path));
  return std::optional{*std::move(out)};
}

result<saved_manifest> read_saved(const std::string& folder) {
  HEADRACE_ASSIGN(auto found, find_saved(folder));
  if (!found)
    return not_found(fmt::format("'{}' holds no saved dataset: there is no '{}' (it is written "
                                 "last, when all elements are)",
                                 folder, path_in(folder)));
  return *std::move(found);
}

status write_saved(const std::string& folder, const saved_manifest& what, bool replace) {
  ::capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::SavedDataset>();
  out.setVersion(current_version);
  out.setId(what.id);
  encode(what.spec, out.initSpec());
  out.setCompression(static_cast<schema::SavedDataset::Compression>(what.compression));
  auto shards = out.initShards(static_cast<unsigned>(what.shards.size()));
  for (unsigned i = 0; i < shards.size(); ++i) {
    const auto& from = what.shards[i];
    shards[i].setFile(text_of(from.file));
    shards[i].setBytes(from.bytes);
    auto blocks = shards[i].initBlocks(static_cast<unsigned>(from.blocks.size()));
    for (unsigned n = 0; n < blocks.size(); ++n) {
      blocks[n].setOffset(from.blocks[n].offset);
      blocks[n].setRows(from.blocks[n].rows);
    }
  }
  const auto bytes = canonical_bytes<schema::SavedDataset>(message);
  HEADRACE_ASSIGN(auto file, tfrecord_writer::open(path_in(folder), {.replace = replace}));
  HEADRACE_TRY(file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return file.finish();
}

} // namespace headrace::detail
