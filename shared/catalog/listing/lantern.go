package listing

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"recordbridge/shared/catalog/record"
)

// column identifies a column in Lantern's lists, whose column names have changed over time.
type column int

const (
	otherColumn column = iota
	listColumn
	nameColumn
	namesColumn // several names, separated by semicolons
	urlColumn
	npiColumn
	zipColumn
	versionColumn
	columns
)

// columnOf returns the column for a column name or JSON member name. The name may come from Lantern's exports, its API
// or the lists in its repository.
func columnOf(name string) column {
	switch strings.ToLower(name) {
	case "list", "list_source", "certified_api_developer_name", "vendor_name":
		return listColumn
	case "name", "api_information_source_name", "organizationname", "organization_name":
		return nameColumn
	case "endpoint_names":
		return namesColumn
	case "url", "fhir_base_url":
		return urlColumn
	case "npi", "npi_id", "npiid":
		return npiColumn
	case "zip", "zipcode", "zip_code", "organizationzipcode":
		return zipColumn
	case "fhir_version", "capability_fhir_version":
		return versionColumn
	}
	return otherColumn
}

type row [columns]string

// readLines reads rows as JSON objects, one per line. readLines reports and skips invalid lines.
func readLines(ctx context.Context, list *bufio.Reader, out *output) error {
	for line := 1; ; line++ {
		raw, reason, err := nextLine(list)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(raw) == 0 && reason == "" {
			continue
		}
		if err := out.jsonRow(ctx, "line "+strconv.Itoa(line), raw, reason); err != nil {
			return err
		}
	}
}

// nextLine returns the next line without surrounding white space. After the last line, it returns io.EOF.
func nextLine(list *bufio.Reader) (raw []byte, reason Reason, err error) {
	for {
		part, err := list.ReadSlice('\n')
		if len(raw)+len(part) <= maxEntry {
			raw = append(raw, part...)
		} else {
			reason = TooLarge
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(raw) > 0 || reason != ""):
			err = nil
		}
		return bytes.TrimSpace(raw), reason, err
	}
}

// readRows reads rows from a JSON array of objects, either at the top level or in the member Endpoints.
func readRows(ctx context.Context, list *bufio.Reader, out *output) error {
	scan := scanner{from: list}
	isList := func(name string) bool { return strings.EqualFold(name, "endpoints") }
	return scan.entries(isList, func(string, []byte) {}, func(raw []byte, reason Reason) error {
		return out.jsonRow(ctx, "entry "+strconv.Itoa(out.report.Entries+1), raw, reason)
	})
}

func (o *output) jsonRow(ctx context.Context, place string, raw []byte, reason Reason) error {
	if err := o.entry(ctx); err != nil {
		return err
	}
	if reason == "" {
		reason = ambiguous(raw)
	}
	var members map[string]json.RawMessage
	if reason == "" {
		reason = o.report.unmarshal(raw, place, &members)
	}
	if reason == "" && len(members) == 0 {
		reason = BadType
	}
	if reason != "" {
		o.report.omitted(reason, place)
		return nil
	}
	var r row
	for name, value := range members {
		at := columnOf(name)
		if at == otherColumn || string(value) == "null" {
			continue
		}
		var number json.Number
		if json.Unmarshal(value, &r[at]) == nil {
			continue
		}
		if err := json.Unmarshal(value, &number); err != nil {
			o.report.problem(BadType, place)
			continue
		}
		r[at] = number.String()
	}
	return o.row(place, r)
}

// row creates listings from a row. If the row has several names for its server, row creates one listing per name.
func (o *output) row(place string, r row) error {
	address, isServer := server(r[urlColumn])
	if !isServer {
		o.report.omitted(BadAddress, place)
		return nil
	}
	l := Listing{Portals: []Portal{{Endpoints: []Endpoint{{Address: address, FHIRVersion: version(r[versionColumn])}}}}}
	switch npi := strings.TrimSpace(r[npiColumn]); {
	case isNPI(npi):
		l.NPIs = []string{npi}
	case npi != "":
		o.report.problem(BadNumber, place)
	}
	if zip := o.report.text(place, r[zipColumn], maxName); zip != "" {
		l.Locations = []record.Location{{PostalCode: zip}}
	}
	isNamed := false
	for _, name := range append(strings.Split(r[namesColumn], ";"), r[nameColumn]) {
		if l.Name = o.report.text(place, name, maxName); l.Name == "" {
			continue
		}
		isNamed = true
		l.Key = keyOf(r[listColumn], address, l.Name, r[npiColumn], r[zipColumn])
		if err := o.give(l); err != nil {
			return err
		}
	}
	if !isNamed {
		o.report.omitted(NoName, place)
	}
	return nil
}

// keyOf derives a key from a row's entire content, because rows don't have IDs.
func keyOf(parts ...string) string {
	whole := sha256.New()
	for _, part := range parts {
		_, _ = io.WriteString(whole, strconv.Itoa(len(part))+":"+part)
	}
	return hex.EncodeToString(whole.Sum(nil)[:12])
}
