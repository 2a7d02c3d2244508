#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/codec/graph_decoder.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

namespace headrace {

namespace {

using detail::in_operator;
using detail::seed_of;
using detail::text_of;

result<std::optional<bool>> choice_of(schema::Options::Choice x) {
  switch (x) {
  case schema::Options::Choice::UNSET: return std::optional<bool>{};
  case schema::Options::Choice::NO: return std::optional{false};
  case schema::Options::Choice::YES: return std::optional{true};
  }
  return invalid_argument("options: a choice is neither unset, no nor yes");
}

result<graph_options> options_of(schema::Options::Reader in) {
  graph_options out;
  HEADRACE_ASSIGN(out.deterministic, choice_of(in.getDeterministic()));
  HEADRACE_ASSIGN(out.autotune, choice_of(in.getAutotune()));
  if (in.getThreads() != 0)
    out.threads = in.getThreads();
  if (in.getMemory() != 0)
    out.memory = in.getMemory();
  const auto packing = in.getCompression();
  switch (packing.which()) {
  case schema::Options::Compression::UNSET: return out;
  case schema::Options::Compression::VALUE: {
    HEADRACE_ASSIGN(out.compression, from_schema(packing.getValue()));
    return out;
  }
  }
  return unknown_value("choice of a compression", static_cast<uint16_t>(packing.which()));
}

result<service_options> service_of(schema::ServiceOptions::Reader in) {
  HEADRACE_ASSIGN(const auto policy, from_schema(in.getProcessingMode()));
  HEADRACE_ASSIGN(const auto packing, from_schema(in.getCompression()));
  HEADRACE_ASSIGN(const auto targets, from_schema(in.getTargetWorkers()));
  HEADRACE_ASSIGN(const auto guarantee, from_schema(in.getGuarantee()));
  std::optional<trainer_cache> cache;
  if (in.getTrainerId().size() != 0) {
    cache.emplace();
    cache->trainer_id = text_of(in.getTrainerId());
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
  return service_options{.address = text_of(in.getAddress()),
                         .processing_mode = policy,
                         .job_name = text_of(in.getJobName()),
                         .dataset_id = text_of(in.getDatasetId()),
                         .max_outstanding_requests = in.getMaxOutstandingRequests(),
                         .compression = packing,
                         .worker_timeout_ns = in.getWorkerTimeoutNs(),
                         .stall_timeout_ns = in.getStallTimeoutNs(),
                         .targets = targets,
                         .guarantee = guarantee,
                         .cache = std::move(cache),
                         .rounds = rounds};
}

result<saved_compression> saved_of(schema::SavedDataset::Compression x) {
  if (x > schema::SavedDataset::Compression::GZIP)
    return unknown_value("compression of saved elements", static_cast<uint16_t>(x));
  return static_cast<saved_compression>(x);
}

} // namespace

result<dataset_ptr> graph_decoder::decode_operator(schema::Dataset::Reader in,
                                                   decoded<dataset_ptr>& use) {
  switch (in.which()) {
  case schema::Dataset::MAP: {
    HEADRACE_ASSIGN(auto rows, input(in.getMap().getInput(), use));
    HEADRACE_ASSIGN(auto f, body(in.getMap().getFunction(), use));
    HEADRACE_ASSIGN(auto ordered, choice_of(in.getMap().getDeterministic()));
    return make_map(rows, f, in.getMap().getParallel(), ordered);
  }
  case schema::Dataset::FILTER: {
    HEADRACE_ASSIGN(auto rows, input(in.getFilter().getInput(), use));
    HEADRACE_ASSIGN(auto f, body(in.getFilter().getFunction(), use));
    HEADRACE_ASSIGN(auto ordered, choice_of(in.getFilter().getDeterministic()));
    return make_filter(rows, f, in.getFilter().getParallel(), ordered);
  }
  case schema::Dataset::FLAT_MAP: {
    HEADRACE_ASSIGN(auto rows, input(in.getFlatMap().getInput(), use));
    HEADRACE_ASSIGN(auto f, body(in.getFlatMap().getFunction(), use));
    return make_flat_map(rows, f);
  }
  case schema::Dataset::INTERLEAVE: {
    auto from = in.getInterleave();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    HEADRACE_ASSIGN(auto f, body(from.getFunction(), use));
    HEADRACE_ASSIGN(auto ordered, choice_of(from.getDeterministic()));
    return make_interleave(rows, f, from.getCycle(), from.getLength(), from.getParallel(), ordered);
  }
  case schema::Dataset::BATCH: {
    HEADRACE_ASSIGN(auto rows, input(in.getBatch().getInput(), use));
    return make_batch(rows, in.getBatch().getSize(), in.getBatch().getDropRemainder());
  }
  case schema::Dataset::SHUFFLE: {
    auto from = in.getShuffle();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_shuffle(rows, from.getBufferSize(), seed_of(from.getSeed()), from.getReshuffle());
  }
  case schema::Dataset::REPEAT: {
    HEADRACE_ASSIGN(auto rows, input(in.getRepeat().getInput(), use));
    return make_repeat(rows, in.getRepeat().getCount());
  }
  case schema::Dataset::TAKE: {
    HEADRACE_ASSIGN(auto rows, input(in.getTake().getInput(), use));
    return make_take(rows, in.getTake().getCount());
  }
  case schema::Dataset::SKIP: {
    HEADRACE_ASSIGN(auto rows, input(in.getSkip().getInput(), use));
    return make_skip(rows, in.getSkip().getCount());
  }
  case schema::Dataset::PREFETCH: {
    HEADRACE_ASSIGN(auto rows, input(in.getPrefetch().getInput(), use));
    return make_prefetch(rows, in.getPrefetch().getElements());
  }
  case schema::Dataset::ENUMERATE: {
    HEADRACE_ASSIGN(auto rows, input(in.getEnumerate().getInput(), use));
    return make_enumerate(rows, in.getEnumerate().getStart());
  }
  case schema::Dataset::ZIP: {
    HEADRACE_ASSIGN(auto rows, inputs(in.getZip().getInputs(), use));
    return make_zip(std::move(rows));
  }
  case schema::Dataset::CONCATENATE: {
    HEADRACE_ASSIGN(auto first, input(in.getConcatenate().getFirst(), use));
    HEADRACE_ASSIGN(auto second, input(in.getConcatenate().getSecond(), use));
    return make_concatenate(first, second);
  }
  case schema::Dataset::OPTIONS: {
    HEADRACE_ASSIGN(auto rows, input(in.getOptions().getInput(), use));
    HEADRACE_ASSIGN(auto options,
                    in_operator(dataset_op::options, options_of(in.getOptions().getOptions())));
    return make_options(rows, options);
  }
  case schema::Dataset::DISTRIBUTE: {
    auto from = in.getDistribute();
    HEADRACE_ASSIGN(auto service,
                    in_operator(dataset_op::distribute, service_of(from.getService())));
    if (service.dataset_id.empty()) {
      HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
      return make_distribute(rows, std::move(service));
    }
    HEADRACE_ASSIGN(auto spec, headrace::decode(from.getSpec()));
    return make_distribute(std::move(spec),
                           from.getInfinite() ? infinite_cardinality : unknown_cardinality,
                           std::move(service));
  }
  case schema::Dataset::TAKE_WHILE: {
    HEADRACE_ASSIGN(auto rows, input(in.getTakeWhile().getInput(), use));
    HEADRACE_ASSIGN(auto f, body(in.getTakeWhile().getFunction(), use));
    return make_take_while(rows, f);
  }
  case schema::Dataset::SHARD: {
    HEADRACE_ASSIGN(auto rows, input(in.getShard().getInput(), use));
    return make_shard(rows, in.getShard().getShards(), in.getShard().getIndex());
  }
  case schema::Dataset::UNIQUE: {
    HEADRACE_ASSIGN(auto rows, input(in.getUnique().getInput(), use));
    return make_unique_elements(rows);
  }
  case schema::Dataset::IGNORE_ERRORS: {
    HEADRACE_ASSIGN(auto rows, input(in.getIgnoreErrors().getInput(), use));
    return make_ignore_errors(rows);
  }
  case schema::Dataset::ASSERT_CARDINALITY: {
    HEADRACE_ASSIGN(auto rows, input(in.getAssertCardinality().getInput(), use));
    return make_assert_cardinality(rows, in.getAssertCardinality().getCount());
  }
  case schema::Dataset::SLEEP: {
    HEADRACE_ASSIGN(auto rows, input(in.getSleep().getInput(), use));
    return make_sleep(rows, in.getSleep().getMicroseconds());
  }
  case schema::Dataset::SCAN: {
    HEADRACE_ASSIGN(auto rows, input(in.getScan().getInput(), use));
    HEADRACE_ASSIGN(auto f, body(in.getScan().getFunction(), use));
    HEADRACE_ASSIGN(auto state, tensors(in.getScan().getInitialState(), use));
    return make_scan(rows, std::move(state), f);
  }
  case schema::Dataset::PADDED_BATCH: {
    auto from = in.getPaddedBatch();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    HEADRACE_ASSIGN(auto components, detail::decode(from.getComponents()));
    std::vector<shape> shapes;
    std::vector<std::optional<column>> values;
    for (auto& x : components) {
      shapes.push_back(std::move(x.spec.dims));
      values.push_back(std::move(x.missing));
    }
    HEADRACE_ASSIGN(auto extent, tensors(from.getExtent(), use));
    return make_padded_batch(rows, from.getSize(), std::move(shapes), std::move(values),
                             from.getDropRemainder(), extent.empty() ? nullptr : extent[0]);
  }
  case schema::Dataset::GROUP_BY_WINDOW: {
    auto from = in.getGroupByWindow();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_groups(rows, from.getSize(), from.getDropRemainder());
  }
  case schema::Dataset::RAGGED_BATCH: {
    auto from = in.getRaggedBatch();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_ragged_batch(rows, from.getSize(), from.getDropRemainder());
  }
  case schema::Dataset::SINGLE_ELEMENT: {
    HEADRACE_ASSIGN(auto rows, input(in.getSingleElement().getInput(), use));
    return make_single_element(rows);
  }
  case schema::Dataset::LAST_ELEMENT: {
    HEADRACE_ASSIGN(auto rows, input(in.getLastElement().getInput(), use));
    HEADRACE_ASSIGN(auto xs, tensors(in.getLastElement().getTensors(), use));
    return make_last_element(rows, std::move(xs));
  }
  case schema::Dataset::WINDOW: {
    auto from = in.getWindow();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_window(rows, from.getSize(), from.getShift(), from.getStride(),
                       from.getDropRemainder());
  }
  case schema::Dataset::SAMPLE_FROM: {
    auto from = in.getSampleFrom();
    HEADRACE_ASSIGN(auto rows, inputs(from.getInputs(), use));
    std::vector<double> weights;
    for (auto x : from.getWeights()) weights.push_back(x);
    return make_sample_from(std::move(rows), std::move(weights), seed_of(from.getSeed()),
                            from.getStopOnEmpty(), from.getRerandomize());
  }
  case schema::Dataset::CHOOSE_FROM: {
    auto from = in.getChooseFrom();
    HEADRACE_ASSIGN(auto choices, input(from.getChoices(), use));
    HEADRACE_ASSIGN(auto rows, inputs(from.getInputs(), use));
    return make_choose_from(choices, std::move(rows), from.getStopOnEmpty());
  }
  case schema::Dataset::CACHE: {
    auto from = in.getCache();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_cache(rows, text_of(from.getFolder()), from.getMostBytes());
  }
  case schema::Dataset::SNAPSHOT: {
    auto from = in.getSnapshot();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    function_ptr shard;
    if (from.getShard() != 0) {
      HEADRACE_ASSIGN(shard, body(from.getShard() - 1, use));
    }
    HEADRACE_ASSIGN(const auto how,
                    in_operator(dataset_op::snapshot, saved_of(from.getCompression())));
    return make_snapshot(rows, text_of(from.getFolder()), to_string(how), std::move(shard));
  }
  default:
    return unimplemented(
      fmt::format("dataset operator {} is not known to this build", static_cast<int>(in.which())));
  }
}

} // namespace headrace
