#pragma once

#include "headrace/actors/protocol/deployment_mode.hpp"
#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/metrics/metric_sample.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

namespace detail {
class metrics_access;
class node;
} // namespace detail

/// The addresses of a server, and how connections are secured.
struct endpoint_options {
  /// The address to bind; addresses other than loopback need `tls` or `insecure`.
  std::string host = "127.0.0.1";
  uint16_t port = 0;          ///< the port for actors; 0: any free one
  uint16_t data_port = 0;     ///< the port for data; 0: any free one
  std::string advertise_host; ///< the host that is advertised to other processes; empty: `host`
  /// The `host:port` for data that is advertised to trainers, if they can reach the data port only
  /// through address translation or a relay; empty: the advertised host and the data port.
  std::string advertise_data;
  tls_options tls;
  bool insecure = false;
  /// Determines when one end of a data link closes the link because the other end is silent. Unset:
  /// after a silence as long as the lease in the server's options.
  std::optional<link_liveness> liveness;
};

struct dispatcher_server_options {
  endpoint_options endpoint;
  /// The interval of heartbeats of workers and consumers: at most half of `lease`, and at most half
  /// of `jobs.client_timeout`. Unset: a second, or a quarter of the shorter of these two times if
  /// that is less.
  std::optional<duration> heartbeat;
  /// The time for which a worker counts as alive after its last message. If a trainer sends nothing
  /// for this time, the rows that it has not claimed go to other trainers that wait for rows.
  duration lease = std::chrono::seconds{5};
  /// The times after which a silent trainer is no longer a reader even if no other trainer waits,
  /// and after which repetitions without readers are collected.
  job_terms jobs;
  /// The directory for datasets and jobs, so that a restarted dispatcher continues with them; its
  /// parent directory must exist. Empty: they are in memory, and are lost with the process.
  std::string work_dir;
  /// The workers that may register, in the order of their shards under the static policies, which
  /// require this list: `host` or `host:%port%` for a worker at any data port, or `host:port`.
  /// Empty: any worker may register.
  std::vector<std::string> worker_addresses;
  /// Where the workers run. Under `colocated`, `target_workers::automatic` means `local` if the
  /// policy is static. The setting applies to new jobs.
  deployment_mode deployment = deployment_mode::remote;
  /// The most saves (`distribute_save`) in which a worker takes part at a time; at least 1.
  size_t worker_max_concurrent_saves = 3;
  /// Called, from any thread, when the server has crashed too often and is not started again. May
  /// be empty.
  std::function<void(const status&)> on_failed;
  process_past past; ///< the earlier processes that this one replaces, for the status
  logger log;
};

/// A dispatcher, which runs until it is destroyed. Throws `error` if it cannot be started (for
/// example because a port is in use). Raises the limit of descriptors, as `worker_server` does.
class dispatcher_server {
public:
  explicit dispatcher_server(dispatcher_server_options options = {});
  dispatcher_server(dispatcher_server&&) noexcept;
  ~dispatcher_server();
  /// The `host:port` for workers and consumers.
  const std::string& target() const noexcept;
  /// The port of `target`.
  uint16_t port() const noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

struct worker_server_options {
  /// `host:port`, with any scheme or none; empty: the value of HEADRACE_SERVICE.
  std::string dispatcher;
  endpoint_options endpoint;
  /// A trainer's data link that is silent for this time is closed. Use the dispatcher's lease.
  duration lease = std::chrono::seconds{5};
  /// The tags are shown in the status. The tag `COLOCATED` has an effect: such a worker serves only
  /// trainers of its own process, so `serves_own_process` must be set.
  std::vector<std::string> tags;
  /// Finds the functions that pipelines call by name. Empty: pipelines can call none.
  function_finder find_function;
  /// The number of threads stuck in foreign code (a file system, a library) with which the worker
  /// cannot continue; 0: it always continues.
  size_t most_stuck_threads = 0;
  /// The interval of heartbeats; unset: that of the dispatcher. A value above half of the
  /// dispatcher's lease counts as that half.
  std::optional<duration> heartbeat;
  /// How long the dispatcher may leave messages unanswered before `on_failed` is called
  /// (deadline_exceeded), once; the worker continues to repeat them until it is destroyed. A
  /// refusal is an answer. Unset: without limit.
  std::optional<duration> dispatcher_timeout = std::chrono::hours{1};
  /// The time limit in which the destructor sends trainers the elements of the splits that the
  /// worker has begun. Splits that it has not begun go to other workers in any case.
  duration drain = std::chrono::milliseconds{500};
  /// The bytes that the windows of all jobs may take in this worker; 0: a quarter of the memory
  /// that this process may have.
  uint64_t cross_trainer_cache_size = 0;
  /// When a file of a saved dataset has this many bytes, a further file is begun; 0: 6 GiB.
  uint64_t save_max_file_size = 0;
  /// As `dispatcher_server_options::on_failed`. Also called because of stuck threads
  /// (resource_exhausted), and because the dispatcher does not answer (deadline_exceeded).
  std::function<void(const status&)> on_failed;
  /// Called, from any thread, if the dispatcher has another major version; the worker continues to
  /// register, which fails until one of the two is updated. May be empty.
  std::function<void(const status&)> on_other_version;
  /// Called, from any thread, if the dispatcher's `worker_addresses` have no entry for this worker
  /// (permission_denied); the worker continues to register. May be empty.
  std::function<void(const status&)> on_not_listed;
  /// Called, from any thread, when the worker has left the service, as `drain_worker` requested: it
  /// runs no more tasks, and should be destroyed. May be empty.
  std::function<void()> on_left;
  /// Trainers of this process read from this worker without sockets and copies, and may read from
  /// such workers alone (`target_workers::local`).
  bool serves_own_process = false;
  process_past past; ///< the earlier processes that this one replaces, for the status
  logger log;
};

/// A worker: it registers with its dispatcher as soon as that can be reached, and again after each
/// loss of the connection. It runs until it is destroyed, and then leaves the service in order.
/// Throws `error` if it cannot be started. Raises the process's soft limit of descriptors
/// (RLIMIT_NOFILE) to the hard limit: connections may take half of the descriptors, so that the
/// files of pipelines always have the other half.
class worker_server {
public:
  explicit worker_server(worker_server_options options);
  worker_server(worker_server&&) noexcept;
  ~worker_server();
  /// The `host:port` from which trainers read.
  const std::string& address() const noexcept;
  /// The port of `address`.
  uint16_t data_port() const noexcept;
  /// The values of the metrics of its process (docs/metrics.md) at this moment, ordered by name and
  /// labels.
  std::vector<metric_sample> metrics() const;
  /// Leaves the service in order, which takes at most a second longer than `drain`. If `leave` was
  /// not called, the destructor calls it.
  void leave();
  /// To be called when the whole service ends: from now on `leave` and the destructor do not wait
  /// for elements to be sent, and a call of `leave` that is waiting returns. Thread-safe.
  void end_at_once() noexcept;

private:
  friend class detail::metrics_access;
  struct impl;
  std::unique_ptr<impl> impl_;
};

struct local_cluster_options {
  int workers = 1;
  /// The endpoint of the dispatcher; workers use the same host, TLS files and `insecure`. With TLS
  /// this process connects to its own servers with that certificate, in the session of the process.
  /// That session has one certificate, so it must not have connected without TLS before.
  endpoint_options endpoint;
  /// The data ports of the workers, in the order in which the workers are added; further workers
  /// take any free port.
  std::vector<uint16_t> data_ports;
  std::optional<duration> heartbeat; ///< see dispatcher_server_options
  duration lease = std::chrono::seconds{5};
  job_terms jobs;                                       ///< see dispatcher_server_options
  std::string work_dir;                                 ///< see dispatcher_server_options
  std::vector<std::string> worker_addresses;            ///< see dispatcher_server_options
  deployment_mode deployment = deployment_mode::remote; ///< see dispatcher_server_options
  size_t worker_max_concurrent_saves = 3;               ///< see dispatcher_server_options
  std::vector<std::string> tags;                        ///< the tags of each worker
  uint64_t cross_trainer_cache_size = 0;                ///< for each worker
  /// The time limit of `stop_worker`, see worker_server_options.
  duration drain = std::chrono::milliseconds{500};
  uint64_t save_max_file_size = 0; ///< for each worker
  /// For each worker; see worker_server_options.
  function_finder find_function;
  size_t most_stuck_threads = 0; ///< for each worker; see worker_server_options
  /// See dispatcher_server_options and worker_server_options; also called for a worker that has no
  /// entry in `worker_addresses`.
  std::function<void(const status&)> on_failed;
  process_past past; ///< the earlier processes that this one replaces, for the status
  logger log;
};

/// A dispatcher and workers in this process, for development and tests. The constructor returns
/// when all workers have registered. Thread-safe.
class local_cluster {
public:
  explicit local_cluster(local_cluster_options options = {});
  ~local_cluster();
  const std::string& target() const noexcept { return dispatcher_->target(); }
  /// The dispatcher's port, then the data ports of the workers in the order in which they were
  /// added (0: stopped).
  std::vector<uint16_t> ports() const;
  /// Adds a worker.
  void add_worker();
  /// Stops the worker that was added as number `index`, for good. It leaves in order.
  void stop_worker(size_t index);
  /// To be called when the service ends: `stop_worker` and the destructor then wait for no drains.
  void end_at_once() noexcept;
  /// Waits until `count` workers are registered. Throws `error` (deadline_exceeded) after `limit`.
  void await_workers(size_t count, duration limit = std::chrono::seconds{30});

private:
  local_cluster_options options_;
  std::shared_ptr<detail::node>
    here_; ///< the node with which this process connects to its own servers
  std::unique_ptr<dispatcher_server> dispatcher_;
  std::string inside_; ///< the address at which this process reaches its dispatcher
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<worker_server>> workers_; ///< null: stopped
  /// The workers for which `stop_worker` waits.
  std::vector<std::shared_ptr<worker_server>> leaving_;
  bool ends_ = false; ///< `end_at_once` was called
};

} // namespace headrace
