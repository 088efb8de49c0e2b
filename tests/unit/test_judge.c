/* What is made of the two bytes of a system call instruction: judge_x86_64.c, over functions
 * written here byte by byte, with an unwind table that says where they begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/decode_x86_64.h"
#include "preload/engine/flow_x86_64.h"
#include "preload/engine/judge_x86_64.h"

#define CALL 0x0f, 0x05

/* One function of up to 256 bytes, and its table: header, one entry, one frame. */
static struct {
	uint8_t text[256];
	uint8_t header[12];
	int32_t entry[2];
	uint8_t common[24];
	uint32_t length, back;
	int32_t begin;
	uint32_t size;
} made;

static struct leat_code_flow flow;

static struct leat_code make(const uint8_t *bytes, size_t size, bool has_table)
{
	struct leat_code code = {.text = made.text,
				 .size = sizeof(made.text),
				 .file = "/nonexistent",
				 .space = &flow};

	flow.is_whole = false; /* of the function that was there before */
	memset(&made, 0, sizeof(made));
	memset(made.text, 0x90, sizeof(made.text));
	memcpy(made.text + 128, bytes, size);
	memcpy(made.header, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	made.header[8] = 1; /* entry */
	made.entry[0] = (int32_t)(made.text + 128 - made.header);
	made.entry[1] = (int32_t)((uint8_t *)&made.length - made.header);
	made.length = 12;
	made.back = (uint32_t)((uint8_t *)&made.back - made.common);
	made.size = (uint32_t)size;
	if (has_table) {
		code.frames = made.header;
		code.frames_size = (size_t)((uint8_t *)(&made + 1) - made.header);
	}
	return code;
}

struct row {
	const char *what;
	uint8_t bytes[40];
	uint8_t size, call; /* where the call is */
	enum leat_verdict verdict;
	enum leat_patch_kind kind;
	uint8_t patch; /* where the site begins */
};

static const struct row rows[] = {
	{"mov $futex,%eax", {0xb8, 0xca, 0, 0, 0, CALL, 0xc3}, 8, 5, LEAT_NOT_OURS, 0, 0},
	{"mov $write,%eax", {0xb8, 1, 0, 0, 0, CALL, 0xc3}, 8, 5, LEAT_SITE, LEAT_PATCH_NUMBER, 0},
	{"push between number and call, as in liburing",
	 {0xb8, 0xa9, 1, 0, 0, 0x55, 0x53, 0x48, 0x89, 0xf3, CALL, 0xc3},
	 13,
	 10,
	 LEAT_SITE,
	 LEAT_PATCH_NUMBER,
	 0},
	{"mov 16(%rsp),%rax, as in glibc 2.41",
	 {0x48, 0x8b, 0x44, 0x24, 0x10, CALL, 0xc3},
	 8,
	 5,
	 LEAT_SITE,
	 LEAT_PATCH_ANY,
	 0},
	{"mov %r11,8(%rsp), as in glibc 2.41",
	 {0x48, 0x89, 0xf0, 0x4c, 0x89, 0x5c, 0x24, 0x08, CALL, 0xc3},
	 11,
	 8,
	 LEAT_SITE,
	 LEAT_PATCH_ANY,
	 3},
	{"a futex kept in a register, over a jump",
	 /* mov $futex,%r8d; jmp +1; ret; mov %r8d,%eax; call */
	 {0x41, 0xb8, 0xca, 0, 0, 0, 0xeb, 1, 0xc3, 0x44, 0x89, 0xc0, CALL, 0xc3},
	 15,
	 12,
	 LEAT_NOT_OURS,
	 0,
	 0},
	{"one of two ways is a read",
	 /* mov $futex,%edx; je +2; xor %edx,%edx; mov %edx,%eax; mov %rbx,%rdi; call */
	 {0xba, 0xca, 0, 0, 0, 0x74, 2, 0x31, 0xd2, 0x89, 0xd0, 0x48, 0x89, 0xdf, CALL, 0xc3},
	 17,
	 14,
	 LEAT_SITE,
	 LEAT_PATCH_ANY,
	 9},
	{"the same without space for a jump",
	 {0xba, 0xca, 0, 0, 0, 0x74, 2, 0x31, 0xd2, 0x89, 0xd0, CALL, 0xc3},
	 14,
	 11,
	 LEAT_UNREADABLE,
	 0,
	 0},
	{"the caller's number", {0x89, 0xf8, CALL, 0xc3}, 5, 2, LEAT_UNREADABLE, 0, 0},
	{"a jump into what would be moved",
	 /* mov %rdi,%rax; mov %rsi,%rdi; call; js to the second mov */
	 {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, CALL, 0x78, 0xf9, 0xc3},
	 11,
	 6,
	 LEAT_UNREADABLE,
	 0,
	 0},
	{"a jump with another number to the call",
	 /* mov $futex,%eax; jmp +3; xor %eax,%eax; nop; call */
	 {0xb8, 0xca, 0, 0, 0, 0x74, 3, 0x31, 0xc0, 0x90, CALL, 0xc3},
	 13,
	 10,
	 LEAT_UNREADABLE,
	 0,
	 0},
	{"part of a constant", {0xb8, CALL, 0xc3, 0, 0xc3}, 6, 1, LEAT_NO_CALL, 0, 0},
	{"part of a distance", {0xe9, 0, CALL, 0, 0xc3}, 6, 2, LEAT_NO_CALL, 0, 0},
};

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		struct leat_code code = make(r->bytes, r->size, true);
		struct leat_patch_site site = {0};
		enum leat_verdict verdict = leat_judge(&code, made.text + 128 + r->call, &site);

		if (verdict != r->verdict)
			fail_msg("%s: %d", r->what, verdict);
		if (verdict != LEAT_SITE)
			continue;
		assert_int_equal(site.kind, r->kind);
		assert_ptr_equal(site.patch, made.text + 128 + r->patch);
		assert_ptr_equal(site.call, made.text + 128 + r->call);
	}
}

/* Nothing is known of a function: calls are told from data, and not patched. */
static void test_without_table(void **state)
{
	static const uint8_t own[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, CALL, 0xc3};
	static const uint8_t futex[] = {0xb8, 0xca, 0, 0, 0, CALL, 0xc3};
	struct leat_patch_site site;
	struct leat_code code = make(own, sizeof(own), false);

	(void)state;
	assert_int_equal(leat_judge(&code, made.text + 134, &site), LEAT_UNCERTAIN);
	code = make(futex, sizeof(futex), false);
	assert_int_equal(leat_judge(&code, made.text + 133, &site), LEAT_NOT_OURS);
	memset(made.text + 64, 0xb8,
	       69); /* mov $0xb8b8b8b8,%eax, over and over, and the call in the last */
	assert_int_equal(leat_judge(&code, made.text + 133, &site), LEAT_NO_CALL);
}

static void test_lengths(void **state)
{
	static const struct {
		uint8_t size, bytes[15];
	} insns[] = {
		{1, {0x90}},
		{2, {0x89, 0xd8}},
		{5, {0x48, 0x8b, 0x44, 0x24, 0x10}},
		{7, {0x48, 0x8d, 0x05, 1, 2, 3, 4}},
		{8, {0x48, 0x8b, 0x04, 0x25, 1, 2, 3, 4}},
		{10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
		{3, {0xf6, 0xc2, 0x04}},
		{6, {0xf7, 0xc2, 4, 0, 0, 0}},
		{2, {0xf7, 0xd8}},
		{5, {0x66, 0xf7, 0xc2, 4, 0}},
		{4, {0x66, 0x0f, 0x6f, 0xc1}},
		{4, {0xc5, 0xf9, 0x6f, 0xc1}},
		{6, {0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}},
		{6, {0x62, 0xf1, 0x7d, 0x48, 0x6f, 0xc1}},
		{9, {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},
		{6, {0x0f, 0x84, 1, 2, 3, 4}},
		{4, {0xf3, 0x0f, 0x1e, 0xfa}},
		{0, {0x06}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		struct leat_insn insn;
		bool is_one = leat_decode(&insn, insns[i].bytes, insns[i].bytes + 15);

		assert_int_equal(is_one, insns[i].size > 0);
		if (is_one)
			assert_int_equal(insn.length, insns[i].size);
		/* cut off it is none */
		if (is_one)
			assert_false(leat_decode(&insn, insns[i].bytes,
						 insns[i].bytes + insns[i].size - 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_without_table),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
