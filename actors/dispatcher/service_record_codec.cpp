#include "headrace/actors/dispatcher/service_record_codec.hpp"

#include "headrace/actors/dispatcher/dataset_table_codec.hpp"
#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/job_codec.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/schemas/text.hpp"

namespace headrace::detail {

namespace {

using codec = record_codec<service_record>;

void write_job(schema::JobEntry::Builder out, const service_record::job& what) {
  out.setJobId(what.id.value);
  out.setName(text_of(what.name));
  out.setDatasetId(text_of(what.dataset_id));
  write_parameters(out.initParameters(), what.parameters);
  out.setKey(data_of(what.key));
  out.setShards(what.shards);
  out.setTargets(to_schema(what.targets));
  if (!what.past.empty())
    write_past(out.initPast(), what.past);
}

result<service_record::job> read_job(schema::JobEntry::Reader in) {
  HEADRACE_ASSIGN(const auto parameters, read_parameters(in.getParameters()));
  HEADRACE_ASSIGN(const auto targets, from_schema(in.getTargets()));
  return service_record::job{
    .id = job_id{in.getJobId()},
    .name = string_of(in.getName()),
    .dataset_id = string_of(in.getDatasetId()),
    .parameters = parameters,
    .key = std::string{chars_of(in.getKey())},
    .shards = in.getShards(),
    .past = read_past(in.getPast()),
    .targets = targets,
  };
}

void write_place(schema::WorkerPlace::Builder out, uint32_t entry, const worker_place& what) {
  out.setEntry(entry);
  out.setWorkerId(what.worker.value);
  out.setDataAddress(text_of(what.data_address));
}

worker_place read_place(schema::WorkerPlace::Reader in) {
  return {worker_id{in.getWorkerId()}, string_of(in.getDataAddress())};
}

struct service_fact_writer {
  schema::ServiceFact::Builder out;
  void operator()(const service_record::dataset_registered& x) {
    write_dataset_registration(out.initDatasetRegistered(), {x.id, x.what.graph, x.what.spec,
                                                             x.what.fingerprint, x.for_iteration});
  }
  void operator()(const service_record::job_started& x) { write_job(out.initJobStarted(), x.what); }
  void operator()(const service_record::job_joined& x) {
    auto to = out.initJobJoined();
    to.setJobId(x.id.value);
    to.setDatasetId(text_of(x.dataset_id));
  }
  void operator()(const service_record::job_over& x) {
    auto to = out.initJobOver();
    to.setJobId(x.id.value);
    to.setCollected(x.collected);
    if (!x.past.empty())
      write_past(to.initPast(), x.past);
  }
  void operator()(const service_record::worker_named& x) { out.setWorkerNamed(x.id.value); }
  void operator()(const service_record::worker_placed& x) {
    write_place(out.initWorkerPlaced(), x.entry, x.who);
  }
  void operator()(const service_record::worker_drains& x) { out.setWorkerDrains(x.id.value); }
  void operator()(const service_record::worker_drained& x) { out.setWorkerDrained(x.id.value); }
  void operator()(const service_record::save_begun& x) {
    write_save_entry(out.initSaveBegun(), x.what);
  }
  void operator()(const service_record::save_ended& x) {
    write_save_view(out.initSaveEnded(), x.how);
  }
};

result<service_record::fact> read_service_fact(schema::ServiceFact::Reader in) {
  using fact = service_record::fact;
  switch (in.which()) {
  case schema::ServiceFact::NONE: return data_loss("a fact says nothing");
  case schema::ServiceFact::DATASET_REGISTERED: {
    auto x = read_dataset_registration(in.getDatasetRegistered());
    return fact{service_record::dataset_registered{
      std::move(x.id),
      {std::move(x.graph), std::move(x.spec), std::move(x.fingerprint)},
      x.for_iteration}};
  }
  case schema::ServiceFact::JOB_STARTED: {
    HEADRACE_ASSIGN(auto job, read_job(in.getJobStarted()));
    return fact{service_record::job_started{std::move(job)}};
  }
  case schema::ServiceFact::JOB_JOINED: {
    const auto x = in.getJobJoined();
    return fact{service_record::job_joined{job_id{x.getJobId()}, string_of(x.getDatasetId())}};
  }
  case schema::ServiceFact::JOB_OVER: {
    const auto x = in.getJobOver();
    return fact{
      service_record::job_over{job_id{x.getJobId()}, read_past(x.getPast()), x.getCollected()}};
  }
  case schema::ServiceFact::WORKER_NAMED:
    return fact{service_record::worker_named{worker_id{in.getWorkerNamed()}}};
  case schema::ServiceFact::WORKER_PLACED: {
    const auto x = in.getWorkerPlaced();
    return fact{service_record::worker_placed{x.getEntry(), read_place(x)}};
  }
  case schema::ServiceFact::WORKER_DRAINS:
    return fact{service_record::worker_drains{worker_id{in.getWorkerDrains()}}};
  case schema::ServiceFact::WORKER_DRAINED:
    return fact{service_record::worker_drained{worker_id{in.getWorkerDrained()}}};
  case schema::ServiceFact::SAVE_BEGUN:
    return fact{service_record::save_begun{read_save_entry(in.getSaveBegun())}};
  case schema::ServiceFact::SAVE_ENDED: {
    HEADRACE_ASSIGN(auto how, read_save_view(in.getSaveEnded()));
    return fact{service_record::save_ended{std::move(how)}};
  }
  }
  return unknown_stored("fact of a dispatcher", static_cast<unsigned>(in.which()));
}

void write_names(::capnp::List<::capnp::Text>::Builder out, const std::deque<std::string>& what) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, text_of(what[i]));
}

} // namespace

buffer codec::write_facts(const std::vector<fact>& group) {
  return write_words<schema::ServiceFacts>([&](schema::ServiceFacts::Builder out) {
    auto facts = out.initFacts(list_size(group));
    for (unsigned i = 0; i < facts.size(); ++i) std::visit(service_fact_writer{facts[i]}, group[i]);
  });
}

result<std::vector<service_record::fact>> codec::read_facts(const buffer& bytes) {
  const auto read = [](schema::ServiceFacts::Reader in) -> result<std::vector<fact>> {
    std::vector<fact> out;
    for (auto from : in.getFacts()) {
      HEADRACE_ASSIGN(auto one, read_service_fact(from));
      out.push_back(std::move(one));
    }
    return out;
  };
  return read_words<schema::ServiceFacts>(bytes, "facts of a dispatcher", read);
}

buffer codec::write_state(const service_record& what) {
  return write_words<schema::ServiceState>([&](schema::ServiceState::Builder out) {
    state_codec<dataset_table>::write(out, what.datasets_);
    auto jobs = out.initJobs(list_size(what.jobs_));
    unsigned next = 0;
    for (const auto& [id, job] : what.jobs_) {
      auto to = jobs[next++];
      write_job(to, job);
      const auto found = what.by_key_.find(job.key);
      to.setFound(found != what.by_key_.end() && found->second == id);
    }
    auto passing = out.initPassing(list_size(what.passing_));
    next = 0;
    for (const auto& [id, users] : what.passing_) {
      auto to = passing[next++];
      to.setDatasetId(text_of(id));
      auto used_by = to.initUsedBy(list_size(users));
      unsigned at = 0;
      for (auto job : users) used_by.set(at++, job.value);
    }
    write_names(out.initUnused(list_size(what.unused_)), what.unused_);
    write_names(out.initLeftOver(list_size(what.left_over_)), what.left_over_);
    out.setLastWorker(what.last_worker_.value);
    auto places = out.initPlaces(list_size(what.places_));
    next = 0;
    for (const auto& [entry, who] : what.places_) write_place(places[next++], entry, who);
    auto ended = out.initEnded(list_size(what.ended_in_order_));
    next = 0;
    for (const auto& [number, key] : what.ended_in_order_) {
      const auto& [last, past] = what.ended_.at(key).what;
      auto to = ended[next++];
      to.setHash(key[0]);
      to.setHash2(key[1]);
      to.setJobId(last.value);
      write_past(to.initPast(), past);
    }
    auto collected = out.initCollected(list_size(what.collected_));
    for (unsigned i = 0; i < collected.size(); ++i) collected.set(i, what.collected_[i].value);
    auto draining = out.initDraining(list_size(what.draining_));
    next = 0;
    for (auto id : what.draining_) draining.set(next++, id.value);
    auto saves = out.initSaves(list_size(what.saves_));
    next = 0;
    for (const auto& [id, save] : what.saves_) write_save_entry(saves[next++], save);
    auto ended_saves = out.initEndedSaves(list_size(what.ended_saves_));
    for (unsigned i = 0; i < ended_saves.size(); ++i)
      write_save_view(ended_saves[i], what.ended_saves_[i]);
  });
}

status codec::read_jobs(schema::ServiceState::Reader in, service_record& out) {
  for (auto from : in.getJobs()) {
    HEADRACE_ASSIGN(auto job, read_job(from));
    const auto id = job.id;
    if (from.getFound() && !out.by_key_.try_emplace(job.key, id).second)
      return data_loss(fmt::format("two jobs are found by the key of job {}", to_string(id)));
    if (!out.jobs_.try_emplace(id, std::move(job)).second)
      return data_loss(fmt::format("job {} is there twice", to_string(id)));
  }
  return {};
}

status codec::read_passing(schema::ServiceState::Reader in, service_record& out) {
  size_t free = 0; // the number of ids that no job or save uses
  for (auto from : in.getPassing()) {
    const std::string id{text_of(from.getDatasetId())};
    HEADRACE_TRY(out.datasets_.find(id).status());
    const auto [at, fresh] = out.passing_.try_emplace(id);
    if (!fresh)
      return data_loss(fmt::format("dataset '{}' is for one iteration twice", id));
    for (auto job : from.getUsedBy()) {
      at->second.insert(job_id{job});
      out.used_by_[job_id{job}].insert(id);
    }
    free += at->second.empty();
  }
  // Each id that no job or save uses is in exactly one of the queues `unused` and `left_over`.
  std::set<std::string> queued;
  const auto read_queue = [&](auto names, std::deque<std::string>& to) -> status {
    for (auto name : names) {
      const auto& id = to.emplace_back(text_of(name));
      const auto at = out.passing_.find(id);
      if (at == out.passing_.end() || !at->second.empty() || !queued.insert(id).second)
        return data_loss(fmt::format("dataset '{}' is not for one iteration, or in use, or listed "
                                     "twice; it cannot wait for its end",
                                     id));
    }
    return {};
  };
  HEADRACE_TRY(read_queue(in.getUnused(), out.unused_));
  HEADRACE_TRY(read_queue(in.getLeftOver(), out.left_over_));
  if (queued.size() != free)
    return data_loss(fmt::format("{} datasets for iterations are not in use, and {} wait for their "
                                 "end; these would be the same",
                                 free, queued.size()));
  return {};
}

status codec::read_ended(schema::ServiceState::Reader in, service_record& out) {
  for (auto from : in.getEnded()) {
    const service_record::key_hash key{from.getHash(), from.getHash2()};
    if (out.ended_.contains(key))
      return data_loss("a job's name has ended twice");
    out.keep_ended(key, {job_id{from.getJobId()}, read_past(from.getPast())});
  }
  for (auto id : in.getCollected()) out.collected_.emplace_back(id);
  for (auto id : in.getDraining()) out.keep_draining(worker_id{id});
  for (auto from : in.getSaves()) {
    auto save = read_save_entry(from);
    out.saves_.insert_or_assign(save.id, std::move(save));
  }
  for (auto from : in.getEndedSaves()) {
    HEADRACE_ASSIGN(auto how, read_save_view(from));
    out.ended_saves_.push_back(std::move(how));
  }
  return {};
}

result<service_record> codec::read_state(const buffer& bytes, service_record empty) {
  const auto read = [&](schema::ServiceState::Reader in) -> result<service_record> {
    auto out = std::move(empty);
    HEADRACE_ASSIGN(out.datasets_, state_codec<dataset_table>::read(in));
    HEADRACE_TRY(read_jobs(in, out));
    HEADRACE_TRY(read_passing(in, out));
    out.last_worker_ = worker_id{in.getLastWorker()};
    for (auto from : in.getPlaces())
      if (!out.places_.try_emplace(from.getEntry(), read_place(from)).second)
        return data_loss(fmt::format("entry {} of the workers is there twice", from.getEntry()));
    HEADRACE_TRY(read_ended(in, out));
    return out;
  };
  return read_words<schema::ServiceState>(bytes, "state of a dispatcher", read);
}

} // namespace headrace::detail
