/* equality.c with non-blocking collectives: see forms.h. */
#include "forms.h"

#include "equality.c"
