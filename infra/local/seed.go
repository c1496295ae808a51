package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	shipped "recordbridge/infra/catalog"
	"recordbridge/infra/ctl/wiring"
	"recordbridge/infra/local/runfile"
	"recordbridge/infra/local/seed"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/words/ids"
)

// seeded returns a description of the sample objects in the stack. If an earlier process created the objects in the
// same data directory, seeded reads that process's record, because keys are revealed only once. In a new directory,
// seeded creates the objects.
func seeded(ctx context.Context, s *stack, o options, progress io.Writer) (runfile.Run, error) {
	kept := filepath.Join(o.data, "run.json")
	run, err := earlier(o.data, kept)
	switch {
	case err != nil:
		return runfile.Run{}, err
	case run.BaseURL == "":
		if o.catalog == shipped.US {
			fmt.Fprintln(progress, "Publishing about 38,000 synthetic institutions, which takes about 15 seconds")
		}
		if run, err = s.plant(ctx, o.catalog); err != nil {
			return runfile.Run{}, err
		}
	case run.BaseURL != s.run.BaseURL || run.InboxURL != s.run.InboxURL:
		return runfile.Run{}, fmt.Errorf("the data in %s was created for %s: start with the same -addr, or with an "+
			"empty folder",
			o.data, run.BaseURL)
	}
	for _, organisation := range run.Organisations {
		if organisation.WebhookURL != "" {
			s.inbox.Expect(path.Base(organisation.WebhookURL), organisation.WebhookSecret)
		}
	}
	if o.data == "" {
		return run, nil
	}
	return run, runfile.Write(kept, run)
}

// earlier reads the record of sample objects that a previous process saved in the data directory. If there is no
// record, earlier returns the zero Run.
func earlier(data, kept string) (runfile.Run, error) {
	if data == "" {
		return runfile.Run{}, nil
	}
	text, err := os.ReadFile(kept) //nolint:gosec // in the folder that the person named
	if errors.Is(err, fs.ErrNotExist) {
		return runfile.Run{}, nil
	}
	if err != nil {
		return runfile.Run{}, fmt.Errorf("read the seeded data: %w", err)
	}
	var run runfile.Run
	if err := json.Unmarshal(text, &run); err != nil {
		return runfile.Run{}, fmt.Errorf("%s is damaged: %w; start with an empty -data folder", kept, err)
	}
	return run, nil
}

func (s *stack) plant(ctx context.Context, institutions shipped.Choice) (runfile.Run, error) {
	o, err := wiring.Open(ctx, s.cloud.Config(operatorCaller), s.template.Outputs,
		wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "runner"})
	if err != nil {
		return runfile.Run{}, err
	}
	dataDir := ""
	for _, f := range s.template.Functions {
		if folder := f.Environment["SANDBOX_DATA_DIR"]; folder != "" {
			dataDir = folder
		}
	}
	run, err := seed.Apply(ctx, o, seed.Options{
		BaseURL: s.run.BaseURL, ConsoleURL: s.run.ConsoleURL, ReturnURL: s.customer + returnPath,
		InboxURL: s.run.InboxURL, DataDir: dataDir, Catalog: institutions,
	})
	if err != nil {
		return run, err
	}
	cloud, outputs := s.cloud.Config(operatorCaller), s.template.Outputs
	service := wiring.Members(cloud, outputs,
		wiring.Options{Now: time.Now, NewID: ids.Random, Random: rand.Reader, Actor: "runner"})
	run.Owner = seed.OwnerEmail
	return run, seed.Owner(ctx, service, store.Accounts{DB: store.NewClient(cloud), Table: outputs["ControlTable"]},
		run.Organisations[0].ID)
}
