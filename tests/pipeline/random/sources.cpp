#include "tests/pipeline/random/sources.hpp"

#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/sources/memory/permutation.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/random/orders.hpp"
#include "tests/pipeline/support/tar.hpp"

#include <sqlite3.h>

namespace headrace::detail::test::random {

namespace {

std::vector<int64_t> some_numbers(dice& die, int64_t most = 30) {
  std::vector<int64_t> out(static_cast<size_t>(die.between(0, most)));
  for (auto& x : out) x = die.between(-40, 40);
  return out;
}

elements values(const std::vector<int64_t>& xs) {
  elements out;
  for (auto x : xs) out.push_back(number(x));
  return out;
}

/// Writes a file with a name that no other call uses. Returns its path.
std::string file(const scratch_folder& folder, const std::string& kind, const std::string& bytes) {
  static int written = 0;
  return folder.write(kind + std::to_string(written++), bytes);
}

expr_ptr names(std::vector<std::string> files) { return string_constant(files); }

template <class F>
dataset_ptr map(const dataset_ptr& in, F f) {
  return make_map(in, traced(in, f)).value();
}

dataset_ptr parsed(const dataset_ptr& lines) {
  return map(lines, [](expr x) { return strings::to_number(x, dtype::int64); });
}

sample range_source(dice& die) {
  const auto start = die.between(-20, 20), step = die.between(1, 5) * (die.toss() ? 1 : -1);
  const auto count = die.between(0, 80);
  sample out{range(start, start + step * count, step), {}};
  for (int64_t i = 0; i < count; ++i) out.want.push_back(number(start + i * step));
  return out;
}

sample slices_source(dice& die) {
  const auto xs = some_numbers(die);
  return {make_from_tensor_slices({constant(xs).node()}).value(), values(xs)};
}

sample counter_source(dice& die) {
  const auto start = die.between(-20, 20), step = die.between(-5, 5), n = die.between(0, 40);
  sample out{make_take(make_counter(start, step).value(), n).value(), {}};
  for (int64_t i = 0; i < n; ++i) out.want.push_back(number(start + i * step));
  return out;
}

// The elements are zeros: the random numbers, which are below 2^32, shifted right by 32 bits.
sample random_numbers_source(dice& die) {
  const auto n = die.between(0, 40);
  auto drawn =
    make_random(die.toss() ? std::optional{uint64_t{die.below(9)}} : std::nullopt, die.toss())
      .value();
  sample out{map(make_take(drawn, n).value(), [](expr x) { return x >> 32; }), {}};
  for (int64_t i = 0; i < n; ++i) out.want.push_back(number(0));
  return out;
}

// A generator that gives three times the row number; its function has 50 rows.
sample generator_source(dice& die) {
  const auto n = die.between(-1, 50);
  sample out{make_generator({"triple"}, element_spec{tensor_spec{dtype::int64, {}}}, n).value(),
             {}};
  for (int64_t i = 0; i < (n < 0 ? 50 : n); ++i) out.want.push_back(number(3 * i));
  return out;
}

sample text_source(dice& die, const scratch_folder& folder) {
  std::vector<std::string> files;
  elements want;
  for (auto n = die.between(1, 3); n > 0; --n) {
    std::string text;
    for (auto x : some_numbers(die, 12)) {
      const bool bad = die.below(10) == 0;
      text += bad ? "x\n" : std::to_string(x) + (die.toss() ? "\n" : "\r\n");
      want.push_back(bad ? failure() : number(x));
    }
    files.push_back(file(folder, "text", text));
  }
  return {parsed(make_text_lines(names(files)).value()), want};
}

sample tfrecord_source(dice& die, const scratch_folder& folder) {
  const auto xs = some_numbers(die);
  const auto path = file(folder, "records", "");
  const auto compression = die.toss() ? file_compression::gzip : file_compression::none;
  auto to = tfrecord_writer::open(path, {.compression = compression}).value();
  for (auto x : xs)
    if (auto ok = to.write(std::to_string(x)); !ok.ok())
      throw error{ok};
  if (auto ok = to.finish(); !ok.ok())
    throw error{ok};
  return {parsed(make_tfrecord(names({path}), compression).value()), values(xs)};
}

sample fixed_length_source(dice& die, const scratch_folder& folder) {
  const auto xs = some_numbers(die);
  const auto header = die.between(0, 3), footer = die.between(0, 3);
  std::string bytes(static_cast<size_t>(header), 'h');
  bytes.append(reinterpret_cast<const char*>(xs.data()), xs.size() * sizeof(int64_t));
  bytes.append(static_cast<size_t>(footer), 'f');
  auto records =
    make_fixed_length(names({file(folder, "fixed", bytes)}), {sizeof(int64_t), header, footer})
      .value();
  return {map(records, [](expr x) { return reshape(io::decode_raw(x, dtype::int64), {}); }),
          values(xs)};
}

sample csv_source(dice& die, const scratch_folder& folder) {
  std::string text = "name,x\n";
  elements want;
  for (auto x : some_numbers(die)) {
    const auto kind = die.below(8);
    text += kind == 0 ? "\"a,\nb\",oops\n"
                      : fmt::format("\"a,\nb\",{}\n", kind == 1 ? "" : std::to_string(x));
    want.push_back(kind == 0 ? failure() : number(kind == 1 ? 77 : x));
  }
  auto rows =
    make_csv(names({file(folder, "csv", text)}), {field("x", int64_t{77})}, {.header = true})
      .value();
  return {map(rows, [](expr_structure row) { return row["x"]; }), want};
}

sample json_source(dice& die, const scratch_folder& folder) {
  std::string text;
  elements want;
  for (auto x : some_numbers(die)) {
    const bool bad = die.below(8) == 0;
    text += bad ? "{\"x\": \"no\"}\n" : fmt::format("{{\"y\": [1], \"x\": {}}}\n", x);
    want.push_back(bad ? failure() : number(x));
  }
  auto rows =
    make_json_lines(names({file(folder, "json", text)}), {field("x", dtype::int64)}).value();
  return {map(rows, [](expr_structure row) { return row["x"]; }), want};
}

sample sql_source(dice& die, const scratch_folder& folder) {
  const auto xs = some_numbers(die);
  const auto path = file(folder, "base", "");
  std::string statements = "create table t(i integer, x integer);";
  for (size_t i = 0; i < xs.size(); ++i)
    statements += fmt::format("insert into t values ({}, {});", i, xs[i]);
  sqlite3* base = nullptr;
  const bool made =
    sqlite3_open(path.c_str(), &base) == SQLITE_OK
    && sqlite3_exec(base, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(base);
  if (!made)
    throw std::runtime_error("no SQLite file");
  auto rows = make_sql("sqlite", expr{path}.node(), expr{"select x from t order by i"}.node(),
                       {field("x", dtype::int64)})
                .value();
  return {map(rows, [](expr_structure row) { return row["x"]; }), values(xs)};
}

sample tar_source(dice& die, const scratch_folder& folder) {
  const bool skip = die.toss();
  std::string bytes;
  elements want;
  int64_t i = 0;
  for (auto x : some_numbers(die, 12)) {
    const bool incomplete = die.below(8) == 0;
    const auto key = fmt::format("{:04}", i++);
    bytes += tar_member(key + ".txt", "t");
    if (!incomplete)
      bytes += tar_member(key + ".num", std::to_string(x));
    if (!incomplete || !skip)
      want.push_back(incomplete ? failure() : number(x));
  }
  auto rows =
    make_tar_samples(names({file(folder, "tar", bytes + tar_end())}), {"txt", "num"}, skip).value();
  auto texts = map(rows, [](expr_structure row) { return row["num"]; });
  return {parsed(texts), want};
}

sample from_tensors_source(dice& die) {
  const auto x = die.between(-40, 40);
  return {make_from_tensors({constant(x).node()}).value(), {number(x)}};
}

/// The path of a folder that no other call returns. The function does not make the folder.
std::string subfolder(const scratch_folder& folder, const std::string& kind) {
  static int made = 0;
  return fmt::format("{}/{}-{}", folder.path(), kind, made++);
}

// Files whose names contain numbers.
sample list_files_source(dice& die, const scratch_folder& folder, bool shuffled = false) {
  auto xs = some_numbers(die, 8);
  xs.push_back(7); // at least one file, because it is an error if no file matches
  const auto kind = subfolder(folder, "listed").substr(folder.path().size() + 1);
  for (size_t i = 0; i < xs.size(); ++i)
    folder.write(fmt::format("{}-{:03}x{}.txt", kind, i, xs[i]), "");
  auto names_of =
    make_list_files(names({fmt::format("{}/{}-*.txt", folder.path(), kind)}), shuffled).value();
  return {map(names_of,
              [](expr x) {
                return strings::to_number(strings::regex_replace(x, ".*x(-?[0-9]+).txt", "\\1"),
                                          dtype::int64);
              }),
          values(xs)};
}

sample load_source(dice& die, const scratch_folder& folder) {
  const auto path = subfolder(folder, "saved");
  const element_spec spec{tensor_spec{dtype::int64, {}}};
  const auto how = std::vector{saved_compression::none, saved_compression::snappy,
                               saved_compression::gzip}[die.below(3)];
  auto to = saved_writer::open(path, spec, {.compression = how}).value();
  elements want;
  for (uint64_t shards = 1 + die.below(3), shard = 0; shard < shards; ++shard)
    for (auto blocks = die.below(3); blocks > 0; --blocks) {
      auto xs = some_numbers(die, 12);
      xs.push_back(die.between(-9, 9)); // a block has at least one row
      const auto more = values(xs);
      want.insert(want.end(), more.begin(), more.end());
      block rows;
      rows.rows = xs.size();
      rows.columns.push_back(column::of_scalars(std::span<const int64_t>{xs}));
      if (auto ok = to->write(rows, shard); !ok.ok())
        throw error{ok};
    }
  const auto made = to->finish().value();
  return {
    make_load(path, spec, static_cast<int64_t>(made.blocks()), static_cast<int64_t>(made.rows()))
      .value(),
    want};
}

} // namespace

sample reordered_source(dice& die, const scratch_folder& folder) {
  if (die.toss())
    return list_files_source(die, folder, true);
  const auto n = die.between(0, 60);
  const auto seed = die.toss() ? std::nullopt : std::optional{uint64_t{die.below(9)}};
  sample out{make_global_shuffle(range(0, n), seed, die.toss()).value(), {}};
  for (int64_t i = 0; i < n; ++i) out.want.push_back(number(i));
  return out;
}

sample shuffled_source(dice& die, const scratch_folder& folder) {
  auto xs = some_numbers(die);
  const uint64_t seed = die.below(9);
  const auto shuffle = [&](const dataset_ptr& in) {
    return make_global_shuffle(in, seed, false).value();
  };
  dataset_ptr graph;
  switch (die.below(5)) {
  case 0: {
    for (size_t i = 0; i < xs.size(); ++i) xs[i] = 5 - 3 * static_cast<int64_t>(i);
    graph = shuffle(range(5, 5 - 3 * static_cast<int64_t>(xs.size()), -3));
    break;
  }
  case 1: graph = shuffle(make_from_tensor_slices({constant(xs).node()}).value()); break;
  case 2: {
    xs = {die.between(-40, 40)};
    graph = shuffle(make_from_tensors({constant(xs[0]).node()}).value());
    break;
  }
  case 3: {
    std::vector<std::string> files;
    for (size_t i = 0; i < xs.size() || files.empty();) {
      files.push_back(file(folder, "records", ""));
      auto to = tfrecord_writer::open(files.back(), {}).value();
      for (auto n = die.between(0, 12); n > 0 && i < xs.size(); --n)
        if (auto ok = to.write(std::to_string(xs[i++])); !ok.ok())
          throw error{ok};
      if (auto ok = to.finish(); !ok.ok())
        throw error{ok};
    }
    graph = parsed(shuffle(make_tfrecord(names(files)).value()));
    break;
  }
  default: {
    const std::string bytes{reinterpret_cast<const char*>(xs.data()), xs.size() * sizeof(int64_t)};
    auto records =
      make_fixed_length(names({file(folder, "fixed", bytes)}), {sizeof(int64_t), 0, 0}).value();
    graph =
      map(shuffle(records), [](expr x) { return reshape(io::decode_raw(x, dtype::int64), {}); });
  }
  }
  sample out{graph, {}};
  const detail::permutation order{xs.size(), key_of(seed)};
  for (uint64_t i = 0; i < xs.size(); ++i) out.want.push_back(number(xs[order.at(i)]));
  return out;
}

sample random_source(dice& die, const scratch_folder& folder) {
  switch (die.below(23)) {
  case 0: return slices_source(die);
  case 1: return counter_source(die);
  case 2: return random_numbers_source(die);
  case 3: return generator_source(die);
  case 4: return text_source(die, folder);
  case 5: return tfrecord_source(die, folder);
  case 6: return fixed_length_source(die, folder);
  case 7: return csv_source(die, folder);
  case 8: return json_source(die, folder);
  case 9: return sql_source(die, folder);
  case 10: return tar_source(die, folder);
  case 11: return from_tensors_source(die);
  case 12: return list_files_source(die, folder);
  case 13: return load_source(die, folder);
  default: return range_source(die);
  }
}

} // namespace headrace::detail::test::random
