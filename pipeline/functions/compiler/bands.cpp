#include "headrace/pipeline/functions/compiler/bands.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

using plan_kind = program::plan::kind;

bool contains(const std::vector<size_t>& items, size_t i) {
  return std::ranges::find(items, i) != items.end();
}

/// True if the step resizes one image in each row to known extents, by a method that computes the
/// result line by line (all but "nearest").
bool starts_bands(const program::plan& plan, const program::plan::step& step) {
  if (step.what != plan_kind::op || plan.items[step.nodes.front()].uniform)
    return false;
  const auto& node = *plan.items[step.nodes.front()].node;
  return node.op == expr_op::resize_image && node.attrs.text != "nearest"
         && node.spec.dims.is_static()
         && node.spec.dims.rank() == 3
         // Images of one line are excluded: a pass over these may also compute values of the same
         // shape that do not depend on the image, and must not be missing if the resize fails.
         && node.spec.dims[0] > 1;
}

/// True if a value of spec `x` is the same for all lines of an image.
bool same_for_all_lines(const tensor_spec& x) {
  return x.type != dtype::string && x.dims.is_static()
         && (x.dims.rank() < 3 || (x.dims.rank() == 3 && x.dims[0] == 1));
}

class joining {
public:
  joining(program::plan& plan, size_t first)
    : plan_(plan), members_{first}, made_(plan.steps[first].nodes) {}

  /// Collects the fused passes over the resized images, up to the first step that reads a result of
  /// a member and cannot join. Returns false if there are no passes, or if the resized images are
  /// also needed elsewhere: by that step or a later one, or as a result of the function.
  bool find_members() {
    const auto image = made_.front();
    bool ends = false;
    for (auto s = members_.front() + 1; s < plan_.steps.size(); ++s) {
      const auto& step = plan_.steps[s];
      if (!reads_made(step))
        continue;
      ends = ends || !may_join(step);
      if (ends && contains(step.inputs, image))
        return false;
      if (ends)
        continue;
      members_.push_back(s);
      made_.insert(made_.end(), step.nodes.begin(), step.nodes.end());
    }
    return members_.size() > 1 && !contains(plan_.results, image);
  }

  /// Replaces the members by one step, in the place of the last member.
  void join() {
    program::plan::step out;
    out.what = plan_kind::bands;
    out.guards = plan_.steps[members_.front()].guards;
    for (auto s : members_) {
      auto& member = plan_.steps[s];
      for (auto in : member.inputs)
        if (!contains(made_, in) && !contains(out.inputs, in))
          out.inputs.push_back(in);
      out.nodes.insert(out.nodes.end(), member.nodes.begin(), member.nodes.end());
      out.members.push_back(std::move(member));
    }
    keep_what_is_read(out);
    plan_.steps[members_.back()] = std::move(out);
    members_.pop_back();
    for (auto s = members_.rbegin(); s != members_.rend(); ++s)
      plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(*s));
  }

private:
  bool reads_made(const program::plan::step& step) const {
    return std::ranges::any_of(step.inputs, [&](size_t in) { return contains(made_, in); });
  }
  bool may_join(const program::plan::step& step) const {
    const auto& image = plan_.items[made_.front()].node->spec.dims;
    return step.what == plan_kind::fused
           && std::ranges::all_of(step.nodes,
                                  [&](size_t i) {
                                    const auto& item = plan_.items[i];
                                    // A `where` cannot join: its condition decides in each row
                                    // which operand's error counts; in bands, all errors count.
                                    return !item.uniform && item.node->spec.dims == image
                                           && item.node->op != expr_op::where;
                                  })
           && std::ranges::all_of(step.inputs, [&](size_t in) {
                return contains(made_, in) || same_for_all_lines(plan_.items[in].node->spec);
              });
  }
  void keep_what_is_read(program::plan::step& out) const {
    const auto read = [&](size_t i) {
      return contains(plan_.results, i)
             || std::ranges::any_of(plan_.steps, [&](const program::plan::step& step) {
                  return contains(step.inputs, i);
                });
    };
    for (const auto& member : out.members)
      for (auto i : member.kept)
        if (read(i))
          out.kept.push_back(i);
  }

  program::plan& plan_;
  std::vector<size_t> members_; ///< the indices of the steps that are joined
  std::vector<size_t> made_;    ///< the indices of the items that the members compute
};

} // namespace

void join_bands(program::plan& plan) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (!starts_bands(plan, plan.steps[s]))
      continue;
    joining bands{plan, s};
    if (bands.find_members()) {
      bands.join();
      --s; // another step has this place now
    }
  }
}

} // namespace headrace::detail
