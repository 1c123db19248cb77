// The small pieces that a session is made of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "session/folder_fixture.hpp"
#include "session/graph/task_threads.hpp"
#include "session/options/options.hpp"
#include "session/resume/changes.hpp"
#include "session/resume/result_store.hpp"
#include "session/session.hpp"

namespace recon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(ByteSize, ReadsUnits) {
  EXPECT_EQ(parse_byte_size("2048"), 2048u);
  EXPECT_EQ(parse_byte_size("500M"), std::size_t{500} << 20);
  EXPECT_EQ(parse_byte_size("1GiB"), std::size_t{1} << 30);
  EXPECT_EQ(parse_byte_size("1.5 gib"), std::size_t{3} << 29);
  EXPECT_EQ(parse_byte_size("3GB"), 3000000000u);
  EXPECT_EQ(parse_byte_size("12b"), 12u);
  for (const char* wrong : {"", "M", "lots", "0", "-1G", "1Q", "1GiBB", "nan", "inf", "1e30"})
    EXPECT_THROW(parse_byte_size(wrong), UsageError) << wrong;
}

TEST(ByteSize, IsShownWithAUnit) {
  EXPECT_EQ(format_byte_size(17), "17 bytes");
  EXPECT_EQ(format_byte_size(1536), "1.5 KiB");
  EXPECT_EQ(format_byte_size(std::size_t{3} << 30), "3.0 GiB");
}

TEST(Options, ReadShardsAndPlanes) {
  const auto with = [](const char* name, const char* text) { return parse_options({{name, {text}}}); };
  EXPECT_EQ(with("shard", "2/8").shard.index, 2);
  EXPECT_EQ(with("shard", "2/8").shard.count, 8);
  for (const char* wrong : {"", "2", "/", "0/2", "3/2", "-1/2", "1/x", "1/2/3"})
    EXPECT_THROW(with("shard", wrong), UsageError) << wrong;
  EXPECT_EQ(with("planes", "auto").planes, std::nullopt);
  EXPECT_EQ(with("planes", "256").planes, 256);
  for (const char* wrong : {"", "1", "-3", "12.5", "all"})
    EXPECT_THROW(with("planes", wrong), UsageError) << wrong;
}

TEST(Options, DefaultsAreValidAndTheCostDecidesItsBound) {
  SessionOptions options;
  options.inputs = {"scene"};
  for (const Job job : {Job{Method::kPlaneSweep, false}, Job{Method::kSemiGlobal, true},
                        Job{Method::kBeliefPropagation, true}, Job{Method::kBlockMatching, true}})
    EXPECT_NO_THROW(options.check({job})) << method_keyword(job.method);
  EXPECT_EQ(options.resolved_filter().max_cost, kDefaultMaxZncc);
  options.spec(Method::kPlaneSweep).cost.kind = CostKind::kSad;
  EXPECT_EQ(options.resolved_filter().max_cost, kDefaultMaxSad);
  options.max_cost = 3.0f;
  EXPECT_EQ(options.resolved_filter().max_cost, 3.0f);
}

TEST(Device, KeywordsAreChecked) {
  EXPECT_TRUE(choose_devices("cpu").gpus.empty());
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:0,", "cuda:0;1", "cuda:0x"})
    EXPECT_THROW(parse_device(wrong), UsageError) << wrong;
  for (const char* right : {"auto", "cpu", "cuda", "cuda:0", "cuda:2,0"})
    EXPECT_NO_THROW(parse_device(right)) << right;
}

TEST(Device, GpusAreSharedByProcesses) {
  using Gpus = std::vector<int>;
  EXPECT_EQ(gpus_of({0, 2, 5}, {}), (Gpus{0, 2, 5}));
  EXPECT_EQ(gpus_of({0, 1, 2, 3, 4}, {0, 2}), (Gpus{0, 2, 4}));
  EXPECT_EQ(gpus_of({0, 1, 2, 3, 4}, {1, 2}), (Gpus{1, 3}));
  EXPECT_EQ(gpus_of({3, 7}, {1, 2}), Gpus{7});
  EXPECT_EQ(gpus_of({3, 7}, {4, 5}), Gpus{3}) << "fewer GPUs than processes";
}

TEST(ContentHash, IsPinnedAndSeesEveryByteAndTheLength) {
  // XXH3's published value of the empty input: records written on one machine are read on another.
  EXPECT_EQ(content_hash(""), "2d06800538d394c2");
  std::set<std::string> seen = {content_hash(std::string(20, '\0'))};
  for (std::size_t i = 0; i < 20; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes(20, '\0');
      bytes[i] = static_cast<char>(1 << bit);
      EXPECT_TRUE(seen.insert(content_hash(bytes)).second) << "byte " << i << ", bit " << bit;
    }
  for (std::size_t length = 0; length < 20; ++length)
    EXPECT_TRUE(seen.insert(content_hash(std::string(length, '\0'))).second) << length << " zeros";
}

TEST(ContentHash, SeesChangesOnBothSidesOfTheBeginning) {
  const std::size_t size = ContentHasher::kBeginning + 3;
  std::set<std::string> seen = {content_hash(std::string(size, 'a'))};
  for (const std::size_t i : {std::size_t{0}, size - 4, size - 3, size - 1}) {
    std::string bytes(size, 'a');
    bytes[i] = 'b';
    EXPECT_TRUE(seen.insert(content_hash(bytes)).second) << "byte " << i;
  }
  for (const std::size_t length : {size - 4, size - 3, size - 2, size + 1})
    EXPECT_TRUE(seen.insert(content_hash(std::string(length, 'a'))).second) << length << " bytes";
}

TEST(ContentHash, IsThatOfTheContentWithItsBeginningReplaced) {
  for (const std::size_t size : {std::size_t{8}, ContentHasher::kBeginning, std::size_t{100000}}) {
    ContentHasher hasher;
    hasher.add(std::string(3, 'a'));
    hasher.add(std::string(size - 3, 'b'));
    hasher.replace_beginning("header");
    EXPECT_EQ(hasher.identity().hash, content_hash("header" + std::string(size - 6, 'b'))) << size;
  }
}

TEST_F(Folder, IdentifiesFilesInPiecesAsInWhole) {
  std::string bytes;
  for (int i = 0; i < 3000000; ++i) bytes += static_cast<char>(i * 7 + i / 251);
  write("file", bytes);
  const auto identity = identify_file(folder_ / "file");
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->size, bytes.size());
  EXPECT_EQ(identity->hash, content_hash(bytes));
  EXPECT_FALSE(identify_file(folder_ / "nothing"));
}

TEST(BackgroundWork, DoesAllAndBoundsTheQueue) {
  std::atomic<int> done = 0, begun = 0;
  BackgroundWork work(2, 3);
  for (int i = 0; i < 50; ++i) {
    work.submit([&] {
      ++begun;
      usleep(200);
      ++done;
    });
    EXPECT_LE(i + 1 - done, 3);
  }
  work.finish();
  EXPECT_EQ(done, 50);
}

/// With this much more address space: 0 if the work is done by threads, 7 if by the one that submits it.
int work_within(rlim_t more_bytes) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  BackgroundWork work(256, 1);
  std::atomic<int> done = 0, here = 0;
  for (int i = 0; i < 10; ++i)
    work.submit([&, self = std::this_thread::get_id()] {
      ++done;
      here += std::this_thread::get_id() == self;
    });
  work.finish();
  if (done != 10) return 2;
  return here == 0 ? 0 : here == 10 ? 7 : 3;
}

TEST(BackgroundWorkDeathTest, WorksWithTheThreadsThatCanBeCreated) {
  // In a process of its own: this one may keep stacks of threads that other tests had.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr rlim_t kMiB = rlim_t{1} << 20;
  EXPECT_EXIT(std::_Exit(work_within(64 * kMiB)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(work_within(kMiB)), testing::ExitedWithCode(7), "");
}

TEST(BackgroundWork, CreatesThreadsWhenThereIsWork) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  BackgroundWork work(8, 8);
  EXPECT_EQ(threads(), before);
  for (int i = 0; i < 3; ++i) {
    work.submit([] {});
    work.finish();
  }
  EXPECT_GT(threads(), before);
  EXPECT_LT(threads(), before + 8);
}

TEST(BackgroundWork, OfNoQueueIsDoneAtOnce) {
  BackgroundWork work(2, 0);
  bool done = false;
  work.submit([&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_THROW(work.submit([] { throw OutputError("full"); }), OutputError);
}

TEST(BackgroundWork, HandsOnTheFirstError) {
  BackgroundWork work(1, 1);
  work.submit([] { throw OutputError("full"); });
  EXPECT_THROW(work.finish(), OutputError);
  EXPECT_THROW(work.submit([] {}), OutputError);
}

TEST_F(Folder, ANewRecordRemovesTheFilesOfTheEarlierOne) {
  const Workspace workspace(folder_);
  const auto record_of = [&](const std::vector<std::string>& files) {
    StepRecord record{{}, {}, nlohmann::json::object()};
    for (const std::string& file : files) record.outputs.push_back({file, {1, "hash"}});
    return record;
  };
  workspace.owned().claim({"a.bin", "b.bin", "c.png"});
  for (const char* file : {"a.bin", "b.bin", "c.png"}) write(file, "x");
  ResultStore(workspace, false).put({Step::kEstimate, "a"}, record_of({"a.bin", "b.bin"}));
  ResultStore(workspace, false).put({Step::kEstimate, "a"}, record_of({"b.bin", "c.png"}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.bin"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b.bin"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "c.png"));
}

/// A store gives what a run has put, and to the next one what still holds.
/// Files that a new result does not have would be taken for results by others, if its record held.
TEST_F(Folder, AStoreRemovesEarlierFilesBeforeItsRecordHolds) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kPrepare, "a.png"};
  const nlohmann::json masked = {{"mask", "1"}}, plain = {{"mask", nullptr}};
  workspace.owned().claim({"mask.png"});
  write("mask.png", "content");
  ResultStore store(workspace, false);
  store.put(key, {masked, {{"mask.png", *identify_file(folder_ / "mask.png")}}, nlohmann::json::object()});
  fs::remove(folder_ / "mask.png");
  write("mask.png/cannot be removed", "");
  store.put(key, {plain, {}, nlohmann::json::object()});
  EXPECT_TRUE(fs::exists(folder_ / "mask.png/cannot be removed")) << "a folder is nobody's result";
  fs::remove_all(folder_ / "mask.png");
  store.put(key, {masked, {{"mask.png", {7, "hash"}}}, nlohmann::json::object()});
  write("mask.png", "content");
  store.put(key, {plain, {}, nlohmann::json::object()});
  EXPECT_FALSE(fs::exists(folder_ / "mask.png"));
}

TEST_F(Folder, AStoreKeepsWhatHoldsAndSaysWhyElse) {
  const Workspace workspace(folder_);
  const ResultKey key{Step::kEstimate, "a/b.png"}, cloud{Step::kFusion};
  workspace.owned().claim({"a.bin"});
  write("a.bin", "content");
  const nlohmann::json inputs = {{"version", 1}, {"options", {{"window", "5"}}}};
  const StepRecord record{inputs, {{"a.bin", *identify_file(folder_ / "a.bin")}}, nlohmann::json::object()};
  ResultStore first(workspace, false);
  EXPECT_EQ(first.get(key), nullptr);
  EXPECT_EQ(first.find(key, inputs), nullptr);
  EXPECT_EQ(first.reason(key), "") << "it was never made";
  first.put(key, record);
  ASSERT_NE(first.get(key), nullptr);
  EXPECT_EQ(first.get(key)->inputs, inputs);
  EXPECT_FALSE(first.kept(key));
  EXPECT_EQ(first.count(Step::kEstimate).done, 1);

  ResultStore next(workspace, false);
  nlohmann::json other = inputs;
  other["options"]["window"] = "7";
  EXPECT_EQ(next.find(key, other), nullptr);
  EXPECT_EQ(next.reason(key), "--window 5 -> 7");
  EXPECT_TRUE(next.changed(key));
  EXPECT_NE(next.find(key, inputs), nullptr);
  EXPECT_TRUE(next.kept(key));
  EXPECT_EQ(next.reason(key), "");
  EXPECT_EQ(next.count(Step::kEstimate).kept, 1);
  EXPECT_EQ(ResultStore(workspace, true).find(key, inputs), nullptr) << "all is overwritten";
  EXPECT_NE(ResultStore(workspace, true).find(key, inputs, false), nullptr);

  next.clean(key);
  EXPECT_FALSE(fs::exists(folder_ / "a.bin"));
  ASSERT_NE(ResultStore(workspace, false).find(key, inputs), nullptr) << "nothing needs its files";
  EXPECT_TRUE(next.get(key)->cleaned);
  next.forget(key, "they are needed");
  EXPECT_EQ(next.get(key), nullptr);
  EXPECT_EQ(next.reason(key), "they are needed");

  next.put(key, record);
  EXPECT_EQ(first.find(key, inputs), nullptr);
  EXPECT_EQ(first.reason(key), "a.bin is missing or damaged");
  EXPECT_FALSE(first.changed(key));
  next.put(cloud, {inputs, {}, nlohmann::json::object()});
  EXPECT_EQ(first.find(cloud, inputs), nullptr);
  EXPECT_EQ(first.reason(cloud), kDamagedRecord) << "a cloud has points";
}

TEST_F(Folder, ARecordThatNamesFilesElsewhereIsNone) {
  for (const std::string file : {"../a.bin", "stereo/../../a.bin", "/a.bin"}) {
    StepRecord record{{}, {{file, {1, "hash"}}}, nlohmann::json::object()};
    write_record(folder_ / "status/a.json", record);
    EXPECT_FALSE(read_record(folder_ / "status/a.json")) << file;
  }
}

TEST_F(Folder, RecordsComeBackAndRevealDamage) {
  write("a.bin", "content");
  StepRecord record;
  record.inputs = {{"planes", 128}, {"depth_min", 0.1}};
  record.outputs = {{"a.bin", *identify_file(folder_ / "a.bin")}};
  record.result = {{"known", 0.5}};
  write_record(folder_ / "status/a.json", record);
  const auto found = read_record(folder_ / "status/a.json");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->inputs, record.inputs) << "numbers come back bit for bit";
  EXPECT_EQ(found->result, record.result);
  EXPECT_EQ(damaged_output(*found, folder_), std::nullopt);
  write("a.bin", "Content");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin") << "same size";
  write("a.bin", "conten");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin");
  fs::remove(folder_ / "a.bin");
  EXPECT_EQ(damaged_output(*found, folder_), "a.bin");
}

TEST_F(Folder, DamagedRecordsAreNone) {
  EXPECT_FALSE(read_record(folder_ / "none.json"));
  for (const char* text : {"", "{", "[]", "{\"inputs\": {}, \"result\": {}}",
                           R"({"inputs": {}, "result": {}, "outputs": [{"file": 3}]})",
                           R"({"inputs": {}, "result": [], "outputs": []})",
                           R"({"inputs": {}, "result": {"known": "much"}, "outputs": []})",
                           R"({"inputs": {}, "result": {"points": -1}, "outputs": []})",
                           R"({"inputs": {}, "result": {"device": 3}, "outputs": []})",
                           R"({"inputs": {}, "result": {"found_depths": [1]}, "outputs": []})",
                           R"({"inputs": {}, "result": {"found_depths": [1, "2"]}, "outputs": []})",
                           R"({"inputs": {}, "result": {"warnings": [1]}, "outputs": []})"}) {
    write("bad.json", text);
    EXPECT_FALSE(read_record(folder_ / "bad.json")) << text;
  }
}

}  // namespace
}  // namespace recon
