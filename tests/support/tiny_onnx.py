"""A folder with a model as sentence-transformers export them, small enough to be made by a test: a table of words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from concepts import vector

WORDS = "[PAD] [UNK] a car automobile the bread some x months often serviced".split()


def tiny_model(folder: Path) -> Path:
    """The folder of a model whose vectors are means of its words'; the test is skipped where none can be made."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed: no model can be made")
    pytest.importorskip("fastembed", reason="the extra `semantic` is missing")
    table = [vector(word) for word in WORDS]
    kind, size = onnx.TensorProto, len(table[0])
    weights = onnx.helper.make_tensor("table", kind.FLOAT, [len(table), size], [n for row in table for n in row])
    inputs = [
        onnx.helper.make_tensor_value_info(name, kind.INT64, ["b", "s"]) for name in ("input_ids", "attention_mask")
    ]
    output = onnx.helper.make_tensor_value_info("last_hidden_state", kind.FLOAT, ["b", "s", size])
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = onnx.helper.make_graph([node], "tiny", inputs, [output], [weights])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    place = folder / "tiny"
    place.mkdir()
    onnx.save(made, str(place / "model.onnx"))
    (place / "config.json").write_text(json.dumps({"hidden_size": size, "pad_token_id": 0}))
    (place / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128, "pad_token": "[PAD]"}))
    (place / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}))
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "truncation": None,
        "padding": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (place / "tokenizer.json").write_text(json.dumps(tokenizer))
    return place
