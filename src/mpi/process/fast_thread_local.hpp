// Variables of a thread that are looked at in every call, so they lie where no function has to be
// called to find them. There is little room for them: a few words.
#pragma once

#define RESPROUT_FAST_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec")))
