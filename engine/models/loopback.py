"""The old name of `wardround.testing.loopback`, kept for one version."""

from wardround.testing.loopback import CHAT, RESPONSES, Loopback, Takes, main

__all__ = ["CHAT", "RESPONSES", "Loopback", "Takes", "main"]

if __name__ == "__main__":
    main()
