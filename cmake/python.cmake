# The Python that makes sources and manual pages: the one named, else that of .venv, else the system's.
set(own_python ${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin/python)
if(NOT Python3_EXECUTABLE AND EXISTS ${own_python})
  set(Python3_EXECUTABLE ${own_python})
endif()
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
