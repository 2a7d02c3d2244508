#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph/free_parameters.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

class distribute_iterator final : public operator_iterator {
public:
  distribute_iterator(engine& shared, const dataset_node& node,
                      std::unique_ptr<element_source> elements)
    : operator_iterator(shared, node), elements_(std::move(elements)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = elements_->next(wanted);
    if (!out && !elements_->was_empty())
      engine_.note_shared_elements();
    return out;
  }
  void save_to(position& to) const override {
    const bool in_rounds = node_.as<service_options>().rounds.has_value();
    to.refused = unimplemented(
      fmt::format("distribute: what a service gives has no positions that can be saved; {}",
                  in_rounds ? "a consumer of coordinated reads continues with `rejoin`"
                            : "save those of datasets that are read without it"));
  }
  status restore_from(position_reader&) override {
    return unimplemented("what a service gives has no positions to begin at");
  }

private:
  std::unique_ptr<element_source> elements_;
};

} // namespace

namespace {

/// The value of a parameter, taken from the row of the enclosing function.
expr_ptr value_of(const expr_ptr& parameter, const environment* names) {
  while (names != nullptr && names->scope != parameter->scope.get()) names = names->outer;
  if (names == nullptr)
    throw error{internal_error("distribute: a parameter of a function outside of that function")};
  return make_constant(names->values[static_cast<size_t>(parameter->attrs.index)]).value();
}

opened open_distribute(engine& shared, const dataset_ptr& node, const place& at) {
  if (!shared.context().distribute)
    return failed_precondition("distribute: there is no service to read from where this runs");
  auto what = node;
  if (at.in_function())
    // The service does not evaluate the enclosing function: it gets the dataset in which the values
    // of this row replace the parameters of the function.
    what = bind_parameters(
      node, [&](const expr_ptr& parameter) { return value_of(parameter, at.names()); });
  HEADRACE_ASSIGN(auto elements, shared.context().distribute(*what));
  return std::unique_ptr<iterator>{
    std::make_unique<distribute_iterator>(shared, *node, std::move(elements))};
}

void encode_service(const service_options& x, schema::ServiceOptions::Builder out) {
  out.setAddress(text_of(x.address));
  out.setProcessingMode(to_schema(x.processing_mode));
  out.setJobName(text_of(x.job_name));
  out.setDatasetId(text_of(x.dataset_id));
  out.setMaxOutstandingRequests(x.max_outstanding_requests);
  out.setCompression(to_schema(x.compression));
  out.setWorkerTimeoutNs(x.worker_timeout_ns);
  out.setStallTimeoutNs(x.stall_timeout_ns);
  out.setTargetWorkers(to_schema(x.targets));
  out.setGuarantee(to_schema(x.guarantee));
  if (const auto& rounds = x.rounds) {
    out.setNumConsumers(rounds->num_consumers);
    out.setConsumerIndex(rounds->consumer_index);
    out.setRejoin(rounds->rejoin);
    out.setConsumerTimeoutNs(static_cast<uint64_t>(rounds->consumer_timeout.count()));
  }
  if (!x.cache)
    return;
  out.setTrainerId(text_of(x.cache->trainer_id));
  if (const auto& wait = x.cache->terms.wait)
    out.setCacheWaitNs(static_cast<uint64_t>(wait->count()));
  out.setExpectedTrainers(x.cache->terms.expected_trainers);
  out.setStartsNewest(x.cache->start == cache_start::newest);
}

result<service_options> decode_service(schema::ServiceOptions::Reader in) {
  HEADRACE_ASSIGN(const auto policy, from_schema(in.getProcessingMode()));
  HEADRACE_ASSIGN(const auto packing, from_schema(in.getCompression()));
  HEADRACE_ASSIGN(const auto targets, from_schema(in.getTargetWorkers()));
  HEADRACE_ASSIGN(const auto guarantee, from_schema(in.getGuarantee()));
  std::optional<trainer_cache> cache;
  if (in.getTrainerId().size() != 0) {
    cache.emplace();
    cache->trainer_id = string_of(in.getTrainerId());
    if (const auto wait = in.getCacheWaitNs(); wait != 0)
      cache->terms.wait = duration{static_cast<int64_t>(wait)};
    cache->terms.expected_trainers = in.getExpectedTrainers();
    cache->start = in.getStartsNewest() ? cache_start::newest : cache_start::oldest;
  }
  std::optional<coordinated_reads> rounds;
  if (in.getNumConsumers() != 0)
    rounds = coordinated_reads{.consumer_index = in.getConsumerIndex(),
                               .num_consumers = in.getNumConsumers(),
                               .rejoin = in.getRejoin(),
                               .consumer_timeout =
                                 duration{static_cast<int64_t>(in.getConsumerTimeoutNs())}};
  return service_options{.address = string_of(in.getAddress()),
                         .processing_mode = policy,
                         .job_name = string_of(in.getJobName()),
                         .dataset_id = string_of(in.getDatasetId()),
                         .max_outstanding_requests = in.getMaxOutstandingRequests(),
                         .compression = packing,
                         .worker_timeout_ns = in.getWorkerTimeoutNs(),
                         .stall_timeout_ns = in.getStallTimeoutNs(),
                         .targets = targets,
                         .guarantee = guarantee,
                         .cache = std::move(cache),
                         .rounds = rounds};
}

void encode_distribute(const dataset_node& node, node_writer& to) {
  auto out = to.out.initDistribute();
  encode_service(node.as<service_options>(), out.initService());
  if (!node.inputs.empty()) {
    out.setInput(to.input());
    return;
  }
  encode(node.spec, out.initSpec());
  out.setInfinite(node.cardinality == infinite_cardinality);
}

result<dataset_ptr> decode_distribute(node_reader& from) {
  const auto in = from.in.getDistribute();
  HEADRACE_ASSIGN(auto service,
                  in_operator(dataset_op::distribute, decode_service(in.getService())));
  if (service.dataset_id.empty()) {
    HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
    return make_distribute(std::move(rows), std::move(service));
  }
  HEADRACE_ASSIGN(auto spec, decode(in.getSpec()));
  return make_distribute(std::move(spec),
                         in.getInfinite() ? infinite_cardinality : unknown_cardinality,
                         std::move(service));
}

std::string distribute_not_run_again(const dataset_node& node, const broken_run& run,
                                     bool in_function) {
  // Other runs or trainers share the job, and the job gives the elements that this run has read to
  // no reader again.
  const bool taken_for_good =
    !node.as<service_options>().job_name.empty() || (run.shares && !in_function);
  return run.gave_rows || taken_for_good
           ? "reads from another job, which does not give what it gave again; without a distribute "
             "inside of a distributed dataset it can"
           : "";
}

std::string_view distribute_not_read_again(const dataset_node& node, const reread_place& at) {
  // In a function, a node without a job name reads its whole dataset again when the element of the
  // outer dataset is read again.
  return at.in_function && node.as<service_options>().job_name.empty()
           ? ""
           : "what another job gave is not given again; put it behind this distribute, or read its "
             "input here";
}

} // namespace

constinit const operator_record distribute_record{
  .name = "distribute",
  .arm = schema::Dataset::DISTRIBUTE,
  .encode = encode_distribute,
  .decode = decode_distribute,
  .open = open_distribute,
  .pieces = {piece_rule::whole, "reads from another job, which gives its elements to one run"},
  .not_run_again = distribute_not_run_again,
  .not_read_again = distribute_not_read_again,
};

} // namespace headrace::detail
