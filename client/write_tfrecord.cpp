#include "headrace/client/write_tfrecord.hpp"

#include <fmt/format.h>

namespace headrace {

result<uint64_t> write_tfrecord(const dataset& from, const std::string& path,
                                tfrecord_writer_options options) {
  if (from.spec() != element_spec{tensor_spec{dtype::string, {}}})
    return invalid_argument(fmt::format(
      "write_tfrecord: the elements are {}; they must be string scalars", to_string(from.spec())));
  if (from.cardinality() == infinite_cardinality)
    return invalid_argument("write_tfrecord: the dataset never ends; take a part of it");
  HEADRACE_ASSIGN(auto writer, tfrecord_writer::open(path, std::move(options)));
  auto rows = from.iterate();
  while (const auto more = rows.next_block()) {
    if (!more->errors.empty())
      return more->errors[0].why.with_context(fmt::format("write_tfrecord '{}'", path));
    for (size_t i = 0; i < more->rows; ++i) HEADRACE_TRY(writer.write(more->columns[0].string(i)));
  }
  HEADRACE_TRY(writer.finish());
  return writer.records();
}

} // namespace headrace
