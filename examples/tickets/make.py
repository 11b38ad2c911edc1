"""Write made-up support tickets: ``python examples/tickets/make.py``.

No text is anybody's. Each tag is mentioned by a phrase, some phrases fit several tags, and some tags are not
mentioned at all, so that a model can be good but not perfect. ``tickets.csv`` and ``checked.csv`` have tags,
``tomorrow.csv`` has none.
"""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
N_TICKETS, N_OTHERS = 500, 150

# How often a ticket has the tag, how often beside which other tag, and what people write.
TAGS = {
    "billing": (0.35, 0.35, "", ["the invoice shows the wrong amount", "I was charged twice this month"]),
    "refund": (0.10, 0.50, "billing", ["please send the money back", "I was charged twice this month"]),
    "login": (0.25, 0.25, "", ["I cannot sign in", "the password reset mail never arrives"]),
    "bug": (0.30, 0.30, "", ["the page shows an error", "the app closes by itself"]),
    "mobile": (0.08, 0.45, "bug", ["it happens on my phone", "the app closes by itself"]),
    "fraud": (0.03, 0.15, "billing", ["I did not order this", "somebody else used my account"]),
    "urgent": (0.12, 0.60, "fraud", ["we need this today", "all of our team is waiting"]),
    "feature": (0.15, 0.15, "", ["a dark theme would be nice", "could you add an export to Excel"]),
}
SAID = 0.85  # that a tag is mentioned
OPENINGS = ["Hello,", "Hi there,", "Good morning,", "Dear support,", ""]
CLOSINGS = ["Thanks", "Kind regards", "Any help is welcome", "Please advise", ""]
BESIDE = ["since the last update", "as I wrote last week", "and the manual does not say why", "", "", ""]


def make_ticket(number: int, rng: np.random.Generator) -> dict[str, str]:
    """Return the cells of a ticket."""
    tags: list[str] = []
    for tag, (share, share_beside, other, _) in TAGS.items():
        if rng.random() < (share_beside if other in tags else share):
            tags.append(tag)
    said = [rng.choice(TAGS[tag][-1]) for tag in tags if rng.random() < SAID] or ["I have a question"]
    said = [f"{phrase} {rng.choice(BESIDE)}".strip() for phrase in dict.fromkeys(said)]
    text = f"{rng.choice(OPENINGS)} {' and '.join(rng.permutation(said))}. {rng.choice(CLOSINGS)}"
    plans = [0.2, 0.3, 0.5] if "urgent" in tags else [0.5, 0.4, 0.1]
    return {
        "ticket": f"T{number:05d}",
        "opened": str(date(2026, 1, 1) + timedelta(days=number // 4)),
        "channel": str(rng.choice(["mail", "web", "phone"] if "mobile" not in tags else ["web", "app"])),
        "plan": str(rng.choice(["free", "team", "company"], p=plans)),
        "text": text.strip(),
        "tags": "|".join(tags),
    }


def main() -> None:
    """Write the three tables."""
    rng = np.random.default_rng(0)
    rows = [make_ticket(number, rng) for number in range(N_TICKETS + 2 * N_OTHERS)]
    parts = {"tickets": rows[:N_TICKETS], "checked": rows[N_TICKETS:-N_OTHERS], "tomorrow": rows[-N_OTHERS:]}
    for name, part in parts.items():
        columns = [column for column in part[0] if name != "tomorrow" or column != "tags"]
        with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            table.writeheader()
            table.writerows(part)


if __name__ == "__main__":
    main()
