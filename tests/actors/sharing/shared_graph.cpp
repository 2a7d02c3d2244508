#include "tests/actors/sharing/shared_graph.hpp"

#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/sources/memory/permutation.hpp"

namespace headrace::detail::test::sharing {

namespace {

using random::failure;
using random::number;

// -- sources --------------------------------------------------------------------------

shared_graph source(dataset_ptr graph, uint64_t splits,
                    std::function<elements(uint64_t, uint64_t)> of) {
  auto me = std::make_shared<shared_source>(shared_source{0, splits, std::move(of)});
  const auto rows = [](given_splits& given, std::shared_ptr<shared_source> from,
                       uint64_t pass) -> lazy_rows {
    pass = given.enter(from->number, pass);
    for (auto split : given.of(from->number, pass))
      for (auto& x : from->of(split, pass)) co_yield x;
  };
  return {std::move(graph),
          [me, rows](given_splits& given) { return rows(given, me, given.start(me->number)); },
          {me}};
}

shared_graph some_source(dice& die, const scratch_folder& folder, bool never_empty) {
  const auto n = static_cast<uint64_t>(die.between(never_empty ? 1 : 0, 60));
  const auto count = static_cast<int64_t>(n);
  static int files = 0;
  switch (die.below(6)) {
  case 0:
    return source(make_from_tensors({scalar_constant(7)}).value(), 1,
                  [](uint64_t, uint64_t) { return elements{number(7)}; });
  case 1: { // a split is a file
    const auto lines = die.between(1, 4);
    std::vector<std::string> names;
    for (int64_t i = 0; i < std::min<int64_t>(count, 12); ++i) {
      std::string text;
      for (int64_t k = 0; k < lines; ++k) text += fmt::format("{}\n", i * 10 + k);
      names.push_back(folder.write(fmt::format("shared-{}", files++), text));
    }
    if (names.empty())
      names.push_back(folder.write(fmt::format("shared-{}", files++), ""));
    const bool none = count == 0;
    auto rows = make_text_lines(string_constant(names)).value();
    auto numbers =
      make_map(rows, traced(rows, [](expr x) { return strings::to_number(x, dtype::int64); }))
        .value();
    return source(numbers, names.size(), [lines, none](uint64_t split, uint64_t) {
      elements out;
      for (int64_t k = 0; k < lines && !none; ++k)
        out.push_back(number(static_cast<int64_t>(split) * 10 + k));
      return out;
    });
  }
  case 2: { // another order in each pass, the same for all tasks
    const auto seed = static_cast<uint64_t>(die.between(0, 99));
    auto shuffled = make_global_shuffle(range(0, count), seed, true).value();
    const auto once = detail::mix(random::key_of(seed), 0);
    return source(shuffled, n, [n, once](uint64_t split, uint64_t pass) {
      const detail::permutation order{n,
                                      detail::mix(once, pass == 0 ? 0 : detail::mix(0x9a55, pass))};
      return elements{number(static_cast<int64_t>(order.at(split)))};
    });
  }
  default: {
    const auto first = die.between(-20, 20);
    return source(range(first, first + count), n, [first](uint64_t split, uint64_t) {
      return elements{number(first + static_cast<int64_t>(split))};
    });
  }
  }
}

// -- operators of one input -----------------------------------------------------------

/// Adds a random operator whose expected elements `generator::step` computes from all elements of
/// its input. Each computation draws the same operator, from the same seed.
shared_graph lifted(dice& die, shared_graph in, const scratch_folder& folder) {
  const auto seed = static_cast<uint64_t>(die.between(0, 1'000'000'000));
  const auto apply = [seed, &folder](const dataset_ptr& to, elements rows) {
    random::generator make{seed, folder};
    return make.step({to, std::move(rows)});
  };
  shared_graph out{apply(in.graph, {}).graph, {}, in.sources, false, in.unsure, true};
  // The expected elements are computed from all elements of the input, and a task may read fewer:
  // then it is unknown in which pass its next reading begins.
  out.unsure |= in.ahead && may_close(*out.graph);
  const auto rows = [](lazy_rows from, auto f, dataset_ptr graph,
                       given_splits& given) -> lazy_rows {
    elements all;
    const bool starved = given.starved();
    while (auto x = from.next()) all.push_back(*x);
    given.starved(starved);
    for (auto& x : f(graph, std::move(all)).want) co_yield x;
  };
  out.open = [in, apply, rows](given_splits& given) {
    return rows(in.open(given), apply, in.graph, given);
  };
  return out;
}

shared_graph mapped(shared_graph in) {
  auto out = in;
  out.graph = make_map(in.graph, traced(in.graph, [](expr x) { return x * 2 + 1; })).value();
  const auto rows = [](lazy_rows from) -> lazy_rows {
    while (auto x = from.next()) {
      if (!x->failed)
        x->numbers[0] = x->numbers[0] * 2 + 1;
      co_yield *x;
    }
  };
  out.open = [in, rows](given_splits& given) { return rows(in.open(given)); };
  return out;
}

shared_graph taken(shared_graph in, int64_t n) {
  auto out = in;
  out.graph = make_take(in.graph, n).value();
  out.unsure |= in.ahead;
  out.endless = false;
  const auto rows = [](lazy_rows from, int64_t left) -> lazy_rows {
    while (left-- > 0) {
      auto x = from.next();
      if (!x)
        break;
      co_yield *x;
    }
  };
  out.open = [in, n, rows](given_splits& given) { return rows(in.open(given), n); };
  return out;
}

/// Repeats `in` `n` times. With `n` below 0 the dataset has no end, and the expected elements are
/// those of all passes for which there are splits.
shared_graph repeated(shared_graph in, int64_t n) {
  auto out = in;
  out.graph = make_repeat(in.graph, n).value();
  out.ahead = true;
  out.endless = n < 0;
  const auto rows = [](shared_graph from, int64_t times, given_splits& given) -> lazy_rows {
    const auto known = [&] {
      for (const auto& x : from.sources)
        if (given.last_pass(x->number) >= given.started(x->number))
          return true;
      return false;
    };
    for (int64_t i = 0; times < 0 ? i == 0 || known() : i < times; ++i)
      for (auto pass = from.open(given); auto x = pass.next();) co_yield *x;
    if (times < 0)
      given.starve();
  };
  out.open = [in, n, rows](given_splits& given) { return rows(in, n, given); };
  return out;
}

/// Adds a cache in memory, which keeps the elements of the first whole pass without an error row.
shared_graph kept(shared_graph in) {
  auto out = in;
  out.graph = make_cache(in.graph).value();
  const auto me = std::make_shared<int>(0);
  const auto rows = [](shared_graph from, given_splits& given,
                       std::shared_ptr<int> key) -> lazy_rows {
    if (const auto* whole = given.kept(key.get())) {
      for (const auto& x : *whole) co_yield x;
      co_return;
    }
    elements all;
    bool failed = false;
    for (auto pass = from.open(given); auto x = pass.next();) {
      failed |= x->failed;
      all.push_back(*x);
      co_yield *x;
    }
    if (!failed)
      given.keep(key.get(), std::move(all));
  };
  out.open = [in, me, rows](given_splits& given) { return rows(in, given, me); };
  return out;
}

// -- operators of several -------------------------------------------------------------

shared_graph merged(dataset_ptr graph, const shared_graph& a, const shared_graph& b) {
  shared_graph out{std::move(graph), {}, a.sources, false, false, true};
  out.sources.insert(out.sources.end(), b.sources.begin(), b.sources.end());
  return out;
}

shared_graph concatenated(const shared_graph& a, const shared_graph& b) {
  auto out = merged(make_concatenate(a.graph, b.graph).value(), a, b);
  out.unsure = a.unsure || b.unsure;
  out.open = [a, b](given_splits& given) {
    return [](shared_graph x, shared_graph y, given_splits& to) -> lazy_rows {
      for (auto rows = x.open(to); auto e = rows.next();) co_yield *e;
      for (auto rows = y.open(to); auto e = rows.next();) co_yield *e;
    }(a, b, given);
  };
  return out;
}

shared_graph zipped(const shared_graph& a, const shared_graph& b) {
  auto pairs = make_zip({a.graph, b.graph}).value();
  auto sums = make_map(pairs, traced(pairs, [](expr x, expr y) { return x - y; })).value();
  auto out = merged(sums, a, b);
  out.unsure = a.unsure || b.unsure || a.ahead || b.ahead;
  out.open = [a, b](given_splits& given) {
    return [](lazy_rows x, lazy_rows y) -> lazy_rows {
      for (;;) {
        auto l = x.next();
        if (!l)
          co_return;
        const auto r = y.next();
        if (!r)
          co_return;
        if (!l->failed && !r->failed)
          l->numbers[0] -= r->numbers[0];
        else
          l = failure();
        co_yield *l;
      }
    }(a.open(given), b.open(given));
  };
  return out;
}

/// Chooses between two inputs. Each task reads all choices: they are not divided among the tasks.
shared_graph chosen(dice& die, const shared_graph& a, const shared_graph& b) {
  const auto n = die.between(0, 90), k = die.between(2, 5);
  const bool stop = die.toss();
  auto in = range(0, n);
  auto choices = make_map(in, traced(in, [k](expr x) { return x * x % k % 2; })).value();
  auto out = merged(make_choose_from(choices, {a.graph, b.graph}, stop).value(), a, b);
  out.unsure = true;
  out.open = [=](given_splits& given) {
    return [](lazy_rows x, lazy_rows y, int64_t count, int64_t by, bool stops) -> lazy_rows {
      bool ended[2] = {false, false};
      for (int64_t i = 0; i < count && !(ended[0] && ended[1]); ++i) {
        const auto which = i * i % by % 2;
        std::optional<element_value> e;
        if (!ended[which])
          e = (which == 0 ? x : y).next();
        if (e) {
          co_yield *e;
          continue;
        }
        ended[which] = true;
        if (stops)
          co_return;
      }
    }(a.open(given), b.open(given), n, k, stop);
  };
  return out;
}

shared_graph sampled_from(dice& die, const shared_graph& a, const shared_graph& b) {
  const std::vector<double> weights{2, static_cast<double>(die.between(0, 2))};
  const auto seed = static_cast<uint64_t>(die.between(0, 99));
  const bool stop = die.toss();
  auto out = merged(make_sample_from({a.graph, b.graph}, weights, seed, stop).value(), a, b);
  out.unsure = true;
  out.open = [=](given_splits& given) {
    return [](lazy_rows x, lazy_rows y, std::vector<double> left, uint64_t key,
              bool stops) -> lazy_rows {
      detail::counter_random draw{random::key_of(key)};
      for (uint64_t draws = 0;;) {
        const double total = left[0] + left[1];
        if (total == 0)
          co_return;
        const auto point = static_cast<double>(draw.bits(draws) >> 11) * 0x1p-53 * total;
        const size_t which = left[0] == 0 || (left[1] != 0 && point >= left[0]) ? 1 : 0;
        if (auto e = (which == 0 ? x : y).next()) {
          ++draws;
          co_yield *e;
          continue;
        }
        if (stops)
          co_return;
        left[which] = 0;
      }
    }(a.open(given), b.open(given), weights, seed, stop);
  };
  return out;
}

/// Repeats a graph, or maps it instead: with a probability of 1/8, and always if the graph must not
/// be repeated or is empty, because a repeated empty graph would end at once.
shared_graph again(dice& die, const shared_graph& in, int64_t n) {
  return in.unsure || in.graph->cardinality == 0 || die.below(8) == 0 ? mapped(in)
                                                                      : repeated(in, n);
}

shared_graph make(dice& die, int depth, const scratch_folder& folder) {
  if (depth == 0)
    return some_source(die, folder, false);
  if (die.below(8) == 0) { // a part of a dataset without end
    auto pass = some_source(die, folder, true);
    return taken(repeated(die.toss() ? mapped(pass) : pass, -1), die.between(0, 150));
  }
  auto in = make(die, depth - 1, folder);
  switch (die.below(14)) {
  case 0: return taken(in, die.between(0, 40));
  case 1:
  case 2: return again(die, in, die.between(0, 4));
  case 3: return concatenated(in, make(die, depth / 2, folder));
  case 4: return zipped(in, make(die, depth / 2, folder));
  case 5: { // `other` has no end, so the zip ends with `in`
    auto other = repeated(some_source(die, folder, true), -1);
    return die.toss() ? zipped(in, other) : zipped(other, in);
  }
  case 6: return chosen(die, in, make(die, depth / 2, folder));
  case 7: return sampled_from(die, in, make(die, depth / 2, folder));
  case 8: return again(die, kept(in), die.between(1, 3));
  case 9: return mapped(in);
  default: return lifted(die, in, folder);
  }
}

} // namespace

shared_graph random_shared_graph(dice& die, int depth, const scratch_folder& folder) {
  auto out = make(die, depth, folder);
  uint32_t next = 0;
  for (const auto& x : out.sources) x->number = next++;
  return out;
}

std::string text_of(const dataset_node& graph) {
  std::string out{to_string(graph.op)};
  if (const auto* take = graph.find<take_parameters>())
    out += fmt::format("[{}]", take->count.value());
  if (const auto* repeat = graph.find<repeat_parameters>())
    out += fmt::format("[{}]", repeat->count.value());
  if (graph.inputs.empty())
    return out;
  out += "(";
  for (const auto& input : graph.inputs) out += text_of(*input) + ", ";
  out.resize(out.size() - 2);
  return out + ")";
}

bool may_close(const dataset_node& graph) {
  switch (graph.op) {
  case dataset_op::take:
  case dataset_op::take_while:
  case dataset_op::zip:
  case dataset_op::choose_from:
  case dataset_op::sample_from:
  case dataset_op::single_element:
  case dataset_op::last_element: return true;
  default: return std::ranges::any_of(graph.inputs, [](const auto& x) { return may_close(*x); });
  }
}

} // namespace headrace::detail::test::sharing
