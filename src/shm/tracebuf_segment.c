/* Making a trace buffer. */
#include "base/pidstat.h"
#include "shm/tracebuf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_BUFFER = 64 << 20, LEAST_CHUNKS = 16 };

static size_t head_bytes(void)
{
	return (sizeof(struct leat_tracebuf) + LEAT_TRACEBUF_CHUNK - 1) / LEAT_TRACEBUF_CHUNK *
	       (size_t)LEAT_TRACEBUF_CHUNK;
}

static uint32_t chunks_of(size_t bytes)
{
	size_t n = (bytes ? bytes : DEFAULT_BUFFER) / LEAT_TRACEBUF_CHUNK;

	return n < LEAST_CHUNKS               ? LEAST_CHUNKS
	       : n > LEAT_TRACEBUF_MAX_CHUNKS ? LEAT_TRACEBUF_MAX_CHUNKS
					      : (uint32_t)n;
}

static void all_free(struct leat_tracebuf_free *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		atomic_fetch_or_explicit(&f->word[i / 64], UINT64_C(1) << i % 64,
					 memory_order_relaxed);
}

int leat_tracebuf_create(size_t buffer_bytes, int *fd, struct leat_tracebuf **tracebuf)
{
	uint32_t n = chunks_of(buffer_bytes);
	size_t size = head_bytes() + (size_t)n * LEAT_TRACEBUF_CHUNK;
	int mem = memfd_create("leat-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct leat_tracebuf *t;
	int rc;

	if (mem < 0)
		return -errno;
	/* Who could shrink it could kill all others by SIGBUS. */
	if (ftruncate(mem, (off_t)size) < 0 ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto failed;
	t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (t == MAP_FAILED)
		goto failed;
	t->magic = LEAT_TRACEBUF_MAGIC;
	t->version = LEAT_TRACEBUF_VERSION;
	t->n_chunks = n;
	t->size_bytes = size;
	t->pid_namespace = leat_pid_namespace();
	all_free(&t->free_chunks, n);
	all_free(&t->free_processes, LEAT_TRACEBUF_PROCESSES);
	*fd = mem;
	*tracebuf = t;
	return 0;
failed:
	rc = -errno;
	close(mem);
	return rc;
}

int leat_tracebuf_open(const char *path, struct leat_tracebuf **tracebuf)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;
	struct leat_tracebuf *t = MAP_FAILED;
	struct stat st = {0};

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (st.st_size < (off_t)sizeof(*t))
		rc = -EPROTO;
	if (!rc) {
		t = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = t == MAP_FAILED ? -errno : 0;
	}
	close(fd);
	if (!rc && !leat_tracebuf_is_good(t, (uint64_t)st.st_size)) {
		munmap(t, (size_t)st.st_size);
		rc = -EPROTO;
	}
	if (!rc)
		*tracebuf = t;
	return rc;
}

void leat_tracebuf_unmap(struct leat_tracebuf *tracebuf)
{
	if (tracebuf)
		munmap(tracebuf, tracebuf->size_bytes);
}
