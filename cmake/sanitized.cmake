# Sanitized tests: the unit tests of some folders, and the sources that they are for, once more with
# the thread sanitizer, if the compiler can link it: sanitized/NAME in the build. They are built when
# they are asked for; tests/sanitized does that and runs them.
include(CheckCXXSourceCompiles)

# resprout_add_sanitized_tests(NAME FOLDERS dir...)
function(resprout_add_sanitized_tests name)
  cmake_parse_arguments(arg "" "" "FOLDERS" ${ARGN})
  list(TRANSFORM arg_FOLDERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE folders)
  foreach(folder ${folders})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "transport_test\\.cpp$")  # goes through megabytes
  list(REMOVE_ITEM sources ${tests})
  set(sanitizer -fsanitize=thread)
  set(CMAKE_REQUIRED_FLAGS ${sanitizer})
  check_cxx_source_compiles("int main() {}" RESPROUT_HAS_THREAD_SANITIZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT RESPROUT_HAS_THREAD_SANITIZER)
    add_custom_target(${name})
    return()
  endif()
  # What is found names its lines; the rest of what a debugger knows takes time to write. So does
  # optimizing the tests themselves.
  set(flags ${sanitizer} -fno-omit-frame-pointer -g1)
  add_library(${name}_tests OBJECT EXCLUDE_FROM_ALL ${tests})
  target_link_libraries(${name}_tests PUBLIC resprout_common Threads::Threads)
  target_compile_options(${name}_tests PRIVATE ${flags} -O0)
  add_executable(${name} EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${name} PRIVATE doctest_main ${name}_tests)
  target_compile_options(${name} PRIVATE ${flags} -O1)
  target_link_options(${name} PRIVATE ${sanitizer})
  set_target_properties(${name} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sanitized
                        UNITY_BUILD ON UNITY_BUILD_MODE GROUP)  # what they test, by folders
endfunction()
