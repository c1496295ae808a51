package main_test

import (
	"errors"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"recordbridge/infra/judge/corpus"
	"recordbridge/infra/judge/replay"
	"recordbridge/infra/local/aws"
)

// TestOursPassesEveryScript plays the corpus against the embedded AWS, under virtual time.
func TestOursPassesEveryScript(t *testing.T) {
	t.Parallel()
	scripts, err := corpus.Load(os.DirFS("scripts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		t.Run(script.ID, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cloud, err := aws.New(aws.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var runs atomic.Int64
				party := replay.Party{
					Name: "ours", URL: "http://127.0.0.1:4566", AccessKey: "judge", SecretKey: "local", Client: cloud,
					NewID: func() string { return "j" + strconv.FormatInt(runs.Add(1), 10) + "test" },
				}
				err = replay.Play(t.Context(), party, script)
				if difference, ok := errors.AsType[*replay.DifferenceError](err); ok {
					t.Errorf("ours differs: %v", difference)
				} else if err != nil {
					t.Error(err)
				}
			})
		})
	}
}
