#pragma once

#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/random/groups.hpp"
#include "tests/pipeline/random/orders.hpp"
#include "tests/pipeline/random/reorderings.hpp"
#include "tests/pipeline/random/sources.hpp"
#include "tests/pipeline/random/structures.hpp"

namespace headrace::detail::test::random {

/// Makes random graphs of operators and sources of all kinds.
class generator : public dice {
public:
  /// `redraws`: some operators have no seed, or a different one in each iteration, so that their
  /// elements may come in another order than `sample::want`. The files of the sources are written
  /// into `folder`, which must exist as long as the graphs are read.
  generator(uint64_t seed, const scratch_folder& folder, bool redraws = false)
    : dice(seed), folder_(folder), redraws_(redraws) {}

  sample make(int depth) {
    if (depth == 0)
      return below(8) == 0 ? global_shuffle() : random_source(*this, folder_);
    auto in = make(depth - 1);
    if (in.want.size() > 3000)
      return take(in, 500);
    if (below(redraws_ ? 4 : 10) == 0)
      return shuffle(in);
    if (below(12) == 0)
      return kept(in);
    if (below(8) == 0)
      return through_structures(*this, in);
    switch (below(26)) {
    case 0: return map(in);
    case 1: return divide(in);
    case 2: return filter(in);
    case 3: return flat_map(in);
    case 4:
    case 5: return interleave(in);
    case 6: return unbatch(in);
    case 7: return repeat(in);
    case 8: return take(in, between(0, 60));
    case 9: return skip(in);
    case 10: return concatenate(in, make(depth / 2));
    case 11:
      return {toss() ? make_prefetch(in.graph, between(-1, 5)).value()
                     : make_stats(in.graph, "x", toss()).value(),
              in.want};
    case 12: return take_while(in);
    case 13: return shard(in);
    case 14: return unique(in);
    case 15: return ignore_errors(in);
    case 16: return scan(in);
    case 17: return choose(in, make(depth / 2));
    case 18: return sample_from(in, make(depth / 2));
    case 19: return options(in);
    case 20:
      return toss() ? sample{make_sleep(in.graph, between(0, 2)).value(), in.want} : written(in);
    case 21:
    case 22:
    case 23:
    case 24: return random_group(*this, in);
    default: return sum_zip(in, make(depth / 2));
    }
  }

  /// Applies a random operator that reads `in` only once, and does not keep its elements for a
  /// later pass. The operator and its parameters do not depend on the elements of `in`.
  sample step(const sample& in) {
    switch (below(20)) {
    case 0: return map(in);
    case 1: return divide(in);
    case 2: return filter(in);
    case 3: return flat_map(in);
    case 4:
    case 5: return interleave(in);
    case 6: return unbatch(in);
    case 7: return take(in, between(0, 60));
    case 8: return skip(in);
    case 9:
      return {toss() ? make_prefetch(in.graph, between(-1, 5)).value()
                     : make_stats(in.graph, "x", toss()).value(),
              in.want};
    case 10: return take_while(in);
    case 11: return shard(in);
    case 12: return unique(in);
    case 13: return without_errors(in);
    case 14: return scan(in);
    case 15: return options(in);
    case 16: return {make_sleep(in.graph, between(0, 2)).value(), in.want};
    case 17: return shuffle(in);
    default: return random_group(*this, in);
    }
  }

  /// A graph whose elements come in any order: its option `deterministic` is false, and some of its
  /// operators have a random order.
  sample make_unordered(int depth) {
    auto x = toss() ? random_source(*this, folder_) : reordered_source(*this, folder_);
    for (; depth > 0; --depth) switch (x.want.size() > 3000 ? 6 : below(11)) {
      case 0: x = map(x); break;
      case 1: x = divide(x); break;
      case 2: x = filter(x); break;
      case 3: x = flat_map(x); break;
      case 4: x = interleave(x); break;
      case 5: x = ignore_errors(x); break;
      case 7:
      case 8: x = reordered(*this, x); break;
      case 9: x = kept(x); break;
      case 10: x = sampled_anyhow(*this, x, random_source(*this, folder_)); break;
      default: x = {make_prefetch(x.graph, between(-1, 5)).value(), x.want};
      }
    graph_options chosen{.deterministic = false, .autotune = toss()};
    if (toss())
      chosen.memory = between(1, 1000);
    return {make_options(x.graph, chosen).value(), x.want};
  }

  sample batch(const sample& in) {
    const auto n = static_cast<size_t>(between(1, 12));
    const bool drop = below(2) == 0;
    sample out{make_batch(in.graph, static_cast<int64_t>(n), drop).value(), {}};
    for (size_t i = 0; i < in.want.size(); i += n) {
      const auto end = std::min(in.want.size(), i + n);
      if (drop && end - i < n)
        break;
      element_value row{false, true, {}};
      for (auto j = i; j < end; ++j) {
        row.failed = row.failed || in.want[j].failed;
        if (!in.want[j].failed)
          row.numbers.push_back(in.want[j].numbers[0]);
      }
      out.want.push_back(row);
    }
    return out;
  }

private:
  sample global_shuffle() {
    return !redraws_ || toss() ? shuffled_source(*this, folder_) : reordered_source(*this, folder_);
  }

  sample options(const sample& in) {
    graph_options chosen;
    chosen.deterministic = true;
    chosen.autotune = toss();
    if (toss())
      chosen.threads = between(1, 3);
    if (toss())
      chosen.memory = between(1, 5000);
    return {make_options(in.graph, chosen).value(), in.want};
  }

  template <class F>
  static elements each(const elements& in, F f) {
    elements out;
    for (const auto& x : in) out.push_back(x.failed ? x : f(x.numbers[0]));
    return out;
  }

  sample map(const sample& in) {
    const auto k = between(-3, 3);
    auto f = traced(in.graph, [k](expr x) { return x * k + 7; });
    return {make_map(in.graph, f, below(2) ? 0 : between(-1, 3)).value(),
            each(in.want, [k](int64_t x) { return number(x * k + 7); })};
  }

  // Maps with a function that fails for multiples of 5.
  sample divide(const sample& in) {
    auto f = traced(in.graph, [](expr x) { return 840 / (x % 5); });
    return {make_map(in.graph, f, below(2) ? 0 : 2).value(), each(in.want, [](int64_t x) {
              return x % 5 == 0 ? failure() : number(840 / (x % 5));
            })};
  }

  sample filter(const sample& in) {
    const auto k = between(2, 4);
    auto f = traced(in.graph, [k](expr x) { return x % k == 0; });
    sample out{make_filter(in.graph, f, toss() ? 0 : between(-1, 3)).value(), {}};
    for (const auto& x : in.want)
      if (x.failed || x.numbers[0] % k == 0)
        out.want.push_back(x);
    return out;
  }

  // The numbers from x to x + x % 4 - 1: none where the remainder is not positive.
  static elements inner(int64_t x) {
    elements out;
    for (auto i = x; i < x + x % 4; ++i) out.push_back(number(i));
    return out;
  }
  static function_ptr inner_function(const dataset_ptr& in) {
    return traced(in, [](expr x) {
      return make_range(x.node(), (x + x % 4).node(), scalar_constant(1)).value();
    });
  }

  sample flat_map(const sample& in) {
    sample out{make_flat_map(in.graph, inner_function(in.graph)).value(), {}};
    for (const auto& x : in.want) {
      auto rows = x.failed ? elements{x} : inner(x.numbers[0]);
      out.want.insert(out.want.end(), rows.begin(), rows.end());
    }
    return out;
  }

  sample interleave(const sample& in) {
    const auto cycle = static_cast<size_t>(between(1, 5));
    const auto length = static_cast<size_t>(between(1, 3));
    sample out{make_interleave(in.graph, inner_function(in.graph), static_cast<int64_t>(cycle),
                               static_cast<int64_t>(length), below(3) ? 0 : between(-1, 2))
                 .value(),
               {}};
    struct slot {
      bool open = false;
      elements rows;
      size_t at = 0;
    };
    std::vector<slot> slots(cycle);
    size_t next = 0, place = 0, given = 0, open = 0;
    const auto advance = [&] {
      place = (place + 1) % cycle;
      given = 0;
    };
    while (next < in.want.size() || open != 0) {
      auto& s = slots[place];
      if (s.open && s.at < s.rows.size()) {
        out.want.push_back(s.rows[s.at++]);
        if (++given == length)
          advance();
      } else if (s.open) {
        s.open = false;
        --open;
        advance();
      } else if (next < in.want.size()) {
        const auto& x = in.want[next++];
        s = {true, x.failed ? elements{x} : inner(x.numbers[0]), 0};
        ++open;
      } else {
        advance();
      }
    }
    return out;
  }

  // Batches the elements, and takes the batches apart again.
  sample unbatch(const sample& in) {
    auto rows = batch(in);
    auto f = traced(rows.graph, [](expr x) { return make_from_tensor_slices({x.node()}).value(); });
    return flat(rows.want, make_flat_map(rows.graph, f).value());
  }

  sample take_while(const sample& in) {
    const auto k = between(-10, 60);
    sample out{make_take_while(in.graph, traced(in.graph, [k](expr x) { return x < k; })).value(),
               {}};
    for (const auto& x : in.want) {
      if (!x.failed && x.numbers[0] >= k)
        break;
      out.want.push_back(x);
    }
    return out;
  }

  sample shard(const sample& in) {
    const auto n = between(1, 4), index = between(0, n - 1);
    sample out{make_shard(in.graph, n, index).value(), {}};
    for (auto i = static_cast<size_t>(index); i < in.want.size(); i += static_cast<size_t>(n))
      out.want.push_back(in.want[i]);
    // If the last element of the input failed, every shard gives it as its last element.
    if (const auto last = in.want.size();
        last != 0 && in.want.back().failed
        && (last - 1) % static_cast<size_t>(n) != static_cast<size_t>(index))
      out.want.push_back(in.want.back());
    return out;
  }

  sample unique(const sample& in) {
    sample out{make_unique_elements(in.graph).value(), {}};
    for (const auto& x : in.want) {
      bool known = false;
      for (const auto& y : out.want) known = known || (!y.failed && y.numbers == x.numbers);
      if (x.failed || !known)
        out.want.push_back(x);
    }
    return out;
  }

  static sample without_errors(const sample& in) {
    sample out{make_ignore_errors(in.graph).value(), {}};
    for (const auto& x : in.want)
      if (!x.failed)
        out.want.push_back(x);
    return out;
  }

  sample ignore_errors(const sample& in) {
    auto out = without_errors(in);
    const auto n = static_cast<int64_t>(out.want.size());
    if (out.graph->cardinality < 0 && below(2))
      out.graph = make_assert_cardinality(out.graph, n).value();
    return out;
  }

  // The state is the sum modulo 1000. Some steps fail, and do not change it.
  sample scan(const sample& in) {
    const auto first = between(0, 9);
    auto f = std::make_shared<const function>(trace(
      element_spec::tuple({tensor_spec{dtype::int64, {}}, in.graph->spec}), [](expr sum, expr x) {
        return std::pair{(sum + x) % 1000, sum + 840 / (x % 5 + sum % 3 * 5)};
      }));
    auto sum = first;
    sample out{make_scan(in.graph, {scalar_constant(first)}, f).value(), {}};
    for (const auto& x : in.want) {
      const auto by = x.failed ? 0 : x.numbers[0] % 5 + sum % 3 * 5;
      if (by == 0) {
        out.want.push_back(failure());
        continue;
      }
      out.want.push_back(number(sum + 840 / by));
      sum = (sum + x.numbers[0]) % 1000;
    }
    return out;
  }

  sample choose(const sample& a, const sample& b) {
    auto in = range(0, 200);
    const auto k = between(2, 5);
    auto choices = make_map(in, traced(in, [k](expr x) { return x * x % k % 2; })).value();
    const bool stop = below(2) == 0;
    sample out{make_choose_from(choices, {a.graph, b.graph}, stop).value(), {}};
    const elements* rows[] = {&a.want, &b.want};
    size_t at[] = {0, 0};
    for (int64_t i = 0; i < 200; ++i) {
      const auto which = static_cast<size_t>(i * i % k % 2);
      if (at[which] < rows[which]->size())
        out.want.push_back((*rows[which])[at[which]++]);
      else if (stop)
        break;
    }
    return out;
  }

  // An input whose weight is 0 gives no elements.
  sample sample_from(const sample& a, const sample& b) {
    const std::vector<double> weights{2, static_cast<double>(below(3)), 0.5};
    const uint64_t seed = below(100);
    const bool stop = toss();
    const auto last = random_source(*this, folder_);
    return {make_sample_from({a.graph, b.graph, last.graph}, weights, seed, stop).value(),
            sampled({a.want, b.want, last.want}, weights, seed, stop)};
  }

  // Keeps the elements in memory or in files; half of the graphs repeat them.
  sample kept(const sample& in) {
    sample out{nullptr, in.want};
    switch (below(3)) {
    case 0: out.graph = make_cache(in.graph).value(); break;
    case 1: out.graph = make_cache(in.graph, folder("cache")).value(); break;
    default: {
      const auto path = folder("snapshot");
      out.graph =
        make_snapshot(
          in.graph, path, below(2) ? saved_compression::gzip : saved_compression::snappy, nullptr,
          toss() ? reader_of(path + "/" + fingerprint(in.graph).value(), in.graph->spec) : nullptr)
          .value();
    }
    }
    return below(2) ? repeat(out) : out;
  }
  // Reads the shards of a snapshot one after another; these snapshots have only one shard.
  static dataset_ptr reader_of(const std::string& kept, const element_spec& spec) {
    const auto shards = make_saved_shards(kept).value();
    return make_flat_map(
             shards,
             traced(shards,
                    [&](expr n) {
                      return make_load(kept, spec, -1, unknown_cardinality, n.node()).value();
                    }))
      .value();
  }

  // Writes the same file again for each number, with the number as its only record. Each element
  // becomes the number of records in the file, 1.
  sample written(const sample& in) {
    const auto windows = make_window(in.graph, 1, 1).value();
    const auto path = folder("written");
    const auto f = traced(windows, [&](dataset_ptr w) {
      const auto texts =
        make_map(w, traced(w, [](expr x) { return strings::as_string(x); })).value();
      return make_write_tfrecord(texts, expr{path}.node()).value();
    });
    sample out{make_flat_map(windows, f).value(), in.want};
    for (auto& x : out.want)
      if (!x.failed)
        x = number(1);
    return out;
  }

  std::string folder(const char* kind) {
    return fmt::format("{}/{}-{}", kept_.path(), kind, folders_++);
  }

  sample repeat(const sample& in) {
    const auto n = between(0, 3);
    sample out{make_repeat(in.graph, n).value(), {}};
    for (int64_t i = 0; i < n; ++i) out.want.insert(out.want.end(), in.want.begin(), in.want.end());
    return out;
  }

  sample shuffle(const sample& in) {
    const auto size = between(1, 40);
    const uint64_t seed = below(100);
    if (redraws_ && toss())
      return {make_shuffle(in.graph, size, toss() ? std::optional{seed} : std::nullopt).value(),
              in.want};
    return {make_shuffle(in.graph, size, seed, false).value(),
            shuffled(in.want, static_cast<size_t>(size), seed)};
  }

  sample take(const sample& in, int64_t n) {
    auto want = in.want;
    want.resize(std::min(want.size(), static_cast<size_t>(n)));
    return {make_take(in.graph, n).value(), want};
  }

  sample skip(const sample& in) {
    const auto n = static_cast<size_t>(between(0, 20));
    return {
      make_skip(in.graph, static_cast<int64_t>(n)).value(),
      {in.want.begin() + static_cast<std::ptrdiff_t>(std::min(n, in.want.size())), in.want.end()}};
  }

  sample concatenate(const sample& a, const sample& b) {
    auto want = a.want;
    want.insert(want.end(), b.want.begin(), b.want.end());
    return {make_concatenate(a.graph, b.graph).value(), want};
  }

  sample sum_zip(const sample& a, const sample& b) {
    auto pairs = make_enumerate(make_zip({a.graph, b.graph}).value(), 3).value();
    auto f = traced(pairs, [](expr i, expr_structure both) { return i + both[0] - both[1]; });
    sample out{make_map(pairs, f).value(), {}};
    for (size_t i = 0; i < std::min(a.want.size(), b.want.size()); ++i)
      out.want.push_back(
        a.want[i].failed || b.want[i].failed
          ? failure()
          : number(static_cast<int64_t>(i) + 3 + a.want[i].numbers[0] - b.want[i].numbers[0]));
    return out;
  }

  const scratch_folder& folder_;
  bool redraws_;
  scratch_folder kept_; ///< the caches, snapshots and written files of this generator's graphs
  size_t folders_ = 0;
};

} // namespace headrace::detail::test::random
