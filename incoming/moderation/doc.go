// Package moderation is for people who decide which mentions are shown.
//
// [Approve] and [Deny] decide about one mention, [SetRule] about all from a site.
// [ParseRules], [UpdateRules] and [Apply] keep the rules in a text file that git can
// compare, and [ParseBlockList] reads lists of others in the usual formats.
//
// A [Page] is the web page at /moderation: the held mentions, with a button for each
// decision. It needs no script and loads nothing from other sites. People log in with a
// link that [SignedLink] makes; it works once and for a short time.
//
// A [Notifier] sends a mail and calls a webhook when mentions are held. A flood of
// mentions is one mail.
package moderation
