package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed figures.csv
var figuresFile []byte

// unconfirmed is the source of a figure that was remembered and not found.
const unconfirmed = "not confirmed"

// figures are prices, quotas and assumptions by name, each with its source in figures.csv. Dollars, seconds and bytes, us-east-1.
type figures struct {
	values      map[string]float64
	unconfirmed []string
	asked       map[string]bool
}

func readFigures() (*figures, error) {
	rows, err := csv.NewReader(bytes.NewReader(figuresFile)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	f := &figures{values: map[string]float64{}, asked: map[string]bool{}}
	for _, row := range rows[1:] {
		if f.values[row[0]], err = strconv.ParseFloat(row[1], 64); err != nil {
			return nil, fmt.Errorf("read the figures: %s: %w", row[0], err)
		}
		if strings.HasPrefix(row[4], unconfirmed) {
			f.unconfirmed = append(f.unconfirmed, row[0])
		}
	}
	return f, nil
}

// of is a figure, 0 when it is not there, which missing tells.
func (f *figures) of(name string) float64 {
	f.asked[name] = true
	return f.values[name]
}

// missing are those that were asked for and are not there.
func (f *figures) missing() []string {
	var names []string
	for name := range f.asked {
		if _, ok := f.values[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
