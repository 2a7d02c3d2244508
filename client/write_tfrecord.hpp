#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/writers/tfrecord_writer.hpp"

namespace headrace {

/// Writes a dataset of string scalars to a TFRecord file, and tells how many records. A file of
/// that name is replaced at the end, when the new one is whole; an element that failed ends it with
/// its error, and the file is as it was.
result<uint64_t> write_tfrecord(const dataset& from, const std::string& path,
                                tfrecord_writer_options options = {});

} // namespace headrace
