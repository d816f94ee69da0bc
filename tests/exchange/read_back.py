"""Reads exports with the libraries they are meant for, in an environment of its own (`make readers`): prints JSON.

python read_back.py inspect FILE | rewrite FILE | dataset FOLDER | otel FILE | atif FILE
"""

import base64
import importlib
import importlib.metadata
import json
import os
import sys
import types
from pathlib import Path
from typing import Any


def inspect(place: str) -> Any:
    """A log of Inspect, whole, by its header and by its summaries."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries  # type: ignore[import-not-found]

    log, header = read_eval_log(place), read_eval_log(place, header_only=True)
    return {
        "status": log.status,
        "model": log.eval.model,
        "means": {score.name: score.metrics["mean"].value for score in header.results.scores if score.metrics},
        "unscored": {score.name: score.unscored_samples for score in header.results.scores},
        "summaries": [[one.id, one.epoch] for one in read_eval_log_sample_summaries(place)],
        "samples": [
            {
                "id": one.id,
                "epoch": one.epoch,
                "target": one.target,
                "roles": [message.role for message in one.messages],
                "last": one.output.message.text,
                "scores": {name: score.value for name, score in one.scores.items()},
                "unscored": one.metadata["unscored"],
                "events": len(one.events),
            }
            for one in log.samples
        ],
    }


def rewrite(place: str) -> Any:
    """The log once more as Inspect writes it, beside the first: compressed by its own default."""
    from inspect_ai.log import read_eval_log, write_eval_log

    out = str(Path(place).with_name("written.eval"))
    write_eval_log(read_eval_log(place), out)
    return out


def dataset(place: str) -> Any:
    """A folder that `datasets` loads."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    import datasets  # type: ignore[import-not-found]

    rows = datasets.load_dataset(place, split="train", cache_dir=str(Path(place).parent / "cache"))
    return [rows[place] for place in range(len(rows))]


def otel(place: str) -> Any:
    """Requests of OTLP, through the protocol's own messages."""
    from google.protobuf import json_format  # type: ignore[import-untyped]
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # type: ignore[import-not-found]
        ExportTraceServiceRequest,
    )

    names = []
    for line in Path(place).read_text().splitlines():
        request = json.loads(line)
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for key in ("traceId", "spanId", "parentSpanId"):  # hexadecimal in OTLP's JSON, base64 in protobuf's
                if key in span:
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        read = json_format.ParseDict(request, ExportTraceServiceRequest())
        names.append([span.name for span in read.resource_spans[0].scope_spans[0].spans])
    return names


def atif(place: str) -> Any:
    """Trajectories through Harbor's own models, which lie in its wheel; the rest of Harbor needs a newer Python."""
    found = next(Path(folder) / "harbor" for folder in sys.path if (Path(folder) / "harbor/models").is_dir())
    for name, path in (("harbor", found), ("harbor.models", found / "models")):
        module = types.ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module
    kind = importlib.import_module("harbor.models.trajectories").Trajectory
    read = [kind.model_validate_json(line) for line in Path(place).read_text().splitlines()]
    return [[[step.source, bool(step.reasoning_content)] for step in one.steps] for one in read]


if __name__ == "__main__":
    kinds = {"inspect": inspect, "rewrite": rewrite, "dataset": dataset, "otel": otel, "atif": atif}
    print(json.dumps(kinds[sys.argv[1]](sys.argv[2])))
