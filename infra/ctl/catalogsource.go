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
			help: "Makes a source of a published list, as it is known or as it is said, or changes what is named of it",
			flags: "(-id ID | -known ID) [-name NAME] [-mode test|live] [-format FORMAT] [-url URL] [-every TIME] [-platform " +
				"TYPE] [-priority N] [-license TEXT] " +
				"[-brand-system URI -brand VALUE]",
		},
		{
			name: "catalog source list", flags: "[-mode test|live]", help: "Lists the sources, and how they stand",
			declare: listSources,
		},
		{
			name: "catalog source show", flags: "-id ID", help: "Shows a source: what was read of it, and what waits",
			needs: []string{"id"}, declare: showSource,
		},
		{
			name: "catalog source remove", flags: "-id ID", needs: []string{"id"}, declare: removeSource,
			help: "Removes a source; what it alone has said goes with the next publication",
		},
		{
			name: "catalog import", flags: "-id ID\n-file FILE -format FORMAT -mode test|live [-id ID]", declare: importList,
			help: "Reads a source now, or a file of a list, and reports what came of it",
		},
	}
}

func formatFlag(flags *flag.FlagSet) *string {
	known := make([]string, 0, len(lists.Formats()))
	for _, f := range lists.Formats() {
		known = append(known, string(f))
	}
	return flags.String("format", "", "`format` of the list: "+strings.Join(known, ", "))
}

func setSource(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source: lower case letters, digits and hyphens (default: that of the "+
		"known one)")
	known := flags.String("known", "",
		"take all that is not said otherwise from the published list with this `id` in infra/catalog/sources.yaml")
	flags.String("name", "", "`name` for people (default: the id)")
	flags.String("mode", "", "`test` or live; a source stays in its mode")
	formatFlag(flags)
	flags.String("url", "", "`address` of the list; without one it is only imported from files")
	every := flags.Duration("every", 0, "how `often` it is fetched, as 24h; 0 for only when an operator says so")
	flags.String("platform", "", "EHR platform `type` of endpoints of which the list does not say it")
	priority := flags.Int("priority", 0, "of two sources that differ, the greater `number` is believed")
	flags.String("license", "", "under which the list may be used, as `text`")
	system := flags.String("brand-system", "",
		"`system` of the identifier of the one brand that the list is about, and of which alone it is believed")
	brand := flags.String("brand", "", "`value` of that identifier")
	return func(ctx context.Context, s session) (any, error) {
		if (*system == "") != (*brand == "") {
			return nil, misused("-brand and -brand-system go together")
		}
		if *id = cmp.Or(*id, *known); *id == "" {
			return nil, misused("either -id or -known says which source")
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

// knownSource returns a published list by its id, or the zero Source if there is none.
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
	return intake.Source{}, misused("-known: there is no %q; known are %s", id, strings.Join(ids, ", "))
}

// named sets the descriptive fields that the flags give and leaves the others unchanged.
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

// sourceShown returns an operator's view of a source.
func sourceShown(row intake.Row) map[string]any {
	shown := map[string]any{"source": row.Source, "state": row.State}
	switch {
	case row.State.Pending != nil:
		shown["do"] = "look at state.pending.diff, then: catalog approve -id " + row.Source.ID
	case row.State.Unpublished:
		shown["do"] = "catalog publish -mode " + row.Source.Mode
	}
	if row.Source.Every > 0 {
		shown["every"] = row.Source.Every.String()
	}
	return shown
}

func listSources(flags *flag.FlagSet) action {
	mode := flags.String("mode", "", "only those in this mode, `test` or live (default: both)")
	return func(ctx context.Context, s session) (any, error) {
		if given(flags, "mode") {
			if _, err := modeOf(*mode); err != nil {
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

func showSource(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source")
	return func(ctx context.Context, s session) (any, error) {
		row, err := s.CatalogSources.Show(ctx, *id)
		return sourceShown(row), err
	}
}

func removeSource(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source")
	return func(ctx context.Context, s session) (any, error) {
		return map[string]any{"id": *id, "removed": true, "next": "catalog publish"}, s.CatalogSources.Remove(ctx, *id)
	}
}

func importList(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`id` of the source (default, with -file: made of the file's name)")
	file := flags.String("file", "", "`file` with the list, which may be gzipped; its source is made if it is not there")
	format := formatFlag(flags)
	mode := flags.String("mode", "", "`test` or live, of a source that is made")
	return func(ctx context.Context, s session) (any, error) {
		if *file == "" {
			if *id == "" {
				return nil, misused("either -id or -file says what is read")
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

// importShown returns the printed result of reading a list.
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

// sourceName derives a source's id from a file name.
func sourceName(file string) string {
	name, _, _ := strings.Cut(strings.ToLower(filepath.Base(file)), ".")
	return strings.Trim(noWord.ReplaceAllString(name, "-"), "-")
}
