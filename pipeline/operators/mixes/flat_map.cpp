#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/openings.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/groups/inner_datasets.hpp"

namespace headrace::detail {

namespace {

class flat_map_iterator final : public operator_iterator {
public:
  flat_map_iterator(engine& shared, const dataset_node& node, const place& at,
                    std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      datasets_(shared, node, at, std::move(input)),
      openings_(shared, *node.body->dataset) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    std::vector<block> pieces;
    size_t rows = 0, bytes = 0;
    while (rows < wanted.rows && bytes < wanted.bytes && !broken_ && !engine_.stopped()) {
      auto more = next_piece({wanted.rows - rows, wanted.bytes});
      if (!more)
        break;
      if (more->rows == 0)
        continue;
      rows += more->rows;
      given_ += more->rows;
      bytes += more->bytes();
      pieces.push_back(*std::move(more));
      // A large block is returned as it is; only small blocks are copied, into one block.
      if (pieces.size() == 1 && rows * 2 >= wanted.rows)
        break;
    }
    if (pieces.empty()) {
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      return std::nullopt;
    }
    std::vector<const block*> views;
    std::vector<row_run> runs;
    for (const auto& piece : pieces) {
      runs.push_back({static_cast<uint32_t>(views.size()), 0, static_cast<uint32_t>(piece.rows)});
      views.push_back(&piece);
    }
    return gather_rows(views, runs, kernel_calls_);
  }
  // Saves the input at the row whose dataset is open, or at the next row. As further parts: the
  // open dataset, then the datasets that were opened after this position.
  void save_to(position& to) const override {
    datasets_.save_to(to, open_.rows ? open_.row : datasets_.row());
    to.parts.push_back(open_.rows ? open_.rows->save() : nullptr);
    openings_.save_to(to);
  }
  status restore_from(position_reader& from) override {
    HEADRACE_TRY(datasets_.restore(from));
    const auto at = from.part();
    openings_.restore(from);
    if (!at)
      return {};
    HEADRACE_ASSIGN(open_, datasets_.next_of(datasets_.row(), kernel_calls_));
    return open_.rows ? open_.rows->restore(*at) : open_.failed;
  }

private:
  // Returns rows of the open dataset, after opening the next dataset if none is open. An empty
  // block: the dataset has ended. nullopt: there is no further dataset.
  std::optional<block> next_piece(const limits& wanted) {
    if (!open_.rows) {
      if (!datasets_.fill(outer_rows(wanted.rows), kernel_calls_))
        return std::nullopt;
      datasets_.release_before(datasets_.row());
      open_ = datasets_.next();
      ++opened_;
      if (auto failed = openings_.add(open_.rows.get()); !failed.ok()) {
        open_.rows.reset();
        broken_ = true;
        return last_failure(failed);
      }
      if (!open_.rows) {
        auto failed = failure(open_.failed);
        set_origin(failed, open_.from);
        return failed;
      }
    }
    auto out = open_.rows->next(wanted);
    if (!out) {
      open_.rows.reset();
      return block{};
    }
    set_origin(*out, open_.from);
    return out;
  }

  // The estimated number of datasets that give `rows` rows, based on the datasets so far.
  size_t outer_rows(size_t rows) const {
    if (opened_ == 0 || given_ == 0)
      return 1;
    return std::clamp<size_t>(rows * opened_ / given_, 1, rows);
  }

  inner_datasets datasets_;
  inner_dataset open_;
  openings openings_;
  uint64_t opened_ = 0;
  uint64_t given_ = 0;
  /// The data has changed since the position was saved: no row follows the row with this error.
  bool broken_ = false;
};

opened open_flat_map(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<flat_map_iterator>(shared, *node, at, std::move(input))};
}

void encode_flat_map(const dataset_node&, node_writer& to) { to.with_body(to.out.initFlatMap()); }

result<dataset_ptr> decode_flat_map(node_reader& from) {
  const auto in = from.in.getFlatMap();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  return make_flat_map(std::move(rows), std::move(f));
}

} // namespace

constinit const operator_record flat_map_record{
  .name = "flat_map",
  .arm = schema::Dataset::FLAT_MAP,
  .encode = encode_flat_map,
  .decode = decode_flat_map,
  .open = open_flat_map,
  .rows = {.apart = true, .several = true},
  .cardinality = cardinality_of_singles,
  .pieces = {piece_rule::apart},
};

} // namespace headrace::detail
