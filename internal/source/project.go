package source

import (
	"errors"
	"io/fs"

	"github.com/sitelink/sitelink/internal/generator"
)

// Generator is the program that made the pages, see [generator.Find].
type Generator = generator.Name

// Those that are treated differently from others.
const (
	None  = generator.None
	Hugo  = generator.Hugo
	Plain = generator.Plain
)

func isMarkdown(name string) bool { return generator.IsMarkdown(name) }

// cause strips the operation and path off an error: the message has them.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
