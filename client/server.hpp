#pragma once

#include "headrace/actors/protocol/deployment_mode.hpp"
#include "headrace/actors/protocol/job_terms.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

class node;

/// Where a server is reached and by whom.
struct endpoint_options {
  std::string host = "127.0.0.1"; ///< bound; anything but loopback needs `tls` or `insecure`
  uint16_t port = 0;              ///< of the actors; 0: any free one
  uint16_t data_port = 0;         ///< of the data; 0: any free one
  std::string advertise_host;     ///< what others are told; empty: `host`
  /// `host:port` that trainers are told for data, where they reach it through something else
  /// (address translation, a relay); empty: the advertised host and the data port.
  std::string advertise_data;
  tls_options tls;
  bool insecure = false;
  /// When an end of a data link gives the other up. Unset: after as long a silence as the lease
  /// that the server's options name.
  std::optional<link_liveness> liveness;
};

struct dispatcher_server_options {
  endpoint_options endpoint;
  /// How often workers and consumers are to speak, at most half of the lease; unset: each second,
  /// and at least four times a lease.
  std::optional<duration> heartbeat;
  /// How long a worker that is not heard of counts as alive. A trainer that is not heard of for so
  /// long loses what it holds to others that wait for it.
  duration lease = std::chrono::seconds{5};
  /// How long trainers keep their place otherwise, and when jobs are collected.
  job_terms jobs;
  /// Where datasets and jobs are kept, so that a dispatcher that is started again there goes on;
  /// its parent is there. Empty: in memory, so that they are lost with the process.
  std::string work_dir;
  /// The workers that may come, in the order of their shards under the static processing modes,
  /// which need this list: `host` or `host:%port%` for one at any data port, or `host:port`. Empty:
  /// any may come.
  std::vector<std::string> worker_addresses;
  /// Where its workers run: under `colocated` a static policy reads, with `target_workers` AUTO, as
  /// with LOCAL. Holds for jobs that begin.
  deployment_mode deployment = deployment_mode::remote;
  /// In so many saves (`distribute_save`) a worker takes part at a time; at least 1.
  size_t worker_max_concurrent_saves = 3;
  /// Told, from any thread, that the server crashed too often and runs no more. May be empty.
  std::function<void(const status&)> on_failed;
  process_past past; ///< of this process; for the status
  logger log;
};

/// A dispatcher: runs until it is destroyed. Throws `error` if it cannot start (a port in use).
/// Raises the process's soft limit of descriptors, as a worker does.
class dispatcher_server {
public:
  explicit dispatcher_server(dispatcher_server_options options = {});
  dispatcher_server(dispatcher_server&&) noexcept;
  ~dispatcher_server();
  /// `host:port` for workers and consumers.
  const std::string& target() const noexcept;
  /// The port itself.
  uint16_t port() const noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

struct worker_server_options {
  /// `host:port`, with any scheme or none; empty: what HEADRACE_SERVICE names.
  std::string dispatcher;
  endpoint_options endpoint;
  /// The dispatcher's lease: a trainer's link that is silent for so long is given up.
  duration lease = std::chrono::seconds{5};
  /// Shown with its status. One means something: a worker that is tagged `COLOCATED` serves only
  /// trainers of its own process, so that it must serve these.
  std::vector<std::string> tags;
  /// Finds the functions that pipelines call by name; without it there are none.
  std::function<named_function(const std::string&)> find_function;
  /// With so many threads that hang in foreign code (a file system, a library) the worker cannot go
  /// on; 0: it always does.
  size_t most_stuck_threads = 0;
  /// How often it speaks to its dispatcher; unset: as often as that asks for. More than half of the
  /// dispatcher's lease is that half.
  std::optional<duration> heartbeat;
  /// A dispatcher that did not answer for so long is reported to `on_failed` (deadline_exceeded),
  /// once; the worker looks for it until it is destroyed. A dispatcher that refuses the worker has
  /// answered. Unset: never.
  std::optional<duration> dispatcher_timeout = std::chrono::hours{1};
  /// How long it may take, when it is destroyed, to give trainers what it has begun for them. What
  /// it has not begun goes to other workers in any case.
  duration drain = std::chrono::milliseconds{500};
  /// Bytes that the cross-trainer caches of all jobs may take here; 0: a quarter of the memory that
  /// this process may have.
  uint64_t cross_trainer_cache_size = 0;
  /// A file of a dataset that the service saves is followed by another one when it has so many
  /// bytes; 0: 6 GiB.
  uint64_t save_max_file_size = 0;
  /// As a dispatcher's; also told of too many stuck threads (resource_exhausted) and of a
  /// dispatcher that does not answer (deadline_exceeded).
  std::function<void(const status&)> on_failed;
  /// Told, from any thread, that the dispatcher is of another major version; the worker goes on
  /// trying, in vain until one of the two is updated. May be empty.
  std::function<void(const status&)> on_other_version;
  /// Told, from any thread, that the dispatcher's `worker_addresses` have no entry for this worker
  /// (permission_denied); as above. May be empty.
  std::function<void(const status&)> on_not_listed;
  /// Told, from any thread, that the worker has left the service, as `drain_worker` wanted: it runs
  /// nothing any more, and is to be destroyed. May be empty.
  std::function<void()> on_left;
  /// Trainers of this process read from this worker without sockets and copies, and may be told to
  /// read from such workers alone (`target_workers` LOCAL).
  bool serves_own_process = false;
  process_past past; ///< of this process; for the status
  logger log;
};

/// A worker: registers with its dispatcher as soon as that can be reached, and again whenever it
/// was lost; runs until it is destroyed, and then leaves the service in order. Throws `error` if it
/// cannot start. Raises the process's soft limit of descriptors (RLIMIT_NOFILE) to the hard one:
/// connections may take half of them, the files of pipelines are never short of the other half.
class worker_server {
public:
  explicit worker_server(worker_server_options options);
  worker_server(worker_server&&) noexcept;
  ~worker_server();
  /// `host:port` from which trainers are told to read.
  const std::string& address() const noexcept;
  /// The data port itself.
  uint16_t data_port() const noexcept;
  /// The service ends as a whole: it is not to take time when it is destroyed.
  void end_at_once() noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

struct local_cluster_options {
  int workers = 1;
  /// Of the dispatcher; workers use the same host, TLS files and `insecure`. With TLS this process
  /// presents the same certificate to its own servers, so it must not have used headrace before
  /// without.
  endpoint_options endpoint;
  std::vector<uint16_t> data_ports;  ///< of the workers in turn; those beyond: any free one
  std::optional<duration> heartbeat; ///< as of dispatcher_server_options
  duration lease = std::chrono::seconds{5};
  job_terms jobs;                                       ///< as of dispatcher_server_options
  std::string work_dir;                                 ///< likewise
  std::vector<std::string> worker_addresses;            ///< likewise
  deployment_mode deployment = deployment_mode::remote; ///< likewise
  size_t worker_max_concurrent_saves = 3;               ///< likewise
  std::vector<std::string> tags;                        ///< of each worker
  uint64_t cross_trainer_cache_size = 0;                ///< of each worker
  uint64_t save_max_file_size = 0;                      ///< likewise
  /// As of each worker.
  std::function<named_function(const std::string&)> find_function;
  size_t most_stuck_threads = 0; ///< of each worker; as worker_server_options
  /// As those of dispatcher and workers; also told of a worker that `worker_addresses` have no
  /// entry for.
  std::function<void(const status&)> on_failed;
  process_past past; ///< of this process; for the status
  logger log;
};

/// A dispatcher and workers in this process, for development and tests. Returns from its
/// constructor when all workers have registered.
class local_cluster {
public:
  explicit local_cluster(local_cluster_options options = {});
  ~local_cluster();
  const std::string& target() const noexcept { return dispatcher_->target(); }
  /// Of the dispatcher, then the data ports of the workers as they were added (0: stopped).
  std::vector<uint16_t> ports() const;
  /// One more worker.
  void add_worker();
  /// Stops the worker that was added as number `index`; it does not come back.
  void stop_worker(size_t index);
  /// Waits until `count` workers are registered. Throws `error` (deadline_exceeded) after `limit`.
  void await_workers(size_t count, duration limit = std::chrono::seconds{30});

private:
  local_cluster_options options_;
  std::shared_ptr<node> here_; ///< how this process asks its own servers
  std::unique_ptr<dispatcher_server> dispatcher_;
  std::string inside_; ///< how this process reaches its dispatcher
  std::vector<std::unique_ptr<worker_server>> workers_;
};

} // namespace headrace
