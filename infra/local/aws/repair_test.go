package aws_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws"
)

// worked makes a directory with a session in it and returns it with the lines of its journal.
func worked(t *testing.T) (dir string, lines []string) {
	t.Helper()
	dir = t.TempDir()
	cloud := newCloud(t, aws.Options{Dir: dir})
	if _, err := newSession(t.Context(), cloud.Config("test")); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, slices.Collect(strings.Lines(string(content)))
}

// line is a line of a journal that is whole, whatever it says.
func line(number int, service, record string) string {
	summed := fmt.Sprintf(`{"seq":%d,"service":%q,"record":%s`, number, service, record)
	return fmt.Sprintf(`%s,"crc32":"%08x"}`, summed, crc32.ChecksumIEEE([]byte(summed))) + "\n"
}

func TestADamagedJournalIsRefusedAndCanBeRepaired(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		damage     func(lines []string) []string
		kept, lost int // lost is counted from the 51 lines of a session
		want       string
	}{
		"a missing line": {func(l []string) []string { return slices.Delete(l, 20, 21) }, 19, 30, "line 21 (byte"},
		"a changed byte": {func(l []string) []string { l[20] = strings.Replace(l[20], "record", "recorD", 1); return l }, 19, 31, "line 21 (byte"},
		"a line twice":   {func(l []string) []string { return slices.Insert(l, 20, l[19]) }, 19, 32, "line 21 (byte"},
		"another format": {func(l []string) []string { l[0] = strings.Replace(l[0], "2", "9", 1); return l }, 0, 51, "written in format 9"},
		"no header":      {func(l []string) []string { return l[1:] }, 0, 50, "the header is missing"},
		"not a journal":  {func([]string) []string { return []string{"<html>\n"} }, 0, 1, "line 1 (byte 0)"},
		"a foreign service": {
			func(l []string) []string { return append(l[:3], line(3, "lambda", "{}")) }, 2, 1, `line 4 (byte`,
		},
		"a record that its service cannot use": {
			func(l []string) []string { return append(l[:3], line(3, "sqs", `{"kind":"purge","queue":"nowhere"}`)) }, 2, 1, `no queue "nowhere"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, lines := worked(t)
			states := statesOf(t, []byte(strings.Join(lines, "")))
			damaged := strings.Join(test.damage(lines), "")
			path := filepath.Join(dir, "journal.ndjson")
			if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := aws.New(aws.Options{Dir: dir})
			for _, want := range []string{path, test.want, fmt.Sprintf("-data-repair to keep the %d records", test.kept)} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want an error with %q", err, want)
				}
			}
			got, err := aws.Repair(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kept != test.kept || got.Lost != test.lost {
				t.Errorf("kept %d and lost %d, want %d and %d", got.Kept, got.Lost, test.kept, test.lost)
			}
			if moved, err := os.ReadFile(got.DamagedFile); err != nil || string(moved) != damaged {
				t.Errorf("the damaged file is not kept as it was: %v", err)
			}
			if diff := cmp.Diff(states[test.kept], state(t, newCloud(t, aws.Options{Dir: dir}))); diff != "" {
				t.Errorf("after the repair (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectsWithoutTheirFilesAreRefusedAndCanBeDropped(t *testing.T) {
	t.Parallel()
	dir, lines := worked(t)
	bodyOf := func(text string) string {
		t.Helper()
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) })
		_, rest, _ := strings.Cut(lines[at], `"blob":"`)
		body, _, _ := strings.Cut(rest, `"`)
		return filepath.Join(dir, "s3", body+".object")
	}
	whole, half := bodyOf(`"upload_completed","bucket":"exports","keys":["whole"]`), ""
	for _, line := range lines { // the last part belongs to the upload in progress
		if _, rest, found := strings.Cut(line, `"part":{"blob":"`); found {
			half = filepath.Join(dir, "s3", strings.SplitN(rest, `"`, 2)[0]+".object")
		}
	}
	for _, lost := range []string{whole, half} {
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
	}
	number := slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, strings.TrimSuffix(filepath.Base(half), ".object"))
	})
	_, err := aws.New(aws.Options{Dir: dir})
	for _, want := range []string{
		half, "exports/half", fmt.Sprintf("line %d (byte %d)", number+1, len(strings.Join(lines[:number], ""))), "2 files", "-data-repair",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}

	got, err := aws.Repair(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"exports/half", "exports/whole"}, got.Objects); diff != "" || got.Lost != 0 || got.DamagedFile != "" {
		t.Errorf("got %+v, want two objects and no record (-want +got):\n%s", got, diff)
	}
	cloud := newCloud(t, aws.Options{Dir: dir})
	for _, p := range probes() {
		if err = p.check(t.Context(), cloud.Config("test")); err != nil {
			t.Errorf("%s: %v", p.service, err)
		}
	}
	out, err := s3.NewFromConfig(cloud.Config("test")).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: awssdk.String("exports")})
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 0, len(out.Contents))
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	if diff := cmp.Diff([]string{"a b/../ü.ndjson", "kept"}, keys); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestRepairLeavesAWholeDirectoryAlone(t *testing.T) {
	t.Parallel()
	dir, lines := worked(t)
	got, err := aws.Repair(dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Kept != len(lines)-1 || got.Lost != 0 || got.DamagedFile != "" || len(got.Objects) != 0 || string(content) != strings.Join(lines, "") {
		t.Errorf("got %+v, want %d records kept and nothing changed", got, len(lines)-1)
	}
}
