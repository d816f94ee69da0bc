"""Whose model it is, by the many ways in which models are written."""

import pytest

from wardround.evaluators.report.model_facts import families_of, kin

NAMES = {
    "openai": [
        "openai/gpt-4o",
        "openai/gpt-4o-mini-2024-07-18",
        "azure/gpt-4o-2024-11-20",
        "azure/gpt4-turbo",
        "azure/gpt-35-turbo",
        "openai/o3-mini",
        "openai/o1",
        "openai-responses/o4-mini",
        "openai-responses/anything-new",
        "openrouter/openai/o3",
        "openrouter/openai/chatgpt-4o-latest",
        "groq/openai/gpt-oss-120b",
        "litellm/openai/gpt-5",
        "replies:results/some.json#o3-mini",
        "replies:claude/some.json#gpt-4o",
    ],
    "anthropic": [
        "anthropic/claude-3-5-sonnet-20241022",
        "openrouter/anthropic/claude-3.5-sonnet",
        "bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0",
        "vertex_ai/claude-3-opus@20240229",
        "anthropic/some-new-name",
    ],
    "google": [
        "gemini/gemini-2.0-flash-thinking-exp",
        "vertex_ai/gemini-1.5-pro",
        "openrouter/google/gemini-2.5-pro",
        "google/medgemma-27b-text-it",
        "ollama/gemma3:12b",
        "hosted_vllm/google/gemma-2-9b-it",
        "vertex_ai/medlm-large",
        "gemini/some-new-name",
    ],
    "meta": [
        "groq/llama-3.3-70b-versatile",
        "bedrock/meta.llama3-1-70b-instruct-v1:0",
        "together_ai/meta-llama/Llama-3-70b-chat-hf",
        "ollama/llama3.1:8b",
        "ollama/medllama2",
        "lmsys/vicuna-13b-v1.5",
        "m42-health/med42-70b",
        "aaditya/OpenBioLLM-70B",
        "FreedomIntelligence/HuatuoGPT-o1-8B",
        "epfl-llm/meditron-70b",
    ],
    "alibaba": [
        "hosted_vllm/Qwen/Qwen2.5-72B-Instruct",
        "Qwen/QwQ-32B-Preview",
        "openai/qwen3-14b",
        "openai/Qwen2.5-72B-Instruct-GPTQ-Int4",
        "dashscope/qwen-max",
        "FreedomIntelligence/HuatuoGPT-o1-72B",
        "replies:x.json#qwq",
    ],
    "deepseek": ["deepseek/deepseek-reasoner", "deepseek-ai/DeepSeek-R1", "azure_ai/DeepSeek-V3-0324"],
    "mistral": [
        "mistral/mistral-large-latest",
        "mistralai/Mixtral-8x7B-Instruct-v0.1",
        "BioMistral/BioMistral-7B",
        "HuggingFaceH4/zephyr-7b-beta",
        "mistral/magistral-medium",
    ],
    "microsoft": ["azure_ai/Phi-4", "microsoft/phi-3-mini", "ollama/phi3", "ollama/phi4-reasoning"],
    "cohere": ["cohere/command-r-plus", "cohere_chat/command-a-03-2025", "CohereLabs/c4ai-command-r-v01"],
    "xai": ["xai/grok-3", "openrouter/x-ai/grok-4"],
    "zhipu": ["zai-org/GLM-4.5", "THUDM/chatglm3-6b", "openrouter/z-ai/glm-4.6"],
    "moonshot": ["moonshot/kimi-k2", "moonshotai/Kimi-K2-Instruct"],
    "baichuan": ["baichuan-inc/Baichuan-M1-14B-Instruct"],
    "amazon": ["bedrock/amazon.nova-pro-v1:0", "bedrock/us.amazon.nova-lite-v1:0"],
    "yi": ["01-ai/Yi-34B-Chat"],
    "allenai": ["allenai/OLMo-2-13B"],
    "nvidia": ["nvidia_nim/nvidia/nemotron-4-340b-instruct"],
}


@pytest.mark.parametrize("family", NAMES)
def test_a_name_has_its_maker(family: str) -> None:
    assert {spec: families_of(spec) for spec in NAMES[family]} == dict.fromkeys(NAMES[family], (family,))


@pytest.mark.parametrize(
    ("spec", "families"),
    [
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", ("alibaba", "deepseek")),
        ("groq/deepseek-r1-distill-llama-70b", ("deepseek", "meta")),
        ("openrouter/nvidia/llama-3.1-nemotron-70b-instruct", ("meta", "nvidia")),
        ("allenai/Llama-3.1-Tulu-3-8B", ("allenai", "meta")),
        ("OpenMeditron/Meditron3-Gemma2-9B", ("google",)),
        ("microsoft/MAI-DS-R1", ("deepseek", "microsoft")),
    ],
)
def test_one_that_was_made_of_another_has_both(spec: str, families: tuple[str, ...]) -> None:
    assert families_of(spec) == families


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "lexical",
        "gold",
        "silent",
        "my.llama:Doctor",
        "recorded:qwen-run",
        "scripted/gpt-4o",
        "scripted/my.claude:replies",
        "replies:gpt-4o/results.json",
        "openai/my-own-model",
        "azure/production-1",
        "openai/biogpt-large",
        "eleutherai/gpt-neo-2.7B",
        "nomic/gpt4all-13b",
        "openai/foo1",
        "TinyLlama/TinyLlama-1.1B-Chat",
        "openlm-research/open_llama_7b",
        "llama_cpp/model",
        "openai/dolphin",
        "openai/o1.5-model",
    ],
)
def test_what_is_not_known_is_nobodys(spec: str) -> None:
    assert families_of(spec) == ()


def test_what_the_endpoint_calls_it_tells_more() -> None:
    assert families_of("azure/production-1", "gpt-4o-2024-11-20") == ("openai",)
    assert families_of("openai/m", "o3-mini") == ("openai",)
    assert families_of("openai/default", "Qwen/Qwen2.5-7B-Instruct") == ("alibaba",)
    assert families_of("openai/default", "mistralai/unheard-of") == ("mistral",)
    assert families_of("", "claude-sonnet-4") == ("anthropic",)


@pytest.mark.parametrize(
    ("judge", "doctor", "shared"),
    [
        ("openai/qwen3-14b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "alibaba"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "deepseek/deepseek-chat", "deepseek"),
        ("openai/gpt-4o", "replies:x.json#o3-mini", "openai"),
        ("openai/gpt-4o", "anthropic/claude-3-opus", ""),
        ("openai/mine", "openai/mine", "openai/mine"),
        ("openai/mine", "openai/yours", ""),
        ("scripted/yes", "scripted/yes", ""),
        ("lexical", "lexical", ""),
        ("lexical", "silent", ""),
        ("replies:x.json", "replies:x.json", ""),
    ],
)
def test_kin_share_a_family_or_are_one(judge: str, doctor: str, shared: str) -> None:
    assert kin((judge, ""), (doctor, "")) == kin((doctor, ""), (judge, "")) == shared


def test_kin_by_what_the_endpoints_call_them() -> None:
    assert kin(("azure/a", "gpt-4o"), ("azure/b", "o1")) == "openai"
    assert kin(("azure/a", "gpt-4o"), ("azure/b", "")) == ""
