/* Where steps have files of their own (`private`): in a directory of that name and six more letters
 * in the workflow's directory, in one for each step, by its number, as they would lie in the
 * workflow's. /proc shows descriptors so. */
#ifndef LEAT_BASE_PRIVATE_H
#define LEAT_BASE_PRIVATE_H

#define LEAT_PRIVATE_PREFIX ".leat-private-"

#endif
