# What stands in the Python package beside its modules, in two components: `python` is all of it, `demo`
# what `resprout demo` loads. The targets resprout_package and resprout_demo build it.
set(RESPROUT_DEMO_FOLDER resprout/demo_programs)

# resprout_add_package(DEMO target... PROGRAMS target... OTHERS target...): `DEMO` and `PROGRAMS`, which
# the demo runs, are of both components.
function(resprout_add_package)
  cmake_parse_arguments(arg "" "" "DEMO;PROGRAMS;OTHERS" ${ARGN})
  foreach(program ${arg_PROGRAMS})
    resprout_find_mpi_from(${program} "$ORIGIN/../../../..")
  endforeach()
  foreach(component python demo)
    install(TARGETS ${arg_DEMO} COMPONENT ${component} EXCLUDE_FROM_ALL
            LIBRARY DESTINATION resprout RUNTIME DESTINATION resprout)
    install(TARGETS ${arg_PROGRAMS} COMPONENT ${component} EXCLUDE_FROM_ALL
            RUNTIME DESTINATION ${RESPROUT_DEMO_FOLDER})
    resprout_install_package_files(${component})
  endforeach()
  install(TARGETS ${arg_OTHERS} COMPONENT python EXCLUDE_FROM_ALL LIBRARY DESTINATION resprout)
  add_custom_target(resprout_demo DEPENDS ${arg_DEMO} ${arg_PROGRAMS})
  add_custom_target(resprout_package DEPENDS ${arg_DEMO} ${arg_PROGRAMS} ${arg_OTHERS})
  if(TARGET resprout_mpich AND TARGET resprout_mpi_abi)  # where there is an MPICH (mpich.cmake)
    add_dependencies(resprout_package resprout_mpich resprout_mpi_abi)
  endif()
endfunction()

# What is not compiled.
function(resprout_install_package_files component)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/resprout DESTINATION resprout/include
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/examples/pi/pi.py ${PROJECT_SOURCE_DIR}/examples/pi/pi.c
          DESTINATION ${RESPROUT_DEMO_FOLDER} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
