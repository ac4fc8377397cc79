// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/atomic_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;

class AtomicFiles : public testing::Test {
 protected:
  auto files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  static std::string fault(fs::path const& path) {
    try {
      write_file(path, "text");
    } catch (Error const& e) { return e.what(); }
    return "nothing";
  }
  TemporaryFolder folder_;
};

TEST_F(AtomicFiles, AppearWhenCommitted) {
  auto const path = folder_ / "a.txt";
  AtomicFile file(path);
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read_text(path), "one two");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFiles, LeaveTheOldFileUntilThen) {
  auto const path = folder_ / "a.txt";
  write_file(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_EQ(files(), 2);
  }  // abandoned
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(files(), 1);
  write_file(path, "new");
  EXPECT_EQ(read_text(path), "new");
}

TEST_F(AtomicFiles, TwoAtOnceDoNotMix) {
  auto const path = folder_ / "a.txt";
  AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_text(path), "first");
}

TEST_F(AtomicFiles, KeepSymbolicLinks) {
  write_file(folder_ / "real.txt", "old");
  fs::create_symlink(folder_ / "real.txt", folder_ / "link.txt");
  write_file(folder_ / "link.txt", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.txt"));
  EXPECT_EQ(read_text(folder_ / "real.txt"), "new");
}

TEST_F(AtomicFiles, FaultsNameTheFileAndTheReason) {
  auto const missing = folder_ / "none" / "a.txt";
  EXPECT_EQ(fault(missing),
            missing.string() + ": cannot create a file beside it: No such file or directory");
  EXPECT_EQ(fault(folder_.path()),
            folder_.path().string() + ": cannot write: it exists and is not a regular file");
  EXPECT_NE(fault("/dev/null"), "nothing");
  EXPECT_EQ(files(), 0);
}

TEST_F(AtomicFiles, ARenameThatFailsLeavesNothing) {
  auto const path = folder_ / "a.txt";
  AtomicFile file(path);
  fs::create_directory(path);  // meanwhile
  EXPECT_THROW(file.commit(), Error);
  EXPECT_EQ(files(), 1);  // the directory
}

}  // namespace
}  // namespace tcsolve::test
