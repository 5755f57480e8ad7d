/* equality.c with persistent collectives: see forms.h. */
#define FORM_PERSISTENT
#include "forms.h"

#include "equality.c"
