package move

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/project"
)

// Copy is a copy of a project, in which other packages try a change.
type Copy struct {
	// Project is the copy.
	Project *project.Project

	shadow *shadow
}

// OpenCopy copies the project of p. Close removes the copy.
func OpenCopy(ctx context.Context, p *project.Project) (*Copy, error) {
	s, err := openShadow(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Copy{s.project, s}, nil
}

// Close removes the copy.
func (c *Copy) Close() {
	os.RemoveAll(c.docroot())
	os.Remove(filepath.Dir(c.docroot())) // in node_modules, which is not a copy, if nothing else is there
	c.shadow.Close()
}

func (c *Copy) docroot() string { return filepath.Join(c.Project.Generator.StateDir(), "tried") }

// Build runs the generator in the copy, and returns the project with what it built as
// its docroot. The project must have a generator.
func (c *Copy) Build(ctx context.Context) (*project.Project, error) {
	if err := c.shadow.generate(ctx, c.Project.Generator, c.docroot()); err != nil {
		return nil, err
	}
	return c.Project.WithDocroot(ctx, c.Project.Show(c.docroot()))
}
