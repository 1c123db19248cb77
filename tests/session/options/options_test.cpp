// Values of options: sizes in bytes, shards, numbers of planes, defaults, devices.

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "session/options/option_text.hpp"
#include "session/session.hpp"

namespace recon {
namespace {

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
  EXPECT_EQ(options.resolved_filter().max_cost, 0.6f);
  options.use(Method::kPlaneSweep).cost.kind = CostKind::kSad;
  EXPECT_EQ(options.resolved_filter().max_cost, 15.0f);
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

}  // namespace
}  // namespace recon
