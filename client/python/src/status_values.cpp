#include "status_values.hpp"

#include "headrace/client/internal/verdict.hpp"
#include "headrace/client/internal/worker_demand.hpp"
#include "headrace/runtime/base/ids.hpp"

namespace headrace::detail::python {

namespace {

nb::object value_of(duration x) { return nb::cast(in_seconds(x)); }
template <class T>
nb::object value_of(const T& x) {
  return nb::cast(x);
}
nb::object value_of(const std::string& x) { return text_of(x); }
nb::object value_of(const worker_status& x);
nb::object value_of(const job_status& x);
nb::object value_of(const task_status& x);
nb::object value_of(const operator_status& x);
nb::object value_of(const trainer_status& x);
nb::object value_of(const window_trainer& x);
nb::object value_of(const window_status& x);
nb::object value_of(const rounds_status& x);
nb::object value_of(const save_status& x);
nb::object value_of(const supervised& x);
nb::object value_of(const metric_sample& x);
nb::object value_of(const histogram_counts& x);
template <class T>
nb::object value_of(const std::vector<T>& all) {
  nb::list out;
  for (const auto& x : all) out.append(value_of(x));
  return out;
}
nb::object value_of(const std::map<std::string, uint64_t>& all) {
  nb::dict out;
  for (const auto& [name, x] : all) out[text_of(name)] = x;
  return out;
}

void put(nb::dict&, const auto&) {}
/// Puts fields of `x` into a dict, by their names.
template <class T, class Field, class... More>
void put(nb::dict& out, const T& x, const char* name, Field T::*field, More... more) {
  out[name] = value_of(x.*field);
  put(out, x, more...);
}
nb::dict dict_of(const auto& x, auto... fields) {
  nb::dict out;
  put(out, x, fields...);
  return out;
}

nb::object value_of(const worker_status& x) {
  using w = worker_status;
  auto out = dict_of(x, "address", &w::address, "tags", &w::tags, "pid", &w::pid, "alive",
                     &w::alive, "since_heartbeat", &w::since_heartbeat, "metrics", &w::metrics);
  out["stuck_threads"] = x.stuck_threads();
  out["refused_links"] = value_of(x.refused_links());
  out["bad_messages"] = x.bad_messages();
  out["worker"] = to_hex(x.worker);
  out["state"] = std::string{state_of(x)};
  return out;
}

nb::object value_of(const histogram_counts& x) {
  using h = histogram_counts;
  return dict_of(x, "bounds", &h::bounds, "counts", &h::counts, "sum", &h::sum);
}

nb::object value_of(const metric_sample& x) {
  nb::dict labels;
  for (const auto& [name, value] : x.labels) labels[text_of(name)] = text_of(value);
  auto out = dict_of(x, "name", &metric_sample::name);
  out["kind"] = std::string{kind_of(x)};
  out["labels"] = labels;
  out["value"] = std::visit([](const auto& value) { return value_of(value); }, x.value);
  return out;
}

nb::object value_of(const window_trainer& x) {
  using t = window_trainer;
  return dict_of(x, "trainer", &t::id, "lag", &t::lag, "skipped", &t::skipped, "streams",
                 &t::streams);
}

nb::object value_of(const window_status& x) {
  using w = window_status;
  return dict_of(x, "first", &w::first, "end", &w::end, "bytes", &w::bytes, "budget", &w::budget,
                 "blocks", &w::blocks, "encoded", &w::encoded, "trainers", &w::trainers);
}

nb::object value_of(const operator_status& x) {
  using o = operator_status;
  return dict_of(x, "name", &o::name, "depth", &o::depth, "in_function", &o::in_function, "calls",
                 &o::calls, "rows_per_second", &o::rows_per_second, "bytes_per_second",
                 &o::bytes_per_second, "busy", &o::busy, "input", &o::input, "output", &o::output,
                 "lease", &o::lease, "storage", &o::storage, "memory", &o::memory, "queued",
                 &o::queued);
}

nb::object value_of(const trainer_status& x) {
  using t = trainer_status;
  auto out =
    dict_of(x, "name", &t::name, "host", &t::host, "elements_per_second", &t::elements_per_second,
            "bytes_per_second", &t::bytes_per_second, "elements", &t::elements);
  out["consumer"] = to_hex(x.consumer);
  out["waited"] = x.waited < 0 ? nb::none() : nb::cast(x.waited);
  return out;
}

nb::dict value_of(const verdict& x) {
  using v = verdict;
  auto out = dict_of(x, "text", &v::text, "trainer", &v::trainer, "waited", &v::waited, "what",
                     &v::what, "share", &v::share, "workers", &v::workers, "running", &v::running,
                     "wanted", &v::wanted, "queued", &v::queued, "at_least", &v::at_least);
  out["cause"] = std::string{to_string(x.cause)};
  out["place"] = x.place ? nb::cast(*x.place) : nb::none();
  return out;
}

nb::object value_of(const task_status& x) {
  using t = task_status;
  auto out = dict_of(x, "state", &t::state, "elements", &t::elements, "elements_per_second",
                     &t::elements_per_second, "bytes", &t::bytes, "streams", &t::streams,
                     "restarts", &t::restarts, "ignored", &t::ignored, "operators", &t::operators);
  out["window"] = x.window ? value_of(*x.window) : nb::none();
  out["task"] = to_hex(x.task);
  out["worker"] = to_hex(x.worker);
  return out;
}

nb::object value_of(const rounds_status& x) {
  using r = rounds_status;
  auto out = dict_of(x, "consumers", &r::consumers, "missing", &r::missing, "epoch", &r::epoch,
                     "first_round", &r::first_round, "round", &r::round);
  nb::list tasks;
  for (auto id : x.tasks) tasks.append(to_hex(id));
  out["tasks"] = tasks;
  return out;
}

nb::object value_of(const job_status& x) {
  using j = job_status;
  auto out = dict_of(
    x, "name", &j::name, "dataset", &j::dataset, "processing_mode", &j::processing_mode, "state",
    &j::state, "repetition", &j::repetition, "consumers", &j::consumers, "failure", &j::failure,
    "tasks", &j::tasks, "lost_tasks", &j::lost_tasks, "lost_splits", &j::lost_splits,
    "reread_splits", &j::reread_splits, "lost_elements", &j::lost_elements, "guarantee",
    &j::guarantee, "repeated_splits", &j::repeated_splits, "trainers", &j::trainers);
  out["rounds"] = x.rounds ? value_of(*x.rounds) : nb::none();
  out["job"] = to_hex(x.job);
  return out;
}

nb::object value_of(const save_status& x) {
  using s = save_status;
  auto out =
    dict_of(x, "version", &s::version, "path", &s::path, "dataset", &s::dataset, "state", &s::state,
            "pieces", &s::pieces, "written", &s::written, "elements", &s::elements, "bytes",
            &s::bytes, "workers", &s::workers, "whole_because", &s::whole_because);
  out["save"] = to_hex(x.save);
  out["failure"] = text_of(x.failure.ok() ? std::string{} : to_string(x.failure));
  return out;
}

nb::object value_of(const supervised& x) {
  using s = supervised;
  return dict_of(x, "name", &s::name, "state", &s::state, "restarts", &s::restarts, "last_reason",
                 &s::last_reason, "children", &s::children);
}

} // namespace

nb::dict to_python(const service_status& x) {
  using s = service_status;
  nb::list listed;
  for (const auto& entry : x.worker_addresses) {
    nb::dict one;
    one["listed"] = entry.name;
    one["worker"] = entry.worker == 0 ? nb::object{nb::none()} : nb::cast(to_hex(entry.worker));
    one["address"] = entry.address;
    one["state"] = std::string{state_of(entry, x)};
    listed.append(one);
  }
  auto out =
    dict_of(x, "uptime", &s::uptime, "datasets", &s::datasets, "metrics", &s::metrics, "workers",
            &s::workers, "jobs", &s::jobs, "saves", &s::saves, "tree", &s::tree, "work_dir",
            &s::work_dir, "disk_trouble", &s::disk_trouble, "left_out", &s::left_out);
  for (size_t i = 0; i < x.jobs.size(); ++i)
    out["jobs"][i]["verdict"] = value_of(verdict_of(x.jobs[i], x));
  const auto needed = workers_needed(x);
  out["wanted_workers"] = needed ? nb::cast(*needed) : nb::none();
  out["worker_addresses"] = listed;
  out["bad_messages"] = x.bad_messages();
  out["refused_peers"] = x.refused_peers();
  return out;
}

nb::object to_python(const save_status& x) { return value_of(x); }

} // namespace headrace::detail::python
