package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

const (
	rowsOfPage    = 50
	mostRows      = 500
	previewLength = 160 // length of a row's preview in characters
)

// Tables provides access to the embedded DynamoDB's tables.
type Tables interface {
	Tables() []ddb.TableInfo
	Browse(p ddb.Position) (ddb.Page, error)
	Row(table, index, id string) (row ddb.Row, ok bool, err error)
	Damage(table, id, attribute string) (ok bool, err error)
}

type listedRow struct {
	ID      string         `json:"id"`
	Keys    map[string]any `json:"keys"`
	Preview string         `json:"preview"` // first characters of the row's non-key attributes
	Size    int            `json:"size"`    // size in bytes, as DynamoDB counts it
}

func (c *console) serveTables(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"tables": c.Tables.Tables()})
}

func (c *console) serveItems(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	page, err := c.Tables.Browse(ddb.Position{
		Table: r.PathValue("table"), Index: query.Get("index"), Prefix: query.Get("prefix"), From: query.Get("from"),
		Limit: limit(r, rowsOfPage, mostRows),
	})
	if err != nil {
		refuseTable(w, err)
		return
	}
	rows := make([]listedRow, len(page.Rows))
	for i, row := range page.Rows {
		rows[i] = listed(row)
	}
	writeJSON(w, http.StatusOK, map[string]any{"rows": rows, "next": page.Next})
}

func (c *console) serveItem(w http.ResponseWriter, r *http.Request) {
	row, ok, err := c.Tables.Row(r.PathValue("table"), r.URL.Query().Get("index"), r.URL.Query().Get("id"))
	switch {
	case err != nil:
		refuseTable(w, err)
	case !ok:
		writeError(w, http.StatusNotFound, "The row no longer exists.")
	default:
		writeJSON(w, http.StatusOK, map[string]any{
			"id": row.ID, "keys": row.Keys, "size": row.Size,
			"item": folded(row.Item),
		})
	}
}

func refuseTable(w http.ResponseWriter, err error) {
	failure, ok := errors.AsType[*wire.Error](err)
	switch {
	case !ok:
		writeError(w, http.StatusInternalServerError, err.Error())
	case failure.Code == "ResourceNotFoundException":
		writeError(w, http.StatusNotFound, "Table not found.")
	default:
		writeError(w, http.StatusBadRequest, failure.Message)
	}
}

func listed(row ddb.Row) listedRow {
	keys, rest := map[string]any{}, map[string]any{}
	for name, value := range folded(row.Item) {
		if slices.Contains(row.Keys, name) {
			keys[name] = value
		} else {
			rest[name] = value
		}
	}
	var preview strings.Builder
	encoder := json.NewEncoder(&preview)
	encoder.SetEscapeHTML(false) // escaping would make the text unreadable
	if err := encoder.Encode(rest); err != nil {
		preview.Reset()
	}
	text := []rune(strings.TrimSpace(preview.String()))
	if len(text) > previewLength {
		text = append(text[:previewLength], '…')
	}
	return listedRow{ID: row.ID, Keys: keys, Preview: string(text), Size: row.Size}
}
