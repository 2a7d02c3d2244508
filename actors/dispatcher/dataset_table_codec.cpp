#include "headrace/actors/dispatcher/dataset_table_codec.hpp"

#include "headrace/actors/store/stored_words.hpp"
#include "headrace/schemas/text.hpp"

#include <string_view>
#include <vector>

namespace headrace::detail {

void state_codec<dataset_table>::write(schema::ServiceState::Builder out,
                                       const dataset_table& what) {
  std::map<std::string_view, std::vector<const std::string*>> ids; // by fingerprint
  for (const auto& [id, fingerprint] : what.ids_) ids[fingerprint].push_back(&id);
  out.setLastDataset(what.last_);
  auto graphs = out.initGraphs(list_size(what.by_fingerprint_));
  unsigned next = 0;
  for (const auto& [fingerprint, kept] : what.by_fingerprint_) {
    auto to = graphs[next++];
    to.setGraph(data_of(kept.what.graph));
    to.setElementSpec(data_of(kept.what.spec));
    to.setFingerprint(data_of(fingerprint));
    const auto& of = ids[fingerprint];
    auto names = to.initIds(list_size(of));
    for (unsigned i = 0; i < names.size(); ++i) names.set(i, text_of(*of[i]));
  }
}

result<dataset_table> state_codec<dataset_table>::read(schema::ServiceState::Reader in) {
  dataset_table out;
  for (auto from : in.getGraphs()) {
    const std::string fingerprint{chars_of(from.getFingerprint())};
    const auto ids = from.getIds();
    if (ids.size() == 0)
      return data_loss("a graph has no dataset id; one that no id means is forgotten");
    const auto [at, fresh] = out.by_fingerprint_.try_emplace(
      fingerprint,
      dataset_table::kept{{bytes_of(from.getGraph()), bytes_of(from.getElementSpec()), fingerprint},
                          ids.size()});
    if (!fresh)
      return data_loss(fmt::format("the graph of dataset '{}' is there twice", text_of(ids[0])));
    out.bytes_ += at->second.what.graph.size();
    for (auto id : ids)
      if (!out.ids_.try_emplace(string_of(id), fingerprint).second)
        return data_loss(fmt::format("dataset '{}' is there twice", text_of(id)));
  }
  out.last_ = in.getLastDataset();
  return out;
}

} // namespace headrace::detail
