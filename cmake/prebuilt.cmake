# The parts of the package that are compiled, taken from RESPROUT_PREBUILT: a folder in which they
# stand as in the package (`make build` puts them into python/resprout). So a wheel is made of what was
# tested, and in seconds.
include(package)
install(PROGRAMS ${RESPROUT_PREBUILT}/libresprout.so ${RESPROUT_PREBUILT}/libresprout_launcher.so
                 ${RESPROUT_PREBUILT}/libresprout_sim.so ${RESPROUT_PREBUILT}/resprout_start
        DESTINATION resprout COMPONENT python)
install(PROGRAMS ${RESPROUT_PREBUILT}/libresprout_mpich.so ${RESPROUT_PREBUILT}/libresprout_mpi_abi.so OPTIONAL
        DESTINATION resprout COMPONENT python)
install(PROGRAMS ${RESPROUT_PREBUILT}/demo_programs/pi DESTINATION ${RESPROUT_DEMO_FOLDER}
        COMPONENT python)
resprout_install_package_files(python)
add_custom_target(resprout_package)
include(manual)
