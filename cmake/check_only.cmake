# A build for clang-tidy alone: all targets are there, and Ninja knows what each depends on, but their
# files are empty. The compiler only says what a source includes, a small part of its work.
if(RESPROUT_COMPILE)
  return()
endif()

foreach(language C CXX)
  # clang-tidy reads the command itself, which therefore is that of a compilation.
  set(CMAKE_${language}_COMPILER_LAUNCHER /bin/sh ${CMAKE_CURRENT_LIST_DIR}/depend_only.sh)
  foreach(rule CREATE_STATIC_LIBRARY CREATE_SHARED_LIBRARY LINK_EXECUTABLE)
    set(CMAKE_${language}_${rule} "${CMAKE_COMMAND} -E touch <TARGET>")
  endforeach()
endforeach()
