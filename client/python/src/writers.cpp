#include "headrace/pipeline/files/tfrecord_writer.hpp"

#include "python.hpp"

namespace headrace::python {

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
  m.def("open_tfrecord_writer", [](std::string path, const std::string& compression, int level) {
    return tfrecord_writer::open(std::move(path), {file_compression_of(compression).value(), level})
      .value();
  });
}

} // namespace headrace::python
