#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/client/session.hpp"
#include "headrace/pipeline/explain/explanation.hpp"

#include <string>

namespace headrace {

/// Runs a dataset in this process for a short time, drops its elements, and reports for each
/// operator its time, rows, bytes and queue, and which operator bounds the rate. Throws `error` if
/// the dataset cannot be started.
explanation explain(const dataset& what, const explain_options& how = {},
                    const iterate_options& options = {});

/// Writes a dataset's graph into a file, for `read_dataset` and `headrace explain`.
status write_dataset(const dataset& what, const std::string& file);
/// Reads a graph that `write_dataset` wrote. Errors name the file.
result<dataset> read_dataset(const std::string& file);
/// The dataset that is registered under `id`. Errors name the address.
result<dataset> registered_dataset(const std::string& dispatcher, const std::string& id,
                                   const session& with = {});

} // namespace headrace
