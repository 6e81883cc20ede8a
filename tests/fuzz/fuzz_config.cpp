// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "config/containerd_config.hpp"
#include "config/dump.hpp"
#include "config/kata_config.hpp"
#include "config/load.hpp"
#include "config/reload.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const std::string text(text_of(data, size));
  (void)parse_kata_config(text);        // ignored: any answer, but no crash
  (void)parse_containerd_config(text);  // ignored: likewise
  const auto loaded = load_config({{"fuzz.toml", text}});
  if (!loaded) {
    for (const auto line : lines(loaded.error().text)) {
      require_good_text({0, std::string(line)});
      // The last line counts those of which there are too many.
      require(line.starts_with("fuzz.toml") || line.starts_with("and "),
              "each problem names its file");
    }
    return 0;
  }
  const auto again = load_config({{"dump", dump(*loaded)}});
  require(again.has_value(), "a dump loads");
  require(*again == *loaded, "a dump says the same");
  const Config running;
  const auto reloaded = after_reload(running, *loaded);
  require(after_reload(running, reloaded.config).needs_restart.empty(), "a reload settles");
  return 0;
}
