/* blocks.c with non-blocking collectives: see forms.h. */
#define FORM_COMM comms[current.which_comm]
#include "forms.h"

#include "blocks.c"
