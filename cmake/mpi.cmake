# The MPI that the shim, the examples and the tests are built against, found by its C compiler
# wrapper; and what is built with it.
#
# First of: -DRESPROUT_MPICC=FILE, -DRESPROUT_MPI_PREFIX=DIR, $MPICC, .venv/bin/mpicc, the PATH.
set(RESPROUT_MPICC "" CACHE FILEPATH "C compiler wrapper of the MPI to build against")
set(RESPROUT_MPI_PREFIX "" CACHE PATH "Prefix of the MPI to build against (has bin/mpicc)")
option(RESPROUT_MPI_IS_PASSING "Leave no path to this MPI in what is built" OFF)

function(resprout_find_mpicc out)
  if(RESPROUT_MPICC)
    set(${out} ${RESPROUT_MPICC} PARENT_SCOPE)
  elseif(RESPROUT_MPI_PREFIX)
    set(${out} ${RESPROUT_MPI_PREFIX}/bin/mpicc PARENT_SCOPE)
  elseif(DEFINED ENV{MPICC})
    set(${out} $ENV{MPICC} PARENT_SCOPE)
  else()
    find_program(found mpicc HINTS ${PROJECT_SOURCE_DIR}/.venv/bin NO_CACHE)
    if(NOT found)
      message(FATAL_ERROR "No MPI found. `make build` brings one along in .venv; or name yours with "
                          "-DRESPROUT_MPICC=/path/to/mpicc.")
    endif()
    set(${out} ${found} PARENT_SCOPE)
  endif()
endfunction()

resprout_find_mpicc(MPI_C_COMPILER)
find_package(MPI REQUIRED COMPONENTS C)
if(SKBUILD AND NOT (RESPROUT_MPICC OR RESPROUT_MPI_PREFIX OR DEFINED ENV{MPICC}))
  set(RESPROUT_MPI_IS_PASSING ON)  # inside pip it is a copy that is gone afterwards
endif()
if(RESPROUT_MPI_IS_PASSING)
  set_target_properties(MPI::MPI_C PROPERTIES INTERFACE_LINK_OPTIONS "")
endif()

# resprout_add_shared_shim(NAME FROM layer): the shared library that is preloaded into programs.
#
# It shows the world nothing but MPI's names and its own (libresprout.map), and carries its C++
# runtime inside, so that it can be loaded into anything. That has std::random_device, too, of which
# ours comes first (src/mpi/policies/replicas/random_numbers.cpp).
function(resprout_add_shared_shim name)
  cmake_parse_arguments(arg "" "FROM" "" ${ARGN})
  get_target_property(type ${arg_FROM} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  set(map ${PROJECT_SOURCE_DIR}/cmake/libresprout.map)
  set_target_properties(${arg_FROM} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_compile_options(${arg_FROM} PRIVATE -fno-semantic-interposition)
  add_library(${name} SHARED $<TARGET_OBJECTS:${arg_FROM}>)
  target_link_libraries(${name} PRIVATE $<TARGET_PROPERTY:${arg_FROM},LINK_LIBRARIES>)
  target_link_options(${name} PRIVATE -static-libgcc -static-libstdc++
                      LINKER:--version-script=${map} LINKER:--no-undefined
                      LINKER:--allow-multiple-definition)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map} LINKER_LANGUAGE CXX)
  resprout_find_mpi_from(${name} "$ORIGIN/../../..")
endfunction()

# resprout_find_mpi_from(TARGET folder): where it is installed it looks for the MPI in the folder,
# which is lib of a virtual environment, and where the MPI of the build is.
function(resprout_find_mpi_from name folder)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH ${folder})
  if(NOT RESPROUT_MPI_IS_PASSING)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endfunction()

# resprout_add_mpi_programs(FOLDER dir): every C file below dir becomes a plain MPI program, at the
# same place in the build: tests/mpi/probes/x.c -> tests/mpi/probes/x.
function(resprout_add_mpi_programs)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/*.c)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}/${stem}" target)
    if(TARGET ${target})
      continue()
    endif()
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE MPI::MPI_C m ${CMAKE_DL_LIBS})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${stem}
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  endforeach()
endfunction()
