package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/host"
)

const profileLong = `profile prints how a host answers paths: which file answers for a directory, whether /page is answered
by page.html, how a missing index file is reported, and so on.

Without NAME, it lists the built-in profiles. With NAME, it prints one as the table [host] of
sitelink.toml, each key with its meaning: copy the lines that differ on your host and change them.
docs/reference/profiles.md gives the source of each value.
`

func profileCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "profile [NAME]",
		Short: "show how a hosting profile answers paths",
		Long:  profileLong,
		Example: "  # list the profiles\n  sitelink profile\n\n" +
			"  # start from the profile of Caddy\n  sitelink profile caddy >> sitelink.toml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Usage(fmt.Sprintf("profile takes one name, got %d", len(args)), "")
			}
			return nil
		},
		ValidArgs: profileNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(profileNames(), "\n") + "\n"
			if len(args) == 1 {
				p, ok := host.ProfileByName(args[0])
				if !ok {
					return fault.Usage(fmt.Sprintf("unknown profile %q", args[0]),
						cmp.Or(config.DidYouMean(args[0], profileNames()), "sitelink profile lists the profiles"))
				}
				text = p.Describe()
			}
			return c.print(text)
		},
	}
}

// hostKeys are the keys of the table [host].
func hostKeys() []config.HostKey {
	var keys []config.HostKey
	for _, k := range host.ProfileKeys() {
		keys = append(keys, config.HostKey{Name: k.Name, Type: k.Type, Check: func(values []string) error {
			var p host.Profile
			return p.Set(k.Name, values)
		}})
	}
	return keys
}
