package main

import (
	"fmt"

	"github.com/sitelink/sitelink/internal/fault"

	"github.com/spf13/cobra"
)

const deployLong = `deploy runs the command that publishes the site, together with sitelink:

  1. check the docroot; stop if there are errors
  2. run the command; stop if it fails
  3. wait until the changed pages are live with their links
  4. notify other sites of what changed, as sitelink notify does

deploy sends no notices unless you give --send or set enabled = true in [outgoing]; it prints the plan
instead. A notice that fails does not undo the deploy: the exit code is 4, and a later notify tries
again. deploy refuses a docroot that hugo server wrote, because its pages load scripts of the
development server.
`

const deployExitCodes = `Exit codes:
  0    deployed; all notices were sent, or there was nothing to send
  1    findings; nothing was deployed
  2    wrong usage or configuration
  3    the work could not be done, or the command failed
  4    deployed, but some notices failed
  130  interrupted
`

const deployExample = `  # deploy with rsync
  sitelink deploy public --send -- rsync -a --delete public/ example.org:/var/www/

  # deploy with your own script
  sitelink deploy -- sh -c 'hugo && ./publish.sh'`

func deployCommand(c *cli) *cobra.Command {
	var f notifyFlags
	var noCheck bool
	cmd := &cobra.Command{
		Use:     "deploy [DIR] [flags] -- COMMAND [ARGUMENT...]",
		Short:   "check, deploy, and notify other sites",
		Long:    deployLong + "\n" + deployExitCodes,
		Example: deployExample,
		Args: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 || at == len(args) {
				return fault.Usage("deploy needs the command that deploys", "write it behind --: sitelink deploy public -- rsync -a public/ example.org:/var/www/")
			}
			if at > 1 {
				return fault.Usage(fmt.Sprintf("deploy takes one directory, got %d", at), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			dir, command := args[:at], args[at:]
			cfg, err := configureNotify(c, cmd, dir, &f)
			if err != nil {
				return err
			}
			if err := f.check(nil); err != nil {
				return err
			}
			return runDeploy(cmd.Context(), c, cfg, &f, noCheck, command)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.tombstones, "tombstones", false, "before the command, write a page that answers 410 for each deleted page that nothing else answers for")
	cmd.Flags().BoolVar(&noCheck, "no-check", false, "deploy without checking the docroot first")
	addSiteKeyFlags(cmd, "color")
	return cmd
}
