#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <optional>

/// Functions that read and write serialised data, and read files.
namespace headrace::io {

/// The bytes of each string as values of `type`: a new last axis of unknown extent. Strings of
/// different lengths in one row, or a length that is no multiple of the value's size, are an error
/// of the row.
expr decode_raw(const expr& bytes, dtype type, bool little_endian = true);
template <plain_value T>
expr decode_raw(const expr& bytes, bool little_endian = true) {
  return decode_raw(bytes, dtype_of<T>, little_endian);
}

/// A tensor of any dtype and shape as TensorFlow's `TensorProto`: the bytes that `parse_tensor` and
/// TensorFlow read.
expr serialize_tensor(const expr& tensor);
/// The tensor in the bytes of a `TensorProto` (a scalar string), of a shape that is not known
/// before. A tensor of another dtype, damaged bytes, and a tensor with another number of axes than
/// the first one of its block are errors of the row.
expr parse_tensor(const expr& serialized, dtype type);

/// A feature with a tensor of known shape in each example; int64, float32 or string. If it is
/// missing, or has another number of values, this is an error of the row that names the feature.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type);
/// As above, for a feature that may be missing: it gets `default_value` (a constant), of which a
/// scalar is repeated.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type, const expr& default_value);
/// A feature with any number of values, or missing (none): a vector.
feature_spec var_len_feature(std::string name, dtype type);

/// A feature with any number of steps of shape `dims`, or missing (no steps): [steps, dims...]. In
/// a sequence example it is one of the feature lists, each entry of which is a step. In a vector of
/// examples, `filler` (a scalar; 0 or empty if not given) fills the steps up to the largest number.
feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type);
feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type,
                                        const expr& filler);
/// Lines of different lengths, filled with `filler` (a scalar) to the longest: [lines, longest].
/// Feature `lengths_name` (int64) holds the lengths, which must add up to the number of values.
feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type);
feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type,
                            const expr& filler);
/// A vector of `size` places, `filler` (0 or empty if not given) where there is no value: feature
/// `index_name` (int64) holds the places of the values, each at most once.
feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size);
feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size,
                            const expr& filler);

/// Parses a serialised `tf.train.Example` in a scalar string to a named structure with one tensor
/// for each feature, in the given order. For a vector of examples, each feature has a new first
/// axis; features of different lengths are filled to the longest, with the feature's filler or with
/// 0 or empty.
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
/// The fields of lines of a table: one tensor each, in the shape of `lines`.
std::vector<expr> decode_csv(const expr& lines, const std::vector<csv_field>& fields,
                             const csv_format& format = {});

/// The bytes of the files with these names, on the host on which the function runs. A file that
/// cannot be read is an error of the row.
expr read_file(const expr& names);

/// Parses a serialised `tf.train.SequenceExample` to two named structures: its context, read as
/// `parse_example` does, and its feature lists. Those are `fixed_len_sequence_feature`s, or
/// `var_len_feature`s whose steps, of different lengths, are filled with zeros or empty strings to
/// the longest: [steps, longest]. A list that is missing has no steps. One of the two vectors may
/// be empty, not both.
std::pair<expr_structure, expr_structure>
parse_sequence_example(const expr& serialized, std::vector<feature_spec> context_features,
                       std::vector<feature_spec> sequence_features);

} // namespace headrace::io
