#include "headrace/pipeline/functions/sequences.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "nested.hpp"
#include "values.hpp"

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/functions/math.hpp"

#include <limits>
#include <type_traits>

namespace headrace::detail::python {

namespace {

/// Divides as `/` in Python does: integers are converted to floats, so the quotient is a float.
expr true_divide(const expr& a, const expr& b) {
  const auto type = a.is_literal() ? b.type() : a.type();
  if (!is_integer(type))
    return a / b;
  const auto wide = size_of(type) > 2 ? dtype::float64 : dtype::float32;
  return cast(a, wide) / cast(b, wide);
}

/// Converts a Python object to an index. Throws the Python exception if the object is not an
/// integer, or does not fit.
int64_t index_of(nb::handle x) {
  const auto out = PyNumber_AsSsize_t(x.ptr(), PyExc_IndexError);
  if (out == -1 && PyErr_Occurred() != nullptr)
    throw nb::python_error();
  return out;
}

slice_spec slice_of(nb::handle part) {
  if (part.is_none())
    return at::new_axis();
  if (part.ptr() == Py_Ellipsis)
    return at::ellipsis();
  if (PySlice_Check(part.ptr())) {
    slice_spec out;
    auto number = [&](const char* name, int64_t& to) {
      auto x = part.attr(name);
      if (x.is_none())
        return false;
      if (!PyIndex_Check(x.ptr()))
        throw nb::type_error("a slice's bounds must be ints or None");
      to = index_of(x);
      return true;
    };
    out.has_start = number("start", out.start);
    out.has_stop = number("stop", out.stop);
    number("step", out.step);
    return out;
  }
  if (PyIndex_Check(part.ptr()) && !PyBool_Check(part.ptr()))
    return at::index(index_of(part));
  throw error{invalid_argument("a tensor is indexed by integers, slices, None and ..., or by one "
                               "tensor of integers; for more use headrace.gather")};
}

/// Converts `index`, whose value depends on the element, to an index from the start of `axis` of
/// `x`: the extent of the axis is added to a negative value.
expr counted_from_start(const expr& x, const expr& index, int64_t axis) {
  const auto is_scalar = !index.dims().has_rank() || index.dims().is_scalar();
  if (!is_integer(index.type()) || !is_scalar)
    return index;
  const auto place = cast<int64_t>(index);
  return where(place < 0, place + shape_of(x)[axis], place);
}

/// An index as in numpy's basic indexing. Its parts may also be tensors, or slices with tensors as
/// bounds: the values of these *computed* parts depend on the element.
class index_parts {
public:
  explicit index_parts(nb::handle index) {
    if (PyTuple_Check(index.ptr()))
      for (auto part : nb::borrow<nb::tuple>(index)) add(part);
    else
      add(index);
  }

  expr of(const expr& x) const {
    auto out = x.slice(known_);
    // The computed parts are applied from the last to the first: an index removes its axis, and so
    // changes only the numbers of later axes.
    for (auto part = computed_.rbegin(); part != computed_.rend(); ++part) {
      const auto axis = axis_of(out, *part);
      if (part->index)
        out = gather(out, counted_from_start(out, *part->index, axis), axis);
      else
        out = slice_along(out, axis, part->start, part->stop, part->step);
    }
    return out;
  }

private:
  struct computed {
    size_t at; ///< the part's index in `known_`, where `all()` stands in place of the part
    std::optional<expr> index;
    std::optional<expr> start, stop;
    int64_t step = 1;
  };

  void add(nb::handle part) {
    if (nb::isinstance<expr>(part)) {
      computed_.push_back({.at = known_.size(), .index = nb::cast<expr>(part)});
      known_.push_back(at::all());
      return;
    }
    if (PySlice_Check(part.ptr())
        && (nb::isinstance<expr>(part.attr("start")) || nb::isinstance<expr>(part.attr("stop"))
            || nb::isinstance<expr>(part.attr("step"))))
      return add_computed_slice(part);
    known_.push_back(slice_of(part));
  }

  void add_computed_slice(nb::handle part) {
    const auto bound = [&](const char* name) -> std::optional<expr> {
      const auto x = part.attr(name);
      if (x.is_none())
        return std::nullopt;
      return nb::isinstance<expr>(x) ? nb::cast<expr>(x) : expr{index_of(x)};
    };
    auto step = part.attr("step");
    if (nb::isinstance<expr>(step))
      step = nb::module_::import_("headrace._refusals").attr("slice_step")(step);
    computed_.push_back({.at = known_.size(),
                         .start = bound("start"),
                         .stop = bound("stop"),
                         .step = step.is_none() ? 1 : index_of(step)});
    known_.push_back(at::all());
  }

  /// The axis of `x` to which the computed part `part` applies. `x`: the indexed tensor after the
  /// known parts and the computed parts that come after `part` were applied.
  int64_t axis_of(const expr& x, const computed& part) const {
    using kind = slice_spec::kind;
    const auto is_axis = [](const slice_spec& p) { return p.what != kind::index; };
    const auto parts = std::span{known_};
    const auto before = parts.first(part.at), after = parts.subspan(part.at + 1);
    const auto is_rest = [](const slice_spec& p) { return p.what == kind::ellipsis; };
    if (std::ranges::none_of(before, is_rest))
      return std::ranges::count_if(before, is_axis);
    // The axis of a part after `...` is counted from the end, without the axes that computed
    // indices have removed.
    int64_t taken = 0;
    for (const auto& other : computed_) taken += other.index && other.at > part.at;
    const auto from_end = std::ranges::count_if(after, is_axis) - taken + 1;
    if (!x.dims().has_rank())
      return -from_end;
    return static_cast<int64_t>(x.dims().rank()) - from_end;
  }

  std::vector<slice_spec> known_;
  std::vector<computed> computed_;
};

/// The operator `~`: all bits inverted, or `not` for bools.
expr inverse(const expr& x) {
  if (x.type() == dtype::boolean)
    return !x;
  return visit_plain(x.type(), [&]<class T>(T) {
    if constexpr (std::is_unsigned_v<T>)
      return x ^ expr { std::numeric_limits<T>::max() };
    else
      return x ^ expr { -1 };
  });
}

expr item_of(const expr& x, nb::handle index) {
  if (nb::isinstance<expr>(index)) {
    const auto place = nb::cast<expr>(index);
    const bool boolean = place.type() == dtype::boolean;
    return boolean ? x[place] : x[counted_from_start(x, place, 0)];
  }
  return index_parts{index}.of(x);
}

/// A function that is being traced.
class open_function {
public:
  explicit open_function(const element_spec& argument) : call_(argument) {}
  nb::object argument() const {
    const auto& given = call_.argument();
    return arranged(given.layout(), [&](size_t i) {
      const auto& leaf = given.leaves()[i];
      return leaf.spec().is_dataset() ? nb::cast(dataset{elements_of(leaf)}) : nb::cast(leaf);
    });
  }
  /// The argument of a function of groups: (key, dataset of the group's elements).
  nb::object group() const {
    const auto& given = call_.argument();
    return nb::make_tuple(given.child(0).single(), dataset{elements_of(given.child(1))});
  }
  detail::tracing call_;
};

} // namespace

void bind_tensors(nb::module_& m) {
  auto tensor = nb::class_<expr>(m, "Tensor");
  const auto binary = [&](const char* name, const char* reflected, auto f) {
    tensor.def(
      name, [f](const expr& a, operand b) { return f(a, b.beside(a)); }, nb::is_operator());
    if (reflected)
      tensor.def(
        reflected, [f](const expr& a, operand b) { return f(b.beside(a), a); }, nb::is_operator());
  };
  // Replaces the expression of a Python tensor; see `Tensor.set_shape`.
  m.def("replace", [](expr& x, const expr& by) { x = by; });
  using e = const expr&;
  binary("__add__", "__radd__", [](e a, e b) { return a + b; });
  binary("__sub__", "__rsub__", [](e a, e b) { return a - b; });
  binary("__mul__", "__rmul__", [](e a, e b) { return a * b; });
  binary("__truediv__", "__rtruediv__", true_divide);
  binary("__floordiv__", "__rfloordiv__", floor_div);
  binary("__mod__", "__rmod__", floor_mod);
  binary("__pow__", "__rpow__", [](e a, e b) { return pow(a, b); });
  binary("__matmul__", "__rmatmul__", [](e a, e b) { return matmul(a, b); });
  binary("__and__", "__rand__", [](e a, e b) { return a & b; });
  binary("__or__", "__ror__", [](e a, e b) { return a | b; });
  binary("__xor__", "__rxor__", [](e a, e b) { return a ^ b; });
  binary("__lshift__", "__rlshift__", [](e a, e b) { return a << b; });
  binary("__rshift__", "__rrshift__", [](e a, e b) { return a >> b; });
  binary("__eq__", nullptr, [](e a, e b) { return a == b; });
  binary("__ne__", nullptr, [](e a, e b) { return a != b; });
  binary("__lt__", nullptr, [](e a, e b) { return a < b; });
  binary("__le__", nullptr, [](e a, e b) { return a <= b; });
  binary("__gt__", nullptr, [](e a, e b) { return a > b; });
  binary("__ge__", nullptr, [](e a, e b) { return a >= b; });
  tensor.def("__neg__", [](e x) { return -x; });
  tensor.def("__pos__", [](e x) { return x; });
  tensor.def("__abs__", [](e x) { return abs(x); });
  tensor.def("__invert__", &inverse);
  tensor.def("__getitem__", &item_of, nb::arg("index").none());
  tensor.def_prop_ro(
    "dtype",
    [](e x) {
      auto as_dtype = nb::module_::import_("headrace.dtypes").attr("as_dtype");
      return nb::object{as_dtype(std::string{to_string(x.type())})};
    },
    nb::sig("def dtype(self) -> headrace.dtypes.DType"),
    "What kind of values it holds: a DType, known when the function is traced.\n\n"
    ">>> list(Dataset.range(1).map(lambda x: hr.cast(x, hr.float32) if x.dtype.is_integer else "
    "x))\n"
    "[np.float32(0.0)]\n");
  tensor.def_prop_ro(
    "shape",
    [](e x) {
      auto made = nb::module_::import_("headrace._specs").attr("TensorShape");
      return nb::object{made(to_python(x.dims()))};
    },
    nb::sig("def shape(self) -> headrace._specs.TensorShape"),
    "Its extents, a TensorShape; None where one is not known.\n\n"
    ">>> list(Dataset.range(3).batch(3).map(lambda x: hr.shape(x) if x.shape[0] is None else x))\n"
    "[array([3], dtype=int32)]\n");
  tensor.def_prop_ro(
    "ndim",
    [](e x) { return x.dims().has_rank() ? std::optional<size_t>{x.dims().rank()} : std::nullopt; },
    "How many axes it has, or None.\n\n"
    ">>> list(Dataset.range(2).map(lambda x: hr.expand_dims(x, 0) if x.ndim == 0 else x))\n"
    "[array([0]), array([1])]\n");

  m.def("constant", [](nb::handle array) { return constant(column_of(array)); });
  m.def("literal", &expr_of);

  nb::class_<function>(m, "Function")
    .def_prop_ro("gives_dataset", [](const function& f) { return f.dataset != nullptr; })
    // The shapes of the tensors that the function returns, in order.
    .def_prop_ro("shapes", [](const function& f) {
      nb::list out;
      for (const auto& x : f.tensors) out.append(to_python(x->spec.dims));
      return out;
    });
  nb::class_<open_function>(m, "OpenFunction")
    .def_prop_ro("argument", &open_function::argument)
    .def_prop_ro("group", &open_function::group)
    .def("finish",
         [](open_function& f, nb::handle result) {
           return std::move(f.call_).finish(structure_of(result));
         })
    .def("finish_dataset",
         [](open_function& f, const dataset& result) { return std::move(f.call_).finish(result); });
  m.def("open_function", [](const dataset& input) { return open_function{input.spec()}; });
  // Begins to trace a function with the arguments (state, element). `initial`: the first state,
  // which has the structure and dtypes of all states; `shapes`: the shapes that the components of
  // states have in the function.
  m.def("open_scan_function", [](nb::handle initial, const nb::list& shapes, const dataset& input) {
    auto state = structure_of(initial).spec();
    for (size_t i = 0; i < state.components.size(); ++i)
      state.components[i].dims = shape_from_python(shapes[i]);
    return open_function{element_spec::tuple({std::move(state), input.spec()})};
  });
  m.def("open_group_function",
        [](const dataset& input) { return open_function{grouped_spec(input.spec())}; });
  m.def("open_key_function", [] { return open_function{tensor_spec{dtype::int64, {}}}; });
}

} // namespace headrace::detail::python
