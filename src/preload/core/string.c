/* The few string functions of the library, so that it calls none of libc's: those use vector
 * registers, which a system call must leave alone, and may not be bound yet. Hidden, so only this
 * library uses them; compilers turn copies and loops into calls of these names. */

#include <stddef.h>
#include <string.h>
#include <strings.h>

#if defined(__x86_64__)

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *result = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	return result;
}

void *memset(void *to, int value, size_t size)
{
	void *result = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
	return result;
}

#else

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	char *d = to;
	const char *s = from;

	while (size-- > 0)
		*d++ = *s++;
	return to;
}

void *memset(void *to, int value, size_t size)
{
	char *d = to;

	while (size-- > 0)
		*d++ = (char)value;
	return to;
}

#endif

void *memmove(void *to, const void *from, size_t size)
{
	char *d = to;
	const char *s = from;

	if (d <= s || d >= s + size)
		return memcpy(to, from, size);
	while (size-- > 0)
		d[size] = s[size];
	return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
	const unsigned char *a = left, *b = right;

	for (; size > 0; a++, b++, size--)
		if (*a != *b)
			return *a - *b;
	return 0;
}

/* clang's choice where only equality is asked for */
int bcmp(const void *left, const void *right, size_t size)
{
	return memcmp(left, right, size);
}

size_t strnlen(const char *text, size_t most)
{
	size_t n = 0;

	while (n < most && text[n])
		n++;
	return n;
}

size_t strlen(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

int strncmp(const char *left, const char *right, size_t most)
{
	for (; most > 0; left++, right++, most--)
		if (*left != *right || !*left)
			return (unsigned char)*left - (unsigned char)*right;
	return 0;
}

int strcmp(const char *left, const char *right)
{
	return strncmp(left, right, (size_t)-1);
}

char *strchr(const char *text, int c)
{
	for (; *text != (char)c; text++)
		if (!*text)
			return NULL;
	return (char *)(size_t)text;
}

char *strrchr(const char *text, int c)
{
	const char *last = NULL;

	do {
		if (*text == (char)c)
			last = text;
	} while (*text++);
	return (char *)(size_t)last;
}
