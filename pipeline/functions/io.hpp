#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <optional>

/// Functions that read and write serialised data, and read files.
namespace headrace::io {

/// Reads the bytes of each string as values of `type`, along a new last axis of unknown extent. If
/// the strings of a row have different lengths, or a length that is no multiple of the size of a
/// value, this is an error of the row.
expr decode_raw(const expr& bytes, dtype type, bool little_endian = true);
template <plain_value T>
expr decode_raw(const expr& bytes, bool little_endian = true) {
  return decode_raw(bytes, dtype_of<T>, little_endian);
}

/// A tensor of any dtype and shape as a serialised `TensorProto` of TensorFlow, which
/// `parse_tensor` and TensorFlow can read.
expr serialize_tensor(const expr& tensor);
/// The tensor in a serialised `TensorProto` (a scalar string). Its rank is not known while tracing.
/// A tensor of another dtype, damaged bytes, and a tensor with another number of axes than the
/// first tensor of its block are errors of the row.
expr parse_tensor(const expr& serialized, dtype type);

/// A feature with a tensor of known shape in each example; int64, float32 or string. If it is
/// missing, or has another number of values, the row fails with an error that names the feature.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type);
/// As above, for a feature that may be missing. If it is missing, the tensor is `default_value`, a
/// constant; a scalar default is repeated to the shape `dims`.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type, const expr& default_value);
/// A feature that becomes a vector of any number of values. If it is missing, the vector is empty.
feature_spec var_len_feature(std::string name, dtype type);

/// A feature with any number of steps of shape `dims`, which becomes a tensor [steps, dims...]. A
/// missing feature has no steps. Among the `sequence_features` of `parse_sequence_example`, the
/// feature is a feature list, each entry of which is a step. In a vector of examples, `filler` (a
/// scalar; by default 0 or an empty string) fills up examples with fewer steps than the others.
feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type);
feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type,
                                        const expr& filler);
/// A feature whose values are divided into lines of different lengths. It becomes a tensor [lines,
/// longest], in which each line is filled to the length of the longest line with `filler` (a
/// scalar; by default 0 or an empty string). The feature `lengths_name` (int64) contains the
/// lengths, which must add up to the number of values.
feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type);
feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type,
                            const expr& filler);
/// A feature that becomes a vector of `size` places. The feature `index_name` (int64) contains the
/// place of each value; each place occurs at most once. Places without a value have the value
/// `filler` (by default 0 or an empty string).
feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size);
feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size,
                            const expr& filler);

/// Parses a serialised `tf.train.Example` in a scalar string to a named structure with one tensor
/// for each feature, in the given order. For a vector of examples, each tensor has a new first
/// axis; a feature whose length differs between the examples is filled to the greatest length with
/// its filler, by default with 0 or empty strings.
expr_structure parse_example(const expr& serialized, std::vector<feature_spec> features);

/// A field that `decode_csv` reads.
struct csv_field {
  dtype type = dtype::string; ///< string, a float or an integer
  /// The value, a constant scalar, of a field that is empty or equal to `na_value`. Without it,
  /// such a field is an error of the row.
  std::optional<expr> missing = std::nullopt;
};
struct csv_format {
  char delimiter = ',';
  bool quotes = true; ///< a field may be enclosed in quotes, in which `""` stands for a quote
  std::string na_value;
  /// The indices of the fields of a line that are read, ascending; empty: all fields are read.
  std::vector<int64_t> select = {};
};
/// Parses strings, each of which is a line of a table. Returns one tensor for each of `fields`,
/// with the shape of `lines`.
std::vector<expr> decode_csv(const expr& lines, const std::vector<csv_field>& fields,
                             const csv_format& format = {});

/// The bytes of the files `names`, read on the host on which the function runs. A file that cannot
/// be read is an error of the row.
expr read_file(const expr& names);

/// Parses a serialised `tf.train.SequenceExample` to two named structures: its context, which is
/// read as `parse_example` reads an example, and its feature lists. Each of `sequence_features` is
/// a `fixed_len_sequence_feature`, or a `var_len_feature`, whose steps may have different lengths
/// and are filled with zeros or empty strings to the longest: [steps, longest]. A list that is
/// missing has no steps. One of the two vectors of features may be empty, but not both.
std::pair<expr_structure, expr_structure>
parse_sequence_example(const expr& serialized, std::vector<feature_spec> context_features,
                       std::vector<feature_spec> sequence_features);

} // namespace headrace::io
