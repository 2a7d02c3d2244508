#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/codec/graph_encoder.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/pipeline/graph/build.hpp"

namespace headrace {

namespace {

schema::Options::Choice choice(const std::optional<bool>& x) {
  if (!x)
    return schema::Options::Choice::UNSET;
  return *x ? schema::Options::Choice::YES : schema::Options::Choice::NO;
}

void write(const graph_options& x, schema::Options::Builder out) {
  out.setDeterministic(choice(x.deterministic));
  out.setAutotune(choice(x.autotune));
  out.setThreads(x.threads.value_or(0));
  out.setMemory(x.memory.value_or(0));
  if (x.compression)
    out.getCompression().setValue(to_schema(*x.compression));
  else
    out.getCompression().setUnset();
}

void write(const service_options& x, schema::ServiceOptions::Builder out) {
  out.setAddress(x.address);
  out.setProcessingMode(to_schema(x.processing_mode));
  out.setJobName(x.job_name);
  out.setDatasetId(x.dataset_id);
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
  out.setTrainerId(x.cache->trainer_id);
  if (const auto& wait = x.cache->terms.wait)
    out.setCacheWaitNs(static_cast<uint64_t>(wait->count()));
  out.setExpectedTrainers(x.cache->terms.expected_trainers);
  out.setStartsNewest(x.cache->start == cache_start::newest);
}

} // namespace

void graph_encoder::write_operator(const dataset_node& x, schema::Dataset::Builder out) const {
  const auto input = [&](size_t i = 0) { return number(x.inputs[i]); };
  const auto size = static_cast<unsigned>(x.fields.size());
  const auto body = [&](auto to) {
    to.setInput(input());
    to.setFunction(number(x.body));
    return to;
  };
  const auto calls = [&](auto to) {
    to.setParallel(x.parallel);
    to.setDeterministic(choice(x.deterministic));
  };
  const auto batched = [&](auto to) {
    to.setInput(input());
    to.setSize(x.count);
    to.setDropRemainder(x.flag);
  };
  const auto counted = [&](auto to) {
    to.setInput(input());
    to.setCount(x.count);
  };
  switch (x.op) {
  case dataset_op::map: return calls(body(out.initMap()));
  case dataset_op::filter: return calls(body(out.initFilter()));
  case dataset_op::flat_map: body(out.initFlatMap()); return;
  case dataset_op::interleave: {
    auto to = body(out.initInterleave());
    to.setCycle(x.count);
    to.setLength(x.count2);
    return calls(to);
  }
  case dataset_op::batch: return batched(out.initBatch());
  case dataset_op::shuffle: {
    auto to = out.initShuffle();
    to.setInput(input());
    to.setBufferSize(x.count);
    to.setReshuffle(x.flag);
    detail::write(x.seed, to.initSeed());
    return;
  }
  case dataset_op::repeat: return counted(out.initRepeat());
  case dataset_op::take: return counted(out.initTake());
  case dataset_op::skip: return counted(out.initSkip());
  case dataset_op::prefetch: {
    auto to = out.initPrefetch();
    to.setInput(input());
    to.setElements(x.count);
    return;
  }
  case dataset_op::enumerate: {
    auto to = out.initEnumerate();
    to.setInput(input());
    to.setStart(x.count);
    return;
  }
  case dataset_op::zip: {
    set(out.initZip().initInputs(static_cast<unsigned>(x.inputs.size())), x.inputs);
    return;
  }
  case dataset_op::concatenate: {
    auto to = out.initConcatenate();
    to.setFirst(input(0));
    to.setSecond(input(1));
    return;
  }
  case dataset_op::options: {
    auto to = out.initOptions();
    to.setInput(input());
    headrace::write(x.options, to.initOptions());
    return;
  }
  case dataset_op::distribute: {
    auto to = out.initDistribute();
    headrace::write(x.service, to.initService());
    if (!x.inputs.empty()) {
      to.setInput(input());
      return;
    }
    headrace::encode(x.spec, to.initSpec());
    to.setInfinite(x.cardinality == infinite_cardinality);
    return;
  }
  case dataset_op::take_while: body(out.initTakeWhile()); return;
  case dataset_op::shard: {
    auto to = out.initShard();
    to.setInput(input());
    to.setShards(x.count);
    to.setIndex(x.count2);
    return;
  }
  case dataset_op::unique: out.initUnique().setInput(input()); return;
  case dataset_op::ignore_errors: out.initIgnoreErrors().setInput(input()); return;
  case dataset_op::assert_cardinality: return counted(out.initAssertCardinality());
  case dataset_op::sleep: {
    auto to = out.initSleep();
    to.setInput(input());
    to.setMicroseconds(x.count);
    return;
  }
  case dataset_op::scan: {
    auto to = body(out.initScan());
    set(to.initInitialState(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::padded_batch: {
    auto to = out.initPaddedBatch();
    to.setInput(input());
    to.setSize(x.count);
    to.setDropRemainder(x.flag);
    detail::encode(x.fields, to.initComponents(size));
    set(to.initExtent(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::group_by_window: return batched(out.initGroupByWindow());
  case dataset_op::ragged_batch: return batched(out.initRaggedBatch());
  case dataset_op::single_element: out.initSingleElement().setInput(input()); return;
  case dataset_op::last_element: {
    auto to = out.initLastElement();
    to.setInput(input());
    set(to.initTensors(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::window: {
    auto to = out.initWindow();
    to.setInput(input());
    to.setSize(x.count);
    to.setShift(x.count2);
    to.setStride(constant_of(x.tensors[0])->values<int64_t>()[0]);
    to.setDropRemainder(x.flag);
    return;
  }
  case dataset_op::sample_from: {
    auto to = out.initSampleFrom();
    set(to.initInputs(static_cast<unsigned>(x.inputs.size())), x.inputs);
    const auto values = constant_of(x.tensors[0])->values<double>();
    auto weights = to.initWeights(static_cast<unsigned>(values.size()));
    for (unsigned i = 0; i < weights.size(); ++i) weights.set(i, values[i]);
    detail::write(x.seed, to.initSeed());
    to.setStopOnEmpty(x.flag);
    to.setRerandomize(x.count != 0);
    return;
  }
  case dataset_op::choose_from: {
    auto to = out.initChooseFrom();
    to.setChoices(input(0));
    set(to.initInputs(static_cast<unsigned>(x.inputs.size() - 1)), std::span{x.inputs}.subspan(1));
    to.setStopOnEmpty(x.flag);
    return;
  }
  case dataset_op::cache: {
    auto to = out.initCache();
    to.setInput(input());
    to.setFolder(x.text);
    to.setMostBytes(x.count);
    return;
  }
  case dataset_op::snapshot: {
    auto to = out.initSnapshot();
    to.setInput(input());
    to.setFolder(x.text);
    to.setCompression(static_cast<schema::SavedDataset::Compression>(x.count));
    to.setShard(x.body ? number(x.body) + 1 : 0);
    return;
  }
  default: break; // sources
  }
}

} // namespace headrace
