package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// FileNames are the names of the configuration file that [Find] looks for in
// each directory.
var FileNames = []string{"sitelink.toml", ".sitelink.toml", ".config/sitelink.toml"}

// maxFileBytes limits the size of a configuration file. The TOML decoder
// compares every key of a table with those before it: 1 MiB of keys took 35 s,
// 128 KiB take half a second.
const maxFileBytes = 128 << 10

// Find looks for the configuration file in dir, "" for the working directory,
// and the directories above it. It stops at the first file, at the root of the
// repository (the first directory that contains .git) or at the root of the
// file system. It returns a name relative to dir, or "" if there is no file.
//
// Two files in one directory are an error: whichever one won, a user would
// edit the other.
func Find(dir string) (string, error) {
	// The walk uses "..", not the text of the directory, so that it agrees with
	// the system if that directory is a symbolic link.
	for up := "."; ; up = filepath.Join(up, "..") {
		var found []string
		for _, name := range FileNames {
			file := filepath.Join(up, filepath.FromSlash(name))
			if _, err := os.Stat(in(dir, file)); err == nil {
				found = append(found, file)
			} else if _, err := os.Lstat(in(dir, file)); err == nil { // a broken symbolic link
				found = append(found, file)
			}
		}
		switch {
		case len(found) > 1:
			return "", &Error{Name: found[1], Line: 1, Msg: fmt.Sprintf("there is also a %s in this directory", found[0]), Hint: "keep one of the two files"}
		case len(found) == 1:
			return found[0], nil
		case isTop(in(dir, up)):
			return "", nil
		}
	}
}

// in returns the name of a file, relative to dir, for this process. It keeps
// "..", see [Find].
func in(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) {
		return name
	}
	return dir + string(filepath.Separator) + name
}

// isTop reports whether the search ends at dir.
func isTop(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	here, err := os.Stat(dir)
	if err != nil {
		return true
	}
	up, err := os.Stat(filepath.Join(dir, ".."))
	return err != nil || os.SameFile(here, up)
}

// file finds and reads the configuration file, if there is one.
func (l *loader) file() error {
	name := l.input.File
	if name == "" {
		var err error
		if name, err = Find(l.input.Dir); name == "" {
			return err
		}
		l.cfg.Found = true
		if path, where := system.Outside(l.repositoryRoot(name), in(l.input.Dir, name)); where != "" {
			return text.Usage(fmt.Sprintf("read config %s: it leads to %s, %s", name, path, where), "--config "+name+" reads it")
		}
	}
	data, err := system.Read(in(l.input.Dir, name), maxFileBytes)
	if err != nil {
		return fmt.Errorf("read config %s: %w", name, err)
	}
	l.cfg.File = name
	l.toml(name, projectDir(name), data)
	return nil
}

// repositoryRoot returns the root of the repository that contains a
// configuration file, or the directory of the project if none does.
func (l *loader) repositoryRoot(file string) string {
	project, err := filepath.Abs(in(l.input.Dir, projectDir(file)))
	if err != nil {
		return in(l.input.Dir, projectDir(file))
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return project
		}
	}
}

// trust says what a configuration may set that --config does not name: it comes with a
// checkout, which may be hostile. It is a found configuration below.
type trust uint8

const (
	// inside: a path that must stay in the repository and out of its directory of git.
	inside trust = iota + 1
	// named: nothing; only a configuration that is named sets the key. See
	// [Config.Withheld].
	named
	// limited: what the code that uses the key accepts, by [Config.Named].
	limited
	// free: anything. The value names no file, program or address that sitelink uses, or
	// one that pages of the checkout could name as well.
	free
)

// foundKeys is the one list of what a found configuration may set. It has
// every key that holds text; numbers, times, switches and fixed words are free.
var foundKeys = map[string]trust{
	"docroot": inside, "generator": free, "base-url": free, "profile": free, "index": free, "map": free, "page-extensions": free,
	"check.from": free, "check.skip": free, "check.format": inside, "check.output": inside, "check.baseline": inside,
	"check.baseline-ref": free, "check.baseline-docroot": inside, "check.since": limited, "check.log": inside,
	"ignore.url": free, "ignore.page": free, "ignore.fragment": free, "ignore.code": free, "ignore.reason": free,
	"script-fragments.page": free, "script-fragments.fragment": free, "redirect.from": free, "redirect.to": free, "site.root": free, "site.base": free,
	// A build runs what the project names anyway.
	"hook.build": free, "hook.branches": free,
	"templates.pingback": free, "templates.webmention": free, "templates.pages": free, "templates.exclude": free,
	"outgoing.ledger": limited, "outgoing.pages": free, "outgoing.exclude": free, "outgoing.allow": free, "outgoing.deny": free,
	"outgoing.content": free, "outgoing.rel": free, "outgoing.link-peers": free, "outgoing.contact": free,
	"incoming.listen": free, "incoming.docroots": limited, "incoming.store": limited, "incoming.allow-address": named, "incoming.trusted-proxies": free,
	"incoming.operations": free, "incoming.closed": free, "incoming.rules": inside, "incoming.moderation": free,
	// They receive what the receiver holds, and the secrets of the environment.
	"incoming.mail-server": named, "incoming.mail-from": named, "incoming.mail-to": named, "incoming.mail-user": named, "incoming.webhook": named,
	"fetch.allow-address": limited, "external.status-cache": limited, "external.archive-api": free, "external.skip": free,
	"external.host.host": free, "external.host.accept": free, "external.host.missing": free, "external.host.blocked": free,
	// The pages of the checkout choose what is asked for, and its host would get the secret.
	"external.host.header": named,
}

// path is the name of the key in [foundKeys].
func (k Key) path() string { return strings.TrimPrefix(k.Table+"."+k.Name, ".") }

// Withheld returns an error if a found configuration sets keys of a table that need a
// named one. They have their defaults then. A command that uses such keys calls it.
func (c *Config) Withheld(table string) error {
	for _, w := range c.withheld {
		if w.table == table {
			where := "[" + table + "]"
			if strings.Contains(table, ".") { // a list
				where = "[" + where + "]"
			}
			return text.Usage(fmt.Sprintf("%s: %s in %s is not used, because --config does not name the configuration", w.place, w.name, where),
				"name the file with --config "+c.File)
		}
	}
	return nil
}

// withheldKey is a key that a found configuration may not set.
type withheldKey struct{ table, name, place string }

// confine refuses paths of a found file that lead out of the repository, or into
// its directory of git.
func (l *loader) confine() {
	if !l.cfg.Found {
		return
	}
	root := l.repositoryRoot(l.cfg.File)
	for _, key := range slices.Sorted(maps.Keys(l.paths)) {
		p := l.paths[key]
		var names []string
		if p.key.Kind == Reports {
			for _, f := range l.cfg.Formats {
				names = append(names, f.File)
			}
		} else {
			names = []string{p.field.String()}
		}
		for _, name := range names {
			if name == "" || name == "-" || name == "/dev/stdout" || name == "/dev/stderr" {
				continue
			}
			path, where := system.Outside(root, in(l.input.Dir, name))
			if where == "" { // the file that locks it
				path, where = system.Outside(root, in(l.input.Dir, name)+".lock")
			}
			if where == "" {
				continue
			}
			e := *p.at
			e.Msg = fmt.Sprintf("%s: %s is %s", p.key.Name, path, where)
			e.Hint = "name the file with --config: a sitelink.toml of the checkout is not trusted with it"
			if p.key.HasFlag {
				e.Hint = fmt.Sprintf("name it with --%s or in a file given with --config: a sitelink.toml of the checkout is not trusted with it", p.key.Name)
			}
			l.fail(&e)
		}
	}
}

// confinedPath is a key with a path that has its value from the file.
type confinedPath struct {
	key   Key
	field reflect.Value
	at    *Error
}

// projectDir is the directory that paths in the file are relative to.
func projectDir(file string) string {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == ".config" {
		dir = filepath.Dir(dir)
	}
	return dir
}
