# One interface target carries the flags of everything compiled here; the plain one leaves out the sanitizers.
add_library(hyperatom_plain_flags INTERFACE)
add_library(hyperatom_flags INTERFACE)
target_link_libraries(hyperatom_flags INTERFACE hyperatom_plain_flags)
target_compile_options(hyperatom_plain_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# Packs of four doubles are passed between inlined functions only; how they would cross a call does not matter.
target_compile_options(hyperatom_plain_flags INTERFACE -Wno-psabi)
# a * b + c is fused where the code says so (base/simd.hpp), not where the compiler likes: the bits of a result must not depend on
# which instance of a template computed it.
target_compile_options(hyperatom_plain_flags INTERFACE -ffp-contract=off)
if(HYPERATOM_WERROR)
  target_compile_options(hyperatom_plain_flags INTERFACE -Werror)
endif()
if(HYPERATOM_PYTHON AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # A wheel may be carried elsewhere: processors since 2013 (AVX2), and python/src/module.cpp asks for it.
  target_compile_options(hyperatom_plain_flags INTERFACE -march=x86-64-v3)
endif()
if(HYPERATOM_NATIVE)
  target_compile_options(hyperatom_plain_flags INTERFACE -march=native)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Every processor with AVX2 gives the same bits (docs/decisions/018-no-avx512.md).
    target_compile_options(hyperatom_plain_flags INTERFACE -mno-avx512f)
  endif()
endif()
if(HYPERATOM_SANITIZE)
  # Four checks of "undefined" are left out, a third of the time to compile. AddressSanitizer finds most of what null and
  # object-size do, Eigen asserts the alignment of its packs; that of a number read from bytes is not checked.
  target_compile_options(hyperatom_flags INTERFACE -fsanitize=${HYPERATOM_SANITIZE}
                         -fno-sanitize=null,alignment,object-size,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hyperatom_flags INTERFACE -fsanitize=${HYPERATOM_SANITIZE})
endif()
