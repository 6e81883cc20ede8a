// SPDX-License-Identifier: Apache-2.0
//
// What comes from the engine's NRI socket. The first byte says how the rest is cut.
#include <string>
#include <vector>

#include "nri/plugin.hpp"
#include "nri/pod_book.hpp"
#include "require.hpp"

namespace {

using namespace kcg;

/// Value: all that came of some bytes.
struct Outcome {
  std::string answers;
  std::vector<nri::News> news;
  bool ended = false;
};

Outcome outcome(std::string_view bytes, std::size_t cut) {
  Outcome found;
  nri::Plugin plugin;
  for (std::size_t at = 0; at < bytes.size() && !found.ended; at += cut) {
    const auto taken = plugin.take(bytes.substr(at, cut), found.answers);
    if (!taken) require_good_text(taken.error());
    found.ended = !taken;
  }
  while (!found.ended) {
    const auto news = plugin.news();
    if (!news) require_good_text(news.error());
    found.ended = !news;
    if (!news || !*news) break;
    found.news.push_back(**news);
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  if (text.empty()) return 0;
  const auto bytes = text.substr(1);
  const auto whole = outcome(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto cut = outcome(bytes, static_cast<std::size_t>(data[0]) + 1);
  require(whole.ended == cut.ended, "cuts end nothing");
  require(whole.ended || whole.news == cut.news, "cuts change nothing");
  require(whole.ended || whole.answers == cut.answers, "cuts change no answer");
  nri::PodBook book;
  for (const auto& news : cut.news) {
    require(news.runtime.size() <= 128, "the runtime's name is short");
    for (const auto& id : book.take(news)) {
      const auto* pod = book.find(id);
      if (pod == nullptr) continue;
      require(pod->overhead.memory.value_or(1) > 0, "no overhead is none");
      require(pod->containers.size() <= nri::PodBook::kMostContainers, "containers are bounded");
    }
  }
  return 0;
}
