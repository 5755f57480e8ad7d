# How folders become targets. A folder that has no sources yet becomes an empty target, or none.
include(CheckLinkerFlag)

# The sources of a layer: all of its folder but tests, programs (main.cpp), and what is for another MPI
# library than the one of the build (mpich.cmake).
function(resprout_collect out)
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "((_test|/main)\\.cpp|/handles/mpich/.*)$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# With RESPROUT_UNITE, or where UNITY_BUILD is set, the sources of a folder are one: they share most
# of what they include. What is private to a file therefore has a name that no other one of its
# folder has. What is named NAME_avx2.cpp is for processors that have AVX2, and stays by itself.
function(resprout_unite_folders name)
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    if(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -mavx2)
      endif()
    endif()
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(RESPROUT_UNITE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A source that is included by another one is no header.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# resprout_add_layer(NAME FOLDERS folder... LINKS target...): a static library of src/folder...;
# afterwards ${folder}_library names it.
function(resprout_add_layer name)
  cmake_parse_arguments(arg "" "" "FOLDERS;LINKS" ${ARGN})
  list(TRANSFORM arg_FOLDERS PREPEND src/ OUTPUT_VARIABLE folders)
  resprout_collect(sources ${folders})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC resprout_common ${arg_LINKS})
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden)
    resprout_unite_folders(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE resprout_common ${arg_LINKS})
  endif()
  foreach(folder ${arg_FOLDERS})
    set(${folder}_library ${name} PARENT_SCOPE)
  endforeach()
endfunction()

# Options for a layer's own sources, if it has any.
function(resprout_target_options name)
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_compile_options(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# resprout_add_unit_tests(NAME FOLDER dir LINKS target...): one doctest program of dir's *_test.cpp.
function(resprout_add_unit_tests name)
  cmake_parse_arguments(arg "" "FOLDER" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  if(NOT TARGET doctest_main)
    add_library(doctest_main OBJECT ${PROJECT_SOURCE_DIR}/tests/doctest_main.cpp)
    target_link_libraries(doctest_main PUBLIC resprout_common)
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE doctest_main ${arg_LINKS})
  # What they test is optimized; they themselves are to be compiled soon, which takes longer.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

# resprout_add_program(NAME FOLDER dir LINKS target...): the program whose main.cpp is in dir.
function(resprout_add_program name)
  cmake_parse_arguments(arg "" "FOLDER" "LINKS" ${ARGN})
  file(GLOB main CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/main.cpp)
  if(main)
    add_executable(${name} ${main})
    target_link_libraries(${name} PRIVATE ${arg_LINKS})
  endif()
endfunction()

# A program that needs no C++ runtime where it runs.
function(resprout_stand_alone name)
  target_link_libraries(${name} PRIVATE resprout_common)
  target_link_options(${name} PRIVATE -static-libgcc -static-libstdc++)
endfunction()

# resprout_add_benches(FOLDER dir LINKS target...): dir/NAME.cpp becomes bench/NAME in the build.
function(resprout_add_benches)
  cmake_parse_arguments(arg "" "FOLDER" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.cpp)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    add_executable(bench_${stem} ${source})
    target_link_libraries(bench_${stem} PRIVATE ${arg_LINKS})
    set_target_properties(bench_${stem} PROPERTIES OUTPUT_NAME ${stem}
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endforeach()
endfunction()

# resprout_add_c_library(NAME FOLDER dir LINKS target...): libNAME.so with a C interface and its C++
# runtime inside.
function(resprout_add_c_library name)
  cmake_parse_arguments(arg "" "FOLDER" "LINKS" ${ARGN})
  resprout_collect(sources ${arg_FOLDER})
  add_library(lib${name} SHARED ${sources})
  resprout_unite_folders(lib${name})
  target_link_libraries(lib${name} PRIVATE resprout_common ${arg_LINKS})
  target_link_options(lib${name} PRIVATE -static-libgcc -static-libstdc++ LINKER:--no-undefined)
  check_linker_flag(CXX LINKER:--exclude-libs,ALL RESPROUT_CAN_EXCLUDE_LIBS)  # not every linker can
  if(RESPROUT_CAN_EXCLUDE_LIBS)
    target_link_options(lib${name} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
  set_target_properties(lib${name} PROPERTIES OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden)
endfunction()
