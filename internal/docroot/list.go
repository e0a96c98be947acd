package docroot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// listing is what one directory holds, sorted by name.
type listing struct {
	text  []byte
	names []listedName
	// mode is the directory's own, if known.
	mode  fs.FileMode
	known bool
	err   error // what ended the listing
}

// listedName is a name in listing.text.
type listedName struct {
	key  uint64 // the first eight bytes: most comparisons need no more
	off  uint32
	size uint16
	kind Kind // KindBroken for any symbolic link
}

func (l *listing) add(name []byte, kind Kind) {
	var first [8]byte
	copy(first[:], name)
	l.names = append(l.names, listedName{binary.BigEndian.Uint64(first[:]), uint32(len(l.text)), uint16(len(name)), kind})
	l.text = append(l.text, name...)
}

func (l *listing) name(n *listedName) []byte { return l.text[n.off : n.off+uint32(n.size)] }

func (l *listing) sort() {
	slices.SortFunc(l.names, func(a, b listedName) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return bytes.Compare(l.name(&a), l.name(&b))
	})
}

// listPortable is [lister.list] by the standard library, on any platform.
func listPortable(real, path string) *listing {
	l := &listing{}
	name := filepath.Join(real, filepath.FromSlash(path))
	f, err := os.Open(name)
	if err != nil {
		l.err = err
		if info, err := os.Lstat(name); err == nil {
			l.mode, l.known = info.Mode(), true
		}
		return l
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		l.mode, l.known = info.Mode(), true
	}
	entries, err := f.ReadDir(-1)
	l.err = err
	for _, e := range entries {
		l.add([]byte(e.Name()), KindOfMode(e.Type()))
	}
	l.sort()
	return l
}

// kindOf tells what a name stands for; of a symbolic link it is not known yet.
func KindOfMode(m fs.FileMode) Kind {
	switch {
	case m.IsDir():
		return KindDir
	case m&fs.ModeSymlink != 0:
		return KindBroken
	case m.IsRegular():
		return KindFile
	case m&fs.ModeSocket != 0:
		return KindSocket
	case m&fs.ModeNamedPipe != 0:
		return KindPipe
	}
	return KindDevice
}
