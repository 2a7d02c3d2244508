#include "headrace/pipeline/types/block.hpp"

#include <algorithm>

namespace headrace {

namespace {

bool before(const row_error& e, size_t row) { return e.row < row; }

column zeros(const tensor_spec& spec) {
  if (spec.is_dataset()) {
    auto element = spec;
    --element.nesting;
    return column::nested(spec.type, {zeros(element).slice(0, 0)});
  }
  std::vector<int64_t> dims;
  for (auto dim : spec.dims.dims()) dims.push_back(std::max<int64_t>(dim, 0));
  shape row{std::move(dims)};
  const auto values = static_cast<size_t>(*row.elements());
  if (spec.type == dtype::string) {
    mutable_buffer borders{(values + 1) * sizeof(int64_t)};
    std::memset(borders.data(), 0, borders.size());
    return column::strings(std::move(row), 1, std::move(borders).freeze(), {});
  }
  mutable_buffer data{values * size_of(spec.type)};
  std::memset(data.data(), 0, data.size());
  return column::dense(spec.type, std::move(row), 1, std::move(data).freeze());
}

} // namespace

void append_origin(std::vector<origin>& runs, const origin& run) {
  if (run.rows == 0)
    return;
  if (!runs.empty()) {
    auto& last = runs.back();
    if (last.source == run.source && last.pass == run.pass) {
      const auto gap = run.split - (last.split + (last.rows - 1) * last.step);
      if ((last.rows == 1 || last.step == gap) && (run.rows == 1 || run.step == gap)) {
        last.step = gap;
        last.rows += run.rows;
        return;
      }
    }
  }
  runs.push_back(run);
  if (run.rows == 1)
    runs.back().step = 0;
}

void append_origins(std::vector<origin>& runs, const std::vector<origin>& from, size_t first,
                    size_t count) {
  size_t at = 0;
  for (auto run : from) {
    if (at >= first + count)
      return;
    const auto begin = std::max(at, first);
    const auto end = std::min(at + run.rows, first + count);
    run.split += (begin - at) * run.step;
    at += run.rows;
    if (begin >= end)
      continue;
    run.rows = static_cast<uint32_t>(end - begin);
    append_origin(runs, run);
  }
}

origin origin_of(const std::vector<origin>& runs, size_t row) {
  std::vector<origin> one;
  append_origins(one, runs, row, 1);
  return one.empty() ? origin{} : one.front();
}

block block::slice(size_t first, size_t count) const {
  if (first == 0 && count == rows)
    return *this;
  block out;
  out.rows = count;
  out.columns.reserve(columns.size());
  for (const auto& c : columns) out.columns.push_back(c.slice(first, count));
  auto e = std::lower_bound(errors.begin(), errors.end(), first, before);
  for (; e != errors.end() && e->row < first + count; ++e)
    out.errors.push_back({static_cast<uint32_t>(e->row - first), e->why});
  append_origins(out.origins, origins, first, count);
  return out;
}

size_t block::bytes() const noexcept {
  size_t n = 0;
  for (const auto& c : columns) n += c.bytes();
  return n;
}

const status* block::error_at(size_t row) const noexcept {
  if (errors.empty())
    return nullptr;
  auto e = std::lower_bound(errors.begin(), errors.end(), row, before);
  return e != errors.end() && e->row == row ? &e->why : nullptr;
}

block block::failed_row(const std::vector<tensor_spec>& specs, status why) {
  block out;
  out.rows = 1;
  for (const auto& spec : specs) out.columns.push_back(zeros(spec));
  out.errors.push_back({0, std::move(why)});
  return out;
}

} // namespace headrace
