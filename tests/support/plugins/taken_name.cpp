#include "headrace/pipeline/custom/plugin.hpp"

HEADRACE_PLUGIN(functions) {
  const auto same = [](const headrace::block& rows) -> headrace::result<headrace::block> {
    return rows;
  };
  HEADRACE_TRY(functions.add("a", same));
  return functions.add("a", same);
}
