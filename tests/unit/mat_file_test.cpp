// The reader of MATLAB 5 files: layouts, byte orders, compression, and what lies.
#include "hyperatom/io/mat_file.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "hyperatom/base/error.hpp"
#include "tests/support/mat5.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::Mat5Writer;
using test::thrown;
using testing::ElementsAre;
namespace mat5 = test::mat5;

std::vector<ArrayInfo> list(const std::string& bytes) {
  std::istringstream file(bytes);
  return list_mat5(file, "x.mat");
}

NumericArray read(const std::string& bytes, const std::string& variable) {
  std::istringstream file(bytes);
  return read_mat5(file, "x.mat", variable);
}

std::string error_of(const std::string& bytes) {
  return thrown<DataError>([&] { read(bytes, "a"); });
}

/// The cube whose value at (row, col, band) is 100 row + 10 col + band, as MATLAB stores it.
template <class T>
std::vector<T> cube_values(Index rows, Index cols, Index bands) {
  std::vector<T> values;
  for (Index band = 0; band < bands; ++band)
    for (Index col = 0; col < cols; ++col)
      for (Index row = 0; row < rows; ++row)
        values.push_back(static_cast<T>(100 * row + 10 * col + band));
  return values;
}

void expect_cube(const NumericArray& array, Index rows, Index cols, Index bands) {
  ASSERT_THAT(array.info.shape, ElementsAre(rows, cols, bands));
  MatrixF pixels;
  array.read_rows(0, rows, pixels);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      for (Index band = 0; band < bands; ++band)
        EXPECT_EQ(pixels(band, row * cols + col), static_cast<float>(100 * row + 10 * col + band));
  array.read_rows(1, 1, pixels);
  EXPECT_EQ(pixels.cols(), cols);
  EXPECT_EQ(pixels(0, 0), 100);
}

template <class T>
void expect_type(std::uint32_t type, std::uint32_t mat_class, const std::string& name) {
  for (const bool big_endian : {false, true}) {
    const Mat5Writer w(big_endian);
    const std::string values = w.element(type, w.numbers(cube_values<T>(2, 3, 4)));
    const std::string variable = w.variable("a", mat_class, {2, 3, 4}, values);
    for (const std::string& bytes : {w.file(variable), w.file(w.compress(variable))}) {
      expect_cube(read(bytes, "a"), 2, 3, 4);
      EXPECT_EQ(list(bytes)[0].type, name);
    }
  }
}

TEST(MatFile, ReadsEveryNumericTypeInBothByteOrdersPlainAndCompressed) {
  expect_type<std::uint8_t>(mat5::uint8, mat5::class_uint8, "uint8");
  expect_type<std::int16_t>(mat5::int16, mat5::class_int16, "int16");
  expect_type<std::uint16_t>(mat5::uint16, mat5::class_uint16, "uint16");
  expect_type<std::int32_t>(mat5::int32, 12, "int32");
  expect_type<std::uint32_t>(mat5::uint32, 13, "uint32");
  expect_type<std::int64_t>(mat5::int64, 14, "int64");
  expect_type<std::uint64_t>(mat5::uint64, mat5::class_uint64, "uint64");
  expect_type<float>(mat5::single, mat5::class_single, "single");
  expect_type<double>(mat5::float64, mat5::class_double, "double");
}

TEST(MatFile, ReadsValuesStoredInASmallerTypeThanTheirClass) {
  const Mat5Writer w;
  const std::string bytes =
      w.file(w.variable("a", mat5::class_double, {2, 2},
                        w.small_element(mat5::int8, w.numbers<std::int8_t>({1, -2, 3, -4}))));
  const NumericArray array = read(bytes, "a");
  EXPECT_EQ(array.info.text(), "a (2 x 2 double)");
  EXPECT_THAT(array.read_rows(0, 2), ElementsAre(1, 3, -2, -4));
  EXPECT_THAT(array.read_rows(1, 1), ElementsAre(-2, -4));
}

TEST(MatFile, ListsWhatItCannotReadAndSkipsItUnopened) {
  const Mat5Writer w;
  const std::string number = w.element(mat5::float64, w.numbers<double>({7}));
  const std::string long_name(63, 'n');
  const std::string bytes =
      w.file(w.variable("c", mat5::class_cell, {1, 2}, number) +
             w.compress(w.variable("strct", mat5::class_struct, {1, 1}, "")) +
             w.variable("text", mat5::class_char, {1, 1}, w.small_element(mat5::uint16, "x")) +
             w.variable("sparse", mat5::class_sparse, {9, 9}, number) +
             w.variable("z", mat5::class_double | mat5::flag_complex, {1, 1}, number + number) +
             w.element(mat5::uint8, "not a variable, ") + w.element(mat5::matrix, "") +
             w.variable("", mat5::class_uint8, {1, 1}, number) +
             w.variable("flag", mat5::class_uint8 | mat5::flag_logical, {1, 1},
                        w.small_element(mat5::uint8, "\1")) +
             w.variable(long_name, mat5::class_double, {1, 1}, number));
  std::vector<std::string> texts;
  for (const ArrayInfo& info : list(bytes))
    texts.push_back(info.text() + (info.numeric ? "" : " -"));
  EXPECT_THAT(texts,
              ElementsAre("c (1 x 2 cell) -", "strct (1 x 1 struct) -", "text (1 x 1 char) -",
                          "sparse (9 x 9 sparse) -", "z (1 x 1 complex double) -",
                          "flag (1 x 1 logical)", long_name + " (1 x 1 double)"));
  EXPECT_THAT(read(bytes, long_name).read_rows(0, 1), ElementsAre(7));
  EXPECT_EQ(thrown<DataError>([&] { read(bytes, "c"); }),
            "x.mat: found c (1 x 2 cell), expected an array of real numbers");
  EXPECT_EQ(thrown<DataError>([&] { read(bytes, "none"); }), "x.mat: found no variable \"none\"");
}

TEST(MatFile, RefusesValuesThatDoNotFillTheirShape) {
  const Mat5Writer w;
  const std::string values = w.element(mat5::float64, w.numbers<double>({1, 2, 3}));
  const auto with_shape = [&](const std::vector<std::int32_t>& shape) {
    return error_of(w.file(w.variable("a", mat5::class_double, shape, values)));
  };
  EXPECT_EQ(with_shape({2, 2}), "x.mat: found 24 bytes of values in a (2 x 2 double), expected 32");
  constexpr std::int32_t most = 2147483647;
  EXPECT_PRED2(contains, with_shape({most, most, most}), "more than can be counted");
  EXPECT_PRED2(contains, with_shape({-3, 1}), "found a dimension of -3");
  EXPECT_PRED2(contains, with_shape(std::vector<std::int32_t>(33, 1)),
               "found dimensions of type 5");
}

TEST(MatFile, RefusesTagsThatLie) {
  const Mat5Writer w;
  const auto tag = [&](std::uint32_t type, std::uint32_t bytes) {
    return w.numbers<std::uint32_t>({type, bytes});
  };
  EXPECT_PRED2(contains, error_of(w.file(tag(mat5::matrix, 0xfffffff8))),
               "found 136 bytes, expected at least 4294967424: the file is cut short");
  const std::string start = w.element(mat5::uint32, w.numbers<std::uint32_t>({6, 0})) +
                            w.element(mat5::int32, w.numbers<std::int32_t>({1 << 14, 1 << 14})) +
                            w.small_element(mat5::int8, "a");
  // 2 GiB promised in a few bytes: refused before anything is allocated.
  const std::string huge = start + tag(mat5::float64, 1u << 31);
  EXPECT_PRED2(contains, error_of(w.file(w.element(mat5::matrix, huge))), "expected at most 0");
  EXPECT_PRED2(contains, error_of(w.file(w.compress(tag(mat5::matrix, 0xfffffff0) + huge))),
               "found an element of 2147483648 bytes, expected at most");
  EXPECT_PRED2(contains, error_of(w.file(w.compress(w.element(mat5::uint8, "x")))),
               "expected a variable");
  EXPECT_PRED2(contains, error_of(w.file(w.small_element(mat5::int8, "a"))), "among the variables");
}

TEST(MatFile, RefusesDamagedCompression) {
  const Mat5Writer w;
  const std::string values = w.element(mat5::float64, w.numbers<double>({1, 2, 3, 4}));
  const std::string whole = w.variable("a", mat5::class_double, {2, 2}, values);
  std::string damaged = w.compress(whole);
  damaged[8] = '\0';
  EXPECT_PRED2(contains, error_of(w.file(damaged)), "holds damaged compressed data");
  EXPECT_PRED2(contains, error_of(w.file(w.compress(whole.substr(0, 60)))),
               "ends within a compressed variable");
}

TEST(MatFile, RefusesEveryCut) {
  const Mat5Writer w;
  const std::string values = w.element(mat5::float64, w.numbers<double>({1, 2, 3, 4}));
  const std::string variable = w.variable("a", mat5::class_double, {2, 2}, values);
  for (const std::string& whole : {w.file(variable), w.file(w.compress(variable))})
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_TRUE(error_of(whole.substr(0, length)).starts_with("x.mat: ")) << length;
}

}  // namespace
}  // namespace hyperatom
