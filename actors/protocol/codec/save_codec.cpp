#include "headrace/actors/protocol/codec/save_codec.hpp"

#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/pipeline/saving/save_plan.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

void write_written(schema::SaveWritten::Builder out, const save_written& what) {
  out.setRows(what.rows);
  out.setBytes(what.bytes);
}
save_written read_written(schema::SaveWritten::Reader in) { return {in.getRows(), in.getBytes()}; }

constexpr size_t bits_a_byte = 8;

void write_planned(schema::SavePlanned::Builder out, const save_planned& what) {
  out.setPlanId(what.plan);
  out.setPieces(what.there.size());
  auto bits =
    out.initThere(static_cast<unsigned>((what.there.size() + bits_a_byte - 1) / bits_a_byte));
  for (size_t i = 0; i < what.there.size(); ++i)
    bits[i / bits_a_byte] |= static_cast<kj::byte>(what.there[i] << (i % bits_a_byte));
  out.setWhole(what.whole);
  out.setWholeBecause(text_of(what.whole_because));
  write_written(out.initWritten(), what.written);
}

result<save_planned> read_planned(schema::SavePlanned::Reader in) {
  const auto pieces = in.getPieces();
  const auto bits = in.getThere();
  if (pieces > most_save_pieces || bits.size() != (pieces + bits_a_byte - 1) / bits_a_byte)
    return invalid_argument(
      fmt::format("a plan of {} pieces, of which {} bytes say which are there; at most {} "
                  "pieces, with a bit each, can be",
                  pieces, bits.size(), most_save_pieces));
  save_planned out{.plan = in.getPlanId(),
                   .there = std::vector<bool>(pieces),
                   .whole = in.getWhole(),
                   .whole_because = string_of(in.getWholeBecause()),
                   .written = read_written(in.getWritten())};
  for (size_t i = 0; i < pieces; ++i)
    out.there[i] = ((bits[i / bits_a_byte] >> (i % bits_a_byte)) & 1) != 0;
  return out;
}

struct report_writer {
  schema::SaveReport::Builder out;
  void operator()(const save_planned& x) { write_planned(out.initPlanned(), x); }
  void operator()(const piece_written& x) { write_written(out.initWritten(), x.what); }
  void operator()(const save_finished& x) { write_written(out.initFinished(), x.what); }
  void operator()(const status& x) { write_failure(out.initFailed(), x); }
  void operator()(const step_given_back&) { out.setGivenBack(); }
};

result<save_report> read_report(schema::SaveReport::Reader in) {
  save_report out{save_id{in.getSaveId()}, in.getNumber(), step_given_back{}};
  switch (in.which()) {
  case schema::SaveReport::PLANNED: {
    HEADRACE_ASSIGN(out.how, read_planned(in.getPlanned()));
    return out;
  }
  case schema::SaveReport::WRITTEN:
    out.how = piece_written{read_written(in.getWritten())};
    return out;
  case schema::SaveReport::FINISHED:
    out.how = save_finished{read_written(in.getFinished())};
    return out;
  case schema::SaveReport::FAILED: out.how = read_failure(in.getFailed()); return out;
  case schema::SaveReport::GIVEN_BACK: return out;
  default: return invalid_argument("a worker's report says nothing of how a step of a save ended");
  }
}

struct step_writer {
  schema::SaveOrder::Step::Builder out;
  void operator()(const plan_step&) { out.setPlan(); }
  void operator()(const piece_step& x) { out.setPiece(x.piece); }
  void operator()(const finish_step&) { out.setFinish(); }
  void operator()(const note_step& x) { write_failure(out.initNote(), x.why); }
};

} // namespace

void write_save_request(schema::SaveDataset::Builder out, const save_request& what) {
  write_dataset_registration(out.initDataset(), what.dataset);
  out.setPath(text_of(what.path));
  out.setCompression(text_of(what.compression));
}

save_request read_save_request(schema::SaveDataset::Reader in) {
  return {read_dataset_registration(in.getDataset()), string_of(in.getPath()),
          string_of(in.getCompression())};
}

void write_save_entry(schema::SaveEntry::Builder out, const save_entry& what) {
  out.setSaveId(what.id.value);
  out.setPath(text_of(what.path));
  out.setDatasetId(text_of(what.dataset_id));
  out.setFingerprint(data_of(what.fingerprint));
  out.setCompression(text_of(what.compression));
}

save_entry read_save_entry(schema::SaveEntry::Reader in) {
  return {save_id{in.getSaveId()}, string_of(in.getPath()), string_of(in.getDatasetId()),
          std::string{chars_of(in.getFingerprint())}, string_of(in.getCompression())};
}

void write_save_view(schema::SaveStatus::Builder out, const save_view& what) {
  out.setSaveId(what.id.value);
  out.setVersion(what.version);
  out.setPath(text_of(what.path));
  out.setDatasetId(text_of(what.dataset_id));
  out.setState(static_cast<schema::SaveStatus::State>(what.state));
  out.setPieces(what.pieces);
  out.setWritten(what.written);
  out.setRows(what.amount.rows);
  out.setBytes(what.amount.bytes);
  out.setWorkers(what.workers);
  if (!what.failure.ok())
    write_failure(out.initFailure(), what.failure);
  out.setWholeBecause(text_of(what.whole_because));
}

result<save_view> read_save_view(schema::SaveStatus::Reader in) {
  if (in.getState() > schema::SaveStatus::State::FAILED)
    return invalid_argument(fmt::format("a save is in state {}, which this build does not know",
                                        static_cast<unsigned>(in.getState())));
  return save_view{.id = save_id{in.getSaveId()},
                   .version = in.getVersion(),
                   .path = string_of(in.getPath()),
                   .dataset_id = string_of(in.getDatasetId()),
                   .state = static_cast<save_state>(in.getState()),
                   .pieces = in.getPieces(),
                   .written = in.getWritten(),
                   .amount = {in.getRows(), in.getBytes()},
                   .workers = in.getWorkers(),
                   .failure = in.hasFailure() ? read_failure(in.getFailure()) : status{},
                   .whole_because = string_of(in.getWholeBecause())};
}

void write_save_question(schema::AskSaveSteps::Builder out, worker_id who, incarnation life,
                         const save_question& what) {
  out.setWorkerId(who.value);
  out.setIncarnation(life.value);
  out.setTakes(what.takes);
  auto running = out.initRunning(static_cast<unsigned>(what.running.size()));
  for (unsigned i = 0; i < running.size(); ++i) {
    running[i].setSaveId(what.running[i].id.value);
    running[i].setNumber(what.running[i].number);
  }
  auto reports = out.initReports(static_cast<unsigned>(what.reports.size()));
  for (unsigned i = 0; i < reports.size(); ++i) {
    reports[i].setSaveId(what.reports[i].id.value);
    reports[i].setNumber(what.reports[i].number);
    std::visit(report_writer{reports[i]}, what.reports[i].how);
  }
}

result<save_question> read_save_question(schema::AskSaveSteps::Reader in) {
  save_question out{.takes = in.getTakes(), .running = {}, .reports = {}};
  for (auto one : in.getRunning())
    out.running.push_back({save_id{one.getSaveId()}, one.getNumber()});
  for (auto one : in.getReports()) {
    HEADRACE_ASSIGN(auto report, read_report(one));
    out.reports.push_back(std::move(report));
  }
  return out;
}

void write_save_steps(schema::SaveSteps::Builder out, const save_steps& what) {
  auto orders = out.initOrders(static_cast<unsigned>(what.orders.size()));
  for (unsigned i = 0; i < orders.size(); ++i) {
    const auto& from = what.orders[i];
    orders[i].setSaveId(from.what.id.value);
    orders[i].setNumber(from.number);
    orders[i].setPath(text_of(from.what.path));
    orders[i].setDatasetId(text_of(from.what.dataset_id));
    orders[i].setFingerprint(data_of(from.what.fingerprint));
    orders[i].setCompression(text_of(from.what.compression));
    orders[i].setPlanId(from.plan);
    orders[i].setWorkers(from.workers);
    std::visit(step_writer{orders[i].initStep()}, from.step);
  }
  auto over = out.initOver(static_cast<unsigned>(what.over.size()));
  for (unsigned i = 0; i < over.size(); ++i) over.set(i, what.over[i].value);
}

result<save_steps> read_save_steps(schema::SaveSteps::Reader in) {
  save_steps out;
  for (auto from : in.getOrders()) {
    auto& to = out.orders.emplace_back();
    to.what = {save_id{from.getSaveId()}, string_of(from.getPath()), string_of(from.getDatasetId()),
               std::string{chars_of(from.getFingerprint())}, string_of(from.getCompression())};
    to.number = from.getNumber();
    to.plan = from.getPlanId();
    to.workers = from.getWorkers();
    switch (from.getStep().which()) {
    case schema::SaveOrder::Step::PLAN: to.step = plan_step{}; break;
    case schema::SaveOrder::Step::PIECE: to.step = piece_step{from.getStep().getPiece()}; break;
    case schema::SaveOrder::Step::FINISH: to.step = finish_step{}; break;
    case schema::SaveOrder::Step::NOTE:
      to.step = note_step{read_failure(from.getStep().getNote())};
      break;
    default:
      return invalid_argument(fmt::format("an order of save {} names no step that this build knows",
                                          to_string(to.what.id)));
    }
  }
  for (auto id : in.getOver()) out.over.emplace_back(id);
  return out;
}

} // namespace headrace::detail
