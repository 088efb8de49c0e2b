/* Where the variables lie that every start of a program touches. Each page of them costs a fault,
 * so they are together, right behind the data that relocation touches in any case (first.ld), and
 * what only some programs use lies elsewhere. */
#ifndef LEAT_PRELOAD_CORE_FIRST_H
#define LEAT_PRELOAD_CORE_FIRST_H

/* Of a variable without an initial value. */
#define LEAT_FIRST __attribute__((section(".bss.leat_first")))
/* Of a large one of which a start touches the beginning; there can be only one. */
#define LEAT_FIRST_BEGINS __attribute__((section(".bss.leat_first_begins")))

#endif
