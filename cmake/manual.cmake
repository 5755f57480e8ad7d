# The manual pages and what lets shells complete commands, made of the tree of commands by
# packaging/manual.py, which needs the Python packages that the command needs. Without them they are left
# out.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import typer, rich" RESULT_VARIABLE missing
                OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(NOTICE "${Python3_EXECUTABLE} has no typer: manual pages and completions are left out.")
  return()
endif()

set(RESPROUT_MANUAL ${CMAKE_BINARY_DIR}/manual)
file(GLOB_RECURSE commands CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/resprout/cli*.py
     ${PROJECT_SOURCE_DIR}/python/resprout/commands.py)
list(APPEND commands ${PROJECT_SOURCE_DIR}/python/resprout/__init__.py
     ${PROJECT_SOURCE_DIR}/python/resprout/options.py)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/manual.stamp
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/manual.py ${RESPROUT_MANUAL}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/manual.stamp
  DEPENDS ${PROJECT_SOURCE_DIR}/packaging/manual.py ${commands} VERBATIM)
add_custom_target(resprout_manual ALL DEPENDS ${CMAKE_BINARY_DIR}/manual.stamp)
add_dependencies(resprout_package resprout_manual)

if(SKBUILD)
  install(DIRECTORY ${RESPROUT_MANUAL}/ DESTINATION ${SKBUILD_DATA_DIR}/share COMPONENT python)
else()
  include(GNUInstallDirs)
  install(DIRECTORY ${RESPROUT_MANUAL}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})
endif()
