#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

/// The library: the functions that nodes of expressions apply. Each is described by a
/// `library_function`, with the C++ functions that check and run it.
namespace headrace::detail {

/// The specs of the operands of a library function: those known when the node is made, or those of
/// one row.
struct library_operands {
  std::span<const tensor_spec> specs;
  const expr_attrs& attrs;
  dtype type; ///< the argument `type` of `make_expr`

  const tensor_spec& operator[](size_t i) const noexcept { return specs[i]; }
  size_t size() const noexcept { return specs.size(); }
};

struct library_function {
  expr_op op;
  const char* name; ///< the name that users know
  size_t least_operands;
  size_t most_operands;
  /// The result's spec, or an error without the function's name. With static shapes the extents of
  /// the result are known unless they depend on data. `infer` is called again for rows, whose
  /// shapes may be more precise than those known when the node was made.
  result<tensor_spec> (*infer)(const library_operands& in);
  /// Returns a column of `call.rows` rows of the spec `call.node.spec`. May be null if `run_all` is
  /// not; null for functions that run only in fused passes (see compiler/fused.hpp), for loops and
  /// for their variables (see compiler/loop_run.cpp).
  column (*run)(const op_call& call) = nullptr;
  /// Called when a node is made: returns its `expr_node::prepared`, or an error about the node.
  /// Null if there is nothing to prepare or to check.
  result<std::shared_ptr<const void>> (*prepare)(const expr_node& node) = nullptr;
  /// If not null, it is called in place of `run` for all results of one call, and returns one
  /// column for each of them.
  std::vector<column> (*run_all)(const op_call& call) = nullptr;
};

/// The description of `op`; null if `op` is not in the library.
const library_function* find_library_function(expr_op op) noexcept;

/// The result's spec, or an error about the inputs or attributes (without the function's name).
result<tensor_spec> infer(expr_op op, const std::vector<expr_ptr>& inputs, const expr_attrs& attrs,
                          dtype type);
/// The shape that the result of `of` would have if the inputs of `of` had the shapes `inputs`.
result<shape> result_shape(const expr_node& of, std::span<const shape> inputs);

// -- the groups of functions, each in its own file -----------------------------

std::span<const library_function> elementwise_functions(); ///< arithmetic, comparisons, cast ...
std::span<const library_function> reduction_functions();   ///< reduce_*, argmax, argmin
std::span<const library_function> movement_functions();    ///< reshape, index, stack, shape_of ...
std::span<const library_function> string_functions();      ///< strings.length, split, to_number ...
std::span<const library_function> example_functions();     ///< parse_example, decode_raw
std::span<const library_function> ordering_functions();    ///< one_hot, sort, argsort
std::span<const library_function> numeric_functions();     ///< cumsum, cumprod, matmul, slice_at
std::span<const library_function> checking_functions();    ///< assertions
std::span<const library_function> text_functions();        ///< regex_*, substr, unicode, ngrams ...
std::span<const library_function> lookup_functions();
std::span<const library_function> random_functions();
std::span<const library_function> image_codec_functions();
std::span<const library_function> image_functions();  ///< place_image, colours
std::span<const library_function> resize_functions(); ///< resize_image
std::span<const library_function> ragged_functions();
std::span<const library_function> control_functions();      ///< cond, loops
std::span<const library_function> gather_functions();       ///< gather, gather_batches
std::span<const library_function> split_functions();        ///< split_values, split_lengths
std::span<const library_function> csv_functions();          ///< decode_csv
std::span<const library_function> file_functions();         ///< read_file
std::span<const library_function> tensor_proto_functions(); ///< serialize_tensor, parse_tensor
std::span<const library_function> complex_functions();      ///< parts of complex numbers
std::span<const library_function> extent_functions(); ///< range, repeat, slices with bounds ...

// -- helpers for the implementations of functions ------------------------------

/// Evaluates row by row: `body(r, dims, out)` appends the values of row `r`, whose inferred shape
/// is `dims`, to the `column_builder` and calls its `end_row`, or fails without having appended
/// anything.
template <class Body>
column run_rows(const op_call& call, Body&& body);

/// Infers the shape of a call's result for each row; if a row's inputs have the same shapes as
/// those of the row before, the last result is returned again.
class row_specs {
public:
  explicit row_specs(const op_call& call);
  result<shape> at(size_t r);
  size_t result_rank() const noexcept;

private:
  const op_call& call_;
  const library_function& function_;
  std::vector<tensor_spec> specs_;
  std::optional<result<shape>> last_;
};

template <class Body>
column run_rows(const op_call& call, Body&& body) {
  row_specs specs{call};
  const auto nothing = shape_of_nothing(call.node.spec, specs.result_rank());
  column_builder out{call.node.spec.type, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto dims = specs.at(r);
    const status why = dims ? body(r, *dims, out) : dims.status();
    if (!why.ok()) {
      call.fail(r, why);
      out.end_row_of_nothing(nothing);
    }
  }
  return std::move(out).finish();
}

/// The values of one row of an operand of dtype `dtype_of<T>`, without copying them.
template <class T>
std::span<const T> row_values(const operand& in, size_t r) {
  const auto row = in.row(r);
  const auto first = in.data->first_value(row);
  return in.data->template values<T>().subspan(
    static_cast<size_t>(first), static_cast<size_t>(in.data->first_value(row + 1) - first));
}

/// Value `i` of row `r` of an operand of any integer dtype. A value that int64 does not hold
/// becomes the maximum of int64.
int64_t integer_at(const operand& in, size_t r, size_t i = 0);

/// A row of shape `dims` along `axis`: `outer` runs of `extent` parts, each of `inner` values.
struct axis_layout {
  int64_t outer = 1, extent = 1, inner = 1;
};
axis_layout layout_along(const shape& dims, size_t axis);

} // namespace headrace::detail
