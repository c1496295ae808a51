package identity

import (
	"cmp"
	"slices"
	"strings"
)

// requiredLevel is the minimum level for TEFCA's Individual Access Services (RCE, SOP "Individual Access Services
// Provider Requirements").
const requiredLevel = 2

// nist is the trust framework of NIST SP 800-63A (OpenID Connect for Identity Assurance 1.0, predefined values). Its
// level is in a separate member or, with ial, at the end of the name. Case is ignored.
const (
	nist = "nist_800_63a"
	ial  = nist + "_ial_"
)

// verified returns the verified claims of a token and their level. If there are verified_claims, all other claims are
// self-asserted and ignored. If verified_claims has several elements, only the first that reaches the required level is
// used: an element with a lower level neither lowers it nor adds claims.
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

// stated returns the level in the token's own claim; an unreadable level is 0.
func (a Assurance) stated(said claims) (level int, ok bool) {
	name := cmp.Or(a.Claim, "identity_assurance_level")
	return levelOf(said[name]), said.has(name)
}

// framework returns the level of a verification: the stated one if its trust framework has levels, or else the level
// that the framework is configured to mean.
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

// levelOf parses a level in the spellings that providers use: 2, "2", and in either case "IAL2", "IAL-2", "IAL_2", "IAL
// 2". Anything else is level 0.
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

// digit parses a level written as a single digit.
func digit(text string) int { return max(0, slices.Index([]string{"0", "1", "2", "3"}, text)) }
