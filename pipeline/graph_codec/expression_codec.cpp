#include "headrace/pipeline/graph_codec/expression_codec.hpp"

#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

using what = slice_spec::kind;

void encode(const slice_spec& x, schema::Slice::Builder out) {
  switch (x.what) {
  case what::index: out.setIndex(x.start); return;
  case what::new_axis: out.setNewAxis(); return;
  case what::ellipsis: out.setEllipsis(); return;
  case what::range: break;
  }
  auto range = out.initRange();
  range.setStart(x.start);
  range.setStop(x.stop);
  range.setStep(x.step);
  range.setHasStart(x.has_start);
  range.setHasStop(x.has_stop);
}

result<slice_spec> decode(schema::Slice::Reader in) {
  slice_spec out;
  switch (in.which()) {
  case schema::Slice::INDEX:
    out.what = what::index;
    out.start = in.getIndex();
    return out;
  case schema::Slice::NEW_AXIS: out.what = what::new_axis; return out;
  case schema::Slice::ELLIPSIS: out.what = what::ellipsis; return out;
  case schema::Slice::RANGE: {
    auto range = in.getRange();
    out.start = range.getStart();
    out.stop = range.getStop();
    out.step = range.getStep();
    out.has_start = range.getHasStart();
    out.has_stop = range.getHasStop();
    return out;
  }
  }
  return invalid_argument("an index of a kind that this build does not know");
}

void encode(const feature_spec& x, schema::Feature::Builder out) {
  out.setName(text_of(x.name));
  out.setDtype(static_cast<uint8_t>(x.type));
  detail::encode(x.dims, out.initShape());
  out.setVariable(x.variable);
  out.setSequence(x.sequence);
  out.setInLists(x.in_lists);
  if (!x.index_name.empty())
    out.setIndexName(text_of(x.index_name));
  out.setSize(x.size);
  if (x.has_default)
    detail::encode(x.default_value, out.initDefault());
}

result<feature_spec> decode(schema::Feature::Reader in) {
  feature_spec out;
  out.name = string_of(in.getName());
  HEADRACE_ASSIGN(out.type, decode_dtype(in.getDtype()));
  HEADRACE_ASSIGN(out.dims, detail::decode(in.getShape()));
  out.variable = in.getVariable();
  out.sequence = in.getSequence();
  out.in_lists = in.getInLists();
  out.index_name = string_of(in.getIndexName());
  out.size = in.getSize();
  out.has_default = in.hasDefault();
  if (out.has_default) {
    HEADRACE_ASSIGN(out.default_value, detail::decode(in.getDefault()));
  }
  return out;
}

template <class List, class Numbers>
void set_all(List to, const Numbers& from) {
  for (unsigned i = 0; i < to.size(); ++i) to.set(i, from[i]);
}

} // namespace

void encode(const expr_node& x, const expression_numbers& numbers,
            schema::Expression::Builder out) {
  const auto size = [](const auto& list) { return static_cast<unsigned>(list.size()); };
  out.setOp(static_cast<uint16_t>(x.op));
  out.setIndex(x.attrs.index);
  if (x.op == expr_op::parameter) {
    out.setFunction(numbers.function);
    return; // the other properties follow from the function's argument
  }
  if (x.op == expr_op::constant) {
    detail::encode(x.attrs.value, out.initValue());
    return;
  }
  out.setDtype(static_cast<uint8_t>(x.spec.type));
  out.setFlag(x.attrs.flag);
  set_all(out.initInputs(size(numbers.inputs)), numbers.inputs);
  set_all(out.initAxes(size(x.attrs.axes)), x.attrs.axes);
  set_all(out.initDims(size(x.attrs.dims)), x.attrs.dims);
  auto slices = out.initSlices(size(x.attrs.slices));
  for (unsigned i = 0; i < slices.size(); ++i) encode(x.attrs.slices[i], slices[i]);
  if (!x.attrs.text.empty())
    out.setText(data_of(x.attrs.text));
  auto features = out.initFeatures(size(x.attrs.features));
  for (unsigned i = 0; i < features.size(); ++i) encode(x.attrs.features[i], features[i]);
  if (!x.attrs.numbers.empty())
    set_all(out.initNumbers(size(x.attrs.numbers)), x.attrs.numbers);
  if (x.attrs.texts.empty())
    return;
  auto texts = out.initTexts(size(x.attrs.texts));
  for (unsigned i = 0; i < texts.size(); ++i) texts.set(i, data_of(x.attrs.texts[i]));
}

result<expr_ptr> decode_expression(schema::Expression::Reader in, std::vector<expr_ptr> inputs) {
  const auto op = static_cast<expr_op>(in.getOp());
  if (op == expr_op::constant) {
    HEADRACE_ASSIGN(auto value, decode(in.getValue()));
    return make_constant(std::move(value));
  }
  HEADRACE_ASSIGN(auto type, decode_dtype(in.getDtype()));
  expr_attrs attrs;
  attrs.index = in.getIndex();
  attrs.flag = in.getFlag();
  for (auto axis : in.getAxes()) attrs.axes.push_back(axis);
  for (auto extent : in.getDims()) attrs.dims.push_back(extent);
  for (auto part : in.getSlices()) {
    HEADRACE_ASSIGN(auto slice, decode(part));
    attrs.slices.push_back(slice);
  }
  attrs.text = chars_of(in.getText());
  for (auto part : in.getFeatures()) {
    HEADRACE_ASSIGN(auto feature, decode(part));
    attrs.features.push_back(std::move(feature));
  }
  for (auto number : in.getNumbers()) attrs.numbers.push_back(number);
  for (auto text : in.getTexts()) attrs.texts.emplace_back(chars_of(text));
  return make_expr(op, std::move(inputs), std::move(attrs), type);
}

} // namespace headrace::detail
