"""Checks blocks that aren't programs: JSON, HTML, CSS and samples of output."""

import html.parser
import json
import os
import re

import jsonschema_rs
import yaml


class Checker:
    """Checks blocks against the API descriptions, the elements' manifest and what the page's programs printed."""

    def __init__(self, root, schemas, fetch):
        self.schemas, self.fetch, self.documents = schemas, fetch, {}
        self.docs = {name: self.read(root, f"docs/{name}") for name in ("openapi.yaml", "asyncapi.yaml")}
        self.docs["events.schema.json"] = self.read(root, "shared/ui/sdk/events.schema.json")
        manifest = self.read(root, "shared/ui/sdk/custom-elements.json")
        declared = [one for module in manifest["modules"] for one in module["declarations"] if "tagName" in one]
        self.attributes = {one["tagName"]: {a["name"] for a in one["attributes"]} for one in declared}
        self.parts = {p["name"] for one in declared for p in one["cssProperties"] + one["cssParts"]}

    def read(self, root, path):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            self.documents[path] = file.read()
        return yaml.load(self.documents[path], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def check(self, block, printed):
        """Checks a block of a page whose programs printed a text."""
        checks = {"json": self.json, "html": self.html, "css": self.css}
        if block.language in ("", "text"):
            self.sample(block, printed)
        else:
            assert block.language in checks, "this language isn't known"
            checks[block.language](block)

    def json(self, block):
        """Checks every value of a block against the schema in guide.toml, or else that the API describes its members."""
        decoder, at, schema = json.JSONDecoder(), 0, self.schemas.get(block.page)
        while at < len(block.text.rstrip()):
            value, at = decoder.raw_decode(block.text, at + re.match(r"\s*", block.text[at:]).end())
            if schema:
                name, _, pointer = schema.partition("#")
                document = self.docs[name]
                whole = document if not pointer else {"$ref": f"#{pointer}", "components": document["components"]}
                jsonschema_rs.validator_for(whole).validate(value)
            else:
                unknown = [key for key in members(value) if not any(key in text for text in self.documents.values())]
                assert not unknown, f"no API description has {', '.join(unknown)}"

    def html(self, block):
        """Checks that elements and attributes exist, and that the service serves the scripts."""
        served = []

        def start(tag, attributes):
            given = dict(attributes)
            if tag == "script" and "src" in given:
                answer, text = self.fetch(given["src"])
                assert answer.status == 200, f"{given['src']}: status {answer.status}"
                served.append(text)
            if "-" in tag and tag in self.attributes:
                unknown = set(given) - self.attributes[tag] - {"id", "class", "style", "slot"}
                assert not unknown, f"{tag} has no attribute {', '.join(unknown)}"
            elif "-" in tag:
                assert any(tag in text for text in served), f"no script defines {tag}"

        parser = html.parser.HTMLParser()
        parser.handle_starttag = start
        parser.feed(block.text)

    def css(self, block):
        """Checks the names of elements, custom properties and parts."""
        used = set(re.findall(r"(--svc-[a-z-]+)|::part\(([a-z-]+)\)", block.text))
        names = {a or b for a, b in used}
        tags = set(re.findall(r"^([a-z]+-[a-z-]+)", block.text, re.MULTILINE))
        assert names and tags, "names no property or part"
        assert names <= self.parts and tags <= set(self.attributes), f"unknown: {names - self.parts} {tags - set(self.attributes)}"

    @staticmethod
    def sample(block, printed):
        """Checks that the page's programs printed every line of a sample, with other IDs, times and numbers."""
        for line in filter(None, map(str.strip, block.text.splitlines())):
            assert re.search(pattern(line), printed), f"not printed: {line}\nbut:\n{printed[-3000:]}"


def pattern(line):
    """Returns the regular expression of a line, in which … stands for any text."""
    words = []
    for word in line.split():
        if re.fullmatch(r"[0-9a-f-]{16,}", word):
            words.append("[0-9a-f-]{16,}")
        else:
            words.append(re.sub(r"\d+", r"\\d+", re.escape(word)).replace("…", ".*"))
    return r"\s+".join(words)


def members(value):
    if isinstance(value, dict):
        return [*value, *(name for one in value.values() for name in members(one))]
    return [name for one in value for name in members(one)] if isinstance(value, list) else []
