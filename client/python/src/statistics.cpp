#include "statistics.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace headrace::detail::python {

counters_of counters_in(nb::handle measured, const dataset& graph) {
  if (measured.is_none())
    return {};
  const auto parts = nb::borrow<nb::tuple>(measured);
  return measured_by(
    nb::cast<std::shared_ptr<statistics>>(parts[0]), graph.node(),
    {.prefix = nb::cast<std::string>(parts[1]), .all_operators = nb::cast<bool>(parts[2])});
}

void bind_statistics(nb::module_& m) {
  nb::class_<statistics>(m, "Statistics")
    .def(nb::new_([] { return std::make_shared<statistics>(); }))
    // A dict by tag: (count, sum, sum of squares, least, most, {upper limit of a bucket: count}).
    .def("summary", [](const statistics& x) {
      nb::dict out;
      for (const auto& [tag, values] : x.summary())
        out[nb::str(tag.data(), tag.size())] =
          nb::make_tuple(values.count, values.sum, values.sum_of_squares, values.least, values.most,
                         values.buckets);
      return out;
    });
}

} // namespace headrace::detail::python
