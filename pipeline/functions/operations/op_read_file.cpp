#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <fmt/format.h>
#include <stop_token>

namespace headrace::detail {

namespace {

result<tensor_spec> infer_contents(const library_operands& in) {
  if (in[0].type != dtype::string)
    return invalid_argument(
      fmt::format("the operand is {}; names of files are needed", to_string(in[0])));
  return in[0];
}

/// Appends the content of the file; nothing is appended if it cannot be read.
status append_file(const std::string& path, const std::stop_token& impatient, buffer_builder& to) {
  HEADRACE_ASSIGN(const auto file, random_file::open(path, impatient));
  const auto size = static_cast<size_t>(file->bytes());
  const auto before = to.size();
  auto* at = reinterpret_cast<std::byte*>(to.extend(size));
  auto read = file->read(0, {at, size});
  if (!read.ok())
    to.truncate(before);
  return read;
}

column run_contents(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  // If no file descriptor became free in the time for which `random_file::open` waits for one, the
  // later files of this call are opened without waiting.
  std::stop_source impatient;
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (size_t r = 0; r < call.rows; ++r) {
    bool failed = call.skips(r);
    for (auto v = in.first_value(r); v < in.first_value(r + 1); ++v) {
      if (!failed) {
        const auto read =
          append_file(std::string{in.string(static_cast<size_t>(v))}, impatient.get_token(), bytes);
        failed = !read.ok();
        if (read.code() == status_code::resource_exhausted)
          impatient.request_stop();
        if (failed)
          call.fail(r, read);
      }
      borders.push_back(static_cast<int64_t>(bytes.size()));
    }
  }
  return strings_with_shapes_of(in, borders.finish(), bytes.finish());
}

} // namespace

std::span<const library_function> file_functions() {
  static constexpr library_function functions[] = {
    {expr_op::read_file, "io.read_file", 1, 1, infer_contents, run_contents},
  };
  return functions;
}

} // namespace headrace::detail
