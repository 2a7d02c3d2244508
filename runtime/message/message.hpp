#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <capnp/message.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>

#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace headrace::detail {

/// The largest message that is accepted from a peer, or sent to one.
inline constexpr size_t max_message_bytes = size_t{64} << 20;
/// The largest number of nested levels of pointers in a message.
inline constexpr int max_message_depth = 64;

/// The shared part of a message: its words and a reader for them, or the reason why they cannot be
/// read.
class message_block {
public:
  /// Copies the builder's content, which is trusted.
  static std::shared_ptr<const message_block> freeze(capnp::MessageBuilder& from);
  /// Checks every pointer of `words` against `schema`. If the words are damaged, `problem()` is the
  /// reason.
  static std::shared_ptr<const message_block> check(buffer words, capnp::StructSchema schema,
                                                    size_t max_bytes);
  /// A message that could not be read, because of `problem`.
  static std::shared_ptr<const message_block> broken(std::string problem);

  /// @pre `problem().empty()`
  template <class Schema>
  typename Schema::Reader root() const {
    return const_cast<capnp::FlatArrayMessageReader&>(*reader_).template getRoot<Schema>();
  }
  const buffer& words() const noexcept { return words_; }
  const std::string& problem() const noexcept { return problem_; }

private:
  buffer words_;
  std::unique_ptr<capnp::FlatArrayMessageReader> reader_;
  std::string problem_;
};

/// A text for users: the size of a message, or the reason why the message is not valid.
std::string described(size_t bytes, const status& how);

/// An immutable, reference-counted Cap'n Proto message. Copying a handle increments a counter; any
/// number of threads may read the message. Bytes from other processes are checked once, when they
/// are received. If a handle is *valid*, all reads succeed. If it is not valid, `status` has the
/// reason, and all fields have their default values.
template <class Schema>
class message {
public:
  using schema_type = Schema;
  using reader = typename Schema::Reader;
  using builder = typename Schema::Builder;

  /// A message that is not valid: it has no content.
  message() noexcept = default;

  /// A new message, filled by `fill(builder)`.
  template <class Fill>
  static message make(Fill&& fill) {
    // Most messages fit into `room`, so that no memory is allocated for the first segment.
    capnp::word room[256] = {};
    capnp::MallocMessageBuilder content{kj::arrayPtr(room, std::size(room))};
    std::forward<Fill>(fill)(content.initRoot<Schema>());
    return message{message_block::freeze(content)};
  }
  /// A copy of the content of `from`.
  static message copy_of(reader from) {
    capnp::MallocMessageBuilder content;
    content.setRoot(from);
    return message{message_block::freeze(content)};
  }
  /// Checks untrusted words, which are shared and not copied if they are aligned to 8 bytes. Never
  /// throws: damaged words result in a handle that is not valid.
  static message parse(buffer words, size_t max_bytes = max_message_bytes) {
    return message{
      message_block::check(std::move(words), capnp::Schema::from<Schema>(), max_bytes)};
  }
  /// A handle that is not valid, because of `problem`.
  static message broken(std::string problem) {
    return message{message_block::broken(std::move(problem))};
  }

  /// True if there is a complete message of this schema.
  bool valid() const noexcept { return block_ != nullptr && block_->problem().empty(); }
  explicit operator bool() const noexcept { return valid(); }
  /// The reason why the message is not valid; ok if it is valid.
  headrace::status status() const {
    if (valid())
      return {};
    return data_loss(block_ ? block_->problem() : std::string{"empty message"});
  }

  const reader* operator->() const noexcept { return &root_; }
  const reader& operator*() const noexcept { return root_; }

  /// The words, as they are sent and stored; they live as long as the result. Empty if not valid.
  buffer bytes() const noexcept { return valid() ? block_->words() : buffer{}; }
  size_t size_bytes() const noexcept { return valid() ? block_->words().size() : 0; }

  friend std::string to_string(const message& x) { return described(x.size_bytes(), x.status()); }

private:
  explicit message(std::shared_ptr<const message_block> block) : block_(std::move(block)) {
    if (valid())
      root_ = block_->template root<Schema>();
  }

  std::shared_ptr<const message_block> block_;
  reader root_;
};

} // namespace headrace::detail
