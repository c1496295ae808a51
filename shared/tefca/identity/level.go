package identity

import (
	"cmp"
	"slices"
	"strings"
)

// requiredLevel is the minimum assurance level for TEFCA's Individual Access Services (RCE, SOP "Individual Access
// Services Provider Requirements").
const requiredLevel = 2

// nist is the trust framework of NIST SP 800-63A (OpenID Connect for Identity Assurance 1.0, predefined values). The
// level is either in a separate member or at the end of the framework's name, after "ial_". The name is
// case-insensitive.
const (
	nist = "nist_800_63a"
	ial  = nist + "_ial_"
)

// verified returns a token's verified claims and their assurance level. If the token contains verified_claims, all
// other claims are self-asserted and therefore ignored. If several elements reach the required level, only the first is
// used.
func (a Assurance) verified(said claims) (vouched claims, level int) {
	stated, isStated := a.stated(said)
	if !said.has("verified_claims") {
		switch {
		case isStated:
			return said, stated
		case a.Implied || slices.Contains(a.ACR, said.text("acr")):
			return said, requiredLevel
		}
		return said, 0
	}
	for _, one := range said.objects("verified_claims") {
		about, ok := one["claims"].(map[string]any)
		verification, _ := one["verification"].(map[string]any)
		if level = a.framework(verification); ok && level >= requiredLevel {
			if isStated {
				level = min(level, stated)
			}
			return about, level
		}
	}
	return nil, 0
}

// stated returns the assurance level stated in the token's own claim. A level that can't be parsed is treated as 0.
func (a Assurance) stated(said claims) (level int, ok bool) {
	name := cmp.Or(a.Claim, "identity_assurance_level")
	return levelOf(said[name]), said.has(name)
}

// framework returns the level of a verification. It is the stated level if the trust framework defines levels;
// otherwise, it is the level configured for the framework.
func (a Assurance) framework(verification claims) int {
	trust := verification.text("trust_framework")
	lower, hasLevel := strings.ToLower(trust), verification.has("assurance_level")
	named, isNamed := strings.CutPrefix(lower, ial)
	switch {
	case isNamed && hasLevel:
		return min(digit(named), levelOf(verification["assurance_level"]))
	case isNamed:
		return digit(named)
	case lower == nist && hasLevel:
		return levelOf(verification["assurance_level"])
	case slices.Contains(a.Frameworks, trust):
		return requiredLevel
	}
	return 0
}

// levelOf parses an assurance level in the forms that providers use: 2, "2" and, in either case, "IAL2", "IAL-2",
// "IAL_2" and "IAL 2". Any other value is level 0.
func levelOf(value any) int {
	switch value := value.(type) {
	case float64:
		for level := range 4 {
			if value == float64(level) {
				return level
			}
		}
	case string:
		rest, isNamed := strings.CutPrefix(strings.ToLower(value), "ial")
		if isNamed && rest != "" && strings.ContainsAny(rest[:1], "-_ ") {
			rest = rest[1:]
		}
		return digit(rest)
	}
	return 0
}

// digit parses a level that consists of a single digit. For any other text, it returns 0.
func digit(text string) int { return max(0, slices.Index([]string{"0", "1", "2", "3"}, text)) }
