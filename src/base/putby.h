/* The names under which variables that a dynamic loader obeys are handed through a program that
 * is not to obey them: this, and the name. */
#ifndef LEAT_BASE_PUTBY_H
#define LEAT_BASE_PUTBY_H

#define LEAT_PUT_BY "LEAT_PUT_BY_"

/* In the environment of a program that leat itself has started: nobody has looked yet what its
 * loader was to load. */
#define LEAT_BEGUN "LEAT_BEGUN="

#endif
