# libresprout_mpich.so: what is preloaded into programs of MPICH and Intel MPI, whose binary interface
# is one. It is the target resprout_mpich, not built by default, where there is an MPICH: that of
# requirements-mpich.txt, or -DRESPROUT_MPICH_PREFIX=DIR.
#
# Handles are ints there. Its mpi.h is changed so that they are types of their own, as in Open MPI:
# scoped enumerations, which functions are given as they are given ints.
set(RESPROUT_MPICH_PREFIX ${PROJECT_SOURCE_DIR}/.venv/mpis/mpich CACHE PATH
    "Prefix of the MPICH to build libresprout_mpich.so against")

function(resprout_add_mpich_shim name)
  set(theirs ${RESPROUT_MPICH_PREFIX}/include)
  if(NOT RESPROUT_COMPILE OR NOT EXISTS ${theirs}/mpi_proto.h)
    return()
  endif()
  set(made ${CMAKE_BINARY_DIR}/mpich)
  file(READ ${theirs}/mpi.h header)
  set(handles "Datatype|Comm|Group|Win|Session|Op|Errhandler|Request|Message|Info")
  string(REGEX REPLACE "typedef int (MPI_(${handles}));" "enum class \\1 : int {};" header "${header}")
  file(CONFIGURE OUTPUT ${made}/include/mpi.h CONTENT "${header}" @ONLY)
  configure_file(${theirs}/mpi_proto.h ${made}/include/mpi_proto.h COPYONLY)

  set(forms ${PROJECT_SOURCE_DIR}/src/mpi/operations/large_counts/generate.py)
  set(parts ${theirs}/mpi_proto.h ${PROJECT_SOURCE_DIR}/src/mpi ${made}/large_counts.cpp)
  add_custom_command(OUTPUT ${made}/large_counts.cpp COMMAND ${Python3_EXECUTABLE} -B ${forms} ${parts}
                     DEPENDS ${forms} ${theirs}/mpi_proto.h VERBATIM)

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
                        ${RESPROUT_MPICH_PREFIX}/lib/libmpi.so.12 ${CMAKE_DL_LIBS})
  set(map ${PROJECT_SOURCE_DIR}/cmake/libresprout.map)
  target_link_options(${name} PRIVATE -static-libgcc -static-libstdc++
                      LINKER:--version-script=${map} LINKER:--no-undefined
                      LINKER:--allow-multiple-definition
                      LINKER:--allow-shlib-undefined)
  # Whichever library the program has is the one.
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map} SKIP_BUILD_RPATH ON)
  install(TARGETS ${name} COMPONENT python EXCLUDE_FROM_ALL OPTIONAL LIBRARY DESTINATION resprout)
endfunction()
