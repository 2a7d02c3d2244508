#pragma once

#include "headrace/pipeline/functions/expr.hpp"

/// Lookup tables. They are part of the graph, so a worker does not need a vocabulary file that the
/// program has read.
namespace headrace::lookup {

/// A table that maps keys to values, which are constants of the graph. A table is cheap to copy.
class table {
public:
  /// `keys`: a constant vector of strings or integers; equal keys must have equal values. `values`:
  /// a constant vector of the same length. `default_value`: the value of all other keys, a constant
  /// scalar of the values' dtype. Throws `error` if the arguments do not fit.
  table(const expr& keys, const expr& values, const expr& default_value);

  /// The value of each key, in the shape of `keys`. `keys` must have the dtype of the table's keys.
  expr lookup(const expr& keys) const;
  /// The number of different keys, plus `num_oov_buckets` for a `vocabulary_table`.
  int64_t size() const;

private:
  friend table vocabulary_table(const std::vector<std::string>&, int64_t);
  expr keys_, values_, default_;
  int64_t buckets_ = 0;
};

/// A table that maps each word to its index (int64) in `words`. A word that is not in `words` is
/// mapped to `words.size() + (fingerprint64(word) mod num_oov_buckets)` (with FarmHash's
/// fingerprint64), or to -1 if `num_oov_buckets` is 0.
table vocabulary_table(const std::vector<std::string>& words, int64_t num_oov_buckets = 0);
/// A table that maps each index (int64) in `words` to the word there, and any other number to
/// `default_value`.
table index_to_string(const std::vector<std::string>& words,
                      const std::string& default_value = "UNK");

/// The lines of a text file, which this process reads during the call. Throws `error` if the file
/// cannot be read.
std::vector<std::string> read_vocabulary(const std::string& path);

} // namespace headrace::lookup
