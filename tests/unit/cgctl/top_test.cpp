// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/top/sample.hpp"

namespace kcg::cgctl::top {
namespace {

using Number = std::optional<std::uint64_t>;

Sample at(std::int64_t seconds, Number cpu, Number throttled = 0) {
  Sample sample;
  sample.at = std::chrono::seconds(seconds);
  auto& usage = sample.sandboxes["a"];
  usage.title = "shop/cart";
  usage.cpu_usec = cpu;
  usage.class_usec[0] = cpu;
  usage.throttled_usec = throttled;
  usage.memory_used = 5;
  return sample;
}

TEST(TopRates, AreOfTheTimeBetween) {
  const struct {
    const char* name;
    Sample before, after;
    Number cpu, throttled;
  } rows[] = {
      {"a CPU and a half", at(10, 1'000'000), at(12, 4'000'000, 500'000), 1500, 250},
      {"idle", at(1, 7), at(2, 7), 0, 0},
      {"ran backwards", at(1, 7), at(2, 6), std::nullopt, 0},
      {"not known", at(1, std::nullopt), at(2, 6), std::nullopt, 0},
      {"no time", at(2, 1), at(2, 6), std::nullopt, std::nullopt},
      {"came in between", Sample{}, at(2, 6), std::nullopt, std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = rates(row.before, row.after);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].cpu_milli, row.cpu);
    EXPECT_EQ(got[0].class_milli[0], row.cpu);
    EXPECT_EQ(got[0].throttled_permille, row.throttled);
    EXPECT_EQ(got[0].memory_used, 5U);
  }
  EXPECT_TRUE(rates(at(1, 1), Sample{}).empty()) << "what has gone is not shown";
}

std::vector<Rates> three() {
  std::vector<Rates> rows(3);
  rows[0].id = rows[0].title = "a";
  rows[1].id = rows[1].title = "b";
  rows[2].id = rows[2].title = "c";
  rows[0].cpu_milli = 1;
  rows[1].cpu_milli = 9;
  rows[0].memory_used = 3;
  rows[2].memory_used = 4;
  rows[2].throttled_permille = 1;
  rows[1].cpu_stall_permille = 2;
  rows[0].memory_stall_permille = 5;
  return rows;
}

TEST(TopOrder, TheLargestFirstAndTheUnknownLast) {
  const struct {
    Order order;
    const char* ids;
  } rows[] = {{Order::cpu, "bac"},
              {Order::memory, "cab"},
              {Order::throttled, "cab"},
              {Order::pressure, "abc"},
              {Order::name, "abc"}};
  for (const auto& row : rows) {
    auto sorted = three();
    sort_rates(sorted, row.order);
    std::string ids;
    for (const auto& one : sorted) ids += one.id;
    EXPECT_EQ(ids, row.ids);
  }
}

TEST(TopKeys, MoveSortOpenAndLeave) {
  const auto rows = three();
  Screen screen;
  screen = pressed(screen, Key::up, rows);
  EXPECT_EQ(selected_row(screen, rows), 0U);
  for (int i = 0; i < 5; ++i) screen = pressed(screen, Key::down, rows);
  EXPECT_EQ(screen.selected, "c");
  screen = pressed(screen, Key::memory, rows);
  EXPECT_EQ(screen.order, Order::memory);
  screen = pressed(screen, Key::enter, rows);
  EXPECT_TRUE(screen.open);
  EXPECT_EQ(pressed(screen, Key::cpu, rows).order, Order::memory) << "another page";
  screen = pressed(screen, Key::down, rows);
  EXPECT_EQ(screen.first, 1U);
  screen = pressed(screen, Key::quit, rows);
  EXPECT_FALSE(screen.open || screen.over) << "back first";
  EXPECT_TRUE(pressed(screen, Key::quit, rows).over);
  EXPECT_FALSE(pressed(Screen{}, Key::enter, {}).open) << "nothing to open";
}

TEST(TopPicture, ShowsTheSelectedRowAndTheKeysInAnyHeight) {
  std::vector<Rates> rows(50);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = fmt::format("id{:02}", i);
    rows[i].title = fmt::format("shop/pod{:02}{}", i, std::string(i == 7 ? 253 : 0, 'x'));
  }
  for (const std::size_t height : {1U, 5U, 24U, 80U})
    for (const std::size_t at : {0U, 7U, 30U, 49U})
      for (const std::size_t width : {40U, 80U, 200U}) {
        Style style;
        style.width = width;
        Screen screen;
        screen.selected = rows[at].id;
        const auto shown = picture(style, screen, rows, height);
        ASSERT_TRUE(shown.mark);
        EXPECT_NE(shown.lines.at(*shown.mark).find(fmt::format("pod{:02}", at)), std::string::npos)
            << height << " " << at;
        EXPECT_LE(shown.lines.size(), std::max<std::size_t>(height, 4));
        EXPECT_TRUE(shown.lines.back().starts_with("q quit"));
      }
}

TEST(TopPicture, ATextScrollsToItsEndAndNoFurther) {
  Screen screen;
  screen.first = 99;
  const auto shown = picture_of_text(screen, "1\n2\n3\n4\n", 3);
  EXPECT_EQ(shown.lines, (std::vector<std::string>{"3", "4", "q back"}));
}

/// In all hierarchies of the host.
SandboxView view_of(const Host& host) {
  SandboxView view;
  view.id = "abcd";
  view.sandbox_cgroup = "/s";
  for (const auto& [role, path] :
       {std::pair{GroupRole::sandbox, "/s"}, std::pair{GroupRole::vcpu, "/s/vcpu"}}) {
    GroupView group;
    group.role = role;
    group.path = path;
    for (const auto& hierarchy : host.hierarchies) group.hierarchies.push_back(hierarchy.name);
    group.exists = true;
    view.groups.push_back(group);
  }
  return view;
}

/// Answers from a table.
class Files final : public CgroupTree {
 public:
  Files(Host host, std::map<std::string, std::string> files)
      : host_(std::move(host)), files_(std::move(files)) {}
  [[nodiscard]] const Host& host() const override { return host_; }
  void hold(bool) const override {}
  [[nodiscard]] Result<std::string> read(const GroupRef& group,
                                         const std::string& file) const override {
    const auto found = files_.find(fmt::format("{}/{}", group.path.str(), file));
    if (found == files_.end()) return fail(ENOENT, "none");
    return found->second;
  }
  [[nodiscard]] Result<std::uint64_t> inode(const GroupRef&) const override { return none(); }
  [[nodiscard]] Result<std::optional<Mark>> mark(const GroupRef&) const override { return none(); }
  [[nodiscard]] Result<GroupSeen> see(const GroupRef&, AskMark, const FileNames&) const override {
    return none();
  }
  [[nodiscard]] Result<std::vector<std::string>> children(const GroupRef&) const override {
    return none();
  }
  [[nodiscard]] Result<DevicePolicy> devices(const GroupRef&) const override { return none(); }
  [[nodiscard]] Status make(const GroupRef&) override { return none(); }
  [[nodiscard]] Status remove(const GroupRef&) override { return none(); }
  [[nodiscard]] Status write(const GroupRef&, const std::string&, std::string_view) override {
    return none();
  }
  [[nodiscard]] Status set_mark(const GroupRef&, std::string_view) override { return none(); }
  [[nodiscard]] Status clear_mark(const GroupRef&) override { return none(); }
  [[nodiscard]] Status change_devices(const GroupRef&, const DeviceChange&) override {
    return none();
  }

 private:
  static tl::unexpected<Error> none() { return fail(ENOSYS, "not in this test"); }
  Host host_;
  std::map<std::string, std::string> files_;
};

TEST(TopUsage, OfV2) {
  Host host;
  host.hierarchies = {{"v2", {}, true, "/"}};
  const Files tree(host, {{"/s/cpu.stat", "usage_usec 900\nthrottled_usec 5\n"},
                          {"/s/vcpu/cpu.stat", "usage_usec 700\nthrottled_usec 30\n"},
                          {"/s/memory.current", "4096\n"},
                          {"/s/memory.pressure",
                           "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"}});
  const auto usage = usage_of(tree, view_of(host));
  EXPECT_EQ(usage.cpu_usec, 900U);
  EXPECT_EQ(usage.class_usec[static_cast<std::size_t>(ThreadClass::vcpu)], 700U);
  EXPECT_EQ(usage.class_usec[static_cast<std::size_t>(ThreadClass::io)], std::nullopt);
  EXPECT_EQ(usage.throttled_usec, 35U);
  EXPECT_EQ(usage.memory_used, 4096U);
  EXPECT_EQ(usage.memory_stall_usec, 12U);
  EXPECT_EQ(usage.cpu_stall_usec, std::nullopt);
}

TEST(TopUsage, OfV1) {
  Host host;
  host.mode = HierarchyMode::v1;
  host.hierarchies = {{"cpu,cpuacct", {"cpu", "cpuacct"}, false, "/"},
                      {"memory", {"memory"}, false, "/"}};
  const Files tree(host, {{"/s/cpuacct.usage", "900000\n"},
                          {"/s/vcpu/cpuacct.usage", "700000\n"},
                          {"/s/vcpu/cpu.stat", "nr_throttled 1\nthrottled_time 30000\n"},
                          {"/s/memory.usage_in_bytes", "4096\n"}});
  const auto usage = usage_of(tree, view_of(host));
  EXPECT_EQ(usage.cpu_usec, 900U);
  EXPECT_EQ(usage.class_usec[0], 700U);
  EXPECT_EQ(usage.throttled_usec, 30U);
  EXPECT_EQ(usage.memory_used, 4096U);
  EXPECT_EQ(usage.memory_stall_usec, std::nullopt);
}

TEST(TopRender, EveryLineHasTheSameNumberOfWordsInAPipe) {
  const auto text = render({}, three());
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), 12U) << line;
}

}  // namespace
}  // namespace kcg::cgctl::top
