"""Waivers stand beside the resource that they are about, in the form of the linter that they are for, each with its reason:

    Metadata:
      cfn-lint: {config: {ignore_checks: [I3011]}, reasons: {I3011: why}}
      checkov: {skip: [{id: CKV_AWS_21, comment: why}]}

cfn-guard's rules are our own and know no waivers: what is allowed is part of the rule."""

import collections

Finding = collections.namedtuple("Finding", "linter resource check text")

LEAST = 20  # what is shorter is no reason


def read(template):
    """Reads all waivers: reasons by (linter, resource, check)."""
    found = {}
    for resource, body in template["Resources"].items():
        metadata = body.get("Metadata", {})
        lint = metadata.get("cfn-lint", {})
        for check in lint.get("config", {}).get("ignore_checks", []):
            found["cfn-lint", resource, check] = lint.get("reasons", {}).get(check, "")
        for skip in metadata.get("checkov", {}).get("skip", []):
            found["checkov", resource, skip["id"]] = skip.get("comment", "")
    return found


def owner(resource, template):
    """Tells of which resource of the template a transformed one is made: the translator prefixes the names that it makes up."""
    candidates = [name for name in template["Resources"] if resource.startswith(name)]
    return max(candidates, key=len, default=resource)


def judge(template, findings, generated=()):
    """Returns what is wrong, as sentences: what is found and not waived, waivers without a reason, and waivers of nothing. The
    checks of generated find what the translator writes; they are waived everywhere, while they find something."""
    waived = read(template)
    problems, used = [], set()
    for finding in findings:
        if finding.check in generated:
            used.add(finding.check)
            continue
        key = finding.linter, owner(finding.resource, template), finding.check
        if key in waived:
            used.add(key)
        else:
            problems.append(f"{finding.resource}: {finding.linter} {finding.check}: {finding.text}")
    for key, reason in waived.items():
        linter, resource, check = key
        if len(reason.strip()) < LEAST:
            problems.append(f"{resource}: waives {linter} {check} without a reason")
        if key not in used:
            problems.append(f"{resource}: waives {linter} {check}, which does not find anything there: remove the waiver")
    problems += [f"{check} is waived as the translator's and does not find anything" for check in set(generated) - used]
    return sorted(set(problems))
