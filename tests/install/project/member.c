// A program of a user: founds a group of one, and says what happened.
#include <resprout/member.h>
#include <stdio.h>

int main(void) {
  const resprout_member_options options = {.listen = "127.0.0.1:0",
                                           .radix = 2,
                                           .heartbeat_period_ms = 500,
                                           .heartbeat_timeout_ms = 5000};
  resprout_member* member = resprout_member_new(&options);
  if (!member) {
    fprintf(stderr, "%s\n", resprout_member_refusal());
    return 1;
  }
  const char* event = resprout_member_run(member, 10000);
  puts(event ? event : "nothing has happened");
  resprout_member_free(member);
  return event ? 0 : 1;
}
