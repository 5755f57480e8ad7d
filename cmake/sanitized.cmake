# Sanitized tests: the unit tests of some folders, and the sources that they are for, once more with
# each sanitizer that the compiler can link: sanitized/NAME_address (with undefined behavior) and
# sanitized/NAME_thread in the build. They are built when they are asked for, all by the target
# NAME_sanitized; tests/sanitized does that and runs them.
include(CheckCXXSourceCompiles)
set(RESPROUT_SANITIZE_address -fsanitize=address,undefined -fno-sanitize-recover=all)
set(RESPROUT_SANITIZE_thread -fsanitize=thread)

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
  add_custom_target(${name}_sanitized)
  foreach(sanitizer address thread)
    list(JOIN RESPROUT_SANITIZE_${sanitizer} " " flags)
    set(CMAKE_REQUIRED_FLAGS ${flags})
    check_cxx_source_compiles("int main() {}" RESPROUT_HAS_${sanitizer}_SANITIZER)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT RESPROUT_HAS_${sanitizer}_SANITIZER)
      continue()
    endif()
    # What is found names its lines; the rest of what a debugger knows takes time to write. So does
    # optimizing the tests themselves.
    set(flags ${RESPROUT_SANITIZE_${sanitizer}} -fno-omit-frame-pointer -g1)
    set(program ${name}_${sanitizer})
    add_library(${program}_tests OBJECT EXCLUDE_FROM_ALL ${tests})
    target_link_libraries(${program}_tests PUBLIC resprout_common Threads::Threads)
    target_compile_options(${program}_tests PRIVATE ${flags} -O0)
    add_executable(${program} EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${program} PRIVATE doctest_main ${program}_tests)
    target_compile_options(${program} PRIVATE ${flags} -O1)
    target_link_options(${program} PRIVATE ${RESPROUT_SANITIZE_${sanitizer}})
    set_target_properties(${program} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sanitized
                          UNITY_BUILD ON UNITY_BUILD_MODE GROUP)  # what they test, by folders
    add_dependencies(${name}_sanitized ${program})
  endforeach()
endfunction()
