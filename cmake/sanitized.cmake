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
  set(sources ${PROJECT_SOURCE_DIR}/tests/doctest_main.cpp)
  list(TRANSFORM arg_FOLDERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE folders)
  foreach(folder ${folders})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_custom_target(${name}_sanitized)
  foreach(sanitizer address thread)
    list(JOIN RESPROUT_SANITIZE_${sanitizer} " " flags)
    set(CMAKE_REQUIRED_FLAGS ${flags})
    check_cxx_source_compiles("int main() {}" RESPROUT_HAS_${sanitizer}_SANITIZER)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT RESPROUT_HAS_${sanitizer}_SANITIZER)
      continue()
    endif()
    add_executable(${name}_${sanitizer} EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${name}_${sanitizer} PRIVATE resprout_common Threads::Threads)
    # What is found names its lines; the rest of what a debugger knows takes time to write.
    target_compile_options(${name}_${sanitizer} PRIVATE ${RESPROUT_SANITIZE_${sanitizer}}
                           -fno-omit-frame-pointer -O1 -g1)
    target_link_options(${name}_${sanitizer} PRIVATE ${RESPROUT_SANITIZE_${sanitizer}})
    set_target_properties(${name}_${sanitizer} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sanitized
                          UNITY_BUILD ON UNITY_BUILD_MODE GROUP)  # what they test, by folders
    add_dependencies(${name}_sanitized ${name}_${sanitizer})
  endforeach()
endfunction()
