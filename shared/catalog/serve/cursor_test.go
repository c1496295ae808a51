package serve_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/serve"
	"recordbridge/shared/words/cursor"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

func sealer(t *testing.T) cursor.Sealer {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return cursor.Sealer{Keys: ring}
}

func TestCursorIsBoundToItsSearchAndPosition(t *testing.T) {
	t.Parallel()
	cursors, tenant := serve.Cursors{Sealer: sealer(t)}, org.Tenant{Mode: org.Test, OrgID: "a"}
	edition := serve.Edition{Version: "20260304T050607Z-0011223344556677", Health: "20260304T050608Z-8899aabbccddeeff"}
	at := search.Position{Score: 12.300000000000002, SortName: "alder 7", ID: id("brand", 7)}
	about := serve.Search{Asked: "asked", Edition: edition, First: []uint32{40_000, 7}}
	sort, err := cursors.Seal(tenant, about, at)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(sort)
	if err != nil {
		t.Fatal(err)
	}
	var sent []json.RawMessage
	if err = json.Unmarshal(document, &sent); err != nil {
		t.Fatal(err)
	}
	texts := []json.RawMessage{json.RawMessage(strconv.Quote(string(sent[0]))), sent[1], sent[2], sent[3]}
	for name, values := range map[string][]json.RawMessage{"as it is": sent, "as texts": texts} {
		got, place, refused := cursors.Open(tenant, "asked", values)
		if refused != nil || !reflect.DeepEqual(got, about) || place != at {
			t.Errorf("%s: %v, %v, %v", name, got, place, refused)
		}
	}
	with := func(i int, value string) []json.RawMessage {
		changed := append([]json.RawMessage{}, sent...)
		changed[i] = json.RawMessage(value)
		return changed
	}
	foreign := serve.Cursors{Sealer: sealer(t)}
	other, err := foreign.Seal(org.Tenant{Mode: org.Test, OrgID: "b"}, about, at)
	if err != nil {
		t.Fatal(err)
	}
	seal, _ := other[3].(string)
	for name, c := range map[string]struct {
		tenant org.Tenant
		asked  string
		sent   []json.RawMessage
	}{
		"another score":             {tenant, "asked", with(0, "12.3")},
		"a score that is no number": {tenant, "asked", with(0, `"NaN"`)},
		"an endless score":          {tenant, "asked", with(0, `"Inf"`)},
		"an object":                 {tenant, "asked", with(0, `{"a":1}`)},
		"null":                      {tenant, "asked", with(0, "null")},
		"another name":              {tenant, "asked", with(1, `"alder 8"`)},
		"a huge name":               {tenant, "asked", with(1, `"`+strings.Repeat("x", 60<<10)+`"`)},
		"another id":                {tenant, "asked", with(2, `"`+id("brand", 8)+`"`)},
		"another seal":              {tenant, "asked", with(3, `"1.AAAA"`)},
		"another's seal":            {tenant, "asked", with(3, strconv.Quote(seal))},
		"too few":                   {tenant, "asked", sent[:3]},
		"too many":                  {tenant, "asked", append(with(0, string(sent[0])), sent[0])},
		"another search":            {tenant, "other", sent},
		"another organisation":      {org.Tenant{Mode: org.Test, OrgID: "b"}, "asked", sent},
		"the other mode":            {org.Tenant{Mode: org.Live, OrgID: "a"}, "asked", sent},
	} {
		if _, _, err := cursors.Open(c.tenant, c.asked, c.sent); !errors.Is(err, fault.Invalid) ||
			!strings.Contains(fault.Of(err).Public, "searchAfter") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinkGrantsAccessToItsFileForOneHour(t *testing.T) {
	t.Parallel()
	links, now := serve.Links{Sealer: sealer(t), BaseURL: "https://api.example/v1"},
		time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	all, err := links.List(org.Live, "v1", now)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	tokens := map[string]string{}
	for name, address := range all {
		token, ok := strings.CutPrefix(address, "https://api.example/v1/bridge/catalog/export?file="+name+"&token=")
		if !ok {
			t.Fatal(address)
		}
		tokens[name] = token
		if key, err := links.Key(token, name, now.Add(time.Hour-time.Second)); err != nil ||
			key != "snapshots/live/v1/"+name {
			t.Errorf("%s: %s, %v", name, key, err)
		}
		if _, err := links.Key(token, name, now.Add(time.Hour)); !errors.Is(err, fault.Gone) {
			t.Errorf("%s, late: %v", name, err)
		}
	}
	for name, token := range map[string]string{
		"portals.json": tokens["brands.json"], "bases.json": tokens["brands.json"], "brands.json": "",
		"endpoints.json": tokens["endpoints.json"] + "A",
	} {
		if _, err := links.Key(token, name, now); !errors.Is(err, fault.Unauthenticated) {
			t.Errorf("%s with another token: %v", name, err)
		}
	}
}
