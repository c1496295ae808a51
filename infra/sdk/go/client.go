// Package recordbridge is the server SDK of Recordbridge. Use it only in a backend, because it holds the private key.
package recordbridge

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/sdk/go/api"
)

// Defaults of Options.
const (
	defaultAttempts = 5
	responseTimeout = 30 * time.Second
)

// Options configures a client.
type Options struct {
	// BaseURL is the API's base URL, such as https://api.example.com/v1.
	BaseURL    string
	PublicID   string
	PrivateKey string
	// Attempts is the number of times that a request is sent at most. The default is 5.
	Attempts int
	// HTTPClient sends the requests. The default waits up to 30 s for a response to start.
	HTTPClient *http.Client
	// Pause waits between attempts. Tests replace it.
	Pause func(context.Context, time.Duration) error
}

// Client is a client of the backend's API. Its methods return an *Error if the API rejects a request. It can be used by
// several goroutines.
type Client struct {
	api     *api.ClientWithResponses
	baseURL string
	// links downloads files and keys, without the key pair.
	links *retrying
}

// New returns a client.
func New(options Options) (*Client, error) {
	repeated := &retrying{client: options.HTTPClient, attempts: options.Attempts, pause: options.Pause}
	if repeated.client == nil {
		repeated.client = defaultClient()
	}
	if repeated.attempts == 0 {
		repeated.attempts = defaultAttempts
	}
	if repeated.pause == nil {
		repeated.pause = wait
	}
	withKey := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(options.PublicID, options.PrivateKey)
		return nil
	}
	generated, err := api.NewClientWithResponses(
		options.BaseURL, api.WithHTTPClient(repeated), api.WithRequestEditorFn(withKey))
	if err != nil {
		return nil, err
	}
	return &Client{api: generated, baseURL: strings.TrimRight(options.BaseURL, "/"), links: repeated}, nil
}

// defaultClient returns a client that doesn't wait forever for a stalled server. A download has no total time limit.
func defaultClient() *http.Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program replaced it
		return http.DefaultClient
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = responseTimeout
	return &http.Client{Transport: transport}
}

// GetConnection returns a connection. Its ValueByDiscriminator is an api.PortalConnection or an
// api.TefcaNetworkConnection.
func (c *Client) GetConnection(ctx context.Context, id uuid.UUID) (api.Connection, error) {
	response, err := c.api.GetConnectionWithResponse(ctx, id)
	if err != nil {
		return api.Connection{}, err
	}
	if response.JSON200 == nil {
		return api.Connection{}, refusal(response.StatusCode(), response.Body)
	}
	return response.JSON200.Data, nil
}

// Disconnect revokes a connection and deletes its exports' files.
func (c *Client) Disconnect(ctx context.Context, id uuid.UUID) (api.Connection, error) {
	response, err := c.api.DeleteConnectionWithResponse(ctx, id)
	if err != nil {
		return api.Connection{}, err
	}
	if response.JSON200 == nil {
		return api.Connection{}, refusal(response.StatusCode(), response.Body)
	}
	return response.JSON200.Data, nil
}

// CreateExport requests an export. A pending export of the connection is returned again.
func (c *Client) CreateExport(ctx context.Context, request api.CreateExportRequest) (api.Task, error) {
	response, err := c.api.CreateExportWithResponse(ctx, request)
	if err != nil {
		return api.Task{}, err
	}
	if response.JSON200 == nil {
		return api.Task{}, refusal(response.StatusCode(), response.Body)
	}
	return response.JSON200.Data, nil
}

// GetExport returns an export's status and, once it has ended, its result.
func (c *Client) GetExport(ctx context.Context, taskID string) (api.TaskWithResult, error) {
	include := api.GetExportParamsIncludeResult
	response, err := c.api.GetExportWithResponse(ctx, taskID, &api.GetExportParams{Include: &include})
	if err != nil {
		return api.TaskWithResult{}, err
	}
	if response.JSON200 == nil {
		return api.TaskWithResult{}, refusal(response.StatusCode(), response.Body)
	}
	return response.JSON200.Data, nil
}

// DeleteFiles deletes an export's files.
func (c *Client) DeleteFiles(ctx context.Context, taskID string) error {
	response, err := c.api.DeleteExportFilesWithResponse(ctx, taskID)
	if err != nil {
		return err
	}
	if response.JSON200 == nil {
		return refusal(response.StatusCode(), response.Body)
	}
	return nil
}

// Files returns the files of a successful export, with their digests.
func (c *Client) Files(ctx context.Context, taskID string) ([]File, error) {
	result, err := c.GetExport(ctx, taskID)
	if err != nil {
		return nil, err
	}
	return filesOf(result), nil
}

func filesOf(result api.TaskWithResult) []File {
	if result.DownloadLinks == nil {
		return nil
	}
	summaries := map[string]api.FileSummary{}
	if result.Files != nil {
		for _, one := range *result.Files {
			summaries[string(one.ExportType)] = one
		}
	}
	var files []File
	for _, link := range *result.DownloadLinks {
		one := summaries[string(link.ExportType)]
		files = append(files, File{
			URL: link.Url, ExportType: string(link.ExportType), Name: one.FileName, SHA256: one.Sha256,
			Bytes: int64(one.Bytes),
		})
	}
	return files
}
