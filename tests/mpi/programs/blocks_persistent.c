/* blocks.c with persistent collectives: see forms.h. */
#define FORM_PERSISTENT
#define FORM_COMM comms[current.which_comm]
#include "forms.h"

#include "blocks.c"
