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

// Cursors creates the sort values of hits and parses them from searchAfter. A sort value consists of the score, the
// sort name, the ID, and a seal. The seal contains the Edition that was searched. It is valid only for this position,
// search and tenant.
type Cursors struct {
	Sealer cursor.Sealer
}

// Sort is a hit's position in a search, as sent to a client.
type Sort [4]any

// cursorUse is the purpose for which search cursors are sealed.
const cursorUse = "catalog search"

// Seal creates a hit's Sort. asked identifies the search: cursors of another search are rejected.
func (c Cursors) Seal(tenant org.Tenant, asked string, e Edition, at search.Position) (Sort, error) {
	seal, err := c.Sealer.Seal(tenant, cursorUse,
		strings.Join([]string{string(e.Version), e.Health, place(asked, at)}, " "))
	return Sort{at.Score, at.SortName, at.ID, seal}, err
}

// Open parses a Sort that a client returns, in which numbers may have become strings. It returns fault.Invalid for any
// value that Seal did not create for the same tenant and search.
func (c Cursors) Open(tenant org.Tenant, asked string, sent []json.RawMessage) (Edition, search.Position, error) {
	refused := fault.BadRequest(
		"searchAfter must be the unchanged sort values of a hit from the same search.").About("searchAfter")
	if len(sent) != len(Sort{}) {
		return Edition{}, search.Position{}, refused
	}
	texts := make([]string, len(sent))
	for i, value := range sent {
		text, ok := textOf(value)
		if !ok {
			return Edition{}, search.Position{}, refused
		}
		texts[i] = text
	}
	score, err := strconv.ParseFloat(texts[0], 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return Edition{}, search.Position{}, refused
	}
	at := search.Position{Score: score, SortName: texts[1], ID: texts[2]}
	sealed, err := c.Sealer.Open(tenant, cursorUse, texts[3])
	if err != nil {
		return Edition{}, search.Position{}, refused.Because(err)
	}
	parts := strings.Split(sealed, " ")
	if len(parts) != 3 || parts[2] != place(asked, at) {
		return Edition{}, search.Position{}, refused
	}
	version, isVersion := ledger.ParseVersion(parts[0])
	summary, isSummary := health.ParseVersion(parts[1])
	if !isVersion || !isSummary && parts[1] != "" {
		return Edition{}, search.Position{}, refused
	}
	return Edition{Version: version, Health: summary}, at, nil
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

// place returns a hash of a search and a position in it.
func place(asked string, at search.Position) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %v %q %q", asked, at.Score, at.SortName, at.ID))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
