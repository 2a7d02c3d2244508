#pragma once

#include "headrace/pipeline/types/column.hpp"
#include "headrace/pipeline/types/spec.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

namespace detail {
struct expr_node;
}
/// An expression of a traced function.
using expr_ptr = std::shared_ptr<const detail::expr_node>;

/// One part of numpy's basic indexing.
struct slice_spec {
  enum class kind : uint8_t { index, range, new_axis, ellipsis };
  kind what = kind::range;
  int64_t start = 0; ///< the start of a range, or the index
  int64_t stop = 0;
  int64_t step = 1;
  bool has_start = false, has_stop = false;
  friend bool operator==(const slice_spec&, const slice_spec&) = default;
};

/// A feature that `parse_example` reads: a tensor of fixed shape, with a default if it may be
/// missing; or (`variable`) a vector of any length.
struct feature_spec {
  std::string name;
  dtype type = dtype::float32; ///< int64, float32 or string
  shape dims;
  bool variable = false;
  /// The feature has any number of steps of shape `dims`, along a new first axis.
  bool sequence = false;
  /// In a sequence example: the feature is one of the feature lists.
  bool in_lists = false;
  /// The name of the feature that contains the indices of the values (if `size` is not 0) or their
  /// row lengths (if `size` is 0); or empty.
  std::string index_name;
  /// The length of a sparse vector; 0: the values have row lengths if `index_name` is set.
  int64_t size = 0;
  bool has_default = false;
  /// If `has_default`: one row. For a feature of fixed shape, its value where it is missing; for
  /// other features, the scalar that fills up steps, rows and a sparse vector.
  column default_value;
};

} // namespace headrace

namespace headrace::detail {

struct function_scope;

/// The column functions that an expression can apply. The numbers are stored in graphs: they never
/// change, and a new function gets an unused one.
enum class expr_op : uint16_t {
  parameter = 0, ///< component `attrs.index` of the argument of function `scope`
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
  gather,        ///< the parts of input 0 along axis `attrs.index` at the indices in input 1
  tile,          ///< `attrs.dims`: the number of repetitions along each axis
  /// `attrs.axes`: the numbers of values to add before and after along each axis; input 1: the
  /// filler; `attrs.index`: the `pad_mode`.
  pad,
  roll, ///< by `attrs.dims` along `attrs.axes`
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
  /// One string, or a vector of strings, to the features `attrs.features`; the result is feature
  /// `attrs.index`.
  parse_example,
  // the library: functions that process one row at a time (functions/representation/library.hpp)
  one_hot = 200, ///< inputs indices, on, off; new axis `attrs.index` of extent `attrs.dims[0]`
  /// Sorts along `attrs.index`; `attrs.flag`: descending; `attrs.dims[0]` values kept (-1: all).
  sort,
  argsort, ///< as `sort`, but returns the indices, int32
  cumsum,  ///< along `attrs.index`; `attrs.flag`: exclusive; `attrs.dims[0]`: 1 if reversed
  cumprod,
  matmul, ///< matrix product over the last two axes; the others are broadcast
  /// Input 0, which must have the shape `attrs.dims` (-1: any extent; `attrs.flag`: any rank).
  ensure_shape,
  /// Input 0 if all of input 1 is true; else an error with `attrs.text` and the other inputs.
  check,
  check_numerics, ///< input 0; an error with `attrs.text` if it has NaN or infinite values
  cond,           ///< input 1 or input 2, chosen by the bool scalar in input 0
  /// The part of input 0 from the position in input 1, an int vector. Its extents are `attrs.dims`
  /// (-1: the rest of the axis) or, if there is an input 2, the values of input 2.
  slice_at = 211,
  gather_batches, ///< as `gather`; both inputs have the first `attrs.dims[0]` axes in common
  // strings
  regex_full_match = 230, ///< `attrs.text`: pattern
  regex_replace,          ///< `attrs.texts`: pattern, replacement; `attrs.flag`: all
  substring,              ///< inputs text, position, length; `attrs.flag`: in UTF-8 characters
  unicode_length,
  unicode_upper,
  unicode_lower,
  to_hash_bucket, ///< a number below `attrs.dims[0]`
  /// `attrs.dims`: widths; `attrs.text`: separator; `attrs.texts`: pads; `attrs.index`: the most
  /// pads at each end (-1: width - 1); `attrs.flag`: one n-gram even if all widths are too large.
  ngrams,
  split_padded,  ///< at `attrs.text` to `attrs.dims[0]` parts; `attrs.texts`: the filler
  split_values,  ///< input: a vector; the parts of all its strings, split at `attrs.text`
  split_lengths, ///< input: a vector; the number of parts of each of its strings
  // tables
  /// Inputs keys, the table's keys and values, default; `attrs.dims`: {number of buckets}.
  lookup = 260,
  // random numbers
  /// Input 0: the seed, two integers; the result is uint64 of shape `attrs.dims`. The next three
  /// functions may have one more input after the others; the first extent of the result is then the
  /// first extent of this input.
  random_bits = 280,
  random_uniform, ///< seed and shape as for `random_bits`; floats in [0, 1)
  /// Seed and shape as for `random_bits`; `attrs.flag`: no values beyond two standard deviations.
  random_normal,
  random_integers, ///< seed and shape as for `random_bits`; integers in [input 1, input 2)
  /// Input 0: the seed, input 1: logits; `attrs.dims[0]` draws for each row of logits.
  random_categorical,
  /// Two int64 for each row, which differ from the numbers of all other rows of the iteration;
  /// `attrs.flag`: the same row has the same numbers in each iteration.
  row_seed,
  // images
  decode_image = 300, ///< a whole file, a part of it, or its extents; see op_image_codec.cpp
  encode_image,       ///< `attrs.text`: jpeg or png; `attrs.dims`: {quality or compression}
  /// To `attrs.dims`; `attrs.text`: method; `attrs.flag`: antialias; `attrs.axes`: not empty if the
  /// aspect ratio is kept.
  resize_image,
  rgb_to_hsv,
  hsv_to_rgb,
  adjust_hue,        ///< inputs image, delta
  adjust_saturation, ///< inputs image, factor
  place_image,       ///< onto a canvas of `attrs.dims`, at `attrs.axes`, or centred and cut
  // parsing
  parse_sequence_example = 340, ///< as `parse_example`, but of one string
  decode_csv, ///< strings to fields `attrs.features`, as `parse_example`; see op_decode_csv.cpp
  // ragged tensors
  ragged_to_tensor = 360, ///< inputs values, row lengths, the value that fills the rows
  // files
  read_file = 380, ///< the bytes of the file that each string names, on the host of the call
  // tensors as messages
  serialize_tensor = 400, ///< a tensor of any dtype and shape to the bytes of a TensorProto
  parse_tensor,           ///< the inverse of `serialize_tensor`; the result has `spec.type`
  // loops
  while_loop = 420, ///< result `attrs.index` of a loop; see functions/representation/loop.hpp
  /// The variable with index `attrs.index` in a loop's condition and body; its shape is
  /// `attrs.dims`.
  loop_variable,
  // functions whose result has extents that depend on the element: the extents are scalar inputs,
  // after the inputs of the function without `_computed`; each -2 in `attrs.dims` is the next
  number_range = 440, ///< inputs start, limit, delta: a vector
  fill_computed,      ///< as `fill`
  tile_computed,      ///< as `tile`
  reshape_computed,   ///< as `reshape`
  /// The parts of input 0 along `attrs.index`. Input 1 contains the number of repetitions of each
  /// part.
  repeat_parts,
  slice_along, ///< slices axis `attrs.index` by `attrs.slices[0]`; later inputs are its bounds
  true_places, ///< the indices of the true values of input 0: int64 [values, axes]
  // complex numbers
  complex_part = 460, ///< `attrs.index`: 0: real, 1: imaginary, 2: absolute value
};

/// The parameters of an op in addition to its inputs; the ops above document which of them they
/// use.
struct expr_attrs {
  int64_t index = 0;
  bool flag = false;
  std::vector<int64_t> axes;
  std::vector<int64_t> dims;
  std::vector<slice_spec> slices;
  std::string text; ///< separators, patterns, names of formats and methods, messages
  column value;     ///< constants: one row
  std::vector<feature_spec> features;
  std::vector<double> numbers;    ///< parameters that are not integers
  std::vector<std::string> texts; ///< patterns, names
};

/// A node of a traced function: immutable, and shared by all expressions that use its result. The
/// spec of the result is inferred when the node is made (see
/// functions/representation/expression_makers.hpp), so a node is always well typed.
struct expr_node {
  expr_op op = expr_op::constant;
  std::vector<expr_ptr> inputs;
  expr_attrs attrs;
  tensor_spec spec;
  /// For a parameter: the function to whose argument it belongs. For the variables and results of a
  /// traced loop: the loop. Compared by identity only.
  std::shared_ptr<const function_scope> scope;
  /// Data that the function has prepared from its attributes and constant inputs (a compiled
  /// pattern, a table).
  std::shared_ptr<const void> prepared;
};

/// The name under which users know the function: `add`, `strings.split` ...
std::string_view to_string(expr_op op) noexcept;

/// The value of `x` if `x` is a constant expression; else null.
inline const column* constant_of(const expr_ptr& x) noexcept {
  return x && x->op == expr_op::constant ? &x->attrs.value : nullptr;
}

/// The identity of a traced function. Parameters of an outer function that appear in an inner one
/// are captures of the inner one.
struct function_scope {};

} // namespace headrace::detail
