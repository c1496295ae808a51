package facilitated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// maxPatient is the maximum size, in bytes, of a Patient resource or of a page of Patient resources.
const maxPatient = 1 << 20

var (
	errNobody  = fmt.Errorf("facilitated: the token opens nobody's record: %w", tefca.ErrRefused)
	errSeveral = fmt.Errorf("facilitated: the token opens more than one record: %w", tefca.ErrRefused)
	errOther   = fmt.Errorf("facilitated: the token opens a record: %w", tefca.ErrOtherPerson)
	errRecord  = fmt.Errorf("facilitated: the Patient cannot be read: %w", tefca.ErrContent)
)

// verifiedPatient returns the ID of the patient whose record a token gives access to. The patient must match the
// requested person (tefca.Person.Is). It rejects a token for several patients or for a different person, so a
// facility's mistake can't disclose another person's record.
func (n *Network) verifiedPatient(ctx context.Context, base string, granted udap.Granted,
	who tefca.Person,
) (id string, err error) {
	server, err := n.portals.Open(base, plan.Profile{},
		func(context.Context) (secret.Text, error) { return granted.Access, nil })
	if err != nil {
		return "", fmt.Errorf("open the FHIR server: %w", err)
	}
	if id = granted.Patient; id == "" {
		id, err = onlyPatient(ctx, server)
	}
	if err == nil {
		err = isPerson(ctx, server, id, who)
	}
	return id, fault.Spot{Step: fault.StepPatient, Host: fault.HostOf(base)}.Failed(err)
}

// onlyPatient finds the patient to whose record a token gives access if the token response names none.
func onlyPatient(ctx context.Context, server source.Server) (id string, err error) {
	page, err := server.Search(ctx, "Patient", nil, maxPatient)
	if err != nil {
		return "", unread(err)
	}
	bundle, err := fhir.ParseBundle(page.Body)
	if err != nil || bundle.Unusable > 0 {
		return "", errRecord
	}
	patients := 0
	for one := range bundle.All() {
		if one.Type == "Patient" {
			id, patients = one.ID, patients+1
		}
	}
	switch {
	case patients > 1 || bundle.Next != "" || bundle.NextLost || bundle.Total > 1:
		return "", errSeveral
	case patients == 0:
		return "", errNobody
	}
	return id, nil
}

// isPerson reads a Patient resource and compares it with the person.
func isPerson(ctx context.Context, server source.Server, id string, who tefca.Person) error {
	answer, err := server.Read(ctx, "Patient", id, maxPatient)
	if err != nil {
		return unread(err)
	}
	var read struct {
		Type      string `json:"resourceType"`
		ID        string `json:"id"`
		BirthDate string `json:"birthDate"`
		Gender    string `json:"gender"`
		Name      []struct {
			Family string   `json:"family"`
			Given  []string `json:"given"`
		} `json:"name"`
	}
	if json.Unmarshal(answer.Body, &read) != nil || read.Type != "Patient" || read.ID != id {
		return errRecord
	}
	for _, one := range read.Name {
		if who.Is(strings.Join(one.Given, " "), one.Family, read.BirthDate, read.Gender) {
			return nil
		}
	}
	return errOther
}

// unread returns the error for a Patient resource that could not be read. It returns tefca.ErrUnavailable for network
// and server errors. For all other errors, it returns errRecord, because the server refused to return the patient named
// in its own token response.
func unread(err error) error {
	failed, ok := errors.AsType[*fhir.RequestError](err)
	switch {
	case !ok:
		return fmt.Errorf("%w: %w", tefca.ErrUnavailable, err)
	case failed.Class == fhir.Network || failed.Status == 0 || failed.Status == 429 || failed.Status >= 500:
		return fmt.Errorf("%w: %w", tefca.ErrUnavailable, failed)
	}
	return fmt.Errorf("%w: %w", errRecord, failed)
}
