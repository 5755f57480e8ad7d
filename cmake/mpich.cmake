# What is preloaded into programs of MPICH and Intel MPI. They have two binary interfaces:
# libresprout_mpich.so is for the one of MPICH 3 (target resprout_mpich), libresprout_mpi_abi.so for the
# standard one of MPI 5 (resprout_mpi_abi). Neither is built by default. They need an MPICH: that of
# requirements-mpich.txt, or -DRESPROUT_MPICH_PREFIX=DIR.
#
# Handles of MPICH 3 are ints. Its mpi.h is changed so that they are types of their own, as in Open MPI:
# scoped enumerations, which functions are given as they are given ints. In the standard interface they
# are pointers.
set(RESPROUT_MPICH_PREFIX ${PROJECT_SOURCE_DIR}/.venv/mpis/mpich CACHE PATH
    "Prefix of the MPICH to build libresprout_mpich.so and libresprout_mpi_abi.so against")

# MADE: a folder for what is made from MPICH's headers. HEADER: its mpi.h. PROTOTYPES: where its functions
# are declared. LIBRARY: its soname.
function(resprout_add_mpich_shim name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "MADE;HEADER;PROTOTYPES;LIBRARY" "")
  set(theirs ${RESPROUT_MPICH_PREFIX}/include)
  if(NOT RESPROUT_COMPILE OR NOT EXISTS ${theirs}/${its_HEADER} OR NOT EXISTS ${theirs}/${its_PROTOTYPES})
    return()
  endif()
  set(made ${CMAKE_BINARY_DIR}/${its_MADE})
  file(READ ${theirs}/${its_HEADER} header)
  set(handles "Datatype|Comm|Group|Win|Session|Op|Errhandler|Request|Message|Info")
  string(REGEX REPLACE "typedef int (MPI_(${handles}));" "enum class \\1 : int {};" header "${header}")
  file(CONFIGURE OUTPUT ${made}/include/mpi.h CONTENT "${header}" @ONLY)
  if(NOT its_PROTOTYPES STREQUAL its_HEADER)
    configure_file(${theirs}/${its_PROTOTYPES} ${made}/include/${its_PROTOTYPES} COPYONLY)
  endif()

  set(forms ${PROJECT_SOURCE_DIR}/src/mpi/operations/large_counts/generate.py)
  set(parts ${theirs}/${its_PROTOTYPES} ${PROJECT_SOURCE_DIR}/src/mpi ${made}/large_counts.cpp)
  add_custom_command(OUTPUT ${made}/large_counts.cpp COMMAND ${Python3_EXECUTABLE} -B ${forms} ${parts}
                     DEPENDS ${forms} ${theirs}/${its_PROTOTYPES} VERBATIM)

  resprout_collect(sources src/openmpi src/mpi)
  # What stands in front of Open MPI's own functions.
  set(its_own "failed_requests|freed_requests|given_up|making|making_windows|numbers|creation_communicator|steps")
  list(FILTER sources EXCLUDE REGEX "src/mpi/(handles/openmpi/(${its_own})\\.cpp|operations/fortran/)")
  file(GLOB port CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/handles/mpich/*.cpp)

  add_library(${name} SHARED EXCLUDE_FROM_ALL ${sources} ${port})
  resprout_unite_folders(${name})
  target_sources(${name} PRIVATE ${made}/large_counts.cpp)
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${made}/include)
  target_compile_definitions(${name} PRIVATE MPICH_SKIP_MPICXX)
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  target_link_libraries(${name} PRIVATE resprout_common resprout_runtime resprout_registry
                        ${RESPROUT_MPICH_PREFIX}/lib/${its_LIBRARY} ${CMAKE_DL_LIBS})
  set(map ${PROJECT_SOURCE_DIR}/cmake/libresprout.map)
  target_link_options(${name} PRIVATE -static-libgcc -static-libstdc++
                      LINKER:--version-script=${map} LINKER:--no-undefined
                      LINKER:--allow-multiple-definition
                      LINKER:--allow-shlib-undefined)
  # Whichever library the program has is the one.
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map} SKIP_BUILD_RPATH ON)
  install(TARGETS ${name} COMPONENT python EXCLUDE_FROM_ALL OPTIONAL LIBRARY DESTINATION resprout)
endfunction()
