"""Images in messages: by reference where they are recorded, whole where they are sent.

An image is a data URL (`data:image/png;base64,...`) or an `https` address. A message in a log holds a reference to a
data URL, `image:` and a digest, so that an image is kept once, in its case, and not in every call that shows it.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from wardround.engine.records import Json, Message

_DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF8": "gif",
    b"RIFF": "webp",
}
LARGEST = 10_000_000
"""The most bytes of an image file."""


def data_url(content: bytes) -> str:
    """The image as a data URL; raises ValueError if `content` is no PNG, JPEG, GIF or WebP, or too large."""
    kind = next((kind for head, kind in _SIGNATURES.items() if content.startswith(head)), "")
    if not kind:
        raise ValueError("is no PNG, JPEG, GIF or WebP image")
    if len(content) > LARGEST:
        raise ValueError(f"has {len(content):,} bytes, of at most {LARGEST:,}")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def is_image(text: str) -> bool:
    """Whether the text is a data URL of an image or an https address."""
    return text.startswith("https://") or _DATA_URL.fullmatch(text) is not None


def image_reference(image: str) -> str:
    """What a log holds of an image: `image:` and its digest for a data URL, an address as it is."""
    if image.startswith("https://"):
        return image
    return f"image:{blake2b(image.encode(), digest_size=16).hexdigest()}"


def user_message(text: str, images: Sequence[str] = ()) -> Message:
    """A user's message with images, given by reference, behind its text."""
    if not images:
        return Message("user", text)
    parts = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    return Message("user", text, {"content": [{"type": "text", "text": text}, *parts]})


def images_of(message: Message) -> list[str]:
    """The images of a message, by reference."""
    parts = (message.more or {}).get("content")
    return [url for part in parts if (url := _url(part))] if isinstance(parts, list) else []


def with_whole_images(message: Message, images: Mapping[str, str]) -> Message:
    """The message with `images`, by reference, in place of their references."""
    parts = (message.more or {}).get("content")
    if not isinstance(parts, list) or not any(_url(part) in images for part in parts):
        return message
    whole = [
        {**part, "image_url": {**part["image_url"], "url": images[url]}} if (url := _url(part)) in images else part
        for part in parts
    ]
    return Message(message.role, message.content, {**(message.more or {}), "content": whole})


def _url(part: Json) -> str:
    """The image of a part of a message; "" if it is another part."""
    image = part.get("image_url") if isinstance(part, Mapping) and part.get("type") == "image_url" else None
    url = image.get("url") if isinstance(image, Mapping) else None
    return url if isinstance(url, str) else ""
