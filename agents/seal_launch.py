"""Runs a command in namespaces of its own, on Linux: no network, no file but what a program needs to run, read-only.

`agents/process.py` starts it as a script, in an interpreter that imports nothing else. The command sees an empty
network (not even a loopback that is up), only its own processes, the system's programs, Python and the working
directory, all read-only, and an empty `/tmp`; in place of a hidden file it sees an empty one. It can make no Unix,
packet or VM socket and no io_uring. Its environment holds no keys.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NEW = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000  # mnt, uts, ipc, user, pid, net
_BIND, _REC, _PRIVATE, _NOSUID, _NODEV = 4096, 16384, 1 << 18, 2, 4
_INSIDE = 65534
"""The user within: not 0, so that the command starts without capabilities."""
_SETATTR, _IO_URING = 442, 425
"""The numbers of the calls mount_setattr and io_uring_setup, the same on all machines of ARCHES."""
ARCHES = {"x86_64": (0xC000003E, 41, 155), "aarch64": (0xC00000B7, 198, 41)}
"""By machine: its name for seccomp, and the numbers of the calls socket and pivot_root."""
_FAMILIES = (2, 10, 16)
"""IPv4, IPv6 and netlink may be opened: the network that they reach is empty."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV", "TZ")
"""Variables of the environment that the command gets."""
ROOM = b"size=1g"
"""What the command may write into `/tmp`: it lies in memory."""
REFUSED = 126
"""The exit code where the command could not be sealed; nothing was run then."""

_libc = ctypes.CDLL(None, use_errno=True)


def _check_call(what: str, result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str, flags: int, data: bytes | None = None) -> None:
    _check_call(
        f"mount {target}",
        _libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data),
    )


def enter(uid: int, gid: int) -> None:
    """Enter new namespaces; the next child is process 1 of them."""
    _check_call("unshare", _libc.unshare(_NEW))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{_INSIDE} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{_INSIDE} {gid} 1", encoding="ascii")


def _show_in_root(root: str, place: str, handle: int, *, changeable: bool) -> None:
    """Show what an open handle is at `place` of the new root, read-only unless `changeable`."""
    target = root + place
    if os.path.isdir(f"/proc/self/fd/{handle}"):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    _mount(f"/proc/self/fd/{handle}", target, "", _BIND | _REC)
    if not changeable:
        attributes = struct.pack("QQQQ", 1 | 2, 0, 0, 0)  # read-only, no set-user-id; all mounts below as well
        result = _libc.syscall(_SETATTR, -100, target.encode(), 0x8000, attributes, len(attributes))
        _check_call(f"mount {place} read-only", result)


def _hide(root: str, place: str) -> None:
    """Cover a file by an empty one, and a folder by an empty folder, where the new root shows it."""
    target = root + place
    if os.path.isdir(target):
        _mount("none", target, "tmpfs", _NOSUID | _NODEV, b"size=4k,mode=555")
    elif os.path.exists(target):
        _mount(f"{root}/dev/null", target, "", _BIND)


def build_root(folders: Sequence[str], hidden: Sequence[str] = ()) -> None:
    """Make a new root that shows the system and `folders`, except what is `hidden`, and enter it."""
    here = os.getcwd()
    _mount("none", "/", "", _REC | _PRIVATE)
    wanted = [place for place in (*SYSTEM, *_FILES) if os.path.exists(place)]
    links = [(place, os.readlink(place)) for place in wanted if os.path.islink(place)]
    wanted = [place for place in wanted if not os.path.islink(place)]
    for folder in sorted(folders, key=len):
        if not any(folder == one or folder.startswith(one + "/") for one in wanted):
            wanted.append(folder)
    # handles, since the new root is mounted over a folder that may hold some of these
    old = {place: os.open(os.path.realpath(place), os.O_PATH) for place in (*wanted, *_DEVICES)}
    root = "/tmp"  # noqa: S108 - only as a mount point, in a namespace of its own
    _mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, ROOM)
    for place in (*wanted, *_DEVICES):
        _show_in_root(root, place, old[place], changeable=place in _DEVICES)
        os.close(old[place])
    for place in hidden:
        _hide(root, place)
    for place, target in links:
        os.symlink(target, root + place)
    for folder in ("/tmp", "/proc", "/dev/shm"):  # noqa: S108 - within the new root
        os.makedirs(root + folder, exist_ok=True)
    with suppress(PermissionError):  # some containers forbid it: the command then has an empty /proc
        _mount("proc", root + "/proc", "proc", _NOSUID | _NODEV)
    os.chdir(root)
    _check_call("pivot_root", _libc.syscall(ARCHES[platform.machine()][2], b".", b"."))
    _check_call("umount", _libc.umount2(b".", 2))
    os.chdir(here)


def filter_calls() -> None:
    """Refuse sockets that the namespaces do not hold: Unix, packet, VM; and io_uring, which would go round this."""
    arch, socket, _ = ARCHES[platform.machine()]
    load, equal, above, back = 0x20, 0x15, 0x35, 0x06
    allow, kill, refuse = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EACCES
    lines = [
        *((load, 0, 0, 4), (equal, 1, 0, arch), (back, 0, 0, kill)),
        *((load, 0, 0, 0), (above, 0, 1, 0x40000000), (back, 0, 0, kill)),
        *((equal, 0, 1, _IO_URING), (back, 0, 0, refuse)),
        *((equal, 1, 0, socket), (back, 0, 0, allow)),
        (load, 0, 0, 16),
        *(line for family in _FAMILIES for line in ((equal, 0, 1, family), (back, 0, 0, allow))),
        (back, 0, 0, refuse),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in lines)
    body = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(body))
    _check_call("prctl", _libc.prctl(38, 1, 0, 0, 0))  # no new privileges
    _check_call("seccomp", _libc.prctl(22, 2, program, 0, 0))


def run_sealed(arguments: Sequence[str]) -> int:
    """`FOLDER ... --hide FILE ... -- COMMAND ...`: run the command and return its exit code."""
    split = list(arguments).index("--")
    shown, command = list(arguments[:split]), list(arguments[split + 1 :])
    hide = shown.index("--hide")
    folders, hidden = shown[:hide], shown[hide + 1 :]
    try:
        enter(os.getuid(), os.getgid())
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status)
        _libc.prctl(1, signal.SIGKILL)  # the command dies with this process
        build_root(folders, hidden)
        filter_calls()
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        os.execvpe(command[0], command, {**kept, "HOME": "/tmp"})  # noqa: S606, S108
    except OSError as error:
        print(f"not sealed: {error.strerror if not error.filename else error}", file=sys.stderr)
        os._exit(REFUSED)


if __name__ == "__main__":
    sys.exit(run_sealed(sys.argv[1:]))
