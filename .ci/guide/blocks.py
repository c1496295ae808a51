"""Reads the code blocks of the guide's pages, and joins blocks of a language to programs."""

import dataclasses
import glob
import os
import re

FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block that begins like this starts a program, and the page's next blocks of the language continue it.
START = {"ts": r"import\b", "js": r"import\b", "python": r"(import|from|\"\"\")", "go": r"package main\b"}
SHELL = ("sh", "bash")


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    skipped: bool = False  # named in guide.toml
    port: int | None = None  # on which the program receives webhooks

    @property
    def place(self):
        return f"{self.page}:{self.line} ({self.language or 'no language'})"


def read(folder, skip):
    """Returns the blocks of all pages in a folder, by page. skip has texts of blocks that aren't run."""
    pages = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.md"))):
        page = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found = [Block(page, text.count("\n", 0, one.start()) + 1, *one.groups()) for one in FENCE.finditer(text)]
        for one in found:
            one.skipped = any(text in one.text for text in skip.get(page, ()))
        if 2 * len(found) != len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)):
            raise SystemExit(f"{page}: a block doesn't begin at the start of a line, or doesn't end")
        if re.search(r"\n\n {4,}\S", FENCE.sub("", text)):
            raise SystemExit(f"{page}: use a fenced block instead of an indented one")
        pages[page] = found
    return pages


def programs(blocks):
    """Returns programs as blocks with the joined text."""
    made = []
    for block in blocks:
        if block.skipped or block.language not in START:
            continue
        last = next((one for one in reversed(made) if one.language == block.language), None)
        if last and not re.match(START[block.language], block.text):
            last.text += "\n" + block.text
        else:
            made.append(dataclasses.replace(block))
    return made
