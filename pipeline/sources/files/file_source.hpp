#pragma once

#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

/// Rows read from a file.
struct file_portion {
  block rows;        ///< empty: there is no row before `why` or the end of the file
  bool over = false; ///< the file has no more rows
  status why;        ///< not ok: the source ends with this error, after the rows
};

/// The place in a file after the rows that were returned.
struct file_place {
  uint64_t offset = 0; ///< in a unit that the derived class chooses
  uint64_t line = 0;   ///< for error messages
};

/// A source whose splits are files and whose rows have any components.
class file_source : public operator_iterator {
public:
  file_source(engine& shared, const dataset_node& node, const place& at, column files);

protected:
  /// Begins to read a file.
  virtual status open(const std::string& path, file_place from) = 0;
  /// The next rows of the open file.
  virtual file_portion read(const limits& wanted) = 0;
  /// @pre a file is open
  virtual file_place here() const = 0;

private:
  std::optional<block> produce(const limits& wanted) final;
  void save_to(position& to) const final;
  status restore_from(position_reader& from) final;
  result<bool> open_next();
  block fail(const status& why);

  column files_;
  split_cursor splits_;
  uint64_t file_ = 0; ///< the number of the file that was opened last
  bool open_ = false;
  status pending_; ///< an error that is returned after the rows that precede it
};

} // namespace headrace::detail
