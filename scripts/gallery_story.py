"""What the gallery shows: a harbour nobody has been to, four documents about it, and a writer who is careless.

The documents are made here, so that no change of other texts can spoil the pictures.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

import msgspec

from assay.core.messages import Delta, Profile, Reply, Request, TextDelta
from assay.models.extractive import Extractive

QUESTION = "Can the harbour of Vendel take larger ships, and what would it cost?"
FOLLOWED = "How has the harbour of Vendel been kept deep enough, and who pays for it?"

DOCUMENTS = {
    "Survey of the fairway 2024": """
<h1>Survey of the fairway 2024</h1>
<p>The fairway to the harbour of Vendel is 12.4 metres deep at mean low water. Its narrowest place, between the two
moles, is 160 metres wide. The survey was made in April 2024 with an echo sounder.</p>
<h2>Siltation</h2>
<p>About 180,000 cubic metres of silt settle in the harbour each year. Most of it comes with the spring floods of
the river Oster. Without dredging the fairway would lose 40 centimetres of depth in a year.</p>
<h2>Ground</h2>
<p>Below 14 metres the survey found rock on a third of the length of the fairway. Rock cannot be dredged: it has to
be blasted.</p>""",
    "Annual report of the harbour": """
<h1>Annual report of the harbour</h1>
<p>In 2023 the harbour of Vendel handled 1.2 million containers, 6 % more than in the year before. 2,140 ships
called at it. Larger ships than those of the Oster class cannot enter, since their draught is more than 11
metres.</p>
<h2>Dredging</h2>
<p>Dredging cost 4.8 million crowns in 2023. The town paid a third of it, the harbour company the rest. The contract
with the dredging company ends in 2027.</p>
<h2>Plans</h2>
<p>The harbour company wants to deepen the fairway to 15 metres. It has not decided when. It estimates the cost at
210 million crowns.</p>""",
    "Opinion of the pilots": """
<h1>Opinion of the pilots</h1>
<p>The pilots of Vendel take ships of up to 300 metres through the moles. With wind of more than 7 on the Beaufort
scale no ship longer than 250 metres enters the harbour. Ships with a draught of more than 11 metres have to wait
for high water.</p>
<p>A deeper fairway alone would not let larger ships in, the pilots say: the moles stand too close. Moving the
southern mole would cost at least 90 million crowns.</p>""",
    "Letter of the fishermen": """
<h1>Letter of the fishermen</h1>
<p>The fishermen of Vendel are against a deeper fairway. They fear that salt water would reach the spawning grounds
in the Oster. The silt should be spread on the fields, as it was until 1988, and not be dumped at sea.</p>
<p>The estimate of 210 million crowns leaves out the blasting of rock, they write. The town has not answered
them.</p>""",
}

# In braces stand words of the sentence which is cited there: the passage at hand which shares most of them is cited.
REPORT = """\
The harbour of Vendel cannot take larger ships today: their draught is more than 11 metres
{larger ships than those of the Oster class cannot enter draught}. The harbour company wants to deepen the
fairway to 15 metres {harbour company wants to deepen the fairway to 15 metres}. It estimates the cost at 120
million crowns {estimates the cost at 210 million crowns}.

## What keeps larger ships out

- The fairway is 12.4 metres deep at mean low water {fairway harbour Vendel 12.4 metres deep mean low water}.
- Between the two moles it is **160 metres wide** {narrowest place between the two moles 160 metres wide}.
- Ships with a draught of more than 11 metres have to wait for high water {draught of more than 11 wait high water}.
- Below 14 metres there is rock on half of the length of the fairway {Below 14 metres found rock third of length}.

## What it would cost

A deeper fairway alone would not let larger ships in {deeper fairway alone would not let larger ships in pilots say}.
Moving the southern mole would cost at least 90 million crowns {Moving the southern mole at least 90 million crowns}.
The estimate leaves out the blasting of rock {estimate leaves out the blasting of rock they write}. The town has
promised to pay for it {The town has not answered them}.

| work | cost in million crowns | said by |
|---|--:|---|
| Deepening the fairway to 15 metres | 210 | the harbour company {estimates the cost at 210 million crowns} |
| Moving the southern mole | 90 | the pilots {Moving the southern mole at least 90 million crowns} |
| Dredging, each year | 4.8 | the harbour company {Dredging cost 4.8 million crowns in 2023} |

## What could not be found

The documents do not say when the fairway could be deepened, and what blasting would cost.
"""
_WORDS = re.compile(r"\s*\{([^{}]+)\}")
_PASSAGE = re.compile(r"^\[(S\d+\.\d+)\] (.*(?:\n  .*)*)", re.MULTILINE)
_WORD = re.compile(r"\w+(?:\.\w+)*")
_PAUSES = {"research": 2.5, "orchestrate": 0.4, "plan": 0.3}


class Careless:
    """The built-in model, but for the report of `QUESTION`: that is `REPORT`, whatever was found."""

    def __init__(self, *, slow: bool = False) -> None:
        self._model, self._slow = Extractive(), slow
        self.profile: Profile = msgspec.structs.replace(self._model.profile, name="scripted-writer")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """As the built-in model, or the report."""
        if self._slow:
            await asyncio.sleep(_PAUSES.get(request.task, 0.1))
        if self._slow or request.task != "write":
            async for part in self._model.stream(request):
                yield part
            return
        text = _WORDS.sub(lambda words: " " + _marker(request, words[1]), REPORT)
        yield TextDelta(text)
        yield Reply(text=text, stop="end", model=self.profile.name)

    async def offered(self) -> tuple[str, ...]:
        """Itself."""
        return (self.profile.name,)

    async def close(self) -> None:
        """There is nothing to let go of."""


def _marker(request: Request, words: str) -> str:
    """The marker of the passage at hand which shares most words with `words`; none where nothing is at hand."""
    wanted = set(_WORD.findall(words.casefold()))
    shown = [message.text for message in request.messages if message.role == "user"]
    found = [match.groups() for text in shown for match in _PASSAGE.finditer(text)]
    best = max(found, key=lambda each: len(wanted & set(_WORD.findall(each[1].casefold()))), default=None)
    return f"[{best[0]}]" if best else ""
