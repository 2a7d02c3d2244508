#pragma once

#include "headrace/pipeline/functions/expr.hpp"

/// Tables that travel with the graph: a worker needs no file that the program had.
namespace headrace::lookup {

/// A table from keys to values: constants of the graph. Cheap to copy.
class table {
public:
  /// `keys`: a constant vector of strings or integers, repeated only with the same value. `values`:
  /// a constant vector, as long. `default_value`: a constant scalar of the values' dtype, for other
  /// keys. Throws `error` that names what does not fit.
  table(const expr& keys, const expr& values, const expr& default_value);

  /// The value of each key, in the shape of `keys`. The dtype must be that of the table's keys.
  expr lookup(const expr& keys) const;
  /// The number of different keys, plus the number of buckets.
  int64_t size() const;

private:
  friend table vocabulary_table(const std::vector<std::string>&, int64_t);
  expr keys_, values_, default_;
  int64_t buckets_ = 0;
};

/// The place (int64) of each word in `words`. Other words get one of the `num_oov_buckets` ids that
/// follow, `words.size() + fingerprint64(word) mod num_oov_buckets`, or -1 if there are no buckets.
table vocabulary_table(const std::vector<std::string>& words, int64_t num_oov_buckets = 0);
/// The word at each place (int64); `default_value` for others.
table index_to_string(const std::vector<std::string>& words,
                      const std::string& default_value = "UNK");

/// The lines of a text file, read now and here. Throws `error` if it cannot be read.
std::vector<std::string> read_vocabulary(const std::string& path);

} // namespace headrace::lookup
