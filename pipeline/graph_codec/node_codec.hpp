#pragma once

#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph_codec/graph_decoder.hpp"
#include "headrace/pipeline/graph_codec/graph_encoder.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

/// The arguments of the encode and decode functions of operators.
namespace headrace::detail {

schema::Options::Choice to_schema(const std::optional<bool>& x);
result<std::optional<bool>> from_schema(schema::Options::Choice x);

/// Writes one node. The nodes to which it refers are written as numbers.
class node_writer {
public:
  node_writer(const graph_encoder& numbers, const dataset_node& node, schema::Dataset::Builder out)
    : out(out), numbers_(numbers), node_(node) {}

  schema::Dataset::Builder out;

  uint32_t input(size_t i = 0) const { return numbers_.number(node_.inputs[i]); }
  uint32_t tensor(size_t i) const { return numbers_.number(node_.tensors[i]); }
  uint32_t body() const { return numbers_.number(node_.body); }
  /// Writes the numbers of the inputs from `first` on.
  void inputs(::capnp::List<uint32_t>::Builder to, size_t first = 0) const {
    for (unsigned i = 0; i < to.size(); ++i) to.set(i, input(first + i));
  }
  void tensors(::capnp::List<uint32_t>::Builder to) const {
    for (unsigned i = 0; i < to.size(); ++i) to.set(i, tensor(i));
  }
  unsigned tensors() const noexcept { return static_cast<unsigned>(node_.tensors.size()); }
  /// Writes the expression that computes a number of the operator, if the number is not constant
  /// (see `known_number`). @pre the node has no other tensors
  template <class Out>
  void computed(Out& out) const {
    if (!node_.tensors.empty())
      tensors(out.initComputed(tensors()));
  }

  /// The next three functions write fields that several operators have, and return `to`.
  /// `over_input` writes the input; `with_body` the function and the input; `with_calls` the number
  /// and order of parallel calls, the function and the input.
  template <class To>
  To over_input(To to) const {
    to.setInput(input());
    return to;
  }
  template <class To>
  To with_body(To to) const {
    to.setFunction(body());
    return over_input(to);
  }
  template <class To>
  To with_calls(To to) const {
    to.setParallel(node_.calls.count);
    to.setDeterministic(to_schema(node_.calls.deterministic));
    return with_body(to);
  }
  /// Writes tensors and their structure.
  template <class To>
  void arranged_tensors(To to) const {
    tensors(to.initTensors(tensors()));
    encode(node_.spec.layout, to.initLayout());
  }
  /// Writes the number of the first tensor, which names files, and the compression of the files.
  void files(schema::Files::Builder to) const {
    to.setNames(tensor(0));
    to.setCompression(to_schema(compression_of_files(node_)));
  }

private:
  const graph_encoder& numbers_;
  const dataset_node& node_;
};

/// Reads one node. The nodes to which it refers were read before.
class node_reader {
public:
  node_reader(graph_decoder& graph, graph_decoder::decoded<dataset_ptr>& node,
              schema::Dataset::Reader in)
    : in(in), graph_(graph), node_(node) {}

  schema::Dataset::Reader in;

  result<dataset_ptr> input(uint32_t number) { return graph_.input(number, node_); }
  result<std::vector<dataset_ptr>> inputs(::capnp::List<uint32_t>::Reader numbers) {
    return graph_.inputs(numbers, node_);
  }
  result<expr_ptr> tensor(uint32_t number) { return graph_.tensor(number, node_); }
  result<std::vector<expr_ptr>> tensors(::capnp::List<uint32_t>::Reader numbers) {
    return graph_.tensors(numbers, node_);
  }
  /// A numeric argument of the operator: the expression `computed`, or `known` if there is none.
  result<number_argument> number(int64_t known, ::capnp::List<uint32_t>::Reader computed) {
    HEADRACE_ASSIGN(auto all, tensors(computed));
    return all.empty() ? number_argument{known} : number_argument{std::move(all.front())};
  }
  result<function_ptr> body(uint32_t number) { return graph_.body(number, node_); }
  /// How the files of a source are compressed.
  static result<file_compression> compression_of(dataset_op op, schema::Files::Reader files) {
    return in_operator(op, from_schema(files.getCompression()));
  }

private:
  graph_decoder& graph_;
  graph_decoder::decoded<dataset_ptr>& node_;
};

} // namespace headrace::detail
