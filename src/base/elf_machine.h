/* The machine that leat itself is built for, as ELF files name it; for who includes <linux/elf.h>.
 */
#ifndef LEAT_BASE_ELF_MACHINE_H
#define LEAT_BASE_ELF_MACHINE_H

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#else
#define OWN_MACHINE EM_NONE
#endif

#endif
