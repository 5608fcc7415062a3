// The built viewer as bytes of the program.
#include "hyperatom/report/page.hpp"

#ifdef HYPERATOM_VIEWER_FILE

// By the assembler: an array of numbers would take the compiler minutes.
asm(".section .rodata\n"
    ".global hyperatom_viewer_begin\n"
    ".global hyperatom_viewer_end\n"
    "hyperatom_viewer_begin:\n"
    ".incbin \"" HYPERATOM_VIEWER_FILE
    "\"\n"
    "hyperatom_viewer_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char hyperatom_viewer_begin[], hyperatom_viewer_end[];

namespace hyperatom {

std::string_view viewer_page() { return {hyperatom_viewer_begin, hyperatom_viewer_end}; }

}  // namespace hyperatom

#else

namespace hyperatom {

std::string_view viewer_page() { return {}; }

}  // namespace hyperatom

#endif
