#include "headrace/actors/job/job_record_codec.hpp"

#include "headrace/actors/job/iteration_codec.hpp"
#include "headrace/actors/job/splits/held_rows_codec.hpp"
#include "headrace/actors/job/splits/lease_history_codec.hpp"
#include "headrace/actors/job/splits/split_assigner_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"
#include "headrace/schemas/failure_codec.hpp"

namespace headrace::detail {

namespace {

struct job_fact_writer {
  schema::JobFact::Builder out;
  void operator()(const job_record::begun& x) { out.initBegun().setSeed(x.seed); }
  void operator()(const job_record::forgotten&) { out.setForgotten(); }
  void operator()(const job_record::collected&) { out.setCollected(); }
  template <class Fact>
  void operator()(const Fact& of_part) {
    write_fact(out, of_part);
  }
};

template <class Fact>
result<job_record::fact> in_repetition(uint64_t number, result<Fact> what) {
  if (!what)
    return what.status();
  return job_record::fact{number, *std::move(what)};
}

result<job_record::fact> read_job_fact(schema::JobFact::Reader in) {
  const auto number = in.getRepetition();
  switch (in.which()) {
  case schema::JobFact::NONE: return data_loss("a fact says nothing");
  case schema::JobFact::BEGUN:
    return job_record::fact{number, job_record::begun{in.getBegun().getSeed()}};
  case schema::JobFact::FORGOTTEN: return job_record::fact{number, job_record::forgotten{}};
  case schema::JobFact::COLLECTED: return job_record::fact{number, job_record::collected{}};
  case schema::JobFact::READER_JOINED:
  case schema::JobFact::READER_LEFT:
  case schema::JobFact::TASK_IS:
  case schema::JobFact::FINISHED_AS:
  case schema::JobFact::EPOCH_PROPOSED:
  case schema::JobFact::EPOCH_AGREED: return in_repetition(number, read_iteration_fact(in));
  case schema::JobFact::SHARED_BY:
  case schema::JobFact::CAME_TO:
  case schema::JobFact::LEASED_TO:
  case schema::JobFact::TASK_GONE:
  case schema::JobFact::RETURNED:
  case schema::JobFact::CLOSED: return in_repetition(number, read_split_fact(in));
  case schema::JobFact::LOST:
  case schema::JobFact::RECEIVED:
  case schema::JobFact::UNHEARD:
  case schema::JobFact::GIVEN:
  case schema::JobFact::SETTLED:
  case schema::JobFact::DONE:
  case schema::JobFact::KEPT:
  case schema::JobFact::RELEASED: return in_repetition(number, read_lease_fact(in));
  case schema::JobFact::TASK_OVER:
  case schema::JobFact::HANDED_OUT:
  case schema::JobFact::READER_GONE: return in_repetition(number, read_held_fact(in));
  }
  return unknown_stored("fact of a job", static_cast<unsigned>(in.which()));
}

status read_repetition(schema::JobState::Repetition::Reader in, job_record::repetition& out) {
  HEADRACE_ASSIGN(out.state, state_codec<iteration>::read(in.getIteration(), std::move(out.state)));
  HEADRACE_ASSIGN(out.splits,
                  state_codec<split_assigner>::read(in.getSplits(), std::move(out.splits)));
  HEADRACE_ASSIGN(out.leases,
                  state_codec<lease_history>::read(in.getLeases(), std::move(out.leases)));
  HEADRACE_ASSIGN(out.held, state_codec<held_rows>::read(in));
  return {};
}

} // namespace

buffer record_codec<job_record>::write_facts(const std::vector<fact>& group) {
  return write_words<schema::JobFacts>([&](schema::JobFacts::Builder out) {
    auto facts = out.initFacts(list_size(group));
    for (unsigned i = 0; i < facts.size(); ++i) {
      auto to = facts[i];
      to.setRepetition(group[i].repetition);
      std::visit(job_fact_writer{to}, group[i].what);
    }
  });
}

result<std::vector<job_record::fact>> record_codec<job_record>::read_facts(const buffer& bytes) {
  return read_words<schema::JobFacts>(bytes, "facts of a job",
                                      [](schema::JobFacts::Reader in) -> result<std::vector<fact>> {
                                        std::vector<fact> out;
                                        for (auto from : in.getFacts()) {
                                          HEADRACE_ASSIGN(auto one, read_job_fact(from));
                                          out.push_back(std::move(one));
                                        }
                                        return out;
                                      });
}

buffer record_codec<job_record>::write_state(const job_record& what) {
  return write_words<schema::JobState>([&](schema::JobState::Builder out) {
    auto repetitions = out.initRepetitions(list_size(what.repetitions_));
    unsigned next = 0;
    for (const auto& [number, r] : what.repetitions_) {
      auto to = repetitions[next++];
      to.setNumber(number);
      to.setSeed(r.seed);
      state_codec<iteration>::write(to.initIteration(), r.state);
      state_codec<split_assigner>::write(to.initSplits(), r.splits);
      state_codec<lease_history>::write(to.initLeases(), r.leases);
      state_codec<held_rows>::write(to, r.held);
    }
    out.setOverBelow(what.over_below_);
    auto over = out.initOver(list_size(what.over_));
    next = 0;
    for (const auto& [number, how] : what.over_) {
      auto to = over[next++];
      to.setRepetition(number);
      if (!how.ok())
        write_failure(to.initFailure(), how);
    }
    auto collected = out.initCollected(list_size(what.collected_));
    next = 0;
    for (const auto& [number, family] : what.collected_) {
      auto to = collected[next++];
      to.setRepetition(number);
      to.setFamily(family);
    }
  });
}

result<job_record> record_codec<job_record>::read_state(const buffer& bytes, job_record empty) {
  const auto read = [&](schema::JobState::Reader in) -> result<job_record> {
    auto out = std::move(empty);
    // The stored state includes the past.
    out.over_.clear();
    out.over_below_ = 0;
    for (auto from : in.getRepetitions()) {
      const auto number = from.getNumber();
      if (out.repetitions_.contains(number))
        return data_loss(fmt::format("repetition {} is there twice", number));
      out.apply({number, job_record::begun{from.getSeed()}});
      if (const auto how = read_repetition(from, out.repetitions_.at(number)); !how.ok())
        return how.with_context(fmt::format("repetition {}", number));
    }
    out.over_below_ = in.getOverBelow();
    for (auto from : in.getCollected())
      out.collected_.push_back({from.getRepetition(), from.getFamily()});
    for (auto from : in.getOver())
      if (!out.over_
             .try_emplace(from.getRepetition(),
                          from.hasFailure() ? read_failure(from.getFailure()) : status{})
             .second)
        return data_loss(fmt::format("repetition {} is over twice", from.getRepetition()));
    for (const auto& [number, r] : out.repetitions_)
      if (out.ended_as(number))
        return data_loss(fmt::format("repetition {} is there, and forgotten", number));
    return out;
  };
  return read_words<schema::JobState>(bytes, "state of a job", read);
}

} // namespace headrace::detail
