/* equality_blocks.c with persistent collectives: see forms.h. */
#define FORM_PERSISTENT
#include "forms.h"

#include "equality_blocks.c"
