"""The name of a text: the same in every store, and in the records of what was read."""

from hashlib import blake2b


def digest_of(text: str | bytes) -> str:
    """32 hex digits over the bytes of a text: blake2b of 16 bytes; of a string those of its UTF-8."""
    body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(body, digest_size=16).hexdigest()
