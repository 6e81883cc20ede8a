// SPDX-License-Identifier: Apache-2.0
//
// The connection to an engine's NRI socket: it comes, goes, is silent, breaks off and returns.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/nri/client.hpp"
#include "live/watch_rig.hpp"
#include "support/nri_engine.hpp"

namespace kcg::test {

namespace {

using nri::FakeEngine;
using nri::News;
using nri::SaidPod;

class Nri : public ::testing::Test {
 protected:
  void SetUp() override {
    config_.socket = ground_ / "nri/nri.sock";
    make_directories(ground_ / "nri");
  }
  void start(Instant patience = std::chrono::seconds(30)) {
    client_ = std::make_unique<NriClient>(
        rig_.loop(), config_,
        NriClientWiring{[this](const News& news) {
                          news_.push_back(news);
                          heard_at_.push_back(SystemClock().now());
                        },
                        rig_.tell(), [](const std::string&) {}, patience});
  }
  /// A socket that nobody listens at yet.
  [[nodiscard]] Fd bound() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    config_.socket.copy(std::begin(address.sun_path), sizeof address.sun_path - 1);
    const auto* const name = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(socket.get(), name, sizeof address), 0);
    return socket;
  }
  void listen() { engine_ = std::make_unique<FakeEngine>(config_.socket); }
  /// The engine does this while our loop runs. What it throws is a failure.
  void engine_does(const std::function<void()>& act) {
    std::string thrown;
    std::thread engine([&] {
      try {
        act();
      } catch (const std::exception& error) {
        thrown = error.what();
      }
    });
    const bool done = rig_.until(settled_);
    engine.join();
    EXPECT_TRUE(done);
    EXPECT_EQ(thrown, "");
  }
  [[nodiscard]] bool lists(const std::string& id) const {
    for (const auto& news : news_)
      for (const auto& pod : news.pods)
        if (pod.id == id && news.whole == News::Whole::last) return true;
    return false;
  }
  void greeted_with(const std::string& id) {
    settled_ = [this, id] { return client_->state() == PartState::working && lists(id); };
    engine_does([&] { engine_->greet({{id}}); });
  }

  Playground ground_;
  Rig rig_;
  Config::Nri config_;
  std::unique_ptr<FakeEngine> engine_;
  std::vector<News> news_;
  std::vector<Instant> heard_at_;
  std::function<bool()> settled_;
  std::unique_ptr<NriClient> client_;
};

TEST_F(Nri, IsReachedWhereItStandsAlready) {
  listen();
  start();
  greeted_with("p1");
  EXPECT_EQ(rig_.problem(), "");
}

TEST_F(Nri, IsWaitedForWhileThereIsNoSocket) {
  config_.socket = ground_ / "later/nri/nri.sock";
  start();
  EXPECT_EQ(client_->state(), PartState::down);
  EXPECT_EQ(rig_.problem(), "");
  make_directories(ground_ / "later/nri");
  listen();
  greeted_with("p1");
}

TEST_F(Nri, ThatIsMissingIsAProblemOnlyWhereItIsWanted) {
  config_.mode = NriMode::on;
  start();
  EXPECT_NE(rig_.problem().find("is NRI enabled in the engine?"), std::string::npos);
  listen();
  greeted_with("p1");
  EXPECT_EQ(rig_.problem(), "");
}

TEST_F(Nri, ThatIsOffIsLeftAlone) {
  config_.mode = NriMode::off;
  listen();
  start();
  EXPECT_EQ(client_->state(), PartState::off);
  EXPECT_EQ(rig_.problem(), "");
}

/// Only root may say what a pod was granted: the socket's owner is whoever listens.
TEST_F(Nri, OfSomebodyElseIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto engine = bound();
  std::thread([&] {  // the call itself changes this thread alone
    EXPECT_EQ(::syscall(SYS_setresuid, -1, 65534, -1), 0);
    EXPECT_EQ(::listen(engine.get(), 1), 0);
  })
      .join();
  start();
  EXPECT_EQ(client_->state(), PartState::down);
  EXPECT_NE(rig_.problem().find("it belongs to uid 65534"), std::string::npos) << rig_.problem();
}

TEST_F(Nri, WhoListensLaterThanItBindsIsReached) {
  const auto engine = bound();
  start();
  EXPECT_EQ(client_->state(), PartState::down);
  ASSERT_EQ(::listen(engine.get(), 1), 0);
  EXPECT_TRUE(rig_.until([&] {
    pollfd caller{engine.get(), POLLIN, 0};
    return ::poll(&caller, 1, 0) == 1;
  }));
}

TEST_F(Nri, WorksOnlyWhenItHasToldAllPods) {
  listen();
  start();
  settled_ = [&] { return !news_.empty(); };
  engine_does([&] {
    engine_->accept();
    (void)engine_->call("Synchronize", nri::synchronize_call({{"p1"}}, {}, true));
  });
  EXPECT_EQ(client_->state(), PartState::down);
  settled_ = [&] { return client_->state() == PartState::working; };
  engine_does([&] { (void)engine_->call("Synchronize", nri::synchronize_call({{"p2"}}, {})); });
  EXPECT_TRUE(lists("p2"));
}

TEST_F(Nri, IsReachedAgainWhenTheEngineRestarts) {
  listen();
  start();
  greeted_with("p1");
  engine_.reset();
  ASSERT_TRUE(rig_.until([&] { return client_->state() == PartState::down; }));
  listen();
  greeted_with("p2");
  EXPECT_EQ(rig_.problem(), "");
}

TEST_F(Nri, ThatBreaksOffInTheMiddleIsReachedAgain) {
  listen();
  start();
  settled_ = [&] { return client_->state() == PartState::working; };
  engine_does([&] {
    engine_->accept();
    const auto call = nri::wire_call(1, "Synchronize", nri::synchronize_call({{"p1"}}, {}));
    engine_->send(std::string_view(call).substr(0, call.size() / 2));
    engine_->hang_up();
    engine_->greet({{"p2"}});
  });
  EXPECT_FALSE(lists("p1"));
  EXPECT_TRUE(lists("p2"));
}

TEST_F(Nri, ThatIsSilentIsLeft) {
  listen();
  start(std::chrono::milliseconds(500));
  settled_ = [&] { return rig_.problem().find("in time") != std::string::npos; };
  engine_does([&] {
    engine_->accept();
    EXPECT_TRUE(engine_->was_left());
  });
}

TEST_F(Nri, ThatTalksNonsenseIsLeftAndToldOf) {
  listen();
  start();
  settled_ = [&] {
    return rig_.problem().find("a frame of 4294967295 bytes") != std::string::npos;
  };
  engine_does([&] {
    engine_->accept();
    engine_->send(std::string_view("\0\0\0\1\xff\xff\xff\xff", 8));
  });
}

TEST_F(Nri, CallsAreAnsweredHoweverTheyAreCut) {
  listen();
  start();
  settled_ = [&] { return !news_.empty() && !news_.back().pods_gone.empty(); };
  engine_does([&] {
    engine_->greet({});
    const SaidPod pod{"p1"};
    EXPECT_EQ(engine_->call("StateChange", nri::state_change(1, pod), 1).code, 0);
    EXPECT_EQ(engine_->call("CreateContainer", nri::event_call(pod, {"c"}), 7).code, 0);
    EXPECT_EQ(engine_->call("NeverHeardOf", "", 3).code, 12);
    EXPECT_EQ(engine_->call("StateChange", nri::state_change(3, pod)).code, 0);
  });
}

TEST_F(Nri, TellsFiveMegabytesInPartsOrAtOnce) {
  std::vector<SaidPod> pods;
  for (int i = 0; i < 5000; ++i)
    pods.push_back({std::to_string(i), "web", "", {{"note", std::string(1000, 'x')}}});
  listen();
  start();
  settled_ = [&] { return lists("at-once"); };
  engine_does([&] {
    engine_->accept();
    EXPECT_EQ(engine_->call("Synchronize", nri::synchronize_call(pods, {}, true)).code, 0);
    pods.push_back({"at-once"});
    EXPECT_EQ(engine_->call("Synchronize", nri::synchronize_call(pods, {})).code, 0);
  });
}

TEST_F(Nri, NoPodWaitsForTheLoop) {
  listen();
  start();
  greeted_with("p1");
  for (int i = 0; i < 100; ++i)  // the loop does not run meanwhile
    EXPECT_EQ(engine_->call("StateChange", nri::state_change(1, {fmt::format("later{}", i)})).code,
              0);
  EXPECT_TRUE(rig_.until([&] {
    const auto& pods = news_.back().pods;
    return !pods.empty() && pods[0].id == "later99";
  }));
}

TEST_F(Nri, WhoTellsMoreThanIsTakenInWaits) {
  constexpr std::size_t kCalls = 40;
  constexpr std::size_t kBetween = std::size_t{2} << 20;  // both sockets' buffers, and a portion
  listen();
  start();
  greeted_with("p1");
  news_.clear();
  const auto payload =
      nri::state_change(1, {"p", "web", "", {{"note", std::string(1'000'000, 'x')}}});
  std::string calls;
  for (std::uint32_t i = 0; i < kCalls; ++i)
    calls += nri::wire_call(101 + 2 * i, "StateChange", payload);
  const auto taken = engine_->send_while_read(calls);  // the loop does not run
  EXPECT_LT(taken, NriLine::kMostUntaken + kBetween);
  settled_ = [&] { return news_.size() == kCalls; };
  engine_does([&] { engine_->send(std::string_view(calls).substr(taken)); });
}

/// At most 64 are heard in a turn, and from the 500th of a moment on others are served in between.
TEST_F(Nri, WhoTellsWithoutEndIsHeardNowAndThen) {
  constexpr std::size_t kCalls = 3000;
  listen();
  start();
  greeted_with("p1");
  news_.clear();
  heard_at_.clear();
  std::string calls;
  for (std::uint32_t i = 0; i < kCalls; ++i)
    calls += nri::wire_call(101 + 2 * i, "StateChange", nri::state_change(1, {"p"}));
  settled_ = [&] { return news_.size() == kCalls; };
  engine_does([&] { engine_->send(calls); });
  std::size_t rests = 0;
  for (std::size_t i = 1; i < heard_at_.size(); ++i)
    rests += heard_at_[i] - heard_at_[i - 1] >= NriClient::kRest ? 1U : 0U;
  EXPECT_GE(rests, 5U) << "some thirty where nothing else slows it down";
}

}  // namespace

}  // namespace kcg::test
