#include "headrace/pipeline/functions/compiler/evaluation.hpp"
#include "headrace/pipeline/functions/operations/resized_rows.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace headrace::detail {

namespace {

/// The size of a band of the resized image, in bytes. It is so small that the band and the memory
/// that the passes need for the band stay in the second-level cache, and so large that a pass over
/// the band takes much longer than the start of the pass.
constexpr size_t band_bytes = size_t{64} << 10;

/// Runs the passes over the images of one column, band by band.
class bands_run final : public resized_rows {
public:
  using find_value = std::function<const value&(size_t)>;

  bands_run(const program::plan& plan, const program::plan::step& step, size_t rows,
            const find_value& at)
    : plan_(plan),
      step_(step),
      at_(at),
      image_(step.nodes.front()),
      dims_(plan.items[image_].node->spec.dims),
      values_in_line_(static_cast<size_t>(dims_[1] * dims_[2])),
      errors_(step.members.size()),
      row_errors_(step.members.size()) {
    const auto bytes = values_in_line_ * sizeof(float);
    const auto lines =
      std::clamp<size_t>(band_bytes / std::max<size_t>(1, bytes), 1, static_cast<size_t>(dims_[0]));
    memory_ = std::make_shared<mutable_buffer>(lines * bytes);
    out_ = {memory_->as<float>().data(), lines};
    for (auto i : step.kept) {
      const auto type = plan.items[i].node->spec.type;
      results_.push_back({i, size_of(type), column_builder{type, rows}});
    }
    for (const auto& member : step.members)
      for (auto i : member.nodes) band_[i];
  }

  band begin(const shape&) override {
    take_back();
    for (auto& x : results_) x.row = x.made.extend(values());
    begun_ = true;
    for (auto i : step_.inputs)
      if (const auto& x = at_(i); !x.uniform)
        band_[i] = x.data.slice(row_, 1);
    return out_;
  }

  void filled(size_t first, size_t count) override {
    const auto n = count * values_in_line_;
    // All bands use the same memory: the column of a band replaces the column of the band before.
    band_[image_] = column::dense(dtype::float32, {static_cast<int64_t>(count), dims_[1], dims_[2]},
                                  1, buffer{memory_, memory_->data(), n * sizeof(float)});
    for (size_t m = 1; m < step_.members.size(); ++m) run_pass(m);
    if (n == 0)
      return;
    for (auto& x : results_)
      std::memcpy(x.row + first * values_in_line_ * x.size, band_.at(x.item).value_buffer().data(),
                  n * x.size);
  }

  void end_row(size_t r, bool has_value) override {
    for (size_t m = 0; m < row_errors_.size(); ++m)
      if (auto why = std::exchange(row_errors_[m], {}); has_value && !why.ok())
        errors_[m].push_back({static_cast<uint32_t>(r), std::move(why)});
    if (!has_value)
      take_back();
    for (auto& x : results_)
      if (has_value)
        x.made.end_row(dims_);
      else
        x.made.end_row_of_nothing(dims_);
    begun_ = false;
    row_ = r + 1;
  }

  std::vector<column> finish() && {
    std::vector<column> out;
    for (auto& x : results_) out.push_back(std::move(x.made).finish());
    return out;
  }
  /// The errors of the rows that failed in pass `m`.
  const std::vector<row_error>& errors_of(size_t m) const { return errors_[m]; }

private:
  struct kept_result {
    size_t item;
    size_t size; ///< the bytes of a value
    column_builder made;
    std::byte* row = nullptr;
  };

  size_t values() const { return static_cast<size_t>(dims_[0]) * values_in_line_; }

  /// Removes what was added to the results for an image that was begun and not completed.
  void take_back() {
    if (begun_)
      for (auto& x : results_) x.made.take_back(values());
    begun_ = false;
    std::ranges::fill(row_errors_, status{});
  }

  void run_pass(size_t m) {
    const auto& pass = step_.members[m];
    std::vector<operand> operands;
    for (auto i : pass.inputs) {
      const auto known = band_.find(i);
      operands.push_back(known != band_.end() ? operand{&known->second, false}
                                              : operand{&at_(i).data, true});
    }
    std::vector<row_error> failed;
    auto made =
      pass.pass->run({*plan_.items[pass.nodes.back()].node, operands, 1, nullptr, failed});
    for (size_t k = 0; k < pass.kept.size(); ++k) band_[pass.kept[k]] = std::move(made[k]);
    if (!failed.empty() && row_errors_[m].ok())
      row_errors_[m] = std::move(failed.front().why);
  }

  const program::plan& plan_;
  const program::plan::step& step_;
  const find_value& at_;
  const size_t image_; ///< the item that is the resized image
  const shape dims_;   ///< the extents of the resized image
  const size_t values_in_line_;
  std::shared_ptr<mutable_buffer> memory_;
  band out_;
  std::vector<kept_result> results_;
  std::vector<std::vector<row_error>> errors_; ///< the errors of each member

  // The following members describe the row that is being resized.
  size_t row_ = 0;
  bool begun_ = false;
  std::vector<status> row_errors_; ///< the first error of each member
  /// By item: for an input, its value in this row; for an item of a member, its value in the
  /// current band.
  std::map<size_t, column> band_;
};

} // namespace

void evaluation::run_bands(const program::plan::step& step) {
  const auto& resize = step.members.front();
  const auto& item = plan_.items[resize.nodes.front()];
  // If an operand of a pass (not of the resize itself) has error rows, these rows must fail only
  // in the passes that read the operand. Bands do not separate the passes, so in this rare case the
  // members run one after the other.
  for (auto i : step.inputs)
    if (!at(i).errors.empty() && std::ranges::find(item.inputs, i) == item.inputs.end()) {
      for (const auto& member : step.members) run_step(member);
      return;
    }
  std::vector<const value*> inputs;
  for (auto in : item.inputs) inputs.push_back(&at(in));
  const bands_run::find_value find = [this](size_t i) -> const value& { return at(i); };
  bands_run bands{plan_, step, in_.rows, find};
  std::vector<uint8_t> own;
  auto made =
    call_with(*item.node, inputs, in_.rows, false, skipped(step, own), [&](const op_call& call) {
      resize_rows(call, bands);
      return std::move(bands).finish();
    });
  // A row of a pass fails if a value that the pass reads has failed in the row, or if the pass
  // itself fails in it.
  std::map<size_t, std::vector<row_error>> errors{{resize.nodes.front(), std::move(made.errors)}};
  for (size_t m = 1; m < step.members.size(); ++m) {
    const auto& pass = step.members[m];
    for (auto i : pass.nodes) {
      std::vector<row_error> all;
      for (auto in : plan_.items[i].inputs)
        if (const auto known = errors.find(in); known != errors.end())
          merge(all, known->second);
      merge(all, bands.errors_of(m)); // a checked function has a pass of its own
      errors[i] = std::move(all);
    }
    counter_.calls += pass.nodes.size();
  }
  ++counter_.calls;
  for (size_t k = 0; k < step.kept.size(); ++k)
    values_[step.kept[k]] = {std::move(made.columns[k]), false, errors.at(step.kept[k])};
}

} // namespace headrace::detail
