# Most sources include the same headers of libraries. hyperatom_precompile(TARGET HEADER...) parses them
# once for a target, and the further ones given; a target after FROM shares those of another one instead.
option(HYPERATOM_PRECOMPILE "Precompile the headers of libraries" OFF)
set(HYPERATOM_SHARED_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional> <span> <string>
                             <vector> <Eigen/Core> <fmt/format.h>)

function(hyperatom_precompile target)
  if(NOT HYPERATOM_PRECOMPILE)
    return()
  endif()
  if("${ARGV1}" STREQUAL "FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${HYPERATOM_SHARED_HEADERS} ${ARGN})
  endif()
endfunction()
