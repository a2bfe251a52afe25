"""An embedder in this process: ONNX models run by fastembed, the extra `semantic`.

`fastembed:MODEL` is one that fastembed knows and downloads on first use. `fastembed:FOLDER` is a folder with
`model.onnx` and `tokenizer.json`, as exported by sentence-transformers: nothing is downloaded.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import ConfigError, ModelError
from assay.core.ports import Access, Embedding, TextKind
from assay.core.text import estimate_tokens
from assay.models.embedding import add_prefix, prefixes_of

MODEL_FILES = ("model.onnx", "onnx/model.onnx")


class _Pooling(msgspec.Struct, frozen=True):
    """`1_Pooling/config.json` of sentence-transformers; without it a model's vectors are means."""

    pooling_mode_cls_token: bool = False


class _Config(msgspec.Struct, frozen=True):
    hidden_size: int


class OnnxEmbedder:
    """An embedder in this process; implements `core.ports.Embedder`. Thread-safe, one call at a time."""

    local = True
    price: float | None = 0.0

    def __init__(self, model: str, prefixes: tuple[str, str] | None = None) -> None:
        self.name = f"fastembed:{model}"
        self._model_name = model
        self._prefixes = prefixes_of(model) if prefixes is None and _is_folder(model) else prefixes
        self._model: Any = None
        self._guard = threading.Lock()

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        """A text which is too long is cut by the model's tokenizer."""
        if not texts:
            return Embedding((), 0)
        with self._guard:
            if self._model is None:
                self._model = _load_model(self._model_name)
            try:
                vectors = [vector.tolist() for vector in self._vectors(texts, kind)]
            except _library_errors() as error:
                raise ModelError(f"{self.name} failed: {error}", transient=False) from error
        return Embedding(vectors, sum(map(estimate_tokens, texts)))

    def close(self) -> None:
        with self._guard:
            self._model = None

    def _vectors(self, texts: Sequence[str], kind: TextKind) -> Any:
        """The model's arrays; fastembed knows the prefixes of its own models, unless others are set."""
        if self._prefixes is not None:
            return self._model.embed([add_prefix(text, kind, self._prefixes) for text in texts], batch_size=len(texts))
        if kind == "query":
            return self._model.query_embed(texts)
        return self._model.passage_embed(texts, batch_size=len(texts))


def _is_folder(model: str) -> bool:
    return Path(model).expanduser().is_dir()


def _load_model(model: str) -> Any:
    """Load the model; one of fastembed's own is downloaded if it is missing.

    Raises:
        ConfigError: there is no such model.
        ModelError: it cannot be loaded.
    """
    import fastembed  # noqa: PLC0415 - an optional extra

    try:
        if _is_folder(model):
            return _load_from_folder(fastembed, Path(model).expanduser().absolute())
        model_names = [entry["model"] for entry in fastembed.TextEmbedding.list_supported_models()]
        if model not in model_names:
            raise ConfigError(
                f"fastembed has no model {model!r}, nor is it a folder; name one of: {', '.join(sorted(model_names))}"
            )
        return fastembed.TextEmbedding(model)
    except _library_errors() as error:
        raise ModelError(f"the embedder {model} cannot be loaded: {error}", transient=False) from error


def _library_errors() -> tuple[type[Exception], ...]:
    """The errors of fastembed and onnxruntime; the latter's have no base class below `Exception`."""
    members = vars(import_module("onnxruntime.capi.onnxruntime_pybind11_state")).values()
    errors = [member for member in members if isinstance(member, type) and issubclass(member, Exception)]
    return (RuntimeError, ValueError, OSError, *errors)


def _load_from_folder(fastembed: Any, folder: Path) -> Any:
    model_description = import_module("fastembed.common.model_description")
    file = next((name for name in MODEL_FILES if (folder / name).is_file()), None)
    if file is None:
        raise ConfigError(f"there is no model.onnx in {folder}: name the folder of an ONNX model")
    name, pooling = f"folder/{folder}", _read(folder / "1_Pooling" / "config.json", _Pooling) or _Pooling()
    config = _read(folder / "config.json", _Config)
    if config is None:
        raise ConfigError(
            f"there is no config.json in {folder} that gives the length of the model's vectors: copy it there"
        )
    if name not in [entry["model"] for entry in fastembed.TextEmbedding.list_supported_models()]:
        kind = (
            model_description.PoolingType.CLS if pooling.pooling_mode_cls_token else model_description.PoolingType.MEAN
        )
        fastembed.TextEmbedding.add_custom_model(
            name,
            pooling=kind,
            normalization=True,
            sources=model_description.ModelSource(url=folder.as_uri()),
            dim=config.hidden_size,
            model_file=file,
        )
    return fastembed.TextEmbedding(name, specific_model_path=str(folder))


def _read(path: Path, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path} cannot be read ({error}): download the model again") from error


def create(name: str, access: Access) -> OnnxEmbedder:
    """The embedder named `fastembed:MODEL`; it is loaded on first use.

    Raises:
        ConfigError: no model is named, or the extra is not installed.
    """
    model = name.partition(":")[2]
    if not model:
        raise ConfigError(f"{name!r} names no model; write fastembed:BAAI/bge-small-en-v1.5, or fastembed:FOLDER")
    if find_spec("fastembed") is None:
        raise ConfigError("fastembed needs the extra: pip install 'assay[semantic]'")
    return OnnxEmbedder(model, access.prefixes)
