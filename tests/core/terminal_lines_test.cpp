// Progress on a terminal: the screen afterwards, not the bytes.

#include "core/terminal_lines.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/message_subject.hpp"
#include "core/program.hpp"
#include "core/progress.hpp"
#include "core/terminal_run.hpp"
#include "core/terminal_screen.hpp"

namespace recon {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::ElementsAreArray;

/// A terminal with lines on it, and a clock.
class TerminalLinesTest : public testing::Test {
 protected:
  void open(int columns, int rows) {
    size_ = {columns, rows};
    screen_ = std::make_unique<TerminalScreen>(columns, rows);
    lines_ = std::make_unique<TerminalLines>(
        [this](const std::string& text, bool) {
          for (const char c : text)
            screen_->put(c == '\n' ? "\r\n" : std::string(1, c));  // as its driver does
        },
        [this] { return size_; });
  }
  void resize(int columns, int rows, bool reflows) {
    size_ = {columns, rows};
    screen_->resize(columns, rows, reflows);
  }
  std::unique_ptr<Progress> begin(const std::string& label, int total, double predicted = 0) {
    return std::make_unique<Progress>(
        label, total, *lines_, [this] { return now_; }, predicted);
  }
  std::vector<std::string> screen() const { return screen_->lines(); }

  TerminalSize size_;
  std::unique_ptr<TerminalScreen> screen_;
  std::unique_ptr<TerminalLines> lines_;
  std::chrono::steady_clock::time_point now_{};
};

TEST_F(TerminalLinesTest, ABarIsDrawnInPlaceAndItsEndStays) {
  open(80, 24);
  {
    const auto views = begin("views", 2);
    EXPECT_THAT(screen(), ElementsAre("views: [                        ] 0 of 2"));
    now_ += 1s;
    views->advance();
    EXPECT_THAT(screen(), ElementsAre("views: [############            ] 1 of 2, about 1 s left"));
    now_ += 1s;
    views->advance();
    EXPECT_THAT(screen(), ElementsAre("views: 2 of 2 (100 %), 2.0 s"));
    now_ += 1s;
    lines_->draw();
  }
  EXPECT_THAT(screen(), ElementsAre("views: 2 of 2 (100 %), 2.0 s")) << "it ended before";
}

TEST_F(TerminalLinesTest, OfOneOfSeveralSubjectsNamesItAndDoesNotStay) {
  open(80, 24);
  for (const auto& [path, name] : {std::pair("photos/session/a", ".../session/a"),
                                   {"session/a", "session/a"},
                                   {"b/", "b"},
                                   {"/c", "/c"}}) {
    const SubjectScope about(std::make_shared<const std::string>(path));
    const auto views = begin("views", 2);
    EXPECT_THAT(screen(), ElementsAre(testing::StartsWith(std::string(name) + ": views: [")));
    views->advance();
    views->advance();
    EXPECT_THAT(screen(), ElementsAre());
  }
}

TEST_F(TerminalLinesTest, ABarIsNotDrawnMoreOftenThanEyesCanFollow) {
  int drawn = 0;
  TerminalLines counted([&](const std::string&, bool) { ++drawn; }, [] { return TerminalSize{}; });
  Progress views("views", 1000, counted, [this] { return now_; });
  for (int i = 0; i < 999; ++i) {
    now_ += 1ms;
    views.advance();
  }
  EXPECT_EQ(drawn, 1 + 9);
}

TEST_F(TerminalLinesTest, ABarMovesByThePredictedTime) {
  open(80, 24);
  const auto views = begin("views", 4, 40);
  const auto shown = [&](std::chrono::seconds passed) {
    now_ += passed;
    lines_->draw();
    return screen().front();
  };
  EXPECT_EQ(shown(0s), "views: [                        ] 0 of 4, about 40 s left");
  EXPECT_EQ(shown(10s), "views: [######                  ] 0 of 4, about 30 s left");
  EXPECT_EQ(shown(39s), "views: [######                  ] 0 of 4, 49 s so far")
      << "longer than predicted: 99 % would not go together with none of four";
  now_ += 1s;
  views->advance();  // 50 s for one of four, after 40 s for all: 120 s in all
  EXPECT_EQ(shown(0s), "views: [##########              ] 1 of 4, about 70 s left");
  EXPECT_EQ(shown(10s), "views: [############            ] 1 of 4, about 60 s left");
}

TEST_F(TerminalLinesTest, AStepThatDoesNotReachItsEndSaysSo) {
  open(80, 24);
  {
    const auto views = begin("views", 4, 40);
    now_ += 10s;
    views->advance();
    now_ += 5s;
  }
  EXPECT_THAT(screen(), ElementsAre("views: 1 of 4 (25 %), stopped after 15 s"));
}

TEST_F(TerminalLinesTest, AStepThatBeginsAgainHasOneLine) {
  open(80, 24);
  {
    const auto fusion = begin("fusion", 2);
    fusion->restart();
    now_ += 1s;
    fusion->advance(2);
  }
  EXPECT_THAT(screen(), ElementsAre("fusion: 2 of 2 (100 %), 1.0 s"));
}

TEST_F(TerminalLinesTest, AStepThatIsKeptLeavesNoLine) {
  open(80, 24);
  {
    const auto check = begin("check", 2), fusion = begin("fusion", 2);
    check->keep(2);
    EXPECT_THAT(screen(), ElementsAre("fusion: [                        ] 0 of 2"));
    fusion->keep(1);
    fusion->advance();
  }
  EXPECT_THAT(screen(), ElementsAre("fusion: 2 of 2 (100 %), 0.1 s"));
}

TEST_F(TerminalLinesTest, AStepWithoutWorkIsNotShown) {
  open(80, 24);
  { const auto none = begin("fusion", 0); }
  EXPECT_THAT(screen(), ElementsAre());
}

TEST_F(TerminalLinesTest, EachRunningStepHasALineAtAnyWidth) {
  const std::string message(100, 'm');
  struct Case {
    int columns;
    const char *check, *fusion, *check_at_the_end;
  };
  for (const Case& it :
       {Case{40, "check across views: 4 of 12 (33 %)", "fusion: 3 of 12 (25 %), about 12 s left",
             "check across views: 12 of 12, 12 s"},
        Case{60, "check across views: [####        ] 4 of 12, about 8 s left",
             "fusion: [######                  ] 3 of 12, about 12 s left",
             "check across views: 12 of 12 (100 %), 12 s"},
        Case{80, "check across views: [########                ] 4 of 12, about 8 s left",
             "fusion: [######                  ] 3 of 12, about 12 s left",
             "check across views: 12 of 12 (100 %), 12 s"},
        Case{200, "check across views: [########                ] 4 of 12, about 8 s left",
             "fusion: [######                  ] 3 of 12, about 12 s left",
             "check across views: 12 of 12 (100 %), 12 s"}}) {
    open(it.columns, 10);
    const auto check = begin("check across views", 12), fusion = begin("fusion", 12);
    for (int i = 0; i < 4; ++i) {
      now_ += 1s;
      check->advance();
      if (i > 0) fusion->advance();
    }
    lines_->print(message + "\n");
    EXPECT_THAT(screen(), ElementsAre(message, it.check, it.fusion));
    now_ += 6s;
    fusion->advance(9);
    now_ += 2s;
    check->advance(8);
    EXPECT_THAT(screen(), ElementsAre(message, "fusion: 12 of 12 (100 %), 10 s", it.check_at_the_end));
  }
}

TEST_F(TerminalLinesTest, TextOfOthersHasLinesOfItsOwn) {
  open(40, 10);
  const auto step = begin("fusion", 12);
  step->advance();
  lines_->make_way([&] { screen_->put("12 points\r\n"); });
  EXPECT_THAT(screen(), ElementsAre("12 points", testing::StartsWith("fusion: [")));
}

TEST_F(TerminalLinesTest, MoreStepsThanRowsAreCounted) {
  open(80, 4);
  std::vector<std::unique_ptr<Progress>> steps;
  for (const char* label : {"a", "b", "c", "d"}) steps.push_back(begin(label, 1));
  const auto bar = [](const std::string& label) { return label + ": [                        ] 0 of 1"; };
  EXPECT_THAT(screen(), ElementsAre(bar("a"), bar("b"), "and 2 more"));
  steps[1]->advance();
  EXPECT_THAT(screen(), ElementsAre("b: 1 of 1 (100 %), 0.1 s", bar("a"), bar("c"), bar("d")));
}

/// What the signal handler does.
TEST_F(TerminalLinesTest, AreDrawnBelowWhatIsPrintedAfterTheyWereErased) {
  open(80, 24);
  const auto a = begin("a", 2), b = begin("b", 2);
  screen_->put("^C\r\033[2K \033[J\rstopping\r\n");
  lines_->draw();
  EXPECT_THAT(screen(), ElementsAre("stopping", "a: [                        ] 0 of 2",
                                    "b: [                        ] 0 of 2"));
}

/// Any order of beginnings, ends, messages and changes of the size, on both kinds of terminals.
TEST_F(TerminalLinesTest, AreNeverTorn) {
  struct Step {
    std::string label;
    int done = 0;
    std::unique_ptr<Progress> progress;
  };
  constexpr int kTotal = 12;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool reflows = seed % 2 == 0;
    // What such a terminal cuts is lost: nothing that stays is longer there.
    const int min_columns = reflows ? 20 : 45;
    const auto any_size = [&] { return std::pair(min_columns + below(100), 2 + below(12)); };
    const auto [columns, rows] = any_size();
    open(columns, rows);
    std::vector<std::string> staying;
    std::vector<Step> running;
    const auto end = [&](std::size_t i) {  // the time stands still
      const int done = running[i].done;
      std::string line = running[i].label + fmt::format(": {} of {}", done, kTotal);
      const std::string percent = fmt::format(" ({} %)", 100 * done / kTotal);
      const std::string time = done == kTotal ? ", 0.1 s" : ", stopped after 0.1 s";
      const std::size_t width = static_cast<std::size_t>(size_.columns - 1);
      for (const std::string& rest : {percent + time, time, percent, std::string()})
        if (line.size() + rest.size() <= width) {
          line += rest;
          break;
        }
      staying.push_back(line);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    };
    for (int i = 0; i < 60; ++i) {
      const std::size_t any = running.empty() ? 0 : random() % running.size();
      switch (below(5)) {
        case 0:
          running.push_back({fmt::format("step {}", i), 0, begin(fmt::format("step {}", i), kTotal)});
          break;
        case 1:
          if (running.empty()) break;
          running[any].progress->advance(3);
          if ((running[any].done += 3) == kTotal) end(any);
          break;
        case 2:
          if (!running.empty() && below(4) == 0) end(any);
          break;
        case 3:
          staying.emplace_back(1 + below(reflows ? 300 : 44), static_cast<char>('A' + below(26)));
          lines_->print(staying.back() + "\n");
          break;
        default: {
          const auto [to_columns, to_rows] = any_size();
          resize(to_columns, to_rows, reflows);
        }
      }
      lines_->draw();
      std::vector<testing::Matcher<std::string>> expected(staying.begin(), staying.end());
      const std::size_t most = static_cast<std::size_t>(size_.rows - 1);
      const std::size_t shown = running.size() <= most ? running.size() : most - 1;
      for (std::size_t k = 0; k < shown; ++k)
        expected.push_back(testing::StartsWith(running[k].label + ": "));
      if (shown < running.size()) expected.push_back(fmt::format("and {} more", running.size() - shown));
      ASSERT_THAT(screen(), ElementsAreArray(expected)) << "seed " << seed << ", operation " << i;
    }
  }
}

std::vector<std::string> without_times(std::vector<std::string> lines) {
  for (std::string& line : lines) line = std::regex_replace(line, std::regex("[0-9.]+ s$"), "T s");
  return lines;
}

/// Steps of several threads that warn meanwhile.
int run_steps_at_once() {
  setenv("TERM", "xterm", 1);
  set_up_log(spdlog::level::info);
  std::vector<std::thread> threads;
  for (const char* label : {"a", "b", "c", "d", "e", "f"})
    threads.emplace_back([label] {
      Progress progress(label, 8, progress_style(false), 0.1);
      for (int i = 0; i < 8; ++i) {
        std::this_thread::sleep_for(20ms);
        if (i == 4) messages().warn("{}: {}", label, std::string(150, 'w'));
        progress.advance();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return 0;
}

class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_pseudo_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  }
};

TEST_F(Terminal, StepsAtOnceLeaveTheirMessagesAndEnds) {
  for (const int columns : {40, 80, 200})
    for (const int rows : {4, 24}) {
      const TerminalRun run = run_in_terminal(columns, rows, run_steps_at_once);
      std::vector<testing::Matcher<std::string>> expected;
      for (const char* label : {"a", "b", "c", "d", "e", "f"}) {
        const std::string head = fmt::format("warning: {}:", label), word(150, 'w');
        if (columns < 200) expected.insert(expected.end(), {head, word});  // which has a line of its own
        if (columns == 200) expected.emplace_back(head + " " + word);
        expected.emplace_back(fmt::format("{}: 8 of 8 (100 %), T s", label));
      }
      EXPECT_THAT(without_times(run.screen.lines()), testing::UnorderedElementsAreArray(expected)) << columns;
      EXPECT_THAT(run.bytes, testing::ContainsRegex(": (\\[[# ]*\\] )?0 of 8(, | \\(0 %\\))")) << columns;
    }
}

TEST_F(Terminal, MessagesHaveLinesOfItsWidth) {
  const std::string path = "/" + std::string(44, 'p');
  const TerminalRun run = run_in_terminal(40, 24, [&path] {
    set_up_log(spdlog::level::info);
    messages().warn("the photos of a scene do not fit its cameras: look at {} and at the poses", path);
    messages().info("{}", std::string(20, 'a') + " " + std::string(19, 'b'));
    return 0;
  });
  EXPECT_THAT(run.screen.lines(),
              ElementsAre("warning: the photos of a scene do not", "  fit its cameras: look at", path,
                          "  and at the poses", std::string(20, 'a') + " " + std::string(19, 'b')));
}

TEST_F(Terminal, AnInterruptIsSaidAboveTheBars) {
  const TerminalRun run = run_in_terminal(80, 24, [] {
    setenv("TERM", "xterm", 1);
    set_up_log(spdlog::level::info);
    install_interrupt_handler();
    const Progress views("views", 4, progress_style(false)), more("more", 4, progress_style(false));
    raise(SIGINT);
    messages().info("left");
    return 0;
  });
  EXPECT_THAT(without_times(run.screen.lines()),
              ElementsAre("stopping: finished work is kept; a second Ctrl-C ends without waiting", "left",
                          "more: 0 of 4 (0 %), stopped after T s", "views: 0 of 4 (0 %), stopped after T s"));
}

TEST_F(Terminal, ThatCannotMoveItsCursorGetsLines) {
  const TerminalRun run = run_in_terminal(80, 24, [] {
    setenv("TERM", "dumb", 1);
    set_up_log(spdlog::level::info);
    return progress_style(false) == ProgressStyle::kLines ? 7 : 1;
  });
  EXPECT_EQ(run.exit_code, 7);
}

}  // namespace
}  // namespace recon
