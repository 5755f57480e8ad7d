# resprout_add_fortran_forms(LAYER): the Fortran forms of MPI calls, made from their table, become
# sources of the layer.
function(resprout_add_fortran_forms layer)
  set(folder ${PROJECT_SOURCE_DIR}/src/mpi/operations/fortran)
  set(made ${CMAKE_BINARY_DIR}/src/mpi/operations/fortran/fortran_forms.cpp)
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${Python3_EXECUTABLE} -B ${folder}/generate.py ${folder}/forms.txt ${made}
    DEPENDS ${folder}/generate.py ${folder}/forms.txt VERBATIM)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/src/mpi/operations/fortran)
  target_sources(${layer} PRIVATE ${made})
endfunction()

# resprout_add_fortran_tests(FOLDER dir): dir/*.c call MPI as Fortran does. They are linked with a
# library that plays the part of the MPI's Fortran library: what we do not stand in for is in
# mpifh.c, all else ends the program.
function(resprout_add_fortran_tests)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/${arg_FOLDER})
  set(place ${CMAKE_BINARY_DIR}/${arg_FOLDER})
  set(forms ${PROJECT_SOURCE_DIR}/src/mpi/operations/fortran)
  file(MAKE_DIRECTORY ${place})
  add_custom_command(
    OUTPUT ${place}/stubs.c
    COMMAND ${Python3_EXECUTABLE} -B ${folder}/stubs.py ${forms}/forms.txt ${place}/stubs.c
    DEPENDS ${folder}/stubs.py ${forms}/generate.py ${forms}/forms.txt VERBATIM)
  add_library(mpifh SHARED ${folder}/mpifh.c ${place}/stubs.c)
  target_link_libraries(mpifh PRIVATE MPI::MPI_C)
  set_target_properties(mpifh PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${place})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  list(REMOVE_ITEM sources ${folder}/mpifh.c)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    add_executable(fortran_${stem} ${source})
    target_link_libraries(fortran_${stem} PRIVATE mpifh MPI::MPI_C)
    target_include_directories(fortran_${stem} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    set_target_properties(fortran_${stem} PROPERTIES OUTPUT_NAME ${stem} C_STANDARD 17
                          RUNTIME_OUTPUT_DIRECTORY ${place})
  endforeach()
endfunction()
