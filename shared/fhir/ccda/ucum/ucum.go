// Package ucum validates units of measure against UCUM, the Unified Code for Units of Measure (ucum.org/ucum), and
// finds the UCUM code for other spellings.
package ucum

import "strings"

// Code returns the case-sensitive UCUM code for a unit as spelled by a sender. It returns "" if the unit has no code or
// if senders use the spelling for a unit other than the one that UCUM defines. The rules are in docs/reference/ccda.md
// ("Units").
func Code(unit string) string {
	if len(unit) > maxLength {
		return ""
	}
	e := parse(unit)
	if e.valid && !e.doubtful {
		return unit
	}
	if code := whole.Of(fold(unit)); code != "" {
		return code
	}
	return byParts(unit)
}

// maxLength is the maximum length of an expression, in bytes. Examples in UCUM are shorter than 40 bytes.
const maxLength = 256

// byParts returns the code for a quotient of units whose parts all have codes.
func byParts(unit string) string {
	parts := strings.Split(unit, "/")
	for i, part := range parts {
		if i == 0 && strings.TrimSpace(part) == "" && len(parts) > 1 {
			parts[i] = ""
			continue
		}
		if parts[i] = partCode(part); parts[i] == "" {
			multiple := multiples.Of(strings.ToLower(strings.TrimSpace(part)))
			if i > 0 || len(parts) != 2 || multiple == "" || !isVolume(partCode(parts[1])) {
				return ""
			}
			parts[i] = multiple
		}
	}
	code := strings.Join(parts, "/")
	if e := parse(code); !e.valid || e.doubtful {
		return ""
	}
	return code
}

// isVolume reports whether cell counts are given per this unit, so a preceding "K" means thousands.
func isVolume(code string) bool { return code == "uL" || code == "mm3" }

// partCode returns the code for a unit that is not a quotient.
func partCode(part string) string {
	part = strings.TrimSpace(part)
	for _, spelling := range [...]string{part, strings.NewReplacer("µ", "u", "μ", "u").Replace(part)} {
		if e := parse(spelling); e.valid && !e.doubtful {
			return spelling
		}
		if code := exact.Of(spelling); code != "" {
			return code
		}
		if code := capital(spelling); code != "" {
			return code
		}
		folded := fold(spelling)
		if code := words.Of(folded); code != "" {
			return code
		}
		if code := powerOfTen(folded); code != "" {
			return code
		}
	}
	return ""
}

// fold returns a unit in lower case, without white space, trailing points or parenthesized plurals.
func fold(unit string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(unit), ""))
	return strings.TrimSuffix(strings.TrimSuffix(folded, "."), "(s)")
}

// powerOfTen parses a power of ten in a notation that laboratory analysers use, such as x10e3, 10+3 or 10**3.
func powerOfTen(folded string) string {
	rest, found := strings.CutPrefix(strings.TrimPrefix(folded, "x"), "10")
	if !found {
		return ""
	}
	for _, sign := range [...]string{"**", "*", "^", "e+", "e", "+", "("} {
		digits, is := strings.CutPrefix(rest, sign)
		if !is {
			continue
		}
		if sign == "(" {
			digits = strings.TrimSuffix(digits, ")")
		}
		if digits == "" || len(digits) > 2 || strings.Trim(digits, "0123456789") != "" {
			return ""
		}
		return "10*" + strings.TrimLeft(digits, "0")
	}
	return ""
}

// capital parses a unit in capitals, using UCUM's case-insensitive symbols, in which M is milli and G is gram. Units
// that have another meaning in capitals are rejected.
func capital(unit string) string {
	if strings.ToUpper(unit) != unit {
		return ""
	}
	base, exponent := cutExponent(unit)
	if code := capitals.Of(base); code != "" {
		return code + exponent
	}
	for i := 0; i < 2 && i < len(base); i++ {
		prefix, atom := capitalPrefixes.Of(base[:i]), capitalAtoms.Of(base[i:])
		if i == 0 && (base != "M" || exponent != "") && atom != "" || prefix != "" && atom != "" {
			return prefix + atom + exponent
		}
	}
	return ""
}
