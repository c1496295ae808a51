package ddb

import (
	"math/big"
	"strconv"
	"strings"
)

// Limits of DynamoDB numbers: 38 significant digits, and magnitudes from 1E-130 to below 1E+126.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
const (
	maxDigits    = 38
	maxMagnitude = 126
	minMagnitude = -129
)

// decimal represents 0.digits × 10^magnitude. digits neither begins nor ends with a zero, and is empty for the number
// zero.
type decimal struct {
	negative  bool
	digits    string
	magnitude int
}

// parseNumber validates a number and returns its canonical form, which is plain notation without redundant zeros.
func parseNumber(text string) (string, error) {
	d, ok := readDecimal(text)
	switch {
	case text == "":
		return "", invalidf("The parameter cannot be converted to a numeric value")
	case !ok:
		return "", invalidf("The parameter cannot be converted to a numeric value: %s", text)
	case d.digits == "":
		return "0", nil
	case len(d.digits) > maxDigits:
		return "", invalidf("Attempting to store more than 38 significant digits in a Number")
	case d.magnitude > maxMagnitude:
		return "", invalidf("Number overflow. Attempting to store a number with magnitude larger than supported range")
	case d.magnitude < minMagnitude:
		return "", invalidf("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	}
	return d.String(), nil
}

func readDecimal(text string) (decimal, bool) {
	var d decimal
	mantissa, exponentText, hasExponent := strings.Cut(strings.Replace(text, "E", "e", 1), "e")
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		d.negative = mantissa[0] == '-'
		mantissa = mantissa[1:]
	}
	exponent := 0
	if hasExponent {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || exponent > 1000 || exponent < -1000 {
			return d, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return d, false
	}
	significant := strings.TrimLeft(all, "0")
	d.magnitude = exponent + len(whole) - (len(all) - len(significant))
	d.digits = strings.TrimRight(significant, "0")
	return d, true
}

// String returns the canonical form of a number within DynamoDB's range.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	switch {
	case d.magnitude <= 0:
		return sign + "0." + strings.Repeat("0", -d.magnitude) + d.digits
	case d.magnitude >= len(d.digits):
		return sign + d.digits + strings.Repeat("0", d.magnitude-len(d.digits))
	}
	return sign + d.digits[:d.magnitude] + "." + d.digits[d.magnitude:]
}

// addNumbers adds two canonical numbers, or subtracts b from a if subtract is set.
func addNumbers(a, b string, subtract bool) (string, error) {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		return "", invalidf("The parameter cannot be converted to a numeric value")
	}
	if subtract {
		y.Neg(y)
	}
	return parseNumber(x.Add(x, y).FloatString(1 - minMagnitude))
}

// numberSortKey encodes a canonical number so that the encoded bytes sort numerically. The encoding is a sign byte, the
// magnitude, then the digits. For a negative number, all bytes are inverted, and a final byte makes the longer of two
// encodings sort first.
func numberSortKey(text string) string {
	d, _ := readDecimal(text)
	if d.digits == "" {
		return "\x80"
	}
	key := make([]byte, 0, len(d.digits)+3)
	key = append(key, 0x81, byte(d.magnitude-minMagnitude)) //nolint:gosec // 0 to 255 by the range of numbers
	key = append(key, d.digits...)
	if d.negative {
		for i := range key {
			key[i] = ^key[i]
		}
		key = append(key, 0xff)
	}
	return string(key)
}

func numberSize(text string) int {
	d, _ := readDecimal(text)
	size := (len(d.digits)+1)/2 + 1
	if d.negative {
		size++
	}
	return size
}
