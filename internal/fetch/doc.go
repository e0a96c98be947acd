// Package fetch makes HTTP requests to other hosts. It is the only package that
// opens connections to them.
//
// A [Client] refuses addresses that are not on the public internet. It checks the
// address when it connects, on each redirect too. Bodies, times, redirects and the
// rate of requests to a host are limited.
//
// It uses HTTP/1.1 with one request per connection. It keeps no cookies and sends
// no credentials except those in [Request.Header], which only the first host gets.
package fetch
