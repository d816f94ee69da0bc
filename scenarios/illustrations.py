"""Images of cases and questions: read beside their file, kept in the case, shown by a setting of the scenario."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from wardround.engine.images import data_url, image_reference, is_image
from wardround.engine.records import Json
from wardround.scenarios.case import Case, Finding, Investigation, Study
from wardround.scenarios.question_item import QuestionItem

Images = Annotated[
    Literal["none", "shown", "alone"],
    Field(
        description="Whether the doctor is sent the images of results: no, with their reports, in place of them.",
    ),
]
Result = TypeVar("Result", Finding, Study, Investigation)


def case_images(item: object) -> dict[str, str]:
    """The images of a case or question by the reference that a log holds; https addresses are not among them.

    Another item of a run, such as an article, has none.
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
    """The item with its image files as data URLs; `folder` is that of its file.

    Raises ValueError that names the field, if a file is not there, lies elsewhere, or is no image.
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


def illustrated(
    answers: Iterable[Mapping[str, Json]], record: Iterable[Mapping[str, Json]], images: str
) -> list[Mapping[str, Json]]:
    """An examiner's answers, each with the `images` of the results that it cites; `alone` leaves their reports out."""
    by_ref = {row["ref"]: row["images"] for row in record if row.get("images")} if images != "none" else {}
    shown: list[Mapping[str, Json]] = []
    for answer in answers:
        refs = answer.get("refs") or ()
        mine = [image for ref in refs for image in by_ref.get(ref, ())] if isinstance(refs, list | tuple) else []
        if mine and images == "alone":
            shown.append(
                {**answer, "images": mine, "text": f"{answer.get('test') or answer.get('asked')}: see the image."}
            )
        else:
            shown.append({**answer, "images": mine} if mine else answer)
    return shown
