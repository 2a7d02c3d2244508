#include "headrace/client/distribute.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/client/internal/worker_demand.hpp"
#include "headrace/client/monitor/monitored_server.hpp"
#include "headrace/client/secure_session.hpp"
#include "headrace/client/server.hpp"
#include "python_function.hpp"
#include "status_values.hpp"
#include "waiting.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace headrace::detail::python {

namespace {

using milliseconds = std::chrono::milliseconds;

/// The arguments for a cross-trainer cache: the trainer's id, the seconds to wait for a trainer
/// that falls behind, the number of expected trainers, and true to begin with the newest elements.
using cache_arguments =
  std::optional<std::tuple<std::string, std::optional<double>, uint32_t, bool>>;

/// The arguments for coordinated reads: the consumer's index, the number of consumers, true if the
/// consumer replaces an earlier one, and the seconds to wait for missing consumers.
using rounds_arguments = std::optional<std::tuple<uint32_t, uint32_t, bool, double>>;

/// The given session; null: the session of the process.
headrace::session session_of(const headrace::session* given) {
  return given ? *given : headrace::session{};
}

distribute_options options_of(const std::string& mode, const std::string& service,
                              const std::string& job_name, int64_t max_outstanding_requests,
                              const std::string& compression, double worker_timeout,
                              double stall_timeout, const std::string& targets,
                              const std::string& guarantee, const cache_arguments& cache,
                              const rounds_arguments& rounds, const headrace::session* in) {
  distribute_options out;
  out.session = session_of(in);
  out.processing_mode = sharding_policy_of(mode).value();
  out.service = service;
  out.job_name = job_name;
  out.max_outstanding_requests = max_outstanding_requests;
  out.compression = compression_of(compression).value();
  out.worker_timeout = seconds(worker_timeout);
  out.stall_timeout = seconds(stall_timeout);
  out.target_workers = target_workers_of(targets).value();
  out.guarantee = delivery_guarantee_of(guarantee).value();
  if (cache) {
    const auto& [trainer, wait, expected, newest] = *cache;
    out.cross_trainer_cache = {.trainer_id = trainer,
                               .terms = {.wait = {}, .expected_trainers = expected},
                               .start = newest ? cache_start::newest : cache_start::oldest};
    if (wait)
      out.cross_trainer_cache->terms.wait = seconds(*wait);
  }
  if (rounds) {
    const auto& [index, consumers, rejoin, timeout] = *rounds;
    out.coordinated_reads = {.consumer_index = index,
                             .num_consumers = consumers,
                             .rejoin = rejoin,
                             .consumer_timeout = seconds(timeout)};
  }
  return out;
}

/// A server that Python starts and stops. In a forked child, which has a copy of this object, the
/// destructor does not stop the server.
template <class Server>
class held_server {
public:
  explicit held_server(std::shared_ptr<Server> server) : server_(std::move(server)) {}
  held_server(held_server&&) noexcept = default;
  ~held_server() {
    if (is_orphan())
      keep_for_ever(std::move(server_));
    else
      stop(std::nullopt);
  }
  /// Begins to stop the server, and waits until it has ended, for at most `limit` seconds (unset:
  /// without limit). False: the server has not ended yet.
  bool stop(std::optional<double> limit) {
    // A forked child has none of the server's threads, nor the thread that stops it.
    if (is_orphan()) {
      if (server_)
        keep_for_ever(std::move(server_));
      return true;
    }
    if (server_) {
      ending_ = std::make_shared<ending>();
      std::thread{[server = std::move(server_), ends = ending_]() mutable {
        server.reset();
        std::lock_guard lock{ends->mutex};
        ends->over = true;
        ends->changed.notify_all();
      }}.detach();
    }
    if (!ending_)
      return true;
    nb::gil_scoped_release others;
    std::unique_lock lock{ending_->mutex};
    const auto over = [this] { return ending_->over; };
    if (limit)
      return ending_->changed.wait_for(lock, std::chrono::duration<double>{*limit}, over);
    ending_->changed.wait(lock, over);
    return true;
  }
  /// @pre `stop` was not called
  const Server& get() const { return *server_; }

private:
  struct ending {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
  };
  std::shared_ptr<Server> server_;
  std::shared_ptr<ending> ending_;
};

/// A session that Python ends. In a forked child, which has a copy of this object, `stop` and the
/// destructor do not end the session.
struct held_session {
  std::shared_ptr<secure_session> session;
  explicit held_session(tls_options tls)
    : session(std::make_shared<secure_session>(std::move(tls))) {}
  held_session(held_session&&) noexcept = default;
  ~held_session() { stop(); }
  void stop() {
    if (is_orphan()) {
      keep_for_ever(std::move(session));
      return;
    }
    nb::gil_scoped_release others;
    session.reset();
  }
};

endpoint_options endpoint_of(nb::handle options) {
  endpoint_options out;
  auto given = nb::cast<nb::dict>(options);
  out.host = nb::cast<std::string>(given["host"]);
  out.port = nb::cast<uint16_t>(given["port"]);
  out.data_port = nb::cast<uint16_t>(given["data_port"]);
  out.advertise_host = nb::cast<std::string>(given["advertise_host"]);
  out.advertise_data = nb::cast<std::string>(given["advertise_data"]);
  out.insecure = nb::cast<bool>(given["insecure"]);
  out.tls.certificate = nb::cast<std::string>(given["tls_cert"]);
  out.tls.key = nb::cast<std::string>(given["tls_key"]);
  out.tls.ca_file = nb::cast<std::string>(given["tls_ca"]);
  return out;
}

/// A dispatcher, with the HTTP server of its status page if there is one.
class shown_dispatcher {
public:
  /// `http_port`: the port of the HTTP server; 0: any free port; negative: there is no HTTP server.
  shown_dispatcher(const dispatcher_server_options& options, int http_port) : server_(options) {
    const auto& at = options.endpoint;
    if (http_port < 0)
      return;
    auto web = monitor::web_options_of(at);
    web.port = static_cast<uint16_t>(http_port);
    web_ = monitor::start_monitor(web, monitor::of_dispatcher(at, server_.port())).value();
  }
  const std::string& target() const noexcept { return server_.target(); }
  std::optional<std::string> page() const {
    return web_ ? std::optional{web_->url()} : std::nullopt;
  }

private:
  dispatcher_server server_;
  std::unique_ptr<monitor::web_server> web_; ///< destroyed first, as it sends requests to `server_`
};

} // namespace

void bind_service(nb::module_& m) {
  m.def(
    "distribute",
    [](const dataset& input, const std::string& mode, const std::string& service,
       const std::string& job_name, int64_t max_outstanding_requests,
       const std::string& compression, double worker_timeout, double stall_timeout,
       const std::string& targets, const std::string& guarantee, const cache_arguments& cache,
       const rounds_arguments& rounds, const headrace::session* in) {
      return distribute{options_of(mode, service, job_name, max_outstanding_requests, compression,
                                   worker_timeout, stall_timeout, targets, guarantee, cache, rounds,
                                   in)}(input);
    },
    nb::arg("input"), nb::arg("mode"), nb::arg("service"), nb::arg("job_name"),
    nb::arg("max_outstanding_requests"), nb::arg("compression"), nb::arg("worker_timeout"),
    nb::arg("stall_timeout"), nb::arg("targets"), nb::arg("guarantee"), nb::arg("cache").none(),
    nb::arg("rounds").none(), nb::arg("session").none());
  m.def(
    "register_dataset",
    [](const std::string& service, const dataset& what, const std::string& id,
       const std::string& compression, double timeout, const headrace::session* in) {
      register_options options{.id = id,
                               .timeout = seconds(timeout),
                               .compression = compression_of(compression).value(),
                               .session = session_of(in),
                               .stop = {},
                               .warn = {}};
      // Returns the id, and a warning for the caller (empty: none).
      return interruptibly([=](std::stop_token stop) mutable {
        std::string warning;
        options.stop = std::move(stop);
        options.warn = [&](const std::string& text) { warning = text; };
        auto known = register_dataset(service, what, options);
        return std::pair{std::move(known), std::move(warning)};
      });
    },
    nb::arg("service"), nb::arg("dataset"), nb::arg("id"), nb::arg("compression"),
    nb::arg("timeout"), nb::arg("session").none());
  m.def(
    "from_dataset_id",
    [](const std::string& mode, const std::string& service, const std::string& job_name,
       int64_t max_outstanding_requests, const std::string& compression, double worker_timeout,
       double stall_timeout, const std::string& targets, const std::string& guarantee,
       const cache_arguments& cache, const rounds_arguments& rounds, const headrace::session* in,
       const std::string& id) {
      auto options =
        options_of(mode, service, job_name, max_outstanding_requests, compression, worker_timeout,
                   stall_timeout, targets, guarantee, cache, rounds, in);
      return interruptibly(
        [=](std::stop_token stop) { return from_dataset_id(options, id, stop); });
    },
    nb::arg("mode"), nb::arg("service"), nb::arg("job_name"), nb::arg("max_outstanding_requests"),
    nb::arg("compression"), nb::arg("worker_timeout"), nb::arg("stall_timeout"), nb::arg("targets"),
    nb::arg("guarantee"), nb::arg("cache").none(), nb::arg("rounds").none(),
    nb::arg("session").none(), nb::arg("id"));
  m.def(
    "service_status",
    [](const std::string& dispatcher, double limit, const headrace::session* given) {
      return to_python(interruptibly([=, in = session_of(given)](const std::stop_token&) {
        return get_service_status(dispatcher, seconds(limit), in).value();
      }));
    },
    nb::arg("dispatcher"), nb::arg("limit"), nb::arg("session").none());
  m.def(
    "drain_worker",
    [](const std::string& dispatcher, const std::string& worker, double limit,
       const headrace::session* given) {
      const auto gone = interruptibly([=, in = session_of(given)](std::stop_token stop) {
        return drain_worker(
          dispatcher, worker,
          {.timeout = seconds(limit), .session = in, .on_progress = {}, .stop = std::move(stop)});
      });
      if (!gone)
        throw error{gone.status()};
    },
    nb::arg("dispatcher"), nb::arg("worker"), nb::arg("limit"), nb::arg("session").none());
  m.def(
    "await_workers",
    [](const std::string& dispatcher, size_t count, double limit, const headrace::session* given) {
      auto how = interruptibly([=, in = session_of(given)](const std::stop_token&) {
        return await_service_workers(dispatcher, count, seconds(limit), in);
      });
      if (!how)
        throw error{std::move(how)};
    },
    nb::arg("dispatcher"), nb::arg("count"), nb::arg("limit"), nb::arg("session").none());

  nb::class_<headrace::session>(m, "Session")
    .def("__init__", [](headrace::session* self, const std::string& certificate,
                        const std::string& key, const std::string& ca) {
      new (self)
        headrace::session{tls_options{.certificate = certificate, .key = key, .ca_file = ca}};
    });

  nb::class_<held_session>(m, "SecureSession")
    .def("__init__",
         [](held_session* self, const std::string& certificate, const std::string& key,
            const std::string& ca) {
           new (self) held_session{{.certificate = certificate, .key = key, .ca_file = ca}};
         })
    .def("used", [](const held_session& x) { return !x.session || x.session->used(); })
    .def("stop", &held_session::stop);

  nb::class_<flag>(m, "Flag")
    .def(nb::init<>())
    .def("set", &flag::set)
    .def("is_set", &flag::is_set)
    .def("wait", &flag::wait);

  nb::class_<worker_demand>(m, "WorkerDemand")
    .def(
      "__init__",
      [](worker_demand* self, uint32_t least, uint32_t most, std::optional<double> settling,
         std::optional<double> patience) {
        worker_demand::options how{.least = least, .most = most};
        if (settling)
          how.settling = seconds(*settling);
        if (patience)
          how.patience = seconds(*patience);
        new (self) worker_demand{how};
      },
      nb::arg("least"), nb::arg("most"), nb::arg("settling").none(), nb::arg("patience").none())
    .def(
      "look",
      [](worker_demand& x, std::optional<uint32_t> needed, uint32_t present, double now) {
        return x.look(needed, present, time_point{} + seconds(now));
      },
      nb::arg("needed").none(), nb::arg("present"), nb::arg("now"));

  using dispatcher = held_server<shown_dispatcher>;
  nb::class_<dispatcher>(m, "Dispatcher")
    .def_prop_ro("target", [](const dispatcher& x) { return x.get().target(); })
    .def_prop_ro("page", [](const dispatcher& x) { return x.get().page(); })
    .def("stop", &dispatcher::stop, nb::arg("limit").none());
  // A time of 0 stands for the default, and -1 for `gc_timeout_ms` means never.
  m.def("start_dispatcher",
        [](nb::handle endpoint, int64_t heartbeat_ms, int64_t lease_ms, const std::string& work_dir,
           int64_t client_timeout_ms, int64_t gc_check_interval_ms, int64_t gc_timeout_ms,
           bool gc_dynamic, const std::vector<std::string>& worker_addresses,
           const std::string& deployment, size_t worker_max_concurrent_saves, int http_port) {
          dispatcher_server_options options;
          options.jobs.gc_dynamic_sharding_jobs = gc_dynamic;
          if (client_timeout_ms > 0)
            options.jobs.client_timeout = milliseconds{client_timeout_ms};
          if (gc_check_interval_ms > 0)
            options.jobs.gc_check_interval = milliseconds{gc_check_interval_ms};
          if (gc_timeout_ms > 0)
            options.jobs.gc_timeout = milliseconds{gc_timeout_ms};
          else if (gc_timeout_ms < 0)
            options.jobs.gc_timeout.reset();
          options.endpoint = endpoint_of(endpoint);
          options.work_dir = work_dir;
          options.worker_addresses = worker_addresses;
          options.deployment = deployment_mode_of(deployment).value();
          if (worker_max_concurrent_saves != 0)
            options.worker_max_concurrent_saves = worker_max_concurrent_saves;
          if (heartbeat_ms > 0)
            options.heartbeat = milliseconds{heartbeat_ms};
          if (lease_ms > 0)
            options.lease = milliseconds{lease_ms};
          return dispatcher{interruptibly([=](const std::stop_token&) {
            return std::make_shared<shown_dispatcher>(options, http_port);
          })};
        });

  using worker = held_server<worker_server>;
  nb::class_<worker>(m, "Worker")
    .def_prop_ro("address", [](const worker& x) { return x.get().address(); })
    .def("stop", &worker::stop, nb::arg("limit").none());
  m.def(
    "start_worker",
    [](nb::handle endpoint, const std::string& of, const std::vector<std::string>& tags,
       nb::object pool, nb::object fail, int64_t heartbeat_ms, int64_t dispatcher_timeout_ms,
       int64_t drain_ms, uint64_t cache_bytes, uint64_t save_file_bytes) {
      worker_server_options options;
      options.save_max_file_size = save_file_bytes;
      options.cross_trainer_cache_size = cache_bytes;
      options.endpoint = endpoint_of(endpoint);
      options.dispatcher = of;
      options.find_function = python_functions(std::move(pool));
      options.tags = tags;
      options.serves_own_process = true;
      // A time of 0 stands for the default.
      if (heartbeat_ms > 0)
        options.heartbeat = milliseconds{heartbeat_ms};
      if (dispatcher_timeout_ms > 0)
        options.dispatcher_timeout = milliseconds{dispatcher_timeout_ms};
      if (drain_ms > 0)
        options.drain = milliseconds{drain_ms};
      const auto ends = kept(std::move(fail));
      options.on_failed = [ends](const status& why) {
        if (const visit here; here)
          (*ends)(static_cast<int>(why.code()), why.message());
      };
      options.on_left = [ends] {
        if (const visit here; here)
          (*ends)(0, "");
      };
      options.on_other_version = options.on_not_listed = options.on_failed;
      return worker{interruptibly(
        [=](const std::stop_token&) { return std::make_shared<worker_server>(options); })};
    },
    nb::arg("endpoint"), nb::arg("dispatcher"), nb::arg("tags"), nb::arg("pool").none(),
    nb::arg("fail"), nb::arg("heartbeat_ms"), nb::arg("dispatcher_timeout_ms"), nb::arg("drain_ms"),
    nb::arg("cache_bytes"), nb::arg("save_file_bytes"));
}

} // namespace headrace::detail::python
