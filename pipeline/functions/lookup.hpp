#pragma once

#include "headrace/pipeline/functions/expr.hpp"

/// Tables that travel with the graph: a worker needs no file that the program had.
namespace headrace::lookup {

/// A table from keys to values: constants of the graph. Cheap to copy.
class table {
public:
  /// `keys`: a constant vector of strings or integers without repetition. `values`: a constant
  /// vector, as long. `default_value`: a constant scalar of the values' dtype, for other keys.
  /// Throws `error` (invalid_argument) naming what does not fit.
  table(const expr& keys, const expr& values, const expr& default_value);

  /// The value of each key: the shape of `keys`, which must have the dtype of the table's.
  expr lookup(const expr& keys) const;
  /// Ids that `lookup` gives, or entries if values are no ids: with the buckets.
  int64_t size() const;

private:
  friend table vocabulary_table(const std::vector<std::string>&, int64_t);
  expr keys_, values_, default_;
  int64_t buckets_ = 0;
};

/// The place (int64) of each word in `words`. Others are spread over `num_oov_buckets` ids that
/// follow (`words.size() + fingerprint64(word) mod num_oov_buckets`); without buckets they are -1.
table vocabulary_table(const std::vector<std::string>& words, int64_t num_oov_buckets = 0);
/// The word at each place (int64); `default_value` for others.
table index_to_string(const std::vector<std::string>& words,
                      const std::string& default_value = "UNK");

/// The lines of a text file, read now and here. Throws `error` if it cannot be read.
std::vector<std::string> read_vocabulary(const std::string& path);

} // namespace headrace::lookup
