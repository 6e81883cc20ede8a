// SPDX-License-Identifier: Apache-2.0
//
// `top`: sample, draw, wait for a key, until somebody leaves.
#include <chrono>
#include <thread>

#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "daemon/manager.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/top/sample.hpp"
#include "tools/cgctl/top/terminal.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

using namespace top;

constexpr std::chrono::milliseconds kSecond{1000};
using Known = std::map<std::string, SandboxView>;

Answer once(const Options& options, const Style& style, const Sample& before, const Sample& after) {
  auto rows = rates(before, after);
  sort_rates(rows, Order::cpu);
  const auto over = std::chrono::duration_cast<std::chrono::milliseconds>(after.at - before.at);
  return {options.json ? document(rows, over) : render(style, rows)};
}

/// Its show, read anew each time; what cannot be read is said.
std::string text_of(const Style& style, Source& source, const std::string& id) {
  const auto view = source.view(id);
  return view ? render_show(style, *view) : view.error().text + "\n";
}

Result<Answer> live(const Style& asked, const CgroupTree& tree, Source& source, Known& known,
                    Sample before) {
  Terminal terminal;
  Style style = asked;
  style.color = false;  // the screen has colours of its own
  Screen screen;
  auto after = take_sample(tree, source, known);
  while (after && !screen.over) {
    style.width = terminal.width();
    style.now = SystemClock().wall_seconds();
    auto rows = rates(before, *after);
    sort_rates(rows, screen.order);
    terminal.draw(screen.open ? picture_of_text(screen, text_of(style, source, screen.selected),
                                                terminal.height())
                              : picture(style, screen, rows, terminal.height()));
    screen = pressed(screen, terminal.wait(kSecond), rows);
    if (SystemClock().now() - after->at < kSecond) continue;
    before = *std::move(after);
    after = take_sample(tree, source, known);
  }
  if (!after) return forward(after.error());
  return Answer{};
}

}  // namespace

Result<Answer> watch_usage(const Options& options, const Style& style, Source& source) {
  const bool screen = !options.once && !options.json;
  if (screen && !style.width)
    return fail(static_cast<int>(ManagerError::invalid_argument),
                "top needs a terminal; without one: top --once, or top --json");
  const auto config = node_config(options);
  if (!config) return forward(config.error());
  const auto host = discover_host(config->cgroup);
  if (!host) return forward(host.error());
  const auto tree = KernelTree::open(*host, config->run_root);
  if (!tree) return forward(tree.error());
  Known known;
  const auto before = take_sample(**tree, source, known);
  if (!before) return forward(before.error());
  if (screen) return live(style, **tree, source, known, *before);
  std::this_thread::sleep_for(kSecond);
  const auto after = take_sample(**tree, source, known);
  if (!after) return forward(after.error());
  return once(options, style, *before, *after);
}

}  // namespace kcg::cgctl
