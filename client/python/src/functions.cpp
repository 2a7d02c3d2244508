#include "headrace/pipeline/functions/assertions.hpp"
#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/lookup.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/sequences.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "nested.hpp"
#include "values.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_set>

namespace headrace::detail::python {

namespace {

using e = const expr&;

dtype type_of(const std::string& name) { return parse_dtype(name).value(); }

strings::unit unit_of(bool utf8) { return utf8 ? strings::unit::utf8_chars : strings::unit::bytes; }

bool is_static(const expr_ptr& x, std::unordered_set<const expr_node*>& seen) {
  switch (x->op) {
  case expr_op::parameter:
  case expr_op::loop_variable:
  case expr_op::row_seed:
  case expr_op::read_file: return false;
  default:
    return std::ranges::all_of(x->inputs, [&](const auto& input) {
      return !seen.insert(input.get()).second || is_static(input, seen);
    });
  }
}

/// True if `x` is equal for all elements: it uses no parameter, loop variable, random seed or file.
bool is_static(const expr_ptr& x) {
  std::unordered_set<const expr_node*> seen;
  return is_static(x, seen);
}

extent extent_of(nb::handle x) {
  return nb::isinstance<expr>(x) ? extent{nb::cast<expr>(x)} : extent{nb::cast<int64_t>(x)};
}

/// The extents in a list of ints and tensors, or in a tensor.
extents extents_of(nb::handle dims) {
  if (nb::isinstance<expr>(dims))
    return extents(nb::cast<expr>(dims)); // `extents{...}` would be a list of one extent
  std::vector<extent> out;
  for (auto x : nb::borrow<nb::list>(dims)) out.push_back(extent_of(x));
  return extents{std::move(out)};
}

nb::object to_python(const expr_structure& x) {
  return arranged(x.layout(), [&](size_t i) { return nb::cast(x.leaves()[i]); });
}

} // namespace

/// Binds each function. The public names and arguments of functions, and their documentation, are
/// in headrace/math.py and the modules beside it.
void bind_functions(nb::module_& m) {
  // elementwise
  m.def("square", &square);
  m.def("sign", &sign);
  m.def("sqrt", &headrace::sqrt);
  m.def("exp", &headrace::exp);
  m.def("log", &headrace::log);
  m.def("tanh", &headrace::tanh);
  m.def("sin", &headrace::sin);
  m.def("cos", &headrace::cos);
  m.def("floor", &headrace::floor);
  m.def("ceil", &headrace::ceil);
  m.def("round", &headrace::round);
  m.def("is_nan", &is_nan);
  m.def("minimum", &minimum);
  m.def("maximum", &maximum);
  m.def("truncate_mod", [](e a, e b) { return a % b; });
  m.def("where", &where);
  m.def("cond", [](e condition, nb::handle x, nb::handle y) {
    const auto yes = structure_of(x);
    const auto no = structure_of(y);
    return to_python(cond(
      condition, [&] { return yes; }, [&] { return no; }));
  });
  nb::class_<detail::open_loop>(m, "OpenLoop")
    .def_prop_ro("variables", [](const detail::open_loop& x) { return to_python(x.variables()); })
    .def("finish", [](const detail::open_loop& x, e condition, nb::handle after) {
      return to_python(x.finish(condition, structure_of(after)));
    });
  m.def(
    "open_loop",
    [](nb::handle first, std::optional<int64_t> maximum_iterations, const nb::list& invariants) {
      const auto variables = structure_of(first);
      std::vector<shape> shapes;
      for (auto x : invariants) shapes.push_back(shape_from_python(x));
      return detail::open_loop{variables, maximum_iterations, shapes};
    },
    nb::arg("first"), nb::arg("maximum_iterations").none(), nb::arg("invariants"));
  m.def("clip_by_value", &clip_by_value);
  m.def("cast", [](e x, const std::string& type) { return cast(x, type_of(type)); });

  m.def(
    "ragged_to_tensor",
    [](nb::handle parts, nb::handle fill) {
      const ragged x{structure_of(parts)};
      return fill.is_none() ? x.to_tensor() : x.to_tensor(expr_of(fill));
    },
    nb::arg("parts"), nb::arg("fill").none());

  // reductions
  m.def("reduce_sum", &reduce_sum);
  m.def("reduce_mean", &reduce_mean);
  m.def("reduce_max", &reduce_max);
  m.def("reduce_min", &reduce_min);
  m.def("reduce_prod", &reduce_prod);
  m.def("reduce_all", &reduce_all);
  m.def("reduce_any", &reduce_any);
  m.def("argmax", &argmax);
  m.def("argmin", &argmin);

  // shapes
  m.def("reshape", [](e x, nb::handle dims) { return reshape(x, extents_of(dims)); });
  m.def("stack", &stack);
  m.def("concat", &concat);
  m.def("transpose", &transpose);
  m.def("expand_dims", &expand_dims);
  m.def("squeeze", &squeeze);
  m.def("shape_of", &shape_of);
  m.def("size", &headrace::size);
  m.def("fill", [](nb::handle dims, e scalar) { return fill(extents_of(dims), scalar); });
  m.def("gather", [](e x, e indices, int64_t axis, int64_t batch_dims) {
    return gather(x, indices, axis, batch_dims);
  });
  m.def("tile", [](e x, nb::handle multiples) { return tile(x, extents_of(multiples)); });
  m.def("repeat_parts", &detail::repeat);
  m.def("number_range", &detail::range);
  m.def("linspace", &linspace);
  m.def("eye", [](nb::handle rows, nb::handle columns, const std::string& type) {
    return eye(extent_of(rows), extent_of(columns), type_of(type));
  });
  m.def(
    "sequence_mask",
    [](e lengths, std::optional<expr> longest) { return sequence_mask(lengths, longest); },
    nb::arg("lengths"), nb::arg("longest").none());
  m.def("pad",
        [](e x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const std::string& mode) {
          return pad(x, paddings, mode == "REFLECT" ? pad_mode::reflect : pad_mode::symmetric);
        });
  m.def("pad_with", [](e x, const std::vector<std::pair<int64_t, int64_t>>& paddings, e fill) {
    return pad(x, paddings, fill);
  });
  m.def("reverse", &headrace::reverse);
  m.def("roll", &roll);
  m.def("slice_of_sizes", [](e x, e begin, e sizes) { return slice(x, begin, sizes); });
  m.def("slice",
        [](e x, e begin, std::vector<int64_t> sizes) { return slice(x, begin, std::move(sizes)); });
  m.def(
    "ensure_shape", [](e x, nb::handle dims) { return ensure_shape(x, shape_from_python(dims)); },
    nb::arg("x"), nb::arg("dims").none());
  m.def("one_hot", &one_hot);

  // order and algebra
  m.def("sort", &sort);
  m.def("argsort", &argsort);
  m.def("top_k", [](e x, int64_t k) {
    auto out = math::top_k(x, k);
    return nb::make_tuple(out.values, out.indices);
  });
  m.def("matmul", &matmul);
  m.def("cumsum", &math::cumsum);
  m.def("real", &math::real);
  m.def("imag", &math::imag);
  m.def("true_places", &true_places);
  m.def("cumprod", &math::cumprod);

  // assertions: each returns its first argument
  m.def("assert_true", &debugging::Assert);
  m.def("assert_equal", &debugging::assert_equal);
  m.def("assert_none_equal", &debugging::assert_none_equal);
  m.def("assert_less", &debugging::assert_less);
  m.def("assert_less_equal", &debugging::assert_less_equal);
  m.def("assert_greater", &debugging::assert_greater);
  m.def("assert_greater_equal", &debugging::assert_greater_equal);
  m.def("assert_near", &debugging::assert_near, nb::arg("x"), nb::arg("y"),
        nb::arg("relative").none(), nb::arg("absolute").none(), nb::arg("message"));
  m.def("assert_positive", &debugging::assert_positive);
  m.def("assert_negative", &debugging::assert_negative);
  m.def("assert_non_negative", &debugging::assert_non_negative);
  m.def("assert_non_positive", &debugging::assert_non_positive);
  m.def("assert_all_finite", &debugging::assert_all_finite);
  m.def("check_numerics", &debugging::check_numerics);
  m.def("tied", &detail::tied);
  m.def("is_static", [](e x) { return is_static(x.node()); });
  m.def("check", [](e x, e condition, const std::string& name, const std::string& message,
                    const std::vector<std::pair<std::string, expr>>& shown,
                    std::optional<int64_t> summarize) {
    expr_attrs attrs;
    attrs.text = message;
    attrs.texts.push_back("debugging." + name);
    if (summarize)
      attrs.dims.push_back(*summarize);
    std::vector<expr_ptr> inputs{x.node(), condition.node()};
    for (const auto& [label, value] : shown) {
      attrs.texts.push_back(label);
      inputs.push_back(value.node());
    }
    return detail::apply(expr_op::check, std::move(inputs), std::move(attrs));
  });
  // Sets how many values of each operand the message of an assertion shows.
  m.def("summarized", [](e assertion, int64_t most) {
    const auto& node = *assertion.node();
    if (node.op != expr_op::check)
      return assertion;
    auto attrs = node.attrs;
    attrs.dims = {most};
    return detail::apply(node.op, node.inputs, std::move(attrs));
  });
  m.def("assert_rank", &debugging::assert_rank);

  // strings
  m.def("string_length", [](e x, bool utf8) { return strings::length(x, unit_of(utf8)); });
  m.def("string_upper", [](e x, bool utf8) { return strings::upper(x, unit_of(utf8)); });
  m.def("string_lower", [](e x, bool utf8) { return strings::lower(x, unit_of(utf8)); });
  m.def("substr", [](e x, e position, e length, bool utf8) {
    return strings::substr(x, position, length, unit_of(utf8));
  });
  m.def("regex_full_match", &strings::regex_full_match);
  m.def("regex_replace", &strings::regex_replace);
  m.def("to_hash_bucket_fast", &strings::to_hash_bucket_fast);
  m.def("split_padded", &strings::split_padded);
  m.def(
    "ngrams",
    [](e x, std::vector<int64_t> widths, const std::string& separator,
       std::optional<std::pair<std::string, std::string>> pads, int64_t padding_width,
       bool preserve_short_sequences) {
      return strings::ngrams(x, std::move(widths),
                             {separator, std::move(pads), padding_width, preserve_short_sequences});
    },
    nb::arg("x"), nb::arg("widths"), nb::arg("separator"), nb::arg("pads").none(),
    nb::arg("padding_width"), nb::arg("preserve_short_sequences"));
  m.def("string_strip", &strings::strip);
  m.def("string_split", &strings::split);
  m.def("string_split_each", [](e x, const std::string& separator) {
    const auto out = strings::split_each(x, separator);
    return nb::make_tuple(out.values(), out.row_lengths());
  });
  m.def("string_join", &strings::join);
  m.def("string_reduce_join", &strings::reduce_join);
  m.def("string_to_number",
        [](e x, const std::string& type) { return strings::to_number(x, type_of(type)); });
  m.def("as_string", &strings::as_string);

  // random numbers by seed
  m.def("stateless_uniform", [](nb::handle dims, e seed, e low, e high, const std::string& type) {
    return random::stateless_uniform(extents_of(dims), seed, low, high, type_of(type));
  });
  m.def("stateless_normal",
        [](nb::handle dims, e seed, e mean, e deviation, const std::string& type) {
          return random::stateless_normal(extents_of(dims), seed, mean, deviation, type_of(type));
        });
  m.def("stateless_truncated_normal",
        [](nb::handle dims, e seed, e mean, e deviation, const std::string& type) {
          return random::stateless_truncated_normal(extents_of(dims), seed, mean, deviation,
                                                    type_of(type));
        });
  m.def("stateless_categorical", &random::stateless_categorical);
  m.def("element_seed", &random::element_seed, nb::arg("salt"),
        nb::arg("same_in_each_iteration") = false);
  m.def("fold_in", &random::fold_in);

  // tables
  nb::class_<lookup::table>(m, "Table")
    .def("lookup", &lookup::table::lookup)
    .def("size", &lookup::table::size);
  m.def("table", [](e keys, e values, e otherwise) {
    return lookup::table{keys, values, otherwise};
  });
  m.def("vocabulary_table", [](const std::vector<nb::bytes>& words, int64_t buckets) {
    std::vector<std::string> all;
    for (const auto& word : words) all.emplace_back(word.c_str(), word.size());
    return lookup::vocabulary_table(all, buckets);
  });

  // parsing
  m.def("decode_raw", [](e x, const std::string& type, bool little_endian) {
    return io::decode_raw(x, type_of(type), little_endian);
  });
  m.def("serialize_tensor", &io::serialize_tensor);
  m.def("parse_tensor",
        [](e x, const std::string& type) { return io::parse_tensor(x, type_of(type)); });
  const nb::class_<feature_spec> opaque{m, "FeatureSpec"};
  m.def("fixed_len_feature", [](std::string name, nb::handle dims, const std::string& type) {
    return io::fixed_len_feature(std::move(name), shape_from_python(dims), type_of(type));
  });
  m.def("fixed_len_feature_with_default", [](std::string name, nb::handle dims,
                                             const std::string& type, e value) {
    return io::fixed_len_feature(std::move(name), shape_from_python(dims), type_of(type), value);
  });
  m.def("var_len_feature", [](std::string name, const std::string& type) {
    return io::var_len_feature(std::move(name), type_of(type));
  });
  m.def("sparse_feature",
        [](std::string name, std::string index, const std::string& type, int64_t size) {
          return io::sparse_feature(std::move(name), std::move(index), type_of(type), size);
        });
  m.def("ragged_feature", [](std::string name, std::string lengths, const std::string& type) {
    return io::ragged_feature(std::move(name), std::move(lengths), type_of(type));
  });
  m.def("fixed_len_sequence_feature", [](std::string name, nb::handle dims,
                                         const std::string& type) {
    return io::fixed_len_sequence_feature(std::move(name), shape_from_python(dims), type_of(type));
  });
  m.def("fixed_len_sequence_feature_with_filler",
        [](std::string name, nb::handle dims, const std::string& type, e filler) {
          return io::fixed_len_sequence_feature(std::move(name), shape_from_python(dims),
                                                type_of(type), filler);
        });
  m.def("read_file", &io::read_file);
  m.def("decode_csv", [](e lines, nb::handle fields, const std::string& delimiter, bool quotes,
                         const std::string& na_value, std::vector<int64_t> select) {
    std::vector<io::csv_field> all;
    for (auto field : nb::borrow<nb::list>(fields)) {
      auto pair = nb::borrow<nb::tuple>(field);
      io::csv_field one{.type = type_of(nb::cast<std::string>(pair[0]))};
      if (!pair[1].is_none())
        one.missing = nb::cast<expr>(pair[1]);
      all.push_back(std::move(one));
    }
    return io::decode_csv(lines, all, {delimiter.at(0), quotes, na_value, std::move(select)});
  });
  m.def("parse_sequence_example",
        [](e serialized, std::vector<feature_spec> context, std::vector<feature_spec> sequence) {
          auto [first, second] =
            io::parse_sequence_example(serialized, std::move(context), std::move(sequence));
          return nb::make_tuple(to_python(first), to_python(second));
        });
  m.def("parse_example", [](e serialized, std::vector<feature_spec> features) {
    return to_python(io::parse_example(serialized, std::move(features)));
  });
}

} // namespace headrace::detail::python
