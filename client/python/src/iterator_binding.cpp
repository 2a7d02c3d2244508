#include "nested.hpp"
#include "reading.hpp"

/// Python's class `Iterator`, and the functions that end open iterators when the interpreter exits.
namespace headrace::detail::python {

namespace {

PyObject* next_of(PyObject* self) noexcept {
  // A derived class in Python may not have called the constructor.
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "this iterator was not made by a dataset; use iter(dataset)");
    return nullptr;
  }
  try {
    auto out = nb::inst_ptr<reading>(self)->next();
    return out.release().ptr();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const error& e) {
    try {
      set_python_error(e.why(), error_of::what_is_read);
    } catch (nb::python_error& other) {
      other.restore();
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

PyObject* self_of(PyObject* self) noexcept {
  Py_INCREF(self);
  return self;
}

PyType_Slot slots[] = {
  {Py_tp_iter, reinterpret_cast<void*>(self_of)},
  {Py_tp_iternext, reinterpret_cast<void*>(next_of)},
  {0, nullptr},
};

} // namespace

void bind_reading(nb::module_& m) {
  nb::class_<reading>(m, "Iterator", nb::type_slots(slots),
                      "One pass over a dataset: gives its elements, one after another.\n\n"
                      ">>> it = iter(Dataset.range(2))\n"
                      ">>> next(it), next(it), next(it, None)\n"
                      "(np.int64(0), np.int64(1), None)\n")
    .def(
      "get_next",
      [](nb::handle self) {
        auto out = nb::steal(next_of(self.ptr()));
        if (!out && PyErr_Occurred())
          throw nb::python_error();
        if (!out)
          throw error{out_of_range("get_next: the dataset has no more elements")};
        return out;
      },
      "The next element. Raises OutOfRangeError at the end.\n\n"
      ">>> iter(Dataset.range(2)).get_next()\n"
      "np.int64(0)\n")
    .def(
      "get_next_as_optional",
      [](const nb::object& self) {
        return nb::module_::import_("headrace._optional").attr("get_next_as_optional")(self);
      },
      "The next element as an Optional, which has no value at the end.\n\n"
      ">>> iter(Dataset.range(2)).get_next_as_optional().has_value()\n"
      "True\n")
    .def_prop_ro(
      "element_spec",
      [](const reading& self) {
        return to_python(
          self.spec(),
          nb::borrow<nb::callable>(nb::module_::import_("headrace._specs").attr("spec_of_leaf")));
      },
      "TensorSpecs, arranged as the elements are.\n\n"
      ">>> iter(Dataset.range(2)).element_spec\n"
      "TensorSpec(shape=(), dtype=headrace.int64, name=None)\n")
    .def(
      "save", &reading::save,
      "Returns the position after the elements that were handed out, as bytes for restore in this "
      "or another process. Raises FailedPreconditionError if the iterator is closed, and "
      "UnimplementedError if elements come from a service.\n\n"
      ">>> it = iter(Dataset.range(3))\n"
      ">>> first, record = next(it), it.save()\n"
      ">>> list(Dataset.range(3).restore(record))\n"
      "[np.int64(1), np.int64(2)]\n")
    .def(
      "restore",
      [](reading& self, nb::bytes record) {
        self.restore(buffer::copy_of(record.data(), record.size()));
      },
      "Continues at the position that save of an iterator of an equal dataset returned. Raises "
      "InvalidArgumentError for a position of another dataset, DataLossError for a damaged one.\n\n"
      ">>> it = iter(Dataset.range(2))\n"
      ">>> record = it.save()\n"
      ">>> first = next(it)\n"
      ">>> it.restore(record)\n"
      ">>> next(it)\n"
      "np.int64(0)\n")
    .def_prop_ro(
      "ignored", &reading::ignored,
      "The number of failed elements that ignore_errors has left out so far, including those read "
      "ahead. Elements that a restored iterator reads again are counted again. The number that a "
      "service has left out is in its status.\n\n"
      ">>> it = iter(Dataset.range(3).map(lambda x: 4 // x).ignore_errors())\n"
      ">>> list(it), it.ignored\n"
      "([np.int64(4), np.int64(2)], 1)\n")
    .def("close", &reading::close,
         "Ends the pass and all that runs for it: no more elements come.\n\n"
         ">>> it = iter(Dataset.range(2))\n"
         ">>> it.close()\n"
         ">>> list(it)\n"
         "[]\n");
  m.def(
    "give_string_values",
    [](nb::object x) {
      nb::cast<reading&>(x).give_string_values();
      return x;
    },
    nb::sig("def give_string_values(x: Iterator) -> Iterator"),
    "The strings of its elements also equal str.");
  m.def("leave", [] {
    leave();
    reading::close_all();
  });
  m.def("refuse_visits", &visit::refuse);
  m.def("await_threads", &reading::await_threads);
  m.def("is_orphan", &is_orphan);
}

} // namespace headrace::detail::python
