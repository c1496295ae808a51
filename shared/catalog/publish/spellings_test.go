package publish_test

import (
	"context"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/listing"
	"recordbridge/shared/catalog/record"
)

type given []listing.Listing

func (g given) Lists(context.Context, string) ([]compose.List, error) {
	return []compose.List{{Source: "s", Listings: g}}, nil
}

func TestPublishRejectsServiceURLVariants(t *testing.T) {
	t.Parallel()
	const honest, kept = "https://b\u00fccher.example/", "https://xn--bcher-kva.example/"
	var lists given
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1"),
		spelling.Of("127.0.0.1", "4566", "/v1"),
	} {
		for _, text := range all {
			lists = append(lists, listing.Listing{
				Key: text, Website: text, LogoURI: text, LogoLicense: text,
				Portals: []listing.Portal{{Website: text, LogoURI: text}, {Website: honest, LogoURI: honest}},
			})
		}
	}
	p := newWorld(t).publisher()
	p.Lists = lists
	composed := 0
	p.Compose = func(in compose.Input) (record.Catalog, compose.Report) {
		for _, l := range in.Lists[0].Listings {
			composed++
			first, second := l.Portals[0], l.Portals[1]
			if l.Website+l.LogoURI+l.LogoLicense+first.Website+first.LogoURI != "" || second.Website != kept ||
				second.LogoURI != kept {
				t.Errorf("composed of %+v", l)
			}
		}
		return record.Catalog{}, compose.Report{}
	}
	_, err := p.Preview(t.Context(), "test")
	expect.NoError(t, err)
	if composed != 2*spelling.Count || lists[0].Website == "" {
		t.Errorf("composed %d listings; the accepted list itself has %q", composed, lists[0].Website)
	}
}
