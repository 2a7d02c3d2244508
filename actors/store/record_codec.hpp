#pragma once

namespace headrace::detail {

/// Converts the facts and the state of a `Record` to stored bytes and back. It is specialised
/// beside each record, with
///
///     static buffer write_facts(const std::vector<fact>& group);
///     static result<std::vector<fact>> read_facts(const buffer& bytes);
///     static buffer write_state(const Record& what);
///     static result<Record> read_state(const buffer& bytes, Record empty);
///
/// The bytes are one message (`stored_words.hpp`). Reading never throws. Its errors are data_loss,
/// for bytes that are damaged or contradict each other, and unimplemented, for members of unions
/// and values that this build does not define. `empty` is a record without facts: the values that
/// are not stored are taken from it.
template <class Record>
struct record_codec;

/// As `record_codec`, for a part of a record whose message is inside the record's message. It is a
/// friend of the part, and is specialised beside it.
template <class Part>
struct state_codec;

} // namespace headrace::detail
