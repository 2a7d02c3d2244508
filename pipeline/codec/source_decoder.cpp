#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/codec/graph_decoder.hpp"
#include "headrace/pipeline/graph/build.hpp"

namespace headrace {

using detail::seed_of;
using detail::text_of;

namespace {

/// The word of how an operator's files are compressed.
result<std::string> packing_of(dataset_op op, schema::Files::Reader files) {
  return detail::in_operator(op, detail::word_of(files.getCompression()));
}

} // namespace

result<dataset_ptr> graph_decoder::decode_source(schema::Dataset::Reader in,
                                                 decoded<dataset_ptr>& use) const {
  switch (in.which()) {
  case schema::Dataset::RANGE: {
    auto from = in.getRange();
    HEADRACE_ASSIGN(auto start, tensor(from.getStart(), use));
    HEADRACE_ASSIGN(auto stop, tensor(from.getStop(), use));
    HEADRACE_ASSIGN(auto step, tensor(from.getStep(), use));
    return make_range(start, stop, step);
  }
  case schema::Dataset::FROM_TENSORS: {
    HEADRACE_ASSIGN(auto xs, tensors(in.getFromTensors().getTensors(), use));
    HEADRACE_ASSIGN(auto layout, headrace::decode(in.getFromTensors().getLayout()));
    return make_from_tensors(std::move(xs), std::move(layout));
  }
  case schema::Dataset::FROM_TENSOR_SLICES: {
    HEADRACE_ASSIGN(auto xs, tensors(in.getFromTensorSlices().getTensors(), use));
    HEADRACE_ASSIGN(auto layout, headrace::decode(in.getFromTensorSlices().getLayout()));
    return make_from_tensor_slices(std::move(xs), std::move(layout));
  }
  case schema::Dataset::ELEMENTS_OF: {
    HEADRACE_ASSIGN(auto xs, tensors(in.getElementsOf().getTensors(), use));
    HEADRACE_ASSIGN(auto layout, headrace::decode(in.getElementsOf().getLayout()));
    return make_elements_of(std::move(xs), std::move(layout));
  }
  case schema::Dataset::TEXT_LINES: {
    HEADRACE_ASSIGN(auto names, tensor(in.getTextLines().getNames(), use));
    HEADRACE_ASSIGN(auto packing, packing_of(dataset_op::text_lines, in.getTextLines()));
    return make_text_lines(names, std::move(packing));
  }
  case schema::Dataset::TFRECORD: {
    HEADRACE_ASSIGN(auto names, tensor(in.getTfrecord().getNames(), use));
    HEADRACE_ASSIGN(auto packing, packing_of(dataset_op::tfrecord, in.getTfrecord()));
    return make_tfrecord(names, std::move(packing));
  }
  case schema::Dataset::LIST_FILES: {
    auto from = in.getListFiles();
    HEADRACE_ASSIGN(auto patterns, tensor(from.getPatterns(), use));
    return make_list_files(patterns, from.getShuffle(), seed_of(from.getSeed()));
  }
  case schema::Dataset::FIXED_LENGTH: {
    auto from = in.getFixedLength();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    HEADRACE_ASSIGN(auto packing, packing_of(dataset_op::fixed_length, from.getFiles()));
    return make_fixed_length(names,
                             {from.getRecordBytes(), from.getHeaderBytes(), from.getFooterBytes()},
                             std::move(packing));
  }
  case schema::Dataset::CSV: {
    auto from = in.getCsv();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    HEADRACE_ASSIGN(auto columns, detail::decode(from.getColumns()));
    csv_format format{from.getHeader(), static_cast<char>(from.getDelimiter()), from.getQuotes(),
                      text_of(from.getNaValue())};
    for (auto column : from.getSelect()) format.select.push_back(column);
    HEADRACE_ASSIGN(auto packing, packing_of(dataset_op::csv, from.getFiles()));
    return make_csv(names, std::move(columns), std::move(format), std::move(packing));
  }
  case schema::Dataset::JSON_LINES: {
    auto from = in.getJsonLines();
    HEADRACE_ASSIGN(auto names, tensor(from.getFiles().getNames(), use));
    HEADRACE_ASSIGN(auto fields, detail::decode(from.getFields()));
    HEADRACE_ASSIGN(auto packing, packing_of(dataset_op::json_lines, from.getFiles()));
    return make_json_lines(names, std::move(fields), std::move(packing));
  }
  case schema::Dataset::SQL: {
    auto from = in.getSql();
    HEADRACE_ASSIGN(auto source, tensor(from.getSource(), use));
    HEADRACE_ASSIGN(auto query, tensor(from.getQuery(), use));
    HEADRACE_ASSIGN(auto columns, detail::decode(from.getColumns()));
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
    return make_generator(text_of(from.getName()), std::move(spec), from.getCount(),
                          from.getDeterministic());
  }
  case schema::Dataset::LOAD: {
    auto from = in.getLoad();
    HEADRACE_ASSIGN(auto spec, headrace::decode(from.getSpec()));
    expr_ptr shard;
    if (from.getShard() != 0) {
      HEADRACE_ASSIGN(shard, tensor(from.getShard() - 1, use));
    }
    if (from.getPieceWaitNs() != 0)
      return make_load_piece(text_of(from.getFolder()), std::move(spec), std::move(shard),
                             from.getPieceWaitNs());
    return make_load(text_of(from.getFolder()), std::move(spec), from.getBlocks(),
                     from.getCardinality(), std::move(shard));
  }
  case schema::Dataset::GLOBAL_SHUFFLE: {
    auto from = in.getGlobalShuffle();
    HEADRACE_ASSIGN(auto rows, input(from.getInput(), use));
    return make_global_shuffle(rows, seed_of(from.getSeed()), from.getReshuffle());
  }
  default: return dataset_ptr{};
  }
}

} // namespace headrace
