#include "headrace/pipeline/sources/file_reader.hpp"

#include <fmt/format.h>

namespace headrace::detail {

file_reader::file_reader(engine& shared, const dataset_node& node, const place& at, column files)
  : operator_iterator(shared, node),
    files_(std::move(files)),
    splits_(shared, at, static_cast<uint64_t>(files_.total_values())) {}

result<bool> file_reader::open_next() {
  if (now_.count == 0) {
    HEADRACE_ASSIGN(auto more, splits_.next());
    if (!more)
      return false;
    now_ = *more;
  }
  file_ = now_.first++;
  --now_.count;
  path_ = files_.string(file_);
  HEADRACE_ASSIGN(auto bytes, open_bytes(path_, node_.text));
  window_.emplace(std::move(bytes));
  return true;
}

std::optional<block> file_reader::produce(const limits& wanted) {
  // The source ends with its error.
  const auto fail = [this](const status& why) {
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
