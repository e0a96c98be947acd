// Package precheck predicts why a receiver would refuse a notice.
//
//	problems, err := precheck.Fetch(ctx, client, source, target)
//
// [Fetch] gets a page as a receiver would and returns what is wrong with it, each
// [Problem] with its cure. [Check] does the same for a page that you have. A
// [Previewer] previews a notification: for each target of a page, the protocol and endpoint
// that would be used and the problems that the receiver would find. Nothing is
// sent except GET requests, and OPTIONS if one of the senders uses it.
//
// Receivers give few reasons. WordPress answers fault 0 without text for a page
// without a title, for a link around a picture, and for a link that it does not
// find. Its rules are therefore applied here exactly (class-wp-xmlrpc-server.php,
// pingback_ping, version 6.1; they have not changed for years).
package precheck
