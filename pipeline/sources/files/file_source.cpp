#include "headrace/pipeline/sources/files/file_source.hpp"

namespace headrace::detail {

file_source::file_source(engine& shared, const dataset_node& node, const place& at, column files)
  : operator_iterator(shared, node),
    files_(std::move(files)),
    splits_(shared, at, static_cast<uint64_t>(files_.total_values())) {}

result<bool> file_source::open_next() {
  HEADRACE_ASSIGN(const auto more, splits_.here());
  if (!more)
    return false;
  file_ = more->first;
  splits_.pass(1);
  HEADRACE_TRY(open(std::string{files_.string(file_)}, {}));
  open_ = true;
  return true;
}

// Ends the source; returns its last row, which has this error.
block file_source::fail(const status& why) {
  splits_.close();
  auto out = last_failure(why.with_context(to_string(node_.op)));
  if (splits_.provided())
    out.origins = {splits_.from(file_, 1, 0)};
  return out;
}

std::optional<block> file_source::produce(const limits& wanted) {
  if (!pending_.ok())
    return fail(pending_);
  while (true) {
    if (!open_) {
      auto more = open_next();
      if (!more)
        return fail(more.status());
      if (!*more)
        return std::nullopt;
    }
    auto got = read(wanted);
    pending_ = std::move(got.why);
    if (got.over)
      open_ = false;
    if (got.rows.rows != 0) {
      ++kernel_calls_;
      if (splits_.provided())
        got.rows.origins = {splits_.from(file_, got.rows.rows, 0)};
      return std::move(got.rows);
    }
    if (!pending_.ok())
      return fail(pending_);
    if (engine_.stopped())
      return fail(cancelled("the iteration was stopped"));
  }
}

// Saves as numbers: the numbers of `splits_`; whether a file is open, the number of this file, and
// the place in it.
void file_source::save_to(position& to) const {
  splits_.save_to(to, open_);
  const auto at = open_ ? here() : file_place{};
  for (uint64_t x : {uint64_t{open_}, file_, at.offset, at.line}) to.numbers.push_back(x);
}

status file_source::restore_from(position_reader& from) {
  splits_.restore_from(from);
  open_ = from.flag();
  file_ = from.number(static_cast<uint64_t>(files_.total_values()));
  const auto offset = from.number();
  const auto line = from.number();
  if (!open_ || !from.fits())
    return {};
  if (file_ == static_cast<uint64_t>(files_.total_values())) {
    from.refuse();
    return {};
  }
  return open(std::string{files_.string(file_)}, {offset, line});
}

} // namespace headrace::detail
