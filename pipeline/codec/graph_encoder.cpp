#include "headrace/pipeline/codec/graph_encoder.hpp"

#include "headrace/pipeline/codec/expression_codec.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/graph/build.hpp"

#include <fmt/format.h>

namespace headrace {

namespace {

void write(const std::optional<uint64_t>& seed, schema::Seed::Builder out) {
  if (seed)
    out.setValue(*seed);
  else
    out.setUnset();
}

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
    out.setCompression(*x.compression);
}

void write(const service_options& x, schema::ServiceOptions::Builder out) {
  out.setAddress(x.address);
  out.setProcessingMode(x.processing_mode);
  out.setJobName(x.job_name);
  out.setDatasetId(x.dataset_id);
  out.setMaxOutstandingRequests(x.max_outstanding_requests);
  out.setCompression(x.compression);
  out.setDataTransferProtocol(x.data_transfer_protocol);
  out.setWorkerTimeoutNs(x.worker_timeout_ns);
}

void write(const std::vector<field_format>& fields, ::capnp::List<schema::Field>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setName(fields[i].name);
    encode(fields[i].spec, out[i].initSpec());
    if (fields[i].missing)
      encode(*fields[i].missing, out[i].initMissing());
    else
      out[i].setRequired();
  }
}

} // namespace

void graph_encoder::visit(const expr_ptr& x) {
  if (expression_numbers_.contains(x.get()))
    return;
  for (const auto& input : x->inputs) visit(input);
  if (x->op == expr_op::constant)
    constant_bytes_ += x->attrs.value.bytes();
  expression_numbers_.emplace(x.get(), static_cast<uint32_t>(expressions_.size()));
  expressions_.push_back(x.get());
}

void graph_encoder::visit(const function_ptr& x) {
  if (!x || function_numbers_.contains(x.get()))
    return;
  const auto number = static_cast<uint32_t>(functions_.size());
  function_numbers_.emplace(x.get(), number);
  functions_.push_back(x.get());
  if (x->scope)
    scope_numbers_.emplace(x->scope.get(), number);
  for (const auto& tensor : x->tensors) visit(tensor);
  if (x->dataset)
    visit(x->dataset);
}

void graph_encoder::visit(const dataset_ptr& x) {
  if (dataset_numbers_.contains(x.get()))
    return;
  for (const auto& input : x->inputs) visit(input);
  for (const auto& tensor : x->tensors) visit(tensor);
  for (const auto& f : x->fields) constant_bytes_ += f.missing ? f.missing->bytes() : 0;
  visit(x->body);
  dataset_numbers_.emplace(x.get(), static_cast<uint32_t>(datasets_.size()));
  datasets_.push_back(x.get());
}

status graph_encoder::encode(const dataset_ptr& graph, schema::DatasetGraph::Builder out) {
  visit(graph);
  if (constant_bytes_ > most_graph_constants)
    return resource_exhausted(fmt::format(
      "the graph's constants take {} bytes, at most {} fit; read larger tensors from files",
      constant_bytes_, most_graph_constants));
  auto expressions = out.initExpressions(static_cast<unsigned>(expressions_.size()));
  for (unsigned i = 0; i < expressions.size(); ++i) {
    const auto& x = *expressions_[i];
    expression_numbers numbers;
    for (const auto& input : x.inputs) numbers.inputs.push_back(number(input));
    if (x.op == expr_op::parameter) {
      const auto scope = scope_numbers_.find(x.scope.get());
      if (scope == scope_numbers_.end())
        return invalid_argument(
          "the graph uses a parameter of a function outside of that function's body");
      numbers.function = scope->second;
    }
    headrace::encode(x, numbers, expressions[i]);
  }
  auto functions = out.initFunctions(static_cast<unsigned>(functions_.size()));
  for (unsigned i = 0; i < functions.size(); ++i) write(*functions_[i], functions[i]);
  auto datasets = out.initDatasets(static_cast<unsigned>(datasets_.size()));
  for (unsigned i = 0; i < datasets.size(); ++i) write(*datasets_[i], datasets[i]);
  return {};
}

void graph_encoder::write(const function& x, schema::Function::Builder out) const {
  headrace::encode(x.argument, out.initArgument());
  if (!x.named.empty()) {
    auto named = out.initNamed();
    named.setName(x.named);
    headrace::encode(x.declared, named.initResult());
  } else if (x.dataset) {
    out.setDataset(number(x.dataset));
  } else {
    auto tensors = out.initTensors();
    headrace::encode(x.layout, tensors.initLayout());
    auto leaves = tensors.initLeaves(static_cast<unsigned>(x.tensors.size()));
    for (unsigned i = 0; i < leaves.size(); ++i) leaves.set(i, number(x.tensors[i]));
  }
}

void graph_encoder::write(const dataset_node& x, schema::Dataset::Builder out) const {
  const auto input = [&](size_t i = 0) { return number(x.inputs[i]); };
  const auto tensor = [&](size_t i) { return number(x.tensors[i]); };
  const auto tensors = [&](auto to) {
    auto list = to.initTensors(static_cast<unsigned>(x.tensors.size()));
    for (unsigned i = 0; i < list.size(); ++i) list.set(i, tensor(i));
    headrace::encode(x.spec.layout, to.initLayout());
  };
  const auto files = [&](schema::Files::Builder to) {
    to.setNames(tensor(0));
    to.setCompression(x.text);
  };
  const auto fields = [&](auto list) { headrace::write(x.fields, list); };
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
  const auto counted = [&](auto to) {
    to.setInput(input());
    to.setCount(x.count);
  };
  switch (x.op) {
  case dataset_op::range: {
    auto to = out.initRange();
    to.setStart(tensor(0));
    to.setStop(tensor(1));
    to.setStep(tensor(2));
    return;
  }
  case dataset_op::from_tensors: return tensors(out.initFromTensors());
  case dataset_op::from_tensor_slices: return tensors(out.initFromTensorSlices());
  case dataset_op::text_lines: return files(out.initTextLines());
  case dataset_op::tfrecord: return files(out.initTfrecord());
  case dataset_op::list_files: {
    auto to = out.initListFiles();
    to.setPatterns(tensor(0));
    to.setShuffle(x.flag);
    headrace::write(x.seed, to.initSeed());
    return;
  }
  case dataset_op::fixed_length: {
    auto to = out.initFixedLength();
    files(to.initFiles());
    to.setRecordBytes(x.layout.record_bytes);
    to.setHeaderBytes(x.layout.header_bytes);
    to.setFooterBytes(x.layout.footer_bytes);
    return;
  }
  case dataset_op::csv: {
    auto to = out.initCsv();
    files(to.initFiles());
    fields(to.initColumns(size));
    to.setHeader(x.csv.header);
    to.setDelimiter(static_cast<uint8_t>(x.csv.delimiter));
    to.setQuotes(x.csv.quotes);
    to.setNaValue(x.csv.na_value);
    auto select = to.initSelect(static_cast<unsigned>(x.csv.select.size()));
    for (unsigned i = 0; i < select.size(); ++i) select.set(i, x.csv.select[i]);
    return;
  }
  case dataset_op::json_lines: {
    auto to = out.initJsonLines();
    files(to.initFiles());
    fields(to.initFields(size));
    return;
  }
  case dataset_op::sql: {
    auto to = out.initSql();
    to.setDriver(x.text);
    to.setSource(tensor(0));
    to.setQuery(tensor(1));
    fields(to.initColumns(size));
    return;
  }
  case dataset_op::tar_samples: {
    auto to = out.initTarSamples();
    to.setFiles(tensor(0));
    auto extensions = to.initExtensions(size);
    for (unsigned i = 0; i < size; ++i) extensions.set(i, x.fields[i].name);
    to.setSkipIncomplete(x.flag);
    return;
  }
  case dataset_op::counter: {
    auto to = out.initCounter();
    to.setStart(x.count);
    to.setStep(x.count2);
    return;
  }
  case dataset_op::random: {
    auto to = out.initRandom();
    headrace::write(x.seed, to.initSeed());
    to.setReseed(x.flag);
    return;
  }
  case dataset_op::generator: {
    auto to = out.initGenerator();
    to.setName(x.text);
    headrace::encode(x.spec, to.initSpec());
    to.setCount(x.count);
    return;
  }
  case dataset_op::map: return calls(body(out.initMap()));
  case dataset_op::filter: return calls(body(out.initFilter()));
  case dataset_op::flat_map: body(out.initFlatMap()); return;
  case dataset_op::interleave: {
    auto to = body(out.initInterleave());
    to.setCycle(x.count);
    to.setLength(x.count2);
    return calls(to);
  }
  case dataset_op::batch: {
    auto to = out.initBatch();
    to.setInput(input());
    to.setSize(x.count);
    to.setDropRemainder(x.flag);
    return;
  }
  case dataset_op::shuffle: {
    auto to = out.initShuffle();
    to.setInput(input());
    to.setBufferSize(x.count);
    to.setReshuffle(x.flag);
    headrace::write(x.seed, to.initSeed());
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
    auto inputs = out.initZip().initInputs(static_cast<unsigned>(x.inputs.size()));
    for (unsigned i = 0; i < inputs.size(); ++i) inputs.set(i, input(i));
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
  case dataset_op::global_shuffle: {
    auto to = out.initGlobalShuffle();
    to.setInput(input());
    headrace::write(x.seed, to.initSeed());
    to.setReshuffle(x.flag);
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
    auto state = to.initInitialState(static_cast<unsigned>(x.tensors.size()));
    for (unsigned i = 0; i < state.size(); ++i) state.set(i, tensor(i));
    return;
  }
  case dataset_op::padded_batch: {
    auto to = out.initPaddedBatch();
    to.setInput(input());
    to.setSize(x.count);
    to.setDropRemainder(x.flag);
    fields(to.initComponents(size));
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
    auto inputs = to.initInputs(static_cast<unsigned>(x.inputs.size()));
    for (unsigned i = 0; i < inputs.size(); ++i) inputs.set(i, input(i));
    const auto values = constant_of(x.tensors[0])->values<double>();
    auto weights = to.initWeights(static_cast<unsigned>(values.size()));
    for (unsigned i = 0; i < weights.size(); ++i) weights.set(i, values[i]);
    headrace::write(x.seed, to.initSeed());
    to.setStopOnEmpty(x.flag);
    to.setRerandomize(x.count != 0);
    return;
  }
  case dataset_op::choose_from: {
    auto to = out.initChooseFrom();
    to.setChoices(input(0));
    auto inputs = to.initInputs(static_cast<unsigned>(x.inputs.size() - 1));
    for (unsigned i = 0; i < inputs.size(); ++i) inputs.set(i, input(i + 1));
    to.setStopOnEmpty(x.flag);
    return;
  }
  }
}

} // namespace headrace
