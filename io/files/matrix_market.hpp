// SPDX-License-Identifier: Apache-2.0
/// Matrix Market files (Boisvert, Pozo, Remington 1996, NISTIR 5935), plain or compressed by gzip
/// or xz: matrices and vectors in and out.
///
///     layout    coordinate, array (all entries of an array are stored, zeros too)
///     field     real, integer (rounded to double beyond 2^53), pattern (every entry 1)
///     symmetry  general, symmetric, skew-symmetric: expanded to both triangles
///
/// complex and hermitian are refused by name. Every fault is a MatrixError `file:line: what`.
#pragma once

#include <tcsolve/core/cancel.hpp>
#include <tcsolve/io/files/byte_source.hpp>
#include <tcsolve/io/files/columns.hpp>
#include <tcsolve/io/files/matrix_market_header.hpp>
#include <tcsolve/matrix/csr.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tcsolve {

/// What reading took, for reports.
struct ReadStats {
  double seconds = 0;           ///< in all
  double assemble_seconds = 0;  ///< of which from the last entry read to the finished CSR
  std::int64_t text_bytes = 0;  ///< decompressed
  std::int64_t lines = 0;
  Offset stored = 0;  ///< entries in the file
  int threads = 0;
};

/// What the values of a PETSc file are, which it does not say: float64 unless they look like pairs
/// of float32, which is an error; float64 in any case; float32.
enum class PetscScalar { automatic, float64, float32 };
constexpr auto names(PetscScalar) {
  return std::array{std::pair{PetscScalar::automatic, "auto"},
                    std::pair{PetscScalar::float64, "float64"},
                    std::pair{PetscScalar::float32, "float32"}};
}

struct ReadOptions {
  int threads = 0;                          ///< 0: one per hardware thread
  Duplicates duplicates = Duplicates::sum;  ///< summed in the order of the file
  NonFinite nonfinite = NonFinite::refuse;  ///< NaN and Inf
  std::int64_t memory_limit = 0;            ///< bytes; 0: 80 % of what the system has available
  PetscScalar petsc = PetscScalar::automatic;
  CancelFlag cancel{};         ///< once raised, reading throws Cancelled
  ReadStats* stats = nullptr;  ///< filled when given
};

/// The matrix in a file, canonical: columns sorted, duplicates summed (or refused), explicit zeros
/// kept. The result has the same bits for every number of threads.
///
/// A symmetric file may store either triangle, or some of both, but no pair (i, j), (j, i).
/// Throws MatrixError (malformed, truncated or corrupt file, wrong counts, non-finite or repeated
/// entries if refused), SizeError (more than 2^31 - 1 rows or columns) and MemoryError, before the
/// allocation, when MatrixHeader::reading_bytes() exceeds the limit. Nothing is allocated because a
/// header says so, except the 8 (rows + 1) bytes of offsets and those within the limit.
/// Cost: 28 bytes of memory for each entry at peak; time as measured by bench/read_bench.
Csr<double> read_matrix_market(std::filesystem::path const& path, ReadOptions const& options = {});

/// The same for text in memory; `name` stands for the file in messages.
Csr<double> parse_matrix_market(std::string_view text, std::string const& name = "text",
                                ReadOptions const& options = {});

/// Reads only the header, e.g. to state the memory that the matrix will need.
MatrixHeader read_matrix_market_header(std::filesystem::path const& path);

/// A file that can be opened more than once: to be read, and again, e.g. to find the line of a
/// fault. `name` stands for the file in messages.
struct TextInput {
  std::string name;
  std::function<std::unique_ptr<ByteSource>()> open;
};

/// The columns in a file: Matrix Market, array or coordinate (absent entries are 0), or plain text
/// with the numbers of a row on a line, where blank lines and lines that start with '%' are
/// skipped. Throws like read_matrix_market.
Columns read_columns(TextInput const& input, ReadOptions const& options = {});
/// Their extents as far as they are known before all is read: of plain text the number of columns.
ColumnsSize columns_size(TextInput const& input);

/// The same of a file with one column.
std::vector<double> read_vector(std::filesystem::path const& path, ReadOptions const& options = {});

/// The same for text in memory.
std::vector<double> parse_vector(std::string_view text, std::string const& name = "text",
                                 ReadOptions const& options = {});

/// What the functions above do, of any text.
Csr<double> read_matrix_market(TextInput const& input, ReadOptions const& options = {});
MatrixHeader read_matrix_market_header(TextInput const& input);
std::vector<double> read_vector(TextInput const& input, ReadOptions const& options = {});

/// Writes `coordinate real general`, each value in the shortest form that reads back to the same
/// bits. The file appears whole or not at all (AtomicFile). Throws Error when it can't be written.
void write_matrix_market(std::filesystem::path const& path, Csr<double> const& a, int threads = 0);

/// Writes `array real general`, n x columns, in the same manner: x has one column after another.
void write_vector(std::filesystem::path const& path, std::span<double const> x, Index columns = 1,
                  int threads = 0);

}  // namespace tcsolve
