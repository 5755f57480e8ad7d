# Fuzzers: fuzz/NAME.cpp and the sources that it is for become fuzz/NAME in the build.
#
# All of it has the sanitizers that the compiler can link; the target and its sources also report
# what they reach, to the driver in fuzz/.
include(CheckCXXSourceCompiles)
set(RESPROUT_SANITIZE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=address,undefined")
check_cxx_source_compiles("int main() {}" RESPROUT_HAS_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)
set(CMAKE_REQUIRED_FLAGS "-fsanitize-coverage=trace-pc,trace-cmp")
check_cxx_source_compiles("extern \"C\" { void __sanitizer_cov_trace_pc() {} } int main() {}"
                          RESPROUT_HAS_COVERAGE)
unset(CMAKE_REQUIRED_FLAGS)

# resprout_add_fuzzer(NAME source...): none where the compiler cannot report what is reached.
function(resprout_add_fuzzer name)
  if(NOT RESPROUT_HAS_COVERAGE)
    return()
  endif()
  if(NOT TARGET resprout_fuzzer)
    add_library(resprout_fuzzer OBJECT ${PROJECT_SOURCE_DIR}/fuzz/main.cpp
                ${PROJECT_SOURCE_DIR}/fuzz/mutate.cpp ${PROJECT_SOURCE_DIR}/fuzz/coverage.cpp)
    target_link_libraries(resprout_fuzzer PUBLIC resprout_common)
    if(RESPROUT_HAS_SANITIZERS)
      target_compile_options(resprout_fuzzer PUBLIC ${RESPROUT_SANITIZE})
      target_link_options(resprout_fuzzer PUBLIC ${RESPROUT_SANITIZE})
    endif()
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/fuzz/${name}.cpp ${sources})
  target_link_libraries(fuzz_${name} PRIVATE resprout_fuzzer)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize-coverage=trace-pc,trace-cmp)
  set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()
