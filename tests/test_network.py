"""The suite itself: nothing in it may leave this machine."""

import socket

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org"])
def test_a_connection_that_leaves_this_machine_is_refused(host: str) -> None:
    with pytest.raises(RuntimeError, match="this machine only"):
        socket.create_connection((host, 80), timeout=1)
