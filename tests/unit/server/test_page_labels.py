"""The labels of runs, as the page shows them."""

from __future__ import annotations

from assay.server.openai.text import LABEL_PREFIX
from assay.server.page.templates_environment import ENVIRONMENT
from assay.server.protocol_runs import REQUEST


def test_what_a_protocol_keeps_of_a_run_is_not_shown_among_its_labels() -> None:
    template = ENVIRONMENT.from_string(
        """{% from "parts/labels.html" import labels_of %}{{ labels_of(labels) }}""",
    )
    labels = {
        "starred": "",
        REQUEST: "1c08dc96",
        f"{LABEL_PREFIX}model": "assay:brest",
        "project": "tides",
        "to-read": "",
    }
    page = template.render(labels=labels)
    assert [line.partition("</bdi>")[0] for line in page.split("<bdi>")[1:]] == ["project: tides", "to-read"]
