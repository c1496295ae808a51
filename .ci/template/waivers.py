"""Waivers are next to their resource, in their linter's format, each with a reason:

    Metadata:
      cfn-lint: {config: {ignore_checks: [I3011]}, reasons: {I3011: why}}
      checkov: {skip: [{id: CKV_AWS_21, comment: why}]}

cfn-guard's rules are our own and have no waivers: exceptions are part of the rules."""

import collections

Finding = collections.namedtuple("Finding", "linter resource check text")

LEAST = 20  # shorter texts don't count as a reason


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
    """Returns the template resource that a transformed one comes from: the translator's names start with the original name."""
    candidates = [name for name in template["Resources"] if resource.startswith(name)]
    return max(candidates, key=len, default=resource)


def judge(template, findings, generated=()):
    """Returns all problems, as sentences: findings without a waiver, waivers without a reason, and waivers without a finding.
    The checks in generated concern the translator's output; they are waived everywhere, as long as they find something."""
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
