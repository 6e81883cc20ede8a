// SPDX-License-Identifier: Apache-2.0
#include "contract/world.hpp"
#include "support/fake_proc.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

namespace {

class FakeWorld final : public World {
 public:
  explicit FakeWorld(const Host& host) : tree_(host) {
    for (const auto& hierarchy : host.hierarchies) {
      tree_.make_all(hierarchy.name.str(), base().str());
      for (const auto& controller : hierarchy.controllers)
        if (hierarchy.unified)
          (void)tree_.write({hierarchy.name, {}}, "cgroup.subtree_control", "+" + controller);
    }
  }
  CgroupTree& tree() override { return tree_; }
  ProcView& proc() override { return proc_; }
  Pid parent() const override { return parent_; }
  TestProcess spawn(unsigned threads) override {
    const Pid pid = proc_.start(parent_, {"contract", "/usr/bin/contract", {"contract"}});
    TestProcess process{pid, {pid}};
    for (unsigned i = 1; i < threads; ++i) process.tids.push_back(proc_.add_thread(pid));
    return process;
  }
  void end(const TestProcess& process) override { proc_.exit_process(process.pid); }
  std::uint32_t load_device_program() override { return tree_.load_device_program(); }
  void set_earlier_mark(const GroupRef& group, const std::string& value) override {
    tree_.set_earlier_mark(group, value);
  }
  void outside(const std::function<void(CgroupTree&)>& act) override { tree_.outside(act); }
  void give_away(const GroupRef& group) override { tree_.give_away(group); }
  std::string group_of(Pid tid, std::string_view hierarchy) override {
    return tree_.group_of(tid, hierarchy);
  }
  CgroupPath base() const override { return CgroupPath::parse("/contract").value(); }

 private:
  FakeTree tree_;
  FakeProc proc_{tree_};
  Pid parent_ = proc_.start(1, {"parent", "/usr/bin/parent", {"parent"}});
};

}  // namespace

std::unique_ptr<World> make_fake_world(const Host& host) {
  return std::make_unique<FakeWorld>(host);
}

}  // namespace kcg::test
