"""Tests for waivers, conditions and mutations, which need no linter."""

import unittest

import conditions
import mutations
import waivers

REASON = "Rows live for minutes: a restored table would bring back what was spent."


def template(metadata=None):
    """Returns a template with a table and an API, for which the translator adds a stage."""
    return {"Resources": {"Table": {"Type": "AWS::DynamoDB::Table", "Metadata": metadata or {}}, "Api": {"Type": "AWS::Serverless::Api"}}}


def checkov(comment, check="CKV_1"):
    return {"checkov": {"skip": [{"id": check, "comment": comment}]}}


def found(resource="Table", check="CKV_1", linter="checkov"):
    return waivers.Finding(linter, resource, check, "what is wrong")


class Waivers(unittest.TestCase):
    def test_what_is_found_is_a_problem(self):
        self.assertEqual(waivers.judge(template(), [found()]), ["Table: checkov CKV_1: what is wrong"])

    def test_what_is_found_and_waived_with_a_reason_is_none(self):
        self.assertEqual(waivers.judge(template(checkov(REASON)), [found()]), [])
        lint = {"cfn-lint": {"config": {"ignore_checks": ["I1"]}, "reasons": {"I1": REASON}}}
        self.assertEqual(waivers.judge(template(lint), [found(check="I1", linter="cfn-lint")]), [])

    def test_a_waiver_needs_a_reason(self):
        for metadata in (checkov(""), checkov("    not today       "), {"checkov": {"skip": [{"id": "CKV_1"}]}}):
            self.assertEqual(waivers.judge(template(metadata), [found()]), ["Table: waives checkov CKV_1 without a reason"])
        lint = {"cfn-lint": {"config": {"ignore_checks": ["I1"]}}}
        self.assertEqual(waivers.judge(template(lint), [found(check="I1", linter="cfn-lint")]), ["Table: waives cfn-lint I1 without a reason"])

    def test_a_waiver_of_nothing_has_to_go(self):
        (problem,) = waivers.judge(template(checkov(REASON)), [])
        self.assertIn("Table: waives checkov CKV_1, which does not find anything there", problem)

    def test_a_waiver_is_for_its_check_its_resource_and_its_linter(self):
        for other in (found(check="CKV_2"), found(resource="Api"), found(linter="cfn-lint")):
            self.assertEqual(len(waivers.judge(template(checkov(REASON)), [other])), 2, other)

    def test_what_the_translator_makes_of_a_resource_is_waived_with_it(self):
        source = template()
        source["Resources"]["Api"]["Metadata"] = checkov(REASON)
        self.assertEqual(waivers.judge(source, [found(resource="Apiv1Stage")]), [])

    def test_a_check_of_what_the_translator_writes_is_waived_while_it_finds_something(self):
        self.assertEqual(waivers.judge(template(), [found(check="I1")], generated=("I1",)), [])
        self.assertEqual(len(waivers.judge(template(), [], generated=("I1",))), 1)


class Conditions(unittest.TestCase):
    def test_resources_that_the_parameters_do_not_make_are_named(self):
        on = {"Fn::Equals": [{"Ref": "Mode"}, "on"]}
        stack = {
            "Parameters": {"Mode": {"Default": "on"}, "Empty": {}},
            "Conditions": {
                "On": on, "Off": {"Fn::Not": [{"Condition": "On"}]}, "Named": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Empty"}, ""]}]},
                "Any": {"Fn::Or": [{"Condition": "Off"}, on]}, "All": {"Fn::And": [{"Condition": "Off"}, on]},
            },
            "Resources": {name: {"Condition": name} for name in ("On", "Off", "Named", "Any", "All")} | {"Always": {}},
        }
        self.assertEqual(conditions.missing(stack), ["Off", "Named", "All"])

    def test_what_a_condition_chooses_is_put_in_its_place(self):
        stack = {"Conditions": {"Yes": {"Fn::Equals": [1, 1]}, "No": {"Fn::Equals": [1, 2]}}}
        part = {
            "A": {"Fn::If": ["Yes", {"Fn::If": ["No", 1, 2]}, 3]}, "B": {"Fn::If": ["No", 1, conditions.NOTHING]},
            "C": [{"Fn::If": ["Yes", conditions.NOTHING, 1]}, 4], "D": {"Ref": "E"},
        }
        self.assertEqual(conditions.resolve(part, stack), {"A": 2, "C": [4], "D": {"Ref": "E"}})

    def test_a_function_that_conditions_do_not_have_is_refused(self):
        with self.assertRaises(ValueError):
            conditions.value({"Fn::Sub": "x"}, {})


class Mutations(unittest.TestCase):
    def test_a_mutation_changes_one_place_of_a_copy(self):
        before = {"Resources": {"A": {"Type": "AWS::X::Y", "Properties": {"Kept": 1, "Gone": 2}}}}
        place = ("AWS::X::Y", "Properties", "Gone")
        after = mutations.apply(mutations.Mutation("rule", place, mutations.REMOVED), before)
        self.assertEqual(after["Resources"]["A"]["Properties"], {"Kept": 1})
        after = mutations.apply(mutations.Mutation("rule", place, 3), before)
        self.assertEqual(after["Resources"]["A"]["Properties"], {"Kept": 1, "Gone": 3})
        self.assertEqual(before["Resources"]["A"]["Properties"]["Gone"], 2)

    def test_a_place_that_is_not_there_is_an_error(self):
        with self.assertRaises(LookupError):
            mutations.apply(mutations.Mutation("rule", ("Resources", "A"), mutations.REMOVED), {"Resources": {}})


if __name__ == "__main__":
    unittest.main()
