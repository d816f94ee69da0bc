"""Adapters: orders, replies and scores of MultiCogEval."""

from conformance import imaging
from conformance import published as matching
from conformance import published as replies
from conformance import published as scoring
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.scenarios.parsers import published

_KINDS: dict[str, published.Listed] = {code: kind for kind, code in published.CODES.items()}


def item_match(row: Vector, tables: Tables) -> object:
    """multicog_lab_item_match."""
    hit = matching.match(row.input["item"], tables)
    if hit is None:
        return {"matched": False, "key": "", "itemids": []}
    return {"matched": True, "key": hit.key, "itemids": set(hit.item_ids)}


def list_parse(row: Vector, tables: Tables) -> object:
    """multicog_lab_micro_reply_parse."""
    kind, reply = _KINDS[row.input["action"]], row.input["response"]
    hits = replies.matches(kind, reply, tables, falls_back=False)
    return {
        "itemids": set(replies.item_ids(kind, reply, tables)),
        "matched_keys_test_variant": [hit.key for hit in hits],
        "error": None,
    }


def image_parse(row: Vector, tables: Tables) -> object:
    """multicog_image_reply_parse."""
    studies = replies.studies(row.input["response"], tables)
    return {"requests": [_request(one) for one in studies], "error": None}


def _request(one: imaging.Request) -> dict[str, object]:
    return {"Exam Name": one.name, "Region": set(one.regions), "Modality": set(one.modalities)}


def modality_region(row: Vector, tables: Tables) -> object:
    """multicog_modality_region."""
    named = imaging.modality(row.input["text"], tables)
    return {"modality": set(named), "region": set(imaging.region(row.input["text"], named, tables))}


def action(row: Vector, tables: Tables) -> object:
    """multicog_action_parser."""
    del tables
    said = published.action(row.input["reply"])
    result = list(said.answers) if said.answers else said.result
    return {"result": result, "finish": said.answers is not None, "kept_response": said.kept, "error": None}


def diagnosis(row: Vector, tables: Tables) -> object:
    """multicog_diagnosis_match."""
    return {"correct": int(scoring.correct(row.input["label"], row.input["final_message"], tables))}


def full_path(row: Vector, tables: Tables) -> object:
    """multicog_recall_fullpath; the label of its records is appendicitis."""
    record, asked = row.input["record"], row.input["requests"]
    wanted = [
        imaging.Request(one["Exam Name"], tuple(one["Region"]), tuple(one["Modality"])) for one in asked["image"] or ()
    ]
    label = record.get("disease", "appendicitis")
    scores = scoring.full_path(
        scoring.correct(label, row.input["final_message"], tables),
        (
            scoring.share(asked["lab"] or (), [int(number) for number in record["Laboratory Tests"]]),
            scoring.share(asked["micro"] or (), [int(number) for number in record["Microbiology"]]),
            scoring.imaging_share(wanted, [study["Exam Name"] for study in record["Radiology"]], tables),
        ),
    )
    return {
        "macro_acc_endpoint": scores.endpoint,
        "macro_acc_fullpath": scores.full_path,
        "lab_recall": scores.lab,
        "micro_recall": scores.microbiology,
        "image_recall": scores.imaging,
    }
