#include "headrace/actors/protocol/codec/failure_codec.hpp"

#include "headrace/runtime/base/status_code.hpp"

#include <string>

namespace headrace::detail {

void write_failure(schema::Failure::Builder out, const status& why) {
  out.setCode(static_cast<uint16_t>(why.code()));
  // The length is passed too, so that zero bytes inside the text are kept.
  out.setText({why.message().c_str(), why.message().size()});
}

status read_failure(schema::Failure::Reader in) {
  const auto text = in.getText();
  return {status_code_of(in.getCode()), std::string{text.cStr(), text.size()}};
}

} // namespace headrace::detail
