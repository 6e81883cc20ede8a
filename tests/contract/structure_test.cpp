// SPDX-License-Identifier: Apache-2.0
//
// Directories, marks and errors: the same in every hierarchy.
#include "contract/fixture.hpp"

namespace kcg::test {

namespace {

class Structure : public Contract {
 protected:
  /// Runs `act(hierarchy)` for each hierarchy of the world.
  template <class Act>
  void everywhere(Act act) {
    for (const auto& hierarchy : tree().host().hierarchies) {
      SCOPED_TRACE(hierarchy.name.str());
      act(hierarchy.name);
    }
  }
};

TEST_P(Structure, MakesOneDirectoryBelowAnExistingOne) {
  everywhere([&](const std::string& h) {
    EXPECT_EQ(code(tree().make(at(h, "b"))), 0);
    EXPECT_EQ(code(tree().make(at(h, "a"))), 0);
    EXPECT_EQ(code(tree().make(at(h, "a"))), EEXIST);
    EXPECT_EQ(code(tree().make(at(h, "x/y"))), ENOENT);
    EXPECT_EQ(tree().children(at(h, "")).value(), (std::vector<std::string>{"a", "b"}));
  });
}

TEST_P(Structure, RemovesOnlyEmptyDirectories) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    make(at(h, "a/b"));
    EXPECT_EQ(code(tree().remove(at(h, "a"))), EBUSY);
    EXPECT_EQ(code(tree().remove(at(h, "a/b"))), 0);
    EXPECT_EQ(code(tree().remove(at(h, "a"))), 0);
    EXPECT_EQ(code(tree().remove(at(h, "a"))), ENOENT);
    EXPECT_EQ(code(tree().remove({h, {}})), EBUSY);
  });
}

TEST_P(Structure, ARecreatedDirectoryIsAnotherOne) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    const auto first = tree().inode(at(h, "a")).value();
    EXPECT_EQ(tree().inode(at(h, "a")).value(), first);
    EXPECT_EQ(code(tree().remove(at(h, "a"))), 0);
    EXPECT_EQ(code(tree().inode(at(h, "a"))), ENOENT);
    make(at(h, "a"));
    EXPECT_NE(tree().inode(at(h, "a")).value(), first);
  });
}

TEST_P(Structure, WhatIsHeldIsWrittenAndNoOtherInItsPlace) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    const auto replace = [&] {
      world_->outside([&](CgroupTree& other) {
        EXPECT_TRUE(other.remove(at(h, "a")));
        EXPECT_TRUE(other.make(at(h, "a")));
      });
    };
    const auto act_in_vain = [&](const char* why) {
      EXPECT_EQ(write(at(h, "a"), "cgroup.procs", "x"), ENOENT) << why;
      EXPECT_EQ(code(tree().make(at(h, "a/b"))), ENOENT) << why;
      EXPECT_EQ(code(tree().set_mark(at(h, "a"), "x")), 0) << why;
      const auto now = tree().see(at(h, "a"), AskMark::yes, {});
      EXPECT_TRUE(now && !now->mark) << why << ", and a look sees what is there now";
    };
    const Holding holding(tree());
    EXPECT_TRUE(tree().see(at(h, "a"), AskMark::yes, {}));
    replace();
    act_in_vain("what was looked at is held");
    EXPECT_EQ(code(tree().make(at(h, "a/b"))), 0);
    EXPECT_EQ(code(tree().remove(at(h, "a/b"))), 0);
    EXPECT_EQ(code(tree().remove(at(h, "a"))), 0);
    make(at(h, "a"));
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "x")), 0);
    replace();
    act_in_vain("what was marked is held");
    EXPECT_EQ(code(tree().remove(at(h, "a"))), 0) << "what it is in is there";
    make(at(h, "a"));
    EXPECT_EQ(write(at(h, "a"), "cgroup.procs", "x"), EINVAL) << "what we have removed is not held";
    EXPECT_TRUE(tree().see(at(h, "a"), AskMark::yes, {}));
    replace();
  });
  everywhere([&](const std::string& h) {
    EXPECT_EQ(write(at(h, "a"), "cgroup.procs", "x"), EINVAL) << "nothing is held any more";
  });
}

TEST_P(Structure, TheMarkLivesAndDiesWithTheDirectory) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    EXPECT_EQ(tree().mark(at(h, "a")).value(), std::nullopt);
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "sandbox-1")), 0);
    EXPECT_EQ(tree().mark(at(h, "a")).value(), Mark{"sandbox-1"});
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "s2")), 0);
    EXPECT_EQ(tree().mark(at(h, "a")).value(), Mark{"s2"});
    EXPECT_EQ(code(tree().remove(at(h, "a"))), 0);
    EXPECT_EQ(code(tree().mark(at(h, "a"))), ENOENT);
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "s")), ENOENT);
    make(at(h, "a"));
    EXPECT_EQ(tree().mark(at(h, "a")).value(), std::nullopt);
  });
}

TEST_P(Structure, AMarkIsTakenOffInEitherForm) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    EXPECT_EQ(code(tree().clear_mark(at(h, "a"))), 0) << "there is none";
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "s")), 0);
    EXPECT_EQ(code(tree().clear_mark(at(h, "a"))), 0);
    EXPECT_EQ(tree().mark(at(h, "a")).value(), std::nullopt);
    world_->set_earlier_mark(at(h, "a"), "s");
    EXPECT_EQ(code(tree().clear_mark(at(h, "a"))), 0);
    EXPECT_EQ(tree().mark(at(h, "a")).value(), std::nullopt);
    EXPECT_EQ(code(tree().clear_mark(at(h, "b"))), ENOENT);
  });
}

TEST_P(Structure, AMarkCountsWhereOnlyRootCouldHaveSetIt) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    make(at(h, "a/b"));
    EXPECT_EQ(code(tree().set_mark(at(h, "a/b"), "s")), 0);
    world_->give_away(at(h, "a/b"));
    EXPECT_EQ(tree().mark(at(h, "a/b")).value(), std::nullopt);
    EXPECT_EQ(code(tree().set_mark(at(h, "a/b"), "s")), EPERM);
  });
}

/// Whoever made it, it was not us: a group without a mark would be ours to take.
TEST_P(Structure, AMarkThatIsTooLongIsAnothers) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), std::string(kLongestMark + 1, 's'))), 0);
    const auto mark = tree().mark(at(h, "a")).value();
    ASSERT_TRUE(mark);
    EXPECT_FALSE(SandboxId::parse(mark->text));
  });
}

TEST_P(Structure, AMarkOfAVersionBeforeIsWrittenAnew) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    make(at(h, "a/b"));
    world_->set_earlier_mark(at(h, "a/b"), "s");
    EXPECT_EQ(tree().mark(at(h, "a/b")).value(), (Mark{"s", true}));
    EXPECT_EQ(code(tree().set_mark(at(h, "a/b"), "s")), 0);
    EXPECT_EQ(tree().mark(at(h, "a/b")).value(), Mark{"s"});
    world_->set_earlier_mark(at(h, "a/b"), "s");
    world_->give_away(at(h, "a"));  // whoever owns it could have put another in its place
    EXPECT_EQ(tree().mark(at(h, "a/b")).value(), std::nullopt);
  });
}

TEST_P(Structure, MissingThingsAreENOENT) {
  everywhere([&](const std::string& h) {
    EXPECT_EQ(code(tree().children(at(h, "none"))), ENOENT);
    EXPECT_EQ(read(at(h, "none"), "cgroup.procs"), "<No such file or directory>");
    EXPECT_EQ(read(at(h, ""), "no.such.file"), "<No such file or directory>");
    EXPECT_EQ(write(at(h, "none"), "cgroup.procs", "1"), ENOENT);
    EXPECT_EQ(write(at(h, ""), "no.such.file", "1"), ENOENT);
  });
  EXPECT_EQ(code(tree().read({"no-hierarchy", {}}, "cgroup.procs")), ENOENT);
  EXPECT_EQ(code(tree().make({"no-hierarchy", {}})), ENOENT);
}

TEST_P(Structure, ALookTellsMarkAndFilesAsTheyAreToldOneByOne) {
  everywhere([&](const std::string& h) {
    make(at(h, "a"));
    EXPECT_EQ(tree().see(at(h, "a"), AskMark::yes, {}).value().mark, std::nullopt);
    EXPECT_EQ(code(tree().set_mark(at(h, "a"), "sandbox-1")), 0);
    const auto seen =
        tree().see(at(h, "a"), AskMark::yes, {"cgroup.procs", "no.such.file"}).value();
    EXPECT_EQ(seen.mark, Mark{"sandbox-1"});
    const auto files = tree().see(at(h, "a"), AskMark::no, {"cgroup.procs"}).value();
    EXPECT_EQ(files.mark, std::nullopt) << "it was not asked for";
    EXPECT_EQ(files.files.front().value(), "");
    ASSERT_EQ(seen.files.size(), 2U);
    EXPECT_EQ(seen.files[0], tree().read(at(h, "a"), "cgroup.procs"));
    EXPECT_EQ(seen.files[1].error().code, ENOENT);
    EXPECT_EQ(code(tree().see(at(h, "none"), AskMark::yes, {})), ENOENT);
  });
}

TEST_P(Structure, ErrorsNameGroupFileAndValue) {
  const auto group = at(with(""), "gone");
  const std::string prefix = fmt::format("'{}:{}' ", group.hierarchy.str(), group.path.str());
  const std::string missing = ": No such file or directory";
  EXPECT_EQ(tree().write(group, "cgroup.procs", "12").error().text,
            prefix + "cgroup.procs=12" + missing);
  EXPECT_EQ(tree().read(group, "cgroup.procs").error().text, prefix + "cgroup.procs" + missing);
  EXPECT_EQ(tree().remove(group).error().text, prefix + "rmdir" + missing);
}

TEST_P(Structure, MembershipFilesRefuseWhatIsNoTask) {
  everywhere([&](const std::string& h) {
    EXPECT_EQ(write(at(h, ""), "cgroup.procs", "abc"), EINVAL);
    EXPECT_EQ(write(at(h, ""), "cgroup.procs", "-1"), EINVAL);
    EXPECT_EQ(write(at(h, ""), "cgroup.procs", "1 2"), EINVAL);
    EXPECT_EQ(write(at(h, ""), "cgroup.procs", "4194304"), ESRCH);
  });
}

TEST_P(Structure, ADeadProcessIsESRCH) {
  const auto process = world_->spawn(2);
  world_->end(process);
  EXPECT_EQ(move(process.pid, at(with(""), ""), "cgroup.procs"), ESRCH);
  EXPECT_EQ(move(process.tids[1], at(with(""), ""), "cgroup.procs"), ESRCH);
}

TEST_P(Structure, AnyThreadTakesItsWholeProcessAlong) {
  const auto process = world_->spawn(3);
  everywhere([&](const std::string& h) {
    const auto& hierarchy = *tree().host().find(h);
    if (hierarchy.has("cpuset") && !hierarchy.unified) return;  // needs a seed: see cpuset_test
    make(at(h, "a"));
    EXPECT_EQ(move(process.tids[2], at(h, "a"), "cgroup.procs"), 0);
    for (const auto tid : process.tids) EXPECT_EQ(world_->group_of(tid, h), at(h, "a").path.str());
    EXPECT_EQ(read(at(h, "a"), "cgroup.procs"), std::to_string(process.pid));
    EXPECT_EQ(code(tree().remove(at(h, "a"))), EBUSY);
  });
  world_->end(process);
  everywhere([&](const std::string& h) {
    if (tree().inode(at(h, "a"))) {
      EXPECT_EQ(read(at(h, "a"), "cgroup.procs"), "");
      EXPECT_EQ(code(tree().remove(at(h, "a"))), 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(V1, Structure, ::testing::ValuesIn(worlds(false)), kind_name);
INSTANTIATE_TEST_SUITE_P(V2, Structure, ::testing::ValuesIn(worlds(true)), kind_name);

}  // namespace

}  // namespace kcg::test
