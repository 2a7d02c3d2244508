#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/openings.hpp"
#include "headrace/pipeline/engine/read_ahead.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/operators/groups/inner_datasets.hpp"
#include "headrace/pipeline/operators/mixes/place_choices.hpp"

#include <fmt/format.h>
#include <map>

namespace headrace::detail {

namespace {

/// The order is that of tf.data: `cycle` places are visited in turn and give `length` rows each.
/// When the dataset of a place has ended, the next place is visited at once. When a place without a
/// dataset is visited, the dataset of the next row of the input is opened there. If the order may
/// change, a place whose dataset has no rows ready is visited later.
class interleave_iterator final : public operator_iterator {
public:
  interleave_iterator(engine& shared, const dataset_node& node, const place& at,
                      std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      datasets_(shared, node, at, std::move(input)),
      cycle_(static_cast<size_t>(node.as<interleave_parameters>().cycle)),
      length_(static_cast<size_t>(node.as<interleave_parameters>().length)),
      openings_(shared, *node.body->dataset) {
    if (node.calls.count == 0)
      return;
    turns_ = shared.gate_of(node);
    if (!shared.ordered(node))
      arrivals_ = std::make_shared<arrivals>();
  }

protected:
  std::optional<block> produce(const limits& wanted) override {
    const auto began = engine_.time().now();
    std::vector<std::shared_ptr<const block>> pieces;
    std::vector<row_run> runs;
    size_t rows = 0, bytes = 0;
    for (auto& slot : slots_) slot.piece = no_piece;
    while (rows < wanted.rows && bytes < wanted.bytes && broken_.ok() && !engine_.stopped()) {
      const auto* again = choices_.next();
      if (again != nullptr) {
        const bool opens = again->rows == 0;
        if (!repeat(*again, wanted)) {
          if (broken_.ok() && !engine_.stopped())
            broken_ = data_changed();
          break;
        }
        if (opens)
          continue;
      } else if (arrivals_ && !go_to_ready_place()) {
        if (rows != 0)
          break;
        ask(wanted.rows);
        arrivals_->wait(seen_, engine_.context().stop);
        continue;
      }
      if (at_ >= slots_.size()) {
        if (at_ < cycle_ && !input_ended_)
          slots_.emplace_back();
        else
          at_ = 0;
        if (slots_.empty())
          break;
      }
      auto& slot = slots_[at_];
      if (!slot.open()) {
        if (!open_next(slot, wanted.rows - rows)) {
          if (open_ == 0 || !broken_.ok())
            break;
          advance();
          continue;
        }
        note({at_, 0});
        if (arrivals_ && slot.waits())
          continue;
      }
      if (slot.at == slot.rows->rows && !refill(slot, wanted, wanted.rows - rows)) {
        close(slot);
        continue;
      }
      if (slot.piece == no_piece) {
        slot.piece = static_cast<uint32_t>(pieces.size());
        pieces.push_back(slot.rows);
        bytes += slot.rows->bytes() * (slot.rows->rows - slot.at) / slot.rows->rows;
      }
      const auto turn = again != nullptr ? again->rows : length_ - given_here_;
      const auto count = std::min({turn, slot.rows->rows - slot.at, wanted.rows - rows});
      append_run(runs, {slot.piece, static_cast<uint32_t>(slot.at), static_cast<uint32_t>(count)});
      slot.at += count;
      rows += count;
      if (again != nullptr) {
        choices_.repeated(count);
        continue;
      }
      note({at_, count});
      given_here_ += count;
      if (given_here_ == length_)
        advance();
    }
    choices_.write(openings_.log());
    if (rows == 0) {
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      if (!broken_.ok())
        return last_failure(broken_);
      return std::nullopt;
    }
    given_ += rows;
    if (turns_)
      turns_->record(began, engine_.time().now(), rows, bytes);
    std::vector<const block*> views;
    for (const auto& piece : pieces) views.push_back(piece.get());
    return gather_rows(views, runs, kernel_calls_);
  }
  // Saves the input at the first row whose dataset is open, or at the next row. Then as numbers:
  // the next row; the place that is visited; how many rows it has given in its turn; whether the
  // input has ended; the number of places. For each place its state and, unless the place is
  // closed, the number of its row and, if its dataset is open, the dataset's point. Then the
  // datasets that were opened after this position and, if the order may change, the choices after
  // this position.
  void save_to(position& to) const override {
    datasets_.save_to(to, first_row());
    to.numbers.insert(to.numbers.end(),
                      {datasets_.row(), at_, given_here_, input_ended_, slots_.size()});
    for (const auto& slot : slots_) {
      to.numbers.push_back(static_cast<uint64_t>(slot.what()));
      if (!slot.open())
        continue;
      to.numbers.push_back(slot.dataset.row);
      if (slot.what() == state::open)
        put(to, slot.point());
    }
    openings_.save_to(to);
    if (!arrivals_)
      return;
    choices_.save_to(to);
    to.later = openings_.log().now();
  }
  status restore_from(position_reader& from) override {
    HEADRACE_TRY(datasets_.restore(from));
    const auto next = from.number();
    at_ = from.number(cycle_);
    given_here_ = from.number(length_);
    input_ended_ = from.flag();
    const auto places = from.number(cycle_);
    // By the number of the input's row that a dataset is made from: the input is read forward.
    std::multimap<uint64_t, saved_place> open;
    for (uint64_t i = 0; i < places && from.fits(); ++i) {
      slots_.emplace_back();
      const auto what =
        static_cast<state>(from.number(static_cast<uint64_t>(state::failure_given)));
      if (what == state::closed)
        continue;
      auto& place = open.emplace(from.number(), saved_place{i, what})->second;
      if (what == state::open) {
        place.skip = from.number();
        place.at = from.part();
      }
    }
    openings_.restore(from);
    if (arrivals_)
      choices_.restore(from, slots_.size(), cycle_);
    HEADRACE_TRY(from.finish());
    for (const auto& [row, place] : open) HEADRACE_TRY(reopen(row, place));
    return datasets_.skip_to(next, kernel_calls_);
  }

private:
  static constexpr uint32_t no_piece = UINT32_MAX;

  void note(const place_choices::choice& made) {
    if (arrivals_)
      choices_.note(made, openings_.log());
  }

  // Repeats a choice: opens a dataset at the place of the choice, or goes to this place and ensures
  // that it has a row. False: the data has changed, or the iteration was stopped.
  bool repeat(place_choices::choice made, const limits& wanted) {
    if (made.place >= slots_.size())
      slots_.resize(made.place + 1);
    auto& slot = slots_[made.place];
    given_here_ = 0;
    if (made.rows == 0) {
      if (slot.open()) {
        if (slot.at != slot.rows->rows || refill(slot, wanted, 1) || engine_.stopped())
          return false;
        close(slot);
      }
      choices_.repeated();
      at_ = made.place;
      return open_next(slot, 1);
    }
    at_ = made.place;
    return slot.open() && (slot.at != slot.rows->rows || refill(slot, wanted, wanted.rows));
  }

  // Moves to the next place that has a row ready or whose dataset has ended, or at which a dataset
  // can be opened. False: there is no such place yet, and a dataset is open.
  bool go_to_ready_place() {
    seen_ = arrivals_->count();
    const auto places = std::min(cycle_, slots_.size() + 1);
    for (size_t i = 0; i < places; ++i) {
      const auto place = (at_ + i) % places;
      const bool waits =
        place < slots_.size() ? slots_[place].open() && slots_[place].waits() : input_ended_;
      if (waits || (place < slots_.size() && !slots_[place].open() && input_ended_))
        continue;
      if (i != 0)
        given_here_ = 0;
      at_ = place;
      return true;
    }
    return open_ == 0; // all datasets have ended
  }

  // Allows the dataset of the next open place without a ready row to read `rows` rows even if the
  // memory budget is used up.
  void ask(size_t rows) {
    for (size_t i = 0; i < slots_.size(); ++i)
      if (auto& next = slots_[(at_ + i) % slots_.size()]; next.open() && next.waits())
        return next.ahead->ask(rows);
  }

  enum class state : uint8_t { closed, open, failed, failure_given };

  struct slot {
    inner_dataset dataset;
    std::unique_ptr<read_ahead> ahead;
    std::shared_ptr<const block> rows = std::make_shared<const block>();
    size_t at = 0; ///< the number of rows of `rows` that were returned
    uint32_t piece = no_piece;
    bool failed = false; ///< `rows` is an error row in place of the dataset
    resume_point before; ///< the point before `rows`

    /// The point after the returned rows. @pre the place is open and did not fail
    resume_point point() const {
      if (at != rows->rows)
        return {before.at, before.skip + at};
      return after();
    }
    resume_point after() const {
      return ahead ? ahead->point() : resume_point{dataset.rows->save(), 0};
    }
    state what() const {
      if (failed)
        return at == 0 ? state::failed : state::failure_given;
      return open() ? state::open : state::closed;
    }
    /// True if neither a row of the place nor the end of its dataset has arrived. @pre the place is
    /// open
    bool waits() const { return !failed && at == rows->rows && !ahead->ready(); }
    bool open() const { return dataset.rows || ahead || failed; }
  };

  struct saved_place {
    uint64_t place;
    state what;
    uint64_t skip = 0;
    position_ptr at;
  };

  status reopen(uint64_t row, const saved_place& from) {
    auto& to = slots_[from.place];
    HEADRACE_ASSIGN(auto dataset, datasets_.next_of(row, kernel_calls_));
    if ((dataset.rows != nullptr) != (from.what == state::open))
      return data_loss("a dataset that could be made cannot be made now, or the other way round");
    if (dataset.rows) {
      if (!from.at)
        return data_loss("an open dataset has no position");
      HEADRACE_TRY(dataset.rows->restore(*from.at));
      HEADRACE_TRY(drop_rows(*dataset.rows, from.skip));
    }
    place(to, std::move(dataset));
    to.at = from.what == state::failure_given;
    return {};
  }

  // The first row whose dataset is open, or the next row.
  uint64_t first_row() const {
    auto out = datasets_.row();
    for (const auto& slot : slots_)
      if (slot.open())
        out = std::min(out, slot.dataset.row);
    return out;
  }

  void advance() {
    given_here_ = 0;
    if (++at_ == cycle_)
      at_ = 0;
  }

  bool open_next(slot& to, size_t wanted) {
    if (input_ended_ || !datasets_.fill(outer_rows(wanted), kernel_calls_)) {
      input_ended_ = true;
      return false;
    }
    auto next = datasets_.next();
    broken_ = openings_.add(next.rows.get());
    if (!broken_.ok())
      return false;
    place(to, std::move(next));
    return true;
  }

  void place(slot& to, inner_dataset dataset) {
    to.dataset = std::move(dataset);
    to.at = 0;
    to.piece = no_piece;
    ++open_;
    ++opened_;
    if (!to.dataset.rows) {
      auto failed = failure(to.dataset.failed);
      set_origin(failed, to.dataset.from);
      to.rows = std::make_shared<const block>(std::move(failed));
      to.failed = true;
      return;
    }
    to.rows = std::make_shared<const block>();
    if (turns_) {
      to.ahead = std::make_unique<read_ahead>(std::move(to.dataset.rows),
                                              read_ahead::options{.rows = 1 << 16,
                                                                  .bytes = size_t{4} << 20,
                                                                  .turns = turns_,
                                                                  .tells = arrivals_,
                                                                  .budget = engine_.budget(),
                                                                  .rows_are = rows_are_,
                                                                  .counters = counters()},
                                              engine_.context().stop);
      to.ahead->start();
    }
  }

  // The number of rows of the input to read, at least 1. It is the larger of two numbers: how many
  // free places have a turn within the wanted rows; how many datasets are needed for the wanted
  // rows, estimated from the datasets so far.
  size_t outer_rows(size_t wanted) const {
    const auto turns = wanted / length_ + (wanted % length_ != 0);
    const auto free = std::min(cycle_ - open_, turns);
    const auto by_size = given_ == 0 ? 0 : std::min(wanted, wanted * opened_ / given_);
    return std::max<size_t>({1, free, by_size});
  }

  bool refill(slot& from, const limits& wanted, size_t left) {
    if (from.failed)
      return false;
    // `share`: how many of the wanted rows this place gives if no dataset ends. If other datasets
    // end, this place gives more rows, which are requested later.
    size_t round = 0; // without the bound, the sums below could overflow
    if (__builtin_mul_overflow(input_ended_ ? open_ : cycle_, length_, &round))
      round = SIZE_MAX / 2;
    round = std::min(round, SIZE_MAX / 2);
    const auto share = (left + round - 1) / round * length_;
    const limits asked{
      std::max<size_t>(1, std::min(left, share - std::min(given_here_, share - 1))), wanted.bytes};
    auto before = from.after();
    auto more = from.ahead ? from.ahead->next(asked) : from.dataset.rows->next(asked);
    if (!more)
      return false;
    set_origin(*more, from.dataset.from);
    from.rows = std::make_shared<const block>(*std::move(more));
    from.before = std::move(before);
    from.at = 0;
    from.piece = no_piece;
    return true;
  }

  void close(slot& x) {
    x = slot{};
    --open_;
    datasets_.release_before(first_row());
    advance();
  }

  inner_datasets datasets_;
  const size_t cycle_;
  const size_t length_;
  openings openings_;                  ///< its log also has the choices, if the order may change
  std::shared_ptr<call_gate> turns_;   ///< null: datasets are read on the thread that calls `next`
  std::shared_ptr<arrivals> arrivals_; ///< null: the order is kept
  const std::shared_ptr<row_size> rows_are_ = std::make_shared<row_size>(0);
  std::vector<slot> slots_;
  size_t at_ = 0;         ///< the place that is visited
  size_t given_here_ = 0; ///< the number of rows that this place has given in its turn
  size_t open_ = 0;
  uint64_t seen_ = 0; ///< the count of `arrivals_` before the places were checked
  bool input_ended_ = false;
  uint64_t opened_ = 0, given_ = 0;
  status broken_;         ///< not ok: a restored iterator found other data, and has no further rows
  place_choices choices_; ///< used only if the order may change
};

opened open_interleave(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<interleave_iterator>(shared, *node, at, std::move(input))};
}

void encode_interleave(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<interleave_parameters>();
  auto out = to.with_calls(to.out.initInterleave());
  out.setCycle(own.cycle);
  out.setLength(own.length);
}

result<dataset_ptr> decode_interleave(node_reader& from) {
  const auto in = from.in.getInterleave();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto f, from.body(in.getFunction()));
  HEADRACE_ASSIGN(const auto ordered, from_schema(in.getDeterministic()));
  return make_interleave(std::move(rows), std::move(f), in.getCycle(), in.getLength(),
                         in.getParallel(), ordered);
}

std::string shown_interleave(const dataset_node& node) {
  return fmt::format("cycle {}{}", node.as<interleave_parameters>().cycle, shown_calls(node));
}

} // namespace

constinit const operator_record interleave_record{
  .name = "interleave",
  .arm = schema::Dataset::INTERLEAVE,
  .encode = encode_interleave,
  .decode = decode_interleave,
  .open = open_interleave,
  .rows = {.apart = true, .several = true, .mixed = true},
  .cardinality = cardinality_of_singles,
  .pieces = {piece_rule::apart},
  .shown = shown_interleave,
};

} // namespace headrace::detail
