/* layouts.c with non-blocking collectives: see forms.h. */
#define FORM_COMM comm
#include "forms.h"

#include "layouts.c"
