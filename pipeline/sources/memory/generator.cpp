#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/graph_codec/reference_codec.hpp"
#include "headrace/pipeline/sources/memory/numbers.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The declared number of rows; -1: the rows end when the function returns fewer than requested.
int64_t announced_rows(const dataset_node& node) { return node.as<generator_parameters>().count; }

/// True if each row is a split: the function returns the same rows in each run. Otherwise all rows
/// of a run are one split, because a row number may mean another row in another run.
bool is_divided(const dataset_node& node) { return node.as<generator_parameters>().deterministic; }

std::optional<uint64_t> splits(const dataset_node& node) {
  return is_divided(node) ? splits_of_rows(node) : 1;
}

/// The declared number of rows; `endless_rows` if there is none.
uint64_t row_count(const dataset_node& node) {
  return announced_rows(node) < 0 ? endless_rows : static_cast<uint64_t>(announced_rows(node));
}

/// A split is one row, or all rows.
class generator_iterator final : public operator_iterator {
public:
  generator_iterator(engine& shared, const dataset_node& node, const place& at, named_function f)
    : operator_iterator(shared, node),
      f_(std::move(f)),
      splits_(shared, at, is_divided(node) ? row_count(node) : 1),
      divided_(is_divided(node)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (true) {
      auto more = rows_here();
      if (!more)
        return last_failure(more.status());
      if (!*more)
        return std::nullopt;
      const auto now = **more;
      const auto most = now.first < apart_until_ ? 1 : std::min(wanted.rows, most_rows);
      auto rows = static_cast<size_t>(std::min<uint64_t>(most, now.count));
      auto out = call(now.first, rows);
      if (!out && has_further_rows(out.status())) {
        if (rows > 1) {
          // Each row is requested alone, so that only the rows fail for which the function fails.
          apart_until_ = now.first + rows;
          continue;
        }
        if (++failed_ < most_failed)
          return failed_row(now.first, out.status());
      }
      if (out)
        if (auto fits = check(*out, now.first, rows); !fits.ok())
          out = std::move(fits);
      if (!out) {
        auto last = failed_row(now.first, out.status());
        end();
        reading_ = false;
        splits_.close();
        return last;
      }
      failed_ = 0;
      if (out->rows < rows) {
        rows = out->rows;
        end_at(now.first + rows);
      }
      pass(rows);
      if (rows == 0)
        continue;
      out->origins.clear();
      if (splits_.provided())
        out->origins.push_back(divided_ ? splits_.from(now.first, rows, rows == 1 ? 0 : 1)
                                        : splits_.from(0, rows, 0));
      return *std::move(out);
    }
  }
  // Saves as numbers: the numbers of `splits_`, and the number of splits in a pass; if all rows are
  // one split, also whether the split is being read, and the number of its next row; else how many
  // rows have failed since the last one that did not.
  void save_to(position& to) const override {
    splits_.save_to(to, reading_);
    to.numbers.push_back(splits_.total());
    if (divided_)
      to.numbers.push_back(failed_);
    else
      for (const uint64_t x : {uint64_t{reading_}, row_}) to.numbers.push_back(x);
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    splits_.end_at(from.number(splits_.total()));
    if (divided_) {
      failed_ = from.number(most_failed - 1);
    } else {
      reading_ = from.flag();
      row_ = from.number(row_count(node_));
    }
    return {};
  }

private:
  // The most rows of a block: the function gets no limit of bytes, so only this bounds a block.
  static constexpr size_t most_rows = 4096;
  // After so many failed calls without a row between them, the function is taken to be unusable
  // here, and the iteration ends. Otherwise a function that always fails would have no end.
  static constexpr uint64_t most_failed = 2;

  /// True if the function may give other rows although it failed: its rows do not depend on each
  /// other, and a process that ran it may have died by chance.
  bool has_further_rows(const status& why) const {
    return divided_ && why.code() != status_code::cancelled && !engine_.stopped();
  }

  /// Row `number`, for which the function failed.
  block failed_row(uint64_t number, const status& why) {
    auto out = failure(why.with_context(
      fmt::format("generator '{}'", to_string(node_.as<generator_parameters>().function))));
    if (splits_.provided())
      out.origins.push_back(splits_.from(divided_ ? number : 0, 1, 0));
    pass(1);
    return out;
  }

  /// The rows to request next; nullopt: this pass is over.
  result<std::optional<split_range>> rows_here() {
    if (divided_)
      return splits_.here();
    if (!reading_) {
      HEADRACE_ASSIGN(const auto more, splits_.here());
      if (!more)
        return std::optional<split_range>{};
      splits_.pass(1);
      reading_ = true;
      row_ = 0;
    }
    return std::optional{split_range{row_, row_count(node_) - row_}};
  }
  void pass(uint64_t rows) {
    if (divided_)
      return splits_.pass(rows);
    row_ += rows;
    reading_ = reading_ && row_ != row_count(node_);
  }
  /// Ends the pass, because the function has only `rows` rows.
  void end_at(uint64_t rows) {
    if (divided_)
      splits_.end_at(rows);
    else
      reading_ = false;
  }

  result<block> call(uint64_t first, size_t rows) {
    mutable_buffer numbers{rows * sizeof(int64_t)};
    for (size_t i = 0; i < rows; ++i) numbers.as<int64_t>()[i] = static_cast<int64_t>(first + i);
    block in;
    in.rows = rows;
    in.columns.push_back(column::dense(dtype::int64, {}, rows, std::move(numbers).freeze()));
    auto out = f_(in);
    if (out)
      ++kernel_calls_;
    return out;
  }

  status check(const block& out, uint64_t first, size_t rows) const {
    const auto& specs = node_.spec.components;
    if (out.columns.size() != specs.size() || out.rows > rows)
      return internal_error(
        fmt::format("it gave {} rows of {} components for rows {} to {}; it must give at most {} "
                    "of {}",
                    out.rows, out.columns.size(), first, first + rows - 1, rows, specs.size()));
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& c = out.columns[i];
      const bool fits =
        c.type() == specs[i].type && c.rows() == out.rows
        && (out.rows == 0 || !c.is_dense() || specs[i].dims.accepts(c.row_shape()))
        && (c.is_dense() || !specs[i].dims.has_rank() || c.rank() == specs[i].dims.rank());
      if (!fits)
        return internal_error(
          fmt::format("its component {} has {} rows of {}; it must have {} of {}", i, c.rows(),
                      to_string(c.type()), out.rows, to_string(specs[i])));
    }
    if (out.rows < rows && announced_rows(node_) >= 0)
      return failed_precondition(
        fmt::format("it gave {} rows from row {} on; there must be {} in all", out.rows, first,
                    announced_rows(node_)));
    return {};
  }

  named_function f_;
  split_cursor splits_;
  bool divided_;
  // If all rows are one split: whether the split is being read, and its next row.
  bool reading_ = false;
  uint64_t row_ = 0;
  // Else: the number of error rows since the last row that did not fail, and the number of the row
  // before which each row is requested alone.
  uint64_t failed_ = 0, apart_until_ = 0;
};

opened open_generator(engine& shared, const dataset_ptr& node, const place& at) {
  auto f = shared.find_function(node->as<generator_parameters>().function);
  if (!f)
    return f.status().with_context("generator");
  return std::unique_ptr<iterator>{
    std::make_unique<generator_iterator>(shared, *node, at, *std::move(f))};
}

void encode_generator(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<generator_parameters>();
  auto out = to.out.initGenerator();
  write_reference(out, own.function);
  encode(node.spec, out.initSpec());
  out.setCount(own.count);
  out.setDeterministic(own.deterministic);
}

result<dataset_ptr> decode_generator(node_reader& from) {
  const auto in = from.in.getGenerator();
  HEADRACE_ASSIGN(auto spec, decode(in.getSpec()));
  return make_generator(read_reference(in), std::move(spec), in.getCount(), in.getDeterministic());
}

/// Refuses a generator without count that is not deterministic: each piece runs it again, and may
/// get other rows. It is refused even in a zip with a source of known size, which bounds its rows.
std::string_view generator_not_in_pieces(const dataset_node& node) {
  return announced_rows(node) < 0 && !is_divided(node)
           ? "says only at its end how many elements it has, and may give others when it runs again"
           : "";
}

} // namespace

constinit const operator_record generator_record{
  .name = "generator",
  .arm = schema::Dataset::GENERATOR,
  .encode = encode_generator,
  .decode = decode_generator,
  .open = open_generator,
  .position_version = 3,
  .rows = source_rows,
  .source = {.splits_are_rows = is_divided, .splits = splits},
  .pieces = {.not_in_pieces = generator_not_in_pieces},
};

} // namespace headrace::detail
