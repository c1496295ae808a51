"""Checks a template with the linters: python judge.py TEMPLATE CFN-LINT CHECKOV CFN-GUARD. It needs the SAM CLI's Python."""

import concurrent.futures
import json
import os
import sys
import tempfile

import conditions
import linters
import mutations
import transform
import waivers

HERE = os.path.dirname(os.path.abspath(__file__))
RULES = os.path.join(HERE, "rules")
EVERYTHING = os.path.join(HERE, "everything.json")


def bared(template, *parameters):
    """Returns a template as CloudFormation receives it, without waivers, so that every finding is reported."""
    result = transform.transform(template, *parameters)
    for part in (result, *result["Resources"].values()):
        part.pop("Metadata", None)
    return result


def write(value, *path):
    """Writes JSON to a file and returns its path."""
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
    return file.name


def unseen(everything):
    """Finds resources that no linter sees because no parameters create them."""
    print(f"{len(everything['Resources'])} resources after the transform")
    for name in conditions.missing(everything):
        yield f"{name}: is not made with {os.path.relpath(EVERYTHING)}"


def breed(everything, folder):
    """Writes a template and its mutants, each named by its number."""
    write(everything, folder, "sound.json")
    for number, mutation in enumerate(mutations.MUTATIONS):
        try:
            write(mutations.apply(mutation, everything), folder, f"{number}.json")
        except LookupError:
            pass  # prove misses it


def prove(broken):
    """Finds rules without a mutation, and mutations that their rule doesn't detect."""
    names = linters.rules(RULES)
    print(f"cfn-guard: {len(names)} rules, {len(mutations.MUTATIONS)} mutations")
    for name in names - {mutation.rule for mutation in mutations.MUTATIONS}:
        yield f"no mutation breaks the rule {name}"
    for name in broken["sound.json"]:
        yield f"{name} is broken without a mutation"
    for number, mutation in enumerate(mutations.MUTATIONS):
        if mutation.rule not in broken.get(f"{number}.json", ()):
            yield f"{mutation.rule} does not notice a mutation, or there is no place for it: {mutation.place}, {mutation.value}"


def judge(template, cfn_lint, checkov, guard):
    """Returns all problems, as sentences."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        everything = bared(template, EVERYTHING)
        most, least = write(everything, folder, "everything.json"), write(bared(template), folder, "defaults.json")
        data = os.path.join(folder, "data")
        os.mkdir(data)
        resolved = conditions.resolve(everything, everything)
        write(resolved, data, "whole.json")
        breed(mutations.sample(resolved), data)
        ruled = pool.submit(linters.guard, guard, RULES, data)
        found = [
            pool.submit(list, linters.checkov(checkov, most, least, template)),
            pool.submit(list, linters.cfn_lint(cfn_lint, most, template)),
        ]
        idle, broken = ruled.result()
        everywhere = [item for run in found for item in run.result()]
    plain = [finding for file, finding in everywhere if file == template]
    bare = {finding for file, finding in everywhere if file != template}
    source = transform.read(template)
    print(f"cfn-lint, checkov: {len(bare)} findings, {len(waivers.read(source))} waivers")
    return [
        *(f"{f.resource}: {f.linter} {f.check}: {f.text}" for f in plain),
        *waivers.judge(source, bare, linters.GENERATED),
        *(f"cfn-guard {rule}: {text}" for rule, texts in broken["whole.json"].items() for text in texts),
        *(f"cfn-guard {rule} finds nothing to judge" for rule in idle["whole.json"]),
        *unseen(everything), *prove(broken),
    ]


if __name__ == "__main__":
    problems = judge(os.path.abspath(sys.argv[1]), *sys.argv[2:])
    for problem in sorted(set(problems)):
        print(problem)
    sys.exit(bool(problems))
