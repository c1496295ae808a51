package identity

import (
	"cmp"
	"slices"
	"strings"
)

// requiredLevel is what TEFCA's Individual Access Services take (RCE, SOP "Individual Access Services
// Provider Requirements").
const requiredLevel = 2

// nist is the trust framework of NIST SP 800-63A (OpenID Connect for Identity Assurance 1.0, predefined values), whose
// level stands beside it or, with ial, behind it. Case does not count.
const (
	nist = "nist_800_63a"
	ial  = nist + "_ial_"
)

// verified returns the claims that a token vouches for and at which level. Where there are verified_claims the others
// are the person's own word, and nothing of them is used. Of several elements of verified_claims each vouches for its
// own claims alone: the first that reaches the required level counts, and nothing of the others, so that a low one
// takes nothing from it and adds nothing.
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

// stated returns the level that the token's own claim states; one that cannot be read is none at all.
func (a Assurance) stated(said claims) (level int, ok bool) {
	name := cmp.Or(a.Claim, "identity_assurance_level")
	return levelOf(said[name]), said.has(name)
}

// framework returns the level of a verification: what it states, in the framework that has such levels, or what the
// framework is configured to mean.
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

// levelOf reads a level in the spellings that providers have: 2, "2", and in either case "IAL2", "IAL-2", "IAL_2", "IAL
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

// digit reads a level that is written as its digit alone.
func digit(text string) int { return max(0, slices.Index([]string{"0", "1", "2", "3"}, text)) }
