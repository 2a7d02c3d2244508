#include "headrace/pipeline/sources/files/file_reader.hpp"

#include <fmt/format.h>

namespace headrace::detail {

status file_reader::open(const std::string& path, file_place from) {
  path_ = path;
  HEADRACE_ASSIGN(auto bytes,
                  open_bytes(path_, compression_of_files(node_), engine_.context().stop));
  if (from.offset != 0) {
    HEADRACE_ASSIGN(const bool there, bytes->skip(from.offset));
    if (!there)
      return data_loss(fmt::format(
        "'{}' ends before offset {}, where the saved position is: it is not what it was", path_,
        from.offset));
  }
  window_.emplace(std::move(bytes), from.offset);
  return {};
}

file_portion file_reader::read(const limits& wanted) {
  string_rows rows{wanted};
  const auto more = append_rows(*window_, path_, rows);
  file_portion out;
  if (!more)
    out.why = more.status();
  else if (!*more) {
    out.over = true;
    window_.reset();
  }
  if (rows.rows() != 0)
    out.rows = rows.finish();
  return out;
}

} // namespace headrace::detail
