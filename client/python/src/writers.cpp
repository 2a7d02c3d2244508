#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include "python.hpp"

namespace headrace::detail::python {

namespace {

void checked(const status& ok) {
  if (!ok.ok())
    throw error{ok};
}

} // namespace

void bind_writers(nb::module_& m) {
  nb::class_<tfrecord_writer>(m, "TFRecordWriter")
    .def("write",
         [](tfrecord_writer& to, nb::bytes record) {
           checked(to.write({record.c_str(), record.size()}));
         })
    .def(
      "finish", [](tfrecord_writer& to) { checked(to.finish()); },
      nb::call_guard<nb::gil_scoped_release>());
  // A dataset of one element, the number of records. Reading the element writes the file.
  m.def("write_tfrecord",
        [](const dataset& from, const expr& path, const std::string& compression) {
          return from.counted_together(
            make_write_tfrecord(from.node(), path.node(), file_compression_of(compression).value())
              .value());
        });
  m.def("open_tfrecord_writer", [](std::string path, const std::string& compression, int level) {
    return tfrecord_writer::open(std::move(path), {file_compression_of(compression).value(), level})
      .value();
  });
}

} // namespace headrace::detail::python
