// Restores an iteration from files and continues it. Tests start it as a process of its own.
//
// resume_program GRAPH RECORD ROWS NEXT: prints up to ROWS rows of the graph in the file GRAPH from
// the position in the file RECORD on, each row as text on its own line. Then it writes the position
// that it reached into the file NEXT. If this fails, it prints the error and exits with code 1.

#include "headrace/pipeline/codec/position_codec.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>

namespace {

using namespace headrace;
using namespace headrace::detail;

buffer bytes_of(const char* path) {
  const auto text = test::read_file(path);
  return buffer::copy_of(text.data(), text.size());
}

void run(char** arguments) {
  const auto encoded = bytes_of(arguments[1]);
  const auto graph = decode_graph(encoded).value();
  auto from = decode_iteration(bytes_of(arguments[2]), fingerprint(encoded)).value();
  iterator_context context;
  context.seed = from.seed;
  context.find_function = test::find_function;
  context.repetition = from.repetition;
  auto rows = make_iterator(graph, context).value();
  if (auto failed = rows->restore(*from.point.at); !failed.ok())
    throw error{failed};
  const auto most = std::stoull(arguments[3]);
  for (uint64_t i = 0; i < most;) {
    const auto more = rows->next({.rows = 1 + i % 7 % (most - i)});
    if (!more)
      break;
    for (size_t row = 0; row < more->rows; ++row) fmt::print("{}\n", test::row_text(*more, row));
    i += more->rows;
  }
  from.point.at = rows->save();
  const auto record = encode_iteration(from).value();
  std::ofstream{arguments[4], std::ios::binary}.write(reinterpret_cast<const char*>(record.data()),
                                                      static_cast<std::streamsize>(record.size()));
}

} // namespace

int main(int, char** arguments) try { run(arguments); } catch (const std::exception& e) {
  fmt::print("{}\n", e.what());
  return 1;
}
