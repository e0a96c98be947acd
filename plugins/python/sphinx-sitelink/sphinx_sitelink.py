"""An extension of Sphinx that checks every link of the HTML output after each build."""

from sphinx.errors import ExtensionError
from sphinx.util import logging

import sitelink

log = logging.getLogger(__name__)


def check(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    o = app.config
    try:
        result = sitelink.check(str(app.outdir), o.sitelink_fail_on, o.sitelink_ignore, o.sitelink_baseline, args=o.sitelink_args)
    except sitelink.Error as error:
        raise ExtensionError(str(error)) from error
    if not result.ok:
        raise ExtensionError("sitelink found broken links:\n" + result.report)
    log.info(result.report)


def setup(app):
    app.require_sphinx((5, 0))
    for name, default in (("fail_on", None), ("ignore", []), ("baseline", None), ("args", [])):
        app.add_config_value("sitelink_" + name, default, "")
    app.connect("build-finished", check, priority=900)  # after extensions that write files
    return {"parallel_read_safe": True, "parallel_write_safe": True}
