#include "headrace/pipeline/saving/save_plan.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/storage/stored_record.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>
#include <headrace/schemas/saved.capnp.h>

#include <algorithm>
#include <filesystem>

namespace headrace::detail {

namespace {

constexpr uint16_t current_version = 1;

std::string plan_path(const std::string& folder) { return folder + "/saving.headrace"; }
std::string failure_path(const std::string& folder) { return folder + "/failed.headrace"; }

result<save_plan> decode(schema::SavePlan::Reader in) {
  if (in.getVersion() != current_version)
    return invalid_argument(fmt::format("it is of version {}; this build reads version {}",
                                        in.getVersion(), current_version));
  if (in.getCompression() > schema::SavedDataset::Compression::GZIP)
    return invalid_argument("it is compressed in a way that this build does not know");
  save_plan out;
  out.id = in.getId();
  out.fingerprint = string_of(in.getFingerprint());
  HEADRACE_ASSIGN(out.spec, detail::decode(in.getSpec()));
  out.compression = static_cast<saved_compression>(in.getCompression());
  out.seed = in.getSeed();
  out.whole_because = string_of(in.getWholeBecause());
  uint64_t pieces = 0;
  for (auto one : in.getSections()) {
    save_plan::section section{one.getGroup(), one.getPass(), one.getSplits(), one.getPieceSplits(),
                               one.getDigest()};
    if (section.piece_splits == 0 || section.pieces() > most_save_pieces
        || (pieces += section.pieces()) > most_save_pieces)
      return data_loss(
        fmt::format("a pass of {} splits in pieces of {}", section.splits, section.piece_splits));
    out.sections.push_back(section);
  }
  return out;
}

/// Reads the only record of a file with `read`; empty if there is no such file.
template <class Schema, class Read>
auto read_file(const std::string& path, Read read)
  -> result<std::optional<typename decltype(read(typename Schema::Reader{}))::value_type>> {
  using value = typename decltype(read(typename Schema::Reader{}))::value_type;
  auto file = random_file::open(path);
  if (!file) {
    if (file.status().code() == status_code::not_found)
      return std::optional<value>{};
    return file.status();
  }
  HEADRACE_ASSIGN(const auto bytes, read_stored_record(**file, 0, (*file)->bytes()));
  auto out = read_message<Schema>(bytes, read);
  if (!out)
    return out.status().with_context(fmt::format("'{}'", path));
  return std::optional<value>{*std::move(out)};
}

template <class Schema>
status write_file(const std::string& path, ::capnp::MallocMessageBuilder& message, bool replace) {
  const auto bytes = canonical_bytes<Schema>(message);
  HEADRACE_ASSIGN(auto file, tfrecord_writer::open(path, {.replace = replace}));
  HEADRACE_TRY(file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  return file.finish();
}

} // namespace

uint64_t save_plan::pieces() const noexcept {
  if (!divided())
    return 1;
  uint64_t out = 0;
  for (const auto& one : sections) out += one.pieces();
  return out;
}

uint64_t save_plan::id_of(uint64_t piece) const noexcept { return mix(id, piece) | 1; }

save_plan::piece save_plan::piece_of(uint64_t number) const noexcept {
  if (!divided())
    return {};
  for (const auto& one : sections) {
    if (number < one.pieces()) {
      const auto first = number * one.piece_splits;
      return {&one, {first, std::min(one.piece_splits, one.splits - first)}};
    }
    number -= one.pieces();
  }
  return {};
}

uint64_t splits_a_piece(uint64_t splits, const piece_sizing& how) noexcept {
  // There should not be too many pieces, because the files of each cost some milliseconds, and not
  // too few, because a piece that is lost with a worker is made again.
  constexpr uint64_t most_a_pass = 1024, few = 64, rows_a_piece = 262'144, a_worker = 8;
  const auto passes = std::max<uint64_t>(1, how.passes);
  const auto most = std::clamp<uint64_t>(most_save_pieces / passes, 1, most_a_pass);
  // If a source is repeated a thousand times, its passes need not be divided to get enough pieces
  // for all workers.
  const auto wanted = std::max(few, how.workers * a_worker) / passes;
  const auto least = std::clamp<uint64_t>(wanted, 1, most);
  const auto pieces = how.rows ? std::clamp(splits / rows_a_piece, least, most) : most;
  const auto size = std::max<uint64_t>(1, splits / pieces + (splits % pieces != 0));
  const auto multiples = size / how.multiple + (size % how.multiple != 0);
  uint64_t out = 0;
  if (__builtin_mul_overflow(multiples, how.multiple, &out))
    return splits;
  return std::min(out, std::max<uint64_t>(1, splits));
}

std::string piece_folder(const std::string& folder, uint64_t number) {
  return fmt::format("{}/pieces/{:05}", folder, number);
}

result<std::optional<save_plan>> find_save_plan(const std::string& folder) {
  return read_file<schema::SavePlan>(plan_path(folder),
                                     [](schema::SavePlan::Reader in) { return decode(in); });
}

status write_save_plan(const std::string& folder, const save_plan& what) {
  ::capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::SavePlan>();
  out.setVersion(current_version);
  out.setId(what.id);
  out.setFingerprint(text_of(what.fingerprint));
  encode(what.spec, out.initSpec());
  out.setCompression(static_cast<schema::SavedDataset::Compression>(what.compression));
  out.setSeed(what.seed);
  out.setWholeBecause(text_of(what.whole_because));
  auto sections = out.initSections(static_cast<unsigned>(what.sections.size()));
  for (unsigned i = 0; i < sections.size(); ++i) {
    const auto& from = what.sections[i];
    sections[i].setGroup(from.group);
    sections[i].setPass(from.pass);
    sections[i].setSplits(from.splits);
    sections[i].setPieceSplits(from.piece_splits);
    sections[i].setDigest(from.digest);
  }
  return write_file<schema::SavePlan>(plan_path(folder), message, false);
}

status note_save_failure(const std::string& folder, uint64_t plan, const status& why) {
  if (plan != 0) {
    HEADRACE_ASSIGN(const auto now, find_save_plan(folder));
    if (!now || now->id != plan)
      return {};
  }
  ::capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::SaveFailure>();
  out.setPlanId(plan);
  write_failure(out.initFailure(), why);
  return write_file<schema::SaveFailure>(failure_path(folder), message, true);
}

status noted_save_failure(const std::string& folder) {
  const auto read = [](schema::SaveFailure::Reader in) {
    return result{string_of(in.getFailure().getText())};
  };
  HEADRACE_ASSIGN(const auto found, read_file<schema::SaveFailure>(failure_path(folder), read));
  return found ? aborted(fmt::format("saving it ended early: {}", *found)) : status{};
}

void forget_save_failure(const std::string& folder) {
  std::error_code ignored; // another process may have removed the file
  std::filesystem::remove(failure_path(folder), ignored);
}

} // namespace headrace::detail
