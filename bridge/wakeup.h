/* What the completion of a command buffer does to a wake-up of flashmetal.h. */
#ifndef FM_BRIDGE_WAKEUP_H
#define FM_BRIDGE_WAKEUP_H

#include "flashmetal.h"

fm_wakeup *fm_wakeup_retain(fm_wakeup *wakeup);
/* Makes the descriptor readable; never blocks. */
void fm_wakeup_signal(fm_wakeup *wakeup);

#endif
