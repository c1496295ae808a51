package store_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/testkit/expect"
)

// TestOrganisationFromPreviousReleaseKeepsNoticeAddresses checks that notices are still sent to addresses stored by
// releases that didn't record verification.
func TestOrganisationFromPreviousReleaseKeepsNoticeAddresses(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	made := organisationA()
	made.Emails, made.FoundedBy = []string{"ops@alder.example", "new@alder.example"}, "ac"
	expect.NoError(t, s.organisations.CreateOrganisation(t.Context(), made))
	for _, of := range made.Tenants() {
		if got, err := s.organisations.Organisation(t.Context(), of); err != nil || len(got.VerifiedEmails) != 0 ||
			got.FoundedBy != "ac" {
			t.Errorf("without a verified address: %+v (%v)", got, err)
		}
		_, err := s.db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &s.control.Table, UpdateExpression: aws.String("REMOVE verified_emails"),
			ConditionExpression: aws.String("attribute_exists(pk)"),
			Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: of.Key()},
				"sk": &types.AttributeValueMemberS{Value: "META"},
			},
		})
		expect.NoError(t, err)
		got, err := s.organisations.Organisation(t.Context(), of)
		if err != nil || !slices.Equal(got.VerifiedEmails, made.Emails) {
			t.Errorf("without the attribute: %q (%v)", got.VerifiedEmails, err)
		}
	}
}
