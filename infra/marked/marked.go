// Package marked updates generated tables in a Markdown document. Each table is between the lines "<!-- table NAME -->"
// and "<!-- end -->".
package marked

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	begin = "<!-- table "
	end   = "<!-- end -->"
)

// Renew replaces each table in a document with the result of tableOf for the table's name. The result must end with a
// line break. If the result is empty, Renew does not change the table.
func Renew(document []byte, tableOf func(name string) (string, error)) ([]byte, error) {
	var out bytes.Buffer
	for {
		before, rest, found := bytes.Cut(document, []byte(begin))
		out.Write(before)
		if !found {
			return out.Bytes(), nil
		}
		name, rest, named := bytes.Cut(rest, []byte(" -->\n"))
		table, after, ended := bytes.Cut(rest, []byte(end))
		if !named || !ended {
			return nil, errors.New("a table has no end")
		}
		renewed, err := tableOf(string(name))
		if err != nil {
			return nil, err
		}
		if renewed == "" {
			renewed = string(table)
		}
		fmt.Fprintf(&out, "%s%s -->\n%s%s", begin, name, renewed, end)
		document = after
	}
}
