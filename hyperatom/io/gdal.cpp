#include "hyperatom/io/gdal.hpp"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <fmt/format.h>
#include <gdal_priv.h>

#include <mutex>

#include "hyperatom/base/error.hpp"

namespace hyperatom {

void CloseDataset::operator()(GDALDataset* dataset) const {
  GDALClose(GDALDataset::ToHandle(dataset));
}

struct GdalMessages::Receiver {
  static void CPL_STDCALL receive(CPLErr level, CPLErrorNum, const char* message) {
    auto* self = static_cast<GdalMessages*>(CPLGetErrorHandlerUserData());
    if (level < CE_Warning) return;
    if (level >= CE_Failure && !self->failed_) {
      self->messages_.clear();  // warnings that came before are of no interest beside an error
      self->failed_ = true;
    }
    if (level >= CE_Failure || !self->failed_) self->messages_.emplace_back(message);
  }
};

GdalMessages::GdalMessages() { CPLPushErrorHandlerEx(Receiver::receive, this); }

GdalMessages::~GdalMessages() { CPLPopErrorHandler(); }

std::string GdalMessages::text() const {
  if (messages_.empty()) return "no reason given";
  std::string line = fmt::format("{}", fmt::join(messages_, "; "));
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';
  return line;
}

namespace {

void prepare_gdal() {
  static std::once_flag once;
  std::call_once(once, [] {
    GDALAllRegister();
    // Reading must leave nothing beside the data: no statistics, no index of a compressed file.
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    CPLSetConfigOption("CPL_VSIL_GZIP_WRITE_PROPERTIES", "NO");
  });
}

Dataset open(const std::filesystem::path& path, unsigned flags, const char* what) {
  prepare_gdal();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw DataError(fmt::format("{}: no such file", path.string()));
  const GdalMessages messages;
  Dataset dataset(GDALDataset::FromHandle(GDALOpenEx(
      path.c_str(), flags | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, nullptr, nullptr, nullptr)));
  if (!dataset)
    throw DataError(
        fmt::format("{}: can't be opened as {}: {}", path.string(), what, messages.text()));
  return dataset;
}

}  // namespace

Dataset open_raster(const std::filesystem::path& path) {
  return open(path, GDAL_OF_RASTER, "a raster");
}

Dataset open_vector(const std::filesystem::path& path) {
  return open(path, GDAL_OF_VECTOR, "vector data");
}

}  // namespace hyperatom
