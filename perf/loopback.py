"""Addresses of this machine for the scripts that start several processes of one search."""

import socket


def ports(count):
    """Addresses that are free now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    names = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return names
