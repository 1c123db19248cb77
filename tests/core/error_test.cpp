#include "core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recon {
namespace {

using testing::HasSubstr;

TEST(Error, ExitCodesAreThoseOfTheManual) {
  EXPECT_EQ(UsageError("").exit_code(), 2);
  EXPECT_EQ(InputError("").exit_code(), 3);
  EXPECT_EQ(OutOfMemory("").exit_code(), 4);
  EXPECT_EQ(DeviceUnavailable("").exit_code(), 5);
  EXPECT_EQ(Interrupted().exit_code(), 130);
  EXPECT_EQ(OutputError("").exit_code(), 1);
  EXPECT_EQ(DeviceError("").exit_code(), 1);
}

TEST(Error, KeepsItsMessage) {
  try {
    throw InputError("cameras.txt:4: camera 2 twice");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cameras.txt:4: camera 2 twice");
  }
}

TEST(Expects, NamesConditionAndPlace) {
  int line = 0;
  try {
    const int planes = 0;
    line = __LINE__ + 1;
    EXPECTS(planes > 0);
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("planes > 0"));
    EXPECT_THAT(error.what(), HasSubstr("error_test.cpp:" + std::to_string(line) + ":"));
  }
}

TEST(Expects, EvaluatesItsConditionOnce) {
  int calls = 0;
  EXPECTS(++calls == 1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace recon
