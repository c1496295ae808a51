"""Does with template.yaml what CloudFormation does with its Transform, without an account, and writes the outcome as JSON.

Also counts its resources: CloudFormation takes 500, the house rule is less.
"""

import json
import os
import sys

from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
file, limit, into = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(file, encoding="utf-8") as text:
    template = yaml_parse(text.read())
for parameter in template.get("Parameters", {}).values():
    if parameter.get("Default") == "false":
        parameter["Default"] = "true"  # the largest stack: with everything optional
# sam build does this before a deployment.
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = "s3://bucket/key"
template["Globals"]["Function"].pop("CodeUri", None)

transformed = Translator({}, Parser()).translate(template, {})
with open(into, "w", encoding="utf-8") as out:
    json.dump(transformed, out, indent=1)
count = len(transformed["Resources"])
print(f"{count} resources after the transform, at most {limit}")
sys.exit(count > limit)
