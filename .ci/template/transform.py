"""Transforms a template as CloudFormation does: python transform.py TEMPLATE [PARAMETERS]. It needs the SAM CLI's Python."""

import json
import logging
import sys

from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def set_parameters(template, values):
    """Sets values as the defaults, because CloudFormation's functions remain in the result and the linters see nothing else."""
    for name, value in values.items():
        if name not in template["Parameters"]:
            raise SystemExit(f"the template has no parameter {name}")
        template["Parameters"][name]["Default"] = value


def place_code(template):
    """Sets every function's CodeUri, as sam build does before a deployment."""
    template.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/key"


def read(file):
    """Reads a template, or its parameters, from YAML or JSON."""
    with open(file, encoding="utf-8") as text:
        return yaml_parse(text.read())


def transform(file, parameters=None):
    """Returns a template as CloudFormation receives it, with a parameter file's values as the defaults."""
    logging.disable()  # the translator warns of a feature that only AWS can enable
    template = read(file)
    set_parameters(template, read(parameters) if parameters else {})
    place_code(template)
    return Translator({}, Parser()).translate(template, {})


if __name__ == "__main__":
    json.dump(transform(*sys.argv[1:]), sys.stdout, indent=1)
