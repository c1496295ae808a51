package operator

import (
	"context"
	"errors"
	"fmt"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Catalog publishes and searches the catalogue. CatalogSources changes the catalogue's sources; CatalogOverrides
// changes operators' overrides of them.
type Catalog struct {
	rows      CatalogRows
	publisher publish.Publisher
	by        Journal
}

// CatalogRows stores publications of the catalogue.
type CatalogRows interface {
	publish.Ledger
	// Sources returns the sources of all modes.
	Sources(ctx context.Context) ([]intake.Row, error)
}

// NewCatalog returns a Catalog with the given dependencies.
func NewCatalog(rows CatalogRows, publisher publish.Publisher, by Journal) Catalog {
	return Catalog{rows: rows, publisher: publisher, by: by}
}

// Preview returns the changes that a publication would make. It returns fault.Invalid for an unknown mode.
func (o Catalog) Preview(ctx context.Context, mode string) (publish.Outcome, error) {
	if err := checkMode(mode); err != nil {
		return publish.Outcome{}, err
	}
	return o.publisher.Preview(ctx, mode)
}

// Publish publishes the accepted content. If resume is set, Publish publishes even if a rollback has paused publishing.
// The error is fault.Invalid or fault.Conflict.
func (o Catalog) Publish(ctx context.Context, mode string, resume bool) (publish.Outcome, error) {
	if err := checkMode(mode); err != nil {
		return publish.Outcome{}, err
	}
	if resume {
		err := o.note(ctx, mode, "catalog.resumed", func(p *ledger.Publication) error {
			if !p.Paused {
				return refused("Publishing is not paused.")
			}
			p.Paused = false
			return nil
		})
		if err != nil {
			return publish.Outcome{}, err
		}
	}
	out, err := o.publisher.Publish(ctx, mode)
	if err != nil {
		return out, busy(err)
	}
	if !out.Published {
		return out, nil
	}
	return out, o.by.record(ctx, org.Tenant{}, "catalog.published", mode+" "+string(out.Live))
}

// Approve approves the change that blocks publishing in a mode, without publishing it. The error is fault.Invalid,
// fault.NotFound if no question blocks publishing, or fault.Conflict.
func (o Catalog) Approve(ctx context.Context, mode string) (ledger.Question, error) {
	if err := checkMode(mode); err != nil {
		return ledger.Question{}, err
	}
	var asked ledger.Question
	return asked, o.note(ctx, mode, "catalog.approved", func(p *ledger.Publication) error {
		if asked = p.Question; asked.ID == "" {
			return fault.Missing("This mode has nothing waiting for approval. To find sources that do, run catalog " +
				"report.").About("mode")
		}
		p.Approved = asked.ID
		return nil
	})
}

// Rollback makes an earlier version live and pauses publishing. The error is fault.Invalid, fault.NotFound if the
// version is no longer stored, or fault.Conflict.
func (o Catalog) Rollback(ctx context.Context, mode, version string) (publish.Outcome, error) {
	if err := checkMode(mode); err != nil {
		return publish.Outcome{}, err
	}
	to, ok := ledger.ParseVersion(version)
	if !ok {
		return publish.Outcome{}, fault.BadRequest(
			"Unknown version. To list the versions, run catalog report.").About("version")
	}
	out, err := o.publisher.Rollback(ctx, mode, to)
	if err != nil {
		return out, busy(err)
	}
	return out, o.by.record(ctx, org.Tenant{}, "catalog.rolled_back", mode+" "+version)
}

// CatalogReport holds the catalogue's status for one mode.
type CatalogReport struct {
	Pointer     ledger.Pointer
	Publication ledger.Publication
	Sources     []intake.Row
	Overrides   []ledger.Override
}

// Report returns the catalogue's status for one mode. It returns fault.Invalid for an unknown mode.
func (o Catalog) Report(ctx context.Context, mode string) (CatalogReport, error) {
	if err := checkMode(mode); err != nil {
		return CatalogReport{}, err
	}
	var r CatalogReport
	var errs [4]error
	r.Pointer, errs[0] = o.rows.Pointer(ctx, mode)
	r.Publication, errs[1] = o.rows.Publication(ctx, mode)
	r.Sources, errs[2] = sourcesOf(ctx, o.rows, mode)
	r.Overrides, errs[3] = o.rows.Overrides(ctx, mode)
	return r, errors.Join(errs[:]...)
}

// Search returns the same institutions that patients find. The error is fault.Invalid, or fault.NotFound before the
// first publication.
func (o Catalog) Search(ctx context.Context, mode string, q search.Query) (search.Page, error) {
	live, err := o.live(ctx, mode)
	if err != nil {
		return search.Page{}, err
	}
	index, err := o.publisher.Snapshots.Index(ctx, mode, live)
	if err != nil {
		return search.Page{}, err
	}
	return index.Search(q)
}

// CatalogRecord holds a brand, a portal or an endpoint, under its current ID.
type CatalogRecord struct {
	Brand    *record.Brand    `json:"brand,omitempty"`
	Portal   *record.Portal   `json:"portal,omitempty"`
	Endpoint *record.Endpoint `json:"endpoint,omitempty"`
	FHIRBase string           `json:"fhir_base,omitempty"` // set only if the record is an endpoint
}

// Show returns a record by its own ID or by the ID of a record that was merged into it. The error is fault.Invalid or
// fault.NotFound.
func (o Catalog) Show(ctx context.Context, mode, id string) (CatalogRecord, error) {
	parsed, ok := ids.ParseUUID(id)
	if !ok {
		return CatalogRecord{}, fault.BadRequest("A record's ID must be a UUID.").About("id")
	}
	all, err := o.published(ctx, mode)
	if err != nil {
		return CatalogRecord{}, err
	}
	parsed = all.Resolve(parsed)
	if b, known := all.Brands[parsed]; known {
		return CatalogRecord{Brand: &b}, nil
	}
	if p, known := all.Portals[parsed]; known {
		return CatalogRecord{Portal: &p}, nil
	}
	if e, known := all.Endpoints[parsed]; known {
		return CatalogRecord{Endpoint: &e, FHIRBase: e.FHIRBase}, nil
	}
	return CatalogRecord{}, fault.Missing(fmt.Sprintf("Record %s is not in the %s catalogue.", id, mode)).About("id")
}

// published returns the catalogue that patients see. It returns fault.NotFound before the first publication.
func (o Catalog) published(ctx context.Context, mode string) (record.Catalog, error) {
	live, err := o.live(ctx, mode)
	if err != nil {
		return record.Catalog{}, err
	}
	return o.publisher.Snapshots.Catalog(ctx, mode, live)
}

// live returns the version of the catalogue that patients see. It returns fault.NotFound before the first publication.
func (o Catalog) live(ctx context.Context, mode string) (ledger.Version, error) {
	if err := checkMode(mode); err != nil {
		return "", err
	}
	p, err := o.rows.Pointer(ctx, mode)
	if err != nil {
		return "", fmt.Errorf("read pointer: %w", err)
	}
	if p.Live == "" {
		return "", fault.Missing(fmt.Sprintf("Nothing has been published in %s mode yet: run catalog import, then "+
			"catalog publish.", mode)).About("mode")
	}
	return p.Live, nil
}

// note changes and stores the publishing status of a mode, and records the action in the audit log.
func (o Catalog) note(ctx context.Context, mode, action string, change func(*ledger.Publication) error) error {
	p, err := o.rows.Publication(ctx, mode)
	if err != nil {
		return fmt.Errorf("read publication: %w", err)
	}
	if err := change(&p); err != nil {
		return err
	}
	if _, err := o.rows.SavePublication(ctx, p); err != nil {
		return changed("publication", err)
	}
	return o.by.record(ctx, org.Tenant{}, action, mode+" "+p.Question.ID)
}

// busy replaces a conflict with an error stating that another publication is in progress.
func busy(err error) error {
	if errors.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict, fault.CodeUnavailable,
			"Another publication is running. Run catalog report in a moment, then try again.").Because(err)
	}
	return err
}

func checkMode(mode string) error {
	if _, ok := org.ParseMode(mode); !ok {
		return fault.BadRequest("The mode must be test or live.").About("mode")
	}
	return nil
}
