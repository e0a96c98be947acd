package testrocks

import (
	"fmt"
	"net/http"
	"net/url"
)

// Receive holds a receiver to the two cases of the suite. endpoint is its
// address, source a page that links to target, and target one that the receiver
// takes notices for.
//
// Case 1: a valid pair is answered by 200, 201 or 202, a 201 with a Location,
// the others without. Case 2: pairs whose source, target or both are no
// addresses are answered by 400.
func Receive(endpoint, source, target string) error {
	resp, err := http.PostForm(endpoint, url.Values{"source": {source}, "target": {target}})
	if err != nil {
		return err
	}
	resp.Body.Close()
	location := resp.Header.Get("Location")
	switch resp.StatusCode {
	case http.StatusCreated:
		if location == "" {
			return fmt.Errorf("receive 1: 201 without Location")
		}
	case http.StatusOK, http.StatusAccepted:
		if location != "" {
			return fmt.Errorf("receive 1: %s with Location", resp.Status)
		}
	default:
		return fmt.Errorf("receive 1: %s", resp.Status)
	}
	const junk = "no address"
	for _, pair := range [][2]string{{junk, target}, {source, junk}, {junk, junk}} {
		resp, err := http.PostForm(endpoint, url.Values{"source": {pair[0]}, "target": {pair[1]}})
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			return fmt.Errorf("receive 2: %s for source %q and target %q", resp.Status, pair[0], pair[1])
		}
	}
	return nil
}
