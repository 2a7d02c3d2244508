#pragma once

#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/pipeline/types/block.hpp"

namespace headrace::detail {

/// The data of the TFRecord at `offset`, which must end at or before `end`; checksums are verified.
/// `data_loss` names the file and the offset.
result<buffer> read_stored_record(const random_file& from, uint64_t offset, uint64_t end);

/// Encodes rows as the data of a record, without their origins. @pre no row is an error row
buffer encode_rows(const block& rows, saved_compression compression);
/// Decodes the data that `encode_rows` made. The result matches `spec`.
result<block> decode_rows(const buffer& record, saved_compression compression,
                          const element_spec& spec);

} // namespace headrace::detail
