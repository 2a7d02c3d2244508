#include "headrace/pipeline/iterator/gather.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr size_t word = sizeof(int64_t);

/// Rows of one column, from many pieces, on their way to one column.
class column_gather {
public:
  column_gather(std::span<const block* const> pieces, std::span<const row_run> runs, size_t index,
                size_t rows)
    : pieces_(pieces), runs_(runs), index_(index), rows_(rows) {}

  /// The rows as they lie in memory, if they are side by side.
  std::optional<column> in_place() const {
    if (runs_.size() == 1)
      return of(runs_[0]).slice(runs_[0].first, runs_[0].count);
    const auto& first = of(runs_[0]);
    if (!first.is_dense() || first.is_string())
      return std::nullopt;
    const auto row_bytes = static_cast<size_t>(first.row_elements()) * size_of(first.type());
    const auto* begin = first.value_buffer().data() + runs_[0].first * row_bytes;
    const auto* at = begin;
    for (const auto& run : runs_) {
      const auto& c = of(run);
      const auto& bytes = c.value_buffer();
      if (!c.is_dense() || c.row_shape() != first.row_shape()
          || bytes.owner() != first.value_buffer().owner() || !bytes.owner()
          || bytes.data() + run.first * row_bytes != at)
        return std::nullopt;
      at += run.count * row_bytes;
    }
    return column::dense(first.type(), first.row_shape(), rows_,
                         {first.value_buffer().owner(), begin, static_cast<size_t>(at - begin)});
  }

  /// Empty if rows have shapes of different ranks.
  std::optional<column> copy() const {
    const auto type = of(runs_[0]).type();
    if (auto row = common_shape(false))
      return type == dtype::string ? strings(*row) : dense(type, *row);
    if (auto row = common_shape(true))
      return type == dtype::string ? mended_strings(*row) : mended_dense(type, *row);
    return variable(type);
  }

private:
  const column& of(const row_run& run) const { return pieces_[run.piece]->columns[index_]; }
  bool failed(const row_run& run, size_t row) const {
    return pieces_[run.piece]->error_at(run.first + row) != nullptr;
  }

  // The one shape of all rows (`good`: of those that did not fail), if there is one.
  std::optional<shape> common_shape(bool good) const {
    const shape* dense = nullptr;
    if (!good) {
      for (const auto& run : runs_) {
        const auto& c = of(run);
        if (!c.is_dense() || (dense && c.row_shape() != *dense))
          return std::nullopt;
        dense = &c.row_shape();
      }
      return *dense;
    }
    std::optional<shape> out;
    for (const auto& run : runs_)
      for (size_t i = 0; i < run.count; ++i) {
        if (failed(run, i))
          continue;
        auto row = of(run).shape_of(run.first + i);
        if (out && *out != row)
          return std::nullopt;
        out = std::move(row);
      }
    if (!out) // all failed
      out = of(runs_[0]).shape_of(runs_[0].first);
    return out;
  }

  template <size_t Bytes>
  void copy_rows(std::byte* to) const {
    struct value {
      std::byte bytes[Bytes];
    };
    auto* out = reinterpret_cast<value*>(to);
    for (const auto& run : runs_) {
      const auto* from = reinterpret_cast<const value*>(of(run).value_buffer().data()) + run.first;
      if (run.count == 1)
        *out = *from;
      else
        std::memcpy(static_cast<void*>(out), from, run.count * Bytes);
      out += run.count;
    }
  }

  column dense(dtype type, const shape& row) const {
    const auto row_bytes = static_cast<size_t>(*row.elements()) * size_of(type);
    mutable_buffer out{rows_ * row_bytes};
    switch (row_bytes) {
    case 0: break;
    case 1: copy_rows<1>(out.data()); break;
    case 2: copy_rows<2>(out.data()); break;
    case 4: copy_rows<4>(out.data()); break;
    case 8: copy_rows<8>(out.data()); break;
    case 16: copy_rows<16>(out.data()); break;
    default: {
      auto* to = out.data();
      for (const auto& run : runs_) {
        std::memcpy(to, of(run).value_buffer().data() + run.first * row_bytes,
                    run.count * row_bytes);
        to += run.count * row_bytes;
      }
    }
    }
    return column::dense(type, row, rows_, std::move(out).freeze());
  }

  // Dense rows, with zeros where a row failed.
  column mended_dense(dtype type, const shape& row) const {
    const auto row_bytes = static_cast<size_t>(*row.elements()) * size_of(type);
    mutable_buffer out{rows_ * row_bytes};
    auto* to = out.data();
    for (const auto& run : runs_) {
      const auto& c = of(run);
      for (size_t i = 0; i < run.count; ++i, to += row_bytes) {
        const auto* from = c.value_buffer().data()
                           + static_cast<size_t>(c.first_value(run.first + i)) * size_of(type);
        if (row_bytes == 0)
          continue;
        if (failed(run, i))
          std::memset(to, 0, row_bytes);
        else
          std::memcpy(to, from, row_bytes);
      }
    }
    return column::dense(type, row, rows_, std::move(out).freeze());
  }

  struct string_copy {
    mutable_buffer borders, bytes;
    int64_t* border;
    int64_t at = 0;
  };

  static size_t string_bytes(const column& c, size_t first, size_t last) {
    auto ends = c.border_buffer().as<int64_t>();
    return static_cast<size_t>(ends[last] - ends[first]);
  }

  static void append_strings(string_copy& to, const column& c, size_t first, size_t last) {
    auto ends = c.border_buffer().as<int64_t>();
    const auto size = string_bytes(c, first, last);
    if (size != 0)
      std::memcpy(to.bytes.data() + to.at, c.value_buffer().data() + (ends[first] - c.byte_base()),
                  size);
    const auto shift = to.at - ends[first];
    for (auto i = first; i < last; ++i) *to.border++ = ends[i] + shift;
    to.at += static_cast<int64_t>(size);
  }

  size_t all_string_bytes() const {
    size_t size = 0;
    for (const auto& run : runs_) {
      const auto& c = of(run);
      size += string_bytes(c, static_cast<size_t>(c.first_value(run.first)),
                           static_cast<size_t>(c.first_value(run.first + run.count)));
    }
    return size;
  }

  string_copy start_strings(size_t count) const {
    string_copy out{mutable_buffer{(count + 1) * word}, mutable_buffer{all_string_bytes()},
                    nullptr};
    out.border = out.borders.as<int64_t>().data();
    return out;
  }

  column strings(const shape& row) const {
    auto to = start_strings(rows_ * static_cast<size_t>(*row.elements()));
    for (const auto& run : runs_) {
      const auto& c = of(run);
      append_strings(to, c, static_cast<size_t>(c.first_value(run.first)),
                     static_cast<size_t>(c.first_value(run.first + run.count)));
    }
    *to.border = to.at;
    return column::strings(row, rows_, std::move(to.borders).freeze(),
                           std::move(to.bytes).freeze());
  }

  // Dense rows, with empty strings where a row failed.
  column mended_strings(const shape& row) const {
    const auto per_row = static_cast<size_t>(*row.elements());
    auto to = start_strings(rows_ * per_row);
    for (const auto& run : runs_)
      for (size_t i = 0; i < run.count; ++i) {
        const auto& c = of(run);
        const auto first = static_cast<size_t>(c.first_value(run.first + i));
        if (failed(run, i))
          for (size_t s = 0; s < per_row; ++s) *to.border++ = to.at;
        else
          append_strings(to, c, first, first + per_row);
      }
    *to.border = to.at;
    return column::strings(row, rows_, std::move(to.borders).freeze(),
                           std::move(to.bytes).freeze(static_cast<size_t>(to.at)));
  }

  std::optional<column> variable(dtype type) const {
    std::optional<size_t> rank;
    size_t values = 0;
    for (const auto& run : runs_)
      for (size_t i = 0; i < run.count; ++i) {
        if (failed(run, i))
          continue;
        const auto& c = of(run);
        if (rank && *rank != c.rank())
          return std::nullopt;
        rank = c.rank();
        values +=
          static_cast<size_t>(c.first_value(run.first + i + 1) - c.first_value(run.first + i));
      }
    mutable_buffer starts{(rows_ + 1) * word}, dims{rows_ * *rank * word};
    const auto value_bytes = size_of(type);
    auto text = type == dtype::string ? start_strings(values) : string_copy{};
    mutable_buffer numbers{values * value_bytes};
    auto* start = starts.as<int64_t>().data();
    auto* dim = dims.as<int64_t>().data();
    int64_t at = 0;
    for (const auto& run : runs_)
      for (size_t i = 0; i < run.count; ++i) {
        const auto& c = of(run);
        *start++ = at;
        if (failed(run, i)) {
          for (size_t d = 0; d < *rank; ++d) *dim++ = 0;
          continue;
        }
        const auto row = c.shape_of(run.first + i);
        for (auto extent : row.dims()) *dim++ = extent;
        const auto first = static_cast<size_t>(c.first_value(run.first + i));
        const auto count = static_cast<size_t>(*row.elements());
        if (type == dtype::string)
          append_strings(text, c, first, first + count);
        else if (count != 0)
          std::memcpy(numbers.data() + static_cast<size_t>(at) * value_bytes,
                      c.value_buffer().data() + first * value_bytes, count * value_bytes);
        at += static_cast<int64_t>(count);
      }
    *start = at;
    if (type != dtype::string)
      return column::variable(type, *rank, rows_, std::move(numbers).freeze(),
                              std::move(starts).freeze(), std::move(dims).freeze());
    *text.border = text.at;
    return column::variable_strings(*rank, rows_, std::move(text.borders).freeze(),
                                    std::move(text.bytes).freeze(static_cast<size_t>(text.at)), 0,
                                    std::move(starts).freeze(), std::move(dims).freeze());
  }

  std::span<const block* const> pieces_;
  std::span<const row_run> runs_;
  size_t index_;
  size_t rows_;
};

void gather_errors(std::span<const block* const> pieces, std::span<const row_run> runs,
                   block& out) {
  size_t at = 0;
  for (const auto& run : runs) {
    const auto& errors = pieces[run.piece]->errors;
    auto e = std::lower_bound(errors.begin(), errors.end(), run.first,
                              [](const row_error& x, size_t row) { return x.row < row; });
    for (; e != errors.end() && e->row < run.first + run.count; ++e)
      out.errors.push_back({static_cast<uint32_t>(at + e->row - run.first), e->why});
    at += run.count;
  }
}

void gather_origins(std::span<const block* const> pieces, std::span<const row_run> runs,
                    block& out) {
  for (const auto& run : runs)
    if (pieces[run.piece]->origins.empty())
      return; // a row of unknown origin: nothing is known of the block
  std::vector<std::optional<origin_index>> index(pieces.size());
  for (const auto& run : runs) {
    auto& at = index[run.piece];
    if (!at)
      at.emplace(pieces[run.piece]->origins);
    at->append(out.origins, run.first, run.count);
  }
}

} // namespace

origin_index::origin_index(const std::vector<origin>& runs) : runs_(&runs) {
  uint32_t at = 0;
  for (const auto& run : runs) {
    starts_.push_back(at);
    at += run.rows;
  }
}

void origin_index::append(std::vector<origin>& out, uint32_t first, uint32_t count) const {
  auto at = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), first)
                                - starts_.begin() - 1);
  for (; count != 0; ++at) {
    auto run = (*runs_)[at];
    const auto skip = first - starts_[at];
    run.split += skip * run.step;
    run.rows = std::min(run.rows - skip, count);
    append_origin(out, run);
    first += run.rows;
    count -= run.rows;
  }
}

block gather_rows(std::span<const block* const> pieces, std::span<const row_run> runs,
                  uint64_t& kernel_calls) {
  if (runs.size() == 1)
    return pieces[runs[0].piece]->slice(runs[0].first, runs[0].count);
  block out;
  for (const auto& run : runs) out.rows += run.count;
  gather_errors(pieces, runs, out);
  gather_origins(pieces, runs, out);
  const auto columns = pieces[runs[0].piece]->columns.size();
  for (size_t i = 0; i < columns; ++i) {
    column_gather c{pieces, runs, i, out.rows};
    auto made = c.in_place();
    if (!made) {
      ++kernel_calls;
      made = c.copy();
    }
    if (!made) {
      // A block's column has one rank.
      std::vector<tensor_spec> specs;
      for (const auto& x : pieces[runs[0].piece]->columns) specs.push_back({x.type(), {}});
      auto why =
        unimplemented(fmt::format("component {} has rows of different ranks side by side", i));
      auto failed = block::failed_row(specs, why);
      std::vector<row_run> repeated(out.rows, row_run{0, 0, 1});
      const block* piece = &failed;
      auto result = gather_rows({&piece, 1}, repeated, kernel_calls);
      result.origins = std::move(out.origins);
      return result;
    }
    out.columns.push_back(*std::move(made));
  }
  return out;
}

} // namespace headrace::detail
