/* equality_blocks.c with non-blocking collectives: see forms.h. */
#include "forms.h"

#include "equality_blocks.c"
