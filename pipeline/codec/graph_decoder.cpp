#include "headrace/pipeline/codec/graph_decoder.hpp"

#include "headrace/pipeline/codec/expression_codec.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/functions/build.hpp"
#include "headrace/pipeline/graph/build.hpp"

#include <fmt/format.h>

namespace headrace {

namespace {

constexpr size_t most_nodes = 1 << 16;
// Nodes are visited and let go of recursively.
constexpr size_t most_expression_depth = 1024;
constexpr size_t most_dataset_depth = 256;
constexpr size_t most_weight = 1 << 16;

std::string text_of(::capnp::Text::Reader x) { return {x.begin(), x.size()}; }

std::optional<uint64_t> seed_of(schema::Seed::Reader x) {
  return x.isValue() ? std::optional{x.getValue()} : std::nullopt;
}

result<std::vector<field_format>> fields_of(::capnp::List<schema::Field>::Reader in) {
  std::vector<field_format> out;
  for (auto one : in) {
    auto& made = out.emplace_back();
    made.name = text_of(one.getName());
    HEADRACE_ASSIGN(made.spec, decode(one.getSpec()));
    if (one.isMissing()) {
      HEADRACE_ASSIGN(made.missing, decode(one.getMissing()));
    }
  }
  return out;
}

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
  if (in.getCompression().size() != 0)
    out.compression = text_of(in.getCompression());
  return out;
}

service_options service_of(schema::ServiceOptions::Reader in) {
  return {.address = text_of(in.getAddress()),
          .processing_mode = text_of(in.getProcessingMode()),
          .job_name = text_of(in.getJobName()),
          .dataset_id = text_of(in.getDatasetId()),
          .max_outstanding_requests = in.getMaxOutstandingRequests(),
          .compression = text_of(in.getCompression()),
          .data_transfer_protocol = text_of(in.getDataTransferProtocol()),
          .worker_timeout_ns = in.getWorkerTimeoutNs()};
}

} // namespace

template <class Ptr, class User>
result<Ptr> graph_decoder::find(const std::vector<decoded<Ptr>>& all, uint32_t number,
                                const char* kind, decoded<User>& user) const {
  if (number >= all.size())
    return invalid_argument(
      fmt::format("{} {} is used before it was made ({} were)", kind, number, all.size()));
  const auto& used = all[number];
  user.free.insert(used.free.begin(), used.free.end());
  user.depth = std::max(user.depth, used.depth + 1);
  user.weight = std::min(user.weight + used.weight, most_weight + 1);
  return used.value;
}

result<expr_ptr> graph_decoder::tensor(uint32_t number, decoded<dataset_ptr>& user) const {
  const auto depth = user.depth, weight = user.weight;
  auto out = find(expressions_, number, "expression", user);
  user.depth = depth; // expressions have a bound of their own
  user.weight = weight;
  return out;
}

result<dataset_ptr> graph_decoder::input(uint32_t number, decoded<dataset_ptr>& user) const {
  return find(datasets_, number, "dataset", user);
}

result<function_ptr> graph_decoder::body(uint32_t number, decoded<dataset_ptr>& user) {
  HEADRACE_ASSIGN(const auto* made, finish_function(number));
  user.free.insert(made->free.begin(), made->free.end());
  user.depth = std::max(user.depth, made->depth + 1);
  user.weight = std::min(user.weight + made->weight, most_weight + 1);
  return made->value;
}

result<graph_decoder::decoded<expr_ptr>> graph_decoder::decode(schema::Expression::Reader in) {
  decoded<expr_ptr> out;
  if (static_cast<expr_op>(in.getOp()) == expr_op::parameter) {
    const auto number = in.getFunction();
    if (number >= started_.size())
      return invalid_argument(
        fmt::format("a parameter of function {}, of {} that there are", number, started_.size()));
    const auto& f = *started_[number];
    const auto index = in.getIndex();
    if (index < 0 || static_cast<size_t>(index) >= f.argument.components.size())
      return invalid_argument(fmt::format("parameter {} of function {}, which takes {}", index,
                                          number, to_string(f.argument)));
    out.value = make_parameter(f.scope, index, f.argument.components[static_cast<size_t>(index)]);
    out.free.insert(number);
    return out;
  }
  std::vector<expr_ptr> inputs;
  for (auto number : in.getInputs()) {
    HEADRACE_ASSIGN(auto x, find(expressions_, number, "expression", out));
    inputs.push_back(std::move(x));
  }
  if (out.depth > most_expression_depth)
    return invalid_argument(
      fmt::format("expressions nested more than {} deep", most_expression_depth));
  HEADRACE_ASSIGN(out.value, decode_expression(in, std::move(inputs)));
  return out;
}

status graph_decoder::start_function(schema::Function::Reader in) {
  auto f = std::make_shared<function>();
  f->scope = std::make_shared<const function_scope>();
  HEADRACE_ASSIGN(f->argument, headrace::decode(in.getArgument()));
  started_.push_back(std::move(f));
  functions_.emplace_back();
  return {};
}

result<const graph_decoder::decoded<function_ptr>*>
graph_decoder::finish_function(uint32_t number) {
  if (number >= functions_.size())
    return invalid_argument(
      fmt::format("function {}, of {} that there are", number, functions_.size()));
  auto& out = functions_[number];
  if (out.value)
    return &out;
  auto f = started_[number];
  auto in = in_.getFunctions()[number];
  switch (in.which()) {
  case schema::Function::TENSORS: {
    HEADRACE_ASSIGN(f->layout, headrace::decode(in.getTensors().getLayout()));
    for (auto leaf : in.getTensors().getLeaves()) {
      const auto depth = out.depth;
      HEADRACE_ASSIGN(auto x, find(expressions_, leaf, "expression", out));
      out.depth = depth;
      out.weight = 1;
      f->tensors.push_back(std::move(x));
    }
    if (f->tensors.size() != f->layout.leaves())
      return invalid_argument(fmt::format("function {} gives {} tensors for {} leaves", number,
                                          f->tensors.size(), f->layout.leaves()));
    break;
  }
  case schema::Function::DATASET: {
    HEADRACE_ASSIGN(f->dataset, find(datasets_, in.getDataset(), "dataset", out));
    break;
  }
  case schema::Function::NAMED: {
    f->named = text_of(in.getNamed().getName());
    if (f->named.empty())
      return invalid_argument(fmt::format("function {} has no name", number));
    HEADRACE_ASSIGN(f->declared, headrace::decode(in.getNamed().getResult()));
    break;
  }
  default:
    return invalid_argument(
      fmt::format("function {} is of a kind that this build does not know", number));
  }
  out.free.erase(number);
  out.value = std::move(f);
  return &out;
}

result<dataset_ptr> graph_decoder::decode(schema::Dataset::Reader in, decoded<dataset_ptr>& use) {
  const auto tensors = [&](auto from) -> result<std::vector<expr_ptr>> {
    std::vector<expr_ptr> out;
    for (auto number : from.getTensors()) {
      HEADRACE_ASSIGN(auto x, tensor(number, use));
      out.push_back(std::move(x));
    }
    return out;
  };
  const auto inputs = [&](auto from) -> result<std::vector<dataset_ptr>> {
    std::vector<dataset_ptr> out;
    for (auto number : from.getInputs()) {
      HEADRACE_ASSIGN(auto rows, input(number, use));
      out.push_back(std::move(rows));
      if (use.weight > most_weight)
        break; // refused below
    }
    return out;
  };
  switch (in.which()) {
  case schema::Dataset::RANGE: {
    auto from = in.getRange();
    HEADRACE_ASSIGN(auto start, tensor(from.getStart(), use));
    HEADRACE_ASSIGN(auto stop, tensor(from.getStop(), use));
    HEADRACE_ASSIGN(auto step, tensor(from.getStep(), use));
    return make_range(start, stop, step);
  }
  case schema::Dataset::FROM_TENSORS: {
    HEADRACE_ASSIGN(auto xs, tensors(in.getFromTensors()));
    HEADRACE_ASSIGN(auto layout, headrace::decode(in.getFromTensors().getLayout()));
    return make_from_tensors(std::move(xs), std::move(layout));
  }
  case schema::Dataset::FROM_TENSOR_SLICES: {
    HEADRACE_ASSIGN(auto xs, tensors(in.getFromTensorSlices()));
    HEADRACE_ASSIGN(auto layout, headrace::decode(in.getFromTensorSlices().getLayout()));
    return make_from_tensor_slices(std::move(xs), std::move(layout));
  }
  case schema::Dataset::TEXT_LINES: {
    HEADRACE_ASSIGN(auto names, tensor(in.getTextLines().getNames(), use));
    return make_text_lines(names, text_of(in.getTextLines().getCompression()));
  }
  case schema::Dataset::TFRECORD: {
    HEADRACE_ASSIGN(auto names, tensor(in.getTfrecord().getNames(), use));
    return make_tfrecord(names, text_of(in.getTfrecord().getCompression()));
  }
  case schema::Dataset::LIST_FILES: {
    auto from = in.getListFiles();
    HEADRACE_ASSIGN(auto patterns, tensor(from.getPatterns(), use));
    return make_list_files(patterns, from.getShuffle(), seed_of(from.getSeed()));
  }
  case schema::Dataset::FIXED_LENGTH: {
    auto from = in.getFixedLength();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    return make_fixed_length(names,
                             {from.getRecordBytes(), from.getHeaderBytes(), from.getFooterBytes()},
                             text_of(from.getFiles().getCompression()));
  }
  case schema::Dataset::CSV: {
    auto from = in.getCsv();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    HEADRACE_ASSIGN(auto columns, fields_of(from.getColumns()));
    csv_format format{from.getHeader(), static_cast<char>(from.getDelimiter()), from.getQuotes(),
                      text_of(from.getNaValue())};
    for (auto column : from.getSelect()) format.select.push_back(column);
    return make_csv(names, std::move(columns), std::move(format),
                    text_of(from.getFiles().getCompression()));
  }
  case schema::Dataset::JSON_LINES: {
    auto from = in.getJsonLines();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    HEADRACE_ASSIGN(auto fields, fields_of(from.getFields()));
    return make_json_lines(names, std::move(fields), text_of(from.getFiles().getCompression()));
  }
  case schema::Dataset::SQL: {
    auto from = in.getSql();
    HEADRACE_ASSIGN(auto source, tensor(from.getSource(), use));
    HEADRACE_ASSIGN(auto query, tensor(from.getQuery(), use));
    HEADRACE_ASSIGN(auto columns, fields_of(from.getColumns()));
    return make_sql(text_of(from.getDriver()), source, query, std::move(columns));
  }
  case schema::Dataset::TAR_SAMPLES: {
    auto from = in.getTarSamples();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles(), use));
    std::vector<std::string> extensions;
    for (auto one : from.getExtensions()) extensions.push_back(text_of(one));
    return make_tar_samples(names, std::move(extensions), from.getSkipIncomplete());
  }
  case schema::Dataset::COUNTER:
    return make_counter(in.getCounter().getStart(), in.getCounter().getStep());
  case schema::Dataset::RANDOM:
    return make_random(seed_of(in.getRandom().getSeed()), in.getRandom().getReseed());
  case schema::Dataset::GENERATOR: {
    auto from = in.getGenerator();
    HEADRACE_ASSIGN(auto spec, headrace::decode(from.getSpec()));
    return make_generator(text_of(from.getName()), std::move(spec), from.getCount());
  }
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
    HEADRACE_ASSIGN(auto rows, inputs(in.getZip()));
    return make_zip(std::move(rows));
  }
  case schema::Dataset::CONCATENATE: {
    HEADRACE_ASSIGN(auto first, input(in.getConcatenate().getFirst(), use));
    HEADRACE_ASSIGN(auto second, input(in.getConcatenate().getSecond(), use));
    return make_concatenate(first, second);
  }
  case schema::Dataset::OPTIONS: {
    HEADRACE_ASSIGN(auto rows, input(in.getOptions().getInput(), use));
    HEADRACE_ASSIGN(auto options, options_of(in.getOptions().getOptions()));
    return make_options(rows, options);
  }
  case schema::Dataset::GLOBAL_SHUFFLE: {
    auto from = in.getGlobalShuffle();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_global_shuffle(rows, seed_of(from.getSeed()), from.getReshuffle());
  }
  case schema::Dataset::DISTRIBUTE: {
    auto from = in.getDistribute();
    auto service = service_of(from.getService());
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
    std::vector<expr_ptr> state;
    for (auto number : in.getScan().getInitialState()) {
      HEADRACE_ASSIGN(auto x, tensor(number, use));
      state.push_back(std::move(x));
    }
    return make_scan(rows, std::move(state), f);
  }
  case schema::Dataset::PADDED_BATCH: {
    auto from = in.getPaddedBatch();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    HEADRACE_ASSIGN(auto components, fields_of(from.getComponents()));
    std::vector<shape> shapes;
    std::vector<std::optional<column>> values;
    for (auto& x : components) {
      shapes.push_back(std::move(x.spec.dims));
      values.push_back(std::move(x.missing));
    }
    return make_padded_batch(rows, from.getSize(), std::move(shapes), std::move(values),
                             from.getDropRemainder());
  }
  case schema::Dataset::WINDOW: {
    auto from = in.getWindow();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_window(rows, from.getSize(), from.getShift(), from.getStride(),
                       from.getDropRemainder());
  }
  case schema::Dataset::SAMPLE_FROM: {
    auto from = in.getSampleFrom();
    HEADRACE_ASSIGN(auto rows, inputs(from));
    std::vector<double> weights;
    for (auto x : from.getWeights()) weights.push_back(x);
    return make_sample_from(std::move(rows), std::move(weights), seed_of(from.getSeed()),
                            from.getStopOnEmpty(), from.getRerandomize());
  }
  case schema::Dataset::CHOOSE_FROM: {
    auto from = in.getChooseFrom();
    HEADRACE_ASSIGN(auto choices, input(from.getChoices(), use));
    HEADRACE_ASSIGN(auto rows, inputs(from));
    return make_choose_from(choices, std::move(rows), from.getStopOnEmpty());
  }
  default:
    return unimplemented(
      fmt::format("dataset operator {} is not known to this build", static_cast<int>(in.which())));
  }
}

result<dataset_ptr> graph_decoder::decode(schema::DatasetGraph::Reader in) {
  in_ = in;
  const auto nodes =
    size_t{in.getExpressions().size()} + in.getFunctions().size() + in.getDatasets().size();
  if (nodes > most_nodes)
    return resource_exhausted(
      fmt::format("a graph of {} nodes, at most {} are allowed", nodes, most_nodes));
  if (in.getDatasets().size() == 0)
    return invalid_argument("a graph without a dataset");
  for (auto f : in.getFunctions())
    if (auto why = start_function(f); !why.ok())
      return why.with_context(fmt::format("function {}", started_.size()));
  for (auto x : in.getExpressions()) {
    auto made = decode(x);
    if (!made)
      return made.status().with_context(fmt::format("expression {}", expressions_.size()));
    expressions_.push_back(*std::move(made));
  }
  for (auto x : in.getDatasets()) {
    decoded<dataset_ptr> out;
    auto made = decode(x, out);
    if (!made)
      return made.status().with_context(fmt::format("dataset {}", datasets_.size()));
    if (out.depth > most_dataset_depth || out.weight > most_weight)
      return resource_exhausted(
        fmt::format("dataset {}: the graph is more than {} operators deep, or more than {} run",
                    datasets_.size(), most_dataset_depth, most_weight));
    out.value = *std::move(made);
    datasets_.push_back(std::move(out));
  }
  const auto& top = datasets_.back();
  if (!top.free.empty())
    return invalid_argument(fmt::format(
      "a parameter of function {} is used outside of that function", *top.free.begin()));
  return top.value;
}

} // namespace headrace
