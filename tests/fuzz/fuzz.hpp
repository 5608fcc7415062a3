// What every fuzz target defines. Built normally, it is linked with replay_main.cpp, which runs it
// on its seeds and on mutants of them, so that it can't rot. To search for new inputs:
//
//   build/dev/bin/NAME --write-seeds CORPUS
//   clang++-14 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//     -march=native -DEIGEN_MAX_ALIGN_BYTES=32 -I. -isystem /usr/include/eigen3 tests/fuzz/NAME.cpp
//     hyperatom/{base,scene,kernel,coding,learn}/*.cpp -lfmt -ltbb -o NAME
//   ./NAME CORPUS
//
// Those of hyperatom/io also need its sources (without mat73_helper.cpp), -isystem
// /usr/include/gdal -lgdal -lz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Reads the bytes as the reader under test would; returns 0, and throws or crashes if that failed
/// in another way than by a DataError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Inputs to start from.
std::vector<std::string> fuzz_seeds();
