#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"
#include "headrace/pipeline/operators/kept/buffered_rows.hpp"
#include "headrace/pipeline/operators/kept/row_reservoir.hpp"
#include "headrace/pipeline/operators/kept/shuffle_history.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::detail {

namespace {

/// A buffer of this size or more does not stay in the processor's caches.
constexpr size_t many_rows = 1 << 14;

/// Fills a buffer of n rows, then returns rows from random places of the buffer; for each of them
/// the next row of the input enters. An error row does not enter the buffer: it is returned when
/// its turn to enter has come.
class shuffle_iterator final : public operator_iterator {
public:
  shuffle_iterator(engine& shared, const dataset_node& node, const place& at, size_t size,
                   std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      size_(size),
      random_(key(shared, node, at)),
      rows_(make_row_reservoir(node.spec.components)),
      held_(size_) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    rows_->start(wanted.rows);
    size_t given = 0;
    while (given < wanted.rows) {
      if (rows_->held() == size_) {
        give();
        ++given;
        continue;
      }
      if (at_ == in_.rows && !ended_) {
        // Each returned row makes room for another one, so this is the largest number of rows that
        // the requested rows can need.
        read({size_ - rows_->held() + (wanted.rows - given - 1), wanted.bytes});
      }
      if (!ended_) {
        given += accept(wanted.rows - given);
        continue;
      }
      if (rows_->held() == 0)
        break;
      give();
      ++given;
    }
    if (given == 0)
      return std::nullopt;
    return rows_->finish(kernel_calls_);
  }
  // Saves as a part a position of the input from which all rows in the buffer can be read again. As
  // numbers: how many rows have left the buffer; how many have entered it; how many rows of the
  // input after the saved position have been used; how many rows had entered at the saved position.
  // Which rows the buffer contains follows from the random choices.
  void save_to(position& to) const override {
    if (rows_->held() == 0 && at_ == in_.rows) {
      to.numbers = {drawn_, entered_, 0, entered_};
      put(to, *input_);
      return;
    }
    const auto& from = held_.oldest();
    to.numbers = {drawn_, entered_, read_ - (in_.rows - at_) - from.row, from.entered};
    to.parts = {from.at};
  }
  status restore_from(position_reader& from) override {
    drawn_ = from.number();
    const auto entered = from.number();
    const auto used = from.number();
    entered_ = from.number(entered);
    HEADRACE_TRY(from.restore(*input_));
    if (drawn_ > entered || entered - drawn_ > size_) {
      from.refuse();
      return {};
    }
    const auto numbers = shuffle_history{size_, entered, drawn_}.places(random_);
    // The places in the order in which their rows entered.
    std::vector<uint32_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return numbers[a] < numbers[b]; });
    if (!read_again(used, numbers, order) || entered_ != entered)
      return data_loss("the data is not what it was when the position was saved");
    std::vector<uint32_t> rank(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    rows_->arrange(rank);
    held_.arrange(rank);
    return {};
  }

private:
  // Reads `rows` rows of the input, and puts the rows with `numbers` into the buffer; `order` has
  // the indices of `numbers` in ascending order of the numbers. False: a row is missing.
  bool read_again(uint64_t rows, const std::vector<uint64_t>& numbers,
                  const std::vector<uint32_t>& order) {
    constexpr uint64_t most = 4096;
    auto next = order.begin();
    for (; rows != 0; rows -= in_.rows) {
      if (!read({static_cast<size_t>(std::min(rows, most)), limits{}.bytes}))
        return false;
      for (; at_ < in_.rows; ++at_) {
        if (in_.error_at(at_))
          continue;
        if (next != order.end() && numbers[*next] == entered_) {
          ++next;
          rows_->put(at_);
          held_.put();
        }
        ++entered_;
      }
    }
    return next == order.end();
  }

  bool read(const limits& wanted) {
    if (held_.wants_mark(read_))
      held_.add_mark({input_->save(), read_, entered_});
    auto more = input_->next(wanted);
    at_ = 0;
    ended_ = !more;
    in_ = more ? *std::move(more) : block{};
    if (ended_)
      return false;
    read_ += in_.rows;
    rows_->set_input(in_);
    return true;
  }

  void give() {
    // While the buffer is full, the place that is drawn `ahead` rows later is determined already,
    // so its row is prefetched.
    constexpr uint64_t ahead = 16;
    if (size_ >= many_rows) {
      const auto soon = random_soon_.below(drawn_ + ahead, rows_->held());
      rows_->prefetch(soon);
      held_.prefetch(soon);
    }
    const auto place = random_.below(drawn_++, rows_->held());
    rows_->give(place);
    held_.give(place);
  }

  static uint64_t key(engine& shared, const dataset_node& node, const place& at) {
    const auto once = shared.random_key(node, at);
    if (!node.as<shuffle_parameters>().reshuffle)
      return once;
    return mix(mix(once, shared.context().repetition), at.iteration);
  }

  // Takes rows of `in_` until all of them are used, the buffer is full, or `most` error rows were
  // returned. Returns the number of error rows that were returned.
  size_t accept(size_t most) {
    size_t given = 0;
    while (at_ < in_.rows && given < most && rows_->held() < size_) {
      if (in_.error_at(at_)) {
        rows_->pass(at_++);
        ++given;
      } else {
        rows_->put(at_++);
        held_.put();
        ++entered_;
      }
    }
    return given;
  }

  std::unique_ptr<iterator> input_;
  const size_t size_;
  counter_random random_;
  /// A second generator of the same numbers, for places that are drawn later. A generator keeps
  /// only the numbers that it computed last, so a single one would compute them anew in each call.
  counter_random random_soon_ = random_;
  uint64_t drawn_ = 0;
  std::unique_ptr<row_reservoir> rows_;
  held_rows held_;
  uint64_t entered_ = 0; ///< the number of rows that entered the buffer
  uint64_t read_ = 0;    ///< the number of rows of the input that were read
  block in_;             ///< rows of the input; those from `at_` on are not used yet
  size_t at_ = 0;
  bool ended_ = false;
};

opened open_shuffle(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto size,
                  shared.number_of(node, at, node->as<shuffle_parameters>().buffer));
  HEADRACE_TRY(check_count(dataset_op::shuffle, "buffer_size", size));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{std::make_unique<shuffle_iterator>(
    shared, *node, at, static_cast<size_t>(size), std::move(input))};
}

void encode_shuffle(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<shuffle_parameters>();
  auto out = to.over_input(to.out.initShuffle());
  out.setBufferSize(own.buffer.value_or(0));
  to.computed(out);
  out.setReshuffle(own.reshuffle);
  write(own.seed, out.initSeed());
}

result<dataset_ptr> decode_shuffle(node_reader& from) {
  const auto in = from.in.getShuffle();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto size, from.number(in.getBufferSize(), in.getComputed()));
  return make_shuffle(std::move(rows), size, seed_of(in.getSeed()), in.getReshuffle());
}

std::string shown_shuffle(const dataset_node& node) {
  return shown_number(node.as<shuffle_parameters>().buffer);
}

} // namespace

constinit const operator_record shuffle_record{
  .name = "shuffle",
  .arm = schema::Dataset::SHUFFLE,
  .encode = encode_shuffle,
  .decode = decode_shuffle,
  .open = open_shuffle,
  .rows = {.apart = true, .mixed = true, .divides_as_input = true},
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::whole, "mixes the elements of all pieces; save what stands before it, and "
                                "shuffle what is loaded"},
  .draws_order = always,
  .shown = shown_shuffle,
};

} // namespace headrace::detail
