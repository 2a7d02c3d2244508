#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/codec/graph_encoder.hpp"

namespace headrace {

bool graph_encoder::write_source(const dataset_node& x, schema::Dataset::Builder out) const {
  const auto input = [&] { return number(x.inputs[0]); };
  const auto tensor = [&](size_t i) { return number(x.tensors[i]); };
  const auto tensors = [&](auto to) {
    set(to.initTensors(static_cast<unsigned>(x.tensors.size())), x.tensors);
    headrace::encode(x.spec.layout, to.initLayout());
  };
  const auto files = [&](schema::Files::Builder to) {
    to.setNames(tensor(0));
    to.setCompression(detail::file_compression_of(file_compression(x)));
  };
  const auto fields = fields_of(x);
  const auto size = static_cast<unsigned>(fields.size());
  switch (x.op) {
  case dataset_op::range: {
    auto to = out.initRange();
    to.setStart(tensor(0));
    to.setStop(tensor(1));
    to.setStep(tensor(2));
    return true;
  }
  case dataset_op::from_tensors: tensors(out.initFromTensors()); return true;
  case dataset_op::from_tensor_slices: tensors(out.initFromTensorSlices()); return true;
  case dataset_op::elements_of: tensors(out.initElementsOf()); return true;
  case dataset_op::text_lines: files(out.initTextLines()); return true;
  case dataset_op::tfrecord: files(out.initTfrecord()); return true;
  case dataset_op::list_files: {
    auto to = out.initListFiles();
    to.setPatterns(tensor(0));
    to.setShuffle(x.as<list_files_parameters>().shuffle);
    detail::write(given_seed(x), to.initSeed());
    return true;
  }
  case dataset_op::fixed_length: {
    auto to = out.initFixedLength();
    files(to.initFiles());
    const auto& layout = x.as<fixed_length_parameters>().layout;
    to.setRecordBytes(layout.record_bytes);
    to.setHeaderBytes(layout.header_bytes);
    to.setFooterBytes(layout.footer_bytes);
    return true;
  }
  case dataset_op::csv: {
    auto to = out.initCsv();
    files(to.initFiles());
    detail::encode(fields, to.initColumns(size));
    const auto& format = x.as<csv_parameters>().format;
    to.setHeader(format.header);
    to.setDelimiter(static_cast<uint8_t>(format.delimiter));
    to.setQuotes(format.quotes);
    to.setNaValue(format.na_value);
    auto select = to.initSelect(static_cast<unsigned>(format.select.size()));
    for (unsigned i = 0; i < select.size(); ++i) select.set(i, format.select[i]);
    return true;
  }
  case dataset_op::json_lines: {
    auto to = out.initJsonLines();
    files(to.initFiles());
    detail::encode(fields, to.initFields(size));
    return true;
  }
  case dataset_op::sql: {
    auto to = out.initSql();
    to.setDriver(x.as<sql_parameters>().driver);
    to.setSource(tensor(0));
    to.setQuery(tensor(1));
    detail::encode(fields, to.initColumns(size));
    return true;
  }
  case dataset_op::tar_samples: {
    auto to = out.initTarSamples();
    to.setFiles(tensor(0));
    auto extensions = to.initExtensions(size);
    for (unsigned i = 0; i < size; ++i) extensions.set(i, fields[i].name);
    to.setSkipIncomplete(x.as<tar_samples_parameters>().skip_incomplete);
    return true;
  }
  case dataset_op::counter: {
    auto to = out.initCounter();
    to.setStart(x.as<counter_parameters>().start);
    to.setStep(x.as<counter_parameters>().step);
    return true;
  }
  case dataset_op::random: {
    auto to = out.initRandom();
    detail::write(given_seed(x), to.initSeed());
    to.setReseed(x.as<random_parameters>().reseed);
    return true;
  }
  case dataset_op::generator: {
    auto to = out.initGenerator();
    const auto& own = x.as<generator_parameters>();
    to.setName(own.name);
    headrace::encode(x.spec, to.initSpec());
    to.setCount(own.count);
    to.setDeterministic(own.deterministic);
    return true;
  }
  case dataset_op::load: {
    auto to = out.initLoad();
    const auto& own = x.as<load_parameters>();
    to.setFolder(own.folder);
    headrace::encode(x.spec, to.initSpec());
    to.setBlocks(own.blocks);
    to.setCardinality(x.cardinality);
    to.setShard(x.tensors.empty() ? 0 : number(x.tensors[0]) + 1);
    to.setPieceWaitNs(own.piece_wait_ns);
    return true;
  }
  case dataset_op::global_shuffle: {
    auto to = out.initGlobalShuffle();
    to.setInput(input());
    detail::write(given_seed(x), to.initSeed());
    to.setReshuffle(x.as<global_shuffle_parameters>().reshuffle);
    return true;
  }
  default: return false;
  }
}

} // namespace headrace
