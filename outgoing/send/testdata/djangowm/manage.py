"""A site of Django with the webmention receiver django-wm, for the integration test.

PORT is its port on localhost, DATABASE the file of its database."""

import os
import sys

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="test",
    ALLOWED_HOSTS=["localhost"],
    DOMAIN_NAME="localhost:" + os.environ["PORT"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "mentions"],
    MIDDLEWARE=["mentions.middleware.WebmentionHeadMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DATABASE"]}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    WEBMENTIONS={"USE_CELERY": False, "AUTO_APPROVE": True, "URL_SCHEME": "http", "RETRY_INTERVAL": 0},
)
django.setup()

from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from mentions.models import PendingIncomingWebmention, Webmention  # noqa: E402
from mentions.tasks.scheduling import handle_pending_webmentions  # noqa: E402


def article(request):
    return HttpResponse("<!DOCTYPE html><title>Article</title><p>Text.")


def work(request):
    """Works through what was received and tells what became of all of it."""
    handle_pending_webmentions(incoming=True, outgoing=False)
    rows = Webmention.objects.order_by("id").values("source_url", "target_url", "validated")
    waiting = PendingIncomingWebmention.objects.filter(is_awaiting_retry=True).count()
    return JsonResponse({"mentions": list(rows), "waiting": waiting})


urlpatterns = [
    path("article/", article),
    path("work/", work),
    path("webmention/", include("mentions.urls")),
]

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
