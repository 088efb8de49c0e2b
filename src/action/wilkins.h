/* wilkins.py, made C of by the build. */
#ifndef LEAT_ACTION_WILKINS_H
#define LEAT_ACTION_WILKINS_H

extern const char leat_wilkins_text[];

#endif
