package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	published "recordbridge/infra/catalog"
	"recordbridge/shared/catalog/intake"
	lists "recordbridge/shared/catalog/listing"
)

func sourceCommands() []command {
	return []command{
		{
			name: "catalog source set", declare: setSource,
			help: "Creates a source from a known list or from flags, or changes the given settings of a source",
			flags: "(-id ID | -known ID) [-name NAME] [-mode test|live] [-format FORMAT] [-url URL] [-every TIME] [-platform " +
				"TYPE] [-priority N] [-license TEXT] " +
				"[-brand-system URI -brand VALUE]",
		},
		{
			name: "catalog source list", flags: "[-mode test|live | -id ID]", declare: listSources,
			help: "Lists the sources and their status, or shows a source, its last import and its pending list",
		},
		{
			name: "catalog source remove", confirms: true, flags: "-id ID", needs: []string{"id"}, declare: removeSource,
			help: "Removes a source; the next publication removes data from this source alone",
		},
		{
			name: "catalog import", flags: "-id ID\n-file FILE -format FORMAT -mode test|live [-id ID]", declare: importList,
			help: "Imports a source or a list file now, and reports the result",
		},
	}
}

func listFormatFlag(flags *flag.FlagSet) *string {
	known := make([]string, 0, len(lists.Formats()))
	for _, f := range lists.Formats() {
		known = append(known, string(f))
	}
	return flags.String("format", "", "`format` of the list: "+strings.Join(known, ", "))
}

func setSource(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source: lower-case letters, digits and hyphens (default: the known "+
		"list's ID)")
	known := flags.String("known", "",
		"take defaults from the published list with this `id` in infra/catalog/sources.yaml")
	flags.String("name", "", "display `name` (default: the ID)")
	flags.String("mode", "", "`test` or live; can't be changed later")
	listFormatFlag(flags)
	flags.String("url", "", "`URL` of the list; without it, the list is imported only from files")
	every := flags.Duration("every", 0, "fetch `interval`, such as 24h; 0 to fetch the list only on request")
	flags.String("platform", "", "default EHR platform `type` for endpoints whose platform the list doesn't state")
	priority := flags.Int("priority", 0, "priority `number`: if two sources differ, the higher number wins")
	flags.String("license", "", "licence `text` of the list")
	system := flags.String("brand-system", "",
		"identifier `system` of the one brand that the list covers; other brands in the list are ignored")
	brand := flags.String("brand", "", "`value` of the identifier for -brand-system")
	return func(ctx context.Context, s session) (any, error) {
		if (*system == "") != (*brand == "") {
			return nil, misused("-brand and -brand-system must be used together")
		}
		if *id = cmp.Or(*id, *known); *id == "" {
			return nil, misused("set either -id or -known")
		}
		from, err := knownSource(*known)
		if err != nil {
			return nil, err
		}
		row, err := s.CatalogSources.Set(ctx, *id, func(source *intake.Source) {
			if *known != "" {
				*source = from
				source.ID = *id
			}
			named(flags, source)
			if given(flags, "every") {
				source.Every = *every
			}
			if given(flags, "priority") {
				source.Priority = *priority
			}
			if *brand != "" {
				source.Brand = &lists.Identifier{System: *system, Value: *brand}
			}
		})
		if err != nil {
			return nil, err
		}
		return sourceShown(row), nil
	}
}

// knownSource returns the known published list with the given ID, or the zero Source if no known list has that ID.
func knownSource(id string) (intake.Source, error) {
	if id == "" {
		return intake.Source{}, nil
	}
	all, err := published.Sources()
	if err != nil {
		return intake.Source{}, err
	}
	ids := make([]string, 0, len(all))
	for _, source := range all {
		if source.ID == id {
			return source, nil
		}
		ids = append(ids, source.ID)
	}
	return intake.Source{}, misused("-known: unknown list %q; known lists: %s", id, strings.Join(ids, ", "))
}

// named sets the source's descriptive fields from the given flags and leaves all other fields unchanged.
func named(flags *flag.FlagSet, source *intake.Source) {
	if source.Name == "" {
		source.Name = source.ID
	}
	if format := optional(flags, "format"); format != nil {
		source.Format = lists.Format(*format)
	}
	for name, field := range map[string]*string{
		"name": &source.Name, "mode": &source.Mode, "url": &source.URL, "platform": &source.Platform,
		"license": &source.License,
	} {
		if value := optional(flags, name); value != nil {
			*field = *value
		}
	}
}

func sourceShown(row intake.Row) map[string]any {
	shown := map[string]any{"source": row.Source, "state": row.State}
	switch {
	case row.State.Pending != nil:
		shown["do"] = "check state.pending.diff, then: catalog approve -id " + row.Source.ID
	case row.State.Unpublished:
		shown["do"] = "catalog publish -mode " + row.Source.Mode
	}
	if row.Source.Every > 0 {
		shown["every"] = row.Source.Every.String()
	}
	return shown
}

func listSources(flags *flag.FlagSet) action {
	mode := flags.String("mode", "", "only sources in this mode, `test` or live (default: both)")
	id := flags.String("id", "", "`id` of the source to show with all details")
	return func(ctx context.Context, s session) (any, error) {
		if *id != "" && *mode != "" {
			return nil, misused("-id and -mode can't be combined")
		}
		if *id != "" {
			row, err := s.CatalogSources.Show(ctx, *id)
			return sourceShown(row), err
		}
		if given(flags, "mode") {
			if err := checkMode(*mode); err != nil {
				return nil, err
			}
		}
		all, err := s.CatalogSources.List(ctx, *mode)
		rows := make([]map[string]any, 0, len(all))
		for _, row := range all {
			told := map[string]any{
				"id": row.Source.ID, "name": row.Source.Name, "mode": row.Source.Mode,
				"format": row.Source.Format, "waits": row.State.Pending != nil,
			}
			if row.State.Accepted != nil {
				told["listings"], told["read_at"] = row.State.Accepted.Report.Listings,
					row.State.Accepted.ReadAt.Format(time.RFC3339)
			}
			if row.State.Reason != "" {
				told["failed_because"] = row.State.Reason
			}
			rows = append(rows, told)
		}
		return rows, err
	}
}

func removeSource(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source")
	return func(ctx context.Context, s session) (any, error) {
		row, err := s.CatalogSources.Show(ctx, *id)
		if err != nil {
			return nil, err
		}
		listings := 0
		if row.State.Accepted != nil {
			listings = row.State.Accepted.Report.Listings
		}
		if err := s.confirm("This removes source %s in %s mode with its accepted list of %d institutions. The next "+
			"publication removes those found only there.", row.Source.ID, row.Source.Mode, listings); err != nil {
			return nil, err
		}
		return map[string]any{"id": *id, "removed": true, "next": "catalog publish"}, s.CatalogSources.Remove(ctx, *id)
	}
}

func importList(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source (default, with -file: derived from the file name)")
	file := flags.String("file", "", "`file` with the list, plain or gzipped; creates the list's source if needed")
	format := listFormatFlag(flags)
	mode := flags.String("mode", "", "mode of a newly created source, `test` or live")
	return func(ctx context.Context, s session) (any, error) {
		if *file == "" {
			if *id == "" {
				return nil, misused("set either -id or -file")
			}
			row, outcome, err := s.CatalogSources.Import(ctx, *id, nil)
			return importShown(row, outcome), err
		}
		list, err := os.Open(*file)
		if err != nil {
			return nil, misused("-file: %w", err)
		}
		defer list.Close()
		if *id == "" {
			*id = sourceName(*file)
		}
		if *format != "" || *mode != "" {
			if _, err = s.CatalogSources.Set(ctx, *id, func(source *intake.Source) { named(flags, source) }); err != nil {
				return nil, err
			}
		}
		row, outcome, err := s.CatalogSources.Import(ctx, *id, list)
		if err != nil {
			return nil, err
		}
		return importShown(row, outcome), nil
	}
}

func importShown(row intake.Row, outcome intake.Outcome) map[string]any {
	shown := map[string]any{"id": row.Source.ID, "outcome": outcome}
	read := row.State.Accepted
	switch outcome {
	case intake.Waiting:
		read = row.State.Pending
		shown["waits_because"], shown["do"] = row.State.Guards, "catalog approve -id "+row.Source.ID
	case intake.Failed:
		shown["failed_because"] = row.State.Reason
		return shown
	case intake.Accepted:
		shown["do"] = fmt.Sprintf("catalog diff -mode %s, then catalog publish -mode %[1]s", row.Source.Mode)
	case intake.Unchanged:
	}
	if read != nil {
		shown["report"], shown["diff"] = read.Report, read.Diff
	}
	return shown
}

var noWord = regexp.MustCompile(`[^a-z0-9]+`)

func sourceName(file string) string {
	name, _, _ := strings.Cut(strings.ToLower(filepath.Base(file)), ".")
	return strings.Trim(noWord.ReplaceAllString(name, "-"), "-")
}
