#include "headrace/actors/protocol/failure_codec.hpp"

#include <string>

namespace headrace {

void write_failure(schema::Failure::Builder out, const status& why) {
  out.setCode(static_cast<uint16_t>(why.code()));
  // With its length, so that zero bytes inside are kept.
  out.setText({why.message().c_str(), why.message().size()});
}

status read_failure(schema::Failure::Reader in) {
  auto code = in.getCode();
  if (code == 0 || code > static_cast<uint16_t>(status_code::unauthenticated))
    code = static_cast<uint16_t>(status_code::unknown);
  const auto text = in.getText();
  return {static_cast<status_code>(code), std::string{text.cStr(), text.size()}};
}

} // namespace headrace
