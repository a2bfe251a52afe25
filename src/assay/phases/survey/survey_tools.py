"""Control tools of a survey: how to go over all documents, and the rows a batch of them gives."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assay.core.messages import ToolDefinition
from assay.tools.arguments import define

Meta = msgspec.Meta


class FilterDocuments(msgspec.Struct, frozen=True):
    """`filter_documents`: code compares header fields."""

    where: Annotated[
        list[str],
        Meta(
            description="Conditions which must all hold, each FIELD OPERATOR VALUE: 'status = Rejected | Withdrawn', "
            "'created < 2001-01-01', 'title ~ typing' (~: has these words), 'pep = *' (has the field). "
            "Operators: = != ~ < > <= >=."
        ),
    ]
    show: Annotated[list[str], Meta(description="Other fields the question asks for, by their keys.")] = []


class FindPhrase(msgspec.Struct, frozen=True):
    """`find_phrase`: code looks for words in all texts."""

    phrases: Annotated[
        list[str], Meta(description="Words or names as they stand in a text; a document with any of them counts.")
    ]
    together: Annotated[bool, Meta(description="True where a document has to have all of them.")] = False


class ReadDocuments(msgspec.Struct, frozen=True):
    """`read_documents`: a model reads every document."""

    look_for: Annotated[str, Meta(description="What to look for in each document, in one sentence with all its terms.")]


class CountDocuments(msgspec.Struct, frozen=True):
    """`count_documents`: code counts and names every document."""

    show: Annotated[list[str], Meta(description="Header fields the question asks for, by their keys.")] = []


FILTER = define(
    "filter_documents",
    "Every document whose header fields meet conditions. Exact and cheap: use it wherever header fields decide.",
    FilterDocuments,
    control=True,
)
FIND = define(
    "find_phrase",
    "Every document whose text has given words. Exact and cheap: use it for questions of what mentions something.",
    FindPhrase,
    control=True,
)
READ = define(
    "read_documents",
    "Have every document read, in batches, and what each says listed. For all that only reading decides.",
    ReadDocuments,
    control=True,
)
COUNT = define(
    "count_documents",
    "Count and name all documents. Only where the question asks how many there are, or which, and sets no condition.",
    CountDocuments,
    control=True,
)
WAYS = (FILTER, FIND, READ, COUNT)

ROWS = ToolDefinition(
    name="report_rows",
    description="Report what these documents say to the question: one row for each thing found, none where none is.",
    parameters={
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {
                            "type": "string",
                            "description": "What the document says, in one short sentence that names what it is about.",
                        },
                        "passages": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Ids of the passages which say it, as S3.17.",
                        },
                    },
                    "required": ["text", "passages"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["rows"],
        "additionalProperties": False,
    },
    control=True,
)
