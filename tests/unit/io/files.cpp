// SPDX-License-Identifier: Apache-2.0
/// Matrix Market on disk: plain, gzip, xz, corrupt, missing; writing and reading back.
#include <tcsolve/io/atomic_file.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/io/hash.hpp>

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "tests/support/files.hpp"

namespace tcsolve::test {
namespace {

namespace fs = std::filesystem;

std::string gzip(std::string const& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(std::string const& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<std::uint8_t const*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

class Files : public testing::Test {
 protected:
  fs::path file(std::string const& name) const { return folder_ / name; }
  fs::path file(std::string const& name, std::string const& bytes) const {
    return write_text(file(name), bytes);
  }
  /// The message of the MatrixError that reading gives, without the folder.
  std::string fault(fs::path const& path) const {
    try {
      read_matrix_market(path);
    } catch (MatrixError const& e) {
      return std::string(e.what()).substr(folder_.path().string().size() + 1);
    }
    return "nothing";
  }
  /// About 3 MB: several blocks of text.
  static std::string const& text() {
    static std::string const made = [] {
      constexpr int n = 100'000;
      std::string out =
          cat("%%MatrixMarket matrix coordinate real general\n", n, " ", n, " ", n, "\n");
      for (int i = 1; i <= n; ++i)
        out += cat(1 + (i * 7LL) % n, " ", i, " ", uniform(static_cast<std::uint64_t>(i)), "\n");
      return out;
    }();
    return made;
  }
  TemporaryFolder folder_;
};

TEST_F(Files, PlainGzipAndXzGiveTheSameMatrix) {
  auto const expected = parse_matrix_market(text());
  for (int const threads : {1, 2, 5}) {
    ReadOptions const options{.threads = threads};
    EXPECT_EQ(read_matrix_market(file("a.mtx", text()), options), expected);
    EXPECT_EQ(read_matrix_market(file("a.mtx.gz", gzip(text())), options), expected);
    EXPECT_EQ(read_matrix_market(file("a.mtx.xz", xz(text())), options), expected);
  }
  // The bytes decide, not the name.
  EXPECT_EQ(read_matrix_market(file("b.mtx", xz(text()))), expected);
  // Parts that were compressed one by one.
  auto const cut = text().size() / 2;
  std::string const head = text().substr(0, cut), tail = text().substr(cut);
  EXPECT_EQ(read_matrix_market(file("c.gz", gzip(head) + gzip(tail))), expected);
  EXPECT_EQ(read_matrix_market(file("c.xz", xz(head) + xz(tail))), expected);
}

TEST_F(Files, FaultsInsideCompressedTextNameTheLine) {
  std::string const bad = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n";
  EXPECT_EQ(fault(file("a.gz", gzip(bad))), "a.gz:4: the row in '3 1 1' is outside 1 .. 2");
  EXPECT_EQ(fault(file("a.xz", xz(bad))), "a.xz:4: the row in '3 1 1' is outside 1 .. 2");
}

TEST_F(Files, TruncatedOrCorruptCompressedFiles) {
  for (auto const& [name, whole] :
       {std::pair{"a.gz", gzip(text())}, std::pair{"a.xz", xz(text())}}) {
    SCOPED_TRACE(name);
    for (std::size_t const size : {whole.size() - 1, whole.size() / 2, std::size_t{7}}) {
      auto const what = fault(file(name, whole.substr(0, size)));
      EXPECT_NE(what.find("data ends early: the file is truncated"), std::string::npos) << what;
    }
    for (std::size_t const at : {whole.size() / 3, whole.size() - 6}) {
      std::string corrupt = whole;
      corrupt[at] = static_cast<char>(corrupt[at] ^ 0x55);
      auto const what = fault(file(name, corrupt));
      EXPECT_NE(what, "nothing");
    }
    auto const what = fault(file(name, whole.substr(0, 6) + std::string(1000, 'x')));
    EXPECT_NE(what.find(":1: corrupt "), std::string::npos) << what;
  }
}

TEST_F(Files, WhatIsNoReadableFile) {
  EXPECT_EQ(fault(file("none.mtx")), "none.mtx: No such file or directory");
  fs::create_directory(file("folder.mtx"));
  EXPECT_EQ(fault(file("folder.mtx")), "folder.mtx: is a directory");
  EXPECT_EQ(fault(file("empty.mtx", "")), "empty.mtx:1: the file is empty");
  EXPECT_THROW(read_vector(file("none.txt")), MatrixError);
  EXPECT_THROW(read_matrix_market_header(file("none.mtx")), MatrixError);
  EXPECT_THROW(read_matrix_market("/dev/zero"), MatrixError);
}

TEST_F(Files, HeaderAlone) {
  auto const h = read_matrix_market_header(file(
      "h.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n% c\n5 5 2\n1 1 x\n2 2 x\n"));
  EXPECT_EQ(h.layout, MatrixLayout::coordinate);
  EXPECT_EQ(h.field, MatrixField::integer);
  EXPECT_EQ(h.symmetry, MatrixSymmetry::symmetric);
  EXPECT_EQ(h.rows, 5);
  EXPECT_EQ(h.stored, 2);
  EXPECT_EQ(h.line, 3);
  EXPECT_EQ(h.max_entries(), 4);
  EXPECT_EQ(h.csr_bytes(), 8 * 6 + 12 * 4);
}

TEST_F(Files, MatricesReadBackToTheSameBits) {
  Csr<double> a;
  a.rows = 70'000;
  a.cols = 3;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = i % 5; j < 3; ++j) {  // some rows are empty
      a.columns.push_back(j);
      a.values.push_back(
          std::ldexp(uniform(static_cast<std::uint64_t>(3 * i + j)) - 0.5, i % 2000 - 1000));
    }
    a.offsets.push_back(a.entries());
  }
  for (int const threads : {1, 3}) {
    write_matrix_market(file("a.mtx"), a, threads);
    EXPECT_EQ(read_matrix_market(file("a.mtx")), a);
  }
  Csr<double> const none{.rows = 2, .cols = 0, .offsets = {0, 0, 0}, .columns = {}, .values = {}};
  write_matrix_market(file("none.mtx"), none);
  EXPECT_EQ(read_matrix_market(file("none.mtx")), none);
}

TEST_F(Files, VectorsReadBackToTheSameBits) {
  using Limits = std::numeric_limits<double>;
  std::vector<double> x = {0, 1, -1.0 / 3, Limits::max(), Limits::min(), Limits::denorm_min()};
  for (std::uint64_t i = 0; i < 100'000; ++i) x.push_back(uniform(i));
  write_vector(file("x.mtx"), x);
  EXPECT_EQ(read_vector(file("x.mtx")), x);
  write_vector(file("empty.mtx"), {});
  EXPECT_TRUE(read_vector(file("empty.mtx")).empty());
}

}  // namespace
}  // namespace tcsolve::test
