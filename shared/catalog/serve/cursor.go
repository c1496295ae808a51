package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Cursors creates hits' sort values and parses them from searchAfter. A sort value consists of the score, the sort
// name, the ID and a seal. The seal contains the Search without its request. It is valid for only one position, search
// and tenant.
type Cursors struct {
	Sealer cursor.Sealer
}

// Sort is a hit's position in a search, as sent to a client.
type Sort [4]any

// cursorUse is the sealing purpose of search cursors.
const cursorUse = "catalog search"

// Search identifies a search whose pages must be consistent.
type Search struct {
	Asked   string   // identifies the request without its page, so another search's cursors are rejected
	Edition Edition  // edition that served the first page
	First   []uint32 // search.Query.First as of the first page
}

// Seal returns the sort values of the hit at the given position, with a seal for the tenant and search.
func (c Cursors) Seal(tenant org.Tenant, s Search, at search.Position) (Sort, error) {
	parts := []string{string(s.Edition.Version), s.Edition.Health, place(s.Asked, at)}
	if len(s.First) > 0 {
		parts = append(parts, written(s.First))
	}
	seal, err := c.Sealer.Seal(tenant, cursorUse, strings.Join(parts, " "))
	return Sort{at.Score, at.SortName, at.ID, seal}, err
}

// Open parses a Sort that a client returns. Open also accepts numbers that the client has converted to strings. Open
// returns fault.Invalid unless Seal created the value for the same tenant and search.
func (c Cursors) Open(tenant org.Tenant, asked string, sent []json.RawMessage) (Search, search.Position, error) {
	refused := fault.BadRequest(
		"searchAfter must be the unchanged sort values of a hit from the same search.").About("searchAfter")
	if len(sent) != len(Sort{}) {
		return Search{}, search.Position{}, refused
	}
	texts := make([]string, len(sent))
	for i, value := range sent {
		text, ok := textOf(value)
		if !ok {
			return Search{}, search.Position{}, refused
		}
		texts[i] = text
	}
	score, err := strconv.ParseFloat(texts[0], 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return Search{}, search.Position{}, refused
	}
	at := search.Position{Score: score, SortName: texts[1], ID: texts[2]}
	sealed, err := c.Sealer.Open(tenant, cursorUse, texts[3])
	if err != nil {
		return Search{}, search.Position{}, refused.Because(err)
	}
	s, ok := parsed(sealed, asked, at)
	if !ok {
		return Search{}, search.Position{}, refused
	}
	return s, at, nil
}

// parsed parses a seal's content. ok is false if the seal belongs to another search or position.
func parsed(sealed, asked string, at search.Position) (s Search, ok bool) {
	parts := strings.Split(sealed, " ")
	if len(parts) != 3 && len(parts) != 4 || parts[2] != place(asked, at) {
		return Search{}, false
	}
	version, isVersion := ledger.ParseVersion(parts[0])
	summary, isSummary := health.ParseVersion(parts[1])
	if !isVersion || !isSummary && parts[1] != "" {
		return Search{}, false
	}
	s = Search{Asked: asked, Edition: Edition{Version: version, Health: summary}, First: nil}
	if len(parts) == 4 {
		s.First, ok = readNumbers(parts[3])
		return s, ok
	}
	return s, true
}

// written formats numbers in base 36, separated by commas.
func written(numbers []uint32) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.FormatUint(uint64(n), 36)
	}
	return strings.Join(texts, ",")
}

func readNumbers(text string) (numbers []uint32, ok bool) {
	for one := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(one, 36, 32)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, uint32(n))
	}
	return numbers, true
}

// maxSorted is the maximum size of a searchAfter value in bytes.
const maxSorted = 4 << 10

// textOf returns a JSON string or number as text.
func textOf(value json.RawMessage) (string, bool) {
	if len(value) == 0 || len(value) > maxSorted {
		return "", false
	}
	var text string
	if value[0] == '"' {
		return text, json.Unmarshal(value, &text) == nil
	}
	var number json.Number
	err := json.Unmarshal(value, &number)
	return number.String(), err == nil && number != ""
}

// place returns a hash of a search and a position in that search's results.
func place(asked string, at search.Position) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %v %q %q", asked, at.Score, at.SortName, at.ID))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
