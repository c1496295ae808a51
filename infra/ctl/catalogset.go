package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
)

// overrideBrand applies the given overrides of an institution, one after the other.
func overrideBrand(flags *flag.FlagSet) action {
	moded, id := modeFlag(flags), recordFlag(flags)
	var name mayBeEmpty
	flags.Var(&name, "name", "`name` that patients see; '' for the name from the institution's lists")
	alias := flags.String("alias", "", "alternative `name` to add")
	former := flags.String("remove-alias", "", "alternative `name` to remove")
	_ = flags.Bool("hide", false, "hide the institution from search")
	_ = flags.Bool("unhide", false, "show a hidden institution in search again")
	into := flags.String("merge-into", "", "`id` of the institution to keep")
	_ = flags.Bool("unmerge", false, "undo the merge")
	return func(ctx context.Context, s session) (any, error) {
		mode, err := moded(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := exclusive(flags, [2]string{"hide", "unhide"}, [2]string{"merge-into", "unmerge"},
			[2]string{"alias", "remove-alias"}); err != nil {
			return nil, err
		}
		set, of := map[string]string{}, s.CatalogOverrides
		var done []string
		for _, one := range []struct {
			flag, field, value string
			do                 func() error
		}{
			{"name", "name", name.String(), func() error { return of.Rename(ctx, mode, *id, name.String()) }},
			{"alias", "alias", *alias, func() error { return of.AddAlias(ctx, mode, *id, *alias) }},
			{"remove-alias", "alias_removed", *former, func() error { return of.RemoveAlias(ctx, mode, *id, *former) }},
			{"hide", "hidden", "true", func() error { return of.Hide(ctx, mode, *id) }},
			{"unhide", "hidden", "false", func() error { return of.Unhide(ctx, mode, *id) }},
			{"merge-into", "merged_into", *into, func() error { return of.Merge(ctx, mode, *id, *into) }},
			{"unmerge", "merged_into", "", func() error { return of.Unmerge(ctx, mode, *id) }},
		} {
			if !given(flags, one.flag) {
				continue
			}
			if err := one.do(); err != nil && len(done) > 0 {
				return nil, fmt.Errorf("-%s (saved: %s): %w", one.flag, strings.Join(done, ", "), err)
			} else if err != nil {
				return nil, err
			}
			done, set[one.field] = append(done, "-"+one.flag), one.value
		}
		if len(done) == 0 {
			return nil, misused("nothing to change: set -name, -alias, -remove-alias, -hide, -unhide, -merge-into or -unmerge")
		}
		return map[string]any{"mode": mode, "brand_id": *id, "said": set, "next": "catalog publish"}, nil
	}
}
