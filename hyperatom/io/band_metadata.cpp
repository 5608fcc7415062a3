#include "hyperatom/io/band_metadata.hpp"

#include <gdal_priv.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/io/data_error.hpp"

namespace hyperatom {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<double> to_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

enum class Unit { micrometre, nanometre, unknown, foreign };

Unit unit_of(std::string_view text) {
  std::string lower(trim(text));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, lower) != names.end();
  };
  if (is_one_of({"micrometers", "micrometer", "micrometres", "micrometre", "microns", "micron",
                 "um", "\u00b5m", "\u03bcm"}))
    return Unit::micrometre;
  if (is_one_of({"nanometers", "nanometer", "nanometres", "nanometre", "nm"}))
    return Unit::nanometre;
  return is_one_of({"", "unknown"}) ? Unit::unknown : Unit::foreign;
}

/// Wavelengths as they stand somewhere in the metadata; no values when they don't.
struct Found {
  std::vector<double> values;
  std::string units;
};

std::string item(GDALMajorObject& object, const char* key, const char* domain = "") {
  const char* text = object.GetMetadataItem(key, domain);
  return text != nullptr ? text : "";
}

/// One value of every band, or none at all.
Found from_bands(GDALDataset& dataset,
                 const std::function<std::optional<double>(GDALRasterBand&, std::string&)>& read) {
  Found found;
  for (auto&& band : dataset.GetBands()) {
    const std::optional<double> value = read(*band, found.units);
    if (!value) return {};
    found.values.push_back(*value);
  }
  return found;
}

std::optional<double> band_item(GDALRasterBand& band, std::string& units) {
  const std::string own_units = item(band, "wavelength_units");
  if (!own_units.empty()) units = own_units;
  return to_number(trim(item(band, "wavelength")));
}

/// Of "band 1 (0.455400 Micrometers)".
std::optional<double> number_in_name(GDALRasterBand& band, std::string& units) {
  const std::string_view name = trim(band.GetDescription());
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  const std::string_view inside = trim(name.substr(open + 1, name.size() - open - 2));
  const size_t blank = inside.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  units = trim(inside.substr(blank));
  const Unit unit = unit_of(units);
  if (unit != Unit::micrometre && unit != Unit::nanometre) return std::nullopt;
  return to_number(inside.substr(0, blank));
}

std::optional<double> imagery_item(GDALRasterBand& band, std::string& units) {
  units = "um";
  return to_number(trim(item(band, "CENTRAL_WAVELENGTH_UM", "IMAGERY")));
}

Found find_wavelengths(GDALDataset& dataset, const std::string& path) {
  Found found;
  found.values = parse_envi_list(path, "wavelength", item(dataset, "wavelength", "ENVI"));
  found.units = item(dataset, "wavelength_units", "ENVI");
  const auto bands = static_cast<size_t>(dataset.GetRasterCount());
  if (!found.values.empty() && found.values.size() != bands)
    fail(path, "found {} wavelengths, expected {}: one per band", found.values.size(), bands);
  if (found.values.empty()) found = from_bands(dataset, band_item);
  if (found.values.empty()) found = from_bands(dataset, number_in_name);
  if (found.values.empty()) found = from_bands(dataset, imagery_item);
  return found;
}

Unit guess_unit(double longest, std::vector<std::string>& notes) {
  const bool micro = longest < 100;
  notes.push_back(
      fmt::format("the wavelengths have no units: taken to be {}metres, since they {} 100",
                  micro ? "micro" : "nano", micro ? "are below" : "reach"));
  return micro ? Unit::micrometre : Unit::nanometre;
}

}  // namespace

std::vector<double> parse_envi_list(const std::string& path, const std::string& field,
                                    const std::string& text) {
  std::string_view rest = trim(text);
  if (rest.starts_with('{')) rest.remove_prefix(1);
  if (rest.ends_with('}')) rest.remove_suffix(1);
  rest = trim(rest);
  std::vector<double> numbers;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = trim(rest.substr(0, comma));
    const std::optional<double> number = to_number(word);
    if (!number) fail(path, "found {} in '{}', expected a number", in_quotes(word), field);
    numbers.push_back(*number);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    rest = trim(rest);
  }
  return numbers;
}

Vector read_wavelengths(GDALDataset& dataset, const std::string& path,
                        std::vector<std::string>& notes) {
  const Found found = find_wavelengths(dataset, path);
  if (found.values.empty()) return {};
  const auto usable = [](double value) { return std::isfinite(value) && value > 0; };
  if (!std::ranges::all_of(found.values, usable)) {
    notes.emplace_back("the wavelengths are not all positive numbers: not used");
    return {};
  }
  Unit unit = unit_of(found.units);
  if (unit == Unit::foreign) {
    notes.push_back(fmt::format("the wavelengths are in {}, not in micro- or nanometres: not used",
                                in_quotes(found.units)));
    return {};
  }
  if (unit == Unit::unknown) unit = guess_unit(*std::ranges::max_element(found.values), notes);
  const Vector values =
      Eigen::Map<const Vector>(found.values.data(), static_cast<Index>(found.values.size()));
  return unit == Unit::nanometre ? Vector(values / 1000) : values;
}

std::vector<Index> read_good_bands(GDALDataset& dataset, const std::string& path,
                                   std::vector<std::string>& notes) {
  const auto bands = static_cast<size_t>(dataset.GetRasterCount());
  const std::vector<double> bbl = parse_envi_list(path, "bbl", item(dataset, "bbl", "ENVI"));
  if (!bbl.empty() && bbl.size() != bands)
    fail(path, "found {} entries in the list of bad bands 'bbl', expected {}: one per band",
         bbl.size(), bands);
  std::vector<Index> good;
  for (size_t i = 0; i < bands; ++i)
    if (bbl.empty() || bbl[i] != 0) good.push_back(static_cast<Index>(i));
  if (good.empty()) fail(path, "found all {} bands marked bad, expected at least one good", bands);
  if (good.size() < bands)
    notes.push_back(
        fmt::format("{} of {} bands are marked bad and left out", bands - good.size(), bands));
  return good;
}

}  // namespace hyperatom
