// SPDX-License-Identifier: Apache-2.0
/// The cache on disk: what goes in comes out or nothing does; and orders kept in it.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/io/plan_cache.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class PlanCache : public ::testing::Test {
 protected:
  std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  TemporaryFolder parent_;
  fs::path const folder_ = parent_ / "cache";  ///< not there yet
};

TEST_F(PlanCache, GivesBackWhatWasPut) {
  DiskCache const cache(folder_, 1 << 20);
  EXPECT_EQ(cache.get("a"), std::nullopt);
  std::string const binary("x\0y\n\xff", 5);
  EXPECT_EQ(cache.put("a", binary), "");
  EXPECT_EQ(cache.put("b", ""), "");
  EXPECT_EQ(cache.get("a"), binary);
  EXPECT_EQ(cache.get("b"), "");
  EXPECT_EQ(cache.put("a", "other"), "");
  EXPECT_EQ(cache.get("a"), "other");
  EXPECT_EQ(DiskCache(folder_, 1 << 20).get("a"), "other") << "another process";
}

TEST_F(PlanCache, ADamagedFileIsAbsentAndRemoved) {
  DiskCache const cache(folder_, 1 << 20);
  std::string const content = "eleven bytes";
  cache.put("key", content);
  std::string const whole = read_text(cache.file("key"));
  for (std::size_t byte = 0; byte < whole.size(); ++byte)
    for (char const damage : {'\x01', '\x80'}) {
      std::string broken = whole;
      broken[byte] = static_cast<char>(broken[byte] ^ damage);
      write_text(cache.file("key"), broken);
      EXPECT_EQ(cache.get("key"), std::nullopt) << "byte " << byte;
      EXPECT_FALSE(fs::exists(cache.file("key"))) << "byte " << byte;
    }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_text(cache.file("key"), whole.substr(0, length));
    EXPECT_EQ(cache.get("key"), std::nullopt) << "cut to " << length;
  }
  write_text(cache.file("key"), whole + "more");
  EXPECT_EQ(cache.get("key"), std::nullopt);
  EXPECT_EQ(cache.put("key", content), "");
  EXPECT_EQ(cache.get("key"), content);
}

TEST_F(PlanCache, AnotherKeyInTheFileIsNotTakenForThisOne) {
  DiskCache const cache(folder_, 1 << 20);
  cache.put("one", "1");
  cache.put("two", "2");
  fs::copy_file(cache.file("one"), cache.file("two"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.get("two"), std::nullopt);
}

TEST_F(PlanCache, RemovesWhatWasUsedLongestAgo) {
  std::string const content(1000, 'x');
  DiskCache const cache(folder_, 3500);  // three files of 1041 bytes
  auto const now = fs::file_time_type::clock::now();
  int age = 10;
  for (char const* key : {"a", "b", "c"}) {
    cache.put(key, content);
    fs::last_write_time(cache.file(key), now - age-- * 1h);
  }
  EXPECT_EQ(files(), 3u);
  EXPECT_TRUE(cache.get("a"));  // used now
  cache.put("d", content);
  EXPECT_FALSE(fs::exists(cache.file("b")));
  for (char const* key : {"a", "c", "d"}) EXPECT_TRUE(fs::exists(cache.file(key))) << key;
}

TEST_F(PlanCache, KeepsNothingLargerThanItsLimit) {
  DiskCache const cache(folder_, 200);
  EXPECT_NE(cache.put("a", std::string(200, 'x')).find("200"), std::string::npos);
  EXPECT_EQ(cache.get("a"), std::nullopt);
  EXPECT_EQ(cache.put("a", "x"), "");
}

TEST_F(PlanCache, SaysWhyNothingCanBeWritten) {
  write_text(folder_, "a file where the directory should be");
  DiskCache const cache(folder_, 1 << 20);
  EXPECT_NE(cache.put("a", "x"), "");
  EXPECT_EQ(cache.get("a"), std::nullopt);
}

TEST_F(PlanCache, ManyWritersAndReadersSeeWholeFiles) {
  DiskCache const cache(folder_, 12 * 5000);  // fewer files than keys: they are removed meanwhile
  std::atomic<int> wrong{0}, seen{0};
  auto const content = [](int key, int size) {
    return std::string(std::size_t(1000 + size * 500), static_cast<char>('a' + key));
  };
  auto const worker = [&](unsigned seed) {
    for (int i = 0; i < 300; ++i) {
      seed = seed * 1664525u + 1013904223u;
      int const key = int(seed >> 16) % 20, size = int(seed >> 24) % 7;
      if (seed & 0x8000) {
        cache.put(std::to_string(key), content(key, size));
      } else if (auto const got = cache.get(std::to_string(key))) {
        ++seen;
        bool right = false;
        for (int s = 0; s < 7; ++s) right = right || *got == content(key, s);
        wrong += !right;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= 4; ++t) threads.emplace_back(worker, t);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(seen, 0);
}

Csr<double> lost(Index n) {
  return generate(Poisson27Params{.n = n, .renumber = Renumber::random, .seed = 7});
}

TEST_F(PlanCache, PatternKeysTellPatternsApart) {
  Csr<double> const a = lost(8);
  Csr<double> scaled = a;
  for (double& v : scaled.values) v *= 3;
  EXPECT_EQ(pattern_key(a), pattern_key(scaled)) << "values play no part";
  Csr<double> other = a;
  // One entry moves to a neighbouring column that the row does not use.
  for (Index i = 0; i < other.rows; ++i) {
    Offset const last = other.offsets[i + 1] - 1;
    if (other.columns[last] + 1 >= other.cols) continue;
    ++other.columns[last];
    EXPECT_NE(pattern_key(a), pattern_key(other)) << i;
    --other.columns[last];
  }
  // Two rows change places; the sums over entries would be the same without their places.
  Csr<double> const p{2, 3, {0, 1, 2}, {0, 2}, {1, 1}}, q{2, 3, {0, 1, 2}, {2, 0}, {1, 1}};
  EXPECT_NE(pattern_key(p), pattern_key(q));
  Csr<double> const r{2, 3, {0, 2, 2}, {0, 2}, {1, 1}}, s{2, 3, {0, 0, 2}, {0, 2}, {1, 1}};
  EXPECT_NE(pattern_key(r), pattern_key(s));
}

TEST_F(PlanCache, OrdersComeBackAsTheyWere) {
  DiskCache const cache(folder_, 1 << 24);
  for (Csr<double> const& a : {lost(8), generate(Poisson7Params{.n = 6})})
    for (Reorder const asked : {Reorder::rcm, Reorder::automatic}) {
      Reordering const wanted = reordering(a, asked);
      std::string note;
      for (char const* says : {"kept in the cache", "from the cache"}) {
        Reordering const got = reordering(a, asked, cache, note);
        EXPECT_EQ(note, says);
        EXPECT_EQ(got.taken, wanted.taken);
        EXPECT_EQ(got.P, wanted.P);
        EXPECT_EQ(text(got), text(wanted));
      }
    }
}

TEST_F(PlanCache, AnOrderThatIsNoneIsComputedAnew) {
  DiskCache const cache(folder_, 1 << 24);
  Csr<double> const a = lost(8);
  std::string note;
  Reordering const wanted = reordering(a, Reorder::rcm, cache, note);
  // A well-formed file whose permutation is not one: the checksum is right, the content is not.
  fs::path const file = fs::directory_iterator(folder_)->path();
  std::string const whole = read_text(file);
  std::uint64_t key_bytes = 0;
  std::memcpy(&key_bytes, whole.data() + 24, 8);
  std::string const key = whole.substr(40, key_bytes);
  std::string content = whole.substr(40 + key_bytes);
  std::memcpy(content.data() + content.size() - 4, content.data() + content.size() - 8, 4);
  ASSERT_EQ(cache.put(key, content), "");
  EXPECT_EQ(reordering(a, Reorder::rcm, cache, note).P, wanted.P);
  EXPECT_EQ(note, "kept in the cache");
}

TEST_F(PlanCache, ACacheThatCannotBeWrittenCostsOnlyTime) {
  write_text(folder_, "no directory");
  std::string note;
  Csr<double> const a = lost(6);
  EXPECT_EQ(reordering(a, Reorder::rcm, DiskCache(folder_, 1 << 20), note).P,
            reordering(a, Reorder::rcm).P);
  EXPECT_TRUE(note.starts_with("not kept in the cache: ")) << note;
}

}  // namespace
}  // namespace tcsolve::test
