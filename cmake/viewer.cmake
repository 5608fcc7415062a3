# The viewer of reports, one HTML file that viewer.cpp embeds (docs/decisions/020-viewer.md). Without Node.js and npm the library
# is built without it, and `hyperatom report` says what is missing.
option(HYPERATOM_VIEWER "Build the viewer of reports (needs Node.js 20.19 or newer, and npm)" ON)
set(HYPERATOM_VIEWER_PAGE "")
if(HYPERATOM_VIEWER)
  find_program(NPM npm)
  find_program(NODE node)
  set(node_version v0)
  if(NODE)
    execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  string(SUBSTRING "${node_version}" 1 -1 node_version)
  if(NPM AND node_version VERSION_GREATER_EQUAL 20.19)
    set(HYPERATOM_VIEWER_PAGE ${PROJECT_BINARY_DIR}/viewer/index.html)
    set(viewer ${PROJECT_SOURCE_DIR}/viewer)
    file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${viewer}/src/*)
    # All builds share the packages: a second one must not take them away, as `npm ci` does first, from under the tests of
    # another. npm writes .package-lock.json last.
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/viewer.packages
      COMMAND sh -c "test node_modules/.package-lock.json -nt package-lock.json || exec \"$0\" ci --no-audit --no-fund --loglevel=error" ${NPM}
      COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/viewer.packages
      DEPENDS ${viewer}/package-lock.json WORKING_DIRECTORY ${viewer} VERBATIM
      COMMENT "Installing the packages of the viewer")
    add_custom_command(OUTPUT ${HYPERATOM_VIEWER_PAGE}
      COMMAND ${NPM} run --silent build -- --outDir ${PROJECT_BINARY_DIR}/viewer --emptyOutDir --logLevel warn
      DEPENDS ${PROJECT_BINARY_DIR}/viewer.packages ${viewer_sources} ${viewer}/index.html ${viewer}/vite.config.ts
      WORKING_DIRECTORY ${viewer} VERBATIM COMMENT "Building the viewer")
  else()
    message(STATUS "Node.js 20.19 or newer with npm not found: hyperatom report will not be able to make pages")
  endif()
endif()
