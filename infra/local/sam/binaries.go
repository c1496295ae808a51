package sam

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"

	"recordbridge/infra/local/template"
)

var errWrongBinary = errors.New("is not a program for containers here")

// CheckBinaries looks whether every function has a binary that a container can run: of one for another architecture,
// the CLI says no more than that the function timed out. The error says what to do.
func (p Place) CheckBinaries(functions []template.Function) error {
	machine := elf.EM_X86_64
	if p.Architecture == "arm64" {
		machine = elf.EM_AARCH64
	}
	for _, f := range functions {
		file := filepath.Join(p.folder(f), "bootstrap")
		program, err := elf.Open(file)
		if err != nil {
			return fmt.Errorf("%s: %w; leave out -no-build, or -bin", file, err)
		}
		found := program.Machine
		if err = program.Close(); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if found != machine {
			return fmt.Errorf("%s %w: it is for %v, and they run linux/%s; leave out -no-build, or -bin", file, errWrongBinary,
				found, p.Architecture)
		}
	}
	return nil
}
