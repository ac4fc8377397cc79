// SPDX-License-Identifier: Apache-2.0
/// The program where memory or a device call fails, at every place in turn: exit code 5 and a word
/// on standard error, or the answer where it can do without.
#include <tcsolve/app/program.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/core/faults.hpp>

#include <array>

#include "tests/cli/program.hpp"

namespace tcsolve::cli {
namespace {

class ProgramFaults : public Program {
 protected:
  void TearDown() override {
    faults::fail_allocation_after(-1);
    faults::fail_device_call_after(-1);
  }
  /// Fails call 0, 1, 2, ... of a run, until it has no such call; returns how many ended with 5.
  template <class Arm>
  int fail_each(char const* backend, Arm const& arm) {
    std::string const config = (folder_.path() / "my.yaml").string();
    std::string const output = (folder_.path() / "out").string();
    write_text(config, cat(small_config, "operator: {format: csr}\n"));
    std::array const arguments{"tcsolve",  config.c_str(), "--backend", backend,
                               "--output", output.c_str(), "--quiet"};
    int failed = 0;
    for (int k = 0; k < 2000; ++k) {
      arm(k);
      testing::internal::CaptureStdout();
      testing::internal::CaptureStderr();
      int const code = run_program(static_cast<int>(arguments.size()), arguments.data());
      bool const over = faults::pending();
      arm(-1);
      std::string const out = testing::internal::GetCapturedStdout(),
                        err = testing::internal::GetCapturedStderr();
      if (over) {
        EXPECT_EQ(code, 0) << err;
        return failed;
      }
      EXPECT_TRUE(code == 0 || code == 5) << "fault " << k << ": code " << code << "\n"
                                          << out << err;
      EXPECT_TRUE(code == 0 || !err.empty() || !out.empty()) << "fault " << k << ": not a word";
      failed += code == 5;
    }
    ADD_FAILURE() << "a fault is always left";
    return failed;
  }
};

TEST_F(ProgramFaults, EveryAllocationMayFail) {
  EXPECT_GE(fail_each("host", faults::fail_allocation_after), 8);
}

TEST_F(ProgramFaults, EveryAllocationMayFailOnAGpu) {
  if (std::string why; !cuda::available(why)) GTEST_SKIP() << why;
  EXPECT_GE(fail_each("cuda", faults::fail_allocation_after), 8);
}

TEST_F(ProgramFaults, EveryDeviceCallMayFailOnAGpu) {
  if (std::string why; !cuda::available(why)) GTEST_SKIP() << why;
  EXPECT_GE(fail_each("cuda", faults::fail_device_call_after), 20);
}

}  // namespace
}  // namespace tcsolve::cli
