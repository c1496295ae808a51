"""Evaluates a template's conditions: which resources exist, and which of two values applies."""


def value(node, template):
    """Evaluates a condition's functions."""
    if not isinstance(node, dict):
        return node
    ((function, argument),) = node.items()
    match function:
        case "Ref":
            return template["Parameters"][argument].get("Default", "")
        case "Condition":
            return value(template["Conditions"][argument], template)
        case "Fn::Equals":
            return value(argument[0], template) == value(argument[1], template)
        case "Fn::Not":
            return not value(argument[0], template)
        case "Fn::And":
            return all(value(item, template) for item in argument)
        case "Fn::Or":
            return any(value(item, template) for item in argument)
    raise ValueError(f"a condition uses {function}")


def missing(template):
    """Lists the resources that don't exist with the parameters' defaults."""
    return [name for name, resource in template["Resources"].items()
            if "Condition" in resource and not value({"Condition": resource["Condition"]}, template)]


NOTHING = {"Ref": "AWS::NoValue"}


def resolve(node, template):
    """Copies a part of a template, replacing conditions with the chosen values."""
    if isinstance(node, dict) and "Fn::If" in node:
        condition, chosen, other = node["Fn::If"]
        return resolve(chosen if value({"Condition": condition}, template) else other, template)
    if isinstance(node, dict):
        resolved = {key: resolve(item, template) for key, item in node.items()}
        return {key: item for key, item in resolved.items() if item != NOTHING}
    if isinstance(node, list):
        return [item for item in (resolve(item, template) for item in node) if item != NOTHING]
    return node
