#include "headrace/actors/protocol/codec/drain_codec.hpp"

#include "headrace/schemas/text.hpp"

namespace headrace::detail {

void write_drain_request(schema::DrainWorker::Builder out, const drain_request& what) {
  if (const auto* address = std::get_if<std::string>(&what.which))
    out.getWorker().setDataAddress(text_of(*address));
  else
    out.getWorker().setWorkerId(std::get<worker_id>(what.which).value);
  if (what.known)
    out.getKnown().setTasks(*what.known);
  out.setIncarnation(what.life.value);
}

result<drain_request> read_drain_request(schema::DrainWorker::Reader in) {
  using worker = schema::DrainWorker::Worker;
  drain_request out;
  switch (in.getWorker().which()) {
  case worker::DATA_ADDRESS: out.which = string_of(in.getWorker().getDataAddress()); break;
  case worker::WORKER_ID: out.which = worker_id{in.getWorker().getWorkerId()}; break;
  default: break;
  }
  const auto* address = std::get_if<std::string>(&out.which);
  if (address != nullptr ? address->empty() : !std::get<worker_id>(out.which))
    return invalid_argument("a request to drain names no worker");
  if (in.getKnown().isTasks())
    out.known = in.getKnown().getTasks();
  out.life = incarnation{in.getIncarnation()};
  return out;
}

void write_worker_drains(schema::WorkerDrains::Builder out, const worker_drains& what) {
  out.setWorkerId(what.id.value);
  out.setIncarnation(what.life.value);
  out.setDataAddress(text_of(what.data_address));
  out.setTasks(what.tasks);
  out.setLeft(what.left);
  out.setUnfinished(what.unfinished);
}

worker_drains read_worker_drains(schema::WorkerDrains::Reader in) {
  return {worker_id{in.getWorkerId()},
          incarnation{in.getIncarnation()},
          string_of(in.getDataAddress()),
          in.getTasks(),
          in.getLeft(),
          in.getUnfinished()};
}

} // namespace headrace::detail
