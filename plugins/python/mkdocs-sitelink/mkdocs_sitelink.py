"""A plugin of MkDocs that checks every link of the site after each build."""

import logging

from mkdocs.config import base, config_options as c
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority

import sitelink

log = logging.getLogger("mkdocs.plugins.sitelink")


class Options(base.Config):
    fail_on = c.Optional(c.Choice(("error", "warning", "never")))
    ignore = c.ListOfItems(c.Type(str), default=[])
    baseline = c.Optional(c.Type(str))
    args = c.ListOfItems(c.Type(str), default=[])


class SitelinkPlugin(BasePlugin[Options]):
    def on_startup(self, *, command, dirty):
        # With serve, the findings that are new since the last build are printed.
        self.seen = set() if command == "serve" else None

    @event_priority(-100)  # after plugins that write files
    def on_post_build(self, *, config):
        o = self.config
        strict = "warning" if config.strict and not o.fail_on else None
        try:
            result = sitelink.check(config.site_dir, o.fail_on or strict, o.ignore, o.baseline, args=o.args, seen=self.seen)
        except sitelink.Error as error:
            raise PluginError(str(error)) from error
        if self.seen is not None:
            if result.report:
                log.warning("sitelink:\n%s", result.report)
        elif not result.ok:
            raise PluginError("sitelink found broken links:\n" + result.report)
        else:
            log.info("sitelink: %s", result.report)
