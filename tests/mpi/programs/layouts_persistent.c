/* layouts.c with persistent collectives: see forms.h. */
#define FORM_PERSISTENT
#define FORM_COMM comm
#include "forms.h"

#include "layouts.c"
