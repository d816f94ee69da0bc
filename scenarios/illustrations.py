"""Images of cases and questions: read from files beside theirs, kept in the case, and shown by a setting.

`with_images` puts the image files of a case into it as data URLs. A log names each by a reference (`image_reference`),
and `case_images` finds the image for a reference. The setting `Images` of a scenario says whether a doctor sees them.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from wardround.engine.text import count_noun
from wardround.scenarios.case import Case, Finding, Investigation, Study, image_reference
from wardround.scenarios.question_item import QuestionItem

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
    """The image as a data URL; raises ValueError if `content` is not a PNG, JPEG, GIF or WebP, or is too large."""
    kind = next((kind for head, kind in _SIGNATURES.items() if content.startswith(head)), "")
    if not kind:
        raise ValueError("is no PNG, JPEG, GIF or WebP image")
    if len(content) > LARGEST:
        raise ValueError(f"has {count_noun(len(content), 'byte')}, of at most {LARGEST:,}")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def is_image(text: str) -> bool:
    """Whether the text is a data URL of an image or an https address."""
    return text.startswith("https://") or _DATA_URL.fullmatch(text) is not None


Images = Annotated[
    Literal["none", "shown", "alone"],
    Field(
        description="How the doctor gets the images of results: not at all, with the reports, or in their place.",
    ),
]
"""How a doctor gets the images of results: not at all (`none`), with the reports (`shown`), or in place of the reports
(`alone`)."""
Result = TypeVar("Result", Finding, Study, Investigation)


def case_images(item: object) -> dict[str, str]:
    """The data URLs of a case's or question's images, by the reference that a log holds for each.

    Images at https addresses are left out. An item of another kind, such as an article, has no images.
    """
    return {image_reference(image): image for image in _images(item) if not image.startswith("https://")}


def _images(item: object) -> Iterator[str]:
    if isinstance(item, QuestionItem):
        yield from item.images
    elif isinstance(item, Case):
        for finding in item.examination:
            yield from finding.images
        for study in item.imaging:
            yield from study.images
        for other in item.investigations:
            yield from other.images


def has_images(item: Case | QuestionItem) -> bool:
    """Whether a case or question has any image."""
    return any(True for _ in _images(item))


def with_images(item: Case | QuestionItem, folder: Path) -> Case | QuestionItem:
    """The item with its image files as data URLs; `folder` is the folder of the item's file.

    Raises ValueError, which names the field, if an image file is missing, lies outside `folder` or is not an image.
    """
    if isinstance(item, QuestionItem):
        return item.model_copy(update={"images": _whole("images", item.images, folder)})
    return item.model_copy(
        update={
            "examination": tuple(_each("examination", item.examination, folder)),
            "imaging": tuple(_each("imaging", item.imaging, folder)),
            "investigations": tuple(_each("investigations", item.investigations, folder)),
        }
    )


def _each(field: str, results: Iterable[Result], folder: Path) -> Iterator[Result]:
    for place, result in enumerate(results):
        images = _whole(f"{field}[{place}].images", result.images, folder)
        yield result.model_copy(update={"images": images}) if images else result


def _whole(field: str, images: Sequence[str], folder: Path) -> tuple[str, ...]:
    return tuple(_read(f"{field}[{place}]", image, folder) for place, image in enumerate(images))


def _read(field: str, image: str, folder: Path) -> str:
    """The image as a data URL or an https address."""
    if is_image(image):
        return image
    path = (folder / image).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{field}: {image[:80]!r} does not lie beside the file")
    try:
        return data_url(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{field}: {image[:80]!r} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{field}: {image[:80]!r} {error}") from None
