package names

import (
	"strings"
	"unicode"
)

// withoutNoise removes notes that a vendor has added after a customer's name, such as the server, the server's host,
// and internal numbers. If the entire name is noise, withoutNoise leaves it unchanged.
func (r *Reader) withoutNoise(text string) string {
	rest := r.withoutBrackets(strings.ReplaceAll(strings.ReplaceAll(text, "*", " "), "\"", " "))
	for {
		rest = strings.TrimFunc(rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("-–_,;:|", c) })
		shorter := r.withoutLast(rest)
		if shorter == rest {
			break
		}
		rest = shorter
	}
	rest = strings.Join(strings.Fields(rest), " ")
	if len(Words(rest)) == 0 {
		return text
	}
	return rest
}

// withoutBrackets removes bracketed text that is only noise, even if the closing bracket is missing.
func (r *Reader) withoutBrackets(text string) string {
	var kept strings.Builder
	for {
		open := strings.IndexAny(text, "(<[")
		if open < 0 {
			break
		}
		end := strings.IndexByte(text[open:], closing(text[open]))
		after := len(text)
		inside := text[open+1:]
		if end >= 0 {
			after = open + end + 1
			inside = text[open+1 : after-1]
		}
		kept.WriteString(text[:open])
		if text[open] == '<' || r.isNoise(inside) {
			kept.WriteByte(' ')
		} else {
			kept.WriteString(text[open:after])
		}
		text = text[after:]
	}
	kept.WriteString(text)
	return kept.String()
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '<':
		return '>'
	default:
		return ']'
	}
}

// withoutLast removes the last word, or the text after the last dash, if the removed text is noise.
func (r *Reader) withoutLast(text string) string {
	if dash := strings.LastIndexAny(text, "-–"); dash > 0 {
		behind := strings.TrimLeft(text[dash:], "-– ")
		if r.isNoise(behind) || isServerCode(behind) && text[dash-1] == ' ' {
			return text[:dash]
		}
	}
	if dash := strings.LastIndexByte(text, '_'); dash > 0 && isNumber(text[dash+1:]) {
		return text[:dash]
	}
	blank := strings.LastIndexByte(text, ' ')
	if blank < 0 {
		return text
	}
	before, last := strings.TrimSpace(text[:blank]), text[blank+1:]
	switch {
	case strings.EqualFold(last, "expanse") || last == "C/S" || last == "PROD" || last == "Prod" || last == "MAGIC" ||
		last == "Trdl" || last == "TERMED":
		return before
	case isNumber(last) && len(last) >= 4 && !strings.HasSuffix(before, "#"):
		return before
	case isVersion(last):
		return before
	}
	if pod := strings.Index(text, " MaaS Pod"); pod > 0 {
		return text[:pod]
	}
	return text
}

// isNoise reports whether a string is a vendor's note rather than part of the name.
func (r *Reader) isNoise(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && (strings.HasPrefix(words[0], "hosted") || strings.HasPrefix(words[len(words)-1], "hosted") ||
		words[len(words)-1] == "hosting") {
		return true
	}
	for _, w := range words {
		if !r.noise[strings.Trim(w, ".:,-")] {
			return false
		}
	}
	return true
}

// isServerCode reports whether a string is a vendor's name for a server, such as "GL01", "PROD_22", "SNG_PROD" or
// "4711".
func isServerCode(text string) bool {
	if strings.ContainsAny(text, " .") || strings.ToUpper(text) != text {
		return false
	}
	hasDigit := strings.ContainsAny(text, "0123456789")
	return hasDigit && len(text) <= 8 || strings.Contains(text, "PROD")
}

// isVersion reports whether a string is a software version, such as "6.15".
func isVersion(text string) bool {
	major, minor, found := strings.Cut(text, ".")
	return found && isNumber(major) && isNumber(minor)
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
