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
    to.setCompression(detail::file_compression_of(x.text));
  };
  const auto size = static_cast<unsigned>(x.fields.size());
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
    to.setShuffle(x.flag);
    detail::write(x.seed, to.initSeed());
    return true;
  }
  case dataset_op::fixed_length: {
    auto to = out.initFixedLength();
    files(to.initFiles());
    to.setRecordBytes(x.layout.record_bytes);
    to.setHeaderBytes(x.layout.header_bytes);
    to.setFooterBytes(x.layout.footer_bytes);
    return true;
  }
  case dataset_op::csv: {
    auto to = out.initCsv();
    files(to.initFiles());
    detail::encode(x.fields, to.initColumns(size));
    to.setHeader(x.csv.header);
    to.setDelimiter(static_cast<uint8_t>(x.csv.delimiter));
    to.setQuotes(x.csv.quotes);
    to.setNaValue(x.csv.na_value);
    auto select = to.initSelect(static_cast<unsigned>(x.csv.select.size()));
    for (unsigned i = 0; i < select.size(); ++i) select.set(i, x.csv.select[i]);
    return true;
  }
  case dataset_op::json_lines: {
    auto to = out.initJsonLines();
    files(to.initFiles());
    detail::encode(x.fields, to.initFields(size));
    return true;
  }
  case dataset_op::sql: {
    auto to = out.initSql();
    to.setDriver(x.text);
    to.setSource(tensor(0));
    to.setQuery(tensor(1));
    detail::encode(x.fields, to.initColumns(size));
    return true;
  }
  case dataset_op::tar_samples: {
    auto to = out.initTarSamples();
    to.setFiles(tensor(0));
    auto extensions = to.initExtensions(size);
    for (unsigned i = 0; i < size; ++i) extensions.set(i, x.fields[i].name);
    to.setSkipIncomplete(x.flag);
    return true;
  }
  case dataset_op::counter: {
    auto to = out.initCounter();
    to.setStart(x.count);
    to.setStep(x.count2);
    return true;
  }
  case dataset_op::random: {
    auto to = out.initRandom();
    detail::write(x.seed, to.initSeed());
    to.setReseed(x.flag);
    return true;
  }
  case dataset_op::generator: {
    auto to = out.initGenerator();
    to.setName(x.text);
    headrace::encode(x.spec, to.initSpec());
    to.setCount(x.count);
    to.setDeterministic(x.flag);
    return true;
  }
  case dataset_op::load: {
    auto to = out.initLoad();
    to.setFolder(x.text);
    headrace::encode(x.spec, to.initSpec());
    to.setBlocks(x.count);
    to.setCardinality(x.cardinality);
    to.setShard(x.tensors.empty() ? 0 : number(x.tensors[0]) + 1);
    to.setPieceWaitNs(x.count2);
    return true;
  }
  case dataset_op::global_shuffle: {
    auto to = out.initGlobalShuffle();
    to.setInput(input());
    detail::write(x.seed, to.initSeed());
    to.setReshuffle(x.flag);
    return true;
  }
  default: return false;
  }
}

} // namespace headrace
