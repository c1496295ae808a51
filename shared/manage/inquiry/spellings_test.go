package inquiry_test

import (
	"errors"
	"testing"

	"recordbridge/infra/testkit/spelling"
	"recordbridge/shared/manage/inquiry"
	"recordbridge/shared/words/fault"
)

func TestAskHealthSystemRejectsServiceURLVariants(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, all := range [][]string{
		spelling.Of("api.recordbridge.example", "", "/v1"),
		spelling.Of("127.0.0.1", "4566", "/v1"),
	} {
		for _, text := range all {
			err := o.recorder.AskHealthSystem(t.Context(), inquiry.From{Tenant: alder, Email: "juniper.vale@mailbox.example"},
				inquiry.HealthSystem{Name: "Cedar Hospital", Website: text})
			if !errors.Is(err, fault.Invalid) || fault.Of(err).Field != "website" {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}
