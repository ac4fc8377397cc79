// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/io/files/foreign_file.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/number_parse.hpp>

#include <algorithm>
#include <vector>

namespace tcsolve {
namespace {

using namespace std::string_view_literals;

/// A file that its first bytes name. In `convert`, FILE stands for its name.
struct Magic {
  std::string_view begins;
  char const *what, *convert;
};
constexpr Magic magics[] = {
    {"BZh"sv, "a bzip2 file", "unpack it first: `bunzip2 FILE`"},
    {"\x28\xb5\x2f\xfd"sv, "a Zstandard file", "unpack it first: `unzstd FILE`"},
    {"\x04\x22\x4d\x18"sv, "an LZ4 file", "unpack it first: `unlz4 FILE`"},
    {"\x1f\x9d"sv, "a file of compress", "unpack it first: `uncompress FILE`"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", "unpack it first: `7z x FILE`"},
    {"Rar!"sv, "a RAR archive", "unpack it first: `unrar x FILE`"},
    {"MATLAB 7.3 MAT-file"sv, "a MATLAB 7.3 file, which is HDF5",
     "save it as version 7, in MATLAB: `save('A.mat', 'A', '-v7')`"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file",
     "read its arrays with h5py and save them by `scipy.sparse.save_npz('A.npz', A)`"},
    {"\x7f"
     "ELF"sv,
     "a program (ELF)", "give a matrix or a config"},
    {"\x80\x04"sv, "a Python pickle", "save the matrix by `scipy.sparse.save_npz('A.npz', A)`"},
    {"\x80\x03"sv, "a Python pickle", "save the matrix by `scipy.sparse.save_npz('A.npz', A)`"},
    {"\x80\x05"sv, "a Python pickle", "save the matrix by `scipy.sparse.save_npz('A.npz', A)`"},
    {"\xff\xfe"sv, "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 FILE > new.txt`"},
    {"\xfe\xff"sv, "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 FILE > new.txt`"},
    {"%PDF"sv, "a PDF document", "give a matrix or a config"},
    {"\x89PNG"sv, "a picture (PNG)", "give a matrix or a config"},
    {"<!DOCTYPE"sv, "a web page", "it was downloaded in place of the file; download it again"},
    {"<html"sv, "a web page", "it was downloaded in place of the file; download it again"},
    {"<?xml"sv, "an XML file", "write the matrix as Matrix Market"},
    {"version https://git-lfs"sv, "a pointer of Git LFS", "get the file: `git lfs pull`"},
    {"Mat Object:"sv, "a matrix as PETSc prints it",
     "let PETSc write it: `-mat_view binary:A.petsc`"},
    {"%Mat Object:"sv, "a matrix as PETSc prints it",
     "let PETSc write it: `-mat_view binary:A.petsc`"},
    {"Vec Object:"sv, "a vector as PETSc prints it",
     "let PETSc write it: `-vec_view binary:b.petsc`"},
    {"%Vec Object:"sv, "a vector as PETSc prints it",
     "let PETSc write it: `-vec_view binary:b.petsc`"},
    {"#  HashMatrix"sv, "a matrix of FreeFem (HashMatrix)",
     R"~(convert it: `awk '/^#/{next} !s{s=1; z=1-$5; print "%%MatrixMarket matrix coordinate real "($4?"symmetric":"general"); print $1,$2,$3; next} NF{print $1+z,$2+z,$3}' FILE > A.mtx`)~"},
    {"# Sparse Matrix (Morse)"sv, "a matrix of FreeFem (Morse)",
     R"~(convert it: `awk '/^#/{next} !s{s=1; print "%%MatrixMarket matrix coordinate real "($3?"symmetric":"general"); print $1,$2,$4; next} NF{print}' FILE > A.mtx`)~"},
};

constexpr char const* from_triplets =
    R"~(convert it: `awk '{gsub(/[,;]/," ")} /^[#%]/||!NF{next} NR==FNR{k++; if($1>m)m=$1; if($2>n)n=$2; if($1==0||$2==0)z=1; next} !s{s=1; print "%%MatrixMarket matrix coordinate real general"; print m+z,n+z,k} {print $1+z,$2+z,$3}' FILE FILE > A.mtx`)~";
constexpr char const* from_pairs =
    R"~(convert it: `awk '{gsub(/[,;]/," ")} /^[#%]/||!NF{next} NR==FNR{k++; if($1>m)m=$1; if($2>m)m=$2; if($1==0||$2==0)z=1; next} !s{s=1; print "%%MatrixMarket matrix coordinate pattern general"; print m+z,m+z,k} {print $1+z,$2+z}' FILE FILE > A.mtx`)~";
constexpr char const* from_sized_triplets =
    R"~(put the banner before it: `sed '1i %%MatrixMarket matrix coordinate real general' FILE > A.mtx`)~";
constexpr char const* from_hypre =
    R"~(convert it (of one process): `awk 'NR==FNR{k+=NF>0; next} FNR==1{print "%%MatrixMarket matrix coordinate real general"; print $2-$1+1,$4-$3+1,k-1; r=1-$1; c=1-$3; next} NF{print $1+r,$2+c,$3}' FILE FILE > A.mtx`)~";
constexpr char const* from_hypre_vector =
    R"~(convert it (of one process): `awk 'NR>1 && NF{print $2}' FILE > b.txt`)~";
constexpr char const* from_abaqus =
    R"~(convert it, each row times the same number of degrees of freedom a node: `awk -F, '/^\*/||!NF{next} NR==FNR{k++; if($1>m)m=$1; if($2+0>d)d=$2+0; next} !s{s=1; print "%%MatrixMarket matrix coordinate real symmetric"; print m*d,m*d,k} {print ($1-1)*d+$2,($3-1)*d+$4,$5+0}' FILE FILE > A.mtx`)~";
constexpr char const* from_table =
    R"~(convert it: `python3 -c "import numpy, scipy.io, scipy.sparse, sys; scipy.io.mmwrite('A.mtx', scipy.sparse.coo_matrix(numpy.loadtxt(sys.argv[1], delimiter=DELIMITER)))" FILE`)~";

/// A word of a command as a shell takes it for one.
std::string shell_word(std::string const& text) {
  bool const plain = std::all_of(text.begin(), text.end(), [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || is_digit(c) || c == '.' ||
           c == '/' || c == '_' || c == '-' || static_cast<unsigned char>(c) > 127;
  });
  if (plain && !text.empty() && !text.starts_with('-')) return text;
  std::string quoted = text.starts_with('-') ? "'./" : "'";
  for (char const c : text)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

std::string with_name(std::string text, std::string const& file) {
  bool const named = file.find('\n') == std::string::npos && file != "standard input";
  std::string const word = named ? shell_word(file) : "FILE";
  for (std::size_t at = 0; (at = text.find("FILE", at)) != std::string::npos; at += word.size())
    text.replace(at, 4, word);
  return text;
}

/// A line that holds numbers alone, set apart by blanks, commas or semicolons.
struct NumberLine {
  std::vector<double> numbers;
  std::size_t integers = 0;  // how many at the front are integers
  bool commas = false;
};

std::optional<NumberLine> number_line(std::string_view text) {
  std::string line(text);
  NumberLine found;
  for (char& c : line)
    if (c == ',' || c == ';') {
      c = ' ';
      found.commas = true;
    }
  line += '\n';
  bool all_integers = true;
  for (char const* p = skip_blanks(line.data()); *p != '\n'; p = skip_blanks(p)) {
    char const* const at = p;
    double value = 0;
    Parsed const parsed = parse_real(p, value);
    if ((parsed != Parsed::number && parsed != Parsed::nonfinite) || (!is_blank(*p) && *p != '\n'))
      return std::nullopt;
    bool const integer =
        std::all_of(at, p, [](char c) { return is_digit(c) || c == '-' || c == '+'; });
    all_integers = all_integers && integer;
    found.integers += all_integers;
    found.numbers.push_back(value);
  }
  if (found.numbers.empty()) return std::nullopt;
  return found;
}

/// The first lines of text, those that are whole, without blank lines and comments. Empty where one
/// of them has something else than numbers.
std::vector<NumberLine> number_lines(std::string_view start) {
  constexpr std::size_t enough = 8;
  std::vector<NumberLine> lines;
  bool const cut = start.size() >= foreign_bytes;
  while (!start.empty() && lines.size() < enough) {
    std::size_t const end = start.find('\n');
    if (end == std::string_view::npos && cut && !lines.empty()) break;
    std::string_view line = start.substr(0, end);
    start.remove_prefix(end == std::string_view::npos ? start.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::size_t const first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    char const mark = line[first];
    if (mark == '#' || mark == '%' || mark == '*') continue;
    auto found = number_line(line);
    if (!found) return {};
    lines.push_back(std::move(*found));
  }
  return lines;
}

/// Whether lines `from` and after it have `fields` numbers, of which `integers` are integers.
bool all_have(std::vector<NumberLine> const& lines, std::size_t from, std::size_t fields,
              std::size_t integers) {
  return lines.size() > from && std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(from),
                                            lines.end(), [&](NumberLine const& line) {
                                              return line.numbers.size() == fields &&
                                                     line.integers >= integers;
                                            });
}

bool is_hypre_matrix(std::vector<NumberLine> const& lines) {
  if (lines.size() < 2 || lines[0].numbers.size() != 4 || lines[0].integers != 4) return false;
  auto const& range = lines[0].numbers;
  double const row = lines[1].numbers[0];
  return all_have(lines, 1, 3, 2) && range[0] <= range[1] && range[2] <= range[3] &&
         range[0] <= row && row <= range[1];
}

bool is_hypre_vector(std::vector<NumberLine> const& lines) {
  if (lines.size() < 2 || lines[0].numbers.size() != 2 || lines[0].integers != 2) return false;
  double const first = lines[0].numbers[0];
  if (!all_have(lines, 1, 2, 1) || lines[0].numbers[1] < first) return false;
  for (std::size_t k = 1; k < lines.size(); ++k)
    if (lines[k].numbers[0] != first + static_cast<double>(k - 1)) return false;
  return true;
}

/// Whether the first of lines of three numbers is rows, columns and entries of those after it.
bool begins_with_sizes(std::vector<NumberLine> const& lines) {
  if (lines.size() < 2 || lines[0].integers != 3 || lines[0].numbers[2] < 1) return false;
  return std::all_of(lines.begin() + 1, lines.end(),
                     [&](NumberLine const& line) {
                       return line.numbers[0] >= 1 && line.numbers[1] >= 1 &&
                              line.numbers[0] <= lines[0].numbers[0] &&
                              line.numbers[1] <= lines[0].numbers[1];
                     }) &&
         (lines[1].numbers[0] < lines[0].numbers[0] || lines[1].numbers[1] < lines[0].numbers[1]);
}

std::optional<ForeignFile> by_magic(std::string_view start, std::string const& file) {
  for (Magic const& magic : magics)
    if (start.starts_with(magic.begins))
      return ForeignFile{magic.what, with_name(magic.convert, file)};
  return std::nullopt;
}

}  // namespace

std::optional<ForeignFile> foreign_matrix(std::string_view start, std::string const& file) {
  if (auto const found = by_magic(start, file)) return found;
  auto const lines = number_lines(start);
  if (lines.empty()) return std::nullopt;
  bool const commas = lines[0].commas;
  auto const is = [&](std::string what, char const* convert) {
    return ForeignFile{std::move(what), with_name(convert, file)};
  };
  if (is_hypre_matrix(lines)) return is("a matrix of HYPRE (HYPRE_IJMatrixPrint)", from_hypre);
  if (is_hypre_vector(lines))
    return is("a vector of HYPRE (HYPRE_IJVectorPrint), and a matrix is asked for",
              from_hypre_vector);
  if (commas && all_have(lines, 0, 5, 4))
    return is("a matrix of Abaqus (*MATRIX OUTPUT: node, freedom, node, freedom, value)",
              from_abaqus);
  if (all_have(lines, 0, 3, 2)) {
    if (!commas && begins_with_sizes(lines))
      return is("a Matrix Market file without its banner, or one like it", from_sized_triplets);
    return is("a list of triplets (row, column, value) without a header", from_triplets);
  }
  if (all_have(lines, 0, 2, 2)) return is("a list of pairs, such as edges of a graph", from_pairs);
  if (all_have(lines, 0, 1, 0))
    return ForeignFile{"a list of numbers, a vector",
                       with_name("a matrix is asked for: `tcsolve A.mtx FILE`", file)};
  if (!all_have(lines, 0, lines[0].numbers.size(), 0)) return std::nullopt;
  std::string table = from_table;
  std::string const delimiter = "DELIMITER";
  table.replace(table.find(delimiter), delimiter.size(), commas ? "','" : "None");
  return is(cat("a table of numbers, ", lines[0].numbers.size(), " on a line: a dense matrix"),
            table.c_str());
}

std::optional<ForeignFile> foreign_columns(std::string_view start, std::string const& file) {
  if (auto const found = by_magic(start, file)) return found;
  auto const lines = number_lines(start);
  if (is_hypre_vector(lines))
    return ForeignFile{"a vector of HYPRE (HYPRE_IJVectorPrint)",
                       with_name(from_hypre_vector, file)};
  if (is_hypre_matrix(lines))
    return ForeignFile{"a matrix of HYPRE (HYPRE_IJMatrixPrint), and a vector is asked for",
                       with_name(from_hypre, file)};
  return std::nullopt;
}

}  // namespace tcsolve
