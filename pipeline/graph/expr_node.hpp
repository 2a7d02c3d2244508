#pragma once

#include "headrace/pipeline/types/column.hpp"
#include "headrace/pipeline/types/spec.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

struct expr_node;
struct function_scope;
using expr_ptr = std::shared_ptr<const expr_node>;

/// One application of a column function. The number of each is what is stored in graphs: append
/// only.
enum class expr_op : uint16_t {
  parameter = 0, ///< component `attrs.index` of the function `scope`
  constant = 1,  ///< `attrs.value`: a column of one row
  // arithmetic
  add = 10,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo, ///< with the sign of the dividend, as C++'s %
  negate,
  absolute,
  minimum,
  maximum,
  power,
  floor_modulo, ///< with the sign of the divisor
  // elementwise functions of floats
  square = 30,
  sqrt,
  exp,
  log,
  tanh,
  floor,
  ceil,
  round,
  sign,
  sin,
  cos,
  is_nan,
  // comparison and logic
  equal = 50,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_not,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  // choice and conversion
  where =
    70, ///< inputs condition, x, y; rows that do not choose a branch cannot fail because of it
  cast, ///< to `spec.type`; out-of-range values are errors
  // reductions over `attrs.axes` (empty: all), `attrs.flag` keeps the dimensions
  reduce_sum = 80,
  reduce_mean,
  reduce_max,
  reduce_min,
  reduce_prod,
  reduce_all,
  reduce_any,
  argmax,
  argmin,
  // shape
  reshape = 100, ///< to `attrs.dims`, one of which may be -1
  index,         ///< `attrs.slices` (numpy's basic indexing)
  stack,         ///< inputs along new axis `attrs.index`
  concat,        ///< inputs along axis `attrs.index`
  transpose,     ///< by permutation `attrs.dims`
  expand_dims,   ///< at axis `attrs.index`
  squeeze,       ///< at `attrs.axes`
  shape_of,      ///< int64 vector
  size,          ///< int64 scalar
  fill,          ///< shape `attrs.dims` of the scalar input
  gather,        ///< input 0 at indices input 1 along axis `attrs.index`
  // strings
  string_length = 130,
  string_upper,
  string_lower,
  string_split,
  string_join,
  to_number,
  as_string,
  string_strip,
  string_reduce_join, ///< input's last axis joined by `attrs.text`
  // parsing
  decode_raw = 150, ///< string to vector of `spec.type`; `attrs.flag`: little endian
  parse_example, ///< one string to the features of `attrs.features`; result component `attrs.index`
};

/// One part of numpy's basic indexing.
struct slice_spec {
  enum class kind : uint8_t { index, range, new_axis, ellipsis };
  kind what = kind::range;
  int64_t start = 0; ///< also the index
  int64_t stop = 0;
  int64_t step = 1;
  bool has_start = false, has_stop = false;
  friend bool operator==(const slice_spec&, const slice_spec&) = default;
};

/// One feature that `parse_example` reads: a tensor of fixed shape, with a default if it may be
/// missing; or (`variable`) a vector of as many values as there are.
struct feature_spec {
  std::string name;
  dtype type = dtype::float32; ///< int64, float32 or string
  shape dims;
  bool variable = false;
  bool has_default = false;
  column default_value; ///< one row of the feature's spec, if `has_default`
};

/// What an op needs beside its inputs; each op names above what it reads.
struct expr_attrs {
  int64_t index = 0;
  bool flag = false;
  std::vector<int64_t> axes;
  std::vector<int64_t> dims;
  std::vector<slice_spec> slices;
  std::string text; ///< separators, encodings
  column value;     ///< constants: one row
  std::vector<feature_spec> features;
};

/// A node of a traced function: immutable, shared by all that use its result. Result `spec` is
/// inferred when it is made (see functions/build.hpp), so a node that exists is well typed.
struct expr_node {
  expr_op op = expr_op::constant;
  std::vector<expr_ptr> inputs;
  expr_attrs attrs;
  tensor_spec spec;
  /// For parameters: the function whose argument this is. Compared by identity only.
  std::shared_ptr<const function_scope> scope;
};

/// Identity of one traced function; parameters of an outer function that appear in an inner one are
/// its captures.
struct function_scope {};

} // namespace headrace
