// Command journey exports a record from a running service with the SDK: connection, export, download against the
// manifest.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/google/uuid"

	recordbridge "recordbridge/infra/sdk/go"
	"recordbridge/infra/sdk/go/api"
)

const pollInterval = 200 * time.Millisecond

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := recordbridge.New(recordbridge.Options{
		BaseURL: os.Getenv("BASE_URL"), PublicID: os.Getenv("PUBLIC_ID"), PrivateKey: os.Getenv("PRIVATE_KEY"),
	})
	if err != nil {
		return err
	}
	id, err := uuid.Parse(os.Getenv("CONNECTION_ID"))
	if err != nil {
		return err
	}
	found, err := client.GetConnection(ctx, id)
	if err != nil {
		return err
	}
	connection, err := found.AsPortalConnection()
	if err != nil {
		return err
	}
	task, err := client.CreateExport(ctx, api.CreateExportRequest{OrgConnectionId: id})
	if err != nil {
		return err
	}
	for task.Status == api.TaskStatusPending {
		time.Sleep(pollInterval)
		result, err := client.GetExport(ctx, task.TaskId)
		if err != nil {
			return err
		}
		task.Status = result.Status
	}
	if err := read(ctx, client, task.TaskId); err != nil {
		return err
	}
	fmt.Println(connection.CatalogBrandId)
	return nil
}

// read verifies the manifest of an export, and downloads the first file.
func read(ctx context.Context, client *recordbridge.Client, taskID string) error {
	manifest, err := client.Manifest(ctx, taskID)
	if err != nil {
		return err
	}
	files, err := client.VerifiedFiles(ctx, taskID)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("the export has no files")
	}
	resources := 0
	for _, err := range client.Resources(ctx, files[0], nil) {
		if err != nil {
			return err
		}
		resources++
	}
	if manifest.Counts["Patient"] != 1 || resources == 0 {
		return fmt.Errorf("%d resources, %v", resources, manifest.Counts)
	}
	return nil
}
