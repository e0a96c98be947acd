package receive

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/system"
)

// webmentiondColumns are the columns of the table webmentions that are read. Older
// databases lack the last ones.
var webmentiondColumns = []string{"id", "source", "target", "created_at", "status", "title", "verified_at", "content", "author_name"}

// Webmentiond reads the mentions of webmentiond from its SQLite file, which it does not
// change. Approved mentions are approved, verified ones are held, rejected ones are
// denied, and new ones are verified here. Those that webmentiond found invalid are left
// out. The list ends with an error if the file is not such a database or ctx is done.
func Webmentiond(ctx context.Context, file string) iter.Seq2[ImportItem, error] {
	return func(yield func(ImportItem, error) bool) {
		if err := readWebmentiond(ctx, file, func(item ImportItem) bool { return yield(item, nil) }); err != nil {
			yield(ImportItem{}, fmt.Errorf("read webmentiond's database %s: %w", file, err))
		}
	}
}

func readWebmentiond(ctx context.Context, file string, yield func(ImportItem) bool) error {
	if info, err := os.Stat(file); err != nil { // SQLite would make the file
		return system.Cause(err)
	} else if !info.Mode().IsRegular() {
		return fmt.Errorf("it is not a file")
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	escaped := "/" + strings.TrimPrefix((&url.URL{Path: filepath.ToSlash(absolute)}).EscapedPath(), "/") // also for a drive letter
	db, err := sql.Open("sqlite", "file://"+escaped+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	has, err := columnsOf(ctx, db)
	if err != nil {
		return err
	}
	var fields []string
	for i, name := range webmentiondColumns {
		switch {
		case slices.Contains(has, name):
			fields = append(fields, "coalesce(cast("+name+" as text), '')")
		case i < 5:
			return fmt.Errorf("it has no table webmentions with a column %s", name)
		default:
			fields = append(fields, "''")
		}
	}
	rows, err := db.QueryContext(ctx, "select "+strings.Join(fields, ", ")+" from webmentions order by created_at, id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, created, status, verified, content string
		m := incoming.Mention{Protocol: incoming.Webmention}
		if err := rows.Scan(&id, &m.Source, &m.Target, &created, &status, &m.Title, &verified, &content, &m.Author.Name); err != nil {
			return err
		}
		m.Excerpt, m.Received, m.Verified = textOf(content), sqliteTime(created), sqliteTime(verified)
		if !yield(webmentiondItem(id, status, m)) {
			return nil
		}
	}
	return rows.Err()
}

func columnsOf(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, "select name from pragma_table_info('webmentions')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func webmentiondItem(id, status string, m incoming.Mention) ImportItem {
	item := ImportItem{Where: "webmention " + verify.Clean(id, 60)}
	switch status {
	case "approved":
		m.State = incoming.Approved
	case "verified":
		m.State = incoming.Held
	case "rejected":
		m.State = incoming.Refused
	case "new":
		m.State, m.Due = incoming.Queued, m.Received
		if m.Due.IsZero() {
			m.Due = time.Unix(0, 0).UTC()
		}
	case "invalid":
		item.Skip = "webmentiond found no link"
	default:
		item.Skip = fmt.Sprintf("its status %q is not known", verify.Clean(status, 40))
	}
	item.Mention = m
	return item
}

// sqliteTime parses a time as Go programs store it in SQLite.
func sqliteTime(text string) time.Time {
	return timeIn(text, time.RFC3339, time.DateTime, "2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999-07:00")
}
