#include "headrace/client/distribute_save.hpp"
#include "status_values.hpp"
#include "waiting.hpp"

#include <stop_token>

namespace headrace::detail::python {

void bind_saves(nb::module_& m) {
  nb::class_<save_status>(m, "SaveStatus")
    .def("values", [](const save_status& x) { return to_python(x); })
    .def("check", [](const save_status& x) {
      if (!x.failure.ok())
        throw error{x.failure};
    });
  const auto options_of = [](const std::string& service, const std::string& compression,
                             double worker_timeout, double stall_timeout,
                             const headrace::session& in, std::stop_token stop) {
    return distribute_save_options{.service = service,
                                   .session = in,
                                   .compression = saved_compression_of(compression).value(),
                                   .wait = false,
                                   .worker_timeout = seconds(worker_timeout),
                                   .stall_timeout = seconds(stall_timeout),
                                   .on_progress = {},
                                   .stop = std::move(stop)};
  };
  m.def(
    "distribute_save",
    [options_of](const dataset& what, const std::string& folder, const std::string& service,
                 const std::string& compression, double worker_timeout, double stall_timeout,
                 const headrace::session* given) {
      const auto in = given ? *given : headrace::session{};
      return interruptibly([=](std::stop_token stop) {
        return distribute_save(
          what, folder,
          options_of(service, compression, worker_timeout, stall_timeout, in, std::move(stop)));
      });
    },
    nb::arg("dataset"), nb::arg("folder"), nb::arg("service"), nb::arg("compression"),
    nb::arg("worker_timeout"), nb::arg("stall_timeout"), nb::arg("session").none());
  m.def(
    "await_change",
    [options_of](const dataset& what, const save_status& known, const std::string& service,
                 const std::string& compression, double worker_timeout, double stall_timeout,
                 const headrace::session* given) {
      const auto in = given ? *given : headrace::session{};
      return interruptibly([=](std::stop_token stop) {
               return await_change(what, known,
                                   options_of(service, compression, worker_timeout, stall_timeout,
                                              in, std::move(stop)));
             })
        .value();
    },
    nb::arg("dataset"), nb::arg("known"), nb::arg("service"), nb::arg("compression"),
    nb::arg("worker_timeout"), nb::arg("stall_timeout"), nb::arg("session").none());
}

} // namespace headrace::detail::python
