/* Marks for a traced process, to which every descriptor is of interest. */
	.section .rodata
	.globl	leat_every_fd
	.hidden	leat_every_fd
	.type	leat_every_fd, @object
leat_every_fd:
	.fill	65536, 1, 1 /* LEAT_MAX_FD */
	.size	leat_every_fd, .-leat_every_fd

	.section .note.GNU-stack, "", @progbits
