# What every target is compiled with, and the compiler that is needed for it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Resprout needs g++ 12 or newer (C++20); ${CMAKE_CXX_COMPILER} is "
                      "${CMAKE_CXX_COMPILER_VERSION}. Install a newer one, or name it: CXX=g++-12")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  message(FATAL_ERROR "Resprout needs clang 15 or newer (C++20); ${CMAKE_CXX_COMPILER} is "
                      "${CMAKE_CXX_COMPILER_VERSION}.")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Every target of ours takes its include path and its warnings from here.
add_library(resprout_common INTERFACE)
target_include_directories(resprout_common INTERFACE ${PROJECT_SOURCE_DIR}/src
                           ${PROJECT_SOURCE_DIR}/include)
target_include_directories(resprout_common SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/third_party)
target_compile_options(resprout_common INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       $<$<BOOL:${RESPROUT_WERROR}>:-Werror>)
# Sources are named from here, so that no path of the build is in what is built.
target_compile_options(resprout_common INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
foreach(warning -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
  target_compile_options(resprout_common INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${warning}>)
endforeach()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string (gcc bug 105329).
  target_compile_options(resprout_common INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
find_package(Threads REQUIRED)
