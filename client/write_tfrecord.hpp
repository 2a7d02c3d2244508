#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"

namespace headrace {

/// Writes a dataset of string scalars to a TFRecord file, and returns the number of records. An
/// existing file with that name is replaced at the end, when the new one is complete. A failed
/// element ends the call with its error, and leaves the existing file unchanged.
result<uint64_t> write_tfrecord(const dataset& from, const std::string& path,
                                tfrecord_writer_options options = {});

} // namespace headrace
