#include "headrace/pipeline/makers/auto_shard.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/reads_files.hpp"
#include "headrace/pipeline/graph/rewrite.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

namespace headrace::detail {

namespace {

/// The buffer size of shuffles of file names: so large that usually all names are shuffled.
constexpr int64_t all_names = int64_t{1} << 20;

status cannot_shard(sharding_policy policy, std::string why) {
  return invalid_argument(fmt::format("processing mode {}: {}", to_string(policy), why));
}

bool is_hint(const dataset_node& x) {
  const auto* shard = x.find<shard_parameters>();
  return shard != nullptr && shard->shards == shard_hint;
}

bool holds_hint(const dataset_ptr& graph) {
  return any_node(graph, [](const dataset_node& x) { return is_hint(x); });
}

/// The common part of all policies: it puts a shard operator over rows that are the same on all
/// workers.
class divider {
public:
  divider(const dataset_node& graph, sharding_policy policy, const shard_place& place)
    : policy_(policy), options_(options_of(graph)), place_(place) {}

  /// Puts a shard operator over `rows`. `run`: the number of consecutive rows that one worker
  /// keeps.
  result<dataset_ptr> divide(const dataset_ptr& rows, int64_t run = 1) {
    if (any_node(rows, [](const dataset_node& x) { return x.op == dataset_op::distribute; }))
      return cannot_shard(policy_,
                          "what is divided reads from another job with distribute, which does "
                          "not give the same to each worker; distribute once");
    HEADRACE_ASSIGN(auto in, in_order(rows));
    return make_shard(std::move(in), place_.shards, place_.index, run);
  }

  /// A copy of a node with other inputs, which were divided between the workers.
  dataset_ptr over(const dataset_node& node, std::vector<dataset_ptr> inputs) const {
    auto out = node;
    out.inputs = std::move(inputs);
    // Workers may use the same folder, but each keeps other elements in its cache, so each gets a
    // subfolder of its own.
    if (node.op == dataset_op::cache)
      if (auto& folder = out.as<cache_parameters>().folder; !folder.empty())
        folder += fmt::format("/shard-{}-of-{}", place_.index, place_.shards);
    return finish_over(std::move(out));
  }

  const shard_place& place() const noexcept { return place_; }

private:
  /// The rows in an order that is the same on all workers: operators with parallel calls that may
  /// change the order are set to keep it.
  result<dataset_ptr> in_order(const dataset_ptr& rows) {
    return rewrite_nodes(rows, [this](dataset_node& x, bool) {
      if (!may_reorder(x, options_))
        return false;
      x.calls.deterministic = true;
      return true;
    });
  }

  sharding_policy policy_;
  graph_options options_;
  shard_place place_;
};

// -- FILE -------------------------------------------------------------------------------------

class file_divider {
public:
  file_divider(const dataset_node& graph, sharding_policy policy, const shard_place& place,
               const count_names& count)
    : policy_(policy), count_(count), divide_(graph, policy, place) {}

  /// Visits each path from the output down to the first node that lists or reads files.
  result<dataset_ptr> visit(const dataset_ptr& node) {
    if (const auto known = made_.find(node.get()); known != made_.end())
      return known->second;
    HEADRACE_ASSIGN(auto out, make(node));
    made_.emplace(node.get(), out);
    return out;
  }
  /// True if the division failed because a path has no source over files whose names are known, or
  /// because there are too few files.
  bool lacks_files() const noexcept { return lacks_; }

private:
  status lacks(std::string why) {
    lacks_ = true;
    return cannot_shard(policy_, std::move(why));
  }
  status too_few(int64_t files) {
    return lacks(fmt::format("there {} for {} workers; each needs one at least, or use DATA or "
                             "FILE_OR_DATA",
                             files == 1 ? "is 1 file" : fmt::format("are {} files", files),
                             divide_.place().shards));
  }

  result<dataset_ptr> make(const dataset_ptr& node) {
    if (node->op == dataset_op::list_files)
      return names(node);
    if (reads_named_files(node->op))
      return reader(*node);
    if (node->inputs.empty())
      return lacks(fmt::format("{} is no source over files; use DATA or FILE_OR_DATA, or, if it "
                               "gives names of files, read them in an interleave or flat_map",
                               to_string(node->op)));
    if (node->op == dataset_op::distribute)
      return lacks("distribute is no source over files");
    auto inputs = node->inputs;
    if (node->body && node->body->dataset && reads_files(node->body->dataset)) {
      HEADRACE_ASSIGN(inputs[0], names(inputs[0]));
    } else {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (is_whole(*node, i))
          continue;
        HEADRACE_ASSIGN(inputs[i], visit(inputs[i]));
      }
    }
    return divide_.over(*node, std::move(inputs));
  }

  /// The source, with the names of the files of this worker only.
  result<dataset_ptr> reader(const dataset_node& node) {
    const auto* files = constant_of(node.tensors[0]);
    if (files == nullptr)
      return lacks(fmt::format("the names of the files of {} are computed; give them as they are, "
                               "or use DATA or FILE_OR_DATA",
                               to_string(node.op)));
    const auto n = static_cast<int64_t>(files->total_values());
    const auto& place = divide_.place();
    const auto shards = place.shards, index = place.index;
    if (n < shards)
      return too_few(n);
    std::vector<std::string> own;
    for (auto i = index; i < n; i += shards)
      own.emplace_back(files->string(static_cast<size_t>(i)));
    auto out = node;
    out.tensors[0] = string_constant(own);
    return finish_over(std::move(out));
  }

  /// Divides a dataset of file names. The shard operator is put below operators such as shuffle and
  /// repeat, at a place where all workers have the same names in each pass.
  result<dataset_ptr> names(const dataset_ptr& node) {
    if (record_of(*node).rows.divides_as_input) {
      HEADRACE_ASSIGN(auto input, names(node->inputs[0]));
      return divide_.over(*node, {std::move(input)});
    }
    if (const auto* listed = node->find<list_files_parameters>(); listed && listed->shuffle) {
      auto sorted = *node;
      sorted.parameters = list_files_parameters{};
      HEADRACE_ASSIGN(auto own, names(finish_over(std::move(sorted))));
      return make_shuffle(std::move(own), all_names, listed->seed);
    }
    HEADRACE_TRY(check_enough(node));
    return divide_.divide(node);
  }

  status check_enough(const dataset_ptr& names) {
    auto n = names->cardinality;
    const auto shards = divide_.place().shards;
    if (n == unknown_cardinality && count_) {
      auto counted = count_(names, shards);
      if (!counted)
        return counted.status().with_context(
          fmt::format("processing mode {}: cannot count the files", to_string(policy_)));
      n = *counted;
    }
    return n >= 0 && n < shards ? too_few(n) : status{};
  }

  sharding_policy policy_;
  const count_names& count_;
  divider divide_;
  std::unordered_map<const dataset_node*, dataset_ptr> made_;
  bool lacks_ = false;
};

// -- DATA -------------------------------------------------------------------------------------

result<dataset_ptr> by_data(const dataset_ptr& node, divider& divide) {
  if (!record_of(*node).rows.untouched)
    return divide.divide(node, divide.place().run);
  HEADRACE_ASSIGN(auto input, by_data(node->inputs[0], divide));
  return divide.over(*node, {std::move(input)});
}

// -- HINT -------------------------------------------------------------------------------------

/// Replaces each `shard(shard_hint, ...)` by a division for this worker, in the graph and in the
/// datasets that functions make.
class hint_filler {
public:
  explicit hint_filler(divider& divide) : divide_(divide) {}

  result<dataset_ptr> visit(const dataset_ptr& node) {
    if (!holds_hint(node))
      return node;
    if (const auto known = made_.find(node.get()); known != made_.end())
      return known->second;
    auto inputs = node->inputs;
    for (auto& x : inputs) {
      HEADRACE_ASSIGN(x, visit(x));
    }
    auto out =
      is_hint(*node) ? divide_.divide(inputs[0]) : result{divide_.over(*node, std::move(inputs))};
    HEADRACE_TRY(out.status());
    if (node->body && node->body->dataset) {
      auto body = *node->body;
      HEADRACE_ASSIGN(body.dataset, visit(body.dataset));
      auto with_body = **out;
      with_body.body = std::make_shared<const function>(std::move(body));
      out = finish_over(std::move(with_body));
    }
    made_.emplace(node.get(), *out);
    return out;
  }

private:
  divider& divide_;
  std::unordered_map<const dataset_node*, dataset_ptr> made_;
};

} // namespace

result<dataset_ptr> auto_shard(const dataset_ptr& graph, sharding_policy policy,
                               const shard_place& place, const count_names& count) {
  const bool hint = holds_hint(graph);
  if (hint && policy != sharding_policy::hint)
    return cannot_shard(policy, "the graph has a shard(SHARD_HINT, ...), which only HINT fills in");
  divider divide{*graph, policy, place};
  switch (policy) {
  case sharding_policy::off:
  case sharding_policy::dynamic: return graph;
  case sharding_policy::data: return by_data(graph, divide);
  case sharding_policy::hint:
    if (!hint)
      return cannot_shard(policy,
                          "the graph has no shard(SHARD_HINT, ...) that says where it is to be "
                          "divided; add one, or use DATA");
    return hint_filler{divide}.visit(graph);
  case sharding_policy::file:
  case sharding_policy::file_or_data: break;
  }
  file_divider by_file{*graph, policy, place, count};
  auto out = by_file.visit(graph);
  if (!out && by_file.lacks_files() && policy == sharding_policy::file_or_data)
    return by_data(graph, divide);
  return out;
}

} // namespace headrace::detail
