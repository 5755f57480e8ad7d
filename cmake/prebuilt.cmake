# The parts of the package that are compiled, taken from RESPROUT_PREBUILT: a folder in which they
# stand as in the package (`make build` puts them into python/resprout). So a wheel is made of what was
# tested, and in seconds.
install(PROGRAMS ${RESPROUT_PREBUILT}/libresprout.so ${RESPROUT_PREBUILT}/libresprout_launcher.so
                 ${RESPROUT_PREBUILT}/libresprout_sim.so ${RESPROUT_PREBUILT}/resprout_start
        DESTINATION resprout COMPONENT python)
install(DIRECTORY include/resprout DESTINATION resprout/include COMPONENT python)
foreach(part resprout resprout_start libresprout_launcher libresprout_sim)
  add_custom_target(${part})
endforeach()
