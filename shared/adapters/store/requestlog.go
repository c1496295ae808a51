package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/words/org"
)

// RequestLog stores API requests and sign-in attempts. A row is also listed by request ID, connection and external ID.
// Rows are written without a condition, because each has its own key and is never changed.
type RequestLog struct {
	DB    DB
	Table string
}

// PutRequest implements requestlog.Writer.
func (s RequestLog) PutRequest(ctx context.Context, r requestlog.Request) error {
	row := loggedItem(requestsPartition(r.Tenant), r.Cursor(), r.At, requestlog.List{
		RequestID: r.ID, External: r.External, ConnectionID: r.ConnectionID,
	})
	row.setText("method", r.Method)
	row.setText("route", r.Route)
	row.setInt("http_status", int64(r.Status))
	row.setText("error_code", r.Error)
	row.setText("credential_id", r.CredentialID)
	row.setInt("latency_ms", r.Latency.Milliseconds())
	row.setText("task_id", r.TaskID)
	return s.put(ctx, row)
}

// PutSignIn implements requestlog.Writer.
func (s RequestLog) PutSignIn(ctx context.Context, a requestlog.SignIn) error {
	row := loggedItem(signInsPartition(a.Tenant), a.Cursor(), a.At, requestlog.List{
		RequestID: a.RequestID, External: a.External, ConnectionID: a.ConnectionID,
	})
	row.setText("attempt_id", a.AttemptID)
	row.setText("attempt_kind", string(a.Kind))
	row.setText("outcome", string(a.Outcome))
	row.setText("cause", a.Cause)
	row.setText("brand_id", a.BrandID)
	row.setText("portal_id", a.PortalID)
	row.setText("endpoint_id", a.EndpointID)
	row.setText("directory_id", a.DirectoryID)
	row.setInt("duration_ms", a.Duration.Milliseconds())
	return s.put(ctx, row)
}

// Requests implements requestlog.Reader.
func (s RequestLog) Requests(ctx context.Context, tenant org.Tenant, in requestlog.List, between requestlog.Span,
	limit int,
) ([]requestlog.Request, bool, error) {
	rows, more, err := s.rows(ctx, requestsPartition(tenant), in, between, limit)
	requests := make([]requestlog.Request, len(rows))
	for i, row := range rows {
		requests[i] = requestlog.Request{
			Tenant: tenant, ID: row.text("request_id"), At: row.time("at"), Method: row.text("method"),
			Route: row.text("route"), Status: int(row.int("http_status")), Error: row.text("error_code"),
			CredentialID: row.text("credential_id"), Latency: time.Duration(row.int("latency_ms")) * time.Millisecond,
			ConnectionID: row.text("connection_id"), TaskID: row.text("task_id"), External: row.mark("external"),
		}
	}
	return requests, more, err
}

// SignIns implements requestlog.Reader.
func (s RequestLog) SignIns(ctx context.Context, tenant org.Tenant, in requestlog.List, between requestlog.Span,
	limit int,
) ([]requestlog.SignIn, bool, error) {
	rows, more, err := s.rows(ctx, signInsPartition(tenant), in, between, limit)
	attempts := make([]requestlog.SignIn, len(rows))
	for i, row := range rows {
		attempts[i] = requestlog.SignIn{
			Tenant: tenant, AttemptID: row.text("attempt_id"), At: row.time("at"),
			Kind: requestlog.Kind(row.text("attempt_kind")), Outcome: requestlog.Outcome(row.text("outcome")),
			Cause: row.text("cause"), RequestID: row.text("request_id"), BrandID: row.text("brand_id"),
			PortalID: row.text("portal_id"), EndpointID: row.text("endpoint_id"), DirectoryID: row.text("directory_id"),
			Duration:     time.Duration(row.int("duration_ms")) * time.Millisecond,
			ConnectionID: row.text("connection_id"), External: row.mark("external"),
		}
	}
	return attempts, more, err
}

func (s RequestLog) put(ctx context.Context, row item) error {
	if _, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row}); err != nil {
		return fmt.Errorf("log request: %w", err)
	}
	return nil
}

// rows reads part of a list, newest first. The indexes are eventually consistent.
func (s RequestLog) rows(ctx context.Context, partition string, in requestlog.List, between requestlog.Span,
	limit int,
) ([]item, bool, error) {
	if between.From >= between.Before {
		return nil, false, nil // BETWEEN requires the lower bound first
	}
	query := &dynamodb.QueryInput{
		TableName: &s.Table, ScanIndexForward: aws.Bool(false),
		//nolint:gosec // G115: limits are small. One for the row at the cursor, one tells whether there are more.
		Limit:                  aws.Int32(int32(limit) + 2),
		KeyConditionExpression: aws.String("pk = :list AND sk BETWEEN :from AND :before"),
		ExpressionAttributeValues: item{
			":list": text(partition), ":from": text(between.From), ":before": text(between.Before),
		},
	}
	index, attribute, list := "", "", ""
	switch {
	case in.RequestID != "":
		index, attribute, list = "byRequest", "request_list", requestIDList(partition, in.RequestID)
	case len(in.External.Sum) > 0:
		index, attribute, list = "byExternal", "external_list", loggedExternalList(partition, in.External)
	case in.ConnectionID != "":
		index, attribute, list = "byConnection", "connection_list", loggedConnectionList(partition, in.ConnectionID)
	}
	if index != "" {
		query.IndexName = &index
		query.KeyConditionExpression = aws.String(attribute + " = :list AND sk BETWEEN :from AND :before")
		query.ExpressionAttributeValues[":list"] = text(list)
	}
	out, err := s.DB.Query(ctx, query)
	if err != nil {
		return nil, false, fmt.Errorf("query the request log: %w", err)
	}
	rows := make([]item, 0, len(out.Items))
	for _, row := range out.Items {
		if item(row).text("sk") < between.Before {
			rows = append(rows, row)
		}
	}
	return rows[:min(limit, len(rows))], len(rows) > limit || len(rows) > 0 && len(out.LastEvaluatedKey) > 0, nil
}

// loggedItem returns a row of the request log with the attributes by which the row is found.
func loggedItem(partition, cursor string, at time.Time, by requestlog.List) item {
	row := newItem(key{partition, cursor})
	row.setTime("at", at)
	row.setInt("ttl", at.Add(requestlog.Kept).Unix())
	row.setText("request_id", by.RequestID)
	row.setText("connection_id", by.ConnectionID)
	row.setMark("external", by.External)
	if by.RequestID != "" {
		row.setText("request_list", requestIDList(partition, by.RequestID))
	}
	if by.ConnectionID != "" {
		row.setText("connection_list", loggedConnectionList(partition, by.ConnectionID))
	}
	if len(by.External.Sum) > 0 {
		row.setText("external_list", loggedExternalList(partition, by.External))
	}
	return row
}
