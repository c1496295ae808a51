package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/words/org"
)

// Organisations stores organisations and lists them for operators.
type Organisations Control

// Callers stores organisations' credentials and each key's last-used time.
type Callers Control

// Directory stores organisations and their credentials.
type Directory struct {
	Organisations
	Callers
}

// NewDirectory returns a Directory that uses the Control table.
func NewDirectory(control Control) Directory {
	return Directory{Organisations: Organisations(control), Callers: Callers(control)}
}

// TenantOf implements org.Store.
func (s Callers) TenantOf(ctx context.Context, credentialID string) (org.Tenant, error) {
	row, err := get(ctx, s.DB, s.Table, publicIDKey(credentialID))
	if err != nil {
		return org.Tenant{}, err
	}
	return org.Tenant{Mode: org.Mode(row.text("mode")), OrgID: row.text("org_id")}, nil
}

// Credential implements org.Store.
func (s Callers) Credential(ctx context.Context, tenant org.Tenant, id string) (org.Credential, error) {
	row, err := get(ctx, s.DB, s.Table, credentialKey(tenant, id))
	if err != nil {
		return org.Credential{}, err
	}
	return credentialOf(tenant, id, row)
}

// Credentials lists a tenant's credentials.
func (s Callers) Credentials(ctx context.Context, tenant org.Tenant) ([]org.Credential, error) {
	rows, err := list(ctx, s.DB, s.Table, tenant.Key(), credentialPrefix)
	if err != nil {
		return nil, err
	}
	all := make([]org.Credential, 0, len(rows))
	for _, row := range rows {
		c, err := credentialOf(tenant, strings.TrimPrefix(row.text("sk"), credentialPrefix), row)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func credentialOf(tenant org.Tenant, id string, row item) (org.Credential, error) {
	c := org.Credential{
		ID: id, Tenant: tenant, Note: row.text("note"), RevokedAt: row.time("revoked_at"), CreatedAt: row.time("created_at"),
		Rev: row.int("rev"),
	}
	if err := row.json("keys", &c.Keys); err != nil {
		return org.Credential{}, err
	}
	if err := row.json("redirect_uris", &c.RedirectURIs); err != nil {
		return org.Credential{}, err
	}
	return c, row.json("allowed_origins", &c.AllowedOrigins)
}

// Organisation implements org.Store.
func (s Organisations) Organisation(ctx context.Context, tenant org.Tenant) (org.Organisation, error) {
	row, err := get(ctx, s.DB, s.Table, organisationKey(tenant))
	if err != nil {
		return org.Organisation{}, err
	}
	o := org.Organisation{
		ID: tenant.OrgID, Name: row.text("name"), LogoURI: row.text("logo_uri"),
		PrivacyPolicyURI: row.text("privacy_policy_uri"), WebsiteURI: row.text("website_uri"),
		TermsURI: row.text("terms_uri"), Accent: row.text("accent"),
		Plan: org.Plan(row.text("plan")), Status: org.Status(row.text("status")),
		// Rows written before live access required approval lack the live_access attribute. Organisations whose row
		// predates approval retain live access.
		LiveAccess: cmp.Or(org.LiveAccess(row.text("live_access")), org.LiveGranted),
		FoundedBy:  row.text("founded_by"),
		CreatedAt:  row.time("created_at"), Rev: row.int("rev"),
	}
	if err := row.json("emails", &o.Emails); err != nil {
		return org.Organisation{}, err
	}
	// Addresses stored before verification was introduced have always received notices.
	if row.text("verified_emails") == "" {
		o.VerifiedEmails = o.Emails
	}
	return o, errors.Join(row.json("look", &o.Look), row.json("purpose", &o.Purpose),
		row.json("live_review", &o.LiveReview), row.json("verified_emails", &o.VerifiedEmails))
}

// CreateOrganisation stores an organisation in both modes and adds it to the directory. It returns fault.Conflict if
// the organisation already exists.
func (s Organisations) CreateOrganisation(ctx context.Context, o org.Organisation) error {
	writes := make([]types.TransactWriteItem, 0, 4)
	for _, tenant := range o.Tenants() {
		row, err := organisationItem(tenant, o)
		if err != nil {
			return err
		}
		row.setInt("rev", 1)
		writes = append(writes, putNew(s.Table, row), putNew(s.Table, newItem(directoryKey(tenant))))
	}
	return transact(ctx, s.DB, writes...)
}

// SaveOrganisation replaces revision o.Rev of an organisation, whose settings are the same in both modes. It returns
// fault.Conflict if the stored revision differs.
func (s Organisations) SaveOrganisation(ctx context.Context, o org.Organisation) error {
	writes := make([]types.TransactWriteItem, 0, 2)
	for _, tenant := range o.Tenants() {
		row, err := organisationItem(tenant, o)
		if err != nil {
			return err
		}
		writes = append(writes, putOver(s.Table, row, o.Rev))
	}
	return transact(ctx, s.DB, writes...)
}

// RemoveOrganisation removes revision o.Rev of an organisation from both modes and from the directory. It returns
// fault.Conflict if the stored revision differs.
func (s Organisations) RemoveOrganisation(ctx context.Context, o org.Organisation) error {
	writes := make([]types.TransactWriteItem, 0, 4)
	for _, tenant := range o.Tenants() {
		writes = append(writes, removal(s.Table, organisationKey(tenant), o.Rev), unlist(s.Table, directoryKey(tenant)))
	}
	return transact(ctx, s.DB, writes...)
}

func organisationItem(tenant org.Tenant, o org.Organisation) (item, error) {
	row := newItem(organisationKey(tenant))
	row.setText("name", o.Name)
	row.setText("logo_uri", o.LogoURI)
	row.setText("privacy_policy_uri", o.PrivacyPolicyURI)
	row.setText("website_uri", o.WebsiteURI)
	row.setText("terms_uri", o.TermsURI)
	row.setText("accent", o.Accent)
	row.setText("plan", string(o.Plan))
	row.setText("status", string(o.Status))
	// A missing live_access attribute would be interpreted as granted.
	row.setText("live_access", string(cmp.Or(o.LiveAccess, org.LiveNone)))
	row.setText("founded_by", o.FoundedBy)
	row.setTime("created_at", o.CreatedAt)
	return row, errors.Join(row.setJSON("look", o.Look), row.setJSON("purpose", o.Purpose),
		row.setJSON("live_review", o.LiveReview), row.setJSON("emails", o.Emails),
		row.setJSON("verified_emails", o.VerifiedEmails))
}

// Tenants lists, for operators, both tenants of every organisation.
func (s Organisations) Tenants(ctx context.Context) ([]org.Tenant, error) {
	rows, err := list(ctx, s.DB, s.Table, directoryPartition, "")
	if err != nil {
		return nil, err
	}
	tenants := make([]org.Tenant, 0, len(rows))
	for _, row := range rows {
		if tenant, ok := parseTenant(row.text("sk")); ok {
			tenants = append(tenants, tenant)
		}
	}
	return tenants, nil
}

// CreateCredential stores a credential and its lookup row (keyed by public ID) in one transaction.
func (s Callers) CreateCredential(ctx context.Context, c org.Credential) error {
	row, err := credentialItem(c)
	if err != nil {
		return err
	}
	row.setInt("rev", 1)
	pointer := newItem(publicIDKey(c.ID))
	pointer.setText("mode", string(c.Tenant.Mode))
	pointer.setText("org_id", c.Tenant.OrgID)
	return transact(ctx, s.DB, putNew(s.Table, row), putNew(s.Table, pointer))
}

// SaveCredential stores a changed credential. It returns fault.Conflict if the stored credential has changed since it
// was read.
func (s Callers) SaveCredential(ctx context.Context, c org.Credential) error {
	row, err := credentialItem(c)
	if err != nil {
		return err
	}
	return replace(ctx, s.DB, s.Table, row, c.Rev)
}

// RemoveCredential removes revision c.Rev of a credential and its lookup row, which is keyed by public ID. It returns
// fault.Conflict if the stored revision differs.
func (s Callers) RemoveCredential(ctx context.Context, c org.Credential) error {
	return transact(ctx, s.DB, removal(s.Table, credentialKey(c.Tenant, c.ID), c.Rev), unlist(s.Table, publicIDKey(c.ID)))
}

func credentialItem(c org.Credential) (item, error) {
	row := newItem(credentialKey(c.Tenant, c.ID))
	row.setText("note", c.Note)
	row.setTime("revoked_at", c.RevokedAt)
	row.setTime("created_at", c.CreatedAt)
	if err := row.setJSON("keys", c.Keys); err != nil {
		return nil, err
	}
	if err := row.setJSON("redirect_uris", c.RedirectURIs); err != nil {
		return nil, err
	}
	return row, row.setJSON("allowed_origins", c.AllowedOrigins)
}

// list returns a partition's rows whose sort keys begin with prefix. The reads are strongly consistent.
func list(ctx context.Context, db DB, table, partition, prefix string) ([]item, error) {
	in := &dynamodb.QueryInput{
		TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(partition)},
	}
	if prefix != "" {
		in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :prefix)")
		in.ExpressionAttributeValues[":prefix"] = text(prefix)
	}
	return queryAll(ctx, db, in)
}

func queryAll(ctx context.Context, db DB, in *dynamodb.QueryInput) ([]item, error) {
	var rows []item
	for {
		out, err := db.Query(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		for _, row := range out.Items {
			rows = append(rows, row)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return rows, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
