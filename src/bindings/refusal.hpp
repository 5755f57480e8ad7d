// Why a call of the C interface refused. Thread rule: each thread has its own.
#pragma once

#include <string>

namespace resprout::bindings {

void refuse(std::string why);

}  // namespace resprout::bindings
