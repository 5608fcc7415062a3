// MATLAB 7.3 files through the helper program, and what it must refuse or survive.
#include "hyperatom/io/mat_hdf5.hpp"

#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <numeric>

#include "hyperatom/base/error.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::TemporaryFolder;
using test::thrown;
using test::write_file;
using testing::ElementsAre;

class MatHdf5 : public testing::Test {
 protected:
  /// A file with MATLAB's header before the HDF5 part, filled by `fill`.
  std::filesystem::path write(const std::function<void(hid_t)>& fill, bool matlab = true) const {
    const auto path = folder_ / "x.mat";
    const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
    if (matlab) H5Pset_userblock(properties, 512);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
    fill(file);
    H5Fclose(file);
    H5Pclose(properties);
    if (!matlab) return path;
    std::string header = "MATLAB 7.3 MAT-file, written by a test";
    header.resize(124, ' ');
    header += std::string("\0\2IM", 4);
    write_file(path, header + test::read_file(path).substr(header.size()));
    return path;
  }

  /// A dataset of 0, 1, 2, ... with its class.
  static void put(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& shape,
                  const char* mat_class, hid_t properties = H5P_DEFAULT) {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(set, 0) << name;
    hsize_t size = 1;
    for (const hsize_t n : shape) size *= n;
    std::vector<double> values(size);
    std::iota(values.begin(), values.end(), 0.0);
    if (H5Tget_class(type) != H5T_COMPOUND)
      H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (mat_class != nullptr) put_class(set, mat_class);
    H5Dclose(set);
    H5Sclose(space);
  }

  static void put_class(hid_t object, const char* mat_class) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, std::strlen(mat_class));
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(object, "MATLAB_class", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, mat_class);
    H5Aclose(attribute);
    H5Sclose(scalar);
    H5Tclose(text);
  }

  std::string read_error(const std::filesystem::path& path) const {
    return thrown<DataError>([&] { read_mat73(path, "a"); });
  }

  TemporaryFolder folder_;
};

/// What HDF5 stores as (bands, cols, rows), MATLAB calls rows x cols x bands.
TEST_F(MatHdf5, ReversesTheAxesOfMatlab) {
  const auto path = write([](hid_t file) { put(file, "a", H5T_STD_U16LE, {2, 3, 4}, "uint16"); });
  const Scene scene = read_all(*open_scene(path));
  EXPECT_EQ(scene.info.format, "MATLAB 7.3");
  ASSERT_EQ(scene.info.rows, 4);
  ASSERT_EQ(scene.info.cols, 3);
  ASSERT_EQ(scene.info.bands, 2);
  for (Index row = 0; row < 4; ++row)
    for (Index col = 0; col < 3; ++col)
      EXPECT_EQ(scene.data.pixels(1, 3 * row + col), static_cast<float>(12 + 4 * col + row));
}

TEST_F(MatHdf5, KeepsTheAxesOfPlainHdf5) {
  const auto path = write(
      [](hid_t file) {
        put(file, "a", H5T_STD_U16LE, {2, 3}, nullptr);
      },
      false);
  EXPECT_THAT(list_mat73(path)[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(read_mat73(path, "a").read_rows(0, 2), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(MatHdf5, ReadsEveryTypeInBothByteOrders) {
  for (const hid_t type : {H5T_STD_I8LE, H5T_STD_U8BE, H5T_STD_I16LE, H5T_STD_U16BE, H5T_STD_I32LE,
                           H5T_STD_U32BE, H5T_STD_I64LE, H5T_STD_U64BE, H5T_IEEE_F32LE,
                           H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE}) {
    const auto path = write([&](hid_t file) { put(file, "a", type, {2, 2}, "double"); });
    EXPECT_THAT(read_mat73(path, "a").read_rows(0, 2), ElementsAre(0, 2, 1, 3));
  }
}

TEST_F(MatHdf5, ReadsCompressedChunksInPieces) {
  const auto path = write([](hid_t file) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[3] = {7, 100, 100};
    H5Pset_chunk(properties, 3, chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 1);
    H5Pset_fletcher32(properties);
    put(file, "a", H5T_IEEE_F64LE, {60, 210, 220}, "double", properties);  // 22 MB
    H5Pclose(properties);
  });
  const NumericArray array = read_mat73(path, "a");
  MatrixF pixels;
  array.read_rows(219, 1, pixels);
  for (Index col = 0; col < 210; ++col)
    for (Index band = 0; band < 60; ++band)
      ASSERT_EQ(pixels(band, col), static_cast<float>((band * 210 + col) * 220 + 219));
}

TEST_F(MatHdf5, ListsWhatItCannotRead) {
  const auto path = write([](hid_t file) {
    put(file, "a", H5T_IEEE_F64LE, {1, 2}, "double");
    put(file, "b", H5T_STD_U8LE, {1, 1}, "logical");
    put(file, "c", H5T_STD_U16LE, {5, 1}, "char");
    const hid_t complex = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(complex, "real", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(complex, "imag", 8, H5T_NATIVE_DOUBLE);
    put(file, "d", complex, {1, 1}, "double");
    const hid_t group = H5Gcreate2(file, "e", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_class(group, "struct");
    H5Gclose(group);
    H5Gclose(H5Gcreate2(file, "#refs#", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_external("/etc/passwd", "x", file, "f", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/a", file, "g", H5P_DEFAULT, H5P_DEFAULT);
  });
  std::vector<std::string> texts;
  for (const ArrayInfo& info : list_mat73(path))
    texts.push_back(info.text() + (info.numeric ? "" : " -"));
  EXPECT_THAT(texts, ElementsAre("a (2 x 1 double)", "b (1 x 1 logical)", "c (1 x 5 char) -",
                                 "d (1 x 1 complex double) -", "e (struct) -"));
  for (const std::string name : {"c", "d", "e", "f", "g", "#refs#", "/a", "", "none"})
    EXPECT_TRUE(thrown<DataError>([&] { read_mat73(path, name); }).starts_with(path.string()));
}

TEST_F(MatHdf5, RefusesWhatLeadsOutOfTheFile) {
  write_file(folder_ / "secret", std::string(64, 's'));
  const auto external = write([&](hid_t file) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(properties, (folder_ / "secret").c_str(), 0, 64);
    const hsize_t size = 8;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    H5Dclose(H5Dcreate2(file, "a", H5T_STD_U64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  });
  EXPECT_PRED2(contains, read_error(external), "keeps its values in another file");
  const auto composed = write([&](hid_t file) {
    const hsize_t size = 8;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(properties, space, (folder_ / "secret").c_str(), "a", space);
    H5Dclose(H5Dcreate2(file, "a", H5T_STD_U64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  });
  EXPECT_PRED2(contains, read_error(composed), "is composed of other datasets");
}

TEST_F(MatHdf5, RefusesOtherFiltersAndAbsurdSizes) {
  const auto filtered = write([](hid_t file) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 8;
    H5Pset_chunk(properties, 1, &chunk);
    H5Pset_nbit(properties);
    put(file, "a", H5T_STD_U64LE, {8}, "uint64", properties);
  });
  EXPECT_PRED2(contains, read_error(filtered), "filter that is not deflate");
  const auto absurd = write([](hid_t file) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 8, size = hsize_t{1} << 40;
    H5Pset_chunk(properties, 1, &chunk);
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    H5Dclose(H5Dcreate2(file, "a", H5T_STD_U64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  });
  EXPECT_PRED2(contains, read_error(absurd), "claims more values than the file can hold");
}

TEST_F(MatHdf5, SurvivesEveryCut) {
  const auto path = write([](hid_t file) { put(file, "a", H5T_IEEE_F64LE, {3, 3}, "double"); });
  const std::string whole = test::read_file(path);
  for (size_t length = 0; length < whole.size(); length += 97) {
    write_file(path, whole.substr(0, length));
    EXPECT_TRUE(read_error(path).starts_with(path.string() + ": ")) << length;
  }
}

/// Runs a shell script in the helper's place.
class MatHdf5BadHelper : public MatHdf5 {
 protected:
  std::string error_with(const std::string& script) const {
    const auto file = write([](hid_t) {});
    const auto program = folder_ / "helper";
    write_file(program, "#!/bin/sh\n" + script + "\n");
    chmod(program.c_str(), 0700);
    setenv("HYPERATOM_MAT73", program.c_str(), 1);
    const std::string message = read_error(file);
    unsetenv("HYPERATOM_MAT73");
    return message;
  }
};

TEST_F(MatHdf5BadHelper, BecomesAnError) {
  EXPECT_PRED2(contains, error_with("kill -SEGV $$"),
               "the MATLAB 7.3 reader failed: it was ended by signal 11 (Segmentation fault)");
  EXPECT_PRED2(contains, error_with("kill -XCPU $$"), "CPU time limit exceeded");
  EXPECT_PRED2(contains, error_with("exit 1"), "the MATLAB 7.3 reader failed");
  EXPECT_PRED2(contains, error_with("printf '\\001'"), "it gave no proper answer");
  EXPECT_PRED2(contains, error_with("printf '\\000\\004\\000\\000\\000oops'"), ": oops");
  EXPECT_PRED2(contains, error_with("printf '\\000\\377\\377\\377\\377'"), "a count of 4294967295");
  EXPECT_PRED2(contains, error_with("printf '\\002\\000\\000\\000\\000\\012'"), "an unknown type");
  const std::string start = "printf '\\002\\000\\000\\000\\000\\001\\000";
  EXPECT_PRED2(contains,
               error_with(start + "\\001\\000\\000\\000\\377\\377\\377\\377\\377\\377\\377\\377'"),
               "an absurd shape");
  EXPECT_PRED2(contains,
               error_with(start + "\\001\\000\\000\\000\\000\\000\\000\\000\\000\\001\\000\\000'"),
               "an absurd shape");
  EXPECT_PRED2(
      contains,
      error_with(start + "\\001\\000\\000\\000\\010\\000\\000\\000\\000\\000\\000\\000abc'"),
      "the file is damaged");
}

TEST_F(MatHdf5BadHelper, IsMissed) {
  const auto file = write([](hid_t) {});
  setenv("HYPERATOM_MAT73", "/nowhere/helper", 1);
  EXPECT_PRED2(contains, thrown<IoError>([&] { list_mat73(file); }),
               "/nowhere/helper: can't be started: No such file or directory");
  unsetenv("HYPERATOM_MAT73");
}

}  // namespace
}  // namespace hyperatom
