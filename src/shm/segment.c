/* Making and mapping the shared segment. */
#include "shm/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int leat_shm_create(int *fd, struct leat_shm **shm)
{
	struct leat_shm *map = MAP_FAILED;
	int rc = 0;
	int mem = memfd_create("leat-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (mem < 0)
		return -errno;
	/* A client that could shrink the segment could kill the daemon by SIGBUS. */
	if (ftruncate(mem, sizeof(**shm)) < 0 ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		rc = -errno;
		goto out;
	}
	map = mmap(NULL, sizeof(**shm), PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (map == MAP_FAILED) {
		rc = -errno;
		goto out;
	}
	map->magic = LEAT_SHM_MAGIC;
	map->version = LEAT_SHM_VERSION;
	atomic_store(&map->daemon_alive, 1);
	atomic_store(&map->changes, 1);
	*fd = mem;
	*shm = map;
	return 0;
out:
	close(mem);
	return rc;
}

int leat_shm_map(int fd, struct leat_shm **shm)
{
	struct leat_shm *map = MAP_FAILED;
	struct stat st;
	int saved = errno;
	int rc = 0;

	if (fstat(fd, &st) < 0) {
		rc = -errno;
		goto out;
	}
	if ((uint64_t)st.st_size != sizeof(*map)) {
		rc = -EPROTO;
		goto out;
	}
	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = -errno;
		goto out;
	}
	if (map->magic != LEAT_SHM_MAGIC || map->version != LEAT_SHM_VERSION) {
		munmap(map, sizeof(*map));
		rc = -EPROTO;
		goto out;
	}
	*shm = map;
out:
	errno = saved;
	return rc;
}

void leat_shm_unmap(struct leat_shm *shm)
{
	if (shm)
		munmap(shm, sizeof(*shm));
}
