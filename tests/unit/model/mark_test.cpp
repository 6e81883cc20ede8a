// SPDX-License-Identifier: Apache-2.0
#include "model/mark.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using Text = std::optional<std::string>;

TEST(MarkTest, WhichOnesAreBelieved) {
  const struct {
    const char* name;
    MarkFacts facts;
    const char* run_root;
    std::optional<Mark> mark;
  } rows[] = {
      {"none", {{}, {}, true, true}, "", {}},
      {"ours", {Text("a"), {}, true, true}, "", Mark{"a"}},
      {"root's, but others may write it", {Text("a"), {}, true, false}, "", Mark{"a"}},
      {"not root's", {Text("a"), {}, false, false}, "", {}},
      {"earlier form", {{}, Text("a"), true, true}, "", Mark{"a", true}},
      {"earlier form, not root's", {{}, Text("a"), false, false}, "", {}},
      {"earlier form, others may write it or something above",
       {{}, Text("a"), true, false},
       "",
       {}},
      {"both", {Text("a"), Text("b"), true, true}, "", Mark{"a"}},
      {"another run root's", {Text("a /x"), {}, true, true}, "", Mark{"a /x"}},
      {"our run root's", {Text("a /x"), {}, true, true}, "/x", Mark{"a"}},
      {"the node's own, seen by another", {Text("a"), {}, true, true}, "/x", Mark{"a /"}},
      {"a longer run root's", {Text("a /x/y"), {}, true, true}, "/x", Mark{"a /x/y"}},
      {"a run root with a blank", {Text("a /x y"), {}, true, true}, "/x y", Mark{"a"}},
      {"earlier form, seen by another", {{}, Text("a"), true, true}, "/x", Mark{"a /", true}},
      {"empty", {Text(""), {}, true, true}, "", Mark{" /"}},
      {"no id", {Text("../x"), {}, true, true}, "", Mark{"../x /"}},
      {"no run root", {Text("a x"), {}, true, true}, "", Mark{"a x"}},
      {"a blank at the end", {Text("a "), {}, true, true}, "", Mark{"a "}},
      {"two lines", {Text("a\nb"), {}, true, true}, "", Mark{"a\nb /"}},
      {"too long",
       {Text(std::string(129, 'a')), {}, true, true},
       "",
       Mark{std::string(129, 'a') + " /"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto mark = believed_mark(row.facts, row.run_root);
    EXPECT_EQ(mark, row.mark) << (mark ? mark->text : "none");
    const bool ours = mark && SandboxId::parse(mark->text);
    EXPECT_EQ(ours, row.mark && row.mark->text == "a");
  }
}

TEST(MarkTest, WhatIsWrittenIsBelievedAgainByItsWriterAlone) {
  for (const char* mine : {"", "/x", "/x/y z"})
    for (const char* other : {"", "/x", "/x/y z"}) {
      const MarkFacts facts{mark_value("a", mine), {}, true, true};
      EXPECT_EQ(believed_mark(facts, other)->text == "a", std::string_view(mine) == other);
    }
}

TEST(MarkTest, WhereItFits) {
  const std::string id(64, 'a');
  const std::string cut = std::string(32, 'a') + "-" + std::string(32, 'a');
  const std::pair<std::string, bool> rows[] = {
      {"/pod/kata-sandbox-" + id, true},
      {"/pod/kata-sandbox-" + id + ".scope", true},
      {"/a.slice/x.scope/kata-sandbox-" + cut, true},
      {"/pod/kata-sandbox-" + id + "/vcpu", true},
      {"/kata/" + id, true},
      {"/kata.slice/kata-" + id + ".scope/shim", true},
      {"/pod/kata_container", true},
      {"/pod/kata-sandbox-" + id + "/other", false},
      {"/pod/kata-sandbox-b", false},
      {"/pod/kata-sandbox-a" + id, false},
      {"/pod/kata-sandbox-" + cut + "-", false},
      {"/user.slice/x", false},
      {"/vcpu", false},
      {"/", false},
  };
  for (const auto& [path, fits] : rows) {
    SCOPED_TRACE(path);
    EXPECT_EQ(mark_fits(SandboxId::parse(id).value(), CgroupPath::parse(path).value()), fits);
  }
}

TEST(MarkTest, ALongIdIsCutMoreThanOnce) {
  const std::string part(32, 'f');
  const auto id = SandboxId::parse(part + part + part + part).value();
  const auto cut = part + "-" + part + "-" + part + "-" + part;
  EXPECT_TRUE(mark_fits(id, CgroupPath::parse("/x.scope/kata-sandbox-" + cut).value()));
  EXPECT_FALSE(mark_fits(id, CgroupPath::parse("/x.scope/kata-sandbox--" + cut).value()));
}

TEST(MarkTest, AnIdMayLookLikeAScope) {
  const auto id = SandboxId::parse("web.scope").value();
  for (const char* path : {"/pod/kata-sandbox-web.scope", "/pod/kata-sandbox-web.scope.scope/io",
                           "/kata_overhead/web.scope", "/kata.slice/kata-web.scope.scope"})
    EXPECT_TRUE(mark_fits(id, CgroupPath::parse(path).value())) << path;
  EXPECT_FALSE(mark_fits(id, CgroupPath::parse("/pod/kata-sandbox-web").value()));
}

}  // namespace
}  // namespace kcg
