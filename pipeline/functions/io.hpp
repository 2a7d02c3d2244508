#pragma once

#include "headrace/pipeline/functions/structure.hpp"

/// Functions that take serialised data apart.
namespace headrace::io {

/// The bytes of each string as values of `type`: a new last axis of unknown extent. A length that
/// is no multiple of the value's size is an error of the row.
expr decode_raw(const expr& bytes, dtype type, bool little_endian = true);
template <plain_value T>
expr decode_raw(const expr& bytes, bool little_endian = true) {
  return decode_raw(bytes, dtype_of<T>, little_endian);
}

/// A feature with a tensor of known shape in each example; int64, float32 or string. Missing
/// without a default, or with another number of values: an error of the row that names the
/// feature.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type);
/// The same; where it is missing, `default_value` (a constant) stands for it: a scalar is repeated.
feature_spec fixed_len_feature(std::string name, shape dims, dtype type, const expr& default_value);
/// A feature with any number of values, or missing (none): a vector.
feature_spec var_len_feature(std::string name, dtype type);

/// Parses a serialised `tf.train.Example` in a scalar string to a named structure with one tensor
/// a feature, in the order given.
expr_structure parse_example(const expr& serialized, std::vector<feature_spec> features);

} // namespace headrace::io
