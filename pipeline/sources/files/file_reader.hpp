#pragma once

#include "headrace/pipeline/files/byte_stream.hpp"
#include "headrace/pipeline/sources/files/file_source.hpp"

#include <optional>

namespace headrace::detail {

/// Strings that are collected for a column of scalars.
class string_rows {
public:
  explicit string_rows(const limits& wanted) : wanted_(wanted) {
    borders_.reserve(sizeof(int64_t) * (std::min<size_t>(wanted.rows, 8192) + 1));
    borders_.push_back(int64_t{0});
  }
  bool full() const noexcept { return rows_ >= wanted_.rows || bytes_.size() >= wanted_.bytes; }
  size_t rows() const noexcept { return rows_; }
  void append(const std::byte* data, size_t size) {
    bytes_.append(data, size);
    borders_.push_back(static_cast<int64_t>(bytes_.size()));
    ++rows_;
  }
  block finish() {
    block out;
    out.rows = rows_;
    out.columns.push_back(column::strings({}, rows_, borders_.finish(), bytes_.finish()));
    return out;
  }

private:
  limits wanted_;
  size_t rows_ = 0;
  buffer_builder borders_, bytes_;
};

/// A source whose splits are files and whose rows are strings in them. A place in a file is an
/// offset in its decompressed bytes.
class file_reader : public file_source {
public:
  using file_source::file_source;

protected:
  /// Appends rows of the open file until `to` is full, or the file ends (false). If an error is
  /// returned, the source returns the rows that were appended before it, and then the error.
  virtual result<bool> append_rows(byte_window& from, const std::string& path, string_rows& to) = 0;

private:
  status open(const std::string& path, file_place from) final;
  file_portion read(const limits& wanted) final;
  file_place here() const final { return {window_->offset()}; }

  std::string path_;
  std::optional<byte_window> window_; ///< the bytes of the open file
};

} // namespace headrace::detail
