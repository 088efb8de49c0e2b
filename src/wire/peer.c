#include "wire/wire.h"

#include <sys/socket.h>
#include <unistd.h>

bool leat_wire_peer_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       leat_wire_is_trusted(peer.uid, geteuid());
}
