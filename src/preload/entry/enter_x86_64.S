/* The way from a patched site of libc into the hooks and back.
 *
 * A stub (stub_x86_64.c) comes here by a jump with the registers of a system call: rax the number,
 * rdi rsi rdx r10 r8 r9 the arguments, and r11 = where to go on, right behind a system call
 * instruction. Like a system call, only rax, rcx and r11 change. Vector registers are not saved:
 * everything in this library is compiled without them. The caller may be a leaf function, so its
 * red zone is stepped over.
 *
 * What is saved is a struct leat_syscall. Frames to return from after a system call are dear, so
 * calls that are not ours are made by the site's own instruction (LEAT_PASS) or here (LEAT_TRY),
 * and not below the handlers' frames.
 *
 * The unwind tables make this look like a function called by libc at r11: backtraces and thread
 * cancellation pass through. */
#include "preload/engine/enter_x86_64.inc"

/* hooks/hooks.h */
#define LEAT_PASS -0x80000000
#define LEAT_TRY -0x7fffffff
#define LEAT_TRY_ERROR -0x7ffffffe
#define LEAT_TRY_LINK -0x7ffffffd /* greater than the others, less than any result */

/* struct stat */
#define STAT_MODE 24
#define S_IFMT 0xf000
#define S_IFLNK 0xa000

/* struct leat_traced, which ends with that one */
#define TRACED (CALL - 80)

	.macro	make_call
	load_arguments
	mov	NUMBER(%rbp), %rax
	syscall
	.endm

	.text
	.globl	leat_enter
	.hidden	leat_enter
	.type	leat_enter, @function
	.balign	16
leat_enter:
	save_registers
	lea	CALL(%rbp), %rdi
	call	leat_hook_begin
	cmp	$LEAT_TRY_LINK, %rax
	je	.Llink
	jl	.Lother
.Lmade:
	.cfi_remember_state
	leave_to_site 0
	.cfi_restore_state
	.balign	16
.Llink:
	make_call
	test	%rax, %rax
	jne	.Lmade
	mov	ARGUMENT(2)(%rbp), %rcx
	mov	STAT_MODE(%rcx), %ecx
	and	$S_IFMT, %ecx
	cmp	$S_IFLNK, %ecx
	jne	.Lmade
.Lend:
	lea	CALL(%rbp), %rdi
	mov	%rax, %rsi
	call	leat_hook_end
	jmp	.Lmade
	.balign	16
.Lother:
	cmp	$LEAT_PASS, %rax
	je	.Lpass
	cmp	$LEAT_TRY_ERROR, %rax
	jne	.Ltry
	make_call
	test	%rax, %rax
	jns	.Lmade
	jmp	.Lend
.Ltry:
	make_call
	jmp	.Lend
	.balign	16
.Lpass:
	mov	NUMBER(%rbp), %rax
	leave_to_site 2
	.cfi_endproc
	.size	leat_enter, .-leat_enter

	/* In a traced process. What is noted of the call lies below it: struct leat_traced. */
	.globl	leat_enter_traced
	.hidden	leat_enter_traced
	.type	leat_enter_traced, @function
	.balign	16
leat_enter_traced:
	save_registers
	lea	TRACED(%rbp), %rsp
	and	$-16, %rsp
	lea	TRACED(%rbp), %rdi
	call	leat_trace_begin
	cmp	$LEAT_TRY_LINK, %rax
	jle	.Ltraced_other
.Ltraced_made:
	.cfi_remember_state
	leave_to_site 0
	.cfi_restore_state
.Ltraced_other:
	cmp	$LEAT_PASS, %rax
	je	.Ltraced_pass
	make_call
	lea	TRACED(%rbp), %rdi
	mov	%rax, %rsi
	call	leat_trace_end
	jmp	.Ltraced_made
	.balign	16
.Ltraced_pass:
	mov	NUMBER(%rbp), %rax
	leave_to_site 2
	.cfi_endproc
	.size	leat_enter_traced, .-leat_enter_traced

	/* From a call that can be cancelled while it waits, in glibc since 2.41: its caller looks, if
	 * it gets -EINTR, whether the thread is to end. Where that is said the site has put above its
	 * return address; the hooks see it by leat_cancel_word. */
	.globl	leat_enter_cancellable
	.hidden	leat_enter_cancellable
	.type	leat_enter_cancellable, @function
	.balign	16
leat_enter_cancellable:
	mov	8(%rsp), %rcx
	save_registers
	mov	leat_cancel_word@gottpoff(%rip), %rax
	push	%fs:(%rax)
	push	%fs:(%rax)
	mov	%rcx, %fs:(%rax)
	lea	CALL(%rbp), %rdi
	call	leat_hook_begin
	cmp	$LEAT_TRY_LINK, %rax
	jg	.Lcancellable_made
	cmp	$LEAT_PASS, %rax
	je	.Lcancellable_pass
	cmp	$LEAT_TRY_ERROR, %rax
	sete	%cl
	mov	%cl, 8(%rsp) /* the second copy of the word is there for its place only */
	make_call
	cmpb	$0, 8(%rsp)
	je	.Lcancellable_end
	test	%rax, %rax
	jns	.Lcancellable_made
.Lcancellable_end:
	lea	CALL(%rbp), %rdi
	mov	%rax, %rsi
	call	leat_hook_end
.Lcancellable_made:
	mov	leat_cancel_word@gottpoff(%rip), %rcx
	mov	(%rsp), %rdx
	mov	%rdx, %fs:(%rcx)
	.cfi_remember_state
	leave_to_site 0
	.cfi_restore_state
.Lcancellable_pass:
	mov	leat_cancel_word@gottpoff(%rip), %rcx
	mov	(%rsp), %rdx
	mov	%rdx, %fs:(%rcx)
	mov	NUMBER(%rbp), %rax
	leave_to_site 2
	.cfi_endproc
	.size	leat_enter_cancellable, .-leat_enter_cancellable

	/* Before a fork, and after one that failed: the number of the call, or -errno, stays. */
	.globl	leat_enter_forking
	.hidden	leat_enter_forking
	.type	leat_enter_forking, @function
	.balign	16
leat_enter_forking:
	save_registers
	mov	%rax, %rdi
	call	leat_engine_forking
	mov	NUMBER(%rbp), %rax
	leave_to_site 0
	.cfi_endproc
	.size	leat_enter_forking, .-leat_enter_forking

	/* The parent of a vfork, which goes on: the child's number, or -errno, stays. */
	.globl	leat_enter_vforked
	.hidden	leat_enter_vforked
	.type	leat_enter_vforked, @function
	.balign	16
leat_enter_vforked:
	save_registers
	mov	%rax, %rdi
	call	leat_engine_vforked
	mov	NUMBER(%rbp), %rax
	leave_to_site 0
	.cfi_endproc
	.size	leat_enter_vforked, .-leat_enter_vforked

	/* A fork child: the hooks first, then libc with 0. */
	.globl	leat_enter_forked
	.hidden	leat_enter_forked
	.type	leat_enter_forked, @function
	.balign	16
leat_enter_forked:
	save_registers
	call	leat_engine_forked
	xor	%eax, %eax
	leave_to_site 0
	.cfi_endproc
	.size	leat_enter_forked, .-leat_enter_forked

	.section .note.GNU-stack, "", @progbits
