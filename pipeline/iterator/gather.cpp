#include "headrace/pipeline/iterator/gather.hpp"

#include "headrace/pipeline/iterator/column_gather.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

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
      return; // one row has no origin, so the block has none
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
      // A column of a block cannot hold rows of different ranks, so all rows become error rows.
      std::vector<tensor_spec> specs;
      for (const auto& x : pieces[runs[0].piece]->columns)
        specs.push_back({x.type(), {}, static_cast<uint8_t>(x.is_nested() ? 1 : 0)});
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
