// Command clients calls the API with the client of oapi-codegen.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/google/uuid"

	"recordbridge/ci/clients/api"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	withKey := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Getenv("PUBLIC_ID"), os.Getenv("PRIVATE_KEY"))
		return nil
	}
	client, err := api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithRequestEditorFn(withKey))
	if err != nil {
		return err
	}
	id, err := uuid.Parse(os.Getenv("CONNECTION_ID"))
	if err != nil {
		return err
	}
	response, err := client.GetConnectionWithResponse(ctx, id)
	if err != nil {
		return err
	}
	if response.JSON200 == nil {
		return fmt.Errorf("no connection: %s", response.Status())
	}
	value, err := response.JSON200.Data.ValueByDiscriminator()
	if err != nil {
		return err
	}
	switch connection := value.(type) {
	case api.PortalConnection:
		fmt.Println(connection.CatalogBrandId)
	case api.TefcaNetworkConnection:
		fmt.Println(connection.TefcaDirectoryId)
	}
	return nil
}
