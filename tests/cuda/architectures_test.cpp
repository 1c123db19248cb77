#include "cuda/methods/architectures.hpp"

#include <gtest/gtest.h>

namespace recon::cuda {
namespace {

constexpr const char* kPackage = "sm_75 sm_80 sm_90 sm_120 compute_120";

TEST(Architectures, MachineCodeRunsOnLaterMinorVersions) {
  EXPECT_EQ(code_for(kPackage, {7, 5}), CodeFor::kMachine);
  EXPECT_EQ(code_for(kPackage, {8, 9}), CodeFor::kMachine);
  EXPECT_EQ(code_for(kPackage, {12, 1}), CodeFor::kMachine);
  EXPECT_EQ(code_for("sm_86", {8, 0}), CodeFor::kNone);
  EXPECT_EQ(code_for("sm_86", {8, 6}), CodeFor::kMachine);
}

TEST(Architectures, PtxRunsOnAllLaterOnes) {
  EXPECT_EQ(code_for("compute_75 sm_90", {8, 9}), CodeFor::kPtx);
  EXPECT_EQ(code_for("compute_75 sm_90", {7, 5}), CodeFor::kPtx);
  EXPECT_EQ(code_for("compute_75 sm_90", {9, 0}), CodeFor::kMachine);
  EXPECT_EQ(code_for("compute_75 sm_90", {10, 0}), CodeFor::kPtx);
  EXPECT_EQ(code_for("compute_75 sm_90", {7, 0}), CodeFor::kNone);
  EXPECT_EQ(code_for(kPackage, {10, 3}), CodeFor::kNone);
}

TEST(Architectures, SuffixesBindCode) {
  EXPECT_EQ(code_for("sm_90a compute_90a", {9, 0}), CodeFor::kMachine);
  EXPECT_EQ(code_for("compute_100a", {10, 3}), CodeFor::kNone);
  EXPECT_EQ(code_for("compute_90a", {10, 0}), CodeFor::kNone);
  EXPECT_EQ(code_for("compute_100f", {10, 3}), CodeFor::kPtx);
  EXPECT_EQ(code_for("compute_100f", {12, 0}), CodeFor::kNone);
}

TEST(Architectures, AreListedToBeRead) {
  EXPECT_EQ(described_code("compute_75 sm_80 sm_90"), "code for sm_80, sm_90, PTX for compute_75");
  EXPECT_EQ(described_code("compute_75"), "PTX for compute_75");
  EXPECT_EQ(described_code("sm_90a"), "code for sm_90a");
}

}  // namespace
}  // namespace recon::cuda
