// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/resolve.hpp"

#include <gtest/gtest.h>

#include "tools/cgctl/failure.hpp"

namespace kcg::cgctl {
namespace {

SandboxView sandbox(const char* id, const char* ns = "", const char* pod = "") {
  SandboxView view;
  view.id = id;
  view.pod_namespace = ns;
  view.pod_name = pod;
  return view;
}

const std::vector<SandboxView> kViews = {
    sandbox("abc"),
    sandbox("abcd", "shop", "cart"),
    sandbox("abcdef01", "demo", "cart"),
    sandbox("abcdef02", "demo", "web"),
    sandbox("zzzz9999", "", "bare"),
    sandbox("dead0000", "demo", "beef"),
    sandbox("beef0000", "demo", "dead"),
};

TEST(ResolveName, ByPodOrByIdOrByItsBeginning) {
  const struct {
    const char* name;
    const char* text;
    const char* id;
    const char* failure;
  } rows[] = {
      {"namespace and pod", "demo/cart", "abcdef01", ""},
      {"pod", "web", "abcdef02", ""},
      {"pod without a namespace", "bare", "zzzz9999", ""},
      {"full id", "abcdef02", "abcdef02", ""},
      {"full id, and a prefix of others", "abcd", "abcd", ""},
      {"full id, though short", "abc", "abc", ""},
      {"prefix", "zzzz", "zzzz9999", ""},
      {"longer prefix", "abcdef01", "abcdef01", ""},
      {"prefix too short", "zzz", "", "NoSuchSandbox"},
      {"empty", "", "", "NoSuchSandbox"},
      {"unknown", "yyyy", "", "NoSuchSandbox"},
      {"unknown pod in a known namespace", "demo/nginx", "", "NoSuchSandbox"},
      {"beginning of a pod's name", "demo/ca", "", "NoSuchSandbox"},
      {"ambiguous prefix", "abcde", "", "AmbiguousId"},
      {"pod in two namespaces", "cart", "", "AmbiguousId"},
      {"pod of one, id of another", "dead", "", "AmbiguousId"},
  };
  for (const auto& row : rows) {
    const auto id = resolve_name(kViews, row.text);
    EXPECT_EQ(id.value_or(""), row.id) << row.name;
    EXPECT_EQ(id ? "" : failure_name(id.error()), row.failure) << row.name;
  }
}

TEST(ResolveName, AmbiguityListsTheCandidates) {
  const auto id = resolve_name(kViews, "cart");
  ASSERT_FALSE(id);
  EXPECT_EQ(failure_text(id.error(), false, ""),
            "cgctl: 'cart' is ambiguous, 2 sandboxes are called so:\n"
            "  abcd  shop/cart\n"
            "  abcdef01  demo/cart\n");
}

TEST(ResolveName, ManyCandidatesAreCounted) {
  std::vector<SandboxView> views;
  for (int i = 0; i < 500; ++i) views.push_back(sandbox(("same" + std::to_string(i)).c_str()));
  const auto id = resolve_name(views, "same");
  ASSERT_FALSE(id);
  EXPECT_TRUE(id.error().text.ends_with("\n  and 490 more")) << id.error().text;
}

TEST(ResolveName, ACandidateCannotForgeALine) {
  const auto id = resolve_name({sandbox("same1", "a", "b\n  c"), sandbox("same2")}, "same");
  ASSERT_FALSE(id);
  EXPECT_NE(id.error().text.find("a/b\\x0a  c"), std::string::npos) << id.error().text;
}

TEST(Title, NamesWhatHasNoPodByEngineAndId) {
  auto view = sandbox("0123456789abcdef");
  EXPECT_EQ(title(view), "0123456789ab");
  view.engine = Engine::containerd;
  EXPECT_EQ(title(view), "containerd:0123456789ab");
}

}  // namespace
}  // namespace kcg::cgctl
