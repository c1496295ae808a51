package audit_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/audit"
)

type item = map[string]types.AttributeValue

func key(sort string) item {
	return item{"pk": &types.AttributeValueMemberS{Value: "ORG#" + orgID}, "sk": &types.AttributeValueMemberS{Value: sort}}
}

func rowAt(seq int) string { return fmt.Sprintf("ROW#%012d", seq) }

// read and put access the table directly, as an attacker with write access would.
func (b fixture) read(t *testing.T, sort string) item {
	t.Helper()
	out, err := b.made.DB.GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: aws.String(b.made.Name("AuditTable")), Key: key(sort)})
	expect.NoError(t, err)
	return out.Item
}

func (b fixture) put(t *testing.T, sort string, row item) {
	t.Helper()
	row["sk"] = key(sort)["sk"]
	_, err := b.made.DB.PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String(b.made.Name("AuditTable")), Item: row})
	expect.NoError(t, err)
}

func (b fixture) remove(t *testing.T, sort string) {
	t.Helper()
	_, err := b.made.DB.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String(b.made.Name("AuditTable")), Key: key(sort)})
	expect.NoError(t, err)
}

func textOf(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// forge replaces row seq with a forged row that has a matching hash and follows a row with the hash prev.
func (b fixture) forge(t *testing.T, seq int, prev string) (hash string) {
	t.Helper()
	scratch := newFixture(t, 0)
	rows := store.Audit{DB: scratch.made.DB, Table: scratch.made.Name("AuditTable")}
	_ = rows.Extend(t.Context(), audit.Head{}, audit.Row{Seq: int64(seq) - 1, Hash: prev, Tenant: tenant})
	expect.NoError(t, scratch.log.Append(t.Context(), audit.Row{
		At: noon, ID: "forged", Tenant: tenant, Actor: "operator", Action: "nothing.happened", Target: "x",
	}))
	row := scratch.read(t, rowAt(seq))
	b.put(t, rowAt(seq), row)
	return row["hash"].(*types.AttributeValueMemberS).Value
}

func TestVerifyAcceptsIntactChain(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 7, 100, 205} {
		b := newFixture(t, rows)
		report, err := b.log.Verify(t.Context(), orgID)
		expect.NoError(t, err)
		if !report.IsIntact() || report.Rows != int64(rows) || report.Head.Seq != int64(rows) {
			t.Errorf("of %d rows: %+v", rows, report)
		}
	}
}

func TestVerifyDetectsTampering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper func(t *testing.T, b fixture)
		want   []audit.Break
	}{
		"a row is gone": {
			func(t *testing.T, b fixture) { t.Helper(); b.remove(t, rowAt(3)) },
			[]audit.Break{{Seq: 3, What: audit.Missing}},
		},
		"the first is gone": {
			func(t *testing.T, b fixture) { t.Helper(); b.remove(t, rowAt(1)) }, []audit.Break{{Seq: 1, What: audit.Missing}},
		},
		"a row says something else": {func(t *testing.T, b fixture) {
			t.Helper()
			row := b.read(t, rowAt(3))
			row["actor"] = textOf("somebody")
			b.put(t, rowAt(3), row)
		}, []audit.Break{{Seq: 3, What: audit.Changed}}},
		"a row is of another time": {func(t *testing.T, b fixture) {
			t.Helper()
			row := b.read(t, rowAt(3))
			row["at"] = textOf("2026-03-31T23:59:59.000001Z")
			b.put(t, rowAt(3), row)
		}, []audit.Break{{Seq: 3, What: audit.Changed}}},
		"a row says something else, with its hash": {
			func(t *testing.T, b fixture) {
				t.Helper()
				b.forge(t, 3, b.read(t, rowAt(2))["hash"].(*types.AttributeValueMemberS).Value)
			},
			[]audit.Break{{Seq: 4, What: audit.Unlinked}},
		},
		"two are exchanged": {func(t *testing.T, b fixture) {
			t.Helper()
			third, fourth := b.read(t, rowAt(3)), b.read(t, rowAt(4))
			b.put(t, rowAt(3), fourth)
			b.put(t, rowAt(4), third)
		}, []audit.Break{
			{Seq: 3, What: audit.Unlinked},
			{Seq: 3, What: audit.Changed},
			{Seq: 4, What: audit.Unlinked},
			{Seq: 4, What: audit.Changed},
			{Seq: 5, What: audit.Unlinked},
		}},
		"the end is cut off": {func(t *testing.T, b fixture) {
			t.Helper()
			b.remove(t, rowAt(5))
			b.remove(t, rowAt(4))
		}, []audit.Break{{Seq: 4, What: audit.CutOff}}},
		"a row is put behind the end": {
			func(t *testing.T, b fixture) {
				t.Helper()
				b.forge(t, 6, b.read(t, rowAt(5))["hash"].(*types.AttributeValueMemberS).Value)
			},
			[]audit.Break{{Seq: 6, What: audit.Added}},
		},
		"the last is exchanged, with its hash": {
			func(t *testing.T, b fixture) {
				t.Helper()
				b.forge(t, 5, b.read(t, rowAt(4))["hash"].(*types.AttributeValueMemberS).Value)
			},
			[]audit.Break{{Seq: 5, What: audit.Rewritten}},
		},
		"the head is gone": {
			func(t *testing.T, b fixture) { t.Helper(); b.remove(t, "HEAD") },
			[]audit.Break{{Seq: 1, What: audit.Added}},
		},
		"all is gone but the head": {func(t *testing.T, b fixture) {
			t.Helper()
			for seq := range 5 {
				b.remove(t, rowAt(seq+1))
			}
		}, []audit.Break{{Seq: 1, What: audit.CutOff}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, 5)
			c.tamper(t, b)
			if diff := cmp.Diff(c.want, b.verify(t)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			var file bytes.Buffer
			_, err := b.log.Export(t.Context(), orgID, &file)
			expect.NoError(t, err)
			if name == "a row is gone" || name == "a row says something else" || name == "two are exchanged" {
				report, err := audit.VerifyExport(&file)
				expect.NoError(t, err)
				if diff := cmp.Diff(c.want, report.Breaks); diff != "" {
					t.Errorf("found in the export (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestVerifyDetectsReplacedChainFromKnownHead checks that a head stored elsewhere reveals a chain whose rows and head
// were all rewritten.
func TestVerifyDetectsReplacedChainFromKnownHead(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 5)
	report, err := b.log.Verify(t.Context(), orgID)
	expect.NoError(t, err)
	kept := report.Head
	hash := b.forge(t, 5, b.read(t, rowAt(4))["hash"].(*types.AttributeValueMemberS).Value)
	head := b.read(t, "HEAD")
	head["hash"] = textOf(hash)
	b.put(t, "HEAD", head)
	b.add(t, tenant, 6)
	if found := b.verify(t); len(found) > 0 {
		t.Errorf("the chain alone: %v", found)
	}
	if diff := cmp.Diff([]audit.Break{{Seq: 5, What: audit.Rewritten}}, b.verify(t, kept)); diff != "" {
		t.Errorf("with the head that was kept (-want +got):\n%s", diff)
	}
	later := audit.Head{Seq: 9, Hash: "0"}
	if diff := cmp.Diff([]audit.Break{{Seq: 7, What: audit.CutOff}}, b.verify(t, later)); diff != "" {
		t.Errorf("with a later head (-want +got):\n%s", diff)
	}
}

func TestVerifyExportNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 101)
	var file bytes.Buffer
	head, err := b.log.Export(t.Context(), orgID, &file)
	expect.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(file.String(), "\n"), "\n")
	if len(lines) != 102 || head.Seq != 101 || lines[101] != fmt.Sprintf(`{"head":{"seq":101,"hash":"%s"}}`, head.Hash) {
		t.Errorf("%d lines, the last is %s", len(lines), lines[len(lines)-1])
	}
	check := func(lines []string, known ...audit.Head) ([]audit.Break, error) {
		report, err := audit.VerifyExport(strings.NewReader(strings.Join(lines, "\n")), known...)
		return report.Breaks, err
	}
	without := func(n int) []string { return slices.Delete(slices.Clone(lines), n, n+1) }
	swapped := slices.Clone(lines)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	doubled := slices.Insert(slices.Clone(lines), 3, lines[2])
	for name, c := range map[string]struct {
		lines []string
		known []audit.Head
		want  []audit.Break
	}{
		"as it was written": {lines, []audit.Head{head}, []audit.Break{}},
		"without a row":     {without(1), nil, []audit.Break{{Seq: 2, What: audit.Missing}}},
		"without the last":  {without(100), nil, []audit.Break{{Seq: 101, What: audit.CutOff}}},
		"in another order":  {swapped, nil, []audit.Break{{Seq: 2, What: audit.Missing}, {Seq: 2, What: audit.Misplaced}}},
		"with a row twice":  {doubled, nil, []audit.Break{{Seq: 3, What: audit.Misplaced}}},
		"shorter than a head that was kept": {
			lines, []audit.Head{{Seq: 120, Hash: "1"}}, []audit.Break{{Seq: 102, What: audit.CutOff}},
		},
	} {
		got, err := check(c.lines, c.known...)
		expect.NoError(t, err)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, bad := range map[string][]string{
		"cut off": lines[:101], "something behind the head": append(slices.Clone(lines), lines[0]),
		"no row": {"{", lines[101]}, "nothing": nil,
	} {
		if _, err := check(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
