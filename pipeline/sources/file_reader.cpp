#include "headrace/pipeline/sources/file_reader.hpp"

#include <fmt/format.h>

namespace headrace::detail {

file_reader::file_reader(engine& shared, const dataset_node& node, const place& at, column files)
  : operator_iterator(shared, node),
    files_(std::move(files)),
    splits_(shared, at, static_cast<uint64_t>(files_.total_values())) {}

result<bool> file_reader::open_next() {
  HEADRACE_ASSIGN(const auto more, splits_.here());
  if (!more)
    return false;
  file_ = more->first;
  splits_.pass(1);
  HEADRACE_TRY(open(0));
  return true;
}

status file_reader::open(uint64_t offset) {
  path_ = files_.string(file_);
  HEADRACE_ASSIGN(auto bytes, open_bytes(path_, file_compression(node_), engine_.context().stop));
  if (offset != 0) {
    HEADRACE_ASSIGN(const bool there, bytes->skip(offset));
    if (!there)
      return data_loss(fmt::format(
        "'{}' ends before offset {}, where the saved position is: it is not what it was", path_,
        offset));
  }
  window_.emplace(std::move(bytes), offset);
  return {};
}

// Saves: numbers: those of the splits; whether a file is open, which one, and how many of its
// (decompressed) bytes were used.
void file_reader::save_to(position& to) const {
  splits_.save_to(to, window_.has_value());
  to.numbers.push_back(window_.has_value());
  to.numbers.push_back(file_);
  to.numbers.push_back(window_ ? window_->offset() : 0);
}

status file_reader::restore_from(position_reader& from) {
  splits_.restore_from(from);
  const bool opened = from.flag();
  file_ = from.number(static_cast<uint64_t>(files_.total_values()));
  const auto offset = from.number();
  if (!opened || !from.fits())
    return {};
  if (file_ == static_cast<uint64_t>(files_.total_values())) {
    from.refuse();
    return {};
  }
  return open(offset);
}

std::optional<block> file_reader::produce(const limits& wanted) {
  // The source ends with its error.
  const auto fail = [this](const status& why) {
    splits_.close();
    auto out = last_failure(why.with_context(to_string(node_.op)));
    if (splits_.provided())
      out.origins = {splits_.from(file_, 1, 0)};
    return out;
  };
  if (!pending_.ok())
    return fail(pending_);
  while (true) {
    if (!window_) {
      auto more = open_next();
      if (!more)
        return fail(more.status());
      if (!*more)
        return std::nullopt;
    }
    string_rows rows{wanted};
    auto more = read(*window_, path_, rows);
    if (!more) {
      pending_ = more.status();
      if (rows.rows() == 0)
        return fail(pending_);
    } else if (!*more) {
      window_.reset();
      if (rows.rows() == 0)
        continue;
    }
    ++kernel_calls_;
    auto out = rows.finish();
    if (splits_.provided())
      out.origins = {splits_.from(file_, out.rows, 0)};
    return out;
  }
}

} // namespace headrace::detail
