#include "headrace/pipeline/functions/compiler/image_parts.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace headrace::detail {

namespace {

/// True if the node decodes whole images that are, or may be, JPEGs. Only JPEGs can be decoded in
/// parts.
bool decodes_whole(const expr_node& node) {
  return node.op == expr_op::decode_image && node.inputs.size() == 1 && !node.attrs.flag
         && node.attrs.text != "png";
}

/// True if the ranks of all operands are known, so that they need not be checked in each row.
bool has_known_ranks(const expr_node& node) {
  return std::ranges::all_of(node.inputs, [](const auto& x) { return x->spec.dims.has_rank(); });
}

/// The uses of a node by other nodes and by the results.
struct uses {
  size_t slices = 0;  ///< the number of its slices
  size_t resizes = 0; ///< the number of its resizes by a method other than "nearest"
  size_t extents = 0; ///< the number of uses of its extents alone
  size_t others = 0;
};

class rewriter {
public:
  explicit rewriter(const std::vector<expr_ptr>& tensors) {
    for (const auto& tensor : tensors) {
      visit(tensor);
      ++uses_[tensor.get()].others;
    }
  }

  bool has_images() const {
    return std::ranges::any_of(order_, [](const auto& node) { return decodes_whole(*node); });
  }

  std::vector<expr_ptr> run(const std::vector<expr_ptr>& tensors) {
    for (const auto& node : order_) made_.emplace(node.get(), make(node));
    std::vector<expr_ptr> out;
    for (const auto& tensor : tensors) out.push_back(made_.at(tensor.get()));
    return out;
  }

private:
  /// Appends the node, and before it all nodes that it needs, to `order_`, and counts their uses.
  /// There is no recursion, because chains of nodes may be long.
  void visit(const expr_ptr& root) {
    std::vector<std::pair<const expr_ptr*, size_t>> open{{&root, 0}};
    while (!open.empty()) {
      auto& [at, next] = open.back();
      const auto& node = *at;
      if (next == 0 && seen_.contains(node.get())) {
        open.pop_back();
        continue;
      }
      if (next == node->inputs.size()) {
        seen_.emplace(node.get(), order_.size());
        order_.push_back(node);
        open.pop_back();
        continue;
      }
      const auto number = next++;
      const auto& input = node->inputs[number];
      auto& used = uses_[input.get()];
      if (node->op == expr_op::slice_at && number == 0)
        ++used.slices;
      else if (node->op == expr_op::resize_image && node->attrs.text != "nearest")
        ++used.resizes;
      else
        ++(node->op == expr_op::shape_of ? used.extents : used.others);
      open.emplace_back(&input, 0);
    }
  }

  bool needed_whole(const expr_node& image) const {
    const auto& used = uses_.at(&image);
    // The extents of a PNG are found only by decoding it, so an image that may be a PNG is decoded
    // once as a whole if both its extents and a resize of it are used.
    return used.others != 0 || used.slices + used.resizes > 1
           || (used.resizes != 0 && used.extents != 0 && image.attrs.text != "jpeg");
  }

  expr_ptr make(const expr_ptr& node) const {
    if ((node->op == expr_op::shape_of || node->op == expr_op::slice_at)
        && decodes_whole(*node->inputs[0]) && !needed_whole(*node->inputs[0]))
      return make_part(*node);
    std::vector<expr_ptr> inputs;
    for (const auto& input : node->inputs) inputs.push_back(made_.at(input.get()));
    if (resizes_decoded(*node))
      return resized_while_decoded(*node, inputs[0]);
    if (inputs == node->inputs)
      return node;
    auto out = std::make_shared<expr_node>(*node);
    out->inputs = std::move(inputs);
    return out;
  }

  /// True if `node` resizes a decoded image or a slice of a decoded image, by a method other than
  /// "nearest", and no other node needs the pixels of that image or slice.
  bool resizes_decoded(const expr_node& node) const {
    if (node.op != expr_op::resize_image || node.attrs.text == "nearest")
      return false;
    const auto& image = *node.inputs[0];
    if (image.spec.type != dtype::uint8)
      return false;
    if (decodes_whole(image))
      return has_known_ranks(image) && !needed_whole(image);
    const auto& used = uses_.at(&image);
    return image.op == expr_op::slice_at && has_known_ranks(image)
           && has_known_ranks(*image.inputs[0]) && used.resizes == 1
           && used.slices + used.extents + used.others == 0 && decodes_whole(*image.inputs[0])
           && !needed_whole(*image.inputs[0]);
  }

  static expr_ptr resized_while_decoded(const expr_node& resize, const expr_ptr& decode) {
    auto out = std::make_shared<expr_node>(resize);
    out->inputs = decode->inputs;
    out->prepared = decode;
    return out;
  }

  /// A node that decodes only the part of an image that `of` returns: a slice, or the extents.
  expr_ptr make_part(const expr_node& of) const {
    const auto& image = *of.inputs[0];
    auto out = std::make_shared<expr_node>(image);
    out->spec = of.spec;
    out->inputs = {made_.at(image.inputs[0].get())};
    if (of.op == expr_op::shape_of) {
      out->attrs.flag = true;
      return out;
    }
    for (size_t i = 1; i < of.inputs.size(); ++i)
      out->inputs.push_back(made_.at(of.inputs[i].get()));
    out->attrs.dims.insert(out->attrs.dims.end(), of.attrs.dims.begin(), of.attrs.dims.end());
    return out;
  }

  std::vector<expr_ptr> order_;
  std::unordered_map<const expr_node*, size_t> seen_;
  std::unordered_map<const expr_node*, uses> uses_;
  std::unordered_map<const expr_node*, expr_ptr> made_;
};

} // namespace

std::vector<expr_ptr> with_parts_of_images(const std::vector<expr_ptr>& tensors) {
  rewriter all{tensors};
  return all.has_images() ? all.run(tensors) : tensors;
}

} // namespace headrace::detail
