package scene

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// EnableWorker enables or disables the event source mapping of a queue's function, which has its logical ID.
func (s *Scene) EnableWorker(ctx context.Context, function string, enabled bool) error {
	const path = "/2015-03-31/event-source-mappings"
	listed, err := s.lambda(ctx, http.MethodGet, path+"?FunctionName=local-"+function+"%3Alive", nil)
	if err != nil {
		return err
	}
	var all struct {
		EventSourceMappings []struct {
			ID string `json:"UUID"`
		}
	}
	if err = json.Unmarshal([]byte(listed), &all); err != nil || len(all.EventSourceMappings) != 1 {
		return fmt.Errorf("mappings of %s: %s", function, listed)
	}
	body := fmt.Appendf(nil, `{"Enabled":%t}`, enabled)
	_, err = s.lambda(ctx, http.MethodPut, path+"/"+all.EventSourceMappings[0].ID, body)
	return err
}

// lambda sends a signed request to Lambda. The SDK's client has 3 MB of source code for these two calls.
func (s *Scene) lambda(ctx context.Context, method, path string, body []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.AWS.EndpointURL+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	credentials, err := s.Config().Credentials.Retrieve(ctx)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), "lambda", s.AWS.Region, time.Now())
	if err != nil {
		return "", err
	}
	status, answer, err := send(r)
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("lambda: %d %s", status, answer)
	}
	return answer, err
}

// SetStatus overwrites the status in a connection's row.
func (s *Scene) SetStatus(ctx context.Context, connection, status string) error {
	_, err := dynamodb.NewFromConfig(s.Config()).UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 aws.String(s.AWS.Outputs["ConnectionTable"]),
		Key:                       s.key("CONN#"+connection, "META"),
		UpdateExpression:          aws.String("SET #status = :status"),
		ConditionExpression:       aws.String("attribute_exists(pk)"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":status": &types.AttributeValueMemberS{Value: status}},
	})
	return err
}

// KeepHistory makes the table Tokens restorable from now on. On AWS, the template does so.
func (s *Scene) KeepHistory(ctx context.Context) error {
	_, err := dynamodb.NewFromConfig(s.Config()).UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String(s.AWS.Outputs["TokensTable"]),
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true),
		},
	})
	return err
}

// LoseTokens deletes a connection's row in the table Tokens.
func (s *Scene) LoseTokens(ctx context.Context, connection string) error {
	_, err := dynamodb.NewFromConfig(s.Config()).DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(s.AWS.Outputs["TokensTable"]), Key: s.key("CONN#"+connection, "TOKENS"),
	})
	return err
}

// key returns the primary key of a row of the scene's organisation.
func (s *Scene) key(partition, sort string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: s.Org.Mode + "#" + s.Org.ID + "#" + partition},
		"sk": &types.AttributeValueMemberS{Value: sort},
	}
}

// RequestCode requests a sign-in code for the dashboard with a new address, because each address may request few codes.
// RequestCode fails if the code isn't sent.
func (s *Scene) RequestCode(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/dashboard/session/codes",
		strings.NewReader(fmt.Sprintf(`{"email":"staff-%s@alder.example"}`, strings.ToLower(rand.Text()))))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	status, body, err := send(r)
	if err == nil && status >= http.StatusMultipleChoices {
		err = fmt.Errorf("sign-in code: %d %s", status, body)
	}
	return err
}

// Release publishes a version of a function whose executable is a script, and makes the version live.
func (s *Scene) Release(ctx context.Context, function, script string) error {
	var archive bytes.Buffer
	files := zip.NewWriter(&archive)
	file, err := files.Create("bootstrap")
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, script)
	if err = errors.Join(err, files.Close()); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"ZipFile": archive.Bytes(), "Publish": true})
	if err != nil {
		return err
	}
	path := "/2015-03-31/functions/local-" + function
	answer, err := s.lambda(ctx, http.MethodPut, path+"/code", body)
	if err != nil {
		return err
	}
	var published struct{ Version string }
	if err = json.Unmarshal([]byte(answer), &published); err != nil {
		return err
	}
	body = fmt.Appendf(nil, `{"FunctionVersion":%q}`, published.Version)
	_, err = s.lambda(ctx, http.MethodPut, path+"/aliases/live", body)
	return err
}
