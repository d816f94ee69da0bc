"""The papers behind figures and rules: short name, title and address of each."""

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper: `short` is the usual name of its benchmark, or the first words of its title; `url` links to it."""

    short: str
    title: str
    url: str


MULTICOGEVAL = Paper(
    "MultiCogEval",
    "Evaluating LLMs Across Multi-Cognitive Levels: From Medical Knowledge Mastery to Scenario-Based Problem Solving",
    "https://arxiv.org/abs/2506.08349",
)
LLMEVAL_MED = Paper(
    "LLMEval-Med",
    "LLMEval-Med: A Real-world Clinical Benchmark for Medical LLMs with Physician Validation",
    "https://arxiv.org/abs/2506.04078",
)
MEDR_BENCH = Paper(
    "MedR-Bench",
    "Quantifying the Reasoning Abilities of LLMs on Real-world Clinical Cases",
    "https://arxiv.org/abs/2503.04691",
)
QUESTIONING = Paper(
    "Questioning Our Questions",
    "Questioning Our Questions: How Well Do Medical QA Benchmarks Evaluate Clinical Capabilities of Language Models?",
    "https://aclanthology.org/2025.bionlp-1.24/",
)
CLIMEDBENCH = Paper(
    "CliMedBench",
    "CliMedBench: A Large-Scale Chinese Benchmark for Evaluating Medical Large Language Models in Clinical Scenarios",
    "https://arxiv.org/abs/2410.03502",
)
AGENTCLINIC = Paper(
    "AgentClinic",
    "AgentClinic: a multimodal agent benchmark to evaluate AI in simulated clinical environments",
    "https://arxiv.org/abs/2405.07960",
)
SDBENCH = Paper(
    "SDBench",
    "Sequential Diagnosis with Language Models",
    "https://arxiv.org/abs/2506.22405",
)
PAPERS: tuple[Paper, ...] = (MULTICOGEVAL, LLMEVAL_MED, MEDR_BENCH, QUESTIONING, CLIMEDBENCH, AGENTCLINIC, SDBENCH)
OF_SCENARIOS: dict[str, Paper] = {
    "workup": MULTICOGEVAL,
    "one-turn": MEDR_BENCH,
    "free-turn": MEDR_BENCH,
    "oracle": MEDR_BENCH,
    "treatment": MEDR_BENCH,
    "consultation": AGENTCLINIC,
    "sequential": SDBENCH,
}
"""The paper behind each bundled scenario, by the scenario's name."""
