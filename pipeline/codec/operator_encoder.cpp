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
  const auto body = [&](auto to) {
    to.setInput(input());
    to.setFunction(number(x.body));
    return to;
  };
  const auto calls = [&](auto to) {
    to.setParallel(x.calls.count);
    to.setDeterministic(choice(x.calls.deterministic));
  };
  const auto batched = [&](auto to, const batch_parameters& own) {
    to.setInput(input());
    to.setSize(own.rows);
    to.setDropRemainder(own.drop_remainder);
  };
  const auto counted = [&](auto to, int64_t count) {
    to.setInput(input());
    to.setCount(count);
  };
  switch (x.op) {
  case dataset_op::map: return calls(body(out.initMap()));
  case dataset_op::filter: return calls(body(out.initFilter()));
  case dataset_op::flat_map: body(out.initFlatMap()); return;
  case dataset_op::interleave: {
    auto to = body(out.initInterleave());
    to.setCycle(x.as<interleave_parameters>().cycle);
    to.setLength(x.as<interleave_parameters>().length);
    return calls(to);
  }
  case dataset_op::batch: return batched(out.initBatch(), x.as<batch_parameters>());
  case dataset_op::shuffle: {
    const auto& own = x.as<shuffle_parameters>();
    auto to = out.initShuffle();
    to.setInput(input());
    to.setBufferSize(own.buffer);
    to.setReshuffle(own.reshuffle);
    detail::write(own.seed, to.initSeed());
    return;
  }
  case dataset_op::repeat: return counted(out.initRepeat(), x.as<repeat_parameters>().count);
  case dataset_op::take: return counted(out.initTake(), x.as<take_parameters>().count);
  case dataset_op::skip: return counted(out.initSkip(), x.as<skip_parameters>().count);
  case dataset_op::prefetch: {
    auto to = out.initPrefetch();
    to.setInput(input());
    to.setElements(x.as<prefetch_parameters>().elements);
    return;
  }
  case dataset_op::enumerate: {
    auto to = out.initEnumerate();
    to.setInput(input());
    to.setStart(x.as<enumerate_parameters>().start);
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
    headrace::write(x.as<graph_options>(), to.initOptions());
    return;
  }
  case dataset_op::distribute: {
    auto to = out.initDistribute();
    headrace::write(x.as<service_options>(), to.initService());
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
    to.setShards(x.as<shard_parameters>().shards);
    to.setIndex(x.as<shard_parameters>().index);
    return;
  }
  case dataset_op::unique: out.initUnique().setInput(input()); return;
  case dataset_op::ignore_errors: out.initIgnoreErrors().setInput(input()); return;
  case dataset_op::assert_cardinality:
    return counted(out.initAssertCardinality(), x.as<assert_cardinality_parameters>().count);
  case dataset_op::sleep: {
    auto to = out.initSleep();
    to.setInput(input());
    to.setMicroseconds(x.as<sleep_parameters>().microseconds);
    return;
  }
  case dataset_op::scan: {
    auto to = body(out.initScan());
    set(to.initInitialState(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::padded_batch: {
    const auto& own = x.as<padded_batch_parameters>();
    auto to = out.initPaddedBatch();
    batched(to, own.batch);
    detail::encode(own.fields, to.initComponents(static_cast<unsigned>(own.fields.size())));
    set(to.initExtent(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::group_by_window: {
    const auto& own = x.as<group_parameters>();
    return batched(out.initGroupByWindow(), {own.size, own.drop_remainder});
  }
  case dataset_op::ragged_batch: return batched(out.initRaggedBatch(), x.as<batch_parameters>());
  case dataset_op::single_element: out.initSingleElement().setInput(input()); return;
  case dataset_op::last_element: {
    auto to = out.initLastElement();
    to.setInput(input());
    set(to.initTensors(static_cast<unsigned>(x.tensors.size())), x.tensors);
    return;
  }
  case dataset_op::window: {
    const auto& own = x.as<window_parameters>();
    auto to = out.initWindow();
    to.setInput(input());
    to.setSize(own.size);
    to.setShift(own.shift);
    to.setStride(own.stride);
    to.setDropRemainder(own.drop_remainder);
    return;
  }
  case dataset_op::sample_from: {
    auto to = out.initSampleFrom();
    set(to.initInputs(static_cast<unsigned>(x.inputs.size())), x.inputs);
    const auto& own = x.as<sample_from_parameters>();
    auto weights = to.initWeights(static_cast<unsigned>(own.weights.size()));
    for (unsigned i = 0; i < weights.size(); ++i) weights.set(i, own.weights[i]);
    detail::write(own.seed, to.initSeed());
    to.setStopOnEmpty(own.stop_on_empty);
    to.setRerandomize(own.rerandomize);
    return;
  }
  case dataset_op::choose_from: {
    auto to = out.initChooseFrom();
    to.setChoices(input(0));
    set(to.initInputs(static_cast<unsigned>(x.inputs.size() - 1)), std::span{x.inputs}.subspan(1));
    to.setStopOnEmpty(x.as<choose_from_parameters>().stop_on_empty);
    return;
  }
  case dataset_op::cache: {
    auto to = out.initCache();
    to.setInput(input());
    to.setFolder(x.as<cache_parameters>().folder);
    to.setMostBytes(x.as<cache_parameters>().most_bytes);
    return;
  }
  case dataset_op::snapshot: {
    auto to = out.initSnapshot();
    to.setInput(input());
    const auto& own = x.as<snapshot_parameters>();
    to.setFolder(own.folder);
    to.setCompression(static_cast<schema::SavedDataset::Compression>(own.compression));
    to.setShard(x.body ? number(x.body) + 1 : 0);
    return;
  }
  default: break; // sources
  }
}

} // namespace headrace
