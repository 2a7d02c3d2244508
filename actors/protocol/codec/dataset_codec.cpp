#include "headrace/actors/protocol/codec/dataset_codec.hpp"

#include "headrace/schemas/text.hpp"

namespace headrace::detail {

dataset_registration read_dataset_registration(schema::RegisterDataset::Reader in) {
  return {
    .id = string_of(in.getDatasetId()),
    .graph = bytes_of(in.getGraph()),
    .spec = bytes_of(in.getElementSpec()),
    .fingerprint = std::string{chars_of(in.getFingerprint())},
    .for_iteration = in.getForIteration(),
  };
}

void write_dataset_registration(schema::RegisterDataset::Builder out,
                                const dataset_registration& what) {
  out.setDatasetId(text_of(what.id));
  if (!what.graph.empty())
    out.setGraph(data_of(what.graph));
  out.setElementSpec(data_of(what.spec));
  out.setFingerprint(data_of(what.fingerprint));
  out.setForIteration(what.for_iteration);
}

void write_dataset_def(schema::DatasetDef::Builder out, const dataset_def& what) {
  out.setDatasetId(text_of(what.id));
  if (!what.graph.empty())
    out.setGraph(data_of(what.graph));
  if (!what.spec.empty())
    out.setElementSpec(data_of(what.spec));
  if (!what.fingerprint.empty())
    out.setFingerprint(data_of(what.fingerprint));
  if (!what.warning.empty())
    out.setWarning(text_of(what.warning));
}

} // namespace headrace::detail
