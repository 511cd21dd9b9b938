/* With HOSTMETAL_ZOMBIES=1 freed objects stay, so that a message to one is noticed for sure. */
#ifndef HM_ZOMBIE_H
#define HM_ZOMBIE_H

#import <Foundation/NSObject.h>

BOOL hm_zombies_are_kept(void);
void hm_zombies_keep(BOOL keep);

/* Takes an object that has just been deallocated. */
void hm_zombie_make(id object);

/* Ends one for good. */
void hm_zombie_free(id zombie);

#endif
