package template_test

import "testing"

func TestAValueThatCloudFormationWouldRefuseIsRefused(t *testing.T) {
	t.Parallel()
	const start = "Transform: AWS::Serverless-2016-10-31\nResources: {}\nParameters:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"a pattern that matches a part only": {
			start + "  P: {Type: String, Default: ab, AllowedPattern: a, ConstraintDescription: An a.}\n",
			`4: P: the value "ab" does not match its AllowedPattern: An a.`,
		},
		"a pattern that one of a list does not match": {
			start + "  P: {Type: CommaDelimitedList, Default: 'a, b', AllowedPattern: a}\n",
			`4: P: the value "b" does not match its AllowedPattern: `,
		},
		"a pattern that is none": {
			start + "  P: {Type: String, Default: a, AllowedPattern: '('}\n",
			"4: P: AllowedPattern: error parsing regexp: missing closing ): `^(?:()$`",
		},
		"a value too long": {
			start + "  P: {Type: String, Default: ab, MaxLength: 1}\n",
			`4: P: the value "ab" is shorter than its MinLength or longer than its MaxLength`,
		},
		"a number too small": {
			start + "  P: {Type: Number, Default: 1, MinValue: 2}\n",
			`4: P: the value "1" is below its MinValue or above its MaxValue`,
		},
		"a number too large": {
			start + "  P: {Type: Number, Default: 3, MaxValue: 2}\n",
			`4: P: the value "3" is below its MinValue or above its MaxValue`,
		},
		"a bound that is no number": {
			start + "  P: {Type: Number, Default: 3, MaxValue: many}\n", `4: P: MinValue and MaxValue are numbers, not "many"`,
		},
	})
}
