#include "headrace/runtime/message/message.hpp"

#include <capnp/any.h>
#include <capnp/dynamic.h>
#include <kj/exception.h>
#include <kj/io.h>
#include <unordered_map>
#include <vector>

namespace headrace::detail {

namespace {

bool has_pointers(capnp::Type of) {
  return of.isText() || of.isData() || of.isList() || of.isStruct() || of.isAnyPointer()
         || of.isInterface();
}

/// The fields of a struct that hold pointers or groups. Each thread determines them once for each
/// struct, because that takes longer than following the pointers of a small message.
struct pointer_fields {
  std::vector<capnp::StructSchema::Field> always; ///< those outside of the union
  bool has_union = false;
  std::vector<bool> in_union; ///< by discriminant: the member holds a pointer or group
};

const pointer_fields& fields_of(capnp::StructSchema schema) {
  thread_local std::unordered_map<uint64_t, pointer_fields> known;
  const auto id = schema.getProto().getId();
  if (const auto at = known.find(id); at != known.end())
    return at->second;
  pointer_fields out;
  for (auto field : schema.getNonUnionFields())
    if (has_pointers(field.getType()))
      out.always.push_back(field);
  for (auto field : schema.getUnionFields()) {
    out.has_union = true;
    const auto number = field.getProto().getDiscriminantValue();
    if (out.in_union.size() <= number)
      out.in_union.resize(number + size_t{1});
    out.in_union[number] = has_pointers(field.getType());
  }
  return known.emplace(id, std::move(out)).first->second;
}

/// Follows every pointer in `value` that the schema defines; throws kj::Exception if one is
/// invalid.
void walk(const capnp::DynamicValue::Reader& value) {
  switch (value.getType()) {
  case capnp::DynamicValue::LIST: {
    auto xs = value.as<capnp::DynamicList>();
    if (has_pointers(xs.getSchema().getElementType()))
      for (auto x : xs) walk(x);
    break;
  }
  case capnp::DynamicValue::STRUCT: {
    auto s = value.as<capnp::DynamicStruct>();
    const auto& fields = fields_of(s.getSchema());
    for (auto field : fields.always) walk(s.get(field));
    if (!fields.has_union)
      break;
    // A union member that a newer peer has added has no field here, and is not read.
    KJ_IF_MAYBE (field, s.which())
      if (fields.in_union[field->getProto().getDiscriminantValue()])
        walk(s.get(*field));
    break;
  }
  case capnp::DynamicValue::ANY_POINTER:
    static_cast<void>(value.as<capnp::AnyPointer>().targetSize());
    break;
  default: break;
  }
}

kj::ArrayPtr<const capnp::word> as_words(const buffer& bytes) {
  return {reinterpret_cast<const capnp::word*>(bytes.data()), bytes.size() / sizeof(capnp::word)};
}

} // namespace

std::shared_ptr<const message_block> message_block::freeze(capnp::MessageBuilder& from) {
  auto size = capnp::computeSerializedSizeInWords(from) * sizeof(capnp::word);
  mutable_buffer bytes{size};
  kj::ArrayOutputStream out{{reinterpret_cast<kj::byte*>(bytes.data()), size}};
  capnp::writeMessage(out, from);
  auto block = std::make_shared<message_block>();
  block->words_ = std::move(bytes).freeze();
  // These words were made by this process, so the number of words that readers may traverse is not
  // limited.
  block->reader_ = std::make_unique<capnp::FlatArrayMessageReader>(
    as_words(block->words_), capnp::ReaderOptions{UINT64_MAX, max_message_depth});
  return block;
}

std::shared_ptr<const message_block> message_block::check(buffer words, capnp::StructSchema schema,
                                                          size_t max_bytes) {
  if (words.empty())
    return broken("empty message");
  if (words.size() > max_bytes)
    return broken("message of " + std::to_string(words.size()) + " bytes, at most "
                  + std::to_string(max_bytes) + " are taken");
  if (words.size() % sizeof(capnp::word) != 0)
    return broken("message of " + std::to_string(words.size()) + " bytes, not a multiple of 8");
  if (reinterpret_cast<uintptr_t>(words.data()) % alignof(uint64_t) != 0)
    words = buffer::copy_of(words.data(), words.size());
  try {
    auto content = as_words(words);
    // Two bounded walks check the pointers; each visits every word about once. The first follows
    // all pointers: also those of fields that a newer schema has added and this build cannot read,
    // because a copy of the message includes them. The second walk follows the schema's fields.
    capnp::FlatArrayMessageReader probe{content, {2 * content.size() + 2, max_message_depth}};
    if (probe.getEnd() != content.end())
      return broken("message has bytes after its end");
    static_cast<void>(probe.getRoot<capnp::AnyPointer>().targetSize());
    walk(probe.getRoot<capnp::DynamicStruct>(schema));
    auto block = std::make_shared<message_block>();
    block->reader_ = std::make_unique<capnp::FlatArrayMessageReader>(
      content, capnp::ReaderOptions{UINT64_MAX, max_message_depth});
    block->words_ = std::move(words);
    return block;
  } catch (const kj::Exception& e) {
    return broken(std::string{"malformed message: "} + e.getDescription().cStr());
  } catch (const std::exception& e) {
    return broken(std::string{"malformed message: "} + e.what());
  }
}

std::shared_ptr<const message_block> message_block::broken(std::string problem) {
  auto block = std::make_shared<message_block>();
  block->problem_ = problem.empty() ? "broken message" : std::move(problem);
  return block;
}

std::string described(size_t bytes, const status& how) {
  return how.ok() ? "message(" + std::to_string(bytes) + " bytes)"
                  : "message(" + how.message() + ")";
}

} // namespace headrace::detail
