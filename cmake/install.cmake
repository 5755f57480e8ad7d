# What `cmake --install build/release --prefix P` gives to programs that are built against Resprout:
# headers, libraries, find_package(resprout), pkg-config's files, and a Fortran module where there is a
# compiler for it. The command itself is installed by pip.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(RESPROUT_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/resprout)
set(RESPROUT_PC_FOLDER ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# resprout_offer(TARGET AS name DEPENDS target...): a library that others link as resprout::name; what
# they need besides.
function(resprout_offer target)
  cmake_parse_arguments(arg "" "AS" "DEPENDS" ${ARGN})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_AS})
  add_library(resprout::${arg_AS} ALIAS ${target})
  target_include_directories(${target} INTERFACE
                             $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  install(TARGETS ${target} EXPORT resproutTargets)
endfunction()

# For pkg-config: NAME.pc, whose library is libLIBRARY; REQUIRES: other such names.
function(resprout_write_pc name library about)
  cmake_parse_arguments(arg "" "REQUIRES;CFLAGS" "" ${ARGN})
  file(RELATIVE_PATH up ${CMAKE_INSTALL_PREFIX}/${RESPROUT_PC_FOLDER} ${CMAKE_INSTALL_PREFIX})
  set(file ${CMAKE_BINARY_DIR}/${name}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${RESPROUT_PC_FOLDER})
endfunction()

function(resprout_offer_fortran_module)
  set(modules ${CMAKE_BINARY_DIR}/fortran_modules)
  add_library(resprout_fortran STATIC ${PROJECT_SOURCE_DIR}/include/resprout/resprout.f90)
  set_target_properties(resprout_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${modules})
  target_include_directories(resprout_fortran INTERFACE
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/resprout>)
  resprout_offer(resprout_fortran AS fortran DEPENDS resprout)
  install(FILES ${modules}/resprout.mod DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/resprout)
  resprout_write_pc(resprout-fortran resprout_fortran "the Fortran module of Resprout"
                    REQUIRES resprout CFLAGS "-I\${includedir}/resprout")
endfunction()

resprout_offer(resprout AS resprout DEPENDS MPI::MPI_C)
resprout_offer(libresprout_sim AS member)
resprout_write_pc(resprout resprout "what a program can ask Resprout, beyond MPI")
resprout_write_pc(resprout-member resprout_sim "a membership over TCP, without MPI")
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  resprout_offer_fortran_module()
else()
  message(NOTICE "No Fortran compiler was found: the module `resprout` is left out.")
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/resprout DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT resproutTargets NAMESPACE resprout:: DESTINATION ${RESPROUT_CONFIG_FOLDER})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/resproutConfig.cmake.in ${CMAKE_BINARY_DIR}/resproutConfig.cmake
  INSTALL_DESTINATION ${RESPROUT_CONFIG_FOLDER})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/resproutConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/resproutConfig.cmake
              ${CMAKE_BINARY_DIR}/resproutConfigVersion.cmake
        DESTINATION ${RESPROUT_CONFIG_FOLDER})
