// The reader of NumPy files: types, orders, versions, and headers that are not what they should be.
#include "hyperatom/io/npy_file.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "hyperatom/base/error.hpp"
#include "tests/support/mat5.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::npy_file;
using test::npy_header;
using test::thrown;
using testing::ElementsAre;

NumericArray read(const std::string& bytes) {
  std::istringstream file(bytes);
  return read_npy(file, "x.npy");
}

std::string error_of(const std::string& bytes) {
  return thrown<DataError>([&] { read(bytes); });
}

/// Numbers as bytes of either order.
template <class T>
std::string bytes_of(bool big_endian, const std::vector<T>& values) {
  return test::Mat5Writer(big_endian).numbers(values);
}

template <class T>
void expect_type(const std::string& type, const std::string& name) {
  const std::vector<T> values = {1, 2, 3, 4, 5, 6};
  for (const bool big_endian : {false, true}) {
    const std::string descr = (big_endian ? ">" : "<") + type;
    const NumericArray array =
        read(npy_file(npy_header(descr, "(2, 3)"), bytes_of(big_endian, values)));
    EXPECT_EQ(array.info.text(), "unnamed (2 x 3 " + name + ")");
    EXPECT_THAT(array.read_rows(0, 2), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(NpyFile, ReadsEveryTypeInBothByteOrders) {
  expect_type<std::int8_t>("i1", "int8");
  expect_type<std::uint8_t>("u1", "uint8");
  expect_type<std::int16_t>("i2", "int16");
  expect_type<std::uint16_t>("u2", "uint16");
  expect_type<std::int32_t>("i4", "int32");
  expect_type<std::uint32_t>("u4", "uint32");
  expect_type<std::int64_t>("i8", "int64");
  expect_type<std::uint64_t>("u8", "uint64");
  expect_type<float>("f4", "float32");
  expect_type<double>("f8", "float64");
}

TEST(NpyFile, ReadsBothOrdersOfAxesAndAllVersions) {
  std::string values;
  for (char i = 0; i < 12; ++i) values += i;
  for (const int version : {1, 2, 3}) {
    MatrixF c, fortran;
    read(npy_file(npy_header("|u1", "(2, 3, 2)"), values, version)).read_rows(0, 2, c);
    read(npy_file(npy_header("|u1", "(2, 3, 2)", true), values, version)).read_rows(0, 2, fortran);
    for (Index row = 0; row < 2; ++row)
      for (Index col = 0; col < 3; ++col)
        for (Index band = 0; band < 2; ++band) {
          EXPECT_EQ(c(band, 3 * row + col), 6 * row + 2 * col + band);
          EXPECT_EQ(fortran(band, 3 * row + col), row + 2 * col + 6 * band);
        }
  }
}

TEST(NpyFile, ReadsBooleansAndOtherSpellings) {
  EXPECT_THAT(read(npy_file(npy_header("|b1", "(1, 2)"), {"\0\1", 2})).read_rows(0, 1),
              ElementsAre(0, 1));
  EXPECT_THAT(
      read(npy_file("{\"shape\":(2,1),'fortran_order':True,'descr':'=u1'}", "ab")).read_rows(0, 2),
      ElementsAre('a', 'b'));
  std::istringstream scalar(npy_file(npy_header("<f8", "()"), std::string(8, '\0')));
  EXPECT_TRUE(inspect_npy(scalar, "x.npy").shape.empty());
}

TEST(NpyFile, RefusesSizesThatDoNotFit) {
  EXPECT_EQ(error_of(npy_file(npy_header("<f4", "(2, 3)"), std::string(23, 'x'))),
            "x.npy: found 23 bytes of values, expected 24 for unnamed (2 x 3 float32)");
  EXPECT_PRED2(contains, error_of(npy_file(npy_header("<f4", "(2, 3)"), std::string(25, 'x'))),
               "found 25 bytes of values, expected 24");
  EXPECT_PRED2(contains, error_of(npy_file(npy_header("<f8", "(4611686018427387904, 4)"), "")),
               "beyond all memory");
}

TEST(NpyFile, RefusesTypesThatAreNotNumbers) {
  for (const std::string descr : {"|O", "|O8", "<f2", "<c8", "<U4", "|S1", "|u2", "<i3", "u1", ""})
    EXPECT_PRED2(contains, error_of(npy_file(npy_header(descr, "(1,)"), "x")), "elements of type")
        << descr;
  EXPECT_PRED2(
      contains,
      error_of(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")),
      "array of records");
}

TEST(NpyFile, RefusesHeadersThatAreNotOne) {
  const std::string descr = "'descr': '<f4', ", order = "'fortran_order': False, ",
                    shape = "'shape': (1,), ";
  std::string ones;
  for (int i = 0; i < 33; ++i) ones += "1,";
  const std::vector<std::string> headers = {"",
                                            "{}",
                                            "{'descr: 1",
                                            "{" + descr + order + "}",
                                            "{" + descr + descr + order + shape + "}",
                                            "{" + descr + order + shape,
                                            "{" + descr + order + shape + "} + 1",
                                            "{" + descr + order + "'shape': (-1,)}",
                                            "{" + descr + order + "'shape': (1 2)}",
                                            "{" + descr + order + "'shape': 1}",
                                            "{" + descr + order + "'shape': (" + ones + ")}",
                                            "{" + descr + order + "'shape': (1" + ones + "\0)}",
                                            "{" + descr + order + "'form': (1,)}",
                                            "{" + descr + "'fortran_order': false, " + shape + "}"};
  for (const std::string& header : headers)
    EXPECT_PRED2(contains, error_of(npy_file(header, std::string(4, 'x'))), "NumPy header")
        << header;
  EXPECT_PRED2(contains, error_of(npy_file(std::string(65536, ' '), "", 2) + "x"), "NumPy header");
  EXPECT_PRED2(contains, error_of(npy_file(std::string(65537, ' '), "", 2)), "at most 65536");
  EXPECT_PRED2(contains, error_of(npy_file(npy_header("<f4", "()"), "1234", 4)), "version 4");
}

TEST(NpyFile, RefusesEveryCut) {
  const std::string whole = npy_file(npy_header("<f4", "(1,)"), "1234");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_TRUE(error_of(whole.substr(0, length)).starts_with("x.npy: ")) << length;
}

}  // namespace
}  // namespace hyperatom
