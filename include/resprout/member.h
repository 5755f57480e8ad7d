/* One member of a membership over TCP, without MPI: who is alive, agreed on by all members.
 *
 * Link with libresprout_sim.so, which stands in the Python package. A member belongs to one thread.
 */
#ifndef RESPROUT_MEMBER_H
#define RESPROUT_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct resprout_member resprout_member;

/* Set all to zero first: what is not given is then as it was before it could be given. */
typedef struct {
  const char* listen;           /* "HOST:PORT", numeric; port 0: any that is free */
  const char* join;             /* members, with commas between them, which are asked in turn;
                                   null: the first one of a new membership */
  int radix;                    /* children in the tree: a power of two, 2 to 1024; who joins with
                                   whole views takes over the group's */
  int64_t heartbeat_period_ms;  /* > 0 */
  int64_t heartbeat_timeout_ms; /* of silence, after which a neighbor is suspected; > period */
  const uint8_t* secret;        /* 32 bytes that all members share; null: zeros. See `secrets` */
  const char* order;            /* a file with the places of members in the tree; null: none */
  const char* views;            /* "whole" or "local"; null: whole. The same for all members */
  const char* state;            /* a file in which it keeps where the others are; null: nowhere */
  const char* advertise;        /* "HOST:PORT" at which the others reach it; null: `listen`. Port 0:
                                   that at which it listens */
  const char* tags;             /* a line "key=value" of each; null: none. Not with local views */
  int secrets;                  /* so many secrets stand behind each other at `secret`, at most 4;
                                   0: one */
} resprout_member_options;

/* Makes a member. Null if that cannot be; resprout_member_refusal() says why, in one line.
 *
 * `listen` may be every address of this host, 0.0.0.0 or [::], if there is `advertise`. A member is
 * known by the address at which the others reach it. `order` names it by that address, too.
 *
 * `order` is read once, here. A line of it is HOST or HOST:PORT, and perhaps a word, the GROUP.
 * HOST is a numeric address, or the host's own name. `#` begins a comment. Without groups the n-th
 * member, from 0, has identifier n. Members of one group stand together in the tree. A member asks
 * for the place that the line with its address gives it. It gets another place, which the order of
 * the root gives nobody, if it is in no line, or if somebody else has its place. A former member
 * keeps the identifier that it had. docs/explanation/protocols/membership.md says more.
 *
 * With local views a member knows its neighborhood, and not who is a member. Its memory does not
 * depend on how many members there are. `order` has to be given then. Its n-th line, from 0, is the
 * HOST:PORT at which identifier n listens. It names all who may ever be members, and so `listen`
 * and `join`. It is read again whenever this member speaks to another one for the first time.
 * docs/explanation/protocols/local_membership.md says more.
 *
 * Tags are told to all members. A key has letters, digits, `_`, `-` and `.`. A value is printable
 * ASCII without `"` and `\`. All tags of a member have at most 512 bytes.
 *
 * A member with several secrets proves itself by the first one, and accepts members that prove any
 * of them. See resprout_member_use_secrets.
 *
 * A member with `state` and without `join` asks those for admission whom an earlier process has
 * kept there. If all of them refuse, or nobody has admitted it within the heartbeat timeout, it
 * founds a group of its own, with the event founding. */
resprout_member* resprout_member_new(const resprout_member_options* options);

/* Of the last function here that refused in this thread; valid until the next one. */
const char* resprout_member_refusal(void);

/* Serves the membership until something has happened, for at most `timeout_ms`. It must be called
 * again and again. Returns what has happened as one line of JSON, valid until the next call. Null:
 * nothing has happened.
 *
 * Every line has "event", "time" (seconds since 1970), "epoch", "members", "root", "self" and
 * "address". With an order it has "place", where the order has this member, or null. A view whose
 * members have tags has "tags", an object of objects by member.
 *
 * With local views there are no "members" and no "place". In their place "count" says how many
 * members there are, and "digest" has 16 digits that are different for other members. A view also
 * has "neighbors", whom this member watches, and "entered" and "left", who has come and gone since
 * its view before.
 *
 * The event is view, joining, founding, suspected (with "about"), decided, excluded, isolated or
 * rejected. With whole views it may also be message or removed.
 *
 * rejected: the process at "peer" does not come in. Its "reason" is secret, if it has another one,
 * or version, if it speaks "peer_version" of the protocol and not "version". It is said once for
 * each reason and version; "rejected" in the statistics counts all.
 *
 * message: the member "from" has said so many "bytes" to this one. resprout_member_data has them.
 *
 * removed: another member, "about" if it is known, has removed this one. It serves nobody any more.
 */
const char* resprout_member_run(resprout_member* member, int timeout_ms);

/* What was said, if the last resprout_member_run has returned a message; valid until the next one.
 * Else `bytes` is 0. */
const uint8_t* resprout_member_data(const resprout_member* member, size_t* bytes);

/* Says `size` bytes, at most 1,000,000, to the member `to`, or, if `to` is -1, to all other members
 * of its view. A member that receives it is then in the view in which it was said (same-view
 * delivery). It receives it once, and in order with all else that this member says to it. A member
 * does not receive it if it dies, is suspected, or installs the next view before the message comes.
 *
 * Returns the epoch of that view. 0: it was not said, and resprout_member_refusal() says why.
 * Either this process is in no view, or a receiver has not taken what was said before. With local
 * views nothing can be said. */
uint64_t resprout_member_send(resprout_member* member, int to, const void* bytes, size_t size);

/* Has the member `id` leave, from whole views. If the others are a quorum, they go on without it at
 * once, even if it does not answer. A process that hangs leaves when it goes on, if it was
 * connected with this one; else it joins again. Returns 0; -1: resprout_member_refusal() says why
 * not. */
int resprout_member_remove(resprout_member* member, int id);

/* For connections that begin from now on: `count` secrets of 32 bytes, 1 to 4. To exchange one
 * without an interruption, let all members know old and new, then all new and old, then all new
 * alone. Returns 0; -1: the count is wrong. */
int resprout_member_use_secrets(resprout_member* member, const uint8_t* secrets, int count);

/* Who is in its view, as one line of JSON, valid until the next call. "event" is members. "members"
 * has the "address" and the "tags" of each. With local views they are this member and those whom it
 * watches. */
const char* resprout_member_members(resprout_member* member);

/* What the member has cost since it was made, as one line of JSON, valid until the next call.
 * "event" is statistics. It has "time", "address" and these numbers, of which the first three are
 * there with
 * "_received", too: "messages_sent"; "heartbeats_sent", which are among them; "bytes_sent", those
 * of messages without handshakes and TCP's own; "connections" that there are now; "rejected"
 * connections, whose other ends did not prove a secret, or made no sense; "resident_bytes" of its
 * process; "own_bytes" of these, which no other process shares. */
const char* resprout_member_statistics(resprout_member* member);

/* Its connections are closed: the others take it for dead. */
void resprout_member_free(resprout_member* member);

#ifdef __cplusplus
}
#endif

#endif
