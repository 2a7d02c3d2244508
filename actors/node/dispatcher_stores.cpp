#include "headrace/actors/node/dispatcher_stores.hpp"

#include "headrace/actors/dispatcher/service_record_codec.hpp"
#include "headrace/actors/job/job_record_codec.hpp"
#include "headrace/actors/store/durable_store.hpp"
#include "headrace/runtime/journal/sqlite_journal.hpp"

namespace headrace::detail {

namespace {

/// The number of the journal's stream of the dispatcher's own facts. The number of the stream of a
/// job's facts is the job's id, which is never zero.
constexpr uint64_t service_stream = 0;

} // namespace

dispatcher_stores::dispatcher_stores()
  : service_(std::make_shared<memory_store<service_record>>(service_record{})) {}

result<std::shared_ptr<dispatcher_stores>>
dispatcher_stores::open(const std::string& directory, const logger& log,
                        std::shared_ptr<metric_registry> metrics) {
  auto out = std::make_shared<dispatcher_stores>();
  const auto on_health = [health = out->health_, log](const status& disk) {
    if (disk.ok())
      log.info("the store's disk is well again");
    else
      log.error("the store's disk is in trouble", {{"why", disk}});
    std::lock_guard lock{health->mutex};
    health->disk = disk;
  };
  HEADRACE_ASSIGN(auto opened, open_sqlite_journal({.directory = directory,
                                                    .on_health = on_health,
                                                    .metrics = std::move(metrics)}));
  out->journal_ = std::make_shared<closable_journal>(std::move(opened));
  const auto within = [&](const status& why) {
    return why.with_context("the store in " + directory);
  };
  auto service =
    durable_store<service_record>::open(out->journal_, service_stream, service_record{});
  if (!service)
    return within(service.status());
  const auto record = (*service)->record();
  // The journal's streams of jobs that are over are dropped here if an earlier dispatcher ended
  // before it could drop them.
  for (auto stream : out->journal_->streams())
    if (stream != service_stream && !record.jobs().contains(job_id{stream}))
      out->journal_->drop(stream);
  log.info(
    "the store is open",
    {{"directory", directory}, {"datasets", record.registered()}, {"jobs", record.jobs().size()}});
  out->service_ = *std::move(service);
  return out;
}

result<dispatcher_stores::job_store> dispatcher_stores::of(const job_description& about) {
  job_record empty{about.id,       about.policy,    about.plan,   about.past,
                   about.shards(), about.guarantee, about.reads()};
  std::lock_guard lock{mutex_};
  if (const auto known = jobs_.find(about.id); known != jobs_.end())
    return known->second;
  job_store out;
  if (journal_) {
    HEADRACE_ASSIGN(out,
                    durable_store<job_record>::open(journal_, about.id.value, std::move(empty)));
  } else {
    out = std::make_shared<memory_store<job_record>>(std::move(empty));
  }
  jobs_.emplace(about.id, out);
  return out;
}

void dispatcher_stores::drop(job_id id) {
  std::lock_guard lock{mutex_};
  jobs_.erase(id);
  if (journal_)
    journal_->drop(id.value);
}

status dispatcher_stores::disk() const {
  std::lock_guard lock{health_->mutex};
  return health_->disk;
}

void dispatcher_stores::close() {
  if (journal_)
    journal_->close();
}

} // namespace headrace::detail
