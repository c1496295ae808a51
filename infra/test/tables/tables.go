// Package tables creates template.yaml's tables in a new embedded AWS for tests. Only tests import this package.
package tables

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/provision"
	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
)

// Tables holds the names of the tables and the embedded AWS that contains them.
type Tables struct {
	Cloud  *aws.Cloud
	Config awssdk.Config
	DB     *dynamodb.Client

	names map[string]string // table names by logical ID
}

// New creates empty tables. Every request to the tables passes through middleware, listed outermost first.
func New(tb testing.TB, middleware ...wire.Middleware) Tables {
	tb.Helper()
	declared := Template(tb)
	cloud, err := aws.New(aws.Options{Middleware: middleware})
	expect.NoError(tb, err)
	cfg := cloud.Config("test")
	made := Tables{Cloud: cloud, Config: cfg, DB: dynamodb.NewFromConfig(cfg), names: map[string]string{}}
	expect.NoError(tb, provision.Tables(tb.Context(), made.DB, declared.Tables))
	for _, table := range declared.Tables {
		made.names[table.LogicalID] = table.Name
	}
	return made
}

// Name returns the name of the table with the given logical ID in the template, such as WorkTable.
func (t Tables) Name(logicalID string) string { return t.names[logicalID] }

// Names returns all table names by logical ID.
func (t Tables) Names() map[string]string { return t.names }

// Key creates a KMS key and returns a KMS client and the key's ID.
func (t Tables) Key(tb testing.TB) (*awskms.Client, string) {
	tb.Helper()
	client := awskms.NewFromConfig(t.Config)
	created, err := client.CreateKey(tb.Context(), &awskms.CreateKeyInput{})
	expect.NoError(tb, err)
	return client, *created.KeyMetadata.KeyId
}

// Template returns template.yaml with the sandbox enabled. The caller must not modify the template.
func Template(tb testing.TB) *template.Template {
	tb.Helper()
	declared, err := loaded()
	expect.NoError(tb, err)
	return declared
}

//nolint:gochecknoglobals // parsed once for all tests of a package
var loaded = sync.OnceValues(func() (*template.Template, error) {
	path, err := find("template.yaml")
	if err != nil {
		return nil, err
	}
	return template.Load(path, template.Options{
		Parameters: map[string]string{"EnableSandbox": "true"}, BaseURL: "http://127.0.0.1:4566", StackName: "test",
	})
})

// find returns the path of a file in the test's folder or one of its ancestors.
func find(name string) (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(folder, name)
		if _, err = os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		if folder == filepath.Dir(folder) {
			return "", err
		}
		folder = filepath.Dir(folder)
	}
}
