package identity

import (
	"cmp"
	"slices"
	"strings"
)

// requiredLevel is what TEFCA's Individual Access Services take (RCE, SOP "Individual Access Services Provider Requirements").
const requiredLevel = 2

// nist is how the trust framework of NIST SP 800-63A begins (OpenID Connect for Identity Assurance 1.0, predefined values).
const nist = "nist_800_63a"

// verified returns the claims that a token vouches for and at which level. Where there are verified_claims the others are the
// person's own word, and nothing of them is used.
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

// framework returns the level of a verification: what it states, in the framework that has such levels, or what the framework is
// configured to mean.
func (a Assurance) framework(verification claims) int {
	trust := verification.text("trust_framework")
	rest, isNIST := strings.CutPrefix(strings.ToLower(trust), nist)
	switch {
	case isNIST && verification.has("assurance_level"):
		return levelOf(verification["assurance_level"])
	case isNIST && rest != "": // such as nist_800_63A_ial_2
		return levelOf(strings.TrimPrefix(rest, "_"))
	case slices.Contains(a.Frameworks, trust):
		return requiredLevel
	}
	return 0
}

// levelOf reads a level in the spellings that providers have: 2, "2", "IAL2", "ial_2". Anything else is level 0.
func levelOf(value any) int {
	switch value := value.(type) {
	case float64:
		for level := range 4 {
			if value == float64(level) {
				return level
			}
		}
	case string:
		digit := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(value), "ial"), "-_ ")
		return max(0, slices.Index([]string{"0", "1", "2", "3"}, digit))
	}
	return 0
}
