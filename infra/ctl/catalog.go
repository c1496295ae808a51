package main

import (
	"cmp"
	"context"
	"flag"

	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/manage/operator"
)

func catalogCommands() []command {
	record := []string{"id"}
	return append(append(sourceCommands(), hostCommands()...), []command{
		{
			name: "catalog diff", flags: "-mode test|live [-host HOST] [-source SOURCE] [-limit N]", declare: previewCatalog,
			help: "Shows what publishing would change and which hosts need an operator's decision, without changing anything",
		},
		{
			name: "catalog approve", flags: "-id SOURCE\n-mode test|live", declare: approveCatalog,
			help: "Accepts a source's pending list, or approves a mode's pending publication",
		},
		{
			name: "catalog publish", confirms: true, flags: "-mode test|live [-resume]", declare: publishCatalog,
			help: "Publishes the accepted lists as the catalogue that patients search",
		},
		{
			name: "catalog rollback", confirms: true, flags: "-mode test|live -version VERSION", needs: []string{"version"},
			declare: rollbackCatalog,
			help:    "Rolls the catalogue back to an earlier version and pauses publishing",
		},
		{
			name: "catalog search", flags: "-mode test|live [-text TEXT] [-state CODE ...] [-platform TYPE ...] [-zip ZIP " +
				"...] [-limit N]", declare: searchCatalog,
			help: "Searches the catalogue as patients do",
		},
		{
			name: "catalog show", flags: "-mode test|live -id ID",
			help: "Shows a brand, portal or endpoint of the catalogue", needs: record, declare: showRecord,
		},
		{
			name: "catalog set", needs: record, declare: overrideBrand,
			flags: "-mode test|live -id BRAND [-name NAME] [-alias NAME | -remove-alias NAME] [-hide | -unhide] " +
				"[-merge-into BRAND | -unmerge]",
			help: "Overrides what the lists state about an institution: its name, alternative names, visibility or merges",
		},
		{
			name: "catalog report", flags: "-mode test|live",
			help: "Shows the catalogue's status: versions, sources, pending approvals and operator " +
				"decisions", declare: reportCatalog,
		},
	}...)
}

func recordFlag(flags *flag.FlagSet) *string {
	return flags.String("id", "", "`id` of a record, from catalog search or catalog show")
}

func previewCatalog(flags *flag.FlagSet) action {
	moded, choice := modeFlag(flags), hostFlags(flags)
	limit := flags.Int("limit", mostHosts, "maximum number of waiting hosts to show, up to 100")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		if *limit < 1 || *limit > 100 {
			return nil, misused("-limit must be from 1 to 100")
		}
		out, err := s.Catalog.Preview(ctx, mode)
		return hostsShown(publicationShown(out), out.Composed.Waiting, choice, *limit), err
	}
}

func approveCatalog(flags *flag.FlagSet) action {
	id := flags.String("id", "", "`source` whose list to accept")
	mode := flags.String("mode", "", "`test` or live: the mode whose publication to approve")
	return func(ctx context.Context, s session) (any, error) {
		if (*id == "") == (*mode == "") {
			return nil, misused("set either -id or -mode; to see what is pending, run catalog report")
		}
		if *id != "" {
			row, err := s.CatalogSources.Approve(ctx, *id)
			return sourceShown(row), err
		}
		asked, err := s.Catalog.Approve(ctx, *mode)
		return map[string]any{"mode": *mode, "approved": asked, "next": "catalog publish"}, err
	}
}

func publishCatalog(flags *flag.FlagSet) action {
	moded := modeFlag(flags)
	resume := flags.Bool("resume", false,
		"resume after a rollback; the rolled-back changes are published again unless their lists have changed")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		if err = s.confirmPublication(ctx, mode); err != nil {
			return nil, err
		}
		out, err := s.Catalog.Publish(ctx, mode, *resume)
		return publicationShown(out), err
	}
}

// confirmPublication asks whether to publish, and states what the publication would change.
func (s session) confirmPublication(ctx context.Context, mode string) error {
	if s.yes {
		return nil
	}
	next, err := s.Catalog.Preview(ctx, mode)
	if err != nil {
		return err
	}
	d := next.Diff
	return s.confirm("This changes the catalogue that patients search in %s mode at once: %d institutions added, "+
		"%d changed, %d removed; %d endpoints added, %d changed, %d removed.", mode, d.Brands.Added, d.Brands.Changed,
		d.Brands.Removed, d.Endpoints.Added, d.Endpoints.Changed, d.Endpoints.Removed)
}

func rollbackCatalog(flags *flag.FlagSet) action {
	moded := modeFlag(flags)
	version := flags.String("version", "", "`version` to make live, from catalog report")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		report, err := s.Catalog.Report(ctx, mode)
		if err != nil {
			return nil, err
		}
		if err = s.confirm("This replaces version %s of the catalogue that patients search in %s mode by version %s at "+
			"once, and pauses publishing.", report.Pointer.Live, mode, *version); err != nil {
			return nil, err
		}
		out, err := s.Catalog.Rollback(ctx, mode, *version)
		return publicationShown(out), err
	}
}

func publicationShown(out publish.Outcome) map[string]any {
	shown := map[string]any{
		"live": out.Live, "published": out.Published, "diff": out.Diff, "endpoint_rows": out.Rows,
		"pinned": out.Pinned, "composed": out.Composed,
	}
	if out.Paused {
		shown["paused"] = "a rollback pauses publishing; to resume, run catalog publish -resume"
	}
	if out.Question.ID != "" {
		shown["waits_for_approval"] = out.Question
	}
	return hostsShown(shown, out.Composed.Waiting, &operator.HostChoice{}, mostHosts)
}

func searchCatalog(flags *flag.FlagSet) action {
	var states, platforms, zips texts
	moded := modeFlag(flags)
	q := search.Query{}
	flags.StringVar(&q.Text, "text", "", "search text, as a patient would type it (default: all institutions, by name)")
	flags.Var(&states, "state", "state `code`, such as TN; may be repeated")
	flags.Var(&platforms, "platform", "platform `type`; may be repeated")
	flags.Var(&zips, "zip", "`ZIP` code to sort by distance from; may be repeated")
	flags.IntVar(&q.Size, "limit", 10, "maximum number of results, up to 100")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		if q.Size < 1 || q.Size > search.MaxSize {
			return nil, misused("-limit must be from 1 to %d", search.MaxSize)
		}
		q.States, q.Platforms, q.ZIPs, q.ByLocation = states, platforms, zips, len(zips) > 0
		page, err := s.Catalog.Search(ctx, mode, q)
		hits := make([]map[string]any, 0, len(page.Hits))
		for _, h := range page.Hits {
			hits = append(hits, map[string]any{"score": h.Position.Score, "brand": h.Source})
		}
		return map[string]any{"total": page.Total, "hits": hits}, err
	}
}

func showRecord(flags *flag.FlagSet) action {
	moded, id := modeFlag(flags), recordFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		return s.Catalog.Show(ctx, mode, *id)
	}
}

func reportCatalog(flags *flag.FlagSet) action {
	moded := modeFlag(flags)
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		r, err := s.Catalog.Report(ctx, mode)
		if err != nil {
			return nil, err
		}
		sources := make([]map[string]any, 0, len(r.Sources))
		for _, row := range r.Sources {
			sources = append(sources, sourceShown(row))
		}
		said := make([]map[string]string, 0, len(r.Overrides))
		for _, o := range r.Overrides {
			said = append(said, map[string]string{"kind": string(o.Kind), "brand_id": o.ID, "value": o.Value})
		}
		shown := map[string]any{
			"mode": mode, "live": r.Pointer.Live, "kept": r.Pointer.Kept, "sources": sources, "overrides": said,
			"paused": r.Publication.Paused, "state": cmp.Or(string(r.Publication.Phase), "idle"),
		}
		if r.Publication.Waits.ID != "" {
			shown["hosts_wait"] = r.Publication.Waits
		}
		if r.Publication.Question.ID != "" {
			shown["waits_for_approval"], shown["approved"] = r.Publication.Question,
				r.Publication.Approved == r.Publication.Question.ID
		}
		if !r.Pointer.MovedAt.IsZero() {
			shown["live_since"] = r.Pointer.MovedAt
		}
		return shown, nil
	}
}
